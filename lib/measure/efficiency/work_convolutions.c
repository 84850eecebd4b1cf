/* Work of convolutions: two FLOPs for each result and each weight of its channel's filter. */
#include "measure/efficiency/work_formulas.h"

enum { SPACE_MOST = 3 };

/* Numbers of one argument for each dimension in space; one number holds for all. */
static bool list_of(const struct gt_work_args *args, int8_t counted, size_t space, int64_t value, int64_t *list) {
    const struct gt_work_arg *arg = gt_work_formulas_arg(args, counted);
    size_t count = 0;
    for (size_t i = 0; i < space; i++)
        list[i] = value;
    if (!counted)
        return true;
    if (!gt_work_args_ints(arg, list, SPACE_MOST, &count) || (count != space && count != 1))
        return false;
    for (size_t i = count; i < space; i++)
        list[i] = list[0];
    for (size_t i = 0; i < space; i++)
        if (list[i] < 0)
            return false;
    return true;
}

struct geometry {
    int64_t stride[SPACE_MOST], padding[SPACE_MOST], dilation[SPACE_MOST], out_padding[SPACE_MOST];
};

static bool geometry_of(const struct gt_work_model *model, const struct gt_work_args *args, size_t space,
                        struct geometry *out) {
    return list_of(args, model->stride, space, 1, out->stride) &&
           list_of(args, model->padding, space, 0, out->padding) &&
           list_of(args, model->dilation, space, 1, out->dilation) &&
           list_of(args, model->out_padding, space, 0, out->out_padding);
}

/* Length of the result in one dimension; negative: there is none. */
static gt_big result_length(const struct geometry *at, size_t i, int64_t input, int64_t filter, bool is_transposed) {
    gt_big reach = (gt_big)at->dilation[i] * ((gt_big)filter - 1), padding = (gt_big)at->padding[i] * 2;
    if (is_transposed)
        return ((gt_big)input - 1) * at->stride[i] - padding + reach + at->out_padding[i] + 1;
    gt_big room = (gt_big)input + padding - reach - 1;
    return at->stride[i] > 0 && room >= 0 ? room / at->stride[i] + 1 : -1;
}

static bool are_convolved(const struct gt_work_arg *input, const struct gt_work_arg *weight) {
    return gt_work_args_is_tensor(input) && gt_work_args_is_tensor(weight) && weight->rank == input->rank &&
           input->rank >= 3 && input->rank <= 2 + SPACE_MOST;
}

/* The filters of a transposed convolution have the channels of its input first, and groups divide those of its result.
   Negative: not known. */
static gt_big result_channels(const struct gt_work_model *model, const struct gt_work_args *args,
                              const struct gt_work_arg *weight, bool is_transposed) {
    int64_t groups;
    if (!is_transposed)
        return weight->dims[0];
    bool is_known = gt_work_args_int(gt_work_formulas_arg(args, model->groups), &groups) && groups > 0;
    return is_known ? gt_work_math_mul(weight->dims[1], groups) : -1;
}

bool gt_work_formulas_convolution(const struct gt_work_model *model, const struct gt_work_args *args,
                                  struct gt_work *work) {
    const struct gt_work_arg *input = gt_work_formulas_arg(args, model->left);
    const struct gt_work_arg *weight = gt_work_formulas_arg(args, model->right);
    const struct gt_work_arg *bias = gt_work_formulas_arg(args, model->bias);
    bool is_transposed = model->is_transposed || gt_work_args_is_true(gt_work_formulas_arg(args, model->transposed));
    struct geometry geometry;
    if (!are_convolved(input, weight) || !geometry_of(model, args, input->rank - 2, &geometry))
        return false;
    gt_big channels = result_channels(model, args, weight, is_transposed);
    if (channels < 0)
        return false;
    gt_big results = gt_work_math_mul(input->dims[0], channels);
    for (size_t i = 0; i + 2 < input->rank; i++) {
        gt_big length = result_length(&geometry, i, input->dims[i + 2], weight->dims[i + 2], is_transposed);
        if (length < 0)
            return false;
        results = gt_work_math_mul(results, length);
    }
    gt_big filter = gt_work_args_product(weight->dims + 1, weight->rank - 1);
    gt_big applied = is_transposed ? gt_work_args_elements(input) : results;
    work->dtype = input->dtype;
    work->flops = gt_work_math_mul(2, gt_work_math_mul(applied, filter));
    work->flops = gt_work_math_add(work->flops, gt_work_args_is_tensor(bias) ? results : 0);
    gt_work_formulas_add_bytes(work, input);
    gt_work_formulas_add_bytes(work, weight);
    gt_work_formulas_add_bytes(work, bias);
    gt_work_formulas_add_result(work, results, input->dtype);
    return true;
}

/* "[True, False, True]": which of the gradients of input, weight and bias are made. */
static bool mask_of(struct gt_str text, bool mask[3]) {
    size_t count = 0;
    for (const char *p = text.ptr; p < text.ptr + text.len; p++) {
        struct gt_str rest = {p, (size_t)(text.ptr + text.len - p)};
        bool is_true = gt_str_starts(rest, GT_STR("True"));
        if (!is_true && !gt_str_starts(rest, GT_STR("False")))
            continue;
        if (count == 3)
            return false;
        mask[count++] = is_true;
    }
    return count == 3;
}

/* Each gradient is a convolution of the gradient of the result with the input or with the weights. */
bool gt_work_formulas_convolution_backward(const struct gt_work_model *model, const struct gt_work_args *args,
                                           struct gt_work *work) {
    const struct gt_work_arg *gradient = gt_work_args_at(args, 0), *input = gt_work_args_at(args, 1),
                             *weight = gt_work_args_at(args, 2);
    bool mask[3];
    if (!gt_work_args_is_tensor(gradient) || !are_convolved(input, weight) ||
        !mask_of(gt_work_formulas_arg(args, model->mask)->value, mask))
        return false;
    bool is_transposed = gt_work_args_is_true(gt_work_formulas_arg(args, model->transposed));
    gt_big applied = gt_work_args_elements(is_transposed ? input : gradient);
    gt_big one =
        gt_work_math_mul(2, gt_work_math_mul(applied, gt_work_args_product(weight->dims + 1, weight->rank - 1)));
    work->dtype = gradient->dtype;
    work->flops = gt_work_math_mul(one, mask[0] + mask[1]);
    work->flops = gt_work_math_add(work->flops, mask[2] ? gt_work_args_elements(gradient) : 0);
    gt_work_formulas_add_bytes(work, gradient);
    for (int i = 0; i < 2; i++)
        if (mask[i]) {
            gt_work_formulas_add_bytes(work, input);
            gt_work_formulas_add_bytes(work, weight);
        }
    return true;
}
