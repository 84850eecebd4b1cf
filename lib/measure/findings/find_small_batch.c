/* Small batch: a host-bound program whose matrix products are shorter than the time that the CPU takes to launch one
   kernel. More work per launch costs no time then. */
#include <string.h>

#include "measure/findings/waits.h"

/* Idle time that the CPU made by launching late, as part of the steady spans; whoever claimed it. */
static double late_share(struct gt_evidence *evidence) {
    const struct gt_host_gaps *gaps = gt_evidence_host_gaps(evidence);
    __int128 late_ns = 0;
    for (size_t i = 0; i < evidence->ledger.idle->count && gaps->of; i++)
        if (gaps->of[i] == GT_HOST_GAP_LATE)
            late_ns += gt_idle_gap_ns(&evidence->ledger.idle->gaps[i]);
    return gt_ledger_share(&evidence->ledger, (double)late_ns);
}

/* By category, of which there are few: whether its kernels are matrix products. */
struct product_marks {
    bool of_category[UINT8_MAX + 1];
};

static void mark_products(const struct gt_labels *labels, struct product_marks *marks) {
    for (size_t i = 0; i < labels->category_count && i <= UINT8_MAX; i++)
        marks->of_category[i] = strcmp(labels->categories[i].key, "gemm") == 0;
}

struct products {
    size_t count, small;
    __int128 ns;
};

static struct products count_products(struct gt_evidence *evidence, double launch_ns) {
    const struct gt_view *view = evidence->view;
    struct products products = {0};
    struct product_marks marks = {0};
    mark_products(view->labels, &marks);
    for (size_t i = 0; i < view->op_count; i++) {
        if (!marks.of_category[view->category[i]] || gt_view_op_kind(view, i) != GT_OP_KERNEL ||
            view->start_ns[i] < evidence->ledger.steady_ns)
            continue;
        int64_t ns = gt_view_op_ns(view, i);
        products.count++;
        products.small += (double)ns < launch_ns;
        products.ns += ns;
    }
    return products;
}

bool gt_find_small_batch(struct gt_evidence *evidence, struct gt_finding *finding) {
    if (late_share(evidence) < gt_thresholds.small_batch_late_share)
        return false;
    size_t launches = gt_waits_launch_count(evidence);
    if (launches == 0)
        return false;
    double launch_ns = (double)evidence->ledger.span_ns / (double)launches;
    struct products products = count_products(evidence, launch_ns);
    if ((double)products.count < gt_thresholds.small_batch_count ||
        (double)products.ns >= launch_ns * (double)products.count ||
        (double)products.small < gt_thresholds.small_batch_share * (double)products.count)
        return false;
    gt_finding_set_title(evidence, finding, "Small batch: %s of the matrix products are shorter than a launch takes",
                         gt_say_share(evidence, (double)products.small, (double)products.count));
    gt_finding_add_evidence(
        evidence, finding, "%s take %s on average; the CPU launches one kernel every %s, so larger ones would be free.",
        gt_say_counted(evidence, products.count, "matrix product"),
        gt_say_ns(evidence, (double)products.ns / (double)products.count), gt_say_ns(evidence, launch_ns));
    finding->overlaps_id = "host_bound"; /* whose gaps these are */
    return true;
}
