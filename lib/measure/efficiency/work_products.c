/* Work of matrix products: two FLOPs for each multiply-add, one more for each result with a bias. */
#include "measure/efficiency/work_formulas.h"

/* batch products of rows x inner by inner x columns */
struct product {
    gt_big batch, rows, inner, columns;
};

static gt_big results_of(const struct product *product) {
    return gt_work_math_mul(product->batch, gt_work_math_mul(product->rows, product->columns));
}

static gt_big flops_of(const struct product *product) {
    return gt_work_math_mul(2, gt_work_math_mul(results_of(product), product->inner));
}

static bool are_tensors(const struct gt_work_arg *left, const struct gt_work_arg *right) {
    return gt_work_args_is_tensor(left) && gt_work_args_is_tensor(right);
}

/* The type of results: as an argument says by number or as a tensor, the model's own, else that of the factors.
   GT_DTYPE_OTHER: it cannot be known. */
static uint8_t result_dtype(const struct gt_work_model *model, const struct gt_work_args *args,
                            const struct gt_work_arg *left) {
    const struct gt_work_arg *code = gt_work_formulas_arg(args, model->out_code);
    const struct gt_work_arg *out = gt_work_formulas_arg(args, model->out_tensor);
    int64_t number;
    if (gt_work_args_int(code, &number))
        return gt_work_args_dtype_of_code(number);
    if (model->out_dtype)
        return (uint8_t)model->out_dtype;
    return gt_work_args_is_tensor(out) ? out->dtype : left->dtype;
}

/* FLOPs, and bytes of both factors, of the bias and of the result. */
static bool add_product(const struct gt_work_model *model, const struct gt_work_args *args,
                        const struct product *product, struct gt_work *work) {
    const struct gt_work_arg *left = gt_work_formulas_arg(args, model->left);
    const struct gt_work_arg *bias = gt_work_formulas_arg(args, model->bias);
    gt_big results = results_of(product);
    work->dtype = left->dtype;
    work->flops = gt_work_math_add(flops_of(product), gt_work_args_is_tensor(bias) ? results : 0);
    gt_work_formulas_add_bytes(work, left);
    gt_work_formulas_add_bytes(work, gt_work_formulas_arg(args, model->right));
    gt_work_formulas_add_bytes(work, bias);
    gt_work_formulas_add_result(work, results, result_dtype(model, args, left));
    return true;
}

bool gt_work_formulas_product(const struct gt_work_model *model, const struct gt_work_args *args,
                              struct gt_work *work) {
    const struct gt_work_arg *left = gt_work_formulas_arg(args, model->left);
    const struct gt_work_arg *right = gt_work_formulas_arg(args, model->right);
    if (!are_tensors(left, right) || left->rank != 2 || right->rank != 2 || left->dims[1] != right->dims[0])
        return false;
    if (model->scale) { /* one for each factor */
        gt_work_formulas_add_bytes(work, gt_work_formulas_arg(args, model->scale));
        gt_work_formulas_add_bytes(work, gt_work_formulas_arg(args, (int8_t)(model->scale + 1)));
    }
    return add_product(model, args, &(struct product){1, left->dims[0], left->dims[1], right->dims[1]}, work);
}

bool gt_work_formulas_batched_product(const struct gt_work_model *model, const struct gt_work_args *args,
                                      struct gt_work *work) {
    const struct gt_work_arg *left = gt_work_formulas_arg(args, model->left);
    const struct gt_work_arg *right = gt_work_formulas_arg(args, model->right);
    if (!are_tensors(left, right) || left->rank != 3 || right->rank != 3 || left->dims[0] != right->dims[0] ||
        left->dims[2] != right->dims[1])
        return false;
    const struct product product = {left->dims[0], left->dims[1], left->dims[2], right->dims[2]};
    return add_product(model, args, &product, work);
}

bool gt_work_formulas_linear(const struct gt_work_model *model, const struct gt_work_args *args, struct gt_work *work) {
    const struct gt_work_arg *input = gt_work_formulas_arg(args, model->left);
    const struct gt_work_arg *weight = gt_work_formulas_arg(args, model->right);
    if (!are_tensors(input, weight) || input->rank < 1 || weight->rank < 1 || weight->rank > 2)
        return false;
    int64_t inner = weight->dims[weight->rank - 1];
    if (input->dims[input->rank - 1] != inner)
        return false;
    const struct product product = {1, gt_work_args_product(input->dims, input->rank - 1), inner,
                                    weight->rank == 2 ? weight->dims[0] : 1};
    return add_product(model, args, &product, work);
}

/* The product of the leading dimensions of both, each stretched where it is 1. */
static bool broadcast_batch(const int64_t *a, size_t a_rank, const int64_t *b, size_t b_rank, gt_big *batch) {
    size_t rank = a_rank > b_rank ? a_rank : b_rank;
    *batch = 1;
    for (size_t i = 0; i < rank; i++) {
        int64_t x = i < a_rank ? a[a_rank - 1 - i] : 1, y = i < b_rank ? b[b_rank - 1 - i] : 1;
        if (x != y && x != 1 && y != 1)
            return false;
        *batch = gt_work_math_mul(*batch, x == 1 ? y : x);
    }
    return true;
}

/* Vectors are a matrix of one row on the left, of one column on the right. */
bool gt_work_formulas_matmul(const struct gt_work_model *model, const struct gt_work_args *args, struct gt_work *work) {
    const struct gt_work_arg *left = gt_work_formulas_arg(args, model->left);
    const struct gt_work_arg *right = gt_work_formulas_arg(args, model->right);
    if (!are_tensors(left, right) || left->rank < 1 || right->rank < 1)
        return false;
    size_t left_matrix = left->rank < 2 ? left->rank : 2, right_matrix = right->rank < 2 ? right->rank : 2;
    struct product product = {.rows = left->rank > 1 ? left->dims[left->rank - 2] : 1,
                              .inner = left->dims[left->rank - 1],
                              .columns = right->rank > 1 ? right->dims[right->rank - 1] : 1};
    if (product.inner != right->dims[right->rank - right_matrix] ||
        !broadcast_batch(left->dims, left->rank - left_matrix, right->dims, right->rank - right_matrix, &product.batch))
        return false;
    return add_product(model, args, &product, work);
}

/* Experts share one dimension of a factor with two dimensions; where it ends for each is in the offsets. */
bool gt_work_formulas_grouped_product(const struct gt_work_model *model, const struct gt_work_args *args,
                                      struct gt_work *work) {
    const struct gt_work_arg *left = gt_work_formulas_arg(args, model->left);
    const struct gt_work_arg *right = gt_work_formulas_arg(args, model->right);
    const struct gt_work_arg *offsets = gt_work_formulas_arg(args, model->offsets);
    if (!are_tensors(left, right) || left->rank < 2 || left->rank > 3 || right->rank < 2 || right->rank > 3 ||
        left->dims[left->rank - 1] != right->dims[right->rank - 2])
        return false;
    struct product product = {1, left->dims[left->rank - 2], left->dims[left->rank - 1], right->dims[right->rank - 1]};
    gt_big results = results_of(&product);
    if (left->rank == 3 && right->rank == 3) {
        product.batch = left->dims[0];
        results = results_of(&product);
    } else if (left->rank == 2 && right->rank == 2) {
        if (!gt_work_args_is_tensor(offsets))
            return false;
        results = gt_work_math_mul(results, gt_work_args_elements(offsets));
    }
    work->dtype = left->dtype;
    work->flops = flops_of(&product);
    gt_work_formulas_add_bytes(work, left);
    gt_work_formulas_add_bytes(work, right);
    gt_work_formulas_add_result(work, results, result_dtype(model, args, left));
    return true;
}

static bool is_matrix(const struct gt_work_arg *arg) {
    return gt_work_args_is_tensor(arg) && (arg->rank == 2 || arg->rank == 3);
}

static bool are_factors(const struct gt_work_arg *left, const struct gt_work_arg *right) {
    return left->rank == right->rank && left->dims[left->rank - 1] == right->dims[right->rank - 2];
}

/* A template of Inductor has no schema: two factors that fit, and the last matrix of their rank is the result. */
bool gt_work_formulas_template_product(const struct gt_work_model *model, const struct gt_work_args *args,
                                       struct gt_work *work) {
    const struct gt_work_arg *left = NULL, *right = NULL, *result = NULL;
    (void)model;
    for (size_t i = 0; i < args->count; i++) {
        const struct gt_work_arg *arg = &args->args[i];
        if (!is_matrix(arg))
            continue;
        if (right)
            result = arg->rank == left->rank ? arg : result;
        else if (left && are_factors(left, arg))
            right = arg;
        else
            left = arg;
    }
    if (!result)
        return false;
    const struct product product = {left->rank == 3 ? left->dims[0] : 1, left->dims[left->rank - 2],
                                    left->dims[left->rank - 1], right->dims[right->rank - 1]};
    work->dtype = left->dtype;
    work->flops = flops_of(&product);
    gt_work_formulas_add_bytes(work, left);
    gt_work_formulas_add_bytes(work, right);
    gt_work_formulas_add_bytes(work, result);
    return true;
}
