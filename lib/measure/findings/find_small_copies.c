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

static void sum_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct summing *it = context;
    const struct gt_view *view = it->view;
    const struct gt_copies *copies = &view->store->copies;
    struct sum sum = {0};
    uint32_t next = 0;
    for (size_t i = gt_view_next_of_kind(view, GT_OP_MEMCPY, begin, end); i < end;
         i = gt_view_next_of_kind(view, GT_OP_MEMCPY, i + 1, end)) {
        uint32_t row = gt_copy_next_of_op(view->store, view->row[i], &next);
        if (row == GT_NO_ROW || (double)copies->bytes[row] > gt_thresholds.small_copy_bytes ||
            is_inside(copies->src[row], copies->dst[row]))
            continue;
        sum.count++;
        sum.bytes += copies->bytes[row];
        sum.total_ns = gt_ns_add(sum.total_ns, gt_view_op_ns(view, i));
    }
    it->sums[slice] = sum;
}

static struct sum sum_copies(struct gt_evidence *evidence) {
    const struct gt_view *view = evidence->view;
    size_t slices = gt_threads_slices(gt_threads_count(view->request->threads), view->op_count, 0);
    struct sum all = {0}, *sums = gt_mem_array(slices, sizeof *sums);
    if (!sums)
        gt_evidence_fail(evidence);
    else if (view->store->copies.count)
        gt_threads_rows(slices, view->op_count, sum_slice, &(struct summing){view, sums});
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
