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

/* A field, quoted where RFC 4180 asks for it. Text that a spreadsheet would run as a formula gets an apostrophe
   before it; control characters except for tab, line feed and carriage return become U+FFFD. */
void gt_escape_csv(struct gt_out *out, struct gt_str text);

/* Inside a table cell or a line: plain where nothing in it could be markup, else as a code span. */
void gt_escape_markdown_name(struct gt_out *out, struct gt_str text);
/* A sentence of running text: what could be markup gets a backslash. */
void gt_escape_markdown_sentence(struct gt_out *out, struct gt_str text);

#endif
