/* Strings, bare values and nested values of JSON text: bytes come in, slices of them go out. Eight bytes are looked at
   together wherever runs are long. */
#include "decode/json/json_scan.h"

#include <stdint.h>
#include <string.h>

#define EACH_BYTE(value) (UINT64_C(0x0101010101010101) * (value))
#define HIGH_BITS        EACH_BYTE(0x80)

/* The first byte in memory is the lowest one. */
static inline uint64_t load_eight(const char *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The high bit of each byte that is zero, exact up to and including the lowest such byte. */
static inline uint64_t zero_bytes(uint64_t word) {
    return (word - EACH_BYTE(0x01)) & ~word & HIGH_BITS;
}

/* The same for bytes below 0x20. */
static inline uint64_t control_bytes(uint64_t word) {
    return (word - EACH_BYTE(0x20)) & ~word & HIGH_BITS;
}

/* The next quote or backslash, or end. *controls is not 0 if a control character is before it. */
static inline const char *find_string_special(const char *p, const char *end, uint64_t *controls) {
    for (; end - p >= 8; p += 8) {
        uint64_t word = load_eight(p);
        uint64_t hits = zero_bytes(word ^ EACH_BYTE('"')) | zero_bytes(word ^ EACH_BYTE('\\'));
        if (hits) {
            *controls |= control_bytes(word) & ((hits & -hits) - 1);
            return p + (__builtin_ctzll(hits) >> 3);
        }
        *controls |= control_bytes(word);
    }
    for (; p < end && *p != '"' && *p != '\\'; p++)
        *controls |= (unsigned char)*p < ' ';
    return p;
}

static inline bool may_follow_string(char c) {
    return c == ',' || c == ':' || c == '}' || c == ']';
}

/* Whether the quote before p ends a string. */
static inline enum gt_json_status is_string_end(const char *p, const char *end) {
    if (p < end && may_follow_string(*p))
        return GT_JSON_OK;
    p = gt_json_scan_skip_space(p, end);
    if (p == end)
        return GT_JSON_MORE;
    return may_follow_string(*p) ? GT_JSON_OK : GT_JSON_BAD;
}

/* Whether p begins a quoted key and its colon. */
static enum gt_json_status is_key(const char *p, const char *end) {
    uint64_t controls = 0;
    if (p == end)
        return GT_JSON_MORE;
    if (*p != '"')
        return GT_JSON_BAD;
    p = find_string_special(p + 1, end, &controls);
    if (p < end && *p == '\\')
        return GT_JSON_BAD;
    p = p < end ? gt_json_scan_skip_space(p + 1, end) : end;
    if (p == end)
        return GT_JSON_MORE;
    return *p == ':' ? GT_JSON_OK : GT_JSON_BAD;
}

/* Whether the quote before p ends the value of a member, judged by two tokens instead of one. */
static enum gt_json_status is_member_end(const char *p, const char *end) {
    p = gt_json_scan_skip_space(p, end);
    if (p == end)
        return GT_JSON_MORE;
    char first = *p;
    p = gt_json_scan_skip_space(p + 1, end);
    if (p == end)
        return GT_JSON_MORE;
    if (first == ',')
        return is_key(p, end);
    return first == '}' && (*p == ',' || *p == '}' || *p == ']' || *p == '{') ? GT_JSON_OK : GT_JSON_BAD;
}

static inline enum gt_json_status scan_string(const char **p, const char *end, struct gt_json_value_text *text,
                                              enum gt_json_status (*ends)(const char *, const char *)) {
    const char *begin = *p + 1, *at = begin;
    uint64_t controls = 0;
    unsigned marks = 0;
    for (;;) {
        at = find_string_special(at, end, &controls);
        if (end - at < 2)
            return GT_JSON_MORE;
        if (*at == '\\') {
            marks |= GT_JSON_ESCAPES;
            at += 2;
            continue;
        }
        enum gt_json_status status = ends(at + 1, end);
        if (status == GT_JSON_OK)
            break;
        if (status == GT_JSON_MORE)
            return GT_JSON_MORE;
        marks |= GT_JSON_QUOTES;
        at++;
    }
    text->raw = (struct gt_str){begin, (size_t)(at - begin)};
    text->marks = marks | (controls ? GT_JSON_CONTROLS : 0);
    *p = at + 1;
    return GT_JSON_OK;
}

enum gt_json_status gt_json_scan_string(const char **p, const char *end, struct gt_json_value_text *text) {
    return scan_string(p, end, text, is_string_end);
}

enum gt_json_status gt_json_scan_member_string(const char **p, const char *end, struct gt_json_value_text *text) {
    return scan_string(p, end, text, is_member_end);
}

static const bool is_punctuation[256] = {
    [','] = true, [':'] = true, ['"'] = true, ['{'] = true, ['}'] = true, ['['] = true, [']'] = true,
};

enum gt_json_status gt_json_scan_bare(const char **p, const char *end, struct gt_str *text) {
    const char *at = *p;
    while (at < end && !gt_json_scan_is_space(*at) && !is_punctuation[(unsigned char)*at])
        at++;
    if (at == end)
        return GT_JSON_MORE;
    *text = (struct gt_str){*p, (size_t)(at - *p)};
    *p = at;
    return GT_JSON_OK;
}

/* The open brackets of a nested value. Their kinds are remembered 64 deep; a value that was deeper is only counted. */
struct nest {
    uint64_t kinds; /* lowest bit: the innermost; 1 = object */
    size_t depth;
    bool is_counted;
};

static inline void nest_push(struct nest *nest, bool is_object) {
    nest->kinds = nest->kinds << 1 | is_object;
    nest->depth++;
    nest->is_counted |= nest->depth > 64;
}

/* An object wants a key or a comma where a bracket opens without a colon before it. */
static bool may_open(const struct nest *nest, const char *begin, const char *p) {
    if (nest->is_counted || nest->depth == 0 || !(nest->kinds & 1))
        return true;
    do
        p--;
    while (p > begin && gt_json_scan_is_space(*p));
    return *p == ':';
}

/* The next byte that may be a bracket or a quote, or end. Brackets are the bytes that 0x26 fills to 0x7f, with a few
   others (y, Y, _) that are rare outside strings. */
static inline const char *find_nested_special(const char *p, const char *end) {
    for (; end - p >= 8; p += 8) {
        uint64_t word = load_eight(p);
        uint64_t hits = zero_bytes(word ^ EACH_BYTE('"')) | zero_bytes((word | EACH_BYTE(0x26)) ^ EACH_BYTE(0x7f));
        if (hits)
            return p + (__builtin_ctzll(hits) >> 3);
    }
    while (p < end && *p != '"' && (*p | 0x26) != 0x7f)
        p++;
    return p;
}

/* The next brace, or end. */
static inline const char *find_brace(const char *p, const char *end) {
    for (; end - p >= 8; p += 8) {
        uint64_t word = load_eight(p);
        uint64_t hits = zero_bytes(word ^ EACH_BYTE('{')) | zero_bytes(word ^ EACH_BYTE('}'));
        if (hits)
            return p + (__builtin_ctzll(hits) >> 3);
    }
    while (p < end && *p != '{' && *p != '}')
        p++;
    return p;
}

enum gt_json_status gt_json_scan_skip_lines(const char **p, const char *end) {
    const char *brace = find_brace(*p + 1, end), *line = brace;
    if (brace == end)
        return GT_JSON_MORE;
    while (line[-1] == ' ')
        line--;
    if (*brace != '}' || (unsigned char)line[-1] > ' ')
        return GT_JSON_BAD;
    *p = brace + 1;
    return GT_JSON_OK;
}

/* The object at *p, if it holds no other and so ends at its first closing brace. */
static enum gt_json_status skip_flat_object(const char **p, const char *end) {
    enum gt_json_status status = gt_json_scan_skip_lines(p, end);
    if (status != GT_JSON_BAD)
        return status;
    const char *at = *p + 1;
    struct gt_json_value_text text;
    for (;;) {
        at = find_nested_special(at, end);
        if (at == end || (*at == '"' && scan_string(&at, end, &text, is_string_end) != GT_JSON_OK))
            return GT_JSON_MORE;
        if (*at == '{')
            return GT_JSON_BAD;
        if (*at++ == '}') {
            *p = at;
            return GT_JSON_OK;
        }
    }
}

enum gt_json_status gt_json_scan_skip_nested(const char **p, const char *end) {
    const char *begin = *p, *at = begin;
    struct nest nest = {0};
    struct gt_json_value_text text;
    enum gt_json_status flat = *begin == '{' ? skip_flat_object(p, end) : GT_JSON_BAD;
    if (flat != GT_JSON_BAD)
        return flat;
    for (;;) {
        at = find_nested_special(at, end);
        if (at == end)
            return GT_JSON_MORE;
        switch (*at) {
        case '"':
            if (scan_string(&at, end, &text, is_string_end) != GT_JSON_OK)
                return GT_JSON_MORE;
            continue;
        case '{':
        case '[':
            if (!may_open(&nest, begin, at)) {
                *p = at;
                return GT_JSON_BAD;
            }
            nest_push(&nest, *at == '{');
            break;
        case '}':
        case ']':
            if (!nest.is_counted && (nest.kinds & 1) != (*at == '}')) {
                *p = at;
                return GT_JSON_BAD;
            }
            nest.kinds >>= 1;
            if (--nest.depth == 0) {
                *p = at + 1;
                return GT_JSON_OK;
            }
            break;
        default:
            break;
        }
        at++;
    }
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The code unit of \uXXXX at p, or -1. */
static int32_t code_unit(const char *p, const char *end) {
    int32_t unit = 0;
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

static char *put_utf8(char *out, uint32_t code) {
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *out++ = (char)(0xe0 | code >> 12);
        } else {
            *out++ = (char)(0xf0 | code >> 18);
            *out++ = (char)(0x80 | (code >> 12 & 0x3f));
        }
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    }
    *out++ = (char)(0x80 | (code & 0x3f));
    return out;
}

/* \uXXXX at *p, with its second half where it is one of a pair. */
static char *put_unicode(char *out, const char **p, const char *end, bool *repaired) {
    uint32_t code = (uint32_t)code_unit(*p, end);
    *p += 6;
    if (code >= 0xd800 && code < 0xe000) {
        int32_t low = code < 0xdc00 ? code_unit(*p, end) : -1;
        if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
            *p += 6;
        } else {
            code = 0xfffd;
            *repaired = true;
        }
    }
    return put_utf8(out, code);
}

size_t gt_json_scan_decode(struct gt_json_value_text text, char *buf, bool *repaired) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *p = text.raw.ptr, *end = p + text.raw.len;
    char *out = buf;
    if (text.marks & (GT_JSON_CONTROLS | GT_JSON_QUOTES))
        *repaired = true;
    while (p < end) {
        const char *next = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((next ? next : end) - p);
        memcpy(out, p, plain);
        out += plain;
        p += plain;
        if (p == end)
            break;
        const char *letter = end - p > 1 && p[1] ? strchr(letters, p[1]) : NULL;
        if (letter) {
            *out++ = meanings[letter - letters];
            p += 2;
        } else if (code_unit(p, end) >= 0) {
            out = put_unicode(out, &p, end, repaired);
        } else {
            *out++ = *p++;
            *repaired = true;
        }
    }
    return (size_t)(out - buf);
}

enum gt_json_status gt_json_scan_value(const char **p, const char *end, struct gt_json_value_text *value) {
    value->marks = 0;
    if (*p == end)
        return GT_JSON_MORE;
    if (**p == '"')
        return gt_json_scan_string(p, end, value);
    if (**p != '{' && **p != '[')
        return gt_json_scan_bare(p, end, &value->raw);
    const char *start = *p;
    enum gt_json_status status = gt_json_scan_skip_nested(p, end);
    value->raw = (struct gt_str){start, (size_t)(*p - start)};
    return status;
}
