/* Kernel details: what limits the occupancy of kernels, and which source a compiler generated them from. */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"
#include "measure/results/operator_set.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"name", "Kernel", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"occupancy", "Occupancy", GT_UNIT_SHARE, "warps of a multiprocessor", GT_COLUMN_SINGLE},
    {"limiters", "Limited by", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"active_blocks", "Blocks per SM", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {"file", "Source", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"compiled_with", "Compiled with", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_DETAIL},
};

/* Kernels of one name that share limits and source. */
struct row {
    gt_strid name, limiters, file, options; /* name: as gt_view_name_text knows it */
    size_t count;
    int64_t total_ns;
    int64_t known_ns;       /* of those whose occupancy is known */
    double occupancy_ns;    /* that times the occupancy of each */
    uint32_t active_blocks; /* fewest; UINT32_MAX: not known */
};

struct details {
    const struct gt_view *view;
    uint32_t *operators;          /* by op of the view */
    uint32_t *configs, *launches; /* rows about an op of the store; GT_NO_ROW */
    uint32_t *sources;            /* rows about an operator likewise */
    struct gt_map ids;
    struct row *rows;
    size_t count, capacity;
};

/* By row of a table: the row of another one that is about it. NULL: no memory. */
static uint32_t *new_index(const uint32_t *of, size_t count, size_t size) {
    uint32_t *index = gt_mem_uninitialised(size, sizeof *index);
    for (size_t i = 0; index && i < size; i++)
        index[i] = GT_NO_ROW;
    for (size_t i = 0; index && i < count; i++)
        if (of[i] < size)
            index[of[i]] = (uint32_t)i;
    return index;
}

static uint32_t *new_operators(const struct gt_view *view) {
    uint32_t *calls = gt_mem_uninitialised(view->op_count, sizeof *calls);
    for (size_t i = 0; i < view->op_count && calls; i++)
        calls[i] = view->labels->op_call[view->row[i]];
    uint32_t *operators = calls ? gt_operator_set_of_calls(view, calls, view->op_count) : NULL;
    gt_mem_free(calls);
    return operators;
}

static bool begin(struct details *it) {
    const struct gt_store *store = it->view->store;
    it->operators = new_operators(it->view);
    it->configs = new_index(store->kernel_configs.op, store->kernel_configs.count, store->ops.count);
    it->launches = new_index(store->launch_details.op, store->launch_details.count, store->ops.count);
    it->sources = new_index(store->operator_details.cpu_op, store->operator_details.count, store->cpu_ops.count);
    return it->operators && it->configs && it->launches && it->sources;
}

static void release(struct details *it) {
    gt_mem_free(it->operators);
    gt_mem_free(it->configs);
    gt_mem_free(it->launches);
    gt_mem_free(it->sources);
    gt_map_release(&it->ids);
    gt_mem_free(it->rows);
}

/* NULL: no memory. */
static struct row *find_row(struct details *it, const struct row *key) {
    uint32_t id = gt_map_put_if_new(&it->ids, gt_map_key(key->name, key->limiters), gt_map_key(key->file, key->options),
                                    (uint32_t)it->count);
    if (it->ids.failed)
        return NULL;
    if (id == it->count) {
        struct row *rows = gt_mem_room(it->rows, it->count, &it->capacity, sizeof *rows);
        if (!rows)
            return NULL;
        it->rows = rows;
        rows[it->count++] = *key;
    }
    return &it->rows[id];
}

/* What is known about an op of the view. false: nothing. Kineto writes an occupancy of 0 where it cannot tell. */
static bool describe(const struct details *it, size_t i, struct row *key, double *occupancy) {
    const struct gt_store *store = it->view->store;
    uint32_t op = it->view->row[i], operator_row = it->operators[i];
    uint32_t config = it->configs[op], launch = it->launches[op];
    uint32_t source = operator_row == GT_NO_ROW ? GT_NO_ROW : it->sources[operator_row];
    *key = (struct row){.name = gt_view_op_name_id(it->view, i), .active_blocks = UINT32_MAX};
    *occupancy = config == GT_NO_ROW ? 0 : store->kernel_configs.occupancy_percent[config] / 100;
    if (launch != GT_NO_ROW) {
        key->limiters = store->launch_details.limiters[launch];
        key->active_blocks = store->launch_details.active_blocks[launch];
    }
    if (source != GT_NO_ROW) {
        key->file = store->operator_details.kernel_file[source];
        key->options = store->operator_details.kernel_kwargs[source];
    }
    return *occupancy > 0 || key->limiters || key->file || key->active_blocks != UINT32_MAX;
}

static bool sum_ops(struct details *it) {
    const struct gt_view *view = it->view;
    for (size_t i = 0; i < view->op_count; i++) {
        struct row key;
        double occupancy;
        if (!gt_store_kind_is_kernel(gt_view_op_kind(view, i)) || !describe(it, i, &key, &occupancy))
            continue;
        struct row *row = find_row(it, &key);
        if (!row)
            return false;
        int64_t length_ns = gt_view_op_ns(view, i);
        row->count++;
        row->total_ns = gt_ns_add(row->total_ns, length_ns);
        row->active_blocks = key.active_blocks < row->active_blocks ? key.active_blocks : row->active_blocks;
        if (occupancy > 0) {
            row->known_ns = gt_ns_add(row->known_ns, length_ns);
            row->occupancy_ns += occupancy * (double)length_ns;
        }
    }
    return true;
}

static int by_total(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->options != y->options)
        return x->options < y->options ? -1 : 1;
    return (x->limiters > y->limiters) - (x->limiters < y->limiters);
}

static struct gt_cell text_cell(const struct gt_store *store, gt_strid text) {
    return text ? gt_cell_text(gt_store_string(store, text)) : gt_cell_null();
}

static void add_rows(const struct details *it, struct gt_table *table) {
    const struct gt_store *store = it->view->store;
    for (size_t i = 0; i < it->count; i++) {
        const struct row *row = &it->rows[i];
        struct gt_row cells = gt_row_begin(table);
        gt_row_text(&cells, "name", gt_view_name_text(it->view, row->name));
        gt_row_count(&cells, "count", row->count);
        gt_row_int(&cells, "total_ns", row->total_ns);
        gt_row_cell(&cells, "occupancy",
                    row->known_ns > 0 ? gt_cell_real(row->occupancy_ns / (double)row->known_ns) : gt_cell_null());
        gt_row_cell(&cells, "limiters", text_cell(store, row->limiters));
        gt_row_cell(&cells, "active_blocks",
                    row->active_blocks == UINT32_MAX ? gt_cell_null() : gt_cell_count(row->active_blocks));
        gt_row_cell(&cells, "file", text_cell(store, row->file));
        gt_row_cell(&cells, "compiled_with", text_cell(store, row->options));
        gt_row_end(&cells);
    }
}

enum gt_status gt_kernel_details_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct details it = {.view = view};
    struct gt_table *table = gt_section_table(section, "kernel_details", "Occupancy and sources of kernels", columns,
                                              GT_ARRAY_COUNT(columns));
    table->screen_limit = 10;
    table->empty = "No kernels whose occupancy or source is known.";
    bool ok = begin(&it) && sum_ops(&it);
    if (ok && it.count)
        qsort(it.rows, it.count, sizeof *it.rows, by_total);
    if (ok)
        add_rows(&it, table);
    release(&it);
    return ok ? GT_OK : gt_fail_memory(err);
}
