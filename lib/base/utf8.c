/* UTF-8 decoding that never fails, encoding, and text made valid. */
#include "base/utf8.h"

#include <string.h>

uint32_t gt_utf8_next(const char **ptr, const char *end) {
    const unsigned char *at = (const unsigned char *)*ptr;
    size_t left = (size_t)(end - *ptr), more;
    uint32_t lead = at[0], c;
    unsigned low = 0x80, high = 0xbf; /* of the second byte: no overlong forms, no surrogates, nothing above 10ffff */
    if (lead < 0x80) {
        *ptr += 1;
        return lead;
    }
    if (lead >= 0xc2 && lead <= 0xdf) {
        more = 1;
        c = lead & 0x1f;
    } else if (lead >= 0xe0 && lead <= 0xef) {
        more = 2;
        c = lead & 0x0f;
        low = lead == 0xe0 ? 0xa0 : low;
        high = lead == 0xed ? 0x9f : high;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
        more = 3;
        c = lead & 0x07;
        low = lead == 0xf0 ? 0x90 : low;
        high = lead == 0xf4 ? 0x8f : high;
    } else {
        *ptr += 1;
        return GT_UTF8_UNKNOWN;
    }
    for (size_t i = 1; i <= more; i++) {
        if (i >= left || at[i] < low || at[i] > high) {
            *ptr += i;
            return GT_UTF8_UNKNOWN;
        }
        c = c << 6 | (at[i] & 0x3f);
        low = 0x80;
        high = 0xbf;
    }
    *ptr += more + 1;
    return c;
}

size_t gt_utf8_encode(char bytes[4], uint32_t c) {
    if (c < 0x80) {
        bytes[0] = (char)c;
        return 1;
    }
    size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
    bytes[0] = (char)(leads[more] | c >> (6 * more));
    for (size_t i = 1; i <= more; i++)
        bytes[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3f));
    return more + 1;
}

/* Where the first byte is that is not ASCII. */
static size_t plain_length(struct gt_str text) {
    size_t at = 0;
    for (uint64_t word; at + sizeof word <= text.len; at += sizeof word) {
        memcpy(&word, text.ptr + at, sizeof word);
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    while (at < text.len && !(text.ptr[at] & 0x80))
        at++;
    return at;
}

size_t gt_utf8_valid_bytes(struct gt_str text) {
    size_t plain = plain_length(text), bytes = plain;
    char encoded[4];
    for (const char *at = text.ptr + plain, *end = text.ptr + text.len; at < end;)
        bytes += gt_utf8_encode(encoded, gt_utf8_next(&at, end));
    return bytes;
}

char *gt_utf8_put_valid(char *out, struct gt_str text) {
    size_t plain = plain_length(text);
    if (plain)
        memcpy(out, text.ptr, plain);
    out += plain;
    for (const char *at = text.ptr + plain, *end = text.ptr + text.len; at < end;) {
        char encoded[4];
        size_t bytes = gt_utf8_encode(encoded, gt_utf8_next(&at, end));
        memcpy(out, encoded, bytes);
        out += bytes;
    }
    return out;
}

bool gt_utf8_is_valid(struct gt_str text) {
    char encoded[4];
    for (const char *at = text.ptr + plain_length(text), *end = text.ptr + text.len; at < end;) {
        const char *from = at;
        uint32_t c = gt_utf8_next(&at, end);
        if (c == GT_UTF8_UNKNOWN &&
            ((size_t)(at - from) != gt_utf8_encode(encoded, c) || memcmp(from, encoded, 3) != 0))
            return false;
    }
    return true;
}
