/* The formulas of the families, as work_models.def names them. */
#ifndef GT_MEASURE_EFFICIENCY_WORK_FORMULAS_H
#define GT_MEASURE_EFFICIENCY_WORK_FORMULAS_H

#include "measure/efficiency/work_model.h"

/* work_products.c, work_convolutions.c */
gt_work_model_formula gt_work_formulas_product, gt_work_formulas_batched_product, gt_work_formulas_matmul,
    gt_work_formulas_linear, gt_work_formulas_grouped_product, gt_work_formulas_template_product;
gt_work_model_formula gt_work_formulas_convolution, gt_work_formulas_convolution_backward;
/* work_attention.c */
gt_work_model_formula gt_work_formulas_attention;
/* work_vectors.c */
gt_work_model_formula gt_work_formulas_all_tensors, gt_work_formulas_first_three, gt_work_formulas_first_tensor,
    gt_work_formulas_softmax, gt_work_formulas_softmax_backward, gt_work_formulas_reduction, gt_work_formulas_extreme,
    gt_work_formulas_nll_loss;
/* work_elementwise.c */
gt_work_model_formula gt_work_formulas_elementwise, gt_work_formulas_division, gt_work_formulas_fused;
/* work_moves.c */
gt_work_model_formula gt_work_formulas_copy, gt_work_formulas_concatenation, gt_work_formulas_fill,
    gt_work_formulas_index_select, gt_work_formulas_embedding, gt_work_formulas_gather,
    gt_work_formulas_embedding_backward, gt_work_formulas_index_add;

/* ---- what they share ---- */

/* An argument of the model; one without anything if the model has none. */
static inline const struct gt_work_arg *gt_work_formulas_arg(const struct gt_work_args *args, int8_t counted) {
    return gt_work_args_at(args, counted - 1);
}

static inline void gt_work_formulas_add_bytes(struct gt_work *work, const struct gt_work_arg *arg) {
    work->bytes = gt_work_math_add(work->bytes, gt_work_args_bytes(arg));
}

/* The result of so many elements. */
static inline void gt_work_formulas_add_result(struct gt_work *work, gt_big elements, uint8_t dtype) {
    work->bytes = gt_work_math_add(work->bytes, gt_work_args_size(elements, dtype));
}

#endif
