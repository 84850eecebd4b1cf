/* Text as the cells of a terminal: control characters made visible, widths counted, long names cut in the middle. */
#include "write/glyph.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/mangled.h"
#include "write/escape.h"

#define NARROWEST_PARTS 4   /* columns for two parts of a name to say anything */
#define DEEPEST         128 /* brackets in brackets; what lies deeper is taken as cut off */
#define LONGEST_WORD    10  /* that is shown from its beginning if its end distinguishes names */

struct range {
    uint32_t first, last;
};

static bool is_in(uint32_t c, const struct range *ranges, size_t count) {
    for (size_t i = 0; i < count && c >= ranges[i].first; i++) {
        if (c <= ranges[i].last)
            return true;
    }
    return false;
}

/* The blocks that names really use; a script outside them may be a column off, nothing worse. */
static unsigned char width_of(uint32_t c) {
    static const struct range marks[] = {
        {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f}, {0x093c, 0x093c},
        {0x094d, 0x094d}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
        {0x20d0, 0x20ff}, {0x302a, 0x302d}, {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
    };
    static const struct range wide[] = {
        {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x25fd, 0x25fe},   {0x2614, 0x2615},
        {0x26a1, 0x26a1},   {0x2705, 0x2705},   {0x2728, 0x2728},   {0x274c, 0x274c},   {0x2b50, 0x2b50},
        {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xa000, 0xa4cf},
        {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
        {0xffe0, 0xffe6},   {0x17000, 0x18cff}, {0x1b000, 0x1b2ff}, {0x1f18e, 0x1f18e}, {0x1f200, 0x1f265},
        {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff},
        {0x20000, 0x3fffd},
    };
    if (c < 0x300)
        return 1;
    if (is_in(c, marks, sizeof marks / sizeof *marks))
        return 0;
    return is_in(c, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

/* One ASCII character for one that the terminal cannot show. */
static char ascii_of(uint32_t c) {
    switch (c) {
    case 0x00b5:
    case 0x03bc:
        return 'u';
    case 0x00d7:
        return 'x';
    case 0x2012:
    case 0x2013:
    case 0x2014:
        return '-';
    case 0x2192:
        return '>';
    case 0x00b7:
        return '.';
    case 0x2026: /* a point would look like a part of the name */
        return '~';
    default:
        return '?';
    }
}

bool gt_glyph_next(struct gt_glyphs *glyphs, struct gt_glyph *glyph) {
    if (!glyphs->rest.len)
        return false;
    const char *at = glyphs->rest.ptr, *end = at + glyphs->rest.len;
    uint32_t c = gt_utf8_next(&at, end);
    glyphs->rest = (struct gt_str){at, (size_t)(end - at)};
    if (gt_escape_char_is_control(c))
        c = c < 0x20 ? 0x2400 + c : c == 0x7f ? 0x2421 : GT_UTF8_UNKNOWN;
    unsigned char width = width_of(c);
    if (width)
        glyphs->marks = 0;
    else if (++glyphs->marks > 2 || !glyphs->utf8) {
        c = GT_UTF8_UNKNOWN;
        width = 1;
    }
    if (c >= 0x80 && !glyphs->utf8) {
        c = (unsigned char)ascii_of(c);
        width = 1;
    }
    glyph->width = width;
    glyph->length = (unsigned char)gt_utf8_encode(glyph->bytes, c);
    return true;
}

/* Takes the plain ASCII off the front, which is nearly all there ever is: each byte is shown as it is in one column. */
static struct gt_str take_plain(struct gt_glyphs *glyphs) {
    struct gt_str plain = {glyphs->rest.ptr, 0};
    while (plain.len < glyphs->rest.len && plain.ptr[plain.len] >= 0x20 && plain.ptr[plain.len] < 0x7f)
        plain.len++;
    if (plain.len) {
        glyphs->rest = (struct gt_str){plain.ptr + plain.len, glyphs->rest.len - plain.len};
        glyphs->marks = 0;
    }
    return plain;
}

size_t gt_glyph_text_width(struct gt_str text, bool utf8) {
    struct gt_glyphs glyphs = {.rest = text, .utf8 = utf8};
    struct gt_glyph glyph;
    size_t width = take_plain(&glyphs).len;
    while (gt_glyph_next(&glyphs, &glyph))
        width += glyph.width + take_plain(&glyphs).len;
    return width;
}

void gt_glyph_text_put(struct gt_out *out, struct gt_str text, bool utf8) {
    struct gt_glyphs glyphs = {.rest = text, .utf8 = utf8};
    struct gt_glyph glyph;
    do {
        struct gt_str plain = take_plain(&glyphs);
        if (plain.len)
            gt_out_str(out, plain);
        glyph.length = 0;
        if (gt_glyph_next(&glyphs, &glyph))
            gt_out_write(out, glyph.bytes, glyph.length);
    } while (glyph.length);
}

/* The first bytes that fill at most `width` columns. */
static struct gt_str head_of(struct gt_str text, size_t width, bool utf8) {
    struct gt_glyphs glyphs = {.rest = text, .utf8 = utf8};
    struct gt_glyph glyph;
    size_t column = take_plain(&glyphs).len, length = text.len - glyphs.rest.len;
    if (column >= width)
        length = width;
    while (column <= width && gt_glyph_next(&glyphs, &glyph) && column + glyph.width <= width) {
        column += glyph.width;
        length = text.len - glyphs.rest.len;
    }
    return (struct gt_str){text.ptr, length};
}

/* What starts at that column or after it, but not with a mark that belongs to the character before. */
static struct gt_str tail_from(struct gt_str text, size_t from, bool utf8) {
    struct gt_glyphs glyphs = {.rest = text, .utf8 = utf8};
    struct gt_glyph glyph;
    struct gt_str tail = text;
    for (size_t column = 0; gt_glyph_next(&glyphs, &glyph); tail = glyphs.rest) {
        if (column >= from && glyph.width)
            break;
        column += glyph.width;
    }
    return tail;
}

struct gt_cut gt_glyph_text_cut(struct gt_str text, size_t width, bool utf8) {
    size_t whole = gt_glyph_text_width(text, utf8);
    if (whole <= width)
        return (struct gt_cut){.head = text};
    size_t left = width ? width - 1 : 0, tail = left / 2;
    return (struct gt_cut){
        .head = head_of(text, left - tail, utf8), .tail = tail_from(text, whole - tail, utf8), .is_cut = true};
}

/* ---- C++ signatures ---- */

/* Where the function's own name is in a signature. */
struct own_name {
    size_t start, end;
};

/* After the bracket that closes the one at `open`; the text's end if none does. Inside round brackets `>` compares:
   enable_if<(8 > 0)>. */
static size_t bracket_end(struct gt_str text, size_t open) {
    char opened[DEEPEST];
    size_t depth = 0;
    for (size_t i = open; i < text.len; i++) {
        char c = text.ptr[i];
        bool is_arrow = c == '>' && i && text.ptr[i - 1] == '-';
        if (c == '<' || c == '(' || c == '{') {
            if (depth == DEEPEST)
                break;
            opened[depth++] = c;
        } else if (c == '>' && !is_arrow) {
            depth -= depth && opened[depth - 1] == '<';
        } else if (c == ')' || c == '}') {
            const char *last = depth ? memrchr(opened, c == ')' ? '(' : '{', depth) : NULL;
            depth = last ? (size_t)(last - opened) : depth;
        }
        if (depth == 0)
            return i + 1;
    }
    return text.len;
}

/* A bracket followed by :: qualifies, as in (anonymous namespace)::f; the first other one begins the arguments. */
static struct own_name find_own_name(struct gt_str text) {
    struct gt_str mangled = gt_mangled_name(text);
    if (mangled.len) {
        size_t start = (size_t)(mangled.ptr - text.ptr);
        return (struct own_name){start, start + mangled.len};
    }
    struct gt_str qualifier = GT_STR("::"), result = GT_STR("void ");
    struct own_name own = {.start = gt_str_starts(text, result) ? result.len : 0};
    while (own.end < text.len) {
        struct gt_str rest = {text.ptr + own.end, text.len - own.end};
        if (gt_str_starts(rest, qualifier)) {
            own.end += qualifier.len;
            own.start = own.end;
        } else if (memchr("<({", rest.ptr[0], 3)) {
            size_t end = bracket_end(text, own.end);
            if (!gt_str_starts((struct gt_str){text.ptr + end, text.len - end}, qualifier))
                break;
            own.end = end;
        } else {
            own.end++;
        }
    }
    return own;
}

struct gt_cut gt_glyph_name_cut(struct gt_str name, size_t width, bool utf8) {
    if (gt_glyph_text_width(name, utf8) <= width)
        return (struct gt_cut){.head = name};
    struct own_name own = find_own_name(name);
    if (own.end == own.start || own.end == name.len)
        return gt_glyph_text_cut(name, width, utf8);
    /* Namespaces say least, so they go first; then the arguments from their end. */
    struct gt_str rest = {name.ptr + own.start, name.len - own.start};
    bool has_lost_front = own.start > 0, is_cut = gt_glyph_text_width(rest, utf8) + has_lost_front > width;
    if (gt_glyph_text_width((struct gt_str){rest.ptr, own.end - own.start}, utf8) + has_lost_front + 1 <= width)
        return (struct gt_cut){.head = is_cut ? head_of(rest, width - has_lost_front - 1, utf8) : rest,
                               .is_cut = is_cut,
                               .has_lost_front = has_lost_front};
    struct gt_str alone = {name.ptr + own.start, own.end - own.start};
    struct gt_cut cut = gt_glyph_text_cut(alone, width, utf8);
    if (!cut.is_cut) /* it just fits, but must not look whole */
        cut = (struct gt_cut){.head = head_of(alone, width - 1, utf8), .is_cut = true};
    return cut;
}

/* Where the word or number begins that `at` is inside of, not far before it; between characters in any case. */
static size_t word_start(struct gt_str text, size_t at) {
    size_t start = at;
    while (start > 0 && at - start < LONGEST_WORD &&
           (isalnum((unsigned char)text.ptr[start - 1]) || text.ptr[start - 1] == '_'))
        start--;
    start = at - start < LONGEST_WORD ? start : at;
    while (start > 0 && start < text.len && ((unsigned char)text.ptr[start] & 0xc0) == 0x80)
        start--;
    return start;
}

struct gt_cut gt_glyph_name_cut_around(struct gt_str name, size_t at, size_t width, bool utf8) {
    struct own_name own = find_own_name(name);
    bool is_signature = own.end > own.start && own.end < name.len && own.start < at;
    size_t start = word_start(name, at < name.len ? at : name.len), front = is_signature ? own.start : 0;
    size_t marks = 2 + (front > 0), room = width > marks ? width - marks : 0, head_room = room * 2 / 5;
    if (room < NARROWEST_PARTS)
        return gt_glyph_name_cut(name, width, utf8);
    struct gt_str before = {name.ptr + front, start > front ? start - front : 0};
    struct gt_str after = {name.ptr + start, name.len - start};
    size_t after_width = gt_glyph_text_width(after, utf8);
    struct gt_cut cut = {.head = head_of(before, head_room, utf8), .is_cut = true, .has_lost_front = front > 0};
    size_t tail_room = room - gt_glyph_text_width(cut.head, utf8);
    if (after_width <= tail_room) { /* there is room for more of what is before it */
        cut.tail = after;
        cut.head = head_of(before, room - after_width, utf8);
        return cut;
    }
    cut.tail = head_of(after, tail_room, utf8);
    cut.has_lost_end = true;
    return cut;
}

size_t gt_glyph_cut_put(struct gt_out *out, const struct gt_cut *cut, bool utf8) {
    if (cut->has_lost_front)
        gt_glyph_text_put(out, GT_ELLIPSIS, utf8);
    gt_glyph_text_put(out, cut->head, utf8);
    if (cut->is_cut)
        gt_glyph_text_put(out, GT_ELLIPSIS, utf8);
    gt_glyph_text_put(out, cut->tail, utf8);
    if (cut->has_lost_end)
        gt_glyph_text_put(out, GT_ELLIPSIS, utf8);
    return cut->has_lost_front + gt_glyph_text_width(cut->head, utf8) + cut->is_cut +
           gt_glyph_text_width(cut->tail, utf8) + cut->has_lost_end;
}
