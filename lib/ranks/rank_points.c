/* Sums the parts of a rank's time: ops in order of start and gaps with their causes come in, points and the exposed
   communication go out. Linear but for sorting the moments. */
#include "ranks/rank_points.h"

#include <stdlib.h>

#include "base/mem.h"
#include "ranks/rank_sums.h"

struct sweep {
    const struct gt_view *view;
    const struct gt_idle *idle;
    struct gt_rank_summary *summary;
    int64_t at_ns;
    int64_t reached_ns[3];                             /* by enum gt_class: latest end so far */
    int64_t ns[GT_PART_COUNT], kept_ns[GT_PART_COUNT]; /* up to now, and up to the last point */
    struct gt_interval exposed;                        /* that may still go on */
    int64_t exposed_until_ns;                          /* end of the one before it */
    size_t next_op, next_gap;
};

/* ---- the moments ---- */

static int by_time(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Without those that are there twice; NULL: memory was short. */
static int64_t *new_moments(const struct gt_rank_summary *summary, size_t *count) {
    size_t room = 2 + 2 * summary->kernels_count + 2 * summary->steps_count, filled = 0, kept = 0;
    int64_t *times = gt_mem_uninitialised(room, sizeof *times);
    if (!times)
        return NULL;
    times[filled++] = summary->head.first_ns;
    times[filled++] = summary->head.last_ns;
    for (size_t i = 0; i < summary->kernels_count; i++) {
        times[filled++] = summary->kernels[i].start_ns;
        times[filled++] = summary->kernels[i].end_ns;
    }
    for (size_t i = 0; i < summary->steps_count; i++) {
        times[filled++] = summary->steps[i].start_ns;
        times[filled++] = summary->steps[i].end_ns;
    }
    qsort(times, filled, sizeof *times, by_time);
    for (size_t i = 0; i < filled; i++)
        if (kept == 0 || times[i] != times[kept - 1])
            times[kept++] = times[i];
    *count = kept;
    return times;
}

static uint32_t point_at(const int64_t *times, size_t count, int64_t time_ns) {
    size_t low = 0, high = count;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (times[middle] <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

/* ---- the sweep ---- */

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t reached_by(int64_t at_ns, int64_t reached_ns, int64_t until_ns) {
    int64_t end_ns = reached_ns < until_ns ? reached_ns : until_ns;
    return end_ns > at_ns ? end_ns : at_ns;
}

static void end_exposed(struct sweep *sweep) {
    const struct gt_interval *it = &sweep->exposed;
    if (it->end_ns <= it->start_ns)
        return;
    gt_rank_sums_add_exposed(sweep->summary, sweep->exposed_until_ns, it->start_ns, it->end_ns);
    sweep->exposed_until_ns = it->end_ns;
}

static void add_exposed(struct sweep *sweep, int64_t start_ns, int64_t end_ns) {
    if (end_ns <= start_ns)
        return;
    if (sweep->exposed.end_ns != start_ns) {
        end_exposed(sweep);
        sweep->exposed.start_ns = start_ns;
    }
    sweep->exposed.end_ns = end_ns;
}

static enum gt_rank_part part_of_cause(enum gt_idle_cause cause) {
    switch (cause) {
    case GT_IDLE_SYNC:
        return GT_PART_IDLE_SYNC;
    case GT_IDLE_HOST:
        return GT_PART_IDLE_HOST;
    case GT_IDLE_LAUNCH:
        return GT_PART_IDLE_LAUNCH;
    case GT_IDLE_DEPENDENCY:
        return GT_PART_IDLE_DEPENDENCY;
    default:
        return GT_PART_IDLE_UNKNOWN;
    }
}

/* Idle time belongs to the gaps that it lies in. */
static void add_idle(struct sweep *sweep, int64_t start_ns, int64_t end_ns) {
    const struct gt_idle *idle = sweep->idle;
    while (start_ns < end_ns) {
        while (sweep->next_gap < idle->count && gt_idle_gap_end_ns(idle, sweep->next_gap) <= start_ns)
            sweep->next_gap++;
        size_t gap = sweep->next_gap;
        int64_t gap_start_ns = gap < idle->count ? gt_idle_gap_start_ns(idle, gap) : INT64_MAX;
        bool is_inside = gap < idle->count && gap_start_ns <= start_ns;
        int64_t until_ns = is_inside ? gt_idle_gap_end_ns(idle, gap) : gap_start_ns;
        until_ns = until_ns < end_ns ? until_ns : end_ns;
        sweep->ns[is_inside ? part_of_cause(gt_idle_gap_cause(idle, gap)) : GT_PART_IDLE_UNKNOWN] +=
            until_ns - start_ns;
        start_ns = until_ns;
    }
}

/* Accounts for the time up to a moment before which no more op starts: what runs of a kind is its first part. */
static void settle(struct sweep *sweep, int64_t until_ns) {
    if (until_ns <= sweep->at_ns)
        return;
    int64_t compute_ns = reached_by(sweep->at_ns, sweep->reached_ns[GT_CLASS_COMPUTE], until_ns);
    int64_t comm_ns = later(compute_ns, reached_by(sweep->at_ns, sweep->reached_ns[GT_CLASS_COMM], until_ns));
    int64_t memory_ns = later(comm_ns, reached_by(sweep->at_ns, sweep->reached_ns[GT_CLASS_MEMORY], until_ns));
    sweep->ns[GT_PART_COMPUTE] += compute_ns - sweep->at_ns;
    sweep->ns[GT_PART_TRANSFER] += comm_ns - compute_ns;
    sweep->ns[GT_PART_MEMORY] += memory_ns - comm_ns;
    add_exposed(sweep, compute_ns, comm_ns);
    add_idle(sweep, memory_ns, until_ns);
    sweep->at_ns = until_ns;
}

static void advance(struct sweep *sweep, int64_t to_ns) {
    const struct gt_view *view = sweep->view;
    for (; sweep->next_op < view->op_count && view->start_ns[sweep->next_op] < to_ns; sweep->next_op++) {
        enum gt_class class = gt_view_op_class(view, sweep->next_op);
        settle(sweep, view->start_ns[sweep->next_op]);
        sweep->reached_ns[class] = later(sweep->reached_ns[class], view->end_ns[sweep->next_op]);
    }
    settle(sweep, to_ns);
}

static void set_points(struct gt_rank_summary *summary, const int64_t *times, size_t count) {
    for (size_t i = 0; i < summary->kernels_count; i++) {
        struct gt_rank_kernel *kernel = &summary->kernels[i];
        kernel->start_point = point_at(times, count, kernel->start_ns);
        kernel->end_point = point_at(times, count, kernel->end_ns);
    }
    for (size_t i = 0; i < summary->steps_count; i++) {
        struct gt_rank_step *step = &summary->steps[i];
        step->start_point = point_at(times, count, step->start_ns);
        step->end_point = point_at(times, count, step->end_ns);
    }
}

enum gt_status gt_rank_points_make(const struct gt_view *view, const struct gt_idle *idle,
                                   struct gt_rank_summary *summary, struct gt_error *err) {
    size_t count;
    int64_t *times = new_moments(summary, &count);
    int64_t first_ns = summary->head.first_ns;
    struct sweep sweep = {.view = view,
                          .idle = idle,
                          .summary = summary,
                          .at_ns = first_ns,
                          .exposed = {first_ns, first_ns},
                          .exposed_until_ns = first_ns,
                          .reached_ns = {first_ns, first_ns, first_ns}};
    if (!times)
        return gt_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        advance(&sweep, times[i]);
        gt_rank_sums_add(summary, sweep.kept_ns, sweep.ns);
    }
    end_exposed(&sweep);
    if (!summary->failed)
        set_points(summary, times, count);
    gt_mem_free(times);
    return summary->failed ? gt_fail_memory(err) : GT_OK;
}
