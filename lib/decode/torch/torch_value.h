/* Members of trace events as numbers and times. */
#ifndef GT_DECODE_TORCH_TORCH_VALUE_H
#define GT_DECODE_TORCH_TORCH_VALUE_H

#include "decode/json/json_number.h"
#include "decode/torch/torch_event.h"

/* Numbers in quotes are numbers. Microseconds become ns exactly. */
enum gt_json_number gt_torch_value_int(const struct gt_torch_event *event, enum gt_torch_field field, int64_t *value);
enum gt_json_number gt_torch_value_micros(const struct gt_torch_event *event, enum gt_torch_field field, int64_t *ns);

/* The kinds of memory in "Memcpy DtoH (Device -> Pageable)" and "Memset (Device)": enum gt_memory_kind. */
void gt_torch_value_memory_kinds(struct gt_str name, uint8_t *src, uint8_t *dst);

#endif
