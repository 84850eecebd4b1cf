/* What the files that format numbers share. */
#ifndef GT_BASE_NUM_DIGITS_H
#define GT_BASE_NUM_DIGITS_H

#include <stddef.h>
#include <stdint.h>

/* Writes at least min_digits (1 .. 20) digits, zeros before them; no NUL. */
size_t gt_num_digits_put(char *buf, uint64_t value, size_t min_digits);

/* snprintf into GT_NUM_MAX bytes with a point for the decimals, whatever the locale of the program. */
size_t gt_num_digits_print(char *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
