/* Finds the outermost code of every thread by one walk over ranges and operators in order of their start. */
#include "measure/outers.h"

#include <string.h>

#include "base/mem.h"
#include "base/radix.h"
#include "measure/measure.h"

/* A range or an operator. */
struct code {
    int64_t start_ns, end_ns;
    uint32_t thread;
    gt_strid name;
};

/* Where a walk stands on one thread. */
struct reached {
    int64_t start_ns, end_ns; /* of the code that reaches furthest, as it is in the trace */
    bool has_code;
};

/* Rows of operators follow those of ranges. */
static struct code code_at(const struct gt_store *store, size_t row) {
    const struct gt_ranges *ranges = &store->ranges;
    const struct gt_cpu_ops *cpu_ops = &store->cpu_ops;
    if (row < ranges->count)
        return (struct code){ranges->start_ns[row], ranges->end_ns[row], ranges->thread[row], ranges->name[row]};
    row -= ranges->count;
    return (struct code){cpu_ops->start_ns[row], cpu_ops->end_ns[row], cpu_ops->thread[row], cpu_ops->name[row]};
}

/* One byte for each range, not 0 where it says something about the code that ran: not marks, and not steps, which
   enclose everything. NULL: memory was short. */
static uint8_t *new_telling_ranges(const struct gt_view *view) {
    const struct gt_ranges *ranges = &view->store->ranges;
    uint8_t *is_telling = gt_alloc_array(ranges->count, 1);
    for (size_t i = 0; i < ranges->count && is_telling; i++)
        is_telling[i] = ranges->kind[i] != GT_RANGE_MARK && ranges->kind[i] != GT_RANGE_GPU;
    for (size_t i = 0; i < view->labels->step_count && is_telling; i++)
        if (view->labels->steps[i].range < ranges->count)
            is_telling[view->labels->steps[i].range] = 0;
    return is_telling;
}

/* ---- rows in order ---- */

struct order {
    struct gt_radix_item *items; /* rows of each thread by start */
    size_t count;
};

/* Takes a row unless it is inside one that was taken, as most operators are. false: it starts before that one. */
static bool take_row(struct order *order, const struct gt_store *store, size_t row, struct reached *reached) {
    struct code code = code_at(store, row);
    if (code.thread >= store->threads.count || code.end_ns <= code.start_ns)
        return true;
    struct reached *at = &reached[code.thread];
    if (at->has_code && code.start_ns >= at->start_ns && code.end_ns <= at->end_ns)
        return true;
    bool is_in_order = !at->has_code || code.start_ns >= at->start_ns;
    order->items[order->count++] = (struct gt_radix_item){gt_radix_key(code.start_ns), (uint32_t)row};
    *at = (struct reached){code.start_ns, code.end_ns, true};
    return is_in_order;
}

static bool order_init(struct order *order, const struct gt_view *view, struct reached *reached) {
    const struct gt_store *store = view->store;
    size_t rows = store->ranges.count + store->cpu_ops.count;
    uint8_t *is_telling = new_telling_ranges(view);
    bool is_in_order = true;
    *order = (struct order){.items = rows > UINT32_MAX ? NULL : gt_alloc_array(rows, sizeof *order->items)};
    bool ok = order->items && is_telling;
    for (size_t row = 0; row < rows && ok; row++)
        if (row >= store->ranges.count || is_telling[row])
            is_in_order &= take_row(order, store, row, reached);
    ok = ok && (is_in_order || gt_radix_sort(order->items, order->count));
    gt_free(is_telling);
    return ok;
}

/* ---- the walk ---- */

static void put_code(struct gt_outers *outers, size_t place, const struct code *code) {
    outers->start_ns[place] = code->start_ns;
    outers->end_ns[place] = code->end_ns;
    outers->thread[place] = code->thread;
    outers->name[place] = code->name;
}

/* Of rows that start together the longest encloses the others. What begins inside another keeps only what is behind its
   end, so that damaged nesting still gives intervals that do not overlap. Without columns it only counts. */
static void walk(struct gt_outers *outers, const struct gt_store *store, const struct order *order,
                 struct reached *reached, size_t *next) {
    memset(reached, 0, store->threads.count * sizeof *reached);
    for (size_t i = 0; i < order->count; i++) {
        struct code code = code_at(store, order->items[i].value);
        struct reached *at = &reached[code.thread];
        int64_t start_ns = code.start_ns;
        bool encloses = at->has_code && start_ns == at->start_ns;
        if (at->has_code && code.end_ns <= at->end_ns)
            continue;
        if (at->has_code && start_ns < at->end_ns)
            code.start_ns = at->end_ns;
        if (outers->name && encloses) {
            outers->end_ns[next[code.thread] - 1] = code.end_ns;
            outers->name[next[code.thread] - 1] = code.name;
        } else if (outers->name) {
            put_code(outers, next[code.thread], &code);
        }
        next[code.thread] += !encloses;
        *at = (struct reached){start_ns, code.end_ns, true};
    }
}

static bool add_columns(struct gt_outers *outers, size_t count) {
    outers->start_ns = gt_alloc_array(count, sizeof *outers->start_ns);
    outers->end_ns = gt_alloc_array(count, sizeof *outers->end_ns);
    outers->thread = gt_alloc_array(count, sizeof *outers->thread);
    outers->name = gt_alloc_array(count, sizeof *outers->name);
    outers->count = count;
    return outers->start_ns && outers->end_ns && outers->thread && outers->name;
}

bool gt_outers_init(struct gt_outers *outers, const struct gt_view *view) {
    size_t threads = view->store->threads.count;
    struct order order = {0};
    struct reached *reached = gt_alloc_array(threads, sizeof *reached);
    size_t *next = gt_alloc_array(threads, sizeof *next);
    *outers = (struct gt_outers){.first = gt_alloc_array(threads + 1, sizeof *outers->first)};
    bool ok = reached && next && outers->first && order_init(&order, view, reached);
    if (ok) {
        walk(outers, view->store, &order, reached, outers->first + 1);
        for (size_t t = 0; t < threads; t++) {
            outers->first[t + 1] += outers->first[t];
            next[t] = outers->first[t];
        }
        ok = add_columns(outers, outers->first[threads]);
    }
    if (ok)
        walk(outers, view->store, &order, reached, next);
    gt_free(order.items);
    gt_free(reached);
    gt_free(next);
    return ok;
}

void gt_outers_release(struct gt_outers *outers) {
    gt_free(outers->start_ns);
    gt_free(outers->end_ns);
    gt_free(outers->thread);
    gt_free(outers->name);
    gt_free(outers->first);
    *outers = (struct gt_outers){0};
}
