/* Tables of ranges from projections: in come ranges as the profiler projected them on the GPU, single or summed by
   name, out go the rows that ranges.c and range_instances.c make of ranges and ops. Linear except the sorting. */
#include "measure/results/range_projected.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/ns.h"
#include "base/spans.h"
#include "measure/results/measure.h"
#include "measure/results/range_set.h"
#include "measure/results/samples.h"
#include "report/row.h"

#define NOT_KNOWN (-1) /* as the store has it: a number below zero is one that the input does not say */

/* All projections of one name in one domain. */
struct name {
    struct gt_str name, domain;
    int64_t instances, launches;
    int64_t projected_ns, range_ns, min_ns, max_ns;
    double median_ns, stddev_ns;
    int64_t levels; /* summed */
};

struct name_set {
    struct name *names; /* room for every row */
    uint32_t *name_of;  /* by row of the store's table */
    size_t count;
};

static struct gt_cell known_cell(int64_t value) {
    return value >= 0 ? gt_cell_int(value) : gt_cell_null();
}

/* Of a sum nothing is reported if a part is not. */
static int64_t add_known(int64_t a, int64_t b) {
    return a < 0 || b < 0 ? NOT_KNOWN : gt_ns_add(a, b);
}

static int64_t count_of(uint64_t count) {
    return count < INT64_MAX ? (int64_t)count : INT64_MAX;
}

/* ---- names ---- */

static bool name_set_init(struct name_set *set, const struct gt_store *store, const gt_strid *names,
                          const gt_strid *domains, size_t count) {
    struct gt_map ids = {0};
    set->names = gt_mem_array(count, sizeof *set->names);
    set->name_of = gt_mem_array(count, sizeof *set->name_of);
    bool ok = set->names && set->name_of;
    for (size_t row = 0; row < count && ok; row++) {
        uint32_t next = (uint32_t)set->count;
        set->name_of[row] = gt_map_put_if_new(&ids, names[row], domains[row], next);
        ok = !ids.failed;
        if (ok && set->name_of[row] == next)
            set->names[set->count++] = (struct name){.name = gt_store_string(store, names[row]),
                                                     .domain = gt_store_string(store, domains[row])};
    }
    gt_map_release(&ids);
    return ok;
}

static void name_set_release(struct name_set *set) {
    gt_mem_free(set->names);
    gt_mem_free(set->name_of);
}

static int64_t projected_ns(const struct gt_projections *rows, size_t row) {
    return gt_ns_between(rows->start_ns[row], rows->end_ns[row]);
}

static int64_t range_ns(const struct gt_projections *rows, size_t row) {
    return rows->range_start_ns[row] == GT_NO_TIME ? NOT_KNOWN
                                                   : gt_ns_between(rows->range_start_ns[row], rows->range_end_ns[row]);
}

/* Every projection has an op, so none means that the table has no such column. */
static int64_t launches(const struct gt_projections *rows, size_t row) {
    return rows->ops[row] ? (int64_t)rows->ops[row] : NOT_KNOWN;
}

static void describe_samples(struct name_set *set, struct gt_samples *samples) {
    for (size_t i = 0; i < set->count; i++) {
        struct gt_sample_stats stats = gt_samples_stats(samples, i);
        struct name *name = &set->names[i];
        name->projected_ns = stats.total_ns;
        name->min_ns = stats.min_ns;
        name->max_ns = stats.max_ns;
        name->median_ns = stats.median_ns;
        name->stddev_ns = stats.stddev_ns;
    }
}

static bool sum_projections(struct name_set *set, const struct gt_store *store) {
    const struct gt_projections *rows = &store->projections;
    struct gt_samples samples = {0};
    bool ok = name_set_init(set, store, rows->name, rows->domain, rows->count) && gt_samples_init(&samples, set->count);
    for (size_t row = 0; row < rows->count && ok; row++) {
        struct name *name = &set->names[set->name_of[row]];
        name->instances++;
        name->launches = add_known(name->launches, launches(rows, row));
        name->range_ns = add_known(name->range_ns, range_ns(rows, row));
        name->levels += rows->level[row];
        gt_samples_count(&samples, set->name_of[row]);
    }
    ok = ok && gt_samples_place(&samples);
    for (size_t row = 0; row < rows->count && ok; row++)
        gt_samples_add(&samples, set->name_of[row], projected_ns(rows, row));
    if (ok)
        describe_samples(set, &samples);
    gt_samples_release(&samples);
    return ok;
}

static int64_t least_known(int64_t a, int64_t b) {
    return a < b ? a : b; /* not known is below any */
}

static int64_t greatest_known(int64_t a, int64_t b) {
    return a < 0 || b < 0 ? NOT_KNOWN : a > b ? a : b;
}

/* Ranges of one name but of another style are a row of their own. Sums stay exact, the order statistics of all are not
   known. */
static void join_group(struct name *name, const struct gt_projection_groups *rows, size_t row, bool is_first) {
    name->instances = gt_ns_add(name->instances, count_of(rows->instances[row]));
    name->projected_ns = gt_ns_add(name->projected_ns, rows->total_ns[row]);
    name->launches = add_known(name->launches, rows->ops[row]);
    name->range_ns = add_known(name->range_ns, rows->range_total_ns[row]);
    name->min_ns = is_first ? rows->min_ns[row] : least_known(name->min_ns, rows->min_ns[row]);
    name->max_ns = is_first ? rows->max_ns[row] : greatest_known(name->max_ns, rows->max_ns[row]);
    name->median_ns = is_first ? rows->median_ns[row] : NOT_KNOWN;
    name->stddev_ns = is_first ? rows->stddev_ns[row] : NOT_KNOWN;
    name->levels = NOT_KNOWN;
}

static bool sum_groups(struct name_set *set, const struct gt_store *store) {
    const struct gt_projection_groups *rows = &store->projection_groups;
    size_t known = 0; /* names are numbered in the order in which they appear */
    if (!name_set_init(set, store, rows->name, rows->domain, rows->count))
        return false;
    for (size_t row = 0; row < rows->count; row++) {
        bool is_first = set->name_of[row] == known;
        known += is_first;
        join_group(&set->names[set->name_of[row]], rows, row, is_first);
    }
    return true;
}

static int by_projected(const void *a, const void *b) {
    const struct name *x = a, *y = b;
    if (x->projected_ns != y->projected_ns)
        return x->projected_ns < y->projected_ns ? 1 : -1;
    int order = gt_str_cmp(x->name, y->name);
    return order ? order : gt_str_cmp(x->domain, y->domain);
}

static void add_name(struct gt_table *table, const struct name *name) {
    double instances = (double)name->instances;
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "name", name->name);
    gt_row_text(&row, "domain", name->domain);
    gt_row_int(&row, "instances", name->instances);
    gt_row_null(&row, "ops");
    gt_row_null(&row, "busy_ns");
    gt_row_null(&row, "sum_ns");
    gt_row_int(&row, "projected_ns", name->projected_ns);
    gt_row_cell(&row, "range_ns", known_cell(name->range_ns));
    gt_row_null(&row, "exclusive_ns");
    gt_row_null(&row, "share");
    gt_row_cell(&row, "launches", known_cell(name->launches));
    gt_row_int(&row, "used", name->instances); /* those without ops have no projection */
    gt_row_cell(&row, "proj_avg_ns",
                name->instances ? gt_cell_real((double)name->projected_ns / instances) : gt_cell_null());
    gt_row_cell(&row, "proj_median_ns", gt_cell_known(name->median_ns));
    gt_row_cell(&row, "proj_min_ns", known_cell(name->min_ns));
    gt_row_cell(&row, "proj_max_ns", known_cell(name->max_ns));
    gt_row_cell(&row, "proj_stddev_ns", gt_cell_known(name->stddev_ns));
    gt_row_cell(&row, "level_avg", name->levels >= 0 ? gt_cell_real((double)name->levels / instances) : gt_cell_null());
    gt_row_cell(&row, "range_avg_ns",
                name->range_ns >= 0 && name->instances ? gt_cell_real((double)name->range_ns / instances)
                                                       : gt_cell_null());
    gt_row_null(&row, "group");
    gt_row_end(&row);
}

static void add_names(const struct gt_view *view, struct gt_section *section, const struct name_set *set) {
    bool is_of_part = gt_range_projected_is_part(view);
    int64_t instances = 0;
    bool has_domain = false;
    for (size_t i = 0; i < set->count; i++) {
        instances = gt_ns_add(instances, set->names[i].instances);
        has_domain |= set->names[i].domain.len > 0;
    }
    if (!is_of_part) {
        struct gt_measure_fact_group facts = {.section = section, .audience = GT_FOR_ALL};
        gt_measure_fact_group_add(&facts, "range_names", "Distinct ranges", GT_UNIT_COUNT, gt_cell_count(set->count));
        gt_measure_fact_group_add(&facts, "range_count", "Ranges", GT_UNIT_COUNT, gt_cell_int(instances));
    }
    struct gt_table *table = gt_range_set_table_new(view, section);
    table->screen_columns = has_domain ? "name,domain,instances,launches,projected_ns,range_ns"
                                       : "name,instances,launches,projected_ns,range_ns";
    if (is_of_part)
        table->empty =
            "The trace has ranges already projected by the profiler: they are not available for a selection.";
    for (size_t i = 0; i < set->count; i++)
        add_name(table, &set->names[i]);
}

enum gt_status gt_range_projected_names(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_store *store = view->store;
    struct name_set set = {0};
    bool is_of_part = gt_range_projected_is_part(view);
    bool ok = is_of_part || (store->projections.count ? sum_projections(&set, store) : sum_groups(&set, store));
    if (ok && set.count)
        qsort(set.names, set.count, sizeof *set.names, by_projected);
    if (ok)
        add_names(view, section, &set);
    name_set_release(&set);
    return ok ? GT_OK : gt_fail_memory(err);
}

/* ---- instances ---- */

static void add_instance(struct gt_table *table, const struct gt_view *view, uint32_t row) {
    const struct gt_store *store = view->store;
    const struct gt_projections *rows = &store->projections;
    uint32_t thread = rows->thread[row];
    bool has_range = rows->range_start_ns[row] != GT_NO_TIME;
    struct gt_row cells = gt_row_begin(table);
    gt_row_int(&cells, "range", row);
    gt_row_text(&cells, "name", gt_store_string(store, rows->name[row]));
    gt_row_text(&cells, "domain", gt_store_string(store, rows->domain[row]));
    gt_row_cell(&cells, "start_ns", gt_measure_time_cell(view, rows->start_ns[row]));
    gt_row_int(&cells, "projected_ns", projected_ns(rows, row));
    gt_row_cell(&cells, "range_start_ns",
                has_range ? gt_measure_time_cell(view, rows->range_start_ns[row]) : gt_cell_null());
    gt_row_cell(&cells, "range_ns", known_cell(range_ns(rows, row)));
    gt_row_null(&cells, "ops");
    gt_row_cell(&cells, "launches", known_cell(launches(rows, row)));
    gt_row_int(&cells, "level", rows->level[row]);
    gt_row_null(&cells, "parent");
    gt_row_null(&cells, "children");
    gt_row_text(&cells, "style", gt_range_set_style(rows->kind[row]));
    gt_row_cell(&cells, "pid",
                gt_measure_pid_cell(view, thread == GT_NO_TRACK ? GT_NO_TRACK : store->threads.process[thread]));
    gt_row_cell(&cells, "tid", gt_range_set_tid_cell(store, thread));
    gt_row_end(&cells);
}

enum gt_status gt_range_projected_instances(const struct gt_view *view, struct gt_section *section,
                                            struct gt_error *err) {
    const struct gt_projections *rows = &view->store->projections;
    size_t count = gt_range_projected_is_part(view) ? 0 : rows->count;
    uint32_t *order = gt_mem_uninitialised(rows->count, sizeof *order);
    for (uint32_t row = 0; row < rows->count && order; row++)
        order[row] = row;
    bool ok = order && gt_spans_sort(order, rows->count, rows->start_ns, rows->end_ns);
    if (ok) {
        struct gt_table *table = gt_range_set_instances_table_new(section);
        size_t wanted = gt_measure_table_rows_wanted(view, table, count);
        for (size_t i = 0; i < wanted; i++)
            add_instance(table, view, order[i]);
        table->total_rows = count;
    }
    gt_mem_free(order);
    return ok ? GT_OK : gt_fail_memory(err);
}
