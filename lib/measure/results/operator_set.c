/* Finds the operators around launch calls by a sweep over both, thread by thread, with a stack of open operators. */
#include "measure/results/operator_set.h"

#include <string.h>

#include "base/mem.h"
#include "base/radix.h"
#include "base/spans.h"
#include "base/threads.h"

/* Operators that overlap instead of nesting stay open below others. So many that have not ended are looked at for a
   call, which is far more than any program nests, so that a damaged trace costs no more than a sound one. */
enum { DEEPEST = 1000 };

/* Intervals on threads, by number. */
struct intervals {
    int64_t *start_ns, *end_ns;
    uint32_t *thread;
};

struct sweep {
    const struct gt_store *store;
    struct intervals wanted;     /* the calls of the list; those that count have a thread */
    uint32_t *operators, *calls; /* rows, and places in the list: by thread, start, longer first */
    size_t operator_count, call_count;
    uint32_t *open; /* stack of operators */
    size_t depth;
    bool wants_callers; /* of operators of one library the outermost */
};

static void sweep_release(struct sweep *sweep) {
    gt_mem_free(sweep->wanted.start_ns);
    gt_mem_free(sweep->wanted.end_ns);
    gt_mem_free(sweep->wanted.thread);
    gt_mem_free(sweep->operators);
    gt_mem_free(sweep->calls);
    gt_mem_free(sweep->open);
}

/* Those of each thread next to each other, in the order they had. */
static bool group_by_thread(uint32_t *rows, size_t count, const uint32_t *thread) {
    size_t i = 1;
    while (i < count && thread[rows[i - 1]] <= thread[rows[i]])
        i++;
    if (i >= count)
        return true;
    struct gt_radix_item *items = gt_mem_uninitialised(count, sizeof *items);
    for (i = 0; i < count && items; i++)
        items[i] = (struct gt_radix_item){thread[rows[i]], rows[i]};
    bool ok = items && gt_radix_sort(items, count);
    for (i = 0; i < count && ok; i++)
        rows[i] = items[i].value;
    gt_mem_free(items);
    return ok;
}

/* By thread, start, longer first. Most programs write what a thread did in nearly that order. */
static bool sort_rows(uint32_t *rows, size_t count, const struct intervals *of) {
    bool ok = group_by_thread(rows, count, of->thread);
    for (size_t first = 0, end; first < count && ok; first = end) {
        for (end = first; end < count && of->thread[rows[end]] == of->thread[rows[first]];)
            end++;
        ok = gt_spans_sort(rows + first, end - first, of->start_ns, of->end_ns);
    }
    return ok;
}

static bool add_calls(struct sweep *sweep, const uint32_t *list, size_t count) {
    const struct gt_calls *calls = &sweep->store->calls;
    struct intervals *wanted = &sweep->wanted;
    wanted->start_ns = gt_mem_uninitialised(count, sizeof *wanted->start_ns);
    wanted->end_ns = gt_mem_uninitialised(count, sizeof *wanted->end_ns);
    wanted->thread = gt_mem_uninitialised(count, sizeof *wanted->thread);
    sweep->calls = gt_mem_uninitialised(count, sizeof *sweep->calls);
    if (!wanted->start_ns || !wanted->end_ns || !wanted->thread || !sweep->calls)
        return false;
    for (uint32_t place = 0; place < count; place++) {
        uint32_t call = list[place];
        if (call == GT_NO_ROW || calls->thread[call] == GT_NO_TRACK)
            continue;
        wanted->start_ns[place] = calls->start_ns[call];
        wanted->end_ns[place] = calls->end_ns[call];
        wanted->thread[place] = calls->thread[call];
        sweep->calls[sweep->call_count++] = place;
    }
    return sort_rows(sweep->calls, sweep->call_count, wanted);
}

/* Whether a call starts before an operator does, on its thread or on one before it. */
static bool is_before(const struct sweep *sweep, size_t call, size_t row) {
    const struct gt_cpu_ops *cpu_ops = &sweep->store->cpu_ops;
    uint32_t place = sweep->calls[call], thread = sweep->wanted.thread[place];
    return thread != cpu_ops->thread[row] ? thread < cpu_ops->thread[row]
                                          : sweep->wanted.start_ns[place] < cpu_ops->start_ns[row];
}

/* The first call that is not before an operator. hint: where it was for the operator before, which mostly is near. */
static size_t find_call(const struct sweep *sweep, size_t row, size_t hint) {
    enum { NEAR = 4 };
    size_t low = 0, high = sweep->call_count;
    if (hint == 0 || is_before(sweep, hint - 1, row)) {
        size_t far = high - hint < NEAR ? high : hint + NEAR;
        for (low = hint; low < far; low++)
            if (!is_before(sweep, low, row))
                return low;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(sweep, middle, row))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Operators of a thread that start after one call and not after the next. */
struct between {
    uint32_t thread;
    int64_t after_ns, until_ns;
    bool has_next; /* there is a next call, which starts at until_ns */
    size_t next;   /* ... its place; otherwise the one after all that are before */
};

/* Rarely needed: inlined it would take the loop around it its registers. */
static __attribute__((noinline)) struct between find_between(const struct sweep *sweep, size_t row, size_t hint) {
    const uint32_t thread = sweep->store->cpu_ops.thread[row];
    const struct intervals *wanted = &sweep->wanted;
    struct between between = {.thread = thread, .after_ns = INT64_MIN, .until_ns = INT64_MAX};
    size_t next = find_call(sweep, row, hint);
    between.next = next;
    if (next > 0 && wanted->thread[sweep->calls[next - 1]] == thread)
        between.after_ns = wanted->start_ns[sweep->calls[next - 1]];
    between.has_next = next < sweep->call_count && wanted->thread[sweep->calls[next]] == thread;
    if (between.has_next)
        between.until_ns = wanted->start_ns[sweep->calls[next]];
    return between;
}

/* Slices of the operators, each of which lists its own at its place. */
struct listing {
    const struct sweep *sweep;
    uint32_t *operators;
    size_t counts[GT_THREADS_MOST];
};

/* Lists the operators in which a call starts; on no thread none does. Mostly an operator is between the same calls as
   the one before. */
static void list_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct listing *listing = context;
    const struct gt_cpu_ops *cpu_ops = &listing->sweep->store->cpu_ops;
    const uint32_t *thread = cpu_ops->thread;
    const int64_t *start_ns = cpu_ops->start_ns, *end_ns = cpu_ops->end_ns;
    struct between at = {GT_NO_TRACK, INT64_MIN, INT64_MAX, false, 0};
    uint32_t *operators = listing->operators + begin;
    size_t count = 0;
    for (size_t i = begin; i < end; i++) {
        if (thread[i] != at.thread || start_ns[i] <= at.after_ns || start_ns[i] > at.until_ns)
            at = find_between(listing->sweep, i, at.next);
        if (at.until_ns <= end_ns[i] && at.has_next)
            operators[count++] = (uint32_t)i;
    }
    listing->counts[slice] = count;
}

/* Those of all slices, next to each other. */
static size_t list_operators(const struct sweep *sweep, uint32_t *operators, size_t threads) {
    struct listing listing = {.sweep = sweep, .operators = operators};
    size_t rows = sweep->store->cpu_ops.count, slices = gt_threads_slices(threads, rows, 0), count = 0;
    gt_threads_rows(slices, rows, list_slice, &listing);
    for (size_t i = 0; i < slices; i++) {
        const uint32_t *listed = operators + gt_threads_slice_begin(rows, slices, i);
        if (i)
            memmove(operators + count, listed, listing.counts[i] * sizeof *operators);
        count += listing.counts[i];
    }
    return count;
}

/* Few calls are in few operators: to find these costs less than to sort all. */
static bool add_operators(struct sweep *sweep, size_t threads) {
    const struct gt_cpu_ops *cpu_ops = &sweep->store->cpu_ops;
    sweep->operators = gt_mem_uninitialised(cpu_ops->count, sizeof *sweep->operators);
    sweep->operator_count = sweep->operators ? list_operators(sweep, sweep->operators, threads) : 0;
    sweep->open = gt_mem_uninitialised(sweep->operator_count, sizeof *sweep->open);
    const struct intervals all = {cpu_ops->start_ns, cpu_ops->end_ns, cpu_ops->thread};
    return sweep->operators && sweep->open && sort_rows(sweep->operators, sweep->operator_count, &all);
}

/* "aten" of "aten::copy_" */
static struct gt_str library_of(const struct gt_store *store, uint32_t row) {
    struct gt_str name = gt_store_string(store, store->cpu_ops.name[row]);
    const char *end = memchr(name.ptr, ':', name.len);
    return (struct gt_str){name.ptr, end ? (size_t)(end - name.ptr) : name.len};
}

/* Whether an operator that encloses the call is wanted instead of one inside it. */
static bool is_better(const struct sweep *sweep, uint32_t row, uint32_t found) {
    return found == GT_NO_ROW || gt_str_eq(library_of(sweep->store, row), library_of(sweep->store, found));
}

/* The open operator that is wanted and reaches the end of the call, from the innermost outwards. Those above it that
   have ended are forgotten, for later calls start later still. */
static uint32_t find_open(struct sweep *sweep, int64_t start_ns, int64_t end_ns) {
    const int64_t *operator_end_ns = sweep->store->cpu_ops.end_ns;
    size_t bottom = sweep->depth, alive = 0; /* those that have not ended gather at the top of the stack */
    uint32_t found = GT_NO_ROW;
    bool is_done = false;
    while (bottom > 0 && alive < DEEPEST && !is_done) {
        uint32_t row = sweep->open[--bottom];
        if (operator_end_ns[row] < start_ns)
            continue;
        sweep->open[sweep->depth - ++alive] = row;
        if (operator_end_ns[row] < end_ns)
            continue;
        is_done = !sweep->wants_callers || !is_better(sweep, row, found);
        found = is_better(sweep, row, found) ? row : found;
    }
    memmove(sweep->open + bottom, sweep->open + sweep->depth - alive, alive * sizeof *sweep->open);
    sweep->depth = bottom + alive;
    return found;
}

static void run_sweep(struct sweep *sweep, uint32_t *operators) {
    const struct intervals *wanted = &sweep->wanted;
    const struct gt_cpu_ops *cpu_ops = &sweep->store->cpu_ops;
    uint32_t thread = GT_NO_TRACK;
    for (size_t c = 0, next = 0; c < sweep->call_count; c++) {
        uint32_t place = sweep->calls[c];
        if (wanted->thread[place] != thread)
            sweep->depth = 0;
        thread = wanted->thread[place];
        while (next < sweep->operator_count && cpu_ops->thread[sweep->operators[next]] < thread)
            next++;
        for (; next < sweep->operator_count; next++) {
            uint32_t row = sweep->operators[next];
            if (cpu_ops->thread[row] != thread || cpu_ops->start_ns[row] > wanted->start_ns[place])
                break;
            sweep->open[sweep->depth++] = row;
        }
        operators[place] = find_open(sweep, wanted->start_ns[place], wanted->end_ns[place]);
    }
}

/* around: where not NULL, takes the operators in which a call starts. */
static uint32_t *find_all(const struct gt_view *view, const uint32_t *calls, size_t count, bool wants_callers,
                          struct gt_operator_set_rows *around) {
    uint32_t *operators = gt_mem_uninitialised(count, sizeof *operators);
    struct sweep sweep = {.store = view->store, .wants_callers = wants_callers};
    bool has_operators = view->store->cpu_ops.count > 0;
    size_t threads = gt_threads_count(view->request->threads);
    for (size_t i = 0; i < count && operators; i++)
        operators[i] = GT_NO_ROW;
    bool ok = operators && (!has_operators || (add_calls(&sweep, calls, count) && add_operators(&sweep, threads)));
    if (ok && has_operators)
        run_sweep(&sweep, operators);
    if (ok && around) {
        *around = (struct gt_operator_set_rows){sweep.operators, sweep.operator_count};
        sweep.operators = NULL;
    }
    sweep_release(&sweep);
    if (!ok) {
        gt_mem_free(operators);
        operators = NULL;
    }
    return operators;
}

uint32_t *gt_operator_set_of_calls(const struct gt_view *view, const uint32_t *calls, size_t count) {
    return find_all(view, calls, count, false, NULL);
}

uint32_t *gt_operator_set_around_calls(const struct gt_view *view, const uint32_t *calls, size_t count,
                                       struct gt_operator_set_rows *around) {
    *around = (struct gt_operator_set_rows){0};
    return find_all(view, calls, count, false, around);
}

uint32_t *gt_operator_set_callers_of_calls(const struct gt_view *view, const uint32_t *calls, size_t count) {
    return find_all(view, calls, count, true, NULL);
}
