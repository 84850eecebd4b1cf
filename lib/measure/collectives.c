/* Collectives: how many messages of what sizes, by the name of the range that the library which sent them (NCCL) put
   around each. Only traces that kept those sizes have this table. */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "measure/measure.h"

struct collective {
    gt_strid name, domain;
    size_t count;
    uint64_t min_bytes, max_bytes;
    unsigned __int128 bytes;
};

struct collectives {
    struct gt_map index_of; /* (domain, name) -> index in list */
    struct collective *list;
    size_t count, capacity;
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

/* NULL when memory is short. */
static struct collective *find(struct collectives *collectives, gt_strid name, gt_strid domain) {
    uint32_t index = gt_map_put_if_new(&collectives->index_of, domain, name, (uint32_t)collectives->count);
    if (collectives->index_of.failed)
        return NULL;
    if (index < collectives->count)
        return &collectives->list[index];
    if (collectives->count == collectives->capacity) {
        size_t capacity = collectives->capacity ? collectives->capacity * 2 : 16;
        struct collective *grown = gt_realloc(collectives->list, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        collectives->list = grown;
        collectives->capacity = capacity;
    }
    struct collective *new = &collectives->list[collectives->count++];
    *new = (struct collective){.name = name, .domain = domain, .min_bytes = UINT64_MAX};
    return new;
}

/* Of a selection: what began in its window, of the processes whose ops it has. */
static bool *find_processes(const struct gt_view *view) {
    bool *processes = gt_alloc_array(view->store->processes.count + 1, sizeof *processes);
    for (size_t i = 0; processes && i < view->op_count; i++) {
        uint32_t process = gt_op_process(view, i);
        if (process != GT_NO_TRACK)
            processes[process] = true;
    }
    return processes;
}

static bool is_selected(const struct gt_view *view, const bool *processes, uint32_t range) {
    const struct gt_ranges *ranges = &view->store->ranges;
    int64_t start_ns = ranges->start_ns[range];
    if (view->is_whole)
        return true;
    if (view->has_window && (start_ns < view->window_start_ns || start_ns >= view->window_end_ns))
        return false;
    return ranges->thread[range] != GT_NO_TRACK && processes[view->store->threads.process[ranges->thread[range]]];
}

static bool add_up(const struct gt_view *view, struct collectives *collectives) {
    const struct gt_store *store = view->store;
    bool *processes = find_processes(view);
    bool is_done = processes != NULL;
    for (size_t i = 0; is_done && i < store->payloads.count; i++) {
        uint32_t range = store->payloads.range[i];
        uint64_t bytes = store->payloads.bytes[i];
        if (!is_selected(view, processes, range))
            continue;
        struct collective *of_name = find(collectives, store->ranges.name[range], store->ranges.domain[range]);
        is_done = of_name != NULL;
        if (!is_done)
            break;
        of_name->count++;
        of_name->bytes += bytes;
        of_name->min_bytes = bytes < of_name->min_bytes ? bytes : of_name->min_bytes;
        of_name->max_bytes = bytes > of_name->max_bytes ? bytes : of_name->max_bytes;
    }
    gt_free(processes);
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
    struct collectives collectives = {0};
    enum gt_status status = GT_OK;
    if (!add_up(view, &collectives)) {
        status = gt_fail_memory(err);
        goto out;
    }
    if (collectives.count)
        qsort_r(collectives.list, collectives.count, sizeof *collectives.list, by_bytes, (void *)(uintptr_t)store);
    struct gt_table *table =
        gt_section_table(section, "collectives", "Messages of collectives", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 5;
    table->empty = store->payloads.count ? "No collective in the selection." : NULL;
    for (size_t i = 0; i < collectives.count; i++) {
        const struct collective *collective = &collectives.list[i];
        struct gt_cell *cell = gt_table_row(table);
        *cell++ = gt_cell_text(gt_store_string(store, collective->name));
        *cell++ = gt_cell_text(gt_store_string(store, collective->domain));
        *cell++ = gt_cell_count(collective->count);
        *cell++ = bytes_cell(collective->bytes);
        *cell++ = gt_cell_real((double)collective->bytes / (double)collective->count);
        *cell++ = bytes_cell(collective->min_bytes);
        *cell++ = bytes_cell(collective->max_bytes);
    }
out:
    gt_map_release(&collectives.index_of);
    gt_free(collectives.list);
    return status;
}
