/* Members of an object that is at hand as text, for the args that only some analyses ask for: the text comes in, values
   go out by the keys of a table. Headers of documents are read with it, too. */
#ifndef GT_DECODE_TORCH_TORCH_ARGS_H
#define GT_DECODE_TORCH_TORCH_ARGS_H

#include "decode/torch/torch_subject.h"

/* A key and the number of its value. Several keys may have the same: of these the first one in the text counts. */
struct gt_torch_args_key {
    struct gt_str key;
    unsigned field; /* below GT_TORCH_ARGS_MAX */
};
enum { GT_TORCH_ARGS_MAX = 32 };

/* Only values whose bit in `seen` is set mean anything. */
struct gt_torch_args {
    uint32_t seen;
    bool is_damaged; /* members may be missing */
    struct gt_json_value values[GT_TORCH_ARGS_MAX];
};

void gt_torch_args_read(struct gt_torch_args *args, const struct gt_torch_event *event,
                        const struct gt_torch_args_key *keys, size_t count);

/* The same for the text of another object, from its brace on. */
void gt_torch_args_read_object(struct gt_torch_args *args, struct gt_str object, const struct gt_torch_args_key *keys,
                               size_t count);

/* The same for some members of the args alone. false: there are others than those of the table, or one twice,
   or they are not written as they should be. */
bool gt_torch_args_read_members(struct gt_torch_args *args, struct gt_str text, const struct gt_torch_args_key *keys,
                                size_t count);

/* The same for an event that becomes rows; damage is counted. */
void gt_torch_args_take(struct gt_torch_args *args, const struct gt_torch_subject *at,
                        const struct gt_torch_args_key *keys, size_t count);

static inline bool gt_torch_args_has(const struct gt_torch_args *args, unsigned field) {
    return args->seen >> field & 1;
}

/* Numbers; what cannot be read is counted and absent. Of unsigned ones negative numbers are absent too, and UINT64_MAX
   says so; of real ones -1. */
int64_t gt_torch_args_int(const struct gt_torch_subject *at, const struct gt_torch_args *args, unsigned field,
                          int64_t absent);
uint64_t gt_torch_args_uint(const struct gt_torch_subject *at, const struct gt_torch_args *args, unsigned field);
double gt_torch_args_real(const struct gt_torch_subject *at, const struct gt_torch_args *args, unsigned field);

/* A text, decoded, or a nested value as it is written; "" where there is none. */
gt_strid gt_torch_args_text(const struct gt_torch_subject *at, const struct gt_torch_args *args, unsigned field);

#endif
