/* Parts of args that repeat from event to event: shapes of operators, launch configurations. The row that the portable
   reader made of one goes in with its text; where the same text comes again, that row comes out, without the members
   that differ from event to event. x86-64 with AVX2 only, as torch_fast.h. */
#ifndef GT_DECODE_TORCH_TORCH_REPEATS_H
#define GT_DECODE_TORCH_TORCH_REPEATS_H

#include "decode/torch/torch_layout.h"
#include "decode/torch/torch_simd.h"
#include "events/builder.h"

struct gt_torch_repeat {
    enum gt_torch_role role; /* which of the rows it is */
    union {
        struct gt_operator_args_row arguments; /* GT_TORCH_ROLE_ARGUMENTS */
        struct gt_kernel_configs_row config;   /* GT_TORCH_ROLE_CONFIG */
    } row;
    uint32_t text_bytes; /* 1 or more */
    uint32_t last_bits;  /* one for each byte of the text's last 32 or less */
    char text[];         /* GT_TORCH_PADDING zero bytes after it */
};

struct gt_torch_repeats_slot {
    uint64_t hash;
    struct gt_torch_repeat *repeat; /* NULL: the slot is free */
};

struct gt_torch_repeats {
    struct gt_torch_repeats_slot *slots; /* NULL: nothing was learned */
    size_t count[2];                     /* of operators, of kernels */
    struct gt_arena arena;
};

void gt_torch_repeats_init(struct gt_torch_repeats *repeats);
void gt_torch_repeats_release(struct gt_torch_repeats *repeats);

/* NULL: this text is new. */
const struct gt_torch_repeat *gt_torch_repeats_find(const struct gt_torch_repeats *repeats,
                                                    const struct simd_constants *k, struct gt_str text);

/* Learns what was made of the text: the last row of the builder, if it is of the op or operator that was added last.
   text: in bytes that GT_TORCH_PADDING more may be read after. */
void gt_torch_repeats_learn(struct gt_torch_repeats *repeats, const struct simd_constants *k, enum gt_torch_role role,
                            struct gt_str text, const struct gt_store *store);

#endif
