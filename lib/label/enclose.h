/* Which of some spans on tracks lie around others: what was open on a thread when something happened there. */
#ifndef GT_LABEL_ENCLOSE_H
#define GT_LABEL_ENCLOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_enclose_span {
    int64_t start_ns, end_ns;
    uint32_t track;
    uint32_t id; /* the caller's */
};

/* Sorts both lists and calls `found` for each span of `inner` that lies within one of `outer` on its track, with the
   ids of the two. Of several the innermost counts: the one that begins last, then the shorter, then the higher id.
   false: memory was short. O(n log n), however spans nest and overlap. */
bool gt_enclose(struct gt_enclose_span *outer, size_t outer_count, struct gt_enclose_span *inner, size_t inner_count,
                void (*found)(void *context, uint32_t inner_id, uint32_t outer_id), void *context);

#endif
