/* The fast reader of events: bytes come in, rows go into the sink, for as long as the events look like ones that the
   portable reader has met before. What it reads, it reads as the portable reader would; all else it leaves alone. */
#ifndef GT_DECODE_TORCH_TORCH_FAST_H
#define GT_DECODE_TORCH_TORCH_FAST_H

#include "decode/torch/torch_region.h"

struct gt_torch_fast; /* what one thread has learned of the file */

/* NULL: not on this CPU, or memory was short; nothing is lost then. is_eager: it learns from a single event. facts: as
   for the sink. */
struct gt_torch_fast *gt_torch_fast_new(bool is_eager, uint32_t facts);
void gt_torch_fast_free(struct gt_torch_fast *fast); /* NULL is fine */

/* Reads events from bytes->p on, which is at a brace, up to the first that begins at or after the limit or that it
   cannot read, and moves bytes after them. Returns how many. */
uint64_t gt_torch_fast_run(struct gt_torch_fast *fast, struct gt_torch_sink *sink, struct gt_json_bytes *bytes,
                           uint64_t limit);

/* Learns from an event at bytes->p that the portable reader has read at its first try, with nothing odd in it, and what
   the sink has made of it. */
void gt_torch_fast_learn(struct gt_torch_fast *fast, const struct gt_torch_event *event,
                         const struct gt_json_bytes *bytes, const struct gt_torch_sink *sink);

#endif
