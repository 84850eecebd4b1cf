/* Reads names of kernels. */
#include "measure/efficiency/kernel_work.h"

#include <ctype.h>

#include "base/mem.h"
#include "measure/efficiency/work_args.h"

/* Kernels that prepare or finish what another one does. */
static const char *const helper_words[] = {"splitkreduce", "splitk_reduce",    "nchwtonhwc",
                                           "nhwctonchw",   "device_workspace", "prepare_grouped_gemm",
                                           "dot_do_o",     "convert_dq",       "convert_dkv"};
static const char *const tf32_words[] = {"tf32", "s1688", "nvjet", "bf16x"};

/* The rest of the text after a word; empty: it has none. */
static struct gt_str after(struct gt_str text, struct gt_str word) {
    for (size_t i = 0; i + word.len <= text.len; i++)
        if (memcmp(text.ptr + i, word.ptr, word.len) == 0)
            return (struct gt_str){text.ptr + i + word.len, text.len - i - word.len};
    return (struct gt_str){"", 0};
}

/* Takes a template argument off the text, up to its comma or the end of the list. */
static bool take_argument(struct gt_str *text, struct gt_str *argument) {
    size_t depth = 0, i = 0;
    for (; i < text->len && (depth > 0 || (text->ptr[i] != ',' && text->ptr[i] != '>')); i++)
        depth = text->ptr[i] == '<' ? depth + 1 : text->ptr[i] == '>' ? depth - 1 : depth;
    *argument = (struct gt_str){text->ptr, i};
    bool has_more = i < text->len && text->ptr[i] == ',';
    *text = (struct gt_str){text->ptr + i + has_more, has_more ? text->len - i - 1 : 0};
    while (argument->len && argument->ptr[0] == ' ')
        *argument = (struct gt_str){argument->ptr + 1, argument->len - 1};
    return argument->len > 0;
}

/* 4, (int)4 or 4u, as profilers write it; negative: it is none. */
static int small_number(struct gt_str text) {
    if (gt_str_starts(text, GT_STR("(int)")))
        text = (struct gt_str){text.ptr + 5, text.len - 5};
    gt_str_take_end(&text, GT_STR("u"));
    bool is_number = text.len > 0 && text.len <= 2;
    int number = 0;
    for (size_t i = 0; i < text.len && is_number; i++) {
        is_number = isdigit((unsigned char)text.ptr[i]);
        number = number * 10 + (text.ptr[i] - '0');
    }
    return is_number ? number : -1;
}

/* How often a functor of ATen accesses an element of each of its tensors; 0: not known. It may read and write some. */
static int accesses_of(struct gt_str name, struct gt_str *arguments) {
    static const struct {
        struct gt_str functor;
        int depth[2], accesses[2];
    } known[] = {
        {GT_STR("FusedAdamMathFunctor<"), {4, 5}, {7, 9}},
        {GT_STR("FusedSgdMathFunctor<"), {2, 3}, {3, 5}},
    };
    struct gt_str argument;
    for (size_t i = 0; i < GT_ARRAY_COUNT(known); i++) {
        struct gt_str rest = after(name, known[i].functor);
        *arguments = rest;
        if (!rest.len)
            continue;
        int depth = take_argument(&rest, &argument) && take_argument(&rest, &argument) ? small_number(argument) : -1;
        for (int k = 0; k < 2; k++)
            if (depth == known[i].depth[k])
                return known[i].accesses[k];
        return 0;
    }
    struct gt_str rest = after(name, GT_STR("Functor<"));
    int numbers[3]; /* tensors, those that are read, which of them is written */
    *arguments = rest;
    bool ok = take_argument(&rest, &argument);
    for (int i = 0; i < 3 && ok; i++) {
        ok = take_argument(&rest, &argument);
        numbers[i] = ok ? small_number(argument) : -1;
        ok = numbers[i] >= 0;
    }
    return ok ? numbers[1] + 1 : 0;
}

static uint16_t chunk_element_bytes(struct gt_str name) {
    struct gt_str arguments, type, functor = after(name, GT_STR("multi_tensor_apply_kernel<"));
    int accesses = functor.len ? accesses_of(functor, &arguments) : 0;
    if (!accesses || !take_argument(&arguments, &type))
        return 0;
    return (uint16_t)(accesses * gt_work_args_dtype_bytes(gt_work_args_dtype_named(type)));
}

static uint8_t element_bytes(struct gt_str name) {
    struct gt_str rest = after(name, GT_STR("OpaqueType<")), argument;
    int number = rest.len && take_argument(&rest, &argument) ? small_number(argument) : -1;
    return number > 0 ? (uint8_t)number : 0;
}

struct gt_kernel_work gt_kernel_work_read(struct gt_str name) {
    return (struct gt_kernel_work){
        .is_read = true,
        .is_helper = gt_str_has_any_nocase(name, helper_words, GT_ARRAY_COUNT(helper_words)),
        .is_tf32 = gt_str_has_any_nocase(name, tf32_words, GT_ARRAY_COUNT(tf32_words)),
        .element_bytes = element_bytes(name),
        .chunk_element_bytes = chunk_element_bytes(name),
    };
}
