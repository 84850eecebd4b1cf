/* Kinds of work, instances and their rooflines. */
#include "measure/efficiency/work_making.h"

#include "base/mem.h"

const struct gt_kernel_work *gt_work_making_name(struct gt_work_making *it, uint32_t op) {
    gt_strid name = it->store->ops.name[op];
    if (!it->names[name].is_read)
        it->names[name] = gt_kernel_work_read(gt_store_string(it->store, name));
    return &it->names[name];
}

/* ---- kinds and instances ---- */

uint32_t gt_work_making_add_kind(struct gt_work_making *it, const struct gt_work_kind *kind) {
    struct gt_work_set *set = it->set;
    struct gt_work_kind *kinds = gt_mem_room(set->kinds, set->kind_count, &set->kind_capacity, sizeof *kinds);
    struct gt_work_roof *roofs = gt_mem_room(it->roofs, set->kind_count, &it->roof_capacity, sizeof *roofs);
    set->kinds = kinds ? kinds : set->kinds;
    it->roofs = roofs ? roofs : it->roofs;
    it->failed |= !kinds || !roofs;
    if (it->failed)
        return GT_NO_ROW;
    kinds[set->kind_count] = *kind;
    roofs[set->kind_count] = (struct gt_work_roof){.device = GT_NO_TRACK};
    return (uint32_t)set->kind_count++;
}

int64_t gt_work_making_roofline(const struct gt_gpu_peaks *peaks, const struct gt_work_kind *kind, uint8_t *bound) {
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

uint32_t gt_work_making_add_instance(struct gt_work_making *it, uint32_t kind, uint32_t first_op, uint32_t op_count,
                                     int64_t total_ns) {
    struct gt_work_set *set = it->set;
    struct gt_work_instance *instances =
        gt_mem_room(set->instances, set->instance_count, &set->instance_capacity, sizeof *instances);
    set->instances = instances ? instances : set->instances;
    it->failed |= !instances || kind == GT_NO_ROW;
    if (it->failed)
        return GT_NO_ROW;
    uint32_t device = it->store->lanes.device[it->store->ops.lane[first_op]];
    struct gt_work_instance *instance = &instances[set->instance_count];
    struct gt_work_roof *roof = &it->roofs[kind];
    if (roof->device != device) {
        roof->ns = gt_work_making_roofline(&set->peaks[device], &set->kinds[kind], &roof->bound);
        roof->device = device;
    }
    *instance = (struct gt_work_instance){kind, device, first_op, op_count, total_ns, roof->ns, roof->bound};
    return (uint32_t)set->instance_count++;
}

void gt_work_making_add_single(struct gt_work_making *it, uint32_t kind, uint32_t op) {
    uint32_t number = gt_work_making_add_instance(it, kind, op, 1, gt_work_making_ns(it, op));
    if (number == GT_NO_ROW)
        return;
    const struct gt_work_kind *work = &it->set->kinds[kind];
    it->set->parts[op] = (struct gt_work_part){.instance = number,
                                               .flops = work->flops,
                                               .bytes = work->bytes,
                                               .roofline_ns = it->set->instances[number].roofline_ns};
}
