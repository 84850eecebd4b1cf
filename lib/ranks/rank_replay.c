/* Plays lanes: each rank goes on until it meets an end that others must come to first. Linear in the events. */
#include "ranks/rank_replay.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/threads.h"
#include "events/comms.h"
#include "ranks/rank_clocks.h"
#include "ranks/rank_lanes.h"

enum way { BY_ENDS, BY_NEED };

#define EVENTS_MAX 100000000u /* that are replayed at all */
#define VISITS_MAX 500000000u /* for the gains of all ranks */

/* What does not change from replay to replay. */
struct stage {
    const struct gt_rank_job *job;
    struct gt_rank_lanes lanes;
    int64_t *begin_ns;  /* by rank: its first op, aligned */
    int64_t *after_ns;  /* by member: from the last arrival to its end */
    bool *leaves_alone; /* by member: it need not wait for the others */
};

/* One replay. */
struct play {
    const struct stage *stage;
    enum way way;
    uint32_t leveled; /* the rank that is like the others; GT_RANK_NONE: none */
    bool is_all_leveled;
    uint32_t quickened;  /* the group whose transfers take as long as in others of its kind; GT_RANK_NONE: none */
    int64_t *time_ns;    /* by rank */
    size_t *next;        /* by rank: the event it comes to */
    int64_t *own_ns;     /* by member: its arrival */
    int64_t *arrival_ns; /* by collective: the last so far */
    uint32_t *missing;   /* by collective: members that have not come */
    uint32_t *next_blocked, *blocked_at; /* ranks that wait for a collective: a list for each */
    uint32_t *queue;
    size_t queued;
    bool *is_queued;
};

/* ---- what is the same for all ---- */

static bool is_free(const struct gt_rank_job *job, const struct gt_rank_member *member) {
    const struct gt_rank_collective *c = &job->collectives[member->collective];
    if (c->kind == GT_COMM_KIND_MESSAGE)
        return member->rank == c->src && member->wait_ns == 0;
    return c->kind == GT_COMM_KIND_DIRECTED && gt_rank_job_length(job, member) < member->need_ns;
}

static bool stage_init(struct stage *stage, const struct gt_rank_job *job) {
    stage->job = job;
    stage->begin_ns = gt_mem_uninitialised(job->rank_count, sizeof *stage->begin_ns);
    stage->after_ns = gt_mem_uninitialised(job->member_count, sizeof *stage->after_ns);
    stage->leaves_alone = gt_mem_uninitialised(job->member_count, sizeof *stage->leaves_alone);
    if (!stage->begin_ns || !stage->after_ns || !stage->leaves_alone)
        return false;
    for (uint32_t r = 0; r < job->rank_count; r++)
        stage->begin_ns[r] = gt_rank_clocks_aligned(job, r, job->ranks[r].summary->head.first_ns);
    for (size_t c = 0; c < job->collective_count; c++) {
        const struct gt_rank_collective *collective = &job->collectives[c];
        int64_t last_ns = INT64_MIN;
        for (size_t m = 0; m < collective->member_count; m++) {
            const struct gt_rank_member *member = &job->members[collective->first_member + m];
            int64_t start_ns = gt_rank_clocks_aligned(job, member->rank, gt_rank_job_kernel(job, member)->start_ns);
            last_ns = start_ns > last_ns ? start_ns : last_ns;
        }
        for (size_t m = 0; m < collective->member_count; m++) {
            size_t i = collective->first_member + m;
            const struct gt_rank_member *member = &job->members[i];
            int64_t end_ns = gt_rank_clocks_aligned(job, member->rank, gt_rank_job_kernel(job, member)->end_ns);
            stage->after_ns[i] = end_ns > last_ns ? end_ns - last_ns : 0;
            stage->leaves_alone[i] = is_free(job, member);
        }
    }
    return gt_rank_lanes_init(&stage->lanes, job) && gt_rank_lanes_level(&stage->lanes, job);
}

static void stage_release(struct stage *stage) {
    gt_mem_free(stage->begin_ns);
    gt_mem_free(stage->after_ns);
    gt_mem_free(stage->leaves_alone);
    gt_rank_lanes_release(&stage->lanes);
}

/* ---- one replay ---- */

static bool play_init(struct play *play, const struct stage *stage) {
    const struct gt_rank_job *job = stage->job;
    *play = (struct play){.stage = stage,
                          .leveled = GT_RANK_NONE,
                          .quickened = GT_RANK_NONE,
                          .time_ns = gt_mem_uninitialised(job->rank_count, sizeof *play->time_ns),
                          .next = gt_mem_uninitialised(job->rank_count, sizeof *play->next),
                          .own_ns = gt_mem_uninitialised(job->member_count, sizeof *play->own_ns),
                          .arrival_ns = gt_mem_uninitialised(job->collective_count, sizeof *play->arrival_ns),
                          .missing = gt_mem_uninitialised(job->collective_count, sizeof *play->missing),
                          .next_blocked = gt_mem_uninitialised(job->rank_count, sizeof *play->next_blocked),
                          .blocked_at = gt_mem_uninitialised(job->collective_count, sizeof *play->blocked_at),
                          .queue = gt_mem_uninitialised(job->rank_count, sizeof *play->queue),
                          .is_queued = gt_mem_array(job->rank_count, sizeof *play->is_queued)};
    return play->time_ns && play->next && play->own_ns && play->arrival_ns && play->missing && play->next_blocked &&
           play->blocked_at && play->queue && play->is_queued;
}

static void play_release(struct play *play) {
    gt_mem_free(play->time_ns);
    gt_mem_free(play->next);
    gt_mem_free(play->own_ns);
    gt_mem_free(play->arrival_ns);
    gt_mem_free(play->missing);
    gt_mem_free(play->next_blocked);
    gt_mem_free(play->blocked_at);
    gt_mem_free(play->queue);
    gt_mem_free(play->is_queued);
}

static void reset(struct play *play) {
    const struct gt_rank_job *job = play->stage->job;
    for (size_t c = 0; c < job->collective_count; c++) {
        play->arrival_ns[c] = INT64_MIN;
        play->missing[c] = job->collectives[c].member_count;
        play->blocked_at[c] = GT_RANK_NONE;
    }
    play->queued = 0;
    for (uint32_t r = (uint32_t)job->rank_count; r-- > 0;) {
        play->time_ns[r] = play->stage->begin_ns[r];
        play->next[r] = 0;
        play->queue[play->queued++] = r;
        play->is_queued[r] = true;
    }
}

static void wake(struct play *play, uint32_t collective) {
    for (uint32_t r = play->blocked_at[collective]; r != GT_RANK_NONE; r = play->next_blocked[r])
        play->queue[play->queued++] = r;
    play->blocked_at[collective] = GT_RANK_NONE;
}

static void arrive(struct play *play, uint32_t rank, uint32_t kernel) {
    const struct gt_rank_lane_events *lane = &play->stage->lanes.items[rank];
    for (uint32_t i = lane->first_member[kernel]; i < lane->first_member[kernel + 1]; i++) {
        uint32_t member = lane->members[i], c = play->stage->job->members[member].collective;
        int64_t time_ns = play->time_ns[rank];
        play->own_ns[member] = time_ns;
        play->arrival_ns[c] = time_ns > play->arrival_ns[c] ? time_ns : play->arrival_ns[c];
        if (--play->missing[c] == 0)
            wake(play, c);
    }
}

static int64_t least(int64_t a_ns, int64_t b_ns) {
    return a_ns < b_ns ? a_ns : b_ns;
}

/* false: it must wait for others first. */
static bool leave(struct play *play, uint32_t rank, uint32_t kernel) {
    const struct stage *stage = play->stage;
    const struct gt_rank_lane_events *lane = &stage->lanes.items[rank];
    int64_t leave_ns = INT64_MIN;
    for (uint32_t i = lane->first_member[kernel]; i < lane->first_member[kernel + 1]; i++) {
        uint32_t number = lane->members[i];
        const struct gt_rank_member *member = &stage->job->members[number];
        uint32_t c = member->collective;
        int64_t end_ns;
        if (stage->leaves_alone[number]) {
            end_ns = play->own_ns[number] + gt_rank_job_length(stage->job, member);
        } else if (play->missing[c]) {
            play->next_blocked[rank] = play->blocked_at[c];
            play->blocked_at[c] = rank;
            return false;
        } else {
            end_ns = play->arrival_ns[c] + (play->way == BY_ENDS ? stage->after_ns[number] : member->need_ns);
            if (stage->job->collectives[c].group == play->quickened)
                end_ns -= least(stage->job->collectives[c].slow_ns, end_ns - play->arrival_ns[c]);
        }
        leave_ns = end_ns > leave_ns ? end_ns : leave_ns;
    }
    play->time_ns[rank] = leave_ns > play->time_ns[rank] ? leave_ns : play->time_ns[rank];
    return true;
}

/* Goes on until the lane ends or has to wait. A piece counts once: is_queued says that it has not yet. */
static void go_on(struct play *play, uint32_t rank) {
    const struct gt_rank_lane_events *lane = &play->stage->lanes.items[rank];
    const int64_t *pieces = play->is_all_leveled || play->leveled == rank ? lane->level : lane->pieces;
    bool is_due = play->is_queued[rank];
    for (; play->next[rank] < lane->count; play->next[rank]++) {
        const struct gt_rank_event *event = &lane->events[play->next[rank]];
        if (is_due)
            play->time_ns[rank] += pieces[play->next[rank]];
        is_due = true;
        play->is_queued[rank] = false;
        if (!event->is_end)
            arrive(play, rank, event->kernel);
        else if (!leave(play, rank, event->kernel))
            return;
    }
    play->time_ns[rank] += pieces[lane->count];
    play->next[rank]++;
}

/* From the first begin to the last end; GT_RANK_NO_NS: ranks wait for each other for ever. */
static int64_t run_play(struct play *play) {
    const struct gt_rank_job *job = play->stage->job;
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    reset(play);
    while (play->queued)
        go_on(play, play->queue[--play->queued]);
    for (size_t r = 0; r < job->rank_count; r++) {
        if (play->next[r] <= play->stage->lanes.items[r].count)
            return GT_RANK_NO_NS;
        first_ns = play->stage->begin_ns[r] < first_ns ? play->stage->begin_ns[r] : first_ns;
        last_ns = play->time_ns[r] > last_ns ? play->time_ns[r] : last_ns;
    }
    return last_ns - first_ns;
}

/* ---- gains ---- */

struct gains {
    const struct stage *stage;
    const uint32_t *order; /* ranks, by guilt */
    size_t count, slices;
    int64_t *replay_ns; /* by rank */
    bool *failed;       /* by slice */
};

static void run_gains(void *context, size_t slice) {
    struct gains *gains = context;
    struct play play;
    gains->failed[slice] = !play_init(&play, gains->stage);
    for (size_t i = slice; i < gains->count && !gains->failed[slice]; i += gains->slices) {
        play.leveled = gains->order[i];
        gains->replay_ns[gains->order[i]] = run_play(&play);
    }
    play_release(&play);
}

static int by_guilt(const void *a, const void *b, void *context) {
    const struct gt_rank_job *job = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (job->ranks[x].charged_ns != job->ranks[y].charged_ns)
        return job->ranks[x].charged_ns > job->ranks[y].charged_ns ? -1 : 1;
    return (x > y) - (x < y);
}

/* Those with most guilt come first where not all can be replayed. */
static bool find_gains(struct gt_rank_job *job, const struct stage *stage) {
    size_t visits = stage->lanes.event_count + job->collective_count + 1;
    size_t threads = gt_threads_count(job->options.threads), most = VISITS_MAX / visits;
    uint32_t *order = gt_mem_uninitialised(job->rank_count, sizeof *order);
    struct gains gains = {.stage = stage,
                          .order = order,
                          .count = job->rank_count < most ? job->rank_count : most,
                          .replay_ns = gt_mem_uninitialised(job->rank_count, sizeof *gains.replay_ns)};
    gains.slices = threads < gains.count ? threads : gains.count;
    gains.failed = gt_mem_array(gains.slices + 1, sizeof *gains.failed);
    bool ok = order && gains.replay_ns && gains.failed;
    for (uint32_t r = 0; ok && r < job->rank_count; r++)
        order[r] = r;
    if (ok) {
        qsort_r(order, job->rank_count, sizeof *order, by_guilt, job);
        gt_threads_deal(threads, gains.slices, run_gains, &gains);
    }
    for (size_t s = 0; ok && s < gains.slices; s++)
        ok = !gains.failed[s];
    for (size_t i = 0; ok && i < gains.count; i++)
        if (gains.replay_ns[order[i]] != GT_RANK_NO_NS)
            job->ranks[order[i]].gain_ns = job->replay_ns - gains.replay_ns[order[i]];
    job->issues[GT_RANK_ISSUE_REPLAY_LEFT_OUT] += job->rank_count - gains.count;
    gt_mem_free(order);
    gt_mem_free(gains.replay_ns);
    gt_mem_free(gains.failed);
    return ok;
}

/* Of slow groups, the most that each could save first. */
static void find_group_gains(struct gt_rank_job *job, struct play *play) {
    enum { MOST_GROUPS = 8 };
    for (size_t turn = 0; turn < MOST_GROUPS; turn++) {
        uint32_t slowest = GT_RANK_NONE;
        for (uint32_t g = 0; g < job->group_count; g++)
            if (job->groups[g].gain_ns == GT_RANK_NO_NS && job->groups[g].slow_ns > 0 &&
                (slowest == GT_RANK_NONE || job->groups[g].slow_ns > job->groups[slowest].slow_ns))
                slowest = g;
        if (slowest == GT_RANK_NONE)
            return;
        play->quickened = slowest;
        int64_t quick_ns = run_play(play);
        job->groups[slowest].gain_ns = quick_ns == GT_RANK_NO_NS ? 0 : job->replay_ns - quick_ns;
    }
}

static void find_recorded(struct gt_rank_job *job, const struct stage *stage) {
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (uint32_t r = 0; r < job->rank_count; r++) {
        int64_t end_ns = gt_rank_clocks_aligned(job, r, job->ranks[r].summary->head.last_ns);
        first_ns = stage->begin_ns[r] < first_ns ? stage->begin_ns[r] : first_ns;
        last_ns = end_ns > last_ns ? end_ns : last_ns;
    }
    job->recorded_ns = last_ns - first_ns;
}

static size_t count_events(const struct gt_rank_job *job) {
    size_t count = 0;
    for (size_t r = 0; r < job->rank_count; r++)
        count += 2 * job->ranks[r].matched;
    return count;
}

bool gt_rank_replay_run(struct gt_rank_job *job) {
    struct stage stage = {0};
    struct play play = {0};
    job->recorded_ns = job->replay_ns = job->replay_free_ns = job->ideal_ns = GT_RANK_NO_NS;
    if (job->clock_trees != 1 || job->collective_count == 0)
        return true;
    if (count_events(job) > EVENTS_MAX) {
        job->issues[GT_RANK_ISSUE_REPLAY_LEFT_OUT] += job->rank_count;
        return true;
    }
    bool ok = stage_init(&stage, job) && play_init(&play, &stage);
    if (ok) {
        find_recorded(job, &stage);
        job->replay_ns = run_play(&play);
        play.way = BY_NEED;
        job->replay_free_ns = run_play(&play);
        play.way = BY_ENDS;
        play.is_all_leveled = true;
        job->ideal_ns = run_play(&play);
        play.is_all_leveled = false;
        if (job->replay_ns != GT_RANK_NO_NS)
            find_group_gains(job, &play);
        ok = job->replay_ns == GT_RANK_NO_NS || find_gains(job, &stage);
    }
    play_release(&play);
    stage_release(&stage);
    return ok;
}
