/* Work of element-wise operators, and of the kernels that Inductor makes of several. */
#include "base/mem.h"
#include "measure/efficiency/work_formulas.h"

/* ---- operators ---- */

/* Ranks of kinds of types in promotion. */
static const uint8_t ranks[GT_DTYPE_COUNT] = {
#define GT_DTYPE(key, name, bytes, rank, unit) [GT_DTYPE_##key] = rank,
#include "measure/efficiency/dtypes.def"
#undef GT_DTYPE
};

/* The type of a result of two types: floating point before integers before bool, then the wider. */
static uint8_t promoted(uint8_t a, uint8_t b) {
    if (a == GT_DTYPE_OTHER || b == GT_DTYPE_OTHER)
        return GT_DTYPE_OTHER;
    if (ranks[a] != ranks[b])
        return ranks[a] > ranks[b] ? a : b;
    if ((a == GT_DTYPE_HALF && b == GT_DTYPE_BFLOAT16) || (a == GT_DTYPE_BFLOAT16 && b == GT_DTYPE_HALF))
        return GT_DTYPE_FLOAT;
    return gt_work_args_dtype_bytes(b) > gt_work_args_dtype_bytes(a) ? b : a;
}

struct operands {
    gt_big elements; /* of the result */
    uint8_t dtype;   /* of the tensors with dimensions, */
    uint8_t number;  /* and of those without, which count only if there are no others */
};

/* Length of the result in a dimension, counted from the last; negative: the shapes do not fit. */
static int64_t broadcast_length(const struct gt_work_args *args, size_t schema, size_t from_last) {
    int64_t length = 1;
    for (size_t i = 0; i < args->count && i < schema; i++) {
        const struct gt_work_arg *arg = &args->args[i];
        if (!gt_work_args_is_tensor(arg) || arg->rank <= from_last)
            continue;
        int64_t own = arg->dims[arg->rank - 1 - from_last];
        if (own != length && own != 1 && length != 1)
            return -1;
        length = own == 1 ? length : own;
    }
    return length;
}

static bool operands_of(const struct gt_work_args *args, size_t schema, struct operands *out) {
    uint32_t rank = 0;
    *out = (struct operands){.elements = 1};
    for (size_t i = 0; i < args->count && i < schema; i++) {
        const struct gt_work_arg *arg = &args->args[i];
        if (!gt_work_args_is_tensor(arg))
            continue;
        uint8_t *dtype = arg->rank ? &out->dtype : &out->number;
        *dtype = *dtype ? promoted(*dtype, arg->dtype) : arg->dtype;
        rank = arg->rank > rank ? arg->rank : rank;
    }
    for (uint32_t i = 0; i < rank; i++) {
        int64_t length = broadcast_length(args, schema, i);
        if (length < 0)
            return false;
        out->elements = gt_work_math_mul(out->elements, length);
    }
    if (!out->dtype)
        out->dtype = out->number;
    return out->dtype != GT_DTYPE_NONE;
}

static uint8_t result_dtype(const struct gt_work_model *model, const struct gt_work_args *args, uint8_t dtype,
                            bool is_division) {
    bool is_in_place = args->operator_name.len == model->name.len + 1;
    if (is_in_place || model->out_tensor)
        return gt_work_args_at(args, 0)->dtype;
    if (model->is_bool)
        return GT_DTYPE_BOOL;
    return is_division && ranks[dtype] < 3 ? GT_DTYPE_FLOAT : dtype;
}

static bool count(const struct gt_work_model *model, const struct gt_work_args *args, bool is_division,
                  struct gt_work *work) {
    size_t schema = (size_t)model->schema;
    struct operands operands;
    if (!operands_of(args, schema, &operands))
        return false;
    for (size_t i = 0; i < args->count && i < schema; i++)
        gt_work_formulas_add_bytes(work, &args->args[i]);
    gt_work_formulas_add_result(work, operands.elements, result_dtype(model, args, operands.dtype, is_division));
    if (model->is_one_flop)
        work->flops = operands.elements;
    return true;
}

bool gt_work_formulas_elementwise(const struct gt_work_model *model, const struct gt_work_args *args,
                                  struct gt_work *work) {
    return count(model, args, false, work);
}

bool gt_work_formulas_division(const struct gt_work_model *model, const struct gt_work_args *args,
                               struct gt_work *work) {
    return count(model, args, true, work);
}

/* ---- fused kernels ---- */

/* Words in a kernel's name that say that it may use but a part of a tensor. */
static const char *const part_words[] = {"embedding", "gather", "index", "nll_loss",
                                         "select",    "slice",  "take",  "scatter"};
/* Words of pointwise kernels that only write their one tensor. */
static const char *const source_words[] = {
    "arange", "full", "zeros", "ones", "scalar_tensor", "rand", "embedding_dense_backward", "iota", "index_put"};

/* The numbers of elements that a kernel was made for, multiplied; 0: it has none. */
static gt_big loop_count(const struct gt_work_args *args) {
    gt_big product = 0;
    for (size_t i = 0; i < args->count; i++) {
        int64_t value;
        if (args->args[i].has_scalar && gt_work_args_int(&args->args[i], &value) && value >= 0)
            product = product ? gt_work_math_mul(product, value) : value;
    }
    return product;
}

bool gt_work_formulas_fused(const struct gt_work_model *model, const struct gt_work_args *args, struct gt_work *work) {
    struct gt_str name = args->operator_name;
    bool is_part = gt_str_has_any_nocase(name, part_words, GT_ARRAY_COUNT(part_words));
    bool is_source = gt_str_has_any_nocase(name, source_words, GT_ARRAY_COUNT(source_words));
    gt_big most = is_part ? loop_count(args) : GT_TOO_LARGE;
    size_t tensors = 0;
    if (most == 0)
        return false;
    for (size_t i = 0; i < args->count; i++) {
        tensors += gt_work_args_is_tensor(&args->args[i]);
        work->bytes = gt_work_math_add(work->bytes, gt_work_args_bytes_within(&args->args[i], most));
    }
    if (tensors == 1 && gt_str_eq(model->name, GT_STR("triton_poi_")) && !is_source)
        work->bytes = gt_work_math_mul(2, work->bytes);
    return tensors > 0;
}
