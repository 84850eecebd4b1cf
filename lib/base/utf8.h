/* Names come from anywhere: UTF-8 decoding that never fails, and text made valid. */
#ifndef GT_BASE_UTF8_H
#define GT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define GT_UTF8_UNKNOWN 0xfffdu /* represents bytes that are no text */

/* The character at *ptr (before end), which is moved past it. Bytes that are not UTF-8 give GT_UTF8_UNKNOWN, one for
   each longest broken sequence, as web browsers and Python decode them. */
uint32_t gt_utf8_next(const char **ptr, const char *end);
size_t gt_utf8_encode(char bytes[4], uint32_t c); /* its length, 1 to 4 */

/* The text with U+FFFD in place of what is not UTF-8: its length, at most three times that of the text, and itself;
   gives where it ends. */
size_t gt_utf8_valid_bytes(struct gt_str text);
char *gt_utf8_put_valid(char *out, struct gt_str text);
bool gt_utf8_is_valid(struct gt_str text); /* as it is */

#endif
