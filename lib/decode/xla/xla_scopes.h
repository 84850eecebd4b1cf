/* Named scopes (jax.named_scope), which XLA's profiler gives as a text with each kernel: the scopes of ops come in,
   ranges go out. One belongs to one thread; those of all are joined at the end. */
#ifndef GT_DECODE_XLA_XLA_SCOPES_H
#define GT_DECODE_XLA_XLA_SCOPES_H

#include "decode/xla/xla_names.h"
#include "events/builder.h"

/* An op of a scope; without one: ops that follow each other end here. Those who add one give no text and no scope. */
struct gt_xla_scope_op {
    uint64_t order; /* of the piece of the line */
    int64_t device, stream;
    int64_t start_ns, end_ns;
    uint64_t correlation;
    struct gt_str operation; /* before the scopes are joined; "": none */
    gt_strid text;           /* of it */
    struct gt_str scope;     /* after it */
};

struct gt_xla_scopes {
    struct gt_strtab texts;
    struct gt_xla_scope_op *ops;
    size_t count, capacity;
    bool failed;
};

/* The scope in the name of an operation, "jit(f)/layer0/dot_general": all but its last part. XLA names a kernel that
   fuses several operations after what their names begin with, "jit(f)/jvp(layer0)", which is all scope: only scopes,
   never operations, end with a bracket. */
struct gt_str gt_xla_scopes_of(struct gt_str operation);

/* op->operation is borrowed for the call. Of ops without one that follow each other in a piece the first is enough; a
   piece that begins with such an op needs it, since what the piece before it ends with is not known here. */
void gt_xla_scopes_add(struct gt_xla_scopes *scopes, const struct gt_xla_scope_op *op);

/* Most files have no scopes. */
static inline bool gt_xla_scopes_has_any(const struct gt_xla_scopes *scopes) {
    return scopes->texts.strings != NULL;
}

void gt_xla_scopes_release(struct gt_xla_scopes *scopes);

/* Adds the ranges to the first of the builders, which have all calls: one around the call that launched an op, as other
   profilers record it; for ops without a call one on the GPU, around those that follow each other. false: memory was
   short. */
bool gt_xla_scopes_join(struct gt_xla_scopes *const *scopes, struct gt_builder *const *builders, size_t count,
                        uint32_t process);

#endif
