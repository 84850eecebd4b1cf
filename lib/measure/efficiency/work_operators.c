/* Makes instances of kernels and their operators, and shares the work of each among its kernels. */
#include <stdlib.h>

#include "base/mem.h"
#include "measure/efficiency/work_making.h"

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

static uint32_t new_kind(struct gt_work_making *it, const struct gt_work_entry *entry, gt_strid name,
                         const struct manner *manner) {
    struct gt_work work = entry->work;
    bool is_matrix = gt_family_infos[work.family].is_matrix;
    if (!settle(&work, manner))
        return GT_NO_ROW;
    return gt_work_making_add_kind(
        it, &(struct gt_work_kind){
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
static uint32_t find_kind(struct gt_work_making *it, uint32_t entry_number, gt_strid name, uint64_t what,
                          const struct manner *manner) {
    uint32_t kind = gt_map_get(&it->kind_of, entry_number, what);
    if (kind != GT_MAP_NONE)
        return kind == GT_NO_ROW - 1 ? GT_NO_ROW : kind;
    kind = new_kind(it, &it->set->entries.items[entry_number], name, manner);
    gt_map_put(&it->kind_of, entry_number, what, kind == GT_NO_ROW ? GT_NO_ROW - 1 : kind);
    it->failed |= it->kind_of.failed;
    return kind;
}

static uint32_t kind_of(struct gt_work_making *it, uint32_t entry_number, gt_strid name, const struct manner *manner) {
    uint64_t what = (uint64_t)manner->is_tf32 | (uint64_t)manner->is_recomputed << 1 |
                    (uint64_t)manner->is_by_sequence << 2 | (uint64_t)manner->element_bytes << 8 | (uint64_t)name << 32;
    struct gt_work_latest *latest = &it->latest[entry_number];
    if (latest->kind_plus_1 && latest->what == what)
        return latest->kind_plus_1 - 1;
    uint32_t kind = find_kind(it, entry_number, name, what, manner);
    *latest = (struct gt_work_latest){what, kind + 1}; /* of GT_NO_ROW nothing is remembered */
    return kind;
}

static struct manner manner_of(struct gt_work_making *it, uint32_t operator_row, const struct ordered *kernels,
                               size_t count) {
    uint8_t flags = it->links.flags[operator_row];
    struct manner manner = {.is_recomputed = flags & GT_WORK_RECOMPUTED, .is_by_sequence = flags & GT_WORK_BY_SEQUENCE};
    for (size_t i = 0; i < count; i++) {
        const struct gt_kernel_work *name = gt_work_making_name(it, kernels[i].op);
        manner.is_tf32 |= name->is_tf32;
        if (!manner.element_bytes)
            manner.element_bytes = name->element_bytes;
    }
    return manner;
}

/* How much of the work a kernel gets: by its length, or where none has any the same for each. */
struct weighing {
    bool all_help; /* there are no others */
    bool by_count;
};

static int64_t weight_of(struct gt_work_making *it, const struct weighing *how, uint32_t op) {
    if (!how->all_help && gt_work_making_name(it, op)->is_helper)
        return 0;
    return how->by_count ? 1 : gt_work_making_ns(it, op);
}

static int64_t sum_weights(struct gt_work_making *it, const struct weighing *how, const struct ordered *kernels,
                           size_t count) {
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum = gt_ns_add(sum, weight_of(it, how, kernels[i].op));
    return sum;
}

static struct weighing choose_weighing(struct gt_work_making *it, const struct ordered *kernels, size_t count) {
    struct weighing how = {.all_help = true};
    for (size_t i = 0; i < count && how.all_help; i++)
        how.all_help = gt_work_making_name(it, kernels[i].op)->is_helper;
    how.by_count = sum_weights(it, &how, kernels, count) == 0;
    return how;
}

/* Helpers get nothing; the others, or all if there are no others, share the work. */
static void share_work(struct gt_work_making *it, uint32_t number, const struct ordered *kernels, size_t count) {
    const struct gt_work_instance *instance = &it->set->instances[number];
    const struct gt_work_kind *kind = &it->set->kinds[instance->kind];
    if (count == 1) { /* as most have it: one kernel does it all */
        it->set->parts[kernels[0].op] =
            (struct gt_work_part){.instance = number,
                                  .flops = kind->flops >= 0 ? kind->flops : -1,
                                  .bytes = kind->bytes,
                                  .roofline_ns = instance->roofline_ns < 0 ? -1 : instance->roofline_ns};
        return;
    }
    const struct weighing how = choose_weighing(it, kernels, count);
    int64_t whole = sum_weights(it, &how, kernels, count), before = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t op = kernels[i].op;
        bool is_helper = !how.all_help && gt_work_making_name(it, op)->is_helper, has_flops = kind->flops >= 0;
        int64_t after = gt_ns_add(before, weight_of(it, &how, op));
        it->set->parts[op] = (struct gt_work_part){
            .instance = number,
            .is_helper = is_helper,
            .flops = has_flops   ? gt_work_math_share(kind->flops, before, after, whole)
                     : is_helper ? 0
                                 : -1,
            .bytes = gt_work_math_share(kind->bytes, before, after, whole),
            .roofline_ns =
                instance->roofline_ns < 0 ? -1 : gt_work_math_share(instance->roofline_ns, before, after, whole),
        };
        before = after;
    }
}

static void add_operator(struct gt_work_making *it, uint32_t operator_row, struct ordered *kernels, size_t count) {
    if (count > 1)
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
        total_ns = gt_ns_add(total_ns, gt_work_making_ns(it, kernels[i].op));
    uint32_t number = gt_work_making_add_instance(it, kind, kernels[0].op, (uint32_t)count, total_ns);
    if (number != GT_NO_ROW)
        share_work(it, number, kernels, count);
}

/* Kernels by operator: in the order of the file for each, the operators in theirs. */
bool gt_work_making_add_operators(struct gt_work_making *it) {
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
    it->latest = gt_mem_array(it->set->entries.count, sizeof *it->latest);
    bool ok = kernels && it->latest;
    for (size_t i = 0, first = 0; i < operators && ok && !it->failed; first = ends[i++]) {
        size_t count = ends[i] - first;
        if (!count)
            continue;
        kernels[0].op = sorted[first];
        for (size_t k = 0; k < count && count > 1; k++)
            kernels[k] = ordered_of(it->store, sorted[first + k]);
        add_operator(it, (uint32_t)i, kernels, count);
    }
    gt_mem_free(ends);
    gt_mem_free(sorted);
    gt_mem_free(kernels);
    return ok;
}
