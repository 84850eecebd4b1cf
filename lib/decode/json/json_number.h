/* Numbers in values of JSON; those in quotes are numbers, too. */
#ifndef GT_DECODE_JSON_JSON_NUMBER_H
#define GT_DECODE_JSON_JSON_NUMBER_H

#include <stdint.h>

#include "decode/json/json_scan.h"

enum gt_json_number {
    GT_JSON_NUMBER,
    GT_JSON_ABSENT,     /* no such member, or null */
    GT_JSON_UNREADABLE, /* inf, NaN, N/A, words, beyond 64 bits */
};

/* The number's text; of a quoted one without the white space around it. */
enum gt_json_number gt_json_number_text(const struct gt_json_value *value, struct gt_str *text);

/* Of unsigned ones negative numbers are absent. */
enum gt_json_number gt_json_number_to_int(const struct gt_json_value *value, int64_t *number);
enum gt_json_number gt_json_number_to_uint(const struct gt_json_value *value, uint64_t *number);
enum gt_json_number gt_json_number_to_real(const struct gt_json_value *value, double *number);

#endif
