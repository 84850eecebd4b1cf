/* The terminal as a writer sees it: colour, charset, wrapped text, rules and bars. */
#include "write/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/num.h"

#define DEFAULT_WIDTH 80
#define NARROWEST     20

/* The environment's word on the charset; the library must not call setlocale. Unset counts as UTF-8, which every
   terminal of today speaks. */
static bool charset_is_utf8(void) {
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *locale = getenv(variables[i]);
        if (!locale || !*locale)
            continue;
        const char *charset = strchr(locale, '.');
        if (charset)
            return strncasecmp(charset, ".utf-8", 6) == 0 || strncasecmp(charset, ".utf8", 5) == 0;
        return strcmp(locale, "C") != 0 && strcmp(locale, "POSIX") != 0;
    }
    return true;
}

void gt_screen_init(struct gt_screen *screen, const struct gputime_write_options *options, struct gt_out *out) {
    int64_t width = options->width > 0 ? options->width : DEFAULT_WIDTH;
    *screen = (struct gt_screen){
        .out = out,
        .width = width < NARROWEST ? NARROWEST
                 : width > 100000  ? 100000
                                   : (size_t)width,
        .color = options->color == GPUTIME_COLOR_ALWAYS,
        .utf8 = charset_is_utf8(),
    };
}

static void start_ink(const struct gt_screen *screen, enum gt_ink ink) {
    static const char *const codes[] = {
        [GT_INK_PLAIN] = "",         [GT_INK_BOLD] = "\33[1m",  [GT_INK_DIM] = "\33[2m",
        [GT_INK_ACCENT] = "\33[36m", [GT_INK_WARN] = "\33[33m",
    };
    if (screen->color)
        gt_out_text(screen->out, codes[ink]);
}

static void stop_ink(const struct gt_screen *screen, enum gt_ink ink) {
    if (screen->color && ink != GT_INK_PLAIN)
        gt_out_text(screen->out, "\33[0m");
}

void gt_screen_text(const struct gt_screen *screen, enum gt_ink ink, struct gt_str text) {
    start_ink(screen, ink);
    gt_glyph_text_put(screen->out, text, screen->utf8);
    stop_ink(screen, ink);
}

size_t gt_screen_short(const struct gt_screen *screen, enum gt_ink ink, struct gt_str text, size_t width) {
    struct gt_cut cut = gt_glyph_text_cut(text, width, screen->utf8);
    start_ink(screen, ink);
    size_t taken = gt_glyph_cut_put(screen->out, &cut, screen->utf8);
    stop_ink(screen, ink);
    return taken;
}

void gt_screen_blanks(const struct gt_screen *screen, size_t count) {
    gt_out_repeat(screen->out, " ", count);
}

void gt_screen_newline(const struct gt_screen *screen) {
    gt_out_char(screen->out, '\n');
}

void gt_screen_rule(const struct gt_screen *screen, bool is_double, size_t width) {
    const char *line = screen->utf8 ? (is_double ? "═" : "─") : (is_double ? "=" : "-");
    start_ink(screen, GT_INK_DIM);
    gt_out_repeat(screen->out, line, width);
    stop_ink(screen, GT_INK_DIM);
    gt_screen_newline(screen);
}

/* ---- wrapped text ---- */

struct wrap {
    const struct gt_screen *screen;
    size_t column, indent;
    size_t blanks; /* due before the next word of the line */
};

static void break_line(struct wrap *wrap) {
    gt_screen_newline(wrap->screen);
    gt_screen_blanks(wrap->screen, wrap->indent);
    wrap->column = wrap->indent;
    wrap->blanks = 0;
}

/* A word longer than a line is broken where the line ends. */
static void put_word(struct wrap *wrap, struct gt_str word) {
    const struct gt_screen *screen = wrap->screen;
    size_t width = gt_screen_measure(screen, word);
    if (wrap->column + wrap->blanks + width > screen->width && wrap->column > wrap->indent)
        break_line(wrap);
    gt_screen_blanks(screen, wrap->blanks);
    wrap->column += wrap->blanks;
    struct gt_glyphs glyphs = {.rest = word, .utf8 = screen->utf8};
    struct gt_glyph glyph;
    while (gt_glyph_next(&glyphs, &glyph)) {
        if (wrap->column + glyph.width > screen->width && wrap->column > wrap->indent)
            break_line(wrap);
        gt_out_write(screen->out, glyph.bytes, glyph.length);
        wrap->column += glyph.width;
    }
    wrap->blanks = 1;
}

void gt_screen_wrap(const struct gt_screen *screen, enum gt_ink ink, struct gt_str text, size_t column, size_t indent) {
    struct wrap wrap = {.screen = screen, .column = column, .indent = indent};
    start_ink(screen, ink);
    while (text.len) {
        const char *blank = memchr(text.ptr, ' ', text.len);
        size_t length = blank ? (size_t)(blank - text.ptr) : text.len;
        if (length)
            put_word(&wrap, (struct gt_str){text.ptr, length});
        length += blank ? 1 : 0;
        text = (struct gt_str){text.ptr + length, text.len - length};
    }
    stop_ink(screen, ink);
    gt_screen_newline(screen);
}

void gt_screen_remainder(const struct gt_screen *screen, size_t rows_hidden, const struct gt_table *table) {
    char number[GT_NUM_MAX], line[GT_NUM_MAX + 256];
    if (!rows_hidden)
        return;
    gt_num_format_grouped(number, (int64_t)rows_hidden);
    int used = snprintf(line, sizeof line, "%s and %s more %s ", screen->utf8 ? "…" : "...", number,
                        rows_hidden == 1 ? "row" : "rows");
    snprintf(line + used, sizeof line - (size_t)used,
             table->all_rows ? "(%s shows all)" : "(--table %s --top 0 shows all)",
             table->all_rows ? table->all_rows : table->key);
    gt_screen_wrap(screen, GT_INK_DIM, gt_str_of(line), 0, 0);
}

/* ---- bars ---- */

size_t gt_screen_bar(const struct gt_screen *screen, double share, size_t width) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    double exact = share > 1 ? (double)width : share > 0 ? share * (double)width : 0;
    if (exact <= 0)
        return 0;
    size_t steps = (size_t)(exact * 8 + 0.5);
    steps = steps ? steps : 1; /* little is not nothing */
    size_t whole = steps / 8, part = steps % 8;
    start_ink(screen, GT_INK_ACCENT);
    gt_out_repeat(screen->out, screen->utf8 ? "█" : "#", whole);
    if (part)
        gt_out_text(screen->out, screen->utf8 ? eighths[part] : "-");
    stop_ink(screen, GT_INK_ACCENT);
    return whole + (part > 0);
}
