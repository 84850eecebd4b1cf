/* Communication by group: of each device and group of ranks the time of its kernels, and what of it was exposed. An
   exposed instant is charged to the communication op that started first, so that the rows of a device sum to its
   exposed communication. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "events/comms.h"
#include "measure/results/charging.h"
#include "measure/results/group_of_op.h"
#include "measure/results/measure.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"group", "Group", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"description", "Purpose", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"communicator", "Communicator", GT_UNIT_NONE, NULL, 0}, /* no key: NCCL numbers them anew in every run */
    {"size", "Ranks", GT_UNIT_COUNT, NULL, 0},
    {"kernels", "Kernels", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"sum_ns", "Sum", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"exposed_comm_ns", "Exposed", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"share", "Share", GT_UNIT_SHARE, "exposed communication of the GPU", GT_COLUMN_BAR},
};

/* Groups of traces by name, communicators by number. */
#define SCREEN_OF_NAMES   "device,description,group,size,kernels,sum_ns,exposed_comm_ns,share"
#define SCREEN_OF_NUMBERS "device,communicator,size,kernels,sum_ns,exposed_comm_ns,share"

/* A group on a device. */
struct sums {
    uint32_t group; /* GT_NO_ROW: not known */
    size_t kernels;
    int64_t sum_ns, exposed_ns;
};

struct summing {
    const struct gt_view *view;
    struct sums *list; /* by group, then those of none; nothing between devices */
    size_t count;
    struct sums *found; /* those of the device at hand */
    size_t found_count;
    uint32_t *touched; /* their places in the list */
};

static struct sums *sums_of(struct summing *it, size_t position) {
    uint32_t group = gt_group_of_op(it->view, position);
    return &it->list[group == GT_NO_ROW ? it->count - 1 : group];
}

static void charge(void *context, size_t position, int64_t start_ns, int64_t end_ns) {
    struct summing *it = context;
    if (gt_view_op_class(it->view, position) == GT_CLASS_COMM) {
        struct sums *sums = sums_of(it, position);
        sums->exposed_ns = gt_ns_add(sums->exposed_ns, gt_ns_between(start_ns, end_ns));
    }
}

static void sum_device(struct summing *it, const struct gt_view_device *device) {
    it->found_count = 0;
    for (size_t i = device->first; i < device->first + device->count; i++) {
        if (gt_view_op_class(it->view, i) != GT_CLASS_COMM)
            continue;
        struct sums *sums = sums_of(it, i);
        if (sums->kernels++ == 0)
            it->touched[it->found_count++] = (uint32_t)(sums - it->list);
        sums->sum_ns = gt_ns_add(sums->sum_ns, gt_view_op_ns(it->view, i));
    }
    gt_charging_device(it->view, device, charge, it);
    for (size_t i = 0; i < it->found_count; i++) {
        uint32_t place = it->touched[i];
        it->found[i] = it->list[place];
        it->found[i].group = place + 1 < it->count ? place : GT_NO_ROW;
        it->list[place] = (struct sums){0};
    }
}

/* ---- rows ---- */

/* Most exposed first, then as the trace lists them. */
static int by_exposed(const void *a, const void *b) {
    const struct sums *x = a, *y = b;
    if (x->exposed_ns != y->exposed_ns)
        return x->exposed_ns > y->exposed_ns ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

static struct gt_cell string_cell(const struct gt_store *store, gt_strid id) {
    return id == GT_STRID_EMPTY ? gt_cell_null() : gt_cell_text(gt_store_string(store, id));
}

static void put_group(struct gt_row *row, const struct gt_view *view, uint32_t index, struct gt_arena *arena) {
    static const struct gt_comm_group none = {.communicator = UINT64_MAX, .size = -1};
    const struct gt_comm_group *group = index == GT_NO_ROW ? &none : &view->labels->comms.groups[index];
    gt_row_cell(row, "group", string_cell(view->store, group->name));
    gt_row_cell(row, "description", string_cell(view->store, group->description));
    gt_row_cell(row, "communicator",
                group->communicator == UINT64_MAX
                    ? gt_cell_null()
                    : gt_cell_text(gt_arena_printf(arena, "0x%016" PRIx64, group->communicator)));
    gt_row_cell(row, "size", group->size > 0 ? gt_cell_int(group->size) : gt_cell_null());
}

static void add_device(struct gt_table *table, struct summing *it, const struct gt_view_device *device) {
    int64_t exposed_ns = 0;
    sum_device(it, device);
    for (size_t g = 0; g < it->found_count; g++)
        exposed_ns = gt_ns_add(exposed_ns, it->found[g].exposed_ns);
    if (it->found_count)
        qsort(it->found, it->found_count, sizeof *it->found, by_exposed);
    for (size_t g = 0; g < it->found_count; g++) {
        const struct sums *sums = &it->found[g];
        struct gt_row row = gt_row_begin(table);
        gt_row_int(&row, "device", device->id);
        put_group(&row, it->view, sums->group, &table->report->arena);
        gt_row_count(&row, "kernels", sums->kernels);
        gt_row_int(&row, "sum_ns", sums->sum_ns);
        gt_row_int(&row, "exposed_comm_ns", sums->exposed_ns);
        gt_row_share(&row, "share", (double)sums->exposed_ns, (double)exposed_ns);
        gt_row_end(&row);
    }
}

/* Only where the trace says something about groups. */
enum gt_status gt_comm_by_group_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_comm_labels *comms = &view->labels->comms;
    struct gt_table *table =
        gt_section_table(section, "comm_by_group", "Exposed communication by group", columns, GT_ARRAY_COUNT(columns));
    struct summing it = {.view = view, .count = comms->group_count + 1};
    bool has_numbers = false;
    if (!comms->launch_count || !comms->group_count)
        return GT_OK;
    it.list = gt_mem_array(it.count, sizeof *it.list);
    it.found = gt_mem_uninitialised(it.count, sizeof *it.found);
    it.touched = gt_mem_uninitialised(it.count, sizeof *it.touched);
    bool ok = it.list && it.found && it.touched;
    for (size_t g = 0; g < comms->group_count; g++)
        has_numbers |= comms->groups[g].communicator != UINT64_MAX;
    for (size_t d = 0; ok && d < view->device_count; d++)
        add_device(table, &it, &view->devices[d]);
    table->screen_limit = 6;
    table->screen_columns = has_numbers ? SCREEN_OF_NUMBERS : SCREEN_OF_NAMES;
    if (table->row_count <= view->device_count) /* one group: the accounting says as much */
        gt_measure_table_for(section, table, GT_FOR_DATA | GT_FOR_PAGE);
    gt_mem_free(it.list);
    gt_mem_free(it.found);
    gt_mem_free(it.touched);
    return ok ? GT_OK : gt_fail_memory(err);
}
