/* Counts the matrix products after the warm-up, by the category of kernels. */
#include "measure/findings/small_products.h"

#include <string.h>

#include "measure/findings/waits.h"

/* By category, of which there are few: whether its kernels are matrix products. */
struct product_marks {
    bool of_category[UINT8_MAX + 1];
};

static void mark_products(const struct gt_labels *labels, struct product_marks *marks) {
    for (size_t i = 0; i < labels->category_count && i <= UINT8_MAX; i++)
        marks->of_category[i] = strcmp(labels->categories[i].key, "gemm") == 0;
}

struct gt_small_products gt_small_products_of(struct gt_evidence *evidence) {
    const struct gt_view *view = evidence->view;
    struct gt_small_products products = {0};
    size_t launches = gt_waits_launch_count(evidence);
    __int128 total_ns = 0;
    if (launches == 0)
        return products;
    struct product_marks marks = {0};
    mark_products(view->labels, &marks);
    products.launch_ns = (double)evidence->ledger.span_ns / (double)launches;
    for (size_t i = 0; i < view->op_count; i++) {
        if (!marks.of_category[view->category[i]] || gt_view_op_kind(view, i) != GT_OP_KERNEL ||
            view->start_ns[i] < evidence->ledger.steady_ns)
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
