/* Finds what kept launching threads during gaps: in come gaps, ranges and operators, out goes the name of the outermost
   code in which each gap was mostly spent. */
#include "measure/outer_code.h"

#include <string.h>

#include "base/mem.h"
#include "base/radix.h"
#include "measure/measure.h"

/* Code of one thread that no other range or operator encloses. Those of a thread do not overlap. */
struct outer {
    int64_t start_ns, end_ns;
    gt_strid name;
};

struct outers {
    struct outer *items; /* by thread, then time */
    size_t *first;       /* by thread, one more than threads */
};

/* Rows of both tables in order of start, those of the operators behind those of the ranges. */
static struct gt_radix_item *new_order(const struct gt_store *store, const uint8_t *is_telling, size_t *count) {
    size_t rows = store->ranges.count + store->cpu_ops.count;
    struct gt_radix_item *items = rows > UINT32_MAX ? NULL : gt_alloc_array(rows, sizeof *items);
    *count = 0;
    for (size_t i = 0; i < store->ranges.count && items; i++)
        if (is_telling[i] && store->ranges.thread[i] < store->threads.count)
            items[(*count)++] = (struct gt_radix_item){gt_radix_key(store->ranges.start_ns[i]), (uint32_t)i};
    for (size_t i = 0; i < store->cpu_ops.count && items; i++)
        if (store->cpu_ops.thread[i] < store->threads.count)
            items[(*count)++] =
                (struct gt_radix_item){gt_radix_key(store->cpu_ops.start_ns[i]), (uint32_t)(store->ranges.count + i)};
    if (items && !gt_radix_sort(items, *count)) {
        gt_free(items);
        items = NULL;
    }
    return items;
}

static struct outer row_at(const struct gt_store *store, size_t row, uint32_t *thread) {
    const struct gt_ranges *ranges = &store->ranges;
    if (row < ranges->count) {
        *thread = ranges->thread[row];
        return (struct outer){ranges->start_ns[row], ranges->end_ns[row], ranges->name[row]};
    }
    row -= ranges->count;
    *thread = store->cpu_ops.thread[row];
    return (struct outer){store->cpu_ops.start_ns[row], store->cpu_ops.end_ns[row], store->cpu_ops.name[row]};
}

/* Where the walk stands on one thread. */
struct reached {
    int64_t start_ns, end_ns; /* of the outermost code so far, as it is in the trace */
    bool has_code;
};

/* Walks all rows by start; of those that start together the longest encloses the others. What begins inside another
   keeps only what is behind its end, so that damaged nesting still gives intervals that do not overlap. Without items
   it only counts. */
static void find_outers(const struct gt_store *store, const struct gt_radix_item *order, size_t count,
                        struct reached *reached, size_t *next, struct outer *items) {
    memset(reached, 0, store->threads.count * sizeof *reached);
    for (size_t i = 0; i < count; i++) {
        uint32_t thread;
        struct outer outer = row_at(store, order[i].value, &thread);
        struct reached *at = &reached[thread];
        int64_t start_ns = outer.start_ns;
        bool encloses = at->has_code && start_ns == at->start_ns;
        if (outer.end_ns <= start_ns || (at->has_code && outer.end_ns <= at->end_ns))
            continue;
        if (at->has_code && start_ns < at->end_ns)
            outer.start_ns = at->end_ns;
        if (items && encloses) {
            items[next[thread] - 1].end_ns = outer.end_ns;
            items[next[thread] - 1].name = outer.name;
        } else if (items) {
            items[next[thread]] = outer;
        }
        next[thread] += !encloses;
        *at = (struct reached){start_ns, outer.end_ns, true};
    }
}

static bool outers_init(struct outers *outers, const struct gt_view *view, const uint8_t *is_telling) {
    const struct gt_store *store = view->store;
    size_t count, threads = store->threads.count;
    struct gt_radix_item *order = new_order(store, is_telling, &count);
    struct reached *reached = gt_alloc_array(threads, sizeof *reached);
    size_t *next = gt_alloc_array(threads, sizeof *next);
    outers->first = gt_alloc_array(threads + 1, sizeof *outers->first);
    bool ok = order && reached && next && outers->first;
    if (ok) {
        find_outers(store, order, count, reached, outers->first + 1, NULL);
        for (size_t t = 0; t < threads; t++) {
            outers->first[t + 1] += outers->first[t];
            next[t] = outers->first[t];
        }
        outers->items = gt_alloc_array(outers->first[threads], sizeof *outers->items);
        ok = outers->items != NULL;
    }
    if (ok)
        find_outers(store, order, count, reached, next, outers->items);
    gt_free(order);
    gt_free(reached);
    gt_free(next);
    return ok;
}

/* The name with the largest part of [start, end), where all names together have more than half of it. */
static gt_strid name_during(const struct outers *outers, uint32_t thread, int64_t start_ns, int64_t end_ns) {
    size_t low = outers->first[thread], end = outers->first[thread + 1], high = end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (outers->items[middle].end_ns <= start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    int64_t longest_ns = 0, covered_ns = 0;
    gt_strid longest = GT_STRID_EMPTY;
    for (size_t i = low; i < end && outers->items[i].start_ns < end_ns; i++) {
        const struct outer *outer = &outers->items[i];
        int64_t from_ns = outer->start_ns > start_ns ? outer->start_ns : start_ns;
        int64_t part_ns = gt_ns_between(from_ns, outer->end_ns < end_ns ? outer->end_ns : end_ns);
        covered_ns = gt_ns_add(covered_ns, part_ns);
        if (part_ns > longest_ns) {
            longest_ns = part_ns;
            longest = outer->name;
        }
    }
    return covered_ns > gt_ns_between(start_ns, end_ns) / 2 ? longest : GT_STRID_EMPTY;
}

static void name_gaps(const struct gt_view *view, const struct gt_idle *idle, const struct outers *outers,
                      gt_strid *names) {
    const struct gt_calls *calls = &view->store->calls;
    for (size_t i = 0; i < idle->count; i++) {
        const struct gt_idle_gap *gap = &idle->gaps[i];
        if (!gt_idle_gap_is_of_cpu(gap) || calls->thread[gap->call] >= view->store->threads.count)
            continue;
        names[i] = name_during(outers, calls->thread[gap->call], gap->start_ns, calls->start_ns[gap->call]);
    }
}

gt_strid *gt_outer_code_names(const struct gt_view *view, const struct gt_idle *idle) {
    struct outers outers = {0};
    bool is_needed = false;
    for (size_t i = 0; i < idle->count && !is_needed; i++)
        is_needed = gt_idle_gap_is_of_cpu(&idle->gaps[i]);
    gt_strid *names = gt_alloc_array(idle->count, sizeof *names); /* zeroed: GT_STRID_EMPTY */
    uint8_t *is_telling = is_needed ? gt_telling_ranges_new(view) : NULL;
    bool ok = names && (!is_needed || (is_telling && outers_init(&outers, view, is_telling)));
    if (ok && is_needed)
        name_gaps(view, idle, &outers, names);
    gt_free(is_telling);
    gt_free(outers.items);
    gt_free(outers.first);
    if (!ok) {
        gt_free(names);
        names = NULL;
    }
    return names;
}

struct gt_str gt_outer_code_text(const struct gt_view *view, gt_strid name) {
    struct gt_str text = gt_store_string(view->store, name);
    return text.len ? text : GT_STR("(outside ranges and operators)");
}
