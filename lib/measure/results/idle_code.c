/* Looks at the launch waits of gaps again, once these are known: calls and code at the same time. */
#include "measure/results/idle_code.h"

#include <string.h>

#include "base/mem.h"
#include "base/threads.h"
#include "measure/results/launch_wait.h"
#include "measure/results/results.h"

const char *const gt_host_activity_names[GT_HOST_ACTIVITY_COUNT] = {
    [GT_HOST_API] = "in API calls",
    [GT_HOST_RANGE] = "in ranges or operators",
    [GT_HOST_OUTSIDE] = "in untraced code",
};

#define NO_CODE UINT32_MAX /* no string has this id */

struct search {
    const struct gt_view *view;
    const struct gt_idle *idle;
    struct gt_cover_spans waits; /* of the gaps that have one, in their order */
    struct gt_idle_code *code;
    bool ok[2]; /* calls, code */
};

static void note_calls(void *context, uint32_t wait, const struct gt_cover_part *part) {
    const struct search *search = context;
    search->code->activity[search->waits.items[wait].id] = part->is_most ? GT_HOST_API : GT_HOST_OUTSIDE;
}

static void note_code(void *context, uint32_t wait, const struct gt_cover_part *part) {
    const struct search *search = context;
    search->code->of_wait[wait] = part->is_most ? part->name : NO_CODE;
}

static void look(void *context, size_t index) {
    struct search *search = context;
    search->ok[index] = index == 0 ? gt_launch_wait_calls(search->view, &search->waits, false, note_calls, search)
                                   : gt_launch_wait_code(search->view, &search->waits, note_code, search);
}

/* Calls are inside code and more specific. */
static void join_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct search *search = context;
    (void)slice;
    for (size_t i = begin; i < end; i++) {
        uint8_t *activity = &search->code->activity[search->waits.items[i].id];
        gt_strid *of_wait = &search->code->of_wait[i];
        if (*of_wait == NO_CODE)
            *of_wait = GT_STRID_EMPTY;
        else if (*activity != GT_HOST_API)
            *activity = GT_HOST_RANGE;
    }
}

enum gt_status gt_idle_code_init(struct gt_idle_code *code, const struct gt_view *view, struct gt_error *err) {
    *code = (struct gt_idle_code){0};
    struct search search = {.view = view, .idle = gt_results_idle(view, err), .code = code};
    size_t threads = gt_threads_count(view->request->threads);
    if (!search.idle)
        return err->code;
    code->activity = gt_mem_uninitialised(search.idle->count, sizeof *code->activity);
    bool ok = gt_launch_wait_list(&search.waits, view, search.idle) && code->activity;
    code->of_wait = ok ? gt_mem_uninitialised(search.waits.count, sizeof *code->of_wait) : NULL;
    ok = code->of_wait;
    if (ok) {
        memset(code->activity, GT_HOST_OUTSIDE, search.idle->count);
        gt_threads_parts(threads, search.waits.count ? 2 : 0, look, &search);
        ok = search.waits.count == 0 || (search.ok[0] && search.ok[1]);
    }
    if (ok)
        gt_threads_rows(gt_threads_slices(threads, search.waits.count, 0), search.waits.count, join_slice, &search);
    gt_launch_wait_release(&search.waits);
    if (!ok) {
        gt_idle_code_release(code);
        return gt_fail_memory(err);
    }
    return GT_OK;
}

void gt_idle_code_release(struct gt_idle_code *code) {
    gt_mem_free(code->activity);
    gt_mem_free(code->of_wait);
    *code = (struct gt_idle_code){0};
}

void gt_idle_code_sum(const struct gt_idle_code *code, const struct gt_idle *idle, struct gt_idle_stretch stretch,
                      struct gt_idle_sum causes[GT_IDLE_CAUSE_COUNT],
                      struct gt_idle_sum activities[GT_HOST_ACTIVITY_COUNT]) {
    const struct gt_idle_device *device = &idle->devices[stretch.device];
    memset(causes, 0, GT_IDLE_CAUSE_COUNT * sizeof *causes);
    memset(activities, 0, GT_HOST_ACTIVITY_COUNT * sizeof *activities);
    for (size_t i = stretch.begin; (i = gt_idle_next_blamed(idle, i, stretch.end)) < stretch.end; i++) {
        enum gt_idle_cause cause = gt_idle_gap_cause(idle, i);
        gt_idle_sum_add(cause == GT_IDLE_HOST ? &activities[code->activity[i]] : &causes[cause], cause,
                        gt_idle_gap_ns(idle, i), device);
    }
    for (size_t i = 0; i < GT_HOST_ACTIVITY_COUNT; i++) {
        gt_moments_merge(&causes[GT_IDLE_HOST].gaps, &activities[i].gaps);
        causes[GT_IDLE_HOST].twice_recoverable_ns += activities[i].twice_recoverable_ns;
    }
}
