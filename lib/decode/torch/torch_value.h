/* Members of trace events as numbers and times. */
#ifndef GT_DECODE_TORCH_TORCH_VALUE_H
#define GT_DECODE_TORCH_TORCH_VALUE_H

#include "decode/torch/torch_event.h"

enum gt_torch_number {
    GT_TORCH_NUMBER,
    GT_TORCH_ABSENT,     /* no such member, or null */
    GT_TORCH_UNREADABLE, /* inf, NaN, N/A, words, beyond 64 bits */
};

/* Numbers in quotes are numbers. Microseconds become ns exactly. */
enum gt_torch_number gt_torch_value_int(const struct gt_torch_event *event, enum gt_torch_field field, int64_t *value);
enum gt_torch_number gt_torch_value_micros(const struct gt_torch_event *event, enum gt_torch_field field, int64_t *ns);

/* The same for a value of any member. Of unsigned ones negative numbers are absent. */
enum gt_torch_number gt_torch_value_to_int(const struct gt_torch_value *value, int64_t *number);
enum gt_torch_number gt_torch_value_to_uint(const struct gt_torch_value *value, uint64_t *number);
enum gt_torch_number gt_torch_value_to_real(const struct gt_torch_value *value, double *number);

/* The kinds of memory in "Memcpy DtoH (Device -> Pageable)" and "Memset (Device)": enum gt_memory_kind. */
void gt_torch_value_memory_kinds(struct gt_str name, uint8_t *src, uint8_t *dst);

#endif
