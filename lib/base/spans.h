/* The order of spans of time that sweeps and trees use: start, longer first. */
#ifndef GT_BASE_SPANS_H
#define GT_BASE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intervals.h"

/* Sorts rows of spans by start, then longer first; equal ones keep their order. Linear; where they are nearly sorted,
   as traces mostly are, without any memory. false: memory was short, and the rows are in any order. */
bool gt_spans_sort(uint32_t *rows, size_t count, const int64_t *start_ns, const int64_t *end_ns);

/* The same by so many threads, where the rows are in much disorder. */
bool gt_spans_sort_on(uint32_t *rows, size_t count, const int64_t *start_ns, const int64_t *end_ns, size_t threads);

/* The same of spans that are no columns: a function says when a row starts and ends. */
typedef struct gt_interval gt_span_fn(const void *context, uint32_t row);
bool gt_spans_sort_by(uint32_t *rows, size_t count, gt_span_fn *span_of, const void *context);

#endif
