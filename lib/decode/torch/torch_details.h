/* What newer releases add to kernels and operators, for torch_facts.h and the fast reader. */
#ifndef GT_DECODE_TORCH_TORCH_DETAILS_H
#define GT_DECODE_TORCH_TORCH_DETAILS_H

#include "decode/torch/torch_subject.h"

/* The `occupancy` of a kernel, an object: how many blocks fit, and what limits them. */
struct gt_torch_limits {
    struct gt_launch_details_row row; /* only what the object has; without the text */
    struct gt_json_value limiters;
    bool is_known; /* it has a member of these */
};

/* false: a number cannot be read, or the object is damaged; all else is there. */
bool gt_torch_details_read_limits(struct gt_str object, struct gt_torch_limits *limits);

/* About the kernel that was added last. object: its `occupancy`; NULL: it has none. others: all that is not in there.
 */
void gt_torch_details_of_launch(const struct gt_torch_subject *at, const struct gt_json_value *object,
                                const struct gt_launch_details_row *others);

/* About the operator that was added last. */
void gt_torch_details_of_operator(const struct gt_torch_subject *at);
bool gt_torch_details_has(const struct gt_torch_event *event);

#endif
