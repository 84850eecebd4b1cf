/* Looks for the patterns of traits.def in the names of kernels, and puts together what they mean. */
#include "measure/findings/traits.h"

#include "base/mem.h"

/* What a pattern says; enum gt_trait is what follows from several. */
enum mark {
    ELEMENTWISE,
    MOVE,
    INDEXED,
    UPDATE,
    PRODUCT,
    ORDINARY,
    CONVOLUTION,
    AMD_SINGLE,
    AMD_MATRIX,
    HALF,
    TENSOR,
    FUSED_ATTENTION,
    SOFTMAX,
    LOG_SOFTMAX,
    BETWEEN,
    LAYOUT,
};

enum where { SHORT, FULL };

static const struct {
    enum mark mark;
    enum where where;
    const char *pattern;
} patterns[] = {
#define GT_TRAIT_NAME(trait, where, pattern) {trait, where, pattern},
#include "measure/findings/traits.def"
#undef GT_TRAIT_NAME
};

static bool matches(struct gt_str name, const char *pattern) {
    if (pattern[0] == '^')
        return gt_str_starts(name, gt_str_of(pattern + 1));
    return gt_str_find_nocase(name, gt_str_of(pattern)) != NULL;
}

/* What the patterns for one mark and place say. */
static bool has(enum mark mark, struct gt_str name, enum where where) {
    for (size_t i = 0; i < GT_ARRAY_COUNT(patterns); i++)
        if (patterns[i].mark == mark && patterns[i].where == where && matches(name, patterns[i].pattern))
            return true;
    return false;
}

/* The functor of an element-wise kernel may have any name, so nothing else is looked for in it. */
static unsigned elementwise_traits(struct gt_str name, struct gt_str short_name) {
    bool moves = has(MOVE, short_name, SHORT) || has(MOVE, name, FULL);
    return GT_TRAIT_ELEMENTWISE | (moves ? GT_TRAIT_MOVE : 0u) | (has(UPDATE, name, FULL) ? GT_TRAIT_UPDATE : 0u);
}

static bool is_ordinary(struct gt_str name, bool is_product) {
    bool is_amd = is_product && has(AMD_SINGLE, name, FULL) && !has(AMD_MATRIX, name, FULL);
    return (is_amd || has(ORDINARY, name, FULL)) && !has(TENSOR, name, FULL);
}

static unsigned product_traits(struct gt_str name) {
    bool is_product = has(PRODUCT, name, FULL);
    unsigned traits = is_product ? GT_TRAIT_PRODUCT : 0;
    if (is_ordinary(name, is_product))
        traits |= GT_TRAIT_ORDINARY | (has(HALF, name, FULL) ? GT_TRAIT_HALF : 0u) |
                  (has(CONVOLUTION, name, FULL) ? GT_TRAIT_CONVOLUTION : 0u);
    if (traits && has(FUSED_ATTENTION, name, FULL))
        return 0;
    return traits | (has(TENSOR, name, FULL) ? GT_TRAIT_TENSOR : 0u);
}

unsigned gt_traits_of(struct gt_str name, struct gt_str short_name) {
    enum { LOOKED_AT = 512 }; /* what follows repeats template arguments as parameters */
    struct gt_str start = {name.ptr, name.len < LOOKED_AT ? name.len : LOOKED_AT};
    bool is_generated = gt_str_starts(short_name, GT_STR("triton_"));
    if (!is_generated && has(ELEMENTWISE, short_name, SHORT))
        return has(INDEXED, short_name, SHORT) || has(INDEXED, start, FULL) ? 0 : elementwise_traits(start, short_name);
    if (has(SOFTMAX, short_name, SHORT))
        return has(LOG_SOFTMAX, start, FULL) || has(FUSED_ATTENTION, start, FULL) ? 0 : GT_TRAIT_SOFTMAX;
    if (has(LAYOUT, short_name, SHORT))
        return GT_TRAIT_LAYOUT;
    return has(BETWEEN, short_name, SHORT) ? GT_TRAIT_BETWEEN : product_traits(start);
}

/* PyTorch passes the addresses as one array: "std::array<char*, 3ul>", "at::detail::Array<char*, 3>". Without, most
   operations read two and write one. */
unsigned gt_traits_tensors_of(struct gt_str name, unsigned traits) {
    static const char sign[] = "array<char*, ";
    const char *at = gt_str_find_nocase(name, gt_str_of(sign));
    const char *digit = at ? at + sizeof sign - 1 : NULL;
    if (digit && digit < name.ptr + name.len && *digit >= '1' && *digit <= '9')
        return (unsigned)(*digit - '0');
    return traits & GT_TRAIT_MOVE ? 2 : 3;
}

enum gt_status gt_traits_init(struct gt_traits *traits, const struct gt_view *view, struct gt_error *err) {
    const struct gt_store *store = view->store;
    size_t count = store->strings.count;
    *traits = (struct gt_traits){gt_mem_array(count, sizeof *traits->of_name), gt_mem_array(count, 1), 0};
    bool ok = traits->of_name && traits->tensors;
    for (size_t id = 0, end = ok ? count : 0; id < end; id++) {
        if (!view->labels->name_reason[id])
            continue;
        struct gt_str name = gt_store_string(store, (gt_strid)id);
        unsigned of_name = gt_traits_of(name, gt_labels_short_name(view->labels, (gt_strid)id));
        traits->of_name[id] = (uint16_t)of_name;
        traits->tensors[id] = of_name & GT_TRAIT_ELEMENTWISE ? (uint8_t)gt_traits_tensors_of(name, of_name) : 0;
        traits->of_any |= of_name;
    }
    if (!ok)
        gt_traits_release(traits);
    return ok ? GT_OK : gt_fail_memory(err);
}

void gt_traits_release(struct gt_traits *traits) {
    gt_mem_free(traits->of_name);
    gt_mem_free(traits->tensors);
    *traits = (struct gt_traits){0};
}
