/* The terminal as a writer sees it: so many columns, colour or not, UTF-8 or only ASCII. All text passes through here,
   so nothing from a trace reaches a terminal raw. */
#ifndef GT_WRITE_SCREEN_H
#define GT_WRITE_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/out.h"
#include "base/str.h"
#include "gputime.h"
#include "report/table.h"
#include "write/glyph.h"

struct gt_screen {
    struct gt_out *out;
    size_t width;
    bool color, utf8;
};

enum gt_ink { GT_INK_PLAIN, GT_INK_BOLD, GT_INK_DIM, GT_INK_ACCENT, GT_INK_WARN };

void gt_screen_init(struct gt_screen *screen, const struct gputime_write_options *options, struct gt_out *out);

void gt_screen_text(const struct gt_screen *screen, enum gt_ink ink, struct gt_str text);
/* At most width columns, cut in the middle. Gives the columns taken. */
size_t gt_screen_short(const struct gt_screen *screen, enum gt_ink ink, struct gt_str text, size_t width);
void gt_screen_blanks(const struct gt_screen *screen, size_t count);
void gt_screen_newline(const struct gt_screen *screen);

/* A line of ─ (or -), or ═ (or =), in dim ink. */
void gt_screen_rule(const struct gt_screen *screen, bool is_double, size_t width);

/* Words from column `column` on, where the cursor is; following lines start at column `indent`. Ends the line. */
void gt_screen_wrap(const struct gt_screen *screen, enum gt_ink ink, struct gt_str text, size_t column, size_t indent);

/* The line below a table that says how many rows of it are not shown; nothing where all are. */
void gt_screen_remainder(const struct gt_screen *screen, size_t rows_hidden, const struct gt_table *table);

/* share 0..1 of `width` columns, to an eighth of a column where the charset has it. Gives the columns taken. */
size_t gt_screen_bar(const struct gt_screen *screen, double share, size_t width);

static inline size_t gt_screen_measure(const struct gt_screen *screen, struct gt_str text) {
    return gt_glyph_text_width(text, screen->utf8);
}

#endif
