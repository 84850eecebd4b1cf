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
        struct gt_launch_details_row details;  /* GT_TORCH_ROLE_LIMITS */
    } row;
    uint32_t number;     /* in the order of learning */
    uint32_t text_bytes; /* 1 or more */
    uint32_t last_bits;  /* one for each byte of the text's last 32 or less */
    char text[];         /* GT_JSON_PADDING zero bytes after it */
};

struct gt_torch_repeats_slot {
    uint64_t hash;
    struct gt_torch_repeat *repeat; /* NULL: the slot is free */
};

enum { GT_TORCH_GUESSES = 1 << 14 };

struct gt_torch_repeats {
    struct gt_torch_repeats_slot *slots;    /* NULL: nothing was learned */
    size_t count[3];                        /* of operators, of kernels, of what limits these */
    const struct gt_torch_repeat **guesses; /* by context: what came next there; NULL: nothing so far */
    uint32_t context;                       /* of the next text: which came last */
    int trust;                              /* in guesses: whether of late most were right */
    struct gt_arena arena;
};

void gt_torch_repeats_init(struct gt_torch_repeats *repeats);
void gt_torch_repeats_release(struct gt_torch_repeats *repeats);

/* NULL: this text is new. */
const struct gt_torch_repeat *gt_torch_repeats_find(const struct gt_torch_repeats *repeats,
                                                    const struct simd_constants *k, struct gt_str text);

/* Programs run in loops, so what came after the last few texts will most likely come again. NULL: who knows. */
static inline const struct gt_torch_repeat *gt_torch_repeats_guess(const struct gt_torch_repeats *repeats) {
    return repeats->guesses && repeats->trust >= 0 ? repeats->guesses[repeats->context] : NULL;
}

/* Remembers what came now. */
static inline void gt_torch_repeats_met(struct gt_torch_repeats *repeats, const struct gt_torch_repeat *repeat) {
    enum { NUMBER_BITS = 5 }; /* what is left of a number when as many have come after it as the context has room for */
    enum { MOST_TRUST = 64, COST_OF_ERROR = 3 };
    if (!repeats->guesses)
        return;
    bool was_right = repeats->guesses[repeats->context] == repeat;
    repeats->trust += was_right && repeats->trust < MOST_TRUST ? 1 : 0;
    repeats->trust -= !was_right && repeats->trust > -MOST_TRUST ? COST_OF_ERROR : 0;
    repeats->guesses[repeats->context] = repeat;
    repeats->context =
        (repeats->context << NUMBER_BITS ^ repeat->number * UINT32_C(0x9e3779b1) >> 16) % GT_TORCH_GUESSES;
}

/* Learns what was made of the text: the last row of the builder, if it is of the op or operator that was added last.
   text: in bytes that GT_JSON_PADDING more may be read after. */
void gt_torch_repeats_learn(struct gt_torch_repeats *repeats, const struct simd_constants *k, enum gt_torch_role role,
                            struct gt_str text, const struct gt_store *store);

#endif
