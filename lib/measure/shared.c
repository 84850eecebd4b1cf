/* The table of shared results: how each is made and released. */
#include "measure/shared.h"

#include "base/mem.h"
#include "measure/analysis.h"
#include "measure/results/measure.h"

/* One entry in the terms of a type: gt_<noun>_init and gt_<noun>_release. */
#define WRAP(noun)                                                                                                     \
    static enum gt_status noun##_init(void *what, const struct gt_view *view, struct gt_error *err) {                  \
        return gt_##noun##_init(what, view, err);                                                                      \
    }                                                                                                                  \
    static void noun##_release(void *what) {                                                                           \
        gt_##noun##_release(what);                                                                                     \
    }
WRAP(idle)
WRAP(range_set)
WRAP(step_set)
WRAP(phase_set)
WRAP(launch_rates)
WRAP(launch_marks)
WRAP(blocking_marks)
WRAP(op_groups)
WRAP(range_groups)

static enum gt_status kernels_init(void *what, const struct gt_view *view, struct gt_error *err) {
    return gt_named_set_init(what, view, true, err);
}

static void kernels_release(void *what) {
    gt_named_set_release(what);
}

struct accounts {
    struct gt_account *by_device;
};

static enum gt_status accounts_init(void *what, const struct gt_view *view, struct gt_error *err) {
    struct accounts *accounts = what;
    accounts->by_device = gt_mem_array(view->device_count, sizeof *accounts->by_device);
    if (!accounts->by_device)
        return gt_fail_memory(err);
    for (size_t d = 0; d < view->device_count; d++)
        accounts->by_device[d] = gt_account_of_device(view, &view->devices[d]);
    return GT_OK;
}

static void accounts_release(void *what) {
    gt_mem_free(((struct accounts *)what)->by_device);
}

static const struct gt_sharing sharings[GT_SHARED_COUNT] = {
    [GT_SHARED_IDLE] = {sizeof(struct gt_idle), idle_init, idle_release},
    [GT_SHARED_KERNELS] = {sizeof(struct gt_named_set), kernels_init, kernels_release},
    [GT_SHARED_RANGES] = {sizeof(struct gt_range_set), range_set_init, range_set_release},
    [GT_SHARED_ACCOUNTS] = {sizeof(struct accounts), accounts_init, accounts_release},
    [GT_SHARED_STEPS] = {sizeof(struct gt_step_set), step_set_init, step_set_release},
    [GT_SHARED_PHASES] = {sizeof(struct gt_phase_set), phase_set_init, phase_set_release},
    [GT_SHARED_RATES] = {sizeof(struct gt_launch_rates), launch_rates_init, launch_rates_release},
    [GT_SHARED_LAUNCH_MARKS] = {sizeof(struct gt_launch_marks), launch_marks_init, launch_marks_release},
    [GT_SHARED_BLOCKING_MARKS] = {sizeof(struct gt_blocking_marks), blocking_marks_init, blocking_marks_release},
    [GT_SHARED_OP_GROUPS] = {sizeof(struct gt_op_groups), op_groups_init, op_groups_release},
    [GT_SHARED_RANGE_GROUPS] = {sizeof(struct gt_range_groups), range_groups_init, range_groups_release},
};

static const void *share(const struct gt_view *view, enum gt_shared_kind kind, struct gt_error *err) {
    return gt_view_share(view, kind, &sharings[kind], err);
}

enum gt_status gt_shared_make(const struct gt_view *view, enum gt_shared_kind kind, struct gt_error *err) {
    return share(view, kind, err) ? GT_OK : err->code;
}

const struct gt_idle *gt_shared_idle(const struct gt_view *view, struct gt_error *err) {
    return share(view, GT_SHARED_IDLE, err);
}

const struct gt_named_set *gt_shared_kernels(const struct gt_view *view, struct gt_error *err) {
    return share(view, GT_SHARED_KERNELS, err);
}

const struct gt_range_set *gt_shared_ranges(const struct gt_view *view, struct gt_error *err) {
    return share(view, GT_SHARED_RANGES, err);
}

const struct gt_account *gt_shared_accounts(const struct gt_view *view, struct gt_error *err) {
    const struct accounts *accounts = share(view, GT_SHARED_ACCOUNTS, err);
    return accounts ? accounts->by_device : NULL;
}

const struct gt_step_set *gt_shared_steps(const struct gt_view *view, struct gt_error *err) {
    return share(view, GT_SHARED_STEPS, err);
}

const struct gt_phase_set *gt_shared_phases(const struct gt_view *view, struct gt_error *err) {
    return share(view, GT_SHARED_PHASES, err);
}

const struct gt_launch_rates *gt_shared_rates(const struct gt_view *view, struct gt_error *err) {
    return share(view, GT_SHARED_RATES, err);
}

const uint8_t *gt_shared_launch_marks(const struct gt_view *view, struct gt_error *err) {
    const struct gt_launch_marks *marks = share(view, GT_SHARED_LAUNCH_MARKS, err);
    return marks ? marks->of_call : NULL;
}

const uint8_t *gt_shared_blocking_marks(const struct gt_view *view, struct gt_error *err) {
    const struct gt_blocking_marks *marks = share(view, GT_SHARED_BLOCKING_MARKS, err);
    return marks ? marks->of_call : NULL;
}

const struct gt_op_groups *gt_shared_op_groups(const struct gt_view *view, struct gt_error *err) {
    return share(view, GT_SHARED_OP_GROUPS, err);
}

const struct gt_range_groups *gt_shared_range_groups(const struct gt_view *view, struct gt_error *err) {
    return share(view, GT_SHARED_RANGE_GROUPS, err);
}
