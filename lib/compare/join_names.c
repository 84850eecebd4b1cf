/* Kernel names without parts that depend on the build or GPU, so that the same work matches under another name. */
#include <ctype.h>

#include "compare/join.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_word(char c) {
    return isalnum((unsigned char)c);
}

/* Length of the architecture that text starts with (sm_90a, sm80, gfx942, ampere, hopper ...); 0: none. */
static size_t architecture_bytes(struct gt_str text) {
    static const char *const words[] = {"volta", "turing", "ampere", "ada", "hopper", "blackwell", "maxwell", "pascal"};
    static const char *const prefixes[] = {"sm_", "sm", "gfx", "compute_", "arch_"};
    if (!text.len || !memchr("vtahbmpsgc", text.ptr[0], 10)) /* first letters of all */
        return 0;
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        size_t bytes = strlen(prefixes[i]), digits = bytes;
        if (!gt_str_starts(text, gt_str_of(prefixes[i])))
            continue;
        while (digits < text.len && isdigit((unsigned char)text.ptr[digits]))
            digits++;
        if (digits == bytes)
            continue;
        while (digits < text.len && is_word(text.ptr[digits]) && digits < bytes + 6)
            digits++;
        if (digits == text.len || !is_word(text.ptr[digits]))
            return digits;
    }
    for (size_t i = 0; i < COUNT(words); i++)
        if (gt_str_starts(text, gt_str_of(words[i])) &&
            (text.len == strlen(words[i]) || !is_word(text.ptr[strlen(words[i])])))
            return strlen(words[i]);
    return 0;
}

/* f16, bf16, int8, e4m3 ...: the digits belong to a type. */
static bool is_type(struct gt_str letters, struct gt_str digits) {
    static const char *const types[] = {"f", "bf", "fp", "tf", "int", "uint", "float", "u", "i", "e", "m"};
    static const char *const sizes[] = {"2", "3", "4", "5", "8", "16", "32", "64"};
    bool is_known = false, is_size = false;
    if (!letters.len || letters.len > 5 || digits.len > 2) /* longer than any of them */
        return false;
    for (size_t i = 0; i < COUNT(types); i++)
        is_known |= gt_str_eq(letters, gt_str_of(types[i]));
    for (size_t i = 0; i < COUNT(sizes); i++)
        is_size |= gt_str_eq(digits, gt_str_of(sizes[i]));
    return is_known && is_size;
}

/* Letters right before the place. */
static struct gt_str letters_before(struct gt_str name, size_t place) {
    size_t first = place;
    while (first > 0 && isalpha((unsigned char)name.ptr[first - 1]))
        first--;
    return (struct gt_str){name.ptr + first, place - first};
}

/* A generated number becomes '#', and so does a product of them (128x64x32). */
static size_t put_number(struct gt_str name, size_t place, char *out, size_t *length) {
    size_t end = place;
    while (end < name.len && isdigit((unsigned char)name.ptr[end]))
        end++;
    if (is_type(letters_before(name, place), (struct gt_str){name.ptr + place, end - place})) {
        memcpy(out + *length, name.ptr + place, end - place);
        *length += end - place;
        return end;
    }
    bool is_product = *length >= 2 && out[*length - 1] == 'x' && out[*length - 2] == '#';
    if (is_product)
        (*length)--;
    else
        out[(*length)++] = '#';
    return end;
}

/* cudaLaunchKernel and hipLaunchKernel are the same call of two vendors. */
static size_t vendor_bytes(struct gt_str name) {
    static const char *const vendors[] = {"cuda", "hip", "cu"};
    for (size_t i = 0; i < COUNT(vendors); i++) {
        size_t bytes = strlen(vendors[i]);
        if (gt_str_starts(name, gt_str_of(vendors[i])) && name.len > bytes && isupper((unsigned char)name.ptr[bytes]))
            return bytes;
    }
    return 0;
}

void gt_join_plain_name(struct gt_str name, char *out, size_t *length) {
    size_t first = *length;
    for (size_t i = vendor_bytes(name); i < name.len;) {
        bool begins_word = i == 0 || !is_word(name.ptr[i - 1]);
        size_t skipped = begins_word ? architecture_bytes((struct gt_str){name.ptr + i, name.len - i}) : 0;
        if (skipped) {
            i += skipped + (i + skipped < name.len && name.ptr[i + skipped] == '_');
        } else if (isdigit((unsigned char)name.ptr[i])) {
            i = put_number(name, i, out, length);
        } else {
            out[(*length)++] = name.ptr[i++];
        }
    }
    while (*length > first + 2 && out[*length - 1] == '#' && out[*length - 2] == '_') /* _3 at the end, and none */
        *length -= 2;
}
