/* Parses lists of sizes, types and values. */
#include "measure/efficiency/work_args.h"

#include <ctype.h>

#include "base/mem.h"
#include "base/num.h"

/* ---- lists as text ---- */

struct scan {
    const char *p, *end;
};

static void skip_space(struct scan *scan) {
    while (scan->p < scan->end && isspace((unsigned char)*scan->p))
        scan->p++;
}

static bool take(struct scan *scan, char wanted) {
    skip_space(scan);
    bool is_there = scan->p < scan->end && *scan->p == wanted;
    scan->p += is_there;
    return is_there;
}

/* Whether another item of a list follows; its end is taken. */
static bool take_next(struct scan *scan, bool is_first, bool *ok) {
    if (take(scan, ']'))
        return false;
    *ok = *ok && (is_first || take(scan, ','));
    return *ok;
}

static bool take_size(struct scan *scan, int64_t *value) {
    skip_space(scan);
    const char *start = scan->p;
    while (scan->p < scan->end && (isdigit((unsigned char)*scan->p) || *scan->p == '-'))
        scan->p++;
    return gt_num_parse_int((struct gt_str){start, (size_t)(scan->p - start)}, value);
}

static bool take_text(struct scan *scan, struct gt_str *text) {
    if (!take(scan, '"'))
        return false;
    const char *start = scan->p;
    for (; scan->p < scan->end && *scan->p != '"'; scan->p++)
        scan->p += *scan->p == '\\' && scan->p + 1 < scan->end;
    *text = (struct gt_str){start, (size_t)(scan->p - start)};
    return take(scan, '"');
}

static size_t count_of(struct gt_str text, char wanted) {
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == wanted;
    return count;
}

/* ---- sizes and strides ---- */

/* The numbers of all arguments one after the other; of lists those of all their items. */
struct sizes {
    int64_t *numbers;
    size_t number_count;
    struct gt_work_item *items;
    size_t item_count;
};

/* A text has no more numbers than commas and brackets, and no more lists than brackets. */
static bool sizes_room(struct sizes *sizes, struct gt_str text, struct gt_arena *arena) {
    size_t lists = count_of(text, '[') + 1;
    sizes->numbers = gt_arena_array(arena, count_of(text, ',') + lists, sizeof *sizes->numbers);
    sizes->items = gt_arena_array(arena, lists, sizeof *sizes->items);
    return sizes->numbers && sizes->items;
}

static bool take_numbers(struct scan *scan, struct sizes *sizes, bool is_first, const int64_t **dims, uint32_t *rank) {
    size_t first = sizes->number_count;
    bool ok = true;
    for (; take_next(scan, is_first, &ok); is_first = false)
        ok = take_size(scan, &sizes->numbers[sizes->number_count]) && ++sizes->number_count;
    *dims = sizes->numbers + first;
    *rank = (uint32_t)(sizes->number_count - first);
    return ok;
}

static bool take_items(struct scan *scan, struct sizes *sizes, struct gt_work_arg *arg) {
    bool ok = true;
    arg->is_list = true;
    arg->first_item = (uint32_t)sizes->item_count;
    for (bool is_first = true; take_next(scan, is_first, &ok); is_first = false) {
        struct gt_work_item *item = &sizes->items[sizes->item_count];
        ok = take(scan, '[') && take_numbers(scan, sizes, true, &item->dims, &item->rank);
        sizes->item_count += ok;
    }
    arg->item_count = (uint32_t)sizes->item_count - arg->first_item;
    return ok;
}

/* One argument: [2, 3], or of a list of tensors [[2, 3], [4]]. */
static bool take_sizes(struct scan *scan, struct sizes *sizes, struct gt_work_arg *arg) {
    if (!take(scan, '['))
        return false;
    skip_space(scan);
    if (scan->p < scan->end && *scan->p == '[')
        return take_items(scan, sizes, arg);
    return take_numbers(scan, sizes, true, &arg->dims, &arg->rank);
}

static bool are_sizes(const struct sizes *sizes) {
    for (size_t i = 0; i < sizes->number_count; i++)
        if (sizes->numbers[i] < 0)
            return false;
    return true;
}

static bool parse_dims(struct gt_work_args *out, struct gt_str text, struct gt_arena *arena) {
    struct sizes sizes = {0};
    struct scan scan = {text.ptr, text.ptr + text.len};
    bool ok = take(&scan, '[') && sizes_room(&sizes, text, arena);
    out->args = ok ? gt_arena_array(arena, count_of(text, '[') + 1, sizeof *out->args) : NULL;
    out->items = sizes.items;
    ok = out->args;
    for (bool is_first = true; ok && take_next(&scan, is_first, &ok); is_first = false)
        ok = take_sizes(&scan, &sizes, &out->args[out->count]) && ++out->count;
    return ok && are_sizes(&sizes);
}

/* Strides are an aid: without them every element counts. */
static void parse_strides(struct gt_work_args *out, struct gt_str text, struct gt_arena *arena) {
    struct sizes sizes = {0};
    struct scan scan = {text.ptr, text.ptr + text.len};
    bool ok = take(&scan, '[') && sizes_room(&sizes, text, arena);
    size_t at = 0;
    for (bool is_first = true; ok && take_next(&scan, is_first, &ok); is_first = false, at++) {
        struct gt_work_arg strides = {0};
        ok = take_sizes(&scan, &sizes, &strides);
        if (ok && at < out->count && !strides.is_list && strides.rank == out->args[at].rank) {
            out->args[at].strides = strides.dims;
            out->args[at].has_strides = true;
        }
    }
}

/* ---- types and values ---- */

static const struct {
    struct gt_str name;
    int64_t bytes;
} dtypes[GT_DTYPE_COUNT] = {
#define GT_DTYPE(key, text, size, rank, unit) [GT_DTYPE_##key] = {{text, sizeof(text) - 1}, size},
#include "measure/efficiency/dtypes.def"
#undef GT_DTYPE
};

static struct gt_str without_library(struct gt_str type) {
    size_t skipped = gt_str_starts(type, GT_STR("c10::")) ? 5 : 0;
    return (struct gt_str){type.ptr + skipped, type.len - skipped};
}

uint8_t gt_work_args_dtype_named(struct gt_str type) {
    static const char *const no_tensors[] = {"", "Scalar", "ScalarList", "TensorList", "GenericList"};
    for (size_t i = 0; i < GT_ARRAY_COUNT(no_tensors); i++)
        if (gt_str_eq(type, gt_str_of(no_tensors[i])))
            return GT_DTYPE_NONE;
    type = without_library(type);
    for (int i = GT_DTYPE_NONE + 1; i < GT_DTYPE_OTHER; i++)
        if (gt_str_eq(type, dtypes[i].name))
            return (uint8_t)i;
    return GT_DTYPE_OTHER;
}

static bool parse_types(struct gt_work_args *out, struct gt_str text) {
    struct scan scan = {text.ptr, text.ptr + text.len};
    bool ok = take(&scan, '[');
    size_t at = 0;
    for (bool is_first = true; ok && take_next(&scan, is_first, &ok); is_first = false, at++) {
        struct gt_str type = {"", 0};
        ok = take_text(&scan, &type);
        if (!ok || at >= out->count)
            continue;
        struct gt_work_arg *arg = &out->args[at];
        arg->type = without_library(type);
        arg->has_scalar = gt_str_eq(type, GT_STR("Scalar"));
        arg->dtype = arg->is_list ? GT_DTYPE_NONE : gt_work_args_dtype_named(type);
    }
    return ok;
}

/* Values are missing in old traces; whoever needs one finds none. */
static void parse_values(struct gt_work_args *out, struct gt_str text) {
    struct scan scan = {text.ptr, text.ptr + text.len};
    bool ok = take(&scan, '[');
    size_t at = 0;
    for (bool is_first = true; ok && take_next(&scan, is_first, &ok); is_first = false, at++) {
        struct gt_str value = {"", 0};
        ok = take_text(&scan, &value);
        if (ok && at < out->count)
            out->args[at].value = value;
    }
}

bool gt_work_args_parse(struct gt_work_args *out, const struct gt_work_texts *texts, struct gt_arena *arena) {
    *out = (struct gt_work_args){0};
    if (!parse_dims(out, texts->dims, arena) || !parse_types(out, texts->types))
        return false;
    parse_strides(out, texts->strides, arena);
    parse_values(out, texts->inputs);
    return !gt_arena_failed(arena);
}

const struct gt_work_arg *gt_work_args_at(const struct gt_work_args *args, int number) {
    static const struct gt_work_arg nothing;
    return number >= 0 && (size_t)number < args->count ? &args->args[number] : &nothing;
}

/* ---- sizes ---- */

gt_big gt_work_args_product(const int64_t *dims, size_t rank) {
    gt_big product = 1;
    for (size_t i = 0; i < rank; i++)
        product = gt_work_math_mul(product, dims[i]);
    return product;
}

int64_t gt_work_args_dtype_bytes(uint8_t dtype) {
    return dtypes[dtype].bytes;
}

uint8_t gt_work_args_dtype_of_code(int64_t code) {
    static const uint8_t by_code[] = {
        [0] = GT_DTYPE_UCHAR, [1] = GT_DTYPE_SCHAR,     [2] = GT_DTYPE_SHORT,        [3] = GT_DTYPE_INT,
        [4] = GT_DTYPE_LONG,  [5] = GT_DTYPE_HALF,      [6] = GT_DTYPE_FLOAT,        [7] = GT_DTYPE_DOUBLE,
        [11] = GT_DTYPE_BOOL, [15] = GT_DTYPE_BFLOAT16, [23] = GT_DTYPE_FLOAT8_E5M2, [24] = GT_DTYPE_FLOAT8_E4M3FN,
    };
    uint8_t dtype = code >= 0 && (size_t)code < GT_ARRAY_COUNT(by_code) ? by_code[code] : GT_DTYPE_NONE;
    return dtype == GT_DTYPE_NONE ? GT_DTYPE_OTHER : dtype;
}

gt_big gt_work_args_size(gt_big elements, uint8_t dtype) {
    int64_t bytes = gt_work_args_dtype_bytes(dtype);
    if (elements <= 1)
        return 0;
    return bytes ? gt_work_math_mul(elements, bytes) : GT_TOO_LARGE;
}

static gt_big different_elements(const struct gt_work_arg *arg) {
    gt_big product = 1;
    for (size_t i = 0; i < arg->rank; i++)
        if (!arg->has_strides || arg->strides[i] != 0 || arg->dims[i] == 0)
            product = gt_work_math_mul(product, arg->dims[i]);
    return product;
}

gt_big gt_work_args_bytes(const struct gt_work_arg *arg) {
    return gt_work_args_is_tensor(arg) ? gt_work_args_size(different_elements(arg), arg->dtype) : 0;
}

gt_big gt_work_args_bytes_within(const struct gt_work_arg *arg, gt_big most) {
    gt_big elements = different_elements(arg);
    return gt_work_args_is_tensor(arg) ? gt_work_args_size(elements < most ? elements : most, arg->dtype) : 0;
}

/* ---- values ---- */

bool gt_work_args_int(const struct gt_work_arg *arg, int64_t *value) {
    return gt_num_parse_int(arg->value, value);
}

bool gt_work_args_is_true(const struct gt_work_arg *arg) {
    return gt_str_eq(arg->value, GT_STR("True"));
}

bool gt_work_args_ints(const struct gt_work_arg *arg, int64_t *values, size_t most, size_t *count) {
    struct scan scan = {arg->value.ptr, arg->value.ptr + arg->value.len};
    *count = 0;
    if (gt_work_args_int(arg, &values[0])) {
        *count = 1;
        return true;
    }
    bool ok = take(&scan, '[');
    for (bool is_first = true; ok && take_next(&scan, is_first, &ok); is_first = false)
        ok = *count < most && take_size(&scan, &values[*count]) && ++*count;
    return ok;
}

/* ---- text ---- */

/* Names of shapes are for people: longer ones are cut. */
enum { TEXT_MOST = 400, TYPES_MOST = 12 };

struct text {
    char bytes[TEXT_MOST];
    size_t len;
};

static void put(struct text *text, struct gt_str part) {
    size_t room = TEXT_MOST - (text->len < TEXT_MOST ? text->len : TEXT_MOST);
    size_t bytes = part.len < room ? part.len : room;
    memcpy(text->bytes + text->len, part.ptr, bytes);
    text->len += bytes;
}

static void put_dims(struct text *text, const int64_t *dims, size_t rank) {
    for (size_t i = 0; i < rank && text->len < TEXT_MOST; i++) {
        char number[GT_NUM_MAX];
        size_t len = gt_num_format_int(number, dims[i]);
        put(text, i ? GT_STR("x") : GT_STR(""));
        put(text, (struct gt_str){number, len});
    }
}

static void put_arg(struct text *text, const struct gt_work_args *args, const struct gt_work_arg *arg) {
    if (!arg->is_list) {
        put_dims(text, arg->dims, arg->rank);
        return;
    }
    put(text, GT_STR("["));
    for (uint32_t i = 0; i < arg->item_count && text->len < TEXT_MOST; i++) {
        const struct gt_work_item *item = &args->items[arg->first_item + i];
        put(text, i ? GT_STR(",") : GT_STR(""));
        put_dims(text, item->dims, item->rank);
    }
    put(text, GT_STR("]"));
}

static void put_types(struct text *text, const struct gt_work_args *args) {
    struct gt_str types[TYPES_MOST];
    size_t count = 0;
    for (size_t i = 0; i < args->count && count < TYPES_MOST; i++) {
        bool is_new = gt_work_args_is_tensor(&args->args[i]);
        for (size_t k = 0; k < count && is_new; k++)
            is_new = !gt_str_eq(types[k], args->args[i].type);
        if (!is_new)
            continue;
        put(text, count ? GT_STR(",") : GT_STR(""));
        put(text, args->args[i].type);
        types[count++] = args->args[i].type;
    }
}

struct gt_str gt_work_args_text(const struct gt_work_args *args, const char *suffix, struct gt_arena *arena) {
    struct text text = {.len = 0};
    bool is_first = true;
    for (size_t i = 0; i < args->count && text.len < TEXT_MOST; i++) {
        const struct gt_work_arg *arg = &args->args[i];
        if (!arg->is_list && arg->rank == 0)
            continue;
        put(&text, is_first ? GT_STR("") : GT_STR(";"));
        put_arg(&text, args, arg);
        is_first = false;
    }
    put(&text, GT_STR(" "));
    put_types(&text, args);
    put(&text, gt_str_of(suffix));
    return gt_arena_copy(arena, (struct gt_str){text.bytes, text.len});
}
