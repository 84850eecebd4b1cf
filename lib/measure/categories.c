/* Categories: op time by category of work, as a plain sum and as wall time, which charges every instant of a device to
   exactly one op. Inputs that are summed already have the sum alone. */
#include <stdlib.h>

#include "base/interval.h"
#include "base/mem.h"
#include "measure/measure.h"

struct category {
    size_t count;
    int64_t total_ns, wall_ns;
    struct gt_str key;
    const char *time_class;
};

static const struct gt_report_column columns[] = {
    {"category", "Category", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"count", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Sum", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"wall_ns", "Wall", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"share", "Share of busy", GT_UNIT_SHARE, "busy time, by wall time", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
    {"time_class", "Kind of time", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
};

static const struct gt_report_column summed_columns[] = {
    {"category", "Category", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"count", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Sum", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"wall_ns", "Wall", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"share", "Share of sum", GT_UNIT_SHARE, "summed op time", GT_COLUMN_BAR},
    {"time_class", "Kind of time", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
};

static const char *const class_names[] = {
    [GT_CLASS_COMPUTE] = "compute", [GT_CLASS_COMM] = "comm", [GT_CLASS_MEMORY] = "memory"};

/* The part of [start, end) outside a merged list. Calls in order of time share a cursor, so all are one linear pass. */
static int64_t uncovered_ns(const struct gt_intervals *list, size_t *cursor, int64_t start_ns, int64_t end_ns) {
    while (*cursor < list->count && list->items[*cursor].end_ns <= start_ns)
        ++*cursor;
    int64_t free_ns = 0;
    while (start_ns < end_ns) {
        if (*cursor == list->count || list->items[*cursor].start_ns >= end_ns)
            return gt_ns_add(free_ns, gt_ns_between(start_ns, end_ns));
        const struct gt_interval *taken = &list->items[*cursor];
        if (taken->start_ns > start_ns)
            free_ns = gt_ns_add(free_ns, gt_ns_between(start_ns, taken->start_ns));
        start_ns = taken->end_ns;
        if (start_ns < end_ns)
            ++*cursor;
    }
    return free_ns;
}

/* Charges the ops of one class what stronger classes leave, and lists their time in *own unless that is NULL. Inside a
   class the earlier op goes first, so that an op has the part behind the latest end so far: one interval, later than
   that of any op before it. */
static void charge_class(const struct gt_view *view, const struct gt_view_device *device, enum gt_class class,
                         const struct gt_intervals *stronger, struct gt_intervals *own, struct category *categories) {
    size_t cursor = 0;
    int64_t reached_ns = INT64_MIN;
    for (size_t i = device->first; i < device->first + device->count; i++) {
        if (gt_op_class(view, i) != class)
            continue;
        struct category *category = &categories[view->category[i]];
        category->count++;
        category->total_ns = gt_ns_add(category->total_ns, gt_op_ns(view, i));
        int64_t start_ns = view->start_ns[i] > reached_ns ? view->start_ns[i] : reached_ns;
        if (view->end_ns[i] <= start_ns)
            continue;
        reached_ns = view->end_ns[i];
        category->wall_ns = gt_ns_add(category->wall_ns, uncovered_ns(stronger, &cursor, start_ns, reached_ns));
        if (own)
            gt_intervals_add(own, start_ns, reached_ns);
    }
}

static bool charge_device(const struct gt_view *view, const struct gt_view_device *device,
                          struct category *categories) {
    struct gt_intervals none = {0}, compute = {0}, comm = {0}, both = {0};
    charge_class(view, device, GT_CLASS_COMPUTE, &none, &compute, categories);
    charge_class(view, device, GT_CLASS_COMM, &compute, &comm, categories);
    gt_intervals_union(&both, &compute, &comm);
    charge_class(view, device, GT_CLASS_MEMORY, &both, NULL, categories);
    bool ok = !compute.failed && !comm.failed && !both.failed;
    gt_intervals_release(&compute);
    gt_intervals_release(&comm);
    gt_intervals_release(&both);
    return ok;
}

static void sum_groups(const struct gt_view *view, struct category *categories) {
    const struct gt_groups *groups = &view->store->groups;
    for (size_t i = 0; i < view->group_count; i++) {
        uint32_t row = view->groups[i];
        struct category *category = &categories[view->labels->group_category[row]];
        category->count = (size_t)gt_ns_of_sum((__int128)category->count + (__int128)groups->instances[row]);
        category->total_ns = gt_ns_add(category->total_ns, groups->total_ns[row]);
    }
}

/* A user's category may have an entry for each kind of time: the first takes all of them. */
static void join_kinds(struct category *categories, size_t count) {
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < i && categories[i].count; k++) {
            struct category *from = &categories[i], *into = &categories[k];
            if (!gt_str_eq(from->key, into->key))
                continue;
            if (into->count && into->time_class != from->time_class)
                into->time_class = "mixed";
            else
                into->time_class = from->time_class;
            into->count += from->count;
            into->total_ns = gt_ns_add(into->total_ns, from->total_ns);
            into->wall_ns = gt_ns_add(into->wall_ns, from->wall_ns);
            from->count = 0;
        }
}

/* Summed rows have no wall time, so their sums decide. */
static int by_time(const void *a, const void *b) {
    const struct category *x = a, *y = b;
    if (x->wall_ns != y->wall_ns)
        return x->wall_ns < y->wall_ns ? 1 : -1;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return gt_str_cmp(x->key, y->key);
}

/* What the shares are of: busy time, or the sum where that is all there is. */
static double whole_time(const struct gt_view *view, const struct category *categories) {
    double whole = 0;
    for (size_t d = 0; d < view->device_count; d++)
        whole += (double)gt_device_busy_ns(view, &view->devices[d]);
    for (size_t i = 0; i < view->labels->category_count && view->is_summed; i++)
        whole += (double)categories[i].total_ns;
    return whole;
}

static void add_rows(const struct gt_view *view, struct gt_table *table, const struct category *categories) {
    double whole = whole_time(view, categories);
    for (size_t i = 0; i < view->labels->category_count; i++) {
        const struct category *category = &categories[i];
        if (category->count == 0)
            continue;
        struct gt_cell *cell = gt_table_row(table);
        *cell++ = gt_cell_text(category->key);
        *cell++ = gt_cell_count(category->count);
        *cell++ = gt_cell_int(category->total_ns);
        *cell++ = view->is_summed ? gt_cell_null() : gt_cell_int(category->wall_ns);
        *cell++ = gt_cell_share((double)(view->is_summed ? category->total_ns : category->wall_ns), whole);
        *cell++ = gt_cell_text(gt_str_of(category->time_class));
    }
}

enum gt_status gt_categories_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    size_t count = view->labels->category_count;
    struct category *categories = gt_alloc_array(count, sizeof *categories);
    if (!categories)
        return gt_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        categories[i] = (struct category){.key = gt_str_of(view->labels->categories[i].key),
                                          .time_class = class_names[view->labels->categories[i].time_class]};
    enum gt_status status = GT_OK;
    for (size_t d = 0; d < view->device_count && status == GT_OK; d++)
        if (!charge_device(view, &view->devices[d], categories))
            status = gt_fail_memory(err);
    if (status == GT_OK) {
        sum_groups(view, categories);
        join_kinds(categories, count);
        qsort(categories, count, sizeof *categories, by_time);
        struct gt_table *table = gt_section_table(section, "categories", "GPU time by category",
                                                  view->is_summed ? summed_columns : columns, GT_ARRAY_COUNT(columns));
        add_rows(view, table, categories);
    }
    gt_free(categories);
    return status;
}
