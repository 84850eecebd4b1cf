/* Finds the operators around launch calls by a sweep over both, thread by thread, with a stack of open operators. */
#include "measure/operator_set.h"

#include "base/mem.h"
#include "base/radix.h"

/* Operators that overlap instead of nesting stay open below others. So many are looked at for a call, which is far more
   than any program nests, so that a damaged trace costs no more than a sound one. */
enum { DEEPEST = 1000 };

struct sweep {
    const struct gt_store *store;
    struct gt_radix_item *operators, *calls; /* by thread, start, longer first, row */
    size_t operator_count, call_count;
    uint32_t *open; /* stack of operators */
    size_t depth;
};

static void sweep_release(struct sweep *sweep) {
    gt_free(sweep->operators);
    gt_free(sweep->calls);
    gt_free(sweep->open);
}

/* By thread, start, longer first. */
static bool sort_intervals(struct gt_radix_item *items, size_t count, const int64_t *start_ns, const int64_t *end_ns,
                           const uint32_t *thread) {
    for (size_t i = 0; i < count; i++)
        items[i].key = ~gt_radix_key(end_ns[items[i].value]);
    bool ok = gt_radix_sort(items, count);
    for (size_t i = 0; i < count; i++)
        items[i].key = gt_radix_key(start_ns[items[i].value]);
    ok = ok && gt_radix_sort(items, count);
    for (size_t i = 0; i < count; i++)
        items[i].key = thread[items[i].value];
    return ok && gt_radix_sort(items, count);
}

static bool sweep_init(struct sweep *sweep, const struct gt_store *store, const uint8_t *is_wanted) {
    int64_t latest_start_ns = INT64_MIN, earliest_end_ns = INT64_MAX;
    *sweep = (struct sweep){.store = store};
    sweep->operators = gt_alloc_array(store->cpu_ops.count, sizeof *sweep->operators);
    sweep->calls = gt_alloc_array(store->calls.count, sizeof *sweep->calls);
    sweep->open = gt_alloc_array(store->cpu_ops.count, sizeof *sweep->open);
    if (!sweep->operators || !sweep->calls || !sweep->open)
        return false;
    for (uint32_t i = 0; i < store->calls.count; i++)
        if (is_wanted[i] && store->calls.thread[i] != GT_NO_TRACK) {
            sweep->calls[sweep->call_count++].value = i;
            latest_start_ns = store->calls.start_ns[i] > latest_start_ns ? store->calls.start_ns[i] : latest_start_ns;
            earliest_end_ns = store->calls.end_ns[i] < earliest_end_ns ? store->calls.end_ns[i] : earliest_end_ns;
        }
    for (uint32_t i = 0; i < store->cpu_ops.count; i++)
        if (store->cpu_ops.thread[i] != GT_NO_TRACK && store->cpu_ops.start_ns[i] <= latest_start_ns &&
            store->cpu_ops.end_ns[i] >= earliest_end_ns)
            sweep->operators[sweep->operator_count++].value = i;
    return sort_intervals(sweep->operators, sweep->operator_count, store->cpu_ops.start_ns, store->cpu_ops.end_ns,
                          store->cpu_ops.thread) &&
           sort_intervals(sweep->calls, sweep->call_count, store->calls.start_ns, store->calls.end_ns,
                          store->calls.thread);
}

/* The innermost open operator that reaches the end of the call. */
static uint32_t find_open(struct sweep *sweep, int64_t start_ns, int64_t end_ns) {
    const int64_t *operator_end_ns = sweep->store->cpu_ops.end_ns;
    while (sweep->depth && operator_end_ns[sweep->open[sweep->depth - 1]] < start_ns)
        sweep->depth--; /* later calls start later still */
    for (size_t i = sweep->depth; i > 0 && sweep->depth - i < DEEPEST; i--)
        if (operator_end_ns[sweep->open[i - 1]] >= end_ns)
            return sweep->open[i - 1];
    return GT_NO_ROW;
}

static void run_sweep(struct sweep *sweep, uint32_t *operators) {
    const struct gt_calls *calls = &sweep->store->calls;
    const struct gt_cpu_ops *cpu_ops = &sweep->store->cpu_ops;
    uint32_t thread = GT_NO_TRACK;
    for (size_t c = 0, next = 0; c < sweep->call_count; c++) {
        uint32_t call = sweep->calls[c].value;
        if (calls->thread[call] != thread)
            sweep->depth = 0;
        thread = calls->thread[call];
        while (next < sweep->operator_count && cpu_ops->thread[sweep->operators[next].value] < thread)
            next++;
        for (; next < sweep->operator_count; next++) {
            uint32_t row = sweep->operators[next].value;
            if (cpu_ops->thread[row] != thread || cpu_ops->start_ns[row] > calls->start_ns[call])
                break;
            sweep->open[sweep->depth++] = row;
        }
        operators[call] = find_open(sweep, calls->start_ns[call], calls->end_ns[call]);
    }
}

uint32_t *gt_operators_of_calls(const struct gt_view *view, const uint8_t *is_wanted) {
    size_t call_count = view->store->calls.count;
    uint32_t *operators = gt_alloc_array(call_count, sizeof *operators);
    struct sweep sweep = {.store = view->store};
    for (size_t i = 0; i < call_count && operators; i++)
        operators[i] = GT_NO_ROW;
    bool ok = operators && (view->store->cpu_ops.count == 0 || sweep_init(&sweep, view->store, is_wanted));
    if (ok)
        run_sweep(&sweep, operators);
    sweep_release(&sweep);
    if (!ok) {
        gt_free(operators);
        operators = NULL;
    }
    return operators;
}
