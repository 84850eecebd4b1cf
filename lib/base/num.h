/* Numbers as text, exactly: decimal microseconds to nanoseconds without floating point, and back to people. */
#ifndef GT_BASE_NUM_H
#define GT_BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define GT_NUM_MAX 64 /* room for any number formatted here, with its NUL */

/* A decimal ("3847745009978.503", "12", "1.5e3", "-0.25") times 10^scale, rounded half away from zero to an integer.
   All of text must be the number. false: not a number, or outside int64. With scale 3, microseconds become ns. */
bool gt_num_parse_decimal(struct gt_str text, int scale, int64_t *value);

bool gt_num_parse_int(struct gt_str text, int64_t *value);   /* optional sign, digits, nothing else */
bool gt_num_parse_uint(struct gt_str text, uint64_t *value); /* digits, nothing else */
bool gt_num_parse_hex(struct gt_str text, uint64_t *value);  /* up to 16 digits of base 16, no prefix */
bool gt_num_parse_real(struct gt_str text, double *value);   /* locale-independent */

/* "1.2s", "350ms", "20us", "7ns"; a bare number counts as seconds. */
bool gt_num_parse_duration(struct gt_str text, int64_t *ns);

/* Each writes at most GT_NUM_MAX bytes with NUL and returns the length. None depends on the locale or writes "-0". */
size_t gt_num_format_int(char *buf, int64_t value);
size_t gt_num_format_grouped(char *buf, int64_t value); /* 1,234,567 */

/* A JSON number, the shortest that reads back the same; "null" if not finite. */
size_t gt_num_format_real(char *buf, double value);

/* Plain decimals (0 .. 30), rounded as printf does; an exponent where they would not fit. */
size_t gt_num_format_fixed(char *buf, double value, int decimals);

/* value / 10^digits (0 .. 18) with that many decimals, exact, half away from zero: ns as us is (v, 3, 2). */
size_t gt_num_format_scaled(char *buf, int64_t value, int digits, int decimals);

/* What a person reads: four significant digits at most with a unit that fits: "982 ns", "12.34 us", "1.203 s",
   "2 min 05 s"; "-" if not finite. */
size_t gt_num_format_duration(char *buf, double ns);
size_t gt_num_format_bytes(char *buf, double bytes); /* "1.5 MB": powers of 1000 */

#endif
