/* Work of norms, softmax, reductions and losses: what they read and write; FLOPs only where they are simple sums. */
#include "measure/efficiency/work_formulas.h"

static void add_times(struct gt_work *work, const struct gt_work_arg *arg, int times) {
    work->bytes = gt_work_math_add(work->bytes, gt_work_math_mul(times, gt_work_args_bytes(arg)));
}

/* The first tensors as often as the model says, so many arguments in all. */
static bool add_tensors(const struct gt_work_model *model, const struct gt_work_args *args, size_t count,
                        struct gt_work *work) {
    if (!gt_work_args_is_tensor(gt_work_args_at(args, 0)))
        return false;
    for (size_t i = 0; i < args->count && i < count; i++)
        add_times(work, &args->args[i], i == 0 ? model->times0 : i == 1 ? model->times1 : 1);
    return true;
}

bool gt_work_formulas_all_tensors(const struct gt_work_model *model, const struct gt_work_args *args,
                                  struct gt_work *work) {
    return add_tensors(model, args, args->count, work);
}

bool gt_work_formulas_first_three(const struct gt_work_model *model, const struct gt_work_args *args,
                                  struct gt_work *work) {
    return gt_work_args_is_tensor(gt_work_args_at(args, 2)) && add_tensors(model, args, 3, work);
}

bool gt_work_formulas_first_tensor(const struct gt_work_model *model, const struct gt_work_args *args,
                                   struct gt_work *work) {
    (void)model;
    gt_work_formulas_add_bytes(work, gt_work_args_at(args, 0));
    return gt_work_args_is_tensor(gt_work_args_at(args, 0));
}

bool gt_work_formulas_softmax(const struct gt_work_model *model, const struct gt_work_args *args,
                              struct gt_work *work) {
    const struct gt_work_arg *input = gt_work_args_at(args, 0);
    bool is_float = gt_work_args_is_true(gt_work_args_at(args, 2));
    (void)model;
    if (!gt_work_args_is_tensor(input))
        return false;
    gt_work_formulas_add_bytes(work, input);
    gt_work_formulas_add_result(work, gt_work_args_elements(input), is_float ? GT_DTYPE_FLOAT : input->dtype);
    return true;
}

bool gt_work_formulas_softmax_backward(const struct gt_work_model *model, const struct gt_work_args *args,
                                       struct gt_work *work) {
    const struct gt_work_arg *gradient = gt_work_args_at(args, 0), *output = gt_work_args_at(args, 1);
    int64_t code;
    (void)model;
    if (!gt_work_args_is_tensor(gradient) || !gt_work_args_is_tensor(output))
        return false;
    uint8_t dtype =
        gt_work_args_int(gt_work_args_at(args, 3), &code) ? gt_work_args_dtype_of_code(code) : gradient->dtype;
    gt_work_formulas_add_bytes(work, gradient);
    gt_work_formulas_add_bytes(work, output);
    gt_work_formulas_add_result(work, gt_work_args_elements(gradient), dtype);
    return true;
}

/* ---- reductions ---- */

enum { REDUCED_MOST = 16 };

/* Elements that are left when the dims of an argument are summed up; without dims one. Negative: it says something
   else. */
static gt_big reduced_elements(const struct gt_work_arg *input, const struct gt_work_arg *dims) {
    int64_t list[REDUCED_MOST];
    size_t count = 0;
    bool has_none = dims->value.len == 0 || gt_work_args_is_true(dims) || gt_str_eq(dims->value, GT_STR("False"));
    if (!has_none && !gt_work_args_ints(dims, list, REDUCED_MOST, &count))
        return -1;
    if (count == 0 || input->rank == 0)
        return 1;
    gt_big elements = 1;
    for (size_t i = 0; i < count; i++) {
        list[i] += list[i] < 0 ? input->rank : 0;
        if (list[i] < 0 || list[i] >= input->rank)
            return -1;
    }
    for (uint32_t d = 0; d < input->rank; d++) {
        bool is_kept = true;
        for (size_t i = 0; i < count; i++)
            is_kept &= list[i] != d;
        elements = is_kept ? gt_work_math_mul(elements, input->dims[d]) : elements;
    }
    return elements;
}

bool gt_work_formulas_reduction(const struct gt_work_model *model, const struct gt_work_args *args,
                                struct gt_work *work) {
    const struct gt_work_arg *input = gt_work_args_at(args, 0);
    /* of two arguments the second is the type of the sum: all overloads with one dimension have more */
    const struct gt_work_arg *dims = gt_work_formulas_arg(args, model->dims);
    bool has_dims = args->count > 2 || gt_str_starts(dims->value, GT_STR("["));
    gt_big results = has_dims ? reduced_elements(input, dims) : 1;
    if (!gt_work_args_is_tensor(input) || results < 0)
        return false;
    uint8_t dtype = model->is_bool ? GT_DTYPE_BOOL : model->out_dtype ? (uint8_t)model->out_dtype : input->dtype;
    if (model->is_one_flop)
        work->flops = gt_work_args_elements(input);
    gt_work_formulas_add_bytes(work, input);
    gt_work_formulas_add_result(work, results, dtype);
    if (results > 1)
        work->bytes = gt_work_math_add(work->bytes, gt_work_math_mul(results, model->extra_bytes));
    return true;
}

/* aten::max: of two tensors, of all elements, or along a dimension with the places of the largest ones. */
bool gt_work_formulas_extreme(const struct gt_work_model *model, const struct gt_work_args *args,
                              struct gt_work *work) {
    bool has_two = gt_work_args_is_tensor(gt_work_args_at(args, 1));
    work->family = (uint8_t)(has_two ? GT_FAMILY_ELEMENTWISE : model->family);
    if (has_two)
        return gt_work_formulas_elementwise(model, args, work);
    return gt_work_formulas_reduction(model, args, work);
}

/* The score of each target. */
bool gt_work_formulas_nll_loss(const struct gt_work_model *model, const struct gt_work_args *args,
                               struct gt_work *work) {
    const struct gt_work_arg *scores = gt_work_formulas_arg(args, model->left);
    const struct gt_work_arg *targets = gt_work_formulas_arg(args, model->right);
    int64_t score = gt_work_args_dtype_bytes(scores->dtype), target = gt_work_args_dtype_bytes(targets->dtype);
    if (!score || !target)
        return false;
    work->bytes = gt_work_math_mul(gt_work_args_elements(targets), score + target);
    return true;
}
