/* Range categories: what the ranges of each NVTX category launched, by the name that the program gave the category. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/grouping.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

struct category {
    gt_strid name, domain;
    size_t instances, ops;
    __int128 projected_ns, range_ns;
};

static const struct gt_report_column columns[] = {
    {"category", "Range category", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"domain", "Domain", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"instances", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"ops", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"projected_ns", "Projected", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"range_ns", "CPU time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
};

static bool add_up(const struct gt_range_set *set, struct gt_grouping *categories) {
    const struct gt_store *store = set->view->store;
    const struct gt_ranges *ranges = &store->ranges;
    for (size_t i = 0; i < store->range_categories.count; i++) {
        uint32_t range = store->range_categories.range[i];
        gt_strid name = store->range_categories.name[i], domain = ranges->domain[range];
        const struct gt_range_use *use = &set->uses[range];
        bool is_new;
        if (!gt_range_set_lists(set, range))
            continue;
        struct category *category = gt_grouping_find(categories, domain, name, &is_new);
        if (!category)
            return false;
        if (is_new)
            *category = (struct category){.name = name, .domain = domain};
        category->instances++;
        category->ops += use->ops;
        category->projected_ns += use->ops ? gt_ns_between(use->start_ns, use->end_ns) : 0;
        category->range_ns += gt_ns_between(ranges->start_ns[range], ranges->end_ns[range]);
    }
    return true;
}

static int by_projected(const void *a, const void *b, void *context) {
    const struct category *x = a, *y = b;
    const struct gt_store *store = context;
    if (x->projected_ns != y->projected_ns)
        return x->projected_ns < y->projected_ns ? 1 : -1;
    int order = gt_str_cmp(gt_store_string(store, x->name), gt_store_string(store, y->name));
    return order ? order : gt_str_cmp(gt_store_string(store, x->domain), gt_store_string(store, y->domain));
}

static void add_table(const struct gt_view *view, struct gt_section *section, const struct gt_grouping *categories) {
    const struct gt_store *store = view->store;
    const struct category *list = (const void *)categories->list;
    struct gt_table *table =
        gt_section_table(section, "range_categories", "Range categories", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 10;
    table->empty = store->range_categories.count ? "No ranges with a category in the selection." : NULL;
    for (size_t i = 0; i < categories->count; i++) {
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "category", gt_store_string(store, list[i].name));
        gt_row_text(&row, "domain", gt_store_string(store, list[i].domain));
        gt_row_count(&row, "instances", list[i].instances);
        gt_row_count(&row, "ops", list[i].ops);
        gt_row_int(&row, "projected_ns", gt_ns_of_sum(list[i].projected_ns));
        gt_row_int(&row, "range_ns", gt_ns_of_sum(list[i].range_ns));
        gt_row_end(&row);
    }
}

enum gt_status gt_range_categories_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct gt_grouping categories = {.elem_bytes = sizeof(struct category)};
    const struct gt_range_set *set = NULL;
    enum gt_status status = GT_OK;
    if (view->store->range_categories.count && !(set = gt_results_ranges(view, err)))
        return err->code;
    if (!set || add_up(set, &categories)) {
        if (categories.count)
            qsort_r(categories.list, categories.count, sizeof(struct category), by_projected,
                    (void *)(uintptr_t)view->store);
        add_table(view, section, &categories);
    } else {
        status = gt_fail_memory(err);
    }
    gt_grouping_release(&categories);
    return status;
}
