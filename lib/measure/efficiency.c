/* Efficiency: every kernel against the roofline of its work, and how its launch fills the GPU. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "measure/efficiency/launch_facts.h"
#include "measure/efficiency/work_sums.h"
#include "measure/results/charging.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_VARIES},
    {"name", "Kernel", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"family", "Family", GT_UNIT_NONE, NULL, 0},
    {"role", "Role", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"count", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"wall_ns", "Wall", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"modelled_ns", "Modelled", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"flops", "FLOPs", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"bytes", "Bytes", GT_UNIT_BYTES, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"roofline_ns", "Roofline", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_SPARSE},
    {"efficiency", "Efficiency", GT_UNIT_SHARE, "modelled time", GT_COLUMN_BAR | GT_COLUMN_WHOLE | GT_COLUMN_SPARSE},
    {"bound", "Bound", GT_UNIT_NONE, NULL, GT_COLUMN_SPARSE},
    {"lost_ns", "Lost", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_SPARSE},
    {"provenance", "Source of work", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"blocks", "Blocks", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"threads", "Threads", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"resident", "Blocks per SM", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"limiter", "Limited by", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"occupancy", "Occupancy", GT_UNIT_SHARE, "warps of an SM", GT_COLUMN_DETAIL},
    {"waves", "Waves", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"tail", "Tail", GT_UNIT_SHARE, "SMs", GT_COLUMN_DETAIL},
    {"reason", "Reason", GT_UNIT_NONE, NULL, 0},
};

/* All ops of one name on a device. */
struct kernel {
    struct gt_str text;
    size_t first;                           /* position of its first op */
    const struct gt_counter_item *counters; /* what samples say about it; NULL: nothing */
    struct gt_work_sums sums;
    int64_t wall_ns;
    int64_t family_ns[GT_FAMILY_COUNT], provenance_ns[GT_PROVENANCE_COUNT], helper_ns, main_ns;
    uint32_t launch; /* the one with most time; GT_NO_ROW */
    int64_t launch_ns;
};

struct device {
    const struct gt_view *view;
    const struct gt_work_set *set;
    const struct gt_view_device *at;
    const struct gt_counter_device *counters;
    uint32_t *place;    /* by name: number of its kernel + 1 */
    int64_t *launch_ns; /* by number of launch: time of its ops */
    struct kernel *kernels;
    size_t count, capacity;
    bool failed;
};

static struct kernel *kernel_of(struct device *device, size_t position) {
    gt_strid name = gt_view_op_name_id(device->view, position);
    if (!device->place[name]) {
        struct kernel *kernels = gt_mem_room(device->kernels, device->count, &device->capacity, sizeof *kernels);
        device->failed |= !kernels;
        if (!kernels)
            return NULL;
        device->kernels = kernels;
        kernels[device->count] =
            (struct kernel){.text = gt_view_name_text(device->view, name), .first = position, .launch = GT_NO_ROW};
        device->place[name] = (uint32_t)++device->count;
    }
    return &device->kernels[device->place[name] - 1];
}

/* The launch of a kernel that most time is of; of several the first in the trace. */
static void note_launch(struct device *device, struct kernel *kernel, uint32_t op, int64_t ns) {
    uint32_t id = device->set->launches.of_op[op];
    if (id == GT_NO_ROW)
        return;
    device->launch_ns[id] = gt_ns_add(device->launch_ns[id], ns);
    if (kernel->launch == GT_NO_ROW || device->launch_ns[id] > kernel->launch_ns) {
        kernel->launch = id;
        kernel->launch_ns = device->launch_ns[id];
    }
}

static void add_op(struct device *device, size_t position) {
    const struct gt_work_set *set = device->set;
    struct kernel *kernel = kernel_of(device, position);
    if (!kernel)
        return;
    int64_t ns = gt_view_op_ns(device->view, position);
    struct gt_work_part part = gt_work_set_part(device->view, set, position);
    uint8_t bound = part.instance == GT_NO_ROW ? GT_BOUND_UNKNOWN : set->instances[part.instance].bound;
    gt_work_sums_add(&kernel->sums, ns, &part, bound);
    note_launch(device, kernel, device->view->row[position], ns);
    if (part.instance == GT_NO_ROW)
        return;
    const struct gt_work_kind *kind = gt_work_set_kind(set, &set->instances[part.instance]);
    int64_t *role_ns = part.is_helper ? &kernel->helper_ns : &kernel->main_ns;
    *role_ns = gt_ns_add(*role_ns, ns);
    kernel->family_ns[kind->family] = gt_ns_add(kernel->family_ns[kind->family], ns);
    kernel->provenance_ns[kind->provenance] = gt_ns_add(kernel->provenance_ns[kind->provenance], ns);
}

static void charge(void *context, size_t position, int64_t start_ns, int64_t end_ns) {
    struct device *device = context;
    uint32_t place = device->place[gt_view_op_name_id(device->view, position)];
    if (!place || !gt_work_set_counts(device->view, device->set, position))
        return;
    int64_t *wall_ns = &device->kernels[place - 1].wall_ns;
    *wall_ns = gt_ns_add(*wall_ns, gt_ns_between(start_ns, end_ns));
}

/* ---- rows ---- */

static const char *reason_of(const struct kernel *kernel, const struct gt_launch_facts *facts,
                             int64_t multiprocessors) {
    size_t bound = gt_work_sums_most(kernel->sums.bound_ns, GT_BOUND_COUNT);
    if (kernel->helper_ns > kernel->main_ns)
        return "extra_kernel";
    if (bound == GT_BOUND_LATENCY)
        return "small";
    if (facts->tail >= 0.2)
        return facts->blocks < multiprocessors ? "idle_sms" : "tail";
    return bound == GT_BOUND_MEMORY && facts->resident >= 0 && facts->occupancy < 0.5 ? "occupancy" : NULL;
}

static struct gt_cell words(const char *text) {
    return text ? gt_cell_text(gt_str_of(text)) : gt_cell_null();
}

static struct gt_cell number(int64_t value) {
    return value >= 0 ? gt_cell_int(value) : gt_cell_null();
}

static void add_launch_cells(struct gt_row *row, const struct gt_launch_facts *facts) {
    gt_row_cell(row, "blocks", number(facts->blocks));
    gt_row_cell(row, "threads", number(facts->threads));
    gt_row_cell(row, "resident", number(facts->resident));
    gt_row_cell(row, "limiter", words(facts->limiter));
    gt_row_cell(row, "occupancy", facts->resident < 0 ? gt_cell_null() : gt_cell_real(facts->occupancy));
    gt_row_cell(row, "waves", gt_cell_known(facts->waves));
    gt_row_cell(row, "tail", gt_cell_known(facts->tail));
}

/* How much work a kernel did, by its model or else by samples. */
struct known_work {
    struct gt_cell bytes, efficiency, bound;
    const char *provenance;
};

static struct known_work model_work(const struct kernel *kernel) {
    const struct gt_work_sums *sums = &kernel->sums;
    size_t provenance = gt_work_sums_most(kernel->provenance_ns, GT_PROVENANCE_COUNT);
    return (struct known_work){
        .bytes = gt_work_sums_cell(sums->bytes, sums->has_bytes),
        .efficiency = gt_work_sums_efficiency(sums),
        .bound = gt_work_sums_bound(sums),
        .provenance = gt_provenance_names[provenance < GT_PROVENANCE_COUNT ? provenance : GT_PROVENANCE_UNKNOWN],
    };
}

/* false: there are no samples, too few, or none of a limit. */
static bool sampled_work(const struct device *device, const struct kernel *kernel, struct known_work *work) {
    if (!kernel->counters || kernel->counters->method == GT_COUNTER_UNSAMPLED)
        return false;
    double bytes = gt_counter_set_dram_bytes(device->counters, kernel->counters);
    struct gt_counter_nearness near = gt_counter_set_nearness(device->counters, kernel->counters);
    bool is_known = near.share >= 0;
    if (!is_known && !(bytes >= 0))
        return false;
    *work = (struct known_work){
        .bytes = gt_cell_whole(bytes),
        .efficiency = gt_cell_known(near.share),
        .bound = is_known ? gt_cell_text(near.is_memory ? GT_STR("memory") : GT_STR("compute")) : gt_cell_null(),
        .provenance = "counter",
    };
    return true;
}

static void add_row(const struct device *device, struct gt_table *table, const struct kernel *kernel) {
    const struct gt_gpu_peaks *peaks = &device->set->peaks[device->at->device];
    const struct gt_work_sums *sums = &kernel->sums;
    uint32_t config = kernel->launch == GT_NO_ROW ? GT_NO_ROW : device->set->launches.config[kernel->launch];
    struct gt_launch_facts facts = gt_launch_facts_of(&device->view->store->kernel_configs, config, peaks);
    size_t family = gt_work_sums_most(kernel->family_ns, GT_FAMILY_COUNT);
    bool is_known = sums->modelled_ns > 0 || sums->has_bytes;
    struct known_work work;
    if (is_known || !sampled_work(device, kernel, &work))
        work = model_work(kernel);
    struct gt_row row = gt_row_begin(table);
    gt_row_int(&row, "device", device->at->id);
    gt_row_text(&row, "name", kernel->text);
    gt_row_cell(&row, "family", words(family < GT_FAMILY_COUNT ? gt_family_infos[family].key : NULL));
    gt_row_cell(&row, "role", words(!is_known ? NULL : kernel->helper_ns > kernel->main_ns ? "helper" : "main"));
    gt_row_count(&row, "count", sums->count);
    gt_row_int(&row, "total_ns", sums->total_ns);
    gt_row_int(&row, "wall_ns", kernel->wall_ns);
    gt_row_int(&row, "modelled_ns", sums->modelled_ns);
    gt_row_cell(&row, "flops", gt_work_sums_cell(sums->flops, sums->has_flops));
    gt_row_cell(&row, "bytes", work.bytes);
    gt_row_cell(&row, "roofline_ns", gt_work_sums_cell(sums->roofline_ns, sums->has_roofline));
    gt_row_cell(&row, "efficiency", work.efficiency);
    gt_row_cell(&row, "bound", work.bound);
    gt_row_cell(&row, "lost_ns", gt_work_sums_cell(sums->lost_ns, sums->has_roofline));
    gt_row_cell(&row, "provenance", words(work.provenance));
    add_launch_cells(&row, &facts);
    gt_row_cell(&row, "reason", words(reason_of(kernel, &facts, peaks->multiprocessors)));
    gt_row_end(&row);
}

/* ---- one kernel in words ---- */

/* ", 612 TFLOP/s"; empty: it has no FLOPs. */
static struct gt_str rate_words(struct gt_arena *arena, gt_big flops, int64_t ns) {
    double rate = ns > 0 ? (double)flops / (double)ns : 0; /* in 1e9 */
    if (rate <= 0)
        return GT_STR("");
    return gt_arena_printf(arena, ", %.3g %s", rate >= 100 ? rate / 1e3 : rate, rate >= 100 ? "TFLOP/s" : "GFLOP/s");
}

/* ", 50.6 TFLOP/s, 148 GB/s: 75.6% of its roof (compute-bound, work known by shape), 415 us lost" */
static struct gt_str work_words(const struct device *device, struct gt_arena *arena, const struct kernel *kernel) {
    const struct gt_work_sums *sums = &kernel->sums;
    struct known_work work = model_work(kernel);
    bool is_modelled = sums->has_bytes && sums->modelled_ns > 0;
    if (!is_modelled && !sampled_work(device, kernel, &work))
        return GT_STR(", work not known");
    int64_t known_ns = is_modelled ? sums->modelled_ns : kernel->counters->compute_sum_ns;
    double bytes = gt_cell_as_number(&work.bytes), share = gt_cell_as_number(&work.efficiency);
    struct gt_str text = rate_words(arena, sums->flops, known_ns);
    char lost[GT_NUM_MAX];
    gt_num_format_duration(lost, (double)sums->lost_ns);
    if (!isnan(bytes) && known_ns > 0)
        text = gt_arena_printf(arena, "%s, %.3g GB/s%s", text.ptr, bytes / (double)known_ns,
                               is_modelled ? "" : " of DRAM");
    if (!isnan(share))
        text = gt_arena_printf(arena, "%s: %.1f%% of its roof (%s-bound, work known by %s)", text.ptr, 100 * share,
                               gt_cell_as_text(&work.bound).ptr, work.provenance);
    if (is_modelled && sums->has_roofline)
        text = gt_arena_printf(arena, "%s, %s lost", text.ptr, lost);
    else if (is_modelled)
        text = gt_arena_printf(arena, "%s (work known by %s, peak unknown)", text.ptr, work.provenance);
    return text;
}

static void say_kernel(const struct device *device, struct gt_section *section, const struct kernel *kernel) {
    struct gt_arena *arena = &section->report->arena;
    struct gt_str name = gt_labels_short_name(device->view->labels, device->view->name[kernel->first]);
    bool is_helper = kernel->helper_ns > kernel->main_ns;
    char total[GT_NUM_MAX];
    gt_num_format_duration(total, (double)kernel->sums.total_ns);
    gt_section_note(section, GT_FOR_ALL,
                    gt_arena_printf(arena, "%.*s: %s in %zu %s%s.", (int)name.len, name.ptr, total, kernel->sums.count,
                                    kernel->sums.count == 1 ? "op" : "ops",
                                    is_helper
                                        ? ", all of it lost: it only prepares or completes the work of another kernel"
                                        : work_words(device, arena, kernel).ptr));
}

static int by_total(const void *a, const void *b) {
    const struct kernel *x = a, *y = b;
    if (x->sums.total_ns != y->sums.total_ns)
        return x->sums.total_ns < y->sums.total_ns ? 1 : -1;
    return gt_str_cmp(x->text, y->text);
}

/* ---- all ---- */

/* Only what the ops of the device have touched: devices may be many. */
static void forget(struct device *device) {
    for (size_t i = device->at->first; i < device->at->first + device->at->count; i++) {
        uint32_t launch = device->set->launches.of_op[device->view->row[i]];
        device->place[gt_view_op_name_id(device->view, i)] = 0;
        if (launch != GT_NO_ROW)
            device->launch_ns[launch] = 0;
    }
    device->count = 0;
}

static void take_counters(struct device *device) {
    for (size_t i = 0; i < device->counters->item_count; i++) {
        const struct gt_counter_item *item = &device->counters->items[i];
        uint32_t place = item->scope == GT_COUNTER_OF_KERNEL ? device->place[item->name_id] : 0;
        if (place)
            device->kernels[place - 1].counters = item;
    }
}

static void add_device(struct device *device, struct gt_section *section, struct gt_table *table) {
    for (size_t i = device->at->first; i < device->at->first + device->at->count && !device->failed; i++)
        if (gt_work_set_counts(device->view, device->set, i))
            add_op(device, i);
    gt_charging_device(device->view, device->at, charge, device);
    take_counters(device);
    if (device->count)
        qsort(device->kernels, device->count, sizeof *device->kernels, by_total);
    for (size_t i = 0; i < device->count; i++)
        add_row(device, table, &device->kernels[i]);
    if (device->count == 1 && !device->view->is_whole) /* selected by name */
        say_kernel(device, section, &device->kernels[0]);
    forget(device);
}

enum gt_status gt_efficiency_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_work_set *set = gt_results_work(view, err);
    const struct gt_counter_set *counters = set ? gt_results_counters(view, err) : NULL;
    if (!counters)
        return err->code;
    struct gt_table *table =
        gt_section_table(section, "efficiency", "Kernels against their roofline", columns, GT_ARRAY_COUNT(columns));
    struct device device = {
        .view = view,
        .set = set,
        .place = gt_mem_array(gt_view_name_count(view), sizeof *device.place),
        .launch_ns = gt_mem_array(set->launches.count, sizeof *device.launch_ns),
    };
    table->screen_limit = 12;
    device.failed = !device.place || !device.launch_ns;
    for (size_t d = 0; d < view->device_count && !device.failed; d++) {
        device.at = &view->devices[d];
        device.counters = &counters->devices[d];
        add_device(&device, section, table);
    }
    gt_mem_free(device.place);
    gt_mem_free(device.launch_ns);
    gt_mem_free(device.kernels);
    return device.failed ? gt_fail_memory(err) : GT_OK;
}
