/* Text made safe for JSON, CSV and Markdown. */
#include "write/escape.h"

bool gt_escape_char_is_control(uint32_t c) {
    static const uint32_t ranges[][2] = {
        {0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad}, {0x061c, 0x061c}, {0x180e, 0x180e}, {0x200b, 0x200f},
        {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe0fff},
    };
    if (c >= 0x20 && c < 0x7f)
        return false;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    }
    return false;
}

static void put_char(struct gt_out *out, uint32_t c) {
    char bytes[4];
    gt_out_write(out, bytes, gt_utf8_encode(bytes, c));
}

/* ---- JSON ---- */

static void put_json_code(struct gt_out *out, uint32_t c) {
    if (c > 0xffff) {
        uint32_t rest = c - 0x10000;
        gt_out_printf(out, "\\u%04x\\u%04x", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
    } else {
        gt_out_printf(out, "\\u%04x", c);
    }
}

static void put_json_char(struct gt_out *out, uint32_t c, char next) {
    switch (c) {
    case '"':
        gt_out_text(out, "\\\"");
        return;
    case '\\':
        gt_out_text(out, "\\\\");
        return;
    case '\n':
        gt_out_text(out, "\\n");
        return;
    case '\r':
        gt_out_text(out, "\\r");
        return;
    case '\t':
        gt_out_text(out, "\\t");
        return;
    case '<':
        gt_out_text(out, next == '/' ? "<\\" : next == '!' ? "\\u003c" : "<");
        return;
    default:
        break;
    }
    if (gt_escape_char_is_control(c))
        put_json_code(out, c);
    else
        put_char(out, c);
}

static size_t count_plain_json(const char *at, size_t size) {
    size_t count = 0;
    for (uint64_t bytes; size - count >= sizeof bytes; count += sizeof bytes) {
        memcpy(&bytes, at + count, sizeof bytes);
        if (!gt_escape_are_plain_json(bytes))
            break;
    }
    while (count < size && gt_escape_is_plain_json((unsigned char)at[count]))
        count++;
    return count;
}

void gt_escape_json_inside(struct gt_out *out, struct gt_str text) {
    const char *at = text.len ? text.ptr : "", *end = at + text.len;
    while (at < end) {
        size_t plain = count_plain_json(at, (size_t)(end - at));
        gt_out_write(out, at, plain);
        at += plain;
        if (at < end) {
            uint32_t c = gt_utf8_next(&at, end);
            put_json_char(out, c, at < end ? *at : '\0');
        }
    }
}

void gt_escape_json(struct gt_out *out, struct gt_str text) {
    gt_out_char(out, '"');
    gt_escape_json_inside(out, text);
    gt_out_char(out, '"');
}

/* ---- CSV ---- */

static bool is_plain_csv(unsigned char byte) {
    return (byte >= 0x20 && byte < 0x7f && byte != '"') || byte == '\t' || byte == '\n' || byte == '\r';
}

static bool needs_csv_quotes(struct gt_str text) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == ',' || c == '"' || c == '\n' || c == '\r')
            return true;
    }
    return text.len && (text.ptr[0] == ' ' || text.ptr[text.len - 1] == ' ');
}

void gt_escape_csv(struct gt_out *out, struct gt_str text) {
    const char *at = text.len ? text.ptr : "", *end = at + text.len;
    bool quotes = needs_csv_quotes(text);
    if (quotes)
        gt_out_char(out, '"');
    if (text.len && memchr("=+-@\t\r", text.ptr[0], 6))
        gt_out_char(out, '\'');
    while (at < end) {
        const char *plain = at;
        while (at < end && is_plain_csv((unsigned char)*at))
            at++;
        if (at > plain)
            gt_out_write(out, plain, (size_t)(at - plain));
        if (at == end)
            break;
        uint32_t c = gt_utf8_next(&at, end);
        if (c == '"')
            gt_out_text(out, "\"\"");
        else
            put_char(out, c < 0x20 || (c >= 0x7f && c <= 0x9f) ? GT_UTF8_UNKNOWN : c);
    }
    if (quotes)
        gt_out_char(out, '"');
}

/* ---- Markdown ---- */

/* One line of it: blanks for what breaks lines, a mark for what hides. */
static uint32_t one_line(uint32_t c) {
    if (c == '\t' || c == '\n' || c == '\r')
        return ' ';
    return gt_escape_char_is_control(c) ? GT_UTF8_UNKNOWN : c;
}

static bool is_word(uint32_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Letters, digits and signs that mean nothing to Markdown wherever they are. */
static bool is_harmless(struct gt_str text) {
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (!is_word(c) && (i == 0 || !memchr(" .,/()%-", c, 8)))
            return false;
    }
    return !text.len || text.ptr[text.len - 1] != ' ';
}

static size_t longest_backticks(struct gt_str text) {
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < text.len; i++) {
        run = text.ptr[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void put_code_span(struct gt_out *out, struct gt_str text) {
    size_t fence = longest_backticks(text) + 1;
    bool apart = text.ptr[0] == '`' || text.ptr[text.len - 1] == '`';
    gt_out_repeat(out, "`", fence);
    gt_out_text(out, apart ? " " : "");
    for (const char *at = text.ptr, *end = at + text.len; at < end;) {
        const char *plain = at;
        while (at < end && *at >= 0x20 && *at < 0x7f)
            at++;
        if (at > plain)
            gt_out_write(out, plain, (size_t)(at - plain));
        if (at < end)
            put_char(out, one_line(gt_utf8_next(&at, end)));
    }
    gt_out_text(out, apart ? " " : "");
    gt_out_repeat(out, "`", fence);
}

/* Renderers disagree on a bar in a code span of a table, above all after a backslash; an entity is always a letter. */
static void put_code_element(struct gt_out *out, struct gt_str text) {
    gt_out_text(out, "<code>");
    for (const char *at = text.ptr, *end = at + text.len; at < end;) {
        uint32_t c = one_line(gt_utf8_next(&at, end));
        if (c < 0x80 && c != ' ' && !is_word(c))
            gt_out_printf(out, "&#%u;", c);
        else
            put_char(out, c);
    }
    gt_out_text(out, "</code>");
}

void gt_escape_markdown_name(struct gt_out *out, struct gt_str text) {
    if (is_harmless(text))
        gt_out_str(out, text);
    else if (memchr(text.ptr, '|', text.len))
        put_code_element(out, text);
    else
        put_code_span(out, text);
}

void gt_escape_markdown_sentence(struct gt_out *out, struct gt_str text) {
    for (const char *at = text.len ? text.ptr : "", *end = at + text.len; at < end;) {
        uint32_t c = gt_utf8_next(&at, end);
        if (c < 0x80 && c && memchr("\\`*_[]<>|~&$#@", (int)c, 14))
            gt_out_char(out, '\\');
        put_char(out, one_line(c));
    }
}
