/* Looks for the patterns of traits.def in the names of kernels, and puts together what they mean. */
#include "measure/findings/traits.h"

#include "base/mem.h"

/* What a pattern says; enum gt_trait is what follows from all. */
enum mark {
    ELEMENTWISE = 1 << 0,
    MOVE = 1 << 1,
    INDEXED = 1 << 2,
    UPDATE = 1 << 3,
    PRODUCT = 1 << 4,
    ORDINARY = 1 << 5,
    AMD_SINGLE = 1 << 6,
    AMD_MATRIX = 1 << 7,
    HALF = 1 << 8,
    TENSOR = 1 << 9,
    FUSED_ATTENTION = 1 << 10,
    SOFTMAX = 1 << 11,
    LOG_SOFTMAX = 1 << 12,
    BETWEEN = 1 << 13,
    CONVOLUTION = 1 << 14,
};

enum where { SHORT, FULL };

static const struct {
    unsigned mark;
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

static unsigned marks_of(struct gt_str name, struct gt_str short_name) {
    unsigned marks = 0;
    for (size_t i = 0; i < GT_ARRAY_COUNT(patterns); i++)
        if (!(marks & patterns[i].mark) && matches(patterns[i].where == FULL ? name : short_name, patterns[i].pattern))
            marks |= patterns[i].mark;
    return marks;
}

static bool is_ordinary(unsigned marks) {
    bool is_amd = (marks & AMD_SINGLE) && (marks & PRODUCT) && !(marks & AMD_MATRIX);
    return (is_amd || (marks & ORDINARY)) && !(marks & (TENSOR | FUSED_ATTENTION));
}

unsigned gt_traits_of(struct gt_str name, struct gt_str short_name) {
    unsigned marks = marks_of(name, short_name), traits = 0;
    bool is_generated = gt_str_starts(short_name, GT_STR("triton_"));
    if ((marks & ELEMENTWISE) && !(marks & INDEXED) && !is_generated) {
        traits |= GT_TRAIT_ELEMENTWISE;
        traits |= marks & MOVE ? GT_TRAIT_MOVE : 0;
        traits |= marks & UPDATE ? GT_TRAIT_UPDATE : 0;
        return traits; /* the functor of such a kernel may have any name */
    }
    if ((marks & SOFTMAX) && !(marks & (LOG_SOFTMAX | FUSED_ATTENTION)))
        return GT_TRAIT_SOFTMAX;
    if (marks & BETWEEN)
        return GT_TRAIT_BETWEEN;
    traits |= (marks & PRODUCT) && !(marks & FUSED_ATTENTION) ? GT_TRAIT_PRODUCT : 0;
    if (is_ordinary(marks))
        traits |=
            GT_TRAIT_ORDINARY | (marks & HALF ? GT_TRAIT_HALF : 0) | (marks & CONVOLUTION ? GT_TRAIT_CONVOLUTION : 0);
    return traits;
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
    size_t count = view->store->strings.count;
    uint8_t *is_known = gt_mem_array(count, 1);
    *traits = (struct gt_traits){gt_mem_array(count, sizeof *traits->of_name), gt_mem_array(count, 1), 0};
    bool ok = is_known && traits->of_name && traits->tensors;
    for (size_t i = 0; i < view->op_count && ok; i++) {
        gt_strid id = view->name[i];
        if (is_known[id] || gt_view_op_kind(view, i) != GT_OP_KERNEL)
            continue;
        struct gt_str name = gt_view_op_name(view, i);
        unsigned of_name = gt_traits_of(name, gt_labels_short_name(view->labels, id));
        is_known[id] = 1;
        traits->of_name[id] = (uint16_t)of_name;
        traits->tensors[id] = of_name & GT_TRAIT_ELEMENTWISE ? (uint8_t)gt_traits_tensors_of(name, of_name) : 0;
        traits->of_any |= of_name;
    }
    gt_mem_free(is_known);
    if (!ok)
        gt_traits_release(traits);
    return ok ? GT_OK : gt_fail_memory(err);
}

void gt_traits_release(struct gt_traits *traits) {
    gt_mem_free(traits->of_name);
    gt_mem_free(traits->tensors);
    *traits = (struct gt_traits){0};
}
