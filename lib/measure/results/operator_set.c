/* Finds the operators around launch calls by a sweep over both, thread by thread, with a stack of open operators. */
#include "measure/results/operator_set.h"

#include <string.h>

#include "base/mem.h"
#include "base/radix.h"

/* Operators that overlap instead of nesting stay open below others. So many that have not ended are looked at for a
   call, which is far more than any program nests, so that a damaged trace costs no more than a sound one. */
enum { DEEPEST = 1000 };

struct sweep {
    const struct gt_store *store;
    const uint32_t *wanted;                  /* the list of calls */
    struct gt_radix_item *operators, *calls; /* rows, and places in the list: by thread, start, longer first */
    size_t operator_count, call_count;
    uint32_t *open; /* stack of operators */
    size_t depth;
};

static void sweep_release(struct sweep *sweep) {
    gt_mem_free(sweep->operators);
    gt_mem_free(sweep->calls);
    gt_mem_free(sweep->open);
}

/* Columns of intervals on threads. */
struct intervals {
    const int64_t *start_ns, *end_ns;
    const uint32_t *thread;
    const uint32_t *rows; /* of the items' values; NULL: those are rows */
};

static size_t row_of(const struct intervals *intervals, const struct gt_radix_item *item) {
    return intervals->rows ? intervals->rows[item->value] : item->value;
}

/* By thread, start, longer first. */
static bool sort_intervals(struct gt_radix_item *items, size_t count, const struct intervals *intervals) {
    for (size_t i = 0; i < count; i++)
        items[i].key = ~gt_radix_key(intervals->end_ns[row_of(intervals, &items[i])]);
    bool ok = gt_radix_sort(items, count);
    for (size_t i = 0; i < count; i++)
        items[i].key = gt_radix_key(intervals->start_ns[row_of(intervals, &items[i])]);
    ok = ok && gt_radix_sort(items, count);
    for (size_t i = 0; i < count; i++)
        items[i].key = intervals->thread[row_of(intervals, &items[i])];
    return ok && gt_radix_sort(items, count);
}

static bool add_calls(struct sweep *sweep, size_t count) {
    const struct gt_calls *calls = &sweep->store->calls;
    sweep->calls = gt_mem_uninitialised(count, sizeof *sweep->calls);
    for (uint32_t place = 0; place < count && sweep->calls; place++)
        if (sweep->wanted[place] != GT_NO_ROW && calls->thread[sweep->wanted[place]] != GT_NO_TRACK)
            sweep->calls[sweep->call_count++].value = place;
    const struct intervals intervals = {calls->start_ns, calls->end_ns, calls->thread, sweep->wanted};
    return sweep->calls && sort_intervals(sweep->calls, sweep->call_count, &intervals);
}

/* Does one of the calls start while the operator runs? */
static bool has_call(const struct sweep *sweep, size_t row) {
    const struct gt_calls *calls = &sweep->store->calls;
    const struct gt_cpu_ops *cpu_ops = &sweep->store->cpu_ops;
    size_t low = 0, high = sweep->call_count; /* the first that does not start before it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint32_t call = sweep->wanted[sweep->calls[middle].value];
        if (calls->thread[call] < cpu_ops->thread[row] ||
            (calls->thread[call] == cpu_ops->thread[row] && calls->start_ns[call] < cpu_ops->start_ns[row]))
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t call = low < sweep->call_count ? sweep->wanted[sweep->calls[low].value] : GT_NO_ROW;
    return call != GT_NO_ROW && calls->thread[call] == cpu_ops->thread[row] &&
           calls->start_ns[call] <= cpu_ops->end_ns[row];
}

/* Few calls are in few operators: to find these costs less than to sort all. */
static bool add_operators(struct sweep *sweep) {
    enum { SORTING_PASSES = 16 };
    const struct gt_cpu_ops *cpu_ops = &sweep->store->cpu_ops;
    bool are_few = sweep->call_count < cpu_ops->count / SORTING_PASSES;
    sweep->operators = gt_mem_uninitialised(cpu_ops->count, sizeof *sweep->operators);
    for (uint32_t i = 0; i < cpu_ops->count && sweep->operators; i++)
        if (cpu_ops->thread[i] != GT_NO_TRACK && (!are_few || has_call(sweep, i)))
            sweep->operators[sweep->operator_count++].value = i;
    sweep->open = gt_mem_uninitialised(sweep->operator_count, sizeof *sweep->open);
    const struct intervals intervals = {cpu_ops->start_ns, cpu_ops->end_ns, cpu_ops->thread, NULL};
    return sweep->operators && sweep->open && sort_intervals(sweep->operators, sweep->operator_count, &intervals);
}

/* The innermost open operator that reaches the end of the call. Those above it that have ended are forgotten, for later
   calls start later still. */
static uint32_t find_open(struct sweep *sweep, int64_t start_ns, int64_t end_ns) {
    const int64_t *operator_end_ns = sweep->store->cpu_ops.end_ns;
    size_t bottom = sweep->depth, alive = 0; /* those that have not ended gather at the top of the stack */
    uint32_t found = GT_NO_ROW;
    while (bottom > 0 && alive < DEEPEST && found == GT_NO_ROW) {
        uint32_t row = sweep->open[--bottom];
        if (operator_end_ns[row] < start_ns)
            continue;
        sweep->open[sweep->depth - ++alive] = row;
        if (operator_end_ns[row] >= end_ns)
            found = row;
    }
    memmove(sweep->open + bottom, sweep->open + sweep->depth - alive, alive * sizeof *sweep->open);
    sweep->depth = bottom + alive;
    return found;
}

static void run_sweep(struct sweep *sweep, uint32_t *operators) {
    const struct gt_calls *calls = &sweep->store->calls;
    const struct gt_cpu_ops *cpu_ops = &sweep->store->cpu_ops;
    uint32_t thread = GT_NO_TRACK;
    for (size_t c = 0, next = 0; c < sweep->call_count; c++) {
        uint32_t place = sweep->calls[c].value, call = sweep->wanted[place];
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
        operators[place] = find_open(sweep, calls->start_ns[call], calls->end_ns[call]);
    }
}

uint32_t *gt_operator_set_of_calls(const struct gt_view *view, const uint32_t *calls, size_t count) {
    uint32_t *operators = gt_mem_uninitialised(count, sizeof *operators);
    struct sweep sweep = {.store = view->store, .wanted = calls};
    bool has_operators = view->store->cpu_ops.count > 0;
    for (size_t i = 0; i < count && operators; i++)
        operators[i] = GT_NO_ROW;
    bool ok = operators && (!has_operators || (add_calls(&sweep, count) && add_operators(&sweep)));
    if (ok && has_operators)
        run_sweep(&sweep, operators);
    sweep_release(&sweep);
    if (!ok) {
        gt_mem_free(operators);
        operators = NULL;
    }
    return operators;
}
