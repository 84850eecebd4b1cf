/* The analysis of a job, part by part, and look-ups in what it found. */
#include "ranks/rank_job.h"

#include "base/threads.h"
#include "ranks/all_to_all.h"
#include "ranks/rank_blame.h"
#include "ranks/rank_bubbles.h"
#include "ranks/rank_clocks.h"
#include "ranks/rank_costs.h"
#include "ranks/rank_excess.h"
#include "ranks/rank_groups.h"
#include "ranks/rank_identity.h"
#include "ranks/rank_items.h"
#include "ranks/rank_links.h"
#include "ranks/rank_match.h"
#include "ranks/rank_reasons.h"
#include "ranks/rank_replay.h"
#include "ranks/rank_speeds.h"
#include "ranks/rank_tiles.h"
#include "ranks/rank_verdict.h"
#include "ranks/rank_waits.h"

const char *const gt_rank_job_rungs[GT_RUNG_COUNT] = {[GT_RUNG_COMMS_ID] = "comms_id",
                                                      [GT_RUNG_SEQ] = "seq",
                                                      [GT_RUNG_HASH] = "hash",
                                                      [GT_RUNG_ORDER] = "order",
                                                      [GT_RUNG_NAMES] = "names"};

uint32_t gt_rank_job_find(const struct gt_rank_job *job, int64_t number) {
    size_t low = 0, high = job->rank_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (job->ranks[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < job->rank_count && job->ranks[low].number == number ? (uint32_t)low : GT_RANK_NONE;
}

uint32_t gt_rank_job_member(const struct gt_rank_job *job, uint32_t collective, uint32_t rank) {
    const struct gt_rank_collective *c = &job->collectives[collective];
    uint32_t low = c->first_member, end = low + c->member_count, high = end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (job->members[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && job->members[low].rank == rank ? low : GT_RANK_NONE;
}

size_t gt_rank_job_most_members(const struct gt_rank_job *job) {
    size_t most = 0;
    for (size_t c = 0; c < job->collective_count; c++)
        most = job->collectives[c].member_count > most ? job->collectives[c].member_count : most;
    return most;
}

int64_t gt_rank_job_stepping_ns(const struct gt_rank_job *job) {
    bool is_less = job->steps_ns > 0 && job->replay_ns != GT_RANK_NO_NS && job->steps_ns < job->replay_ns;
    return is_less ? job->steps_ns : job->replay_ns;
}

size_t gt_rank_job_step(const struct gt_rank_job *job, int64_t number) {
    size_t low = 0, high = job->step_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (job->steps[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < job->step_count && job->steps[low] == number ? low : job->step_count;
}

/* ---- work on threads ---- */

enum { SHARE = 2048 };

struct sharing {
    size_t count;
    void (*work)(void *context, size_t first, size_t end);
    void *context;
};

static void work_share(void *context, size_t index) {
    const struct sharing *it = context;
    size_t first = index * SHARE, end = it->count - first < SHARE ? it->count : first + SHARE;
    it->work(it->context, first, end);
}

static size_t threads_of(const struct gt_rank_job *job) {
    enum { WORTH_THREADS = 20000 };
    return job->item_count + job->member_count < WORTH_THREADS ? 1 : gt_threads_count(job->options.threads);
}

void gt_rank_job_share(const struct gt_rank_job *job, size_t count, void (*work)(void *, size_t first, size_t end),
                       void *context) {
    struct sharing it = {count, work, context};
    gt_threads_deal(threads_of(job), (count + SHARE - 1) / SHARE, work_share, &it);
}

void gt_rank_job_each_rank(const struct gt_rank_job *job, void (*work)(void *, size_t rank), void *context) {
    gt_threads_deal(threads_of(job), job->rank_count, work, context);
}

/* ---- the analysis ---- */

enum gt_status gt_rank_job_analyse(struct gt_rank_job *job, struct gt_rank_summary *const *summaries, size_t count,
                                   const struct gt_rank_job_options *options, struct gt_error *err) {
    *job = (struct gt_rank_job){.options = *options, .verdict_rank = GT_RANK_NONE};
    job->issues[GT_RANK_ISSUE_TRACE_UNREADABLE] = options->traces_unreadable;
    job->issues[GT_RANK_ISSUE_RANK_DUPLICATE] = options->trace_copies;
    job->issues[GT_RANK_ISSUE_TRACE_WITHOUT_WORK] = options->traces_without_work;
    job->issues[GT_RANK_ISSUE_TRACE_PARTLY_READ] = options->traces_partly_read;
    bool ok = gt_rank_identity_assign(job, summaries, count) && gt_rank_groups_make(job) && gt_rank_match(job) &&
              gt_all_to_all_measure(job) && gt_rank_waits_measure(job) && gt_rank_speeds_compare(job);
    gt_rank_items_release(job);
    ok = ok && gt_rank_tiles_make(job) && gt_rank_excess_between(job) && gt_rank_links_make(job) &&
         gt_rank_blame_charge(job) && gt_rank_reasons_find(job) && gt_rank_verdict_find(job) &&
         gt_rank_bubbles_measure(job);
    gt_rank_tiles_release(job);
    ok = ok && gt_rank_clocks_align(job) && gt_rank_costs_begin(job) && gt_rank_replay_run(job);
    return ok && !gt_arena_failed(&job->arena) ? GT_OK : gt_fail_memory(err);
}

void gt_rank_job_release(struct gt_rank_job *job) {
    gt_rank_items_release(job);
    gt_rank_tiles_release(job);
    gt_arena_release(&job->arena);
    *job = (struct gt_rank_job){0};
}

struct gt_rank_episode *gt_rank_job_episode(const struct gt_rank_job *job, size_t step, size_t rank) {
    size_t low = 0, high = job->episode_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct gt_rank_episode *it = &job->episodes[middle];
        if (it->step < step || (it->step == step && it->rank < rank))
            low = middle + 1;
        else
            high = middle;
    }
    bool is_there = low < job->episode_count && job->episodes[low].step == step && job->episodes[low].rank == rank;
    return is_there ? &job->episodes[low] : NULL;
}
