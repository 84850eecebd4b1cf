/* Traits: what the name of a kernel says about the operation it does and how. */
#ifndef GT_MEASURE_FINDINGS_TRAITS_H
#define GT_MEASURE_FINDINGS_TRAITS_H

#include "events/view.h"

enum gt_trait {
    GT_TRAIT_ELEMENTWISE = 1 << 0, /* one operation over every element of its tensors, not made by a compiler */
    GT_TRAIT_MOVE = 1 << 1,        /* such a kernel that only moves, casts or fills */
    GT_TRAIT_PRODUCT = 1 << 2,     /* a matrix product */
    GT_TRAIT_ORDINARY = 1 << 3,    /* a product or convolution in float32 without tensor instructions */
    GT_TRAIT_HALF = 1 << 4,        /* such a kernel whose data has 16 bits */
    GT_TRAIT_CONVOLUTION = 1 << 5, /* likewise one that is a convolution */
    GT_TRAIT_SOFTMAX = 1 << 6,     /* not its logarithm, which losses use */
    GT_TRAIT_BETWEEN = 1 << 7,     /* may lie between the products and the softmax of attention */
    GT_TRAIT_UPDATE = 1 << 8,      /* an operation that only optimizers use */
    GT_TRAIT_LAYOUT = 1 << 9,      /* converts the layout of a tensor for a convolution */
    GT_TRAIT_TENSOR = 1 << 10,     /* uses tensor instructions, as its name says */
};

struct gt_traits {
    uint16_t *of_name; /* by string id: bits, only for names of kernels and graphs; NULL where memory was short */
    uint8_t *tensors;  /* likewise, of element-wise kernels: how many tensors they read and write */
    unsigned of_any;   /* of all of them together, in the view or not */
};

/* Of one name, and its simplified form. */
unsigned gt_traits_of(struct gt_str name, struct gt_str short_name);
unsigned gt_traits_tensors_of(struct gt_str name, unsigned traits);

/* Each distinct name is looked at once; linear in strings. */
enum gt_status gt_traits_init(struct gt_traits *traits, const struct gt_view *view, struct gt_error *err);
void gt_traits_release(struct gt_traits *traits);

static inline unsigned gt_traits_of_op(const struct gt_traits *traits, const struct gt_view *view, size_t position) {
    return gt_view_op_kind(view, position) == GT_OP_KERNEL ? traits->of_name[view->name[position]] : 0;
}

#endif
