/* Collectives: how many of what size, by operation, group and type, the time of their kernels and the bandwidth that
   follows. Only traces with records about collectives have this table. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "events/comms.h"
#include "measure/results/grouping.h"
#include "measure/results/measure.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"name", "Collective", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"domain", "Domain", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_DETAIL},
    {"group", "Group", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"communicator", "Communicator", GT_UNIT_NONE, NULL, 0}, /* no key: NCCL numbers them anew in every run */
    {"description", "Purpose", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_DETAIL},
    {"size", "Ranks", GT_UNIT_COUNT, NULL, GT_COLUMN_KEY},
    {"dtype", "Type", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"algorithm", "Algo", GT_UNIT_NONE, NULL, 0},
    {"protocol", "Proto", GT_UNIT_NONE, NULL, 0},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"bytes", "Bytes", GT_UNIT_BYTES, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"avg_bytes", "Mean", GT_UNIT_BYTES, NULL, GT_COLUMN_DETAIL},
    {"min_bytes", "Min", GT_UNIT_BYTES, NULL, GT_COLUMN_DETAIL},
    {"max_bytes", "Max", GT_UNIT_BYTES, NULL, GT_COLUMN_DETAIL},
    {"time_ns", "Time", GT_UNIT_NS, NULL, 0}, /* does not add up: a kernel may count in several rows */
    {"busbw", "Bus GB/s", GT_UNIT_NONE, NULL, 0},
    {"best_busbw", "Best GB/s", GT_UNIT_NONE, NULL, 0},
};

/* What is named last gives way first: not what rows differ in. Groups of jobs have names and purposes, communicators a
   number. */
#define SCREEN_OF_NAMES   "name,group,size,count,bytes,time_ns,busbw,algorithm,protocol,dtype,best_busbw,description"
#define SCREEN_OF_NUMBERS "name,communicator,size,count,bytes,time_ns,busbw,algorithm,protocol,best_busbw"

/* The kernels that carry one kind of collective of a launch. */
struct carriers {
    bool is_known;
    size_t count;
    int64_t time_ns;
    const char *algorithm, *protocol; /* NULL: not known, or not the same for all */
};

/* A row of the table. */
struct sums {
    size_t place; /* by first appearance */
    const struct gt_comm_group *group;
    gt_strid name, domain, dtype;
    enum gt_comm_op op;
    const char *algorithm, *protocol;
    bool has_domain;
    bool lacks_size; /* of the group, and therefore a bandwidth */
    size_t count, sized, carried;
    uint64_t min_bytes, max_bytes;
    unsigned __int128 bytes;
    __int128 time_ns;
    double bus_bytes, bus_ns, best;
    /* Of the latest launch: its kernels count once, and its collectives together. */
    uint32_t launch;
    double launch_bus_bytes;
    int64_t launch_ns;
};

struct summing {
    const struct gt_view *view;
    const struct gt_store *store;
    const struct gt_comm_labels *comms;
    bool *processes;          /* of the view */
    bool *has_op;             /* by op row: it is in the view */
    struct gt_grouping ways;  /* of (algorithm, protocol) */
    struct gt_grouping kinds; /* of (type and operation, way) */
    struct gt_grouping rows;  /* of struct sums */
};

/* ---- kernels of a launch ---- */

static bool carries(const char *collective, enum gt_comm_op op) {
    if (gt_comms_op_kind(op) == GT_COMM_KIND_MESSAGE)
        return strcmp(collective, "send_recv") == 0;
    return gt_comms_op_key(op) && strcmp(collective, gt_comms_op_key(op)) == 0;
}

static const struct gt_name_reason *reason_of(const struct summing *summing, uint32_t op) {
    return summing->view->labels->name_reason[summing->store->ops.name[op]];
}

static void add_carrier(struct carriers *carriers, const struct summing *summing, uint32_t op) {
    const struct gt_name_reason *reason = reason_of(summing, op);
    const char *algorithm = reason ? reason->algorithm : NULL, *protocol = reason ? reason->protocol : NULL;
    carriers->algorithm = carriers->count && carriers->algorithm != algorithm ? NULL : algorithm;
    carriers->protocol = carriers->count && carriers->protocol != protocol ? NULL : protocol;
    carriers->time_ns =
        gt_ns_add(carriers->time_ns, gt_ns_between(summing->store->ops.start_ns[op], summing->store->ops.end_ns[op]));
    carriers->count++;
}

/* Those whose names say that they do this; where none says so, all. */
static struct carriers find_carriers(const struct summing *summing, const struct gt_comm_launch *launch,
                                     enum gt_comm_op op) {
    struct carriers named = {.is_known = true}, all = {.is_known = true};
    for (uint32_t i = 0; i < launch->op_count; i++) {
        uint32_t row = summing->comms->ops[launch->first_op + i];
        const struct gt_name_reason *reason = reason_of(summing, row);
        if (!summing->has_op[row])
            continue;
        add_carrier(&all, summing, row);
        if (reason && reason->collective && carries(reason->collective, op))
            add_carrier(&named, summing, row);
    }
    return named.count ? named : all;
}

/* With several communicators nobody knows which kernel is for which. */
static bool has_one_group(const struct summing *summing, const struct gt_comm_launch *launch) {
    const struct gt_collective *collectives = &summing->comms->collectives[launch->first];
    for (uint32_t i = 1; i < launch->count; i++)
        if (collectives[i].group != collectives[0].group)
            return false;
    return true;
}

/* ---- what is selected ---- */

static bool has_selected_kernel(const struct summing *summing, const struct gt_comm_launch *launch) {
    for (uint32_t i = 0; i < launch->op_count; i++)
        if (summing->has_op[summing->comms->ops[launch->first_op + i]])
            return true;
    return false;
}

/* Without kernels, it counts when it was called. */
static bool is_called_in_view(const struct summing *summing, const struct gt_comms_row *record) {
    const struct gt_cpu_ops *cpu_ops = &summing->store->cpu_ops;
    uint32_t cpu_op = record->cpu_op;
    if (record->range != GT_NO_ROW)
        return gt_view_has_range(summing->view, summing->processes, record->range);
    return cpu_op != GT_NO_ROW &&
           gt_view_has_moment(summing->view, summing->processes, cpu_ops->start_ns[cpu_op], cpu_ops->thread[cpu_op]);
}

/* ---- sums ---- */

/* The bandwidth of a launch is that of all its collectives together. */
static void close_launch(struct sums *sums) {
    if (sums->launch_bus_bytes > 0 && sums->launch_ns > 0) {
        sums->bus_bytes += sums->launch_bus_bytes;
        sums->bus_ns += (double)sums->launch_ns;
        sums->best = fmax(sums->best, sums->launch_bus_bytes / (double)sums->launch_ns);
    }
    sums->launch_bus_bytes = 0;
    sums->launch_ns = 0;
}

static void add_collective(struct sums *sums, const struct summing *summing, const struct gt_collective *collective,
                           const struct gt_comms_row *record, const struct carriers *carriers) {
    uint64_t bytes = gt_comms_bytes(record, sums->op);
    if (sums->launch != collective->launch || !sums->count) {
        close_launch(sums);
        sums->launch = collective->launch;
        sums->launch_ns = carriers->time_ns;
        sums->time_ns += carriers->time_ns;
    }
    double bus_bytes = gt_comms_bus_bytes(summing->store, record, sums->op, sums->group);
    sums->launch_bus_bytes += bus_bytes; /* NAN stays NAN */
    sums->count++;
    sums->carried += carriers->count > 0;
    if (bytes == UINT64_MAX)
        return;
    sums->min_bytes = sums->sized && sums->min_bytes < bytes ? sums->min_bytes : bytes;
    sums->max_bytes = sums->sized && sums->max_bytes > bytes ? sums->max_bytes : bytes;
    sums->bytes += bytes;
    sums->sized++;
    sums->lacks_size |= bytes > 0 && carriers->time_ns > 0 && sums->op != GT_COMM_OTHER && isnan(bus_bytes);
}

/* A number for a pair of them, from 1; 0: memory was short. */
static uint64_t number_of(struct gt_grouping *pairs, uint64_t hi, uint64_t lo) {
    bool is_new;
    uint32_t *number = gt_grouping_find(pairs, hi, lo, &is_new);
    if (number && is_new)
        *number = (uint32_t)pairs->count;
    return number ? *number : 0;
}

/* The row of a collective, made on first use. NULL: memory was short. */
static struct sums *find_row(struct summing *summing, const struct gt_collective *collective,
                             const struct gt_comms_row *record, const struct carriers *carriers) {
    bool is_new, has_domain = record->range != GT_NO_ROW;
    /* Their texts exist once each, so that their places are as good as numbers. */
    uint64_t way =
        number_of(&summing->ways, (uint64_t)(uintptr_t)carriers->algorithm, (uint64_t)(uintptr_t)carriers->protocol);
    uint64_t kind = number_of(&summing->kinds, (uint64_t)record->dtype << 8 | collective->op, way);
    if (!way || !kind)
        return NULL;
    gt_strid name = collective->op == GT_COMM_OTHER ? record->name : GT_STRID_EMPTY;
    gt_strid domain = has_domain ? summing->store->ranges.domain[record->range] : GT_STRID_EMPTY;
    struct sums *sums = gt_grouping_find(&summing->rows, (uint64_t)name << 32 | domain,
                                         (uint64_t)collective->group << 32 | kind << 1 | has_domain, &is_new);
    if (sums && is_new)
        *sums = (struct sums){.place = summing->rows.count,
                              .group = gt_comms_group(summing->view->labels, collective),
                              .name = name,
                              .domain = domain,
                              .dtype = record->dtype,
                              .op = (enum gt_comm_op)collective->op,
                              .algorithm = carriers->algorithm,
                              .protocol = carriers->protocol,
                              .has_domain = has_domain};
    return sums;
}

static bool add_launch(struct summing *summing, const struct gt_comm_launch *launch) {
    struct carriers by_op[GT_COMM_OP_COUNT] = {0};
    bool has_carriers = has_one_group(summing, launch), has_kernel = has_selected_kernel(summing, launch);
    if (launch->op_count && !has_kernel)
        return true;
    for (uint32_t i = 0; i < launch->count; i++) {
        const struct gt_collective *collective = &summing->comms->collectives[launch->first + i];
        struct gt_comms_row record = gt_comms_merged(summing->store, collective);
        struct carriers *carriers = &by_op[collective->op];
        if (!has_kernel && !is_called_in_view(summing, &record))
            continue;
        if (!carriers->is_known && has_carriers)
            *carriers = find_carriers(summing, launch, (enum gt_comm_op)collective->op);
        struct sums *sums = find_row(summing, collective, &record, carriers);
        if (!sums)
            return false;
        add_collective(sums, summing, collective, &record, carriers);
    }
    return true;
}

static bool add_up(struct summing *summing) {
    const struct gt_view *view = summing->view;
    if (!summing->comms->launch_count)
        return true;
    summing->processes = gt_view_processes(view);
    summing->has_op = gt_mem_array(summing->store->ops.count, sizeof *summing->has_op);
    bool is_done = summing->processes && summing->has_op;
    for (size_t i = 0; is_done && i < view->op_count; i++)
        summing->has_op[view->row[i]] = true;
    for (size_t i = 0; is_done && i < summing->comms->launch_count; i++)
        is_done = add_launch(summing, &summing->comms->launches[i]);
    struct sums *list = (void *)summing->rows.list;
    for (size_t i = 0; i < summing->rows.count; i++)
        close_launch(&list[i]);
    return is_done;
}

/* ---- the table ---- */

static struct gt_str name_of(const struct gt_store *store, const struct sums *sums) {
    return sums->op == GT_COMM_OTHER ? gt_store_string(store, sums->name) : gt_str_of(gt_comms_op_key(sums->op));
}

static int by_bytes(const void *a, const void *b, void *context) {
    const struct sums *x = a, *y = b;
    const struct gt_store *store = context;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    int order = gt_str_cmp(name_of(store, x), name_of(store, y));
    order = order ? order : gt_str_cmp(gt_store_string(store, x->domain), gt_store_string(store, y->domain));
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

static struct gt_cell bytes_cell(const struct sums *sums, unsigned __int128 bytes) {
    return sums->sized ? gt_cell_int(bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes) : gt_cell_null();
}

static struct gt_cell word_cell(const char *word) {
    return word ? gt_cell_text(gt_str_of(word)) : gt_cell_null();
}

static struct gt_cell string_cell(const struct gt_store *store, gt_strid id) {
    return id == GT_STRID_EMPTY ? gt_cell_null() : gt_cell_text(gt_store_string(store, id));
}

static struct gt_cell communicator_cell(const struct gt_comm_group *group, struct gt_arena *arena) {
    if (!group || group->communicator == UINT64_MAX)
        return gt_cell_null();
    return gt_cell_text(gt_arena_printf(arena, "0x%016" PRIx64, group->communicator));
}

static void put_row(struct gt_table *table, const struct gt_store *store, const struct sums *sums) {
    const struct gt_comm_group *group = sums->group;
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "name", name_of(store, sums));
    gt_row_cell(&row, "domain", sums->has_domain ? gt_cell_text(gt_store_string(store, sums->domain)) : gt_cell_null());
    gt_row_cell(&row, "group", string_cell(store, group ? group->name : GT_STRID_EMPTY));
    gt_row_cell(&row, "communicator", communicator_cell(group, &table->report->arena));
    gt_row_cell(&row, "description", string_cell(store, group ? group->description : GT_STRID_EMPTY));
    gt_row_cell(&row, "size", group && group->size > 0 ? gt_cell_int(group->size) : gt_cell_null());
    gt_row_cell(&row, "dtype", string_cell(store, sums->dtype));
    gt_row_cell(&row, "algorithm", word_cell(sums->algorithm));
    gt_row_cell(&row, "protocol", word_cell(sums->protocol));
    gt_row_count(&row, "count", sums->count);
    gt_row_cell(&row, "bytes", bytes_cell(sums, sums->bytes));
    gt_row_cell(&row, "avg_bytes",
                sums->sized ? gt_cell_real((double)sums->bytes / (double)sums->sized) : gt_cell_null());
    gt_row_cell(&row, "min_bytes", bytes_cell(sums, sums->min_bytes));
    gt_row_cell(&row, "max_bytes", bytes_cell(sums, sums->max_bytes));
    gt_row_cell(&row, "time_ns", sums->carried ? gt_cell_int(gt_ns_of_sum(sums->time_ns)) : gt_cell_null());
    gt_row_cell(&row, "busbw", sums->best > 0 ? gt_cell_real(sums->bus_bytes / sums->bus_ns) : gt_cell_null());
    gt_row_cell(&row, "best_busbw", sums->best > 0 ? gt_cell_real(sums->best) : gt_cell_null());
    gt_row_end(&row);
}

/* ---- what is missing ---- */

static bool has_communication(const struct gt_view *view) {
    for (size_t i = 0; i < view->op_count; i++)
        if (gt_view_op_class(view, i) == GT_CLASS_COMM)
            return true;
    return false;
}

static bool has_range_of_nccl(const struct gt_store *store) {
    gt_strid nccl = gt_strtab_find(&store->strings, GT_STR("NCCL"));
    for (size_t i = 0; i < store->ranges.count; i++)
        if (store->ranges.domain[i] == nccl)
            return true;
    return false;
}

/* NULL: nothing is missed. */
static const char *why_empty(const struct gt_view *view) {
    const struct gt_store *store = view->store;
    if (view->labels->comms.collective_count)
        return "No collectives in the selection.";
    if (!(store->asked & GT_FACT_COMMS) || !has_communication(view))
        return NULL;
    if (gt_store_made_from(store) == GT_MADE_FROM_REPORT && has_range_of_nccl(store))
        return "The export has no NCCL payloads: read the .nsys-rep, or export with --include-blobs=true.";
    return "The trace has communication kernels but no collective metadata.";
}

enum gt_status gt_collectives_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_store *store = view->store;
    struct summing summing = {.view = view,
                              .store = store,
                              .comms = &view->labels->comms,
                              .ways = {.elem_bytes = sizeof(uint32_t)},
                              .kinds = {.elem_bytes = sizeof(uint32_t)},
                              .rows = {.elem_bytes = sizeof(struct sums)}};
    enum gt_status status = add_up(&summing) ? GT_OK : gt_fail_memory(err);
    struct sums *list = (void *)summing.rows.list;
    if (status == GT_OK) {
        struct gt_table *table =
            gt_section_table(section, "collectives", "Collectives", columns, GT_ARRAY_COUNT(columns));
        bool has_names = true, is_incomplete = false;
        if (summing.rows.count)
            qsort_r(list, summing.rows.count, sizeof *list, by_bytes, (void *)(uintptr_t)store);
        for (size_t i = 0; i < summing.rows.count; i++) {
            put_row(table, store, &list[i]);
            has_names &= !list[i].has_domain;
            is_incomplete |= list[i].lacks_size;
        }
        table->screen_limit = 5;
        table->screen_columns = has_names ? SCREEN_OF_NAMES : SCREEN_OF_NUMBERS;
        table->empty = why_empty(view);
        if (is_incomplete)
            gt_section_note(
                section, GT_FOR_ALL,
                GT_STR("Some collectives have no bus bandwidth: the trace does not say how many ranks their "
                       "groups have."));
    }
    gt_grouping_release(&summing.ways);
    gt_grouping_release(&summing.kinds);
    gt_grouping_release(&summing.rows);
    gt_mem_free(summing.processes);
    gt_mem_free(summing.has_op);
    return status;
}
