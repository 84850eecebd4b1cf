/* Work of attention: two products for each pair of a query and a key that is not masked. Backward passes make five, one
   of them the pairs once more, which flash kernels do not keep. */
#include "measure/efficiency/work_formulas.h"

struct attention {
    int64_t batch, heads, queries, keys;
    int64_t size, value_size; /* of a head, of keys and of values */
    bool is_packed;           /* lengths are data: equal ones are the least work */
};

/* ---- pairs ---- */

/* Sum over i = 1 .. count of i + shift, each at least 0 and at most `most`. */
static gt_big sum_clamped(int64_t count, gt_big shift, gt_big most) {
    gt_big first = 1 + shift, last = count + shift; /* of those that are not clamped */
    first = first < 1 ? 1 : first;
    gt_big end = last < most ? last : most;
    gt_big clamped = last > most ? last - (first > most + 1 ? first - 1 : most) : 0;
    gt_big sum = 0;
    if (end >= first) {
        gt_big terms = end - first + 1, ends = first + end;
        sum = terms % 2 ? gt_work_math_mul(ends / 2, terms) : gt_work_math_mul(terms / 2, ends);
    }
    return gt_work_math_add(sum, gt_work_math_mul(clamped, most));
}

/* What of the keys a query sees: none after its own place and `right` more, none further back than `left`. Negative:
   no limit. */
struct window {
    int64_t left, right;
    gt_big shift; /* place of the first query among the keys */
};

static gt_big pairs_of(const struct attention *it, const struct window *window) {
    gt_big all = gt_work_math_mul(it->queries, it->keys);
    gt_big until = window->right < 0 ? all : sum_clamped(it->queries, window->shift + window->right, it->keys);
    gt_big before = window->left < 0 ? 0 : sum_clamped(it->queries, window->shift - window->left - 1, it->keys);
    return until == GT_TOO_LARGE || before == GT_TOO_LARGE ? GT_TOO_LARGE : until - before;
}

/* false: an argument says something that is not known. */
static bool window_of(const struct gt_work_model *model, const struct gt_work_args *args, const struct attention *it,
                      struct window *window) {
    const struct gt_work_arg *causal = gt_work_formulas_arg(args, model->causal);
    const struct gt_work_arg *left = gt_work_formulas_arg(args, model->window);
    const struct gt_work_arg *right = gt_work_formulas_arg(args, model->window ? (int8_t)(model->window + 1) : 0);
    int64_t code = gt_work_args_is_true(causal);
    bool is_code = model->corner == GT_CORNER_BY_CODE;
    if (is_code ? !gt_work_args_int(causal, &code) || code < 0 || code > 2
                : !code && !gt_str_eq(causal->value, GT_STR("False")))
        return false;
    *window = (struct window){.left = -1, .right = code ? 0 : -1};
    if (model->window && left->value.len && !gt_work_args_int(left, &window->left))
        return false;
    if (model->window && !code && right->value.len && !gt_work_args_int(right, &window->right))
        return false;
    bool is_bottom_right = is_code ? code == 2 : model->corner == GT_CORNER_BOTTOM_RIGHT;
    window->shift = is_bottom_right ? (gt_big)it->keys - it->queries : 0;
    return true;
}

/* ---- shapes ---- */

/* Places of batch, length, heads and size in a tensor; packed ones have the tokens of all sequences instead of the
   first two. */
struct layout {
    uint32_t batch, length, heads, size;
};

static bool packed_of(const struct gt_work_arg *query, const struct gt_work_arg *key, const struct gt_work_arg *value,
                      const struct layout *at, int64_t sequences, struct attention *it) {
    bool is_flat = query->rank == 3;
    gt_big queries = is_flat ? query->dims[0] : gt_work_math_mul(query->dims[at->batch], query->dims[at->length]);
    gt_big keys = is_flat ? key->dims[0] : gt_work_math_mul(key->dims[at->batch], key->dims[at->length]);
    if (sequences < 1 || !gt_work_math_fits(queries) || !gt_work_math_fits(keys))
        return false;
    *it = (struct attention){.batch = sequences,
                             .heads = query->dims[is_flat ? 1 : at->heads],
                             .queries = (int64_t)queries / sequences,
                             .keys = (int64_t)keys / sequences,
                             .size = query->dims[query->rank - 1],
                             .value_size = value->dims[value->rank - 1],
                             .is_packed = true};
    return true;
}

static bool attention_of(const struct gt_work_model *model, const struct gt_work_args *args,
                         const struct gt_work_arg *query, const struct gt_work_arg *key,
                         const struct gt_work_arg *value, struct attention *it) {
    static const struct layout head_first = {0, 2, 1, 3}, length_first = {0, 1, 2, 3};
    const struct layout *at = model->is_head_first ? &head_first : &length_first;
    const struct gt_work_arg *offsets = gt_work_formulas_arg(args, model->offsets);
    if (!gt_work_args_is_tensor(query) || !gt_work_args_is_tensor(key) || !gt_work_args_is_tensor(value) ||
        query->rank != key->rank || query->rank != value->rank)
        return false;
    if (query->rank != 4 && query->rank != 3)
        return false;
    if (gt_work_args_is_tensor(offsets) && offsets->rank == 1)
        return packed_of(query, key, value, at, offsets->dims[0] - 1, it);
    if (query->rank != 4)
        return false;
    *it = (struct attention){query->dims[at->batch],
                             query->dims[at->heads],
                             query->dims[at->length],
                             key->dims[at->length],
                             query->dims[at->size],
                             value->dims[at->size],
                             false};
    return true;
}

/* ---- work ---- */

/* 2 x batch x heads x pairs x size */
static gt_big flops_of(const struct attention *it, gt_big pairs, gt_big size) {
    gt_big instances = gt_work_math_mul(it->batch, it->heads);
    return gt_work_math_mul(2, gt_work_math_mul(instances, gt_work_math_mul(pairs, size)));
}

static void count_flops(const struct gt_work_model *model, const struct attention *it, const struct window *window,
                        struct gt_work *work) {
    gt_big pairs = pairs_of(it, window), dense = gt_work_math_mul(it->queries, it->keys);
    gt_big d = it->size, e = it->value_size;
    gt_big executed = model->is_backward ? 3 * d + 2 * e : d + e, modelled = model->is_backward ? 2 * (d + e) : d + e;
    work->flops = flops_of(it, pairs, executed);
    work->model_flops = flops_of(it, pairs, modelled);
    work->dense_flops = flops_of(it, dense, modelled);
    work->is_causal = window->right == 0;
    work->is_lower_bound = it->is_packed;
}

static void count_bytes(const struct gt_work_model *model, const struct gt_work_args *args, const struct attention *it,
                        struct gt_work *work) {
    int first = model->query - 1;
    const struct gt_work_arg *query = gt_work_args_at(args, first);
    for (int i = 0; i < 3; i++)
        gt_work_formulas_add_bytes(work, gt_work_args_at(args, first + i));
    if (model->is_backward) { /* each has a gradient; that of the result comes first */
        gt_work_formulas_add_bytes(work, gt_work_args_at(args, 0));
        work->bytes = gt_work_math_mul(2, work->bytes);
    } else {
        gt_big rows = gt_work_args_product(query->dims, query->rank - 1);
        gt_work_formulas_add_result(work, gt_work_math_mul(rows, it->value_size), query->dtype);
    }
    gt_work_formulas_add_bytes(work, gt_work_formulas_arg(args, model->mask));
}

bool gt_work_formulas_attention(const struct gt_work_model *model, const struct gt_work_args *args,
                                struct gt_work *work) {
    int first = model->query - 1;
    const struct gt_work_arg *query = gt_work_args_at(args, first);
    struct attention it;
    struct window window;
    if (!attention_of(model, args, query, gt_work_args_at(args, first + 1), gt_work_args_at(args, first + 2), &it) ||
        !window_of(model, args, &it, &window) ||
        (model->is_backward && !gt_work_args_is_tensor(gt_work_args_at(args, 0))))
        return false;
    work->dtype = query->dtype;
    count_flops(model, &it, &window, work);
    count_bytes(model, args, &it, work);
    return true;
}
