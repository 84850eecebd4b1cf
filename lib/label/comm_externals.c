/* Ids of collectives: records of kernels and CPU operators come in, the id that both have goes out, also where the
   profiler wrote it to operators alone. */
#include "label/comm_externals.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "label/enclose.h"

struct search {
    const struct gt_store *store;
    const struct gt_labels *labels;
    uint64_t *externals; /* by record; UINT64_MAX: not known */
};

static uint32_t process_of(const struct gt_store *store, uint32_t cpu_op) {
    uint32_t thread = store->cpu_ops.thread[cpu_op];
    return thread == GT_NO_TRACK ? GT_NO_TRACK : store->threads.process[thread];
}

static bool is_same_collective(const struct gt_comms *comms, uint32_t a, uint32_t b) {
    bool has_both = comms->sequence[a] != INT64_MIN && comms->sequence[b] != INT64_MIN;
    return comms->name[a] == comms->name[b] && (!has_both || comms->sequence[a] == comms->sequence[b]);
}

static void kernel_of_operator(void *context, uint32_t kernel, uint32_t operator) {
    struct search *it = context;
    if (is_same_collective(&it->store->comms, kernel, operator))
        it->externals[kernel] = it->store->comms.external[operator];
}

static bool lacks_external(const struct search *it, uint32_t record) {
    return it->store->comms.op[record] != GT_NO_ROW && it->externals[record] == UINT64_MAX;
}

static bool has_operator(const struct gt_comms *comms, uint32_t record) {
    return comms->cpu_op[record] != GT_NO_ROW && comms->external[record] != UINT64_MAX;
}

/* Kernels that were launched inside of the operator. */
static bool find_by_launch(struct search *it) {
    const struct gt_store *store = it->store;
    const struct gt_comms *comms = &store->comms;
    size_t kernel_count = 0, operator_count = 0;
    struct gt_enclose_span *kernels = gt_mem_array(comms->count, sizeof *kernels);
    struct gt_enclose_span *operators = gt_mem_array(comms->count, sizeof *operators);
    for (uint32_t i = 0; kernels && operators && i < comms->count; i++) {
        uint32_t call = lacks_external(it, i) ? it->labels->op_call[comms->op[i]] : GT_NO_ROW;
        uint32_t cpu_op = has_operator(comms, i) ? comms->cpu_op[i] : GT_NO_ROW;
        if (call != GT_NO_ROW && store->calls.thread[call] != GT_NO_TRACK)
            kernels[kernel_count++] = (struct gt_enclose_span){store->calls.start_ns[call], store->calls.end_ns[call],
                                                               store->calls.thread[call], i};
        if (cpu_op != GT_NO_ROW && store->cpu_ops.thread[cpu_op] != GT_NO_TRACK)
            operators[operator_count++] = (struct gt_enclose_span){
                store->cpu_ops.start_ns[cpu_op], store->cpu_ops.end_ns[cpu_op], store->cpu_ops.thread[cpu_op], i};
    }
    bool ok =
        kernels && operators && gt_enclose(operators, operator_count, kernels, kernel_count, kernel_of_operator, it);
    gt_mem_free(kernels);
    gt_mem_free(operators);
    return ok;
}

/* What is the same in the records of one collective; false: the record does not say enough. */
static bool key_of(const struct search *it, uint32_t record, uint32_t process, uint64_t key[2]) {
    const struct gt_comms *comms = &it->store->comms;
    uint32_t group = comms->group[record];
    gt_strid group_name = group == GT_NO_TRACK ? GT_STRID_EMPTY : it->store->comm_groups.name[group];
    int64_t sequence = comms->sequence[record];
    if (group_name == GT_STRID_EMPTY || sequence < 0 || sequence > INT32_MAX)
        return false;
    key[0] = gt_map_key(process, group_name);
    key[1] = gt_map_key(comms->name[record], (uint32_t)sequence);
    return true;
}

/* Where no launch call says it: the same collective of the same group. */
static bool find_by_sequence(struct search *it, uint32_t only_process) {
    const struct gt_store *store = it->store;
    const struct gt_comms *comms = &store->comms;
    struct gt_map operators = {0};
    uint64_t key[2];
    for (uint32_t i = 0; i < comms->count; i++)
        if (has_operator(comms, i) && key_of(it, i, process_of(store, comms->cpu_op[i]), key))
            gt_map_put_if_new(&operators, key[0], key[1], i);
    for (uint32_t i = 0; i < comms->count; i++) {
        if (!lacks_external(it, i))
            continue;
        uint32_t process = gt_labels_op_process(it->labels, store, comms->op[i]);
        bool has_key = key_of(it, i, process == GT_NO_TRACK ? only_process : process, key);
        uint32_t found = has_key ? gt_map_get(&operators, key[0], key[1]) : GT_MAP_NONE;
        if (found != GT_MAP_NONE)
            it->externals[i] = comms->external[found];
    }
    bool ok = !operators.failed;
    gt_map_release(&operators);
    return ok;
}

uint64_t *gt_comm_externals_new(const struct gt_store *store, const struct gt_labels *labels, uint32_t only_process) {
    const struct gt_comms *comms = &store->comms;
    struct search it = {store, labels, gt_mem_uninitialised(comms->count, sizeof *it.externals)};
    bool lacks_any = false, has_any = false;
    if (!it.externals)
        return NULL;
    memcpy(it.externals, comms->external, comms->count * sizeof *it.externals);
    for (uint32_t i = 0; i < comms->count; i++) {
        lacks_any |= lacks_external(&it, i);
        has_any |= has_operator(comms, i);
    }
    if (!lacks_any || !has_any || (find_by_launch(&it) && find_by_sequence(&it, only_process)))
        return it.externals;
    gt_mem_free(it.externals);
    return NULL;
}
