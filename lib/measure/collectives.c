/* Collectives: how many messages of what sizes, by the name of the range that the library which sent them (NCCL) put
   around each. Only traces that kept those sizes have this table. */
#include <stdlib.h>

#include "base/mem.h"
#include "measure/results/grouping.h"
#include "measure/results/measure.h"
#include "report/row.h"

struct collective {
    gt_strid name, domain;
    size_t count;
    uint64_t min_bytes, max_bytes;
    unsigned __int128 bytes;
};

static const struct gt_report_column columns[] = {
    {"name", "Collective", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"domain", "Domain", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"bytes", "Bytes", GT_UNIT_BYTES, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_bytes", "Mean", GT_UNIT_BYTES, NULL, 0},
    {"min_bytes", "Min", GT_UNIT_BYTES, NULL, 0},
    {"max_bytes", "Max", GT_UNIT_BYTES, NULL, 0},
};

static bool add_up(const struct gt_view *view, struct gt_grouping *collectives) {
    const struct gt_store *store = view->store;
    if (!store->comms.count)
        return true;
    bool *processes = gt_view_processes(view), is_new;
    bool is_done = processes != NULL;
    for (size_t i = 0; is_done && i < store->comms.count; i++) {
        uint32_t range = store->comms.range[i];
        uint64_t bytes = store->comms.in_bytes[i];
        if (range == GT_NO_ROW || bytes == UINT64_MAX)
            continue;
        gt_strid name = store->ranges.name[range], domain = store->ranges.domain[range];
        if (!gt_view_has_range(view, processes, range))
            continue;
        struct collective *of_name = gt_grouping_find(collectives, domain, name, &is_new);
        is_done = of_name != NULL;
        if (!is_done)
            break;
        if (is_new)
            *of_name = (struct collective){.name = name, .domain = domain, .min_bytes = UINT64_MAX};
        of_name->count++;
        of_name->bytes += bytes;
        of_name->min_bytes = bytes < of_name->min_bytes ? bytes : of_name->min_bytes;
        of_name->max_bytes = bytes > of_name->max_bytes ? bytes : of_name->max_bytes;
    }
    gt_mem_free(processes);
    return is_done;
}

static int by_bytes(const void *a, const void *b, void *context) {
    const struct collective *x = a, *y = b;
    const struct gt_store *store = context;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    int order = gt_str_cmp(gt_store_string(store, x->name), gt_store_string(store, y->name));
    return order ? order : gt_str_cmp(gt_store_string(store, x->domain), gt_store_string(store, y->domain));
}

static struct gt_cell bytes_cell(unsigned __int128 bytes) {
    return gt_cell_int(bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes);
}

enum gt_status gt_collectives_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_store *store = view->store;
    struct gt_grouping collectives = {.elem_bytes = sizeof(struct collective)};
    enum gt_status status = GT_OK;
    if (!add_up(view, &collectives)) {
        status = gt_fail_memory(err);
        goto out;
    }
    if (collectives.count)
        qsort_r(collectives.list, collectives.count, sizeof(struct collective), by_bytes, (void *)(uintptr_t)store);
    struct gt_table *table =
        gt_section_table(section, "collectives", "Collective message sizes", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 5;
    table->empty = store->comms.count ? "No collectives in the selection." : NULL;
    const struct collective *list = (const void *)collectives.list;
    for (size_t i = 0; i < collectives.count; i++) {
        const struct collective *collective = &list[i];
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "name", gt_store_string(store, collective->name));
        gt_row_text(&row, "domain", gt_store_string(store, collective->domain));
        gt_row_count(&row, "count", collective->count);
        gt_row_cell(&row, "bytes", bytes_cell(collective->bytes));
        gt_row_real(&row, "avg_bytes", (double)collective->bytes / (double)collective->count);
        gt_row_cell(&row, "min_bytes", bytes_cell(collective->min_bytes));
        gt_row_cell(&row, "max_bytes", bytes_cell(collective->max_bytes));
        gt_row_end(&row);
    }
out:
    gt_grouping_release(&collectives);
    return status;
}
