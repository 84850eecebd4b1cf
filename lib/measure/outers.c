/* Finds the outermost code of every thread by one walk over ranges and operators in order of their start. */
#include "measure/outers.h"

#include "base/mem.h"
#include "base/spans.h"
#include "measure/measure.h"

/* Columns of a table of ranges or operators. */
struct table {
    size_t count;
    const int64_t *start_ns, *end_ns;
    const uint32_t *thread;
    const gt_strid *name;
    const uint8_t *is_telling; /* by row; NULL: all are */
};

/* Rows of a table that may be outermost: thread by thread, in order of their start. */
struct candidates {
    const struct table *table;
    uint32_t *rows;
    size_t *first; /* by thread, and one more */
};

/* The code that reaches furthest, as it is in the trace. */
struct reached {
    int64_t start_ns, end_ns;
    bool has_code;
};

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

/* Leaves out what is inside the code before it on the same thread, as most operators are. `reached` is zeroed.
 *is_in_order: no row starts before that one. Gives how many rows there are. */
static size_t take_rows(const struct table *table, size_t threads, struct reached *reached, uint32_t *rows,
                        bool *is_in_order) {
    size_t count = 0;
    *is_in_order = true;
    for (uint32_t row = 0; row < table->count; row++) {
        int64_t start_ns = table->start_ns[row], end_ns = table->end_ns[row];
        if (table->thread[row] >= threads || end_ns <= start_ns || (table->is_telling && !table->is_telling[row]))
            continue;
        struct reached *at = &reached[table->thread[row]];
        if (at->has_code && start_ns >= at->start_ns && end_ns <= at->end_ns)
            continue;
        *is_in_order &= !at->has_code || start_ns >= at->start_ns;
        *at = (struct reached){start_ns, end_ns, true};
        rows[count++] = row;
    }
    return count;
}

/* Deals rows out to their threads, each in the order they come in. */
static bool deal_rows(struct candidates *candidates, size_t threads, const uint32_t *rows, size_t count) {
    const uint32_t *thread = candidates->table->thread;
    candidates->rows = gt_alloc_uninitialised(count, sizeof *candidates->rows);
    candidates->first = gt_alloc_array(threads + 2, sizeof *candidates->first);
    if (!candidates->rows || !candidates->first)
        return false;
    size_t *next = candidates->first + 1; /* by thread, while they are dealt out; then its neighbour's first */
    for (size_t i = 0; i < count; i++)
        next[thread[rows[i]] + 1]++;
    for (size_t t = 0; t < threads; t++)
        next[t + 1] += next[t];
    for (size_t i = 0; i < count; i++)
        candidates->rows[next[thread[rows[i]]]++] = rows[i];
    return true;
}

static bool candidates_init(struct candidates *candidates, const struct table *table, size_t threads) {
    struct reached *reached = gt_alloc_array(threads, sizeof *reached);
    uint32_t *rows = table->count > UINT32_MAX ? NULL : gt_alloc_uninitialised(table->count, sizeof *rows);
    bool is_in_order, ok = reached && rows;
    size_t count = ok ? take_rows(table, threads, reached, rows, &is_in_order) : 0;
    candidates->table = table;
    ok = ok && (is_in_order || gt_spans_sort(rows, count, table->start_ns, table->end_ns)) &&
         deal_rows(candidates, threads, rows, count);
    gt_free(reached);
    gt_free(rows);
    return ok;
}

static void candidates_release(struct candidates *candidates) {
    gt_free(candidates->rows);
    gt_free(candidates->first);
}

/* ---- the walk ---- */

/* Of rows that start together the longest encloses the others. What begins inside another keeps only what is behind its
   end, so that damaged nesting still gives intervals that do not overlap. */
static void put_code(struct gt_outers *outers, const struct table *table, uint32_t row, struct reached *at) {
    int64_t start_ns = table->start_ns[row], end_ns = table->end_ns[row];
    if (at->has_code && end_ns <= at->end_ns)
        return;
    bool encloses = at->has_code && start_ns == at->start_ns;
    size_t place = encloses ? outers->count - 1 : outers->count++;
    if (!encloses)
        outers->start_ns[place] = at->has_code && start_ns < at->end_ns ? at->end_ns : start_ns;
    outers->end_ns[place] = end_ns;
    outers->name[place] = table->name[row];
    *at = (struct reached){start_ns, end_ns, true};
}

/* Takes both tables' code on a thread in order of start. */
static void walk_thread(struct gt_outers *outers, const struct candidates *a, const struct candidates *b, size_t t) {
    struct reached at = {0};
    size_t i = a->first[t], k = b->first[t];
    while (i < a->first[t + 1] || k < b->first[t + 1]) {
        bool is_a = k == b->first[t + 1] ||
                    (i < a->first[t + 1] && a->table->start_ns[a->rows[i]] <= b->table->start_ns[b->rows[k]]);
        if (is_a)
            put_code(outers, a->table, a->rows[i++], &at);
        else
            put_code(outers, b->table, b->rows[k++], &at);
    }
}

static bool add_columns(struct gt_outers *outers, size_t most) {
    outers->start_ns = gt_alloc_uninitialised(most, sizeof *outers->start_ns);
    outers->end_ns = gt_alloc_uninitialised(most, sizeof *outers->end_ns);
    outers->name = gt_alloc_uninitialised(most, sizeof *outers->name);
    return outers->start_ns && outers->end_ns && outers->name;
}

bool gt_outers_init(struct gt_outers *outers, const struct gt_view *view) {
    const struct gt_ranges *ranges = &view->store->ranges;
    const struct gt_cpu_ops *cpu_ops = &view->store->cpu_ops;
    size_t threads = view->store->threads.count;
    uint8_t *is_telling = new_telling_ranges(view);
    const struct table range_table = {ranges->count,  ranges->start_ns, ranges->end_ns,
                                      ranges->thread, ranges->name,     is_telling};
    const struct table operator_table = {cpu_ops->count,  cpu_ops->start_ns, cpu_ops->end_ns,
                                         cpu_ops->thread, cpu_ops->name,     NULL};
    struct candidates a = {0}, b = {0};
    *outers = (struct gt_outers){.first = gt_alloc_array(threads + 1, sizeof *outers->first)};
    bool ok = is_telling && outers->first && candidates_init(&a, &range_table, threads) &&
              candidates_init(&b, &operator_table, threads) && add_columns(outers, a.first[threads] + b.first[threads]);
    for (size_t t = 0; t < threads && ok; t++) {
        walk_thread(outers, &a, &b, t);
        outers->first[t + 1] = outers->count;
    }
    candidates_release(&a);
    candidates_release(&b);
    gt_free(is_telling);
    return ok;
}

/* ---- asking ---- */

/* The first code of a thread that ends behind a time. Times are mostly asked for in order, so it mostly is the one that
   was found before or close behind it: *place remembers. */
static size_t first_behind(const struct gt_outers *outers, uint32_t thread, int64_t time_ns, size_t *place) {
    size_t low = outers->first[thread], high = outers->first[thread + 1];
    if (*place > low && *place <= high && outers->end_ns[*place - 1] <= time_ns)
        low = *place;
    for (size_t step = 1; low < high; step *= 2) {
        size_t probe = high - low > step ? low + step - 1 : high - 1;
        if (outers->end_ns[probe] > time_ns) {
            high = probe;
            break;
        }
        low = probe + 1;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (outers->end_ns[middle] <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    *place = low;
    return low;
}

struct gt_outer_part gt_outers_during(const struct gt_outers *outers, uint32_t thread, int64_t start_ns, int64_t end_ns,
                                      size_t *place) {
    int64_t longest_ns = 0, covered_ns = 0;
    gt_strid longest = GT_STRID_EMPTY;
    for (size_t i = first_behind(outers, thread, start_ns, place);
         i < outers->first[thread + 1] && outers->start_ns[i] < end_ns; i++) {
        int64_t from_ns = outers->start_ns[i] > start_ns ? outers->start_ns[i] : start_ns;
        int64_t part_ns = gt_ns_between(from_ns, outers->end_ns[i] < end_ns ? outers->end_ns[i] : end_ns);
        covered_ns = gt_ns_add(covered_ns, part_ns);
        if (part_ns > longest_ns) {
            longest_ns = part_ns;
            longest = outers->name[i];
        }
    }
    bool is_most = covered_ns > gt_ns_between(start_ns, end_ns) / 2;
    return (struct gt_outer_part){is_most, is_most ? longest : GT_STRID_EMPTY};
}

struct gt_str gt_outers_text(const struct gt_view *view, gt_strid name) {
    struct gt_str text = gt_store_string(view->store, name);
    return text.len ? text : GT_STR("(outside ranges and operators)");
}

void gt_outers_release(struct gt_outers *outers) {
    gt_free(outers->start_ns);
    gt_free(outers->end_ns);
    gt_free(outers->name);
    gt_free(outers->first);
    *outers = (struct gt_outers){0};
}
