/* Makes lanes: matched kernels of a rank come in, events and pieces of own time between them go out. */
#include "ranks/rank_lanes.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ranks/rank_sums.h"

/* ---- members of kernels ---- */

static bool list_members(struct gt_rank_lanes *lanes, const struct gt_rank_job *job) {
    bool ok = true;
    for (size_t r = 0; r < job->rank_count && ok; r++) {
        lanes->items[r].first_member =
            gt_mem_array(job->ranks[r].summary->kernels_count + 2, sizeof *lanes->items[r].first_member);
        ok = lanes->items[r].first_member != NULL;
    }
    for (size_t i = 0; ok && i < job->member_count; i++)
        lanes->items[job->members[i].rank].first_member[job->members[i].kernel + 2]++;
    for (size_t r = 0; r < job->rank_count && ok; r++) {
        size_t kernels = job->ranks[r].summary->kernels_count;
        uint32_t *first = lanes->items[r].first_member;
        for (size_t k = 0; k < kernels; k++)
            first[k + 2] += first[k + 1];
        lanes->items[r].members = gt_mem_uninitialised(first[kernels + 1], sizeof *lanes->items[r].members);
        ok = lanes->items[r].members != NULL;
    }
    for (uint32_t i = 0; ok && i < job->member_count; i++) {
        struct gt_rank_lane_events *lane = &lanes->items[job->members[i].rank];
        lane->members[lane->first_member[job->members[i].kernel + 1]++] = i;
    }
    return ok;
}

/* ---- events ---- */

/* What happens at one time: a kernel without length ends after it has begun. */
enum phase { PHASE_END, PHASE_START, PHASE_END_AT_ONCE };

struct moment {
    int64_t time_ns;
    enum phase phase;
    struct gt_rank_event event;
};

static int by_time(const void *a, const void *b) {
    const struct moment *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    return (x->event.kernel > y->event.kernel) - (x->event.kernel < y->event.kernel);
}

static struct moment *new_moments(const struct gt_rank_lane *rank, size_t *count) {
    const struct gt_rank_summary *summary = rank->summary;
    struct moment *moments = gt_mem_uninitialised(2 * rank->matched, sizeof *moments);
    *count = 0;
    for (uint32_t k = 0; moments && k < summary->kernels_count; k++) {
        if (rank->kernel_member[k] == GT_RANK_NONE)
            continue;
        const struct gt_rank_kernel *kernel = &summary->kernels[k];
        enum phase end = kernel->end_ns > kernel->start_ns ? PHASE_END : PHASE_END_AT_ONCE;
        moments[(*count)++] = (struct moment){kernel->start_ns, PHASE_START, {k & GT_RANK_EVENT_KERNELS, false}};
        moments[(*count)++] = (struct moment){kernel->end_ns, end, {k & GT_RANK_EVENT_KERNELS, true}};
    }
    if (moments && *count)
        qsort(moments, *count, sizeof *moments, by_time);
    return moments;
}

static uint32_t point_of(const struct gt_rank_summary *summary, const struct moment *moment) {
    const struct gt_rank_kernel *kernel = &summary->kernels[moment->event.kernel];
    return moment->event.is_end ? kernel->end_point : kernel->start_point;
}

/* Own time does not pass while a matched kernel runs without compute. */
static void fill_pieces(struct gt_rank_lane_events *lane, const struct gt_rank_job *job,
                        const struct gt_rank_lane *rank, const struct moment *moments, size_t count) {
    const struct gt_rank_summary *summary = rank->summary;
    uint32_t last = (uint32_t)summary->head.points - 1;
    size_t running = 0, step = 0;
    struct gt_rank_sums_walk walk;
    gt_rank_sums_begin(&walk, summary);
    for (size_t i = 0; i <= count; i++) {
        uint32_t next = i < count ? point_of(summary, &moments[i]) : last;
        int64_t from_ns = walk.time_ns, compute_ns = walk.ns[GT_PART_COMPUTE];
        while (walk.next <= next && gt_rank_sums_next(&walk))
            continue;
        lane->pieces[i] = running ? walk.ns[GT_PART_COMPUTE] - compute_ns : walk.time_ns - from_ns;
        while (step < summary->steps_count && summary->steps[step].end_ns <= from_ns)
            step++;
        bool is_inside = step < summary->steps_count && summary->steps[step].start_ns <= from_ns;
        lane->steps[i] = job->step_count == 0 ? 0
                         : is_inside          ? (uint32_t)gt_rank_job_step(job, summary->steps[step].number)
                                              : GT_RANK_NONE;
        if (i == count)
            break;
        running += moments[i].event.is_end ? (size_t)-1 : 1;
        lane->events[i] = moments[i].event;
    }
}

static bool fill_lane(struct gt_rank_lane_events *lane, const struct gt_rank_job *job,
                      const struct gt_rank_lane *rank) {
    struct moment *moments = new_moments(rank, &lane->count);
    lane->events = gt_mem_uninitialised(lane->count, sizeof *lane->events);
    lane->pieces = gt_mem_uninitialised(lane->count + 1, sizeof *lane->pieces);
    lane->steps = gt_mem_uninitialised(lane->count + 1, sizeof *lane->steps);
    bool ok = moments && lane->events && lane->pieces && lane->steps;
    if (ok)
        fill_pieces(lane, job, rank, moments, lane->count);
    gt_mem_free(moments);
    return ok;
}

struct filling {
    struct gt_rank_lanes *lanes;
    const struct gt_rank_job *job;
    atomic_bool failed;
};

static void fill_one(void *context, size_t rank) {
    struct filling *it = context;
    if (!fill_lane(&it->lanes->items[rank], it->job, &it->job->ranks[rank]))
        atomic_store(&it->failed, true);
}

bool gt_rank_lanes_init(struct gt_rank_lanes *lanes, const struct gt_rank_job *job) {
    lanes->items = gt_mem_array(job->rank_count, sizeof *lanes->items);
    lanes->count = lanes->items ? job->rank_count : 0;
    bool ok = lanes->items && list_members(lanes, job);
    struct filling filling = {.lanes = lanes, .job = job};
    atomic_init(&filling.failed, !ok);
    if (ok)
        gt_rank_job_each_rank(job, fill_one, &filling);
    for (size_t r = 0; ok && r < job->rank_count; r++)
        lanes->event_count += lanes->items[r].count;
    return !atomic_load(&filling.failed);
}

void gt_rank_lanes_forget_steps(struct gt_rank_lanes *lanes) {
    for (size_t r = 0; r < lanes->count; r++) {
        gt_mem_free(lanes->items[r].steps);
        lanes->items[r].steps = NULL;
    }
}

void gt_rank_lanes_release(struct gt_rank_lanes *lanes) {
    for (size_t r = 0; r < lanes->count; r++) {
        gt_mem_free(lanes->items[r].events);
        gt_mem_free(lanes->items[r].pieces);
        gt_mem_free(lanes->items[r].steps);
        gt_mem_free(lanes->items[r].level);
        gt_mem_free(lanes->items[r].members);
        gt_mem_free(lanes->items[r].first_member);
    }
    gt_mem_free(lanes->items);
    *lanes = (struct gt_rank_lanes){0};
}
