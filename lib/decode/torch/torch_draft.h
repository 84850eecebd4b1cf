/* One event on its way into the learned layout: its text comes in, literals and the values between them go out. */
#ifndef GT_DECODE_TORCH_TORCH_DRAFT_H
#define GT_DECODE_TORCH_TORCH_DRAFT_H

#include "decode/torch/torch_layout.h"

enum { GT_TORCH_DRAFT_STEPS = 64 };

struct gt_torch_step {
    struct gt_str literal, value;
    enum gt_torch_slot slot;
    enum gt_torch_field field;
    uint32_t indent;
};

struct gt_torch_draft {
    struct gt_torch_purpose purpose; /* set by the caller */
    const struct gt_torch_event *event;
    bool needs_fold;     /* a value that is wanted is text that represents a track */
    uint32_t seen;       /* fields met so far */
    const char *literal; /* begins here and is not yet ended */
    struct gt_torch_step steps[GT_TORCH_DRAFT_STEPS];
    size_t step_count;
    struct gt_torch_step *repeated; /* of GT_TORCH_SLOT_REPEATED, if there is one */
};

/* The event's text begins at p, [p, end) are the bytes available. false: it is not fit to learn from. */
bool gt_torch_draft_make(struct gt_torch_draft *draft, const struct gt_torch_event *event, const char *p,
                         const char *end);

#endif
