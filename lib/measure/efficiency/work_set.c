/* The work of all ops: links kernels to operators, then makes instances of both. */
#include "measure/efficiency/work_set.h"

#include "base/mem.h"
#include "measure/efficiency/work_making.h"

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

static bool allocate(struct gt_work_making *it) {
    const struct gt_store *store = it->store;
    struct gt_work_set *set = it->set;
    set->parts = gt_mem_uninitialised(store->ops.count, sizeof *set->parts);
    it->names = gt_mem_array(store->strings.count, sizeof *it->names);
    return set->parts && it->names && gt_launch_ids_init(&set->launches, store) &&
           gt_work_entries_init(&set->entries, store);
}

static enum gt_status find_peaks(struct gt_work_making *it, struct gt_error *err) {
    struct gt_gpu_given given;
    enum gt_status status = gt_gpu_peaks_given(it->view, &given, err);
    if (status != GT_OK)
        return status;
    it->set->peaks = gt_mem_array(it->store->devices.count, sizeof *it->set->peaks);
    for (uint32_t i = 0; i < it->store->devices.count && it->set->peaks; i++)
        gt_gpu_peaks_of(&it->set->peaks[i], it->store, i, &given);
    return it->set->peaks ? GT_OK : gt_fail_memory(err);
}

static void begin_parts(struct gt_work_making *it) {
    for (size_t i = 0; i < it->store->ops.count; i++)
        it->set->parts[i] = (struct gt_work_part){
            .instance = GT_NO_ROW, .reason = it->links.reason[i], .flops = -1, .bytes = -1, .roofline_ns = -1};
}

static void mark_products(struct gt_work_set *set) {
    for (size_t i = 0; i < set->instance_count; i++)
        set->parts[set->instances[i].first_op].is_first_of_product =
            gt_work_set_is_matrix(gt_work_set_kind(set, &set->instances[i]));
}

static bool make(struct gt_work_making *it) {
    if (!allocate(it) || !gt_work_links_init(&it->links, it->view, &it->set->entries))
        return false;
    begin_parts(it);
    if (!gt_work_making_add_operators(it))
        return false;
    gt_work_making_add_named(it);
    gt_work_making_add_recorded(it);
    if (it->failed || !gt_work_making_add_twins(it) || it->failed)
        return false;
    mark_products(it->set);
    return true;
}

enum gt_status gt_work_set_init(struct gt_work_set *set, const struct gt_view *view, struct gt_error *err) {
    struct gt_work_making it = {.view = view, .store = view->store, .set = set};
    const struct gt_operator_args *args = &view->store->operator_args;
    *set = (struct gt_work_set){.has_operators = view->store->cpu_ops.count > 0};
    for (size_t i = 0; i < args->count && !set->has_shapes; i++)
        set->has_shapes = args->dims[i] != GT_STRID_EMPTY;
    enum gt_status status = find_peaks(&it, err);
    if (status == GT_OK && !make(&it))
        status = gt_fail_memory(err);
    gt_work_links_release(&it.links);
    gt_mem_free(it.names);
    gt_mem_free(it.roofs);
    gt_mem_free(it.latest);
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
}

struct gt_work_part gt_work_set_cut(const struct gt_work_part *part, int64_t ns, int64_t whole_ns) {
    struct gt_work_part cut = *part;
    cut.flops = part->flops < 0 ? -1 : gt_work_math_share(part->flops, 0, ns, whole_ns);
    cut.bytes = part->bytes < 0 ? -1 : gt_work_math_share(part->bytes, 0, ns, whole_ns);
    cut.roofline_ns = part->roofline_ns < 0 ? -1 : gt_work_math_share(part->roofline_ns, 0, ns, whole_ns);
    return cut;
}
