/* Counts the matrix products after the warm-up, by the category of kernels. */
#include "measure/findings/small_products.h"

#include <string.h>

#include "measure/findings/waits.h"

static bool is_product(const struct gt_view *view, size_t position) {
    const struct gt_labels *labels = view->labels;
    return gt_view_op_kind(view, position) == GT_OP_KERNEL &&
           strcmp(labels->categories[labels->op_category[view->row[position]]].key, "gemm") == 0;
}

struct gt_small_products gt_small_products_of(struct gt_evidence *evidence) {
    const struct gt_view *view = evidence->view;
    struct gt_small_products products = {0};
    size_t launches = gt_waits_launch_count(evidence);
    __int128 total_ns = 0;
    if (launches == 0)
        return products;
    products.launch_ns = (double)evidence->ledger.span_ns / (double)launches;
    for (size_t i = 0; i < view->op_count; i++) {
        if (view->start_ns[i] < evidence->ledger.steady_ns || !is_product(view, i))
            continue;
        int64_t ns = gt_view_op_ns(view, i);
        products.count++;
        products.small += (double)ns < products.launch_ns;
        total_ns += ns;
    }
    products.mean_ns = products.count ? (double)total_ns / (double)products.count : 0;
    products.are_usual = (double)products.count >= gt_thresholds.small_batch_count &&
                         products.mean_ns < products.launch_ns &&
                         (double)products.small >= gt_thresholds.small_batch_share * (double)products.count;
    return products;
}
