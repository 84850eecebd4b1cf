/* Makes instances of kernels and operators, and shares their work among their kernels. */
#include "measure/efficiency/work_set.h"

#include <stdlib.h>

#include "base/mem.h"
#include "measure/efficiency/kernel_work.h"

const char *const gt_provenance_names[GT_PROVENANCE_COUNT] = {
    [GT_PROVENANCE_SHAPE] = "shape",     [GT_PROVENANCE_SEQUENCE] = "sequence", [GT_PROVENANCE_TWIN] = "twin",
    [GT_PROVENANCE_BOUND] = "bound",     [GT_PROVENANCE_NAME] = "name",         [GT_PROVENANCE_RECORD] = "record",
    [GT_PROVENANCE_COUNTER] = "counter", [GT_PROVENANCE_UNKNOWN] = "unknown",
};

const char *const gt_work_bound_names[GT_BOUND_COUNT] = {
    [GT_BOUND_LATENCY] = "latency", [GT_BOUND_COMPUTE] = "compute", [GT_BOUND_MEMORY] = "memory"};

const char *const gt_no_work_names[GT_NO_WORK_COUNT] = {
#define GT_NO_WORK(key, name, words) [GT_NO_WORK_##key] = name,
#include "measure/efficiency/no_work.def"
#undef GT_NO_WORK
};
const char *const gt_no_work_words[GT_NO_WORK_COUNT] = {
#define GT_NO_WORK(key, name, words) [GT_NO_WORK_##key] = words,
#include "measure/efficiency/no_work.def"
#undef GT_NO_WORK
};

struct making {
    const struct gt_view *view;
    const struct gt_store *store;
    struct gt_work_set *set;
    struct gt_work_links links;
    struct gt_kernel_work *names; /* by string: read when first needed */
    struct gt_map kind_of;        /* entry and what else decides -> kind */
    bool failed;                  /* memory was short */
};

static const struct gt_kernel_work *name_of(struct making *it, uint32_t op) {
    gt_strid name = it->store->ops.name[op];
    if (!it->names[name].is_read)
        it->names[name] = gt_kernel_work_read(gt_store_string(it->store, name));
    return &it->names[name];
}

static int64_t length_ns(const struct gt_store *store, uint32_t op) {
    return gt_ns_between(store->ops.start_ns[op], store->ops.end_ns[op]);
}

/* ---- kinds and instances ---- */

static uint32_t add_kind(struct making *it, const struct gt_work_kind *kind) {
    struct gt_work_set *set = it->set;
    struct gt_work_kind *kinds = gt_mem_room(set->kinds, set->kind_count, &set->kind_capacity, sizeof *kinds);
    it->failed |= !kinds;
    if (!kinds)
        return GT_NO_ROW;
    set->kinds = kinds;
    kinds[set->kind_count] = *kind;
    return (uint32_t)set->kind_count++;
}

static int64_t roofline_ns(const struct gt_gpu_peaks *peaks, const struct gt_work_kind *kind, uint8_t *bound) {
    bool is_matrix = gt_work_set_is_matrix(kind);
    int64_t peak = is_matrix ? gt_gpu_peaks_of_products(peaks, kind->unit) : peaks->flops[GT_PEAK_FP32];
    *bound = GT_BOUND_UNKNOWN;
    if (!peaks->bandwidth || (is_matrix && !peak))
        return -1;
    int64_t compute_ns = peak && kind->flops > 0 ? gt_work_math_ns(kind->flops, peak) : 0;
    int64_t memory_ns = gt_work_math_ns(kind->bytes, peaks->bandwidth);
    int64_t longer_ns = compute_ns > memory_ns ? compute_ns : memory_ns;
    enum { SHORTEST_NS = 2000 }; /* less than a kernel takes to begin and to end */
    *bound = longer_ns < SHORTEST_NS ? GT_BOUND_LATENCY : compute_ns >= memory_ns ? GT_BOUND_COMPUTE : GT_BOUND_MEMORY;
    return longer_ns;
}

/* Gives the instance its number; GT_NO_ROW: memory was short. */
static uint32_t add_instance(struct making *it, uint32_t kind, uint32_t first_op, uint32_t op_count, int64_t total_ns) {
    struct gt_work_set *set = it->set;
    struct gt_work_instance *instances =
        gt_mem_room(set->instances, set->instance_count, &set->instance_capacity, sizeof *instances);
    it->failed |= !instances || kind == GT_NO_ROW;
    if (it->failed)
        return GT_NO_ROW;
    uint32_t device = it->store->lanes.device[it->store->ops.lane[first_op]];
    struct gt_work_instance *instance = &instances[set->instance_count];
    set->instances = instances;
    *instance = (struct gt_work_instance){kind, device, first_op, op_count, total_ns, 0, 0};
    instance->roofline_ns = roofline_ns(&set->peaks[device], &set->kinds[kind], &instance->bound);
    return (uint32_t)set->instance_count++;
}

/* An instance that is one op. */
static void add_single(struct making *it, uint32_t kind, uint32_t op) {
    uint32_t number = add_instance(it, kind, op, 1, length_ns(it->store, op));
    if (number == GT_NO_ROW)
        return;
    const struct gt_work_kind *work = &it->set->kinds[kind];
    it->set->parts[op] = (struct gt_work_part){.instance = number,
                                               .flops = work->flops,
                                               .bytes = work->bytes,
                                               .roofline_ns = it->set->instances[number].roofline_ns};
}

/* ---- work of operators ---- */

/* A kernel of an operator, and what decides in which order kernels share the operator's work. */
struct ordered {
    int64_t start_ns, end_ns, stream;
    uint32_t op;
};

static int by_start(const void *a, const void *b) {
    const struct ordered *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

static struct ordered ordered_of(const struct gt_store *store, uint32_t op) {
    return (struct ordered){store->ops.start_ns[op], store->ops.end_ns[op], store->lanes.stream[store->ops.lane[op]],
                            op};
}

/* What, besides its arguments, decides about the work of an operator's kernels. */
struct manner {
    bool is_tf32, is_recomputed, is_by_sequence;
    uint8_t element_bytes;
};

/* Twice as much is done backward as forward; flash attention makes its pairs once more. */
static bool go_backward(struct gt_work *work) {
    bool is_attention = work->family == GT_FAMILY_ATTENTION;
    work->flops = is_attention ? gt_work_math_mul(work->flops, 5) / 2 : gt_work_math_mul(work->flops, 2);
    work->model_flops = gt_work_math_mul(work->model_flops, 2);
    work->dense_flops = gt_work_math_mul(work->dense_flops, 2);
    work->bytes = gt_work_math_mul(work->bytes, 2);
    return gt_work_math_fits(work->flops) && gt_work_math_fits(work->model_flops) &&
           gt_work_math_fits(work->dense_flops) && gt_work_math_fits(work->bytes);
}

/* false: the kernel's name lacks a size, or the numbers are too large. */
static bool settle(struct gt_work *work, const struct manner *manner) {
    if (work->is_per_byte) {
        work->bytes = gt_work_math_mul(work->bytes, manner->element_bytes);
        if (!manner->element_bytes || !gt_work_math_fits(work->bytes))
            return false;
    }
    return !manner->is_by_sequence || go_backward(work);
}

static uint32_t new_kind(struct making *it, const struct gt_work_entry *entry, gt_strid name,
                         const struct manner *manner) {
    struct gt_work work = entry->work;
    bool is_matrix = gt_family_infos[work.family].is_matrix;
    if (!settle(&work, manner))
        return GT_NO_ROW;
    return add_kind(it,
                    &(struct gt_work_kind){
                        .op = gt_store_string(it->store, name),
                        .shape = entry->shape,
                        .flops = (int64_t)work.flops,
                        .model_flops = manner->is_recomputed ? 0 : (int64_t)work.model_flops,
                        .dense_flops = manner->is_recomputed ? 0 : (int64_t)work.dense_flops,
                        .bytes = (int64_t)work.bytes,
                        .family = work.family,
                        .unit = (uint8_t)(is_matrix ? gt_gpu_peaks_unit(work.dtype, manner->is_tf32) : GT_PEAK_FP32),
                        .provenance = manner->is_by_sequence ? GT_PROVENANCE_SEQUENCE
                                      : work.is_lower_bound  ? GT_PROVENANCE_BOUND
                                                             : GT_PROVENANCE_SHAPE,
                        .is_recomputed = manner->is_recomputed,
                    });
}

/* GT_NO_ROW: the work cannot be known. */
static uint32_t kind_of(struct making *it, uint32_t entry_number, gt_strid name, const struct manner *manner) {
    uint64_t what = (uint64_t)manner->is_tf32 | (uint64_t)manner->is_recomputed << 1 |
                    (uint64_t)manner->is_by_sequence << 2 | (uint64_t)manner->element_bytes << 8 | (uint64_t)name << 32;
    uint32_t kind = gt_map_get(&it->kind_of, entry_number, what);
    if (kind != GT_MAP_NONE)
        return kind == GT_NO_ROW - 1 ? GT_NO_ROW : kind;
    kind = new_kind(it, &it->set->entries.items[entry_number], name, manner);
    gt_map_put(&it->kind_of, entry_number, what, kind == GT_NO_ROW ? GT_NO_ROW - 1 : kind);
    it->failed |= it->kind_of.failed;
    return kind;
}

static struct manner manner_of(struct making *it, uint32_t operator_row, const struct ordered *kernels, size_t count) {
    uint8_t flags = it->links.flags[operator_row];
    struct manner manner = {.is_recomputed = flags & GT_WORK_RECOMPUTED, .is_by_sequence = flags & GT_WORK_BY_SEQUENCE};
    for (size_t i = 0; i < count; i++) {
        const struct gt_kernel_work *name = name_of(it, kernels[i].op);
        manner.is_tf32 |= name->is_tf32;
        if (!manner.element_bytes)
            manner.element_bytes = name->element_bytes;
    }
    return manner;
}

/* Helpers get nothing; the others, or all if there are no others, share the work by their durations. */
static void share_work(struct making *it, uint32_t number, const struct ordered *kernels, size_t count) {
    const struct gt_work_instance *instance = &it->set->instances[number];
    const struct gt_work_kind *kind = &it->set->kinds[instance->kind];
    int64_t sum_ns = 0, before_ns = 0;
    size_t mains = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        if (!name_of(it, kernels[i].op)->is_helper) {
            sum_ns = gt_ns_add(sum_ns, length_ns(it->store, kernels[i].op));
            mains++;
        }
    bool all_help = mains == 0;
    mains = all_help ? count : mains;
    for (size_t i = 0; i < count && all_help; i++)
        sum_ns = gt_ns_add(sum_ns, length_ns(it->store, kernels[i].op));
    for (size_t i = 0; i < count; i++) {
        struct gt_work_part *part = &it->set->parts[kernels[i].op];
        bool is_helper = !all_help && name_of(it, kernels[i].op)->is_helper;
        *part = (struct gt_work_part){.instance = number, .is_helper = is_helper};
        part->flops = kind->flops < 0 ? -1 : 0;
        part->roofline_ns = instance->roofline_ns < 0 ? -1 : 0;
        if (is_helper) {
            part->flops = 0;
            continue;
        }
        /* of kernels without any length the last has it all */
        int64_t after_ns = gt_ns_add(before_ns, length_ns(it->store, kernels[i].op));
        int64_t whole = sum_ns > 0 ? sum_ns : (int64_t)mains;
        int64_t from = sum_ns > 0 ? before_ns : (int64_t)at, to = sum_ns > 0 ? after_ns : (int64_t)at + 1;
        part->bytes = gt_work_math_share(kind->bytes, from, to, whole);
        if (kind->flops > 0)
            part->flops = gt_work_math_share(kind->flops, from, to, whole);
        if (instance->roofline_ns > 0)
            part->roofline_ns = gt_work_math_share(instance->roofline_ns, from, to, whole);
        before_ns = after_ns;
        at++;
    }
}

static void add_operator(struct making *it, uint32_t operator_row, struct ordered *kernels, size_t count) {
    qsort(kernels, count, sizeof *kernels, by_start);
    struct manner manner = manner_of(it, operator_row, kernels, count);
    uint32_t entry = it->links.entry_of[operator_row];
    uint32_t kind = kind_of(it, entry, it->store->cpu_ops.name[operator_row], &manner);
    if (kind == GT_NO_ROW) {
        for (size_t i = 0; i < count; i++)
            it->set->parts[kernels[i].op].reason = GT_NO_WORK_ARGUMENTS_MISSING;
        return;
    }
    int64_t total_ns = 0;
    for (size_t i = 0; i < count; i++)
        total_ns = gt_ns_add(total_ns, length_ns(it->store, kernels[i].op));
    uint32_t number = add_instance(it, kind, kernels[0].op, (uint32_t)count, total_ns);
    if (number != GT_NO_ROW)
        share_work(it, number, kernels, count);
}

/* Kernels by operator: in the order of the file for each, the operators in theirs. */
static bool add_operators(struct making *it) {
    size_t operators = it->store->cpu_ops.count, ops = it->store->ops.count, longest = 0;
    uint32_t *ends = gt_mem_array(operators + 1, sizeof *ends), *sorted = gt_mem_uninitialised(ops, sizeof *sorted);
    struct ordered *kernels = NULL;
    for (uint32_t op = 0; op < ops && ends && sorted; op++)
        if (it->links.operator_of[op] != GT_NO_ROW)
            ends[it->links.operator_of[op] + 1]++;
    for (size_t i = 0; i < operators && ends && sorted; i++) {
        longest = ends[i + 1] > longest ? ends[i + 1] : longest;
        ends[i + 1] += ends[i];
    }
    for (uint32_t op = 0; op < ops && ends && sorted; op++)
        if (it->links.operator_of[op] != GT_NO_ROW)
            sorted[ends[it->links.operator_of[op]]++] = op; /* now the end of each is its start for the next */
    kernels = ends && sorted ? gt_mem_uninitialised(longest, sizeof *kernels) : NULL;
    bool ok = kernels;
    for (size_t i = 0, first = 0; i < operators && ok && !it->failed; first = ends[i++]) {
        size_t count = ends[i] - first;
        for (size_t k = 0; k < count; k++)
            kernels[k] = ordered_of(it->store, sorted[first + k]);
        if (count)
            add_operator(it, (uint32_t)i, kernels, count);
    }
    gt_mem_free(ends);
    gt_mem_free(sorted);
    gt_mem_free(kernels);
    return ok;
}

/* ---- work that other things than operators say ---- */

/* Kernels of optimizers that work on many tensors: a block is a chunk of so many elements, the last of each tensor
   a smaller one. 0: it is none. */
static int64_t chunk_bytes(struct making *it, uint32_t op) {
    const struct gt_kernel_configs *configs = &it->store->kernel_configs;
    uint32_t row = gt_work_set_config(it->set, op);
    int64_t bytes = name_of(it, op)->chunk_element_bytes;
    if (!bytes || row == GT_NO_ROW || configs->grid_x[row] == UINT32_MAX || configs->grid_y[row] == UINT32_MAX ||
        configs->grid_z[row] == UINT32_MAX)
        return 0;
    gt_big blocks =
        gt_work_math_mul(gt_work_math_mul(configs->grid_x[row], configs->grid_y[row]), configs->grid_z[row]);
    gt_big all = gt_work_math_mul(gt_work_math_mul(blocks, GT_KERNEL_WORK_CHUNK), bytes);
    return gt_work_math_fits(all) ? (int64_t)all : 0;
}

/* Kinds of plain bytes, by family, provenance and number. */
static uint32_t bytes_kind(struct making *it, uint8_t family, uint8_t provenance, int64_t bytes) {
    uint64_t what = (uint64_t)family << 8 | provenance;
    uint32_t kind = gt_map_get(&it->kind_of, UINT64_MAX - what, (uint64_t)bytes);
    if (kind != GT_MAP_NONE)
        return kind;
    kind = add_kind(it, &(struct gt_work_kind){.op = {"", 0},
                                               .shape = {"", 0},
                                               .flops = provenance == GT_PROVENANCE_RECORD ? 0 : -1,
                                               .bytes = bytes,
                                               .family = family,
                                               .unit = GT_PEAK_FP32,
                                               .provenance = provenance});
    if (kind != GT_NO_ROW)
        gt_map_put(&it->kind_of, UINT64_MAX - what, (uint64_t)bytes, kind);
    it->failed |= it->kind_of.failed;
    return kind;
}

/* The estimate is at most so much more than the work; a kernel that is faster than its peak allows did less. */
static void add_named(struct making *it) {
    for (uint32_t op = 0; op < it->store->ops.count && !it->failed; op++) {
        struct gt_work_part *part = &it->set->parts[op];
        bool is_open = it->store->ops.kind[op] == GT_OP_KERNEL && part->instance == GT_NO_ROW;
        int64_t bytes = is_open ? chunk_bytes(it, op) : 0;
        if (!bytes)
            continue;
        uint32_t kind = bytes_kind(it, GT_FAMILY_OPTIMIZER, GT_PROVENANCE_NAME, bytes);
        uint32_t device = it->store->lanes.device[it->store->ops.lane[op]];
        uint8_t bound;
        if (kind == GT_NO_ROW)
            return;
        if (roofline_ns(&it->set->peaks[device], &it->set->kinds[kind], &bound) > length_ns(it->store, op))
            part->reason = GT_NO_WORK_ESTIMATE_REFUTED;
        else
            add_single(it, kind, op);
    }
}

/* Copies inside a device read and write, fills write. */
static void add_recorded(struct making *it) {
    const struct gt_copies *copies = &it->store->copies;
    for (size_t i = 0; i < copies->count && !it->failed; i++) {
        uint32_t op = copies->op[i];
        bool is_fill = it->store->ops.kind[op] == GT_OP_MEMSET;
        bool is_inside = copies->src[i] == GT_MEMORY_DEVICE && copies->dst[i] == GT_MEMORY_DEVICE;
        gt_big bytes = gt_work_math_mul((gt_big)copies->bytes[i], is_fill ? 1 : 2);
        if ((!is_fill && !is_inside) || !gt_work_math_fits(bytes) || it->set->parts[op].instance != GT_NO_ROW)
            continue;
        uint32_t kind = bytes_kind(it, is_fill ? GT_FAMILY_FILL : GT_FAMILY_COPY, GT_PROVENANCE_RECORD, (int64_t)bytes);
        if (kind != GT_NO_ROW)
            add_single(it, kind, op);
    }
}

/* ---- kernels of CUDA graphs ---- */

static bool is_same_work(const struct gt_work_kind *a, const struct gt_work_kind *b) {
    return a->flops == b->flops && a->bytes == b->bytes && a->model_flops == b->model_flops &&
           a->dense_flops == b->dense_flops && a->family == b->family && a->unit == b->unit;
}

/* Launches whose kernels do different work in different instances. */
#define SEVERAL_KINDS (GT_NO_ROW - 1)

/* By number of launch: the work of all instances that are one such kernel; GT_NO_ROW: there are none. */
static uint32_t *kinds_of_launches(const struct making *it) {
    const struct gt_work_set *set = it->set;
    uint32_t *kinds = gt_mem_uninitialised(set->launches.count, sizeof *kinds);
    for (size_t i = 0; i < set->launches.count && kinds; i++)
        kinds[i] = GT_NO_ROW;
    for (size_t i = 0; i < set->instance_count && kinds; i++) {
        const struct gt_work_instance *instance = &set->instances[i];
        uint32_t id = instance->op_count == 1 ? set->launches.of_op[instance->first_op] : GT_NO_ROW;
        if (id == GT_NO_ROW || kinds[id] == SEVERAL_KINDS)
            continue;
        bool is_same = kinds[id] == GT_NO_ROW || is_same_work(&set->kinds[kinds[id]], &set->kinds[instance->kind]);
        kinds[id] = !is_same ? SEVERAL_KINDS : kinds[id] == GT_NO_ROW ? instance->kind : kinds[id];
    }
    return kinds;
}

/* The same work, known in another way. */
static uint32_t twin_kind(struct making *it, uint32_t kind) {
    struct gt_work_kind twin = it->set->kinds[kind];
    uint32_t found = gt_map_get(&it->kind_of, UINT64_MAX, kind);
    if (found != GT_MAP_NONE)
        return found;
    twin.provenance = GT_PROVENANCE_TWIN;
    found = add_kind(it, &twin);
    if (found != GT_NO_ROW)
        gt_map_put(&it->kind_of, UINT64_MAX, kind, found);
    it->failed |= it->kind_of.failed;
    return found;
}

/* They have no operator, but may be like kernels that have one. */
static bool add_twins(struct making *it) {
    uint32_t *kinds = NULL;
    for (uint32_t op = 0; op < it->store->ops.count && !it->failed; op++) {
        uint32_t id = it->set->parts[op].reason == GT_NO_WORK_GRAPH && it->set->parts[op].instance == GT_NO_ROW
                          ? it->set->launches.of_op[op]
                          : GT_NO_ROW;
        if (id == GT_NO_ROW)
            continue;
        if (!kinds && !(kinds = kinds_of_launches(it)))
            return false;
        if (kinds[id] < SEVERAL_KINDS)
            add_single(it, twin_kind(it, kinds[id]), op);
    }
    gt_mem_free(kinds);
    return true;
}

/* ---- all ---- */

static bool allocate(struct making *it) {
    const struct gt_store *store = it->store;
    struct gt_work_set *set = it->set;
    set->parts = gt_mem_uninitialised(store->ops.count, sizeof *set->parts);
    it->names = gt_mem_array(store->strings.count, sizeof *it->names);
    return set->parts && it->names && gt_launch_ids_init(&set->launches, store) &&
           gt_work_entries_init(&set->entries, store);
}

static enum gt_status find_peaks(struct making *it, struct gt_error *err) {
    struct gt_gpu_given given;
    enum gt_status status = gt_gpu_peaks_given(it->view, &given, err);
    if (status != GT_OK)
        return status;
    it->set->peaks = gt_mem_array(it->store->devices.count, sizeof *it->set->peaks);
    for (uint32_t i = 0; i < it->store->devices.count && it->set->peaks; i++)
        gt_gpu_peaks_of(&it->set->peaks[i], it->store, i, &given);
    return it->set->peaks ? GT_OK : gt_fail_memory(err);
}

static void begin_parts(struct making *it) {
    for (size_t i = 0; i < it->store->ops.count; i++)
        it->set->parts[i] = (struct gt_work_part){
            .instance = GT_NO_ROW, .reason = it->links.reason[i], .flops = -1, .bytes = -1, .roofline_ns = -1};
}

static bool make(struct making *it) {
    if (!allocate(it) || !gt_work_links_init(&it->links, it->view, &it->set->entries))
        return false;
    begin_parts(it);
    if (!add_operators(it))
        return false;
    add_named(it);
    add_recorded(it);
    return !it->failed && add_twins(it) && !it->failed;
}

enum gt_status gt_work_set_init(struct gt_work_set *set, const struct gt_view *view, struct gt_error *err) {
    struct making it = {.view = view, .store = view->store, .set = set};
    const struct gt_operator_args *args = &view->store->operator_args;
    *set = (struct gt_work_set){.has_operators = view->store->cpu_ops.count > 0};
    for (size_t i = 0; i < args->count && !set->has_shapes; i++)
        set->has_shapes = args->dims[i] != GT_STRID_EMPTY;
    enum gt_status status = find_peaks(&it, err);
    if (status == GT_OK && !make(&it))
        status = gt_fail_memory(err);
    gt_work_links_release(&it.links);
    gt_mem_free(it.names);
    gt_map_release(&it.kind_of);
    if (status != GT_OK)
        gt_work_set_release(set);
    return status;
}

void gt_work_set_release(struct gt_work_set *set) {
    gt_mem_free(set->parts);
    gt_mem_free(set->instances);
    gt_mem_free(set->kinds);
    gt_mem_free(set->peaks);
    gt_launch_ids_release(&set->launches);
    gt_work_entries_release(&set->entries);
    gt_arena_release(&set->arena);
}

struct gt_work_part gt_work_set_part(const struct gt_view *view, const struct gt_work_set *set, size_t position) {
    struct gt_work_part part = set->parts[view->row[position]];
    int64_t ns = gt_view_op_ns(view, position), whole_ns = gt_view_op_whole_ns(view, position);
    if (ns == whole_ns || whole_ns <= 0)
        return part;
    part.flops = part.flops < 0 ? -1 : gt_work_math_share(part.flops, 0, ns, whole_ns);
    part.bytes = part.bytes < 0 ? -1 : gt_work_math_share(part.bytes, 0, ns, whole_ns);
    part.roofline_ns = part.roofline_ns < 0 ? -1 : gt_work_math_share(part.roofline_ns, 0, ns, whole_ns);
    return part;
}
