/* Work that something else than an operator says: names of kernels, records of copies, kernels that are alike. */
#include "base/mem.h"
#include "measure/efficiency/work_making.h"

/* ---- names and records ---- */

/* Kernels of optimizers that work on many tensors: a block is a chunk of so many elements, the last of each tensor
   a smaller one. 0: it is none. */
static int64_t chunk_bytes(struct gt_work_making *it, uint32_t op) {
    const struct gt_kernel_configs *configs = &it->store->kernel_configs;
    uint32_t row = gt_work_set_config(it->set, op);
    int64_t bytes = gt_work_making_name(it, op)->chunk_element_bytes;
    if (!bytes || row == GT_NO_ROW || configs->grid_x[row] == UINT32_MAX || configs->grid_y[row] == UINT32_MAX ||
        configs->grid_z[row] == UINT32_MAX)
        return 0;
    gt_big blocks =
        gt_work_math_mul(gt_work_math_mul(configs->grid_x[row], configs->grid_y[row]), configs->grid_z[row]);
    gt_big all = gt_work_math_mul(gt_work_math_mul(blocks, GT_KERNEL_WORK_CHUNK), bytes);
    return gt_work_math_fits(all) ? (int64_t)all : 0;
}

/* Kinds of plain bytes, by family, provenance and number. */
static uint32_t bytes_kind(struct gt_work_making *it, uint8_t family, uint8_t provenance, int64_t bytes) {
    uint64_t what = (uint64_t)family << 8 | provenance;
    uint32_t kind = gt_map_get(&it->kind_of, UINT64_MAX - what, (uint64_t)bytes);
    if (kind != GT_MAP_NONE)
        return kind;
    kind = gt_work_making_add_kind(it, &(struct gt_work_kind){.op = {"", 0},
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
void gt_work_making_add_named(struct gt_work_making *it) {
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
        if (gt_work_making_roofline(&it->set->peaks[device], &it->set->kinds[kind], &bound) > gt_work_making_ns(it, op))
            part->reason = GT_NO_WORK_ESTIMATE_REFUTED;
        else
            gt_work_making_add_single(it, kind, op);
    }
}

/* Copies inside a device read and write, fills write. */
void gt_work_making_add_recorded(struct gt_work_making *it) {
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
            gt_work_making_add_single(it, kind, op);
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
static uint32_t *kinds_of_launches(const struct gt_work_making *it) {
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
static uint32_t twin_kind(struct gt_work_making *it, uint32_t kind) {
    struct gt_work_kind twin = it->set->kinds[kind];
    uint32_t found = gt_map_get(&it->kind_of, UINT64_MAX, kind);
    if (found != GT_MAP_NONE)
        return found;
    twin.provenance = GT_PROVENANCE_TWIN;
    found = gt_work_making_add_kind(it, &twin);
    if (found != GT_NO_ROW)
        gt_map_put(&it->kind_of, UINT64_MAX, kind, found);
    it->failed |= it->kind_of.failed;
    return found;
}

/* They have no operator, but may be like kernels that have one. */
bool gt_work_making_add_twins(struct gt_work_making *it) {
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
            gt_work_making_add_single(it, twin_kind(it, kinds[id]), op);
    }
    gt_mem_free(kinds);
    return true;
}
