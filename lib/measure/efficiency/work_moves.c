/* Work of copies, fills and indexing: bytes, and no FLOPs. */
#include "measure/efficiency/work_formulas.h"

bool gt_work_formulas_copy(const struct gt_work_model *model, const struct gt_work_args *args, struct gt_work *work) {
    (void)model;
    work->flops = 0;
    gt_work_formulas_add_bytes(work, gt_work_args_at(args, 0));
    gt_work_formulas_add_bytes(work, gt_work_args_at(args, 1));
    return gt_work_args_is_tensor(gt_work_args_at(args, 0)) && gt_work_args_is_tensor(gt_work_args_at(args, 1));
}

bool gt_work_formulas_fill(const struct gt_work_model *model, const struct gt_work_args *args, struct gt_work *work) {
    (void)model;
    work->flops = 0;
    gt_work_formulas_add_bytes(work, gt_work_args_at(args, 0));
    return gt_work_args_is_tensor(gt_work_args_at(args, 0));
}

/* Lists of tensors carry sizes, but no types. */
bool gt_work_formulas_concatenation(const struct gt_work_model *model, const struct gt_work_args *args,
                                    struct gt_work *work) {
    const struct gt_work_arg *list = gt_work_args_at(args, 0);
    gt_big elements = 0;
    (void)model;
    for (uint32_t i = 0; i < list->item_count; i++) {
        const struct gt_work_item *item = &args->items[list->first_item + i];
        elements = gt_work_math_add(elements, gt_work_args_product(item->dims, item->rank));
    }
    work->flops = 0;
    work->bytes = gt_work_math_mul(2, elements);
    work->is_per_byte = true;
    return list->is_list && list->item_count > 0;
}

/* So many elements are read, each of the source at most once, and written; and the index is read. */
static bool count_gather(struct gt_work *work, const struct gt_work_arg *source, const struct gt_work_arg *index,
                         gt_big results) {
    gt_big elements = gt_work_args_elements(source);
    if (!gt_work_args_is_tensor(source) || !gt_work_args_is_tensor(index))
        return false;
    work->flops = 0;
    gt_work_formulas_add_result(work, results < elements ? results : elements, source->dtype);
    gt_work_formulas_add_result(work, results, source->dtype);
    gt_work_formulas_add_bytes(work, index);
    return true;
}

bool gt_work_formulas_index_select(const struct gt_work_model *model, const struct gt_work_args *args,
                                   struct gt_work *work) {
    const struct gt_work_arg *source = gt_work_args_at(args, 0), *index = gt_work_args_at(args, 2);
    gt_big results = gt_work_args_elements(index);
    int64_t along;
    (void)model;
    if (!gt_work_args_int(gt_work_args_at(args, 1), &along))
        return false;
    along += along < 0 ? source->rank : 0;
    if (along < 0 || along >= source->rank)
        return false;
    for (uint32_t i = 0; i < source->rank; i++)
        results = i == along ? results : gt_work_math_mul(results, source->dims[i]);
    return count_gather(work, source, index, results);
}

bool gt_work_formulas_embedding(const struct gt_work_model *model, const struct gt_work_args *args,
                                struct gt_work *work) {
    const struct gt_work_arg *source = gt_work_args_at(args, 0), *index = gt_work_args_at(args, 1);
    (void)model;
    if (source->rank < 1)
        return false;
    gt_big width = gt_work_args_product(source->dims + 1, source->rank - 1);
    return count_gather(work, source, index, gt_work_math_mul(gt_work_args_elements(index), width));
}

bool gt_work_formulas_gather(const struct gt_work_model *model, const struct gt_work_args *args, struct gt_work *work) {
    const struct gt_work_arg *index = gt_work_args_at(args, 2);
    (void)model;
    return count_gather(work, gt_work_args_at(args, 0), index, gt_work_args_elements(index));
}

/* The gradient and the index are read, and a row is written for each word. */
bool gt_work_formulas_embedding_backward(const struct gt_work_model *model, const struct gt_work_args *args,
                                         struct gt_work *work) {
    const struct gt_work_arg *gradient = gt_work_args_at(args, 0), *index = gt_work_args_at(args, 1);
    int64_t words;
    (void)model;
    if (!gt_work_args_is_tensor(gradient) || !gt_work_args_is_tensor(index) || gradient->rank < 1 ||
        !gt_work_args_int(gt_work_args_at(args, 2), &words) || words < 0)
        return false;
    gt_work_formulas_add_bytes(work, gradient);
    gt_work_formulas_add_bytes(work, index);
    gt_work_formulas_add_result(work, gt_work_math_mul(words, gradient->dims[gradient->rank - 1]), gradient->dtype);
    return true;
}

/* The source is read, and as much of the target read and written. */
bool gt_work_formulas_index_add(const struct gt_work_model *model, const struct gt_work_args *args,
                                struct gt_work *work) {
    const struct gt_work_arg *index = gt_work_args_at(args, 2), *source = gt_work_args_at(args, 3);
    (void)model;
    for (int i = 0; i < 3; i++)
        gt_work_formulas_add_bytes(work, source);
    gt_work_formulas_add_bytes(work, index);
    return gt_work_args_is_tensor(source) && gt_work_args_is_tensor(index);
}
