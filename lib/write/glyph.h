/* Text as the cells of a terminal: what is shown for each character and how many columns it takes. */
#ifndef GT_WRITE_GLYPH_H
#define GT_WRITE_GLYPH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/out.h"
#include "base/str.h"

/* What is on the screen for one character: control characters as their picture or U+FFFD, never raw. */
struct gt_glyph {
    char bytes[4];
    unsigned char length; /* of bytes */
    unsigned char width;  /* columns: 0 for a mark over the one before, 2 for wide ones */
};

/* Zero-initialise with text; utf8 false draws ASCII only. */
struct gt_glyphs {
    struct gt_str rest;
    bool utf8;
    unsigned marks; /* in a row: more than two would pile up over one column */
};

bool gt_glyph_next(struct gt_glyphs *glyphs, struct gt_glyph *glyph);

size_t gt_glyph_text_width(struct gt_str text, bool utf8);
void gt_glyph_text_put(struct gt_out *out, struct gt_str text, bool utf8);

#define GT_ELLIPSIS GT_STR("…")

/* What is left of a text that must fit a width: an ellipsis if something was taken off its front, the head, an
   ellipsis, the tail, an ellipsis if that is not the end. A text that fits is all head. */
struct gt_cut {
    struct gt_str head, tail;
    bool is_cut, has_lost_front, has_lost_end;
};

/* Cut in the middle. */
struct gt_cut gt_glyph_text_cut(struct gt_str text, size_t width, bool utf8);

/* The name of a kernel: of a C++ signature the function's own name is kept longest, then as much as fits of its
   template arguments, then of what it is qualified by. Any other name is cut in the middle. */
struct gt_cut gt_glyph_name_cut(struct gt_str name, size_t width, bool utf8);

/* The same name where that leaves nothing of what says it from another: its beginning, and what is at byte `at`,
   from which on they differ. */
struct gt_cut gt_glyph_name_cut_around(struct gt_str name, size_t at, size_t width, bool utf8);

/* Puts what is left. Gives the columns it took. */
size_t gt_glyph_cut_put(struct gt_out *out, const struct gt_cut *cut, bool utf8);

#endif
