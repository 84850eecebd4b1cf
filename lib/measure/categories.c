/* Categories: op time by category of work, as a plain sum and as wall time, for which every instant of a device is
   charged to exactly one op. Inputs that are summed already have the sum alone. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

struct category {
    size_t count;
    int64_t total_ns, wall_ns;
    struct gt_str key;
    const char *time_class;
};

static const struct gt_report_column columns[] = {
    {"category", "Category", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"count", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Sum", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_TOTAL | GT_COLUMN_WORK},
    {"wall_ns", "Wall", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS | GT_COLUMN_PART},
    {"share", "Share of busy", GT_UNIT_SHARE, "busy time, by wall time", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
    {"time_class", "Time class", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL | GT_COLUMN_WORDS},
};

static const struct gt_report_column summed_columns[] = {
    {"category", "Category", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"count", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Sum", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS | GT_COLUMN_TOTAL | GT_COLUMN_WORK},
    {"wall_ns", "Wall", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS | GT_COLUMN_PART},
    {"share", "Share of sum", GT_UNIT_SHARE, "summed op time", GT_COLUMN_BAR},
    {"time_class", "Time class", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL | GT_COLUMN_WORDS},
};

/* Wall time of these is what compute does not hide. */
static const struct gt_term class_terms[] = {
    {"comm", "exposed communication"}, {"memory", "exposed memory"}, {NULL, NULL}};
static const struct gt_parts parts = {.terms = class_terms};

static const char *const class_names[] = {
    [GT_CLASS_COMPUTE] = "compute", [GT_CLASS_COMM] = "comm", [GT_CLASS_MEMORY] = "memory"};

/* Lengths are not negative, so sums that stop at the end of the range are the same in any order. */
static void sum_wall(const struct gt_view *view, const struct gt_accounts *accounts, struct category *categories) {
    size_t count = view->labels->category_count;
    for (size_t i = 0; i < view->device_count * count; i++)
        categories[i % count].wall_ns =
            gt_ns_of_sum((__int128)categories[i % count].wall_ns + accounts->category_ns[i]);
}

static void sum_ops(const struct gt_op_groups *ops, struct category *categories) {
    for (size_t i = 0; i < ops->count; i++) {
        struct category *category = &categories[ops->items[i].category];
        category->count += ops->items[i].count;
        category->total_ns = gt_ns_add(category->total_ns, gt_ns_of_sum(ops->items[i].sum_ns));
    }
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
static double whole_time(const struct gt_view *view, const struct gt_account *accounts,
                         const struct category *categories) {
    double whole = 0;
    for (size_t d = 0; d < view->device_count; d++)
        whole += (double)accounts[d].ns[GT_AMOUNT_BUSY];
    for (size_t i = 0; i < view->labels->category_count && view->is_summed; i++)
        whole += (double)categories[i].total_ns;
    return whole;
}

static void add_rows(const struct gt_view *view, struct gt_table *table, const struct category *categories,
                     double whole) {
    for (size_t i = 0; i < view->labels->category_count; i++) {
        const struct category *category = &categories[i];
        if (category->count == 0)
            continue;
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "category", category->key);
        gt_row_count(&row, "count", category->count);
        gt_row_int(&row, "total_ns", category->total_ns);
        gt_row_cell(&row, "wall_ns", view->is_summed ? gt_cell_null() : gt_cell_int(category->wall_ns));
        gt_row_share(&row, "share", (double)(view->is_summed ? category->total_ns : category->wall_ns), whole);
        gt_row_text(&row, "time_class", gt_str_of(category->time_class));
        gt_row_end(&row);
    }
}

/* Sums of kernels alone do not describe copies, nor the other way round. */
static bool has_times_of(const struct gt_view *view, bool is_memory) {
    for (size_t i = 0; i < view->group_count; i++)
        if (gt_store_kind_is_kernel(view->store->groups.kind[view->groups[i]]) != is_memory)
            return true;
    return !view->is_summed;
}

/* What rows can be called, each key once, as join_kinds has it. */
static void name_rows(const struct gt_view *view, struct gt_table *table) {
    const struct gt_category *categories = view->labels->categories;
    bool has_memory = has_times_of(view, true), has_kernels = has_times_of(view, false);
    for (size_t i = 0; i < view->labels->category_count; i++) {
        struct gt_str key = gt_str_of(categories[i].key);
        size_t same = 0;
        while (same < table->name_count && !gt_str_eq(table->names[same], key))
            same++;
        if (same == table->name_count && (categories[i].time_class == GT_CLASS_MEMORY ? has_memory : has_kernels))
            gt_table_name(table, key);
    }
}

enum gt_status gt_categories_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_op_groups *ops = gt_results_op_groups(view, err);
    const struct gt_accounts *accounts = ops ? gt_results_accounts(view, err) : NULL;
    if (!accounts)
        return err->code;
    size_t count = view->labels->category_count;
    struct category *categories = gt_mem_array(count, sizeof *categories);
    if (!categories)
        return gt_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        categories[i] = (struct category){.key = gt_str_of(view->labels->categories[i].key),
                                          .time_class = class_names[view->labels->categories[i].time_class]};
    sum_wall(view, accounts, categories);
    sum_ops(ops, categories);
    sum_groups(view, categories);
    join_kinds(categories, count);
    qsort(categories, count, sizeof *categories, by_time);
    struct gt_table *table = gt_section_table(section, "categories", "GPU time by category",
                                              view->is_summed ? summed_columns : columns, GT_ARRAY_COUNT(columns));
    table->parts = &parts;
    add_rows(view, table, categories, whole_time(view, accounts->by_device, categories));
    name_rows(view, table);
    gt_mem_free(categories);
    return GT_OK;
}
