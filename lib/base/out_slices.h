/* Many rows to one output, made by several threads: each slice of them in a buffer of its own, buffers in order. */
#ifndef GT_BASE_OUT_SLICES_H
#define GT_BASE_OUT_SLICES_H

#include <stddef.h>

#include "base/out.h"

/* Calls write(context, to, begin, end) for slices of the rows that together are all of them. `to` is the output itself
   where one thread writes them, or there are few. What comes out is the same with any number of threads; memory for
   two slices a thread is used. write may not wait for another slice. */
void gt_out_slices_write(struct gt_out *out, size_t threads, size_t row_count,
                         void (*write)(const void *context, struct gt_out *to, size_t begin, size_t end),
                         const void *context);

#endif
