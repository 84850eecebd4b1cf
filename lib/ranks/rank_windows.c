/* Finds the steps of a rank: ranges come in, windows and the step of each op go out. */
#include "ranks/rank_windows.h"

#include <stdlib.h>

#include "base/mem.h"

/* A step before it has a window. */
struct found_step {
    int64_t start_ns, end_ns; /* of its range */
    int64_t number;
    uint32_t range;
};

struct finder {
    const struct gt_view *view;
    uint32_t process;
    struct found_step *steps;
    int64_t *reaches_ns; /* by step: the latest end of it and those before */
    size_t count;
};

static int by_start(const void *a, const void *b) {
    const struct found_step *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->range > y->range) - (x->range < y->range);
}

/* ---- steps of the labels ---- */

static bool is_of_process(const struct finder *finder, uint32_t process) {
    return finder->process == GT_NO_TRACK || process == finder->process;
}

static void take_labelled(struct finder *finder, uint32_t *index_of) {
    const struct gt_labels *labels = finder->view->labels;
    for (size_t i = 0; i < labels->step_count; i++) {
        const struct gt_step *step = &labels->steps[i];
        index_of[i] = GT_RANK_NONE;
        if (!is_of_process(finder, step->process))
            continue;
        index_of[i] = (uint32_t)finder->count;
        finder->steps[finder->count++] = (struct found_step){step->start_ns, step->end_ns, step->number, step->range};
    }
}

static bool find_labelled(struct finder *finder, uint32_t *step_of) {
    const struct gt_view *view = finder->view;
    uint32_t *index_of = gt_mem_uninitialised(view->labels->step_count, sizeof *index_of);
    finder->steps = gt_mem_array(view->labels->step_count, sizeof *finder->steps);
    bool ok = index_of && finder->steps;
    if (ok)
        take_labelled(finder, index_of);
    for (size_t i = 0; ok && i < view->op_count; i++) {
        uint32_t step = view->labels->op_step[view->row[i]];
        step_of[i] = step == GT_NO_ROW ? GT_RANK_NONE : index_of[step];
    }
    gt_mem_free(index_of);
    return ok;
}

/* ---- steps by a tag ---- */

static bool is_tagged(const struct finder *finder, uint32_t range, struct gt_str tag) {
    const struct gt_store *store = finder->view->store;
    uint32_t thread = store->ranges.thread[range];
    enum gt_range_kind kind = (enum gt_range_kind)store->ranges.kind[range];
    return kind != GT_RANGE_GPU && kind != GT_RANGE_MARK && thread != GT_NO_TRACK &&
           store->ranges.end_thread[range] == GT_NO_TRACK && is_of_process(finder, store->threads.process[thread]) &&
           gt_str_starts(gt_store_string(store, store->ranges.name[range]), tag);
}

static bool take_tagged(struct finder *finder, struct gt_str tag) {
    const struct gt_ranges *ranges = &finder->view->store->ranges;
    size_t count = 0;
    for (uint32_t i = 0; i < ranges->count; i++)
        count += is_tagged(finder, i, tag);
    finder->steps = gt_mem_array(count, sizeof *finder->steps);
    finder->reaches_ns = gt_mem_array(count, sizeof *finder->reaches_ns);
    if (!finder->steps || !finder->reaches_ns)
        return false;
    for (uint32_t i = 0; i < ranges->count; i++)
        if (is_tagged(finder, i, tag))
            finder->steps[finder->count++] = (struct found_step){ranges->start_ns[i], ranges->end_ns[i], 0, i};
    qsort(finder->steps, finder->count, sizeof *finder->steps, by_start);
    for (size_t i = 0; i < finder->count; i++) {
        int64_t end_ns = finder->steps[i].end_ns;
        finder->steps[i].number = (int64_t)i;
        finder->reaches_ns[i] = i && finder->reaches_ns[i - 1] > end_ns ? finder->reaches_ns[i - 1] : end_ns;
    }
    return true;
}

/* The last step that has begun and holds the call. Where steps do not overlap, that is one look. */
static uint32_t tagged_step_of(const struct finder *finder, uint32_t call) {
    const struct gt_calls *calls = &finder->view->store->calls;
    size_t low = 0, high = finder->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (finder->steps[middle].start_ns <= calls->start_ns[call])
            low = middle + 1;
        else
            high = middle;
    }
    enum { LOOKS = 64 };
    for (size_t looks = 0; low-- > 0 && looks < LOOKS && finder->reaches_ns[low] >= calls->end_ns[call]; looks++)
        if (finder->steps[low].end_ns >= calls->end_ns[call])
            return (uint32_t)low;
    return GT_RANK_NONE;
}

static bool find_tagged(struct finder *finder, struct gt_str tag, uint32_t *step_of) {
    const struct gt_view *view = finder->view;
    if (!take_tagged(finder, tag))
        return false;
    for (size_t i = 0; i < view->op_count; i++) {
        uint32_t call = view->labels->op_call[view->row[i]];
        step_of[i] = call == GT_NO_ROW ? GT_RANK_NONE : tagged_step_of(finder, call);
    }
    return true;
}

/* ---- windows ---- */

/* Equal numbers mean the same step on every rank only where the profiler itself counts them. */
static bool are_numbered(const struct finder *finder) {
    const struct gt_store *store = finder->view->store;
    for (size_t i = 0; i < finder->count; i++)
        if (!gt_str_starts(gt_store_string(store, store->ranges.name[finder->steps[i].range]), GT_STR("ProfilerStep")))
            return false;
    return finder->count > 0;
}

static bool add_windows(const struct finder *finder, const uint32_t *step_of, struct gt_rank_summary *summary) {
    const struct gt_view *view = finder->view;
    int64_t *ends_ns = gt_mem_uninitialised(finder->count, sizeof *ends_ns);
    int64_t reached_ns = summary->head.first_ns;
    for (size_t i = 0; ends_ns && i < finder->count; i++)
        ends_ns[i] = INT64_MIN;
    for (size_t i = 0; ends_ns && i < view->op_count; i++)
        if (step_of[i] != GT_RANK_NONE && view->end_ns[i] > ends_ns[step_of[i]])
            ends_ns[step_of[i]] = view->end_ns[i];
    for (size_t i = 0; ends_ns && i < finder->count; i++) {
        const struct found_step *step = &finder->steps[i];
        struct gt_rank_step *window = gt_rank_summary_add_steps(summary);
        window->number = step->number;
        window->start_ns = step->start_ns > reached_ns ? step->start_ns : reached_ns;
        window->start_ns = window->start_ns > summary->head.last_ns ? summary->head.last_ns : window->start_ns;
        window->end_ns = ends_ns[i] > window->start_ns ? ends_ns[i] : window->start_ns;
        reached_ns = window->end_ns;
    }
    gt_mem_free(ends_ns);
    return ends_ns != NULL;
}

enum gt_status gt_rank_windows_init(struct gt_rank_windows *windows, const struct gt_view *view, uint32_t process,
                                    const char *tag, struct gt_rank_summary *summary, struct gt_error *err) {
    struct finder finder = {.view = view, .process = process};
    windows->step_of = gt_mem_uninitialised(view->op_count, sizeof *windows->step_of);
    bool ok = windows->step_of != NULL;
    if (ok)
        ok = tag ? find_tagged(&finder, gt_str_of(tag), windows->step_of) : find_labelled(&finder, windows->step_of);
    ok = ok && add_windows(&finder, windows->step_of, summary);
    summary->head.steps_are_numbered = !tag && are_numbered(&finder); /* those of a tag are counted */
    gt_mem_free(finder.steps);
    gt_mem_free(finder.reaches_ns);
    return ok ? GT_OK : gt_fail_memory(err);
}

void gt_rank_windows_release(struct gt_rank_windows *windows) {
    gt_mem_free(windows->step_of);
    windows->step_of = NULL;
}
