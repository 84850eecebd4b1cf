/* The rule small_copies: many small copies between host and GPU, each of which costs a launch. What they save is that
   of the rules on idle time: on the GPU they take next to nothing. */
#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "measure/findings/findings.h"
#include "measure/results/copies.h"

struct sum {
    size_t count;
    uint64_t bytes;
    int64_t total_ns;
};

/* Inside a device they are as cheap as small kernels. */
static bool is_inside(uint8_t src, uint8_t dst) {
    return src != GT_MEMORY_UNKNOWN && !gt_copy_memory_is_host(src) && !gt_copy_memory_is_host(dst);
}

struct summing {
    const struct gt_view *view;
    struct sum *sums; /* by slice */
};

static bool is_small(const struct gt_copies *copies, uint32_t row) {
    return (double)copies->bytes[row] <= gt_thresholds.small_copy_bytes &&
           !is_inside(copies->src[row], copies->dst[row]);
}

static void add_copy(struct sum *sum, uint64_t bytes, int64_t ns) {
    sum->count++;
    sum->bytes += bytes;
    sum->total_ns = gt_ns_add(sum->total_ns, ns);
}

/* Those of a view that leaves something out, by the ops of the view. */
static void sum_ops(void *context, size_t slice, size_t begin, size_t end) {
    const struct summing *it = context;
    const struct gt_view *view = it->view;
    const struct gt_copies *copies = &view->store->copies;
    struct sum sum = {0};
    uint32_t next = 0;
    for (size_t i = gt_view_next_of_kind(view, GT_OP_MEMCPY, begin, end); i < end;
         i = gt_view_next_of_kind(view, GT_OP_MEMCPY, i + 1, end)) {
        uint32_t row = gt_copy_next_of_op(view->store, view->row[i], &next);
        if (row != GT_NO_ROW && is_small(copies, row))
            add_copy(&sum, copies->bytes[row], gt_view_op_ns(view, i));
    }
    it->sums[slice] = sum;
}

/* Those of a whole view, in the order of the file: the first row of an op counts. */
static void sum_rows(void *context, size_t slice, size_t begin, size_t end) {
    const struct summing *it = context;
    const struct gt_ops *ops = &it->view->store->ops;
    const struct gt_copies *copies = &it->view->store->copies;
    struct sum sum = {0};
    for (size_t i = begin; i < end; i++) {
        uint32_t op = copies->op[i];
        if (is_small(copies, (uint32_t)i) && ops->kind[op] == GT_OP_MEMCPY && (i == 0 || copies->op[i - 1] != op))
            add_copy(&sum, copies->bytes[i], gt_ns_between(ops->start_ns[op], ops->end_ns[op]));
    }
    it->sums[slice] = sum;
}

static struct sum sum_copies(struct gt_evidence *evidence) {
    const struct gt_view *view = evidence->view;
    size_t rows = view->is_whole ? view->store->copies.count : view->op_count;
    size_t slices = gt_threads_slices(gt_threads_count(view->request->threads), rows, 0);
    struct sum all = {0}, *sums = gt_mem_array(slices, sizeof *sums);
    if (!sums)
        gt_evidence_fail(evidence);
    else if (view->store->copies.count)
        gt_threads_rows(slices, rows, view->is_whole ? sum_rows : sum_ops, &(struct summing){view, sums});
    for (size_t i = 0; i < slices && sums; i++) {
        all.count += sums[i].count;
        all.bytes += sums[i].bytes;
        all.total_ns = gt_ns_add(all.total_ns, sums[i].total_ns);
    }
    gt_mem_free(sums);
    return all;
}

bool gt_find_small_copies(struct gt_evidence *evidence, struct gt_finding *finding) {
    struct sum sum = sum_copies(evidence);
    if (sum.count == 0 || (double)sum.count < gt_thresholds.small_copy_count)
        return false;
    gt_finding_set_title(evidence, finding, "%s of %s or less between host and GPU",
                         gt_say_counted(evidence, sum.count, "copy"),
                         gt_say_bytes(evidence, (uint64_t)gt_thresholds.small_copy_bytes));
    gt_finding_add_evidence(evidence, finding, "They moved %s in %s, %s each on average: launch overhead dominates.",
                            gt_say_bytes(evidence, sum.bytes), gt_say_ns(evidence, (double)sum.total_ns),
                            gt_say_bytes(evidence, sum.bytes / sum.count));
    size_t steps = gt_evidence_step_count(evidence);
    if (steps)
        gt_finding_add_evidence(evidence, finding, "%.0f per step on average.", (double)sum.count / (double)steps);
    return true;
}
