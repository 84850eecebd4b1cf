/* Named scopes (jax.named_scope): the scope of each op of a stream comes in, a range on the GPU goes out for ops of one
   scope that follow each other. One belongs to one thread; those of all are joined at the end. */
#ifndef GT_DECODE_XLA_XLA_SCOPES_H
#define GT_DECODE_XLA_XLA_SCOPES_H

#include "decode/xla/xla_names.h"
#include "events/builder.h"

/* Ops of one scope that follow each other. */
struct gt_xla_scope_run {
    uint64_t order; /* of the piece of the line */
    int64_t device, stream;
    int64_t start_ns, end_ns;
    struct gt_str scope; /* empty: ops of no scope */
};

struct gt_xla_scopes {
    struct gt_strtab texts;
    struct gt_xla_scope_run *runs;
    size_t count, capacity;
    bool failed;
};

/* The scope in the name of an operation, "jit(f)/layer0/dot_general": all but its last part. */
struct gt_str gt_xla_scopes_of(struct gt_str operation);

void gt_xla_scopes_add(struct gt_xla_scopes *scopes, uint64_t order, const struct gt_xla_line *line,
                       struct gt_str operation, int64_t start_ns, int64_t end_ns);
void gt_xla_scopes_release(struct gt_xla_scopes *scopes);

/* Adds the ranges to a builder. false: memory was short. */
bool gt_xla_scopes_join(struct gt_xla_scopes *const *scopes, size_t count, struct gt_builder *builder,
                        uint32_t process);

#endif
