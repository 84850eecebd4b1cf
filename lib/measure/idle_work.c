/* Charges each gap of cause host to the outermost range or operator in which the launching thread spent most of it. */
#include "measure/idle_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quantile.h"
#include "base/radix.h"
#include "measure/grouping.h"
#include "measure/measure.h"
#include "measure/spread.h"

static const struct gt_report_column columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"name", "The launching thread was in", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Gaps", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"longest_ns", "Longest", GT_UNIT_NS, NULL, 0},
    {"stddev_ns", "Std dev", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE | GT_COLUMN_SPREAD},
    {"share", "Share of host gaps", GT_UNIT_SHARE, "idle time of the GPU with cause host", GT_COLUMN_BAR},
    {"kind", "Kind", GT_UNIT_NONE, NULL, 0},
};

/* Code of one thread that no other range or operator encloses. Those of a thread do not overlap. */
struct outer {
    int64_t start_ns, end_ns;
    gt_strid name;
};

struct outers {
    struct outer *items; /* by thread, then time */
    size_t *first;       /* by thread, one more than threads */
};

/* The gaps of one device that one name has. */
struct share {
    uint32_t device;
    gt_strid name; /* GT_STRID_EMPTY: outside everything */
    struct gt_moments gaps;
};

static struct gt_str work_name(const struct gt_view *view, const struct share *share) {
    struct gt_str name = gt_store_string(view->store, share->name);
    return name.len ? name : GT_STR("(outside ranges and operators)");
}

/* ---- the outermost code of every thread ---- */

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

/* ---- sums by device and name ---- */

/* Numbers the gaps of cause host by their share; GT_NO_ROW: the gap has another cause. */
static bool charge_gaps(const struct gt_view *view, const struct gt_idle *idle, const struct outers *outers,
                        struct gt_grouping *shares, uint32_t *share_of) {
    const struct gt_calls *calls = &view->store->calls;
    for (size_t i = 0; i < idle->count; i++) {
        const struct gt_idle_gap *gap = &idle->gaps[i];
        share_of[i] = GT_NO_ROW;
        if (gap->cause != GT_IDLE_HOST)
            continue;
        uint32_t thread = calls->thread[gap->call];
        gt_strid name = thread < view->store->threads.count
                            ? name_during(outers, thread, gap->start_ns, calls->start_ns[gap->call])
                            : GT_STRID_EMPTY;
        bool is_new;
        struct share *share = gt_grouping_find(shares, gap->device, name, &is_new);
        if (!share)
            return false;
        share->device = gap->device;
        share->name = name;
        gt_moments_add(&share->gaps, gap->gap_ns);
        share_of[i] = (uint32_t)(share - (struct share *)shares->list);
    }
    return true;
}

/* ---- spread over steps ---- */

struct charged {
    const struct gt_view *view;
    const struct gt_idle *idle;
    const uint32_t *share_of;
};

static struct gt_spread_item charged_item(const void *context, size_t index) {
    const struct charged *charged = context;
    const struct gt_idle_gap *gap = &charged->idle->gaps[index];
    bool is_charged = charged->share_of[index] != GT_NO_ROW;
    return (struct gt_spread_item){.step = is_charged ? gt_idle_gap_step(charged->view, gap) : GT_NO_ROW,
                                   .set = is_charged ? charged->share_of[index] : 0,
                                   .ns = gap->gap_ns};
}

static bool add_spreads(const struct charged *charged, const struct gt_grouping *shares, struct gt_section *section) {
    const struct share *items = (const struct share *)(const void *)shares->list;
    struct gt_spread_source source = {charged->idle->count, shares->count, charged_item, charged};
    double *stddev_ns = gt_alloc_array(shares->count, sizeof *stddev_ns);
    size_t steps = 0;
    bool ok = stddev_ns && gt_spread_measure(charged->view, &source, stddev_ns, &steps);
    for (size_t i = 0; i < shares->count && ok && steps; i++)
        if (!isnan(stddev_ns[i]))
            gt_spread_add(section, "idle_work", work_name(charged->view, &items[i]), steps, stddev_ns[i]);
    gt_free(stddev_ns);
    return ok;
}

/* ---- the table ---- */

static int by_total(const void *a, const void *b) {
    const struct share *x = a, *y = b;
    if (x->gaps.sum != y->gaps.sum)
        return x->gaps.sum < y->gaps.sum ? 1 : -1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* Loaders of the frameworks say so in their names: enumerate(DataLoader)#..., tf.data's Iterator::GetNext. */
static bool is_data_loading(struct gt_str name) {
    static const char *const marks[] = {"dataloader", "data_loader", "data loading", "iterator::getnext",
                                        "prefetch_batch"};
    for (size_t i = 0; i < GT_ARRAY_COUNT(marks); i++)
        if (gt_str_find_nocase(name, gt_str_of(marks[i])))
            return true;
    return false;
}

static void add_row(const struct gt_view *view, struct gt_table *table, const struct share *share, double host_ns) {
    struct gt_cell *cell = gt_table_row(table);
    *cell++ = gt_cell_int(view->devices[share->device].id);
    *cell++ = gt_cell_text(work_name(view, share));
    *cell++ = gt_cell_count(share->gaps.count);
    *cell++ = gt_cell_int(gt_ns_of_sum(share->gaps.sum));
    *cell++ = gt_cell_int(share->gaps.max);
    *cell++ = gt_cell_real(gt_moments_stddev(&share->gaps));
    *cell++ = gt_cell_share((double)share->gaps.sum, host_ns);
    *cell++ = is_data_loading(work_name(view, share)) ? gt_cell_text(GT_STR("waiting for data")) : gt_cell_null();
}

static bool add_table(const struct gt_view *view, struct gt_grouping *shares, struct gt_section *section) {
    struct share *items = (struct share *)(void *)shares->list;
    __int128 *host_ns = gt_alloc_array(view->device_count, sizeof *host_ns);
    struct gt_table *table = gt_section_table(section, "idle_work", "What the CPU was working on while the GPU waited",
                                              columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 10;
    if (shares->count)
        qsort(items, shares->count, sizeof *items, by_total);
    bool ok = host_ns;
    for (size_t i = 0; i < shares->count && ok; i++)
        host_ns[items[i].device] += items[i].gaps.sum;
    for (size_t i = 0; i < shares->count && ok; i++)
        add_row(view, table, &items[i], (double)host_ns[items[i].device]);
    gt_free(host_ns);
    return ok;
}

enum gt_status gt_idle_work_add(const struct gt_view *view, const struct gt_idle *idle, struct gt_section *section,
                                struct gt_error *err) {
    struct outers outers = {0};
    struct gt_grouping shares = {.elem_bytes = sizeof(struct share)};
    uint8_t *is_telling = gt_telling_ranges_new(view);
    uint32_t *share_of = gt_alloc_array(idle->count, sizeof *share_of);
    const struct charged charged = {view, idle, share_of};
    bool has_host_gaps = false;
    for (size_t i = 0; i < idle->count && !has_host_gaps; i++)
        has_host_gaps = idle->gaps[i].cause == GT_IDLE_HOST;
    bool ok = is_telling && share_of;
    if (ok && has_host_gaps)
        ok = outers_init(&outers, view, is_telling) && charge_gaps(view, idle, &outers, &shares, share_of) &&
             add_spreads(&charged, &shares, section);
    ok = ok && add_table(view, &shares, section);
    gt_free(is_telling);
    gt_free(share_of);
    gt_free(outers.items);
    gt_free(outers.first);
    gt_grouping_release(&shares);
    return ok ? GT_OK : gt_fail_memory(err);
}
