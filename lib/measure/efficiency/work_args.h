/* Arguments of an operator as the PyTorch profiler writes them (Input Dims, Input type, Input Strides, Concrete
   Inputs), parsed. Text that is no list of that kind, negative sizes and types of unknown size are missing arguments.
 */
#ifndef GT_MEASURE_EFFICIENCY_WORK_ARGS_H
#define GT_MEASURE_EFFICIENCY_WORK_ARGS_H

#include <stddef.h>

#include "base/arena.h"
#include "measure/efficiency/work_math.h"

/* Element types by what matters here: size, and which is wider. dtypes.def has the names. */
enum gt_dtype {
    GT_DTYPE_NONE, /* no tensor: absent, a number, a list */
#define GT_DTYPE(key, name, bytes, rank, unit) GT_DTYPE_##key,
#include "measure/efficiency/dtypes.def"
#undef GT_DTYPE
    GT_DTYPE_OTHER, /* a tensor whose elements have no known size */
    GT_DTYPE_COUNT,
};

struct gt_work_arg {
    const int64_t *dims, *strides;
    uint32_t rank;
    bool has_strides; /* one for each of its dims */
    uint8_t dtype;
    bool is_list;    /* of tensors: their dims are those of `items` from first_item on */
    bool has_scalar; /* a number; value is what it is */
    uint32_t first_item, item_count;
    struct gt_str type;  /* as written, without "c10::" */
    struct gt_str value; /* of what is no tensor, as written; else empty */
};

struct gt_work_item {
    const int64_t *dims;
    uint32_t rank;
};

/* Texts of one operator. */
struct gt_work_texts {
    struct gt_str dims, types, strides, inputs;
};

struct gt_work_args {
    struct gt_str operator_name; /* the caller's to set */
    struct gt_work_arg *args;
    size_t count;
    struct gt_work_item *items;
};

/* false: the texts are no arguments, or memory was short (the arena has failed). All lives in the arena. */
bool gt_work_args_parse(struct gt_work_args *out, const struct gt_work_texts *texts, struct gt_arena *arena);

/* An argument by its number; one without anything if there are not as many. */
const struct gt_work_arg *gt_work_args_at(const struct gt_work_args *args, int number);

static inline bool gt_work_args_is_tensor(const struct gt_work_arg *arg) {
    return arg->dtype != GT_DTYPE_NONE;
}

gt_big gt_work_args_product(const int64_t *dims, size_t rank);
/* Elements of a tensor. */
static inline gt_big gt_work_args_elements(const struct gt_work_arg *arg) {
    return gt_work_args_product(arg->dims, arg->rank);
}
/* Bytes of so many elements; one element costs nothing. GT_TOO_LARGE if their size is not known. */
gt_big gt_work_args_size(gt_big elements, uint8_t dtype);
/* Bytes of the elements of a tensor that differ: a dimension with stride 0 repeats the same ones. 0 for what is no
   tensor. */
gt_big gt_work_args_bytes(const struct gt_work_arg *arg);
/* The same, but of at most so many elements. */
gt_big gt_work_args_bytes_within(const struct gt_work_arg *arg, gt_big most);

uint8_t gt_work_args_dtype_named(struct gt_str type); /* with or without "c10::" */
int64_t gt_work_args_dtype_bytes(uint8_t dtype);      /* 0: not known */
uint8_t gt_work_args_dtype_of_code(int64_t code); /* number of a c10::ScalarType; GT_DTYPE_OTHER: none of those known */

/* Values. false: it is none. */
bool gt_work_args_int(const struct gt_work_arg *arg, int64_t *value);
bool gt_work_args_is_true(const struct gt_work_arg *arg);
/* A list of numbers, or one number as a list of one; at most `most`. */
bool gt_work_args_ints(const struct gt_work_arg *arg, int64_t *values, size_t most, size_t *count);

/* "4096x2048;2048x8192 BFloat16": what tables call it. */
struct gt_str gt_work_args_text(const struct gt_work_args *args, const char *suffix, struct gt_arena *arena);

#endif
