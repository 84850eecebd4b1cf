/* Replays a job as it was recorded and with changes: a schedule comes in, what the changes would gain goes out. */
#include "ranks/rank_replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"
#include "ranks/rank_clocks.h"
#include "ranks/rank_costs.h"
#include "ranks/rank_play.h"

#define EVENTS_MAX 100000000u /* that are replayed at all */
#define VISITS_MAX 200000000u /* for the gains of all ranks */

enum { AS_RECORDED, BY_NEED, ALL_LEVELED, FIXED_CHANGES }; /* then one change for each rank with a gain */

struct replays {
    const struct gt_rank_schedule *schedule;
    struct gt_rank_change *changes;
    int64_t *took_ns; /* by change */
    size_t count;
    atomic_bool failed;
};

/* Those with most guilt come first where not all can be replayed. */
static int by_guilt(const void *a, const void *b, void *context) {
    const struct gt_rank_job *job = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (job->ranks[x].charged_ns != job->ranks[y].charged_ns)
        return job->ranks[x].charged_ns > job->ranks[y].charged_ns ? -1 : 1;
    return (x > y) - (x < y);
}

static void play_some(void *context, size_t index) {
    struct replays *replays = context;
    size_t first = index * GT_RANK_PLAY_LANES, left = replays->count - first;
    size_t count = left < GT_RANK_PLAY_LANES ? left : GT_RANK_PLAY_LANES;
    if (!gt_rank_play(replays->schedule, replays->changes + first, count, replays->took_ns + first))
        atomic_store(&replays->failed, true);
}

static void set_changes(struct replays *replays, struct gt_rank_job *job, uint32_t *order) {
    for (uint32_t r = 0; r < job->rank_count; r++)
        order[r] = r;
    qsort_r(order, job->rank_count, sizeof *order, by_guilt, job);
    replays->changes[AS_RECORDED] = (struct gt_rank_change){.leveled_count = 0};
    replays->changes[BY_NEED] = (struct gt_rank_change){.is_by_need = true};
    replays->changes[ALL_LEVELED] = (struct gt_rank_change){.is_all_leveled = true};
    for (size_t i = FIXED_CHANGES; i < replays->count; i++)
        replays->changes[i] = (struct gt_rank_change){.leveled = {order[i - FIXED_CHANGES]}, .leveled_count = 1};
}

static void take_results(const struct replays *replays, struct gt_rank_job *job) {
    job->replay_ns = replays->took_ns[AS_RECORDED];
    job->replay_free_ns = replays->took_ns[BY_NEED];
    job->ideal_ns = replays->took_ns[ALL_LEVELED];
    for (size_t i = FIXED_CHANGES; i < replays->count; i++)
        job->ranks[replays->changes[i].leveled[0]].gain_ns = job->replay_ns - replays->took_ns[i];
}

static bool replay_all(struct gt_rank_job *job, const struct gt_rank_schedule *schedule) {
    size_t most = VISITS_MAX / (schedule->count + job->collective_count + 1);
    size_t gains = job->rank_count < most ? job->rank_count : most;
    struct replays replays = {.schedule = schedule, .count = gains + FIXED_CHANGES};
    uint32_t *order = gt_mem_uninitialised(job->rank_count, sizeof *order);
    replays.changes = gt_mem_array(replays.count, sizeof *replays.changes);
    replays.took_ns = gt_mem_uninitialised(replays.count, sizeof *replays.took_ns);
    atomic_init(&replays.failed, false);
    bool ok = order && replays.changes && replays.took_ns;
    if (ok) {
        set_changes(&replays, job, order);
        gt_threads_deal(gt_threads_count(job->options.threads),
                        (replays.count + GT_RANK_PLAY_LANES - 1) / GT_RANK_PLAY_LANES, play_some, &replays);
        ok = !atomic_load(&replays.failed);
    }
    if (ok)
        take_results(&replays, job);
    job->issues[GT_RANK_ISSUE_REPLAY_LEFT_OUT] += job->rank_count - gains;
    gt_mem_free(order);
    gt_mem_free(replays.changes);
    gt_mem_free(replays.took_ns);
    return ok;
}

/* ---- slow groups ---- */

/* Takes what the transfers of a slow group take longer than those of others out of the schedule. kept: what they took,
   one after the other. */
static void quicken(struct gt_rank_schedule *schedule, uint32_t group, int64_t *kept) {
    const struct gt_rank_job *job = schedule->job;
    size_t count = 0;
    for (size_t c = 0; c < job->collective_count; c++) {
        const struct gt_rank_collective *collective = &job->collectives[c];
        for (size_t m = 0; collective->group == group && m < collective->member_count; m++) {
            struct gt_rank_visit *visit = &schedule->visits[collective->first_member + m];
            kept[count++] = visit->takes_ns;
            visit->takes_ns -= collective->slow_ns < visit->takes_ns ? collective->slow_ns : visit->takes_ns;
        }
    }
}

static void slow_down(struct gt_rank_schedule *schedule, uint32_t group, const int64_t *kept) {
    const struct gt_rank_job *job = schedule->job;
    for (size_t c = 0; c < job->collective_count; c++)
        for (size_t m = 0; job->collectives[c].group == group && m < job->collectives[c].member_count; m++)
            schedule->visits[job->collectives[c].first_member + m].takes_ns = *kept++;
}

static uint32_t slowest_group(const struct gt_rank_job *job) {
    uint32_t slowest = GT_RANK_NONE;
    for (uint32_t g = 0; g < job->group_count; g++)
        if (job->groups[g].gain_ns == GT_RANK_NO_NS && job->groups[g].slow_ns > 0 &&
            (slowest == GT_RANK_NONE || job->groups[g].slow_ns > job->groups[slowest].slow_ns))
            slowest = g;
    return slowest;
}

/* Those that could save most first. The schedule is as before afterwards. */
static bool find_group_gains(struct gt_rank_job *job, struct gt_rank_schedule *schedule) {
    enum { MOST_GROUPS = 8 };
    const struct gt_rank_change as_recorded = {.leveled_count = 0};
    uint32_t group = slowest_group(job);
    if (group == GT_RANK_NONE)
        return true;
    int64_t *kept = gt_mem_uninitialised(job->member_count, sizeof *kept);
    bool ok = kept != NULL;
    for (size_t turn = 0; ok && turn < MOST_GROUPS && group != GT_RANK_NONE; turn++, group = slowest_group(job)) {
        int64_t took_ns;
        quicken(schedule, group, kept);
        ok = gt_rank_play(schedule, &as_recorded, 1, &took_ns);
        if (ok)
            job->groups[group].gain_ns = job->replay_ns - took_ns;
        slow_down(schedule, group, kept);
    }
    gt_mem_free(kept);
    return ok;
}

/* ---- hot experts ---- */

/* Takes what all_to_alls take longer because the loads of their members differ out of the schedule. kept: as above. */
static void even_out(struct gt_rank_schedule *schedule, int64_t *kept) {
    const struct gt_rank_job *job = schedule->job;
    for (size_t i = 0; i < job->member_count; i++)
        kept[i] = schedule->visits[i].takes_ns;
    for (size_t c = 0; c < job->collective_count; c++) {
        const struct gt_rank_collective *collective = &job->collectives[c];
        double most = 0, all = 0;
        for (size_t m = 0; collective->first_load != GT_RANK_NONE && m < collective->member_count; m++) {
            double load = (double)job->loads[collective->first_load + m].bytes;
            most = load > most ? load : most;
            all += load;
        }
        double share = most > 0 ? 1 - all / (double)collective->member_count / most : 0;
        int64_t less_ns = (int64_t)((double)collective->transfer_ns * share);
        for (size_t m = 0; less_ns > 0 && m < collective->member_count; m++) {
            struct gt_rank_visit *visit = &schedule->visits[collective->first_member + m];
            visit->takes_ns -= less_ns < visit->takes_ns ? less_ns : visit->takes_ns;
        }
    }
}

/* The schedule is as before afterwards. */
static bool find_hot_gain(struct gt_rank_job *job, struct gt_rank_schedule *schedule) {
    if (job->hot_rank == GT_RANK_NONE)
        return true;
    const struct gt_rank_change change = {.leveled = {job->hot_rank}, .leveled_count = 1};
    int64_t *kept = gt_mem_uninitialised(job->member_count, sizeof *kept), took_ns;
    if (!kept)
        return false;
    even_out(schedule, kept);
    bool ok = gt_rank_play(schedule, &change, 1, &took_ns);
    if (ok)
        job->hot_gain_ns = job->replay_ns - took_ns;
    for (size_t i = 0; i < job->member_count; i++)
        schedule->visits[i].takes_ns = kept[i];
    gt_mem_free(kept);
    return ok;
}

static void find_recorded(struct gt_rank_job *job, const struct gt_rank_schedule *schedule) {
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (uint32_t r = 0; r < job->rank_count; r++) {
        int64_t end_ns = gt_rank_clocks_aligned(job, r, job->ranks[r].summary->head.last_ns);
        first_ns = schedule->begin_ns[r] < first_ns ? schedule->begin_ns[r] : first_ns;
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
    struct gt_rank_schedule schedule = {0};
    job->recorded_ns = job->replay_ns = job->replay_free_ns = job->ideal_ns = job->hot_gain_ns = GT_RANK_NO_NS;
    if (job->clock_trees != 1 || job->collective_count == 0)
        return true;
    if (count_events(job) > EVENTS_MAX) {
        job->issues[GT_RANK_ISSUE_REPLAY_LEFT_OUT] += job->rank_count;
        return true;
    }
    bool ok = gt_rank_schedule_init(&schedule, job);
    if (ok)
        find_recorded(job, &schedule);
    if (ok && schedule.is_whole)
        ok = replay_all(job, &schedule) && find_group_gains(job, &schedule) && find_hot_gain(job, &schedule) &&
             gt_rank_costs_replay(job, &schedule);
    gt_rank_schedule_release(&schedule);
    return ok;
}
