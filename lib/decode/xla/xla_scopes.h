/* Named scopes (jax.named_scope), which XLA's profiler gives as a text with each kernel: the scopes of ops come in,
   ranges go out. One belongs to one thread; those of all are joined at the end. */
#ifndef GT_DECODE_XLA_XLA_SCOPES_H
#define GT_DECODE_XLA_XLA_SCOPES_H

#include "decode/xla/xla_names.h"
#include "events/builder.h"

/* An op of a scope; without one: ops that follow each other end here. */
struct gt_xla_scope_op {
    uint64_t order; /* of the piece of the line */
    int64_t device, stream;
    int64_t start_ns, end_ns;
    uint64_t correlation;
    struct gt_str scope;
};

struct gt_xla_scopes {
    struct gt_strtab texts;
    struct gt_xla_scope_op *ops;
    size_t count, capacity;
    bool failed;
};

/* The scope in the name of an operation, "jit(f)/layer0/dot_general": all but its last part. */
struct gt_str gt_xla_scopes_of(struct gt_str operation);

/* op->scope is borrowed for the call. */
void gt_xla_scopes_add(struct gt_xla_scopes *scopes, const struct gt_xla_scope_op *op);
void gt_xla_scopes_release(struct gt_xla_scopes *scopes);

/* Adds the ranges to the first of the builders, which have all calls: one around the call that launched an op, as other
   profilers record it; for ops without a call one on the GPU, around those that follow each other. false: memory was
   short. */
bool gt_xla_scopes_join(struct gt_xla_scopes *const *scopes, struct gt_builder *const *builders, size_t count,
                        uint32_t process);

#endif
