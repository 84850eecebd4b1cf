/* Names come from anywhere: text made safe for JSON, CSV and Markdown. */
#ifndef GT_WRITE_ESCAPE_H
#define GT_WRITE_ESCAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"
#include "base/str.h"
#include "base/utf8.h"

/* Characters that steer a terminal, reorder the text around them or hide: never shown raw to people. */
bool gt_escape_char_is_control(uint32_t c);

/* With its quotes. The result may be inside a script element of a page: no "</", no "<!", no U+2028. */
void gt_escape_json(struct gt_out *out, struct gt_str text);

void gt_escape_json_inside(struct gt_out *out, struct gt_str text); /* without them */

/* What is the same in JSON; '<' is, too, where what follows it is not one of those. */
static inline bool gt_escape_is_plain_json(unsigned char byte) {
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\' && byte != '<';
}

/* Eight bytes at once: subtracting 1 from each sets the highest bit of those that were 0 or had it, as above 0x7e. */
static inline bool gt_escape_are_plain_json(uint64_t bytes) {
    const uint64_t ones = UINT64_C(0x0101010101010101), highest = ones << 7;
    uint64_t quotes = bytes ^ ones * '"', slashes = bytes ^ ones * '\\', less = bytes ^ ones * '<';
    uint64_t found = ((bytes - ones * 0x20) & ~bytes) | bytes | (bytes + ones);
    found |= ((quotes - ones) & ~quotes) | ((slashes - ones) & ~slashes) | ((less - ones) & ~less);
    return !(found & highest);
}

/* A field, quoted where RFC 4180 asks for it. Text that a spreadsheet would run as a formula gets an apostrophe
   before it; control characters except for tab, line feed and carriage return become U+FFFD. */
void gt_escape_csv(struct gt_out *out, struct gt_str text);

/* Inside a table cell or a line: plain where nothing in it could be markup, else as a code span. */
void gt_escape_markdown_name(struct gt_out *out, struct gt_str text);
/* A sentence of running text: what could be markup gets a backslash. */
void gt_escape_markdown_sentence(struct gt_out *out, struct gt_str text);

#endif
