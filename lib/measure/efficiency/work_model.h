/* Work models: which operator does how many FLOPs and moves how many bytes at least, from its arguments.
   work_models.def has a row for each operator, work_formulas.h the formulas. */
#ifndef GT_MEASURE_EFFICIENCY_WORK_MODEL_H
#define GT_MEASURE_EFFICIENCY_WORK_MODEL_H

#include "measure/efficiency/work_args.h"

enum gt_family {
#define GT_FAMILY(key, name, words, is_matrix) GT_FAMILY_##key,
#include "measure/efficiency/families.def"
#undef GT_FAMILY
    GT_FAMILY_COUNT,
};

struct gt_family_info {
    const char *key, *words;
    bool is_matrix;
};
extern const struct gt_family_info gt_family_infos[GT_FAMILY_COUNT];

/* What one execution of an operator does. */
struct gt_work {
    gt_big flops;                    /* as executed; < 0: no count is sensible */
    gt_big model_flops, dense_flops; /* without what only saves memory; the same with no pair masked */
    gt_big bytes;                    /* every input and output once */
    uint8_t family;                  /* enum gt_family: the model's, but for operators that are of several */
    uint8_t dtype;                   /* of the factors of a product: whose peak counts */
    bool is_lower_bound;
    bool is_causal;
    bool is_per_byte; /* bytes has elements instead: the kernel's name has their size */
};

/* Where pairs of queries and keys that are not masked begin, if attention is causal. */
enum gt_causal_corner { GT_CORNER_TOP_LEFT, GT_CORNER_BOTTOM_RIGHT, GT_CORNER_BY_CODE };

struct gt_work_model;
/* false: the arguments do not suffice. */
typedef bool gt_work_model_formula(const struct gt_work_model *model, const struct gt_work_args *args,
                                   struct gt_work *work);

/* Numbers of arguments are counted from 1 here, so that 0 means: it has no such argument. */
struct gt_work_model {
    struct gt_str name;
    enum gt_family family;
    gt_work_model_formula *formula;
    bool is_prefix; /* of names */

    int8_t left, right, bias, scale;              /* products */
    int8_t offsets;                               /* grouped products and packed attention */
    int8_t out_tensor, out_dtype, out_code;       /* the result as a tensor; of this type always; c10::ScalarType */
    int8_t stride, padding, dilation, transposed; /* convolutions; input and weight are left and right */
    int8_t out_padding, groups;
    bool is_transposed;
    int8_t mask;                  /* of attention; which gradients of a convolution */
    int8_t query, causal, window; /* keys and values come after the queries */
    bool is_head_first;           /* batch, heads, length, size instead of batch, length, heads, size */
    bool is_backward;
    enum gt_causal_corner corner;
    int8_t schema;         /* element-wise: so many arguments; a tensor after them is the result */
    int8_t dims;           /* reductions: over which */
    int8_t times0, times1; /* vector work: how often the first two tensors count; the others once */
    bool is_one_flop;      /* for each result, of reductions for each input */
    bool is_bool;          /* results have one byte */
    int8_t extra_bytes;    /* reductions: for each result, an index */
};

/* NULL: there is none for an operator of this name. That of aten::add is that of aten::add_, too. */
const struct gt_work_model *gt_work_model_find(struct gt_str name);

/* false: the arguments do not suffice, or the numbers do not fit a report. */
bool gt_work_model_apply(const struct gt_work_model *model, const struct gt_work_args *args, struct gt_work *work);

#endif
