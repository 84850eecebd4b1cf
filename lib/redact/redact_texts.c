/* Cleans lists of values by an allow-list of words, and finds source files in names of functions. */
#include "redact/redact_texts.h"

#include <string.h>

/* Types of PyTorch's tensors and values, as its profiler and NCCL's records write them, and values that are words. */
static const char words[] =
    " True False None true false null nan inf float double int long short char unsigned signed bool half "
    "c10::Half c10::BFloat16 c10::Float8_e4m3fn c10::Float8_e5m2 c10::Float8_e4m3fnuz c10::Float8_e5m2fnuz "
    "c10::complex c10::qint8 c10::quint8 c10::qint32 complex Scalar ScalarList Tensor TensorList GenericList Device "
    "Int Float Double Half BFloat16 Long Short Byte Char Bool Int8 Int32 Int64 UInt8 Float8_e4m3fn Float8_e5m2 "
    "ncclFloat ncclHalf ncclBfloat16 ncclInt8 ncclInt32 ncclInt64 ncclUint8 ncclDouble "
    "Memcpy Memset memcpy memset CUDA HtoD DtoH DtoD PtoP HtoH AtoD DtoA AtoA HtoA AtoH Host-to-Device "
    "Device-to-Host Device-to-Device Peer-to-Peer Host-to-Host Pageable Pinned Array Managed Unified Unknown "
    "operation copy fill "
    "Sum Avg Product Prod Min Max Band Bor Bxor PreMulSum SUM AVG PRODUCT MIN MAX ";

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static size_t word_bytes(struct gt_str text, size_t at) {
    size_t end = at;
    while (end < text.len && (is_letter(text.ptr[end]) || is_digit(text.ptr[end]) || text.ptr[end] == ':' ||
                              (text.ptr[end] == '-' && end + 1 < text.len && is_letter(text.ptr[end + 1]))))
        end++;
    return end - at;
}

/* "12", "-1.5", "1e-05". */
static size_t number_bytes(struct gt_str text, size_t at) {
    size_t end = at;
    while (end < text.len && (is_digit(text.ptr[end]) || text.ptr[end] == '.'))
        end++;
    size_t power = end;
    if (power < text.len && (text.ptr[power] == 'e' || text.ptr[power] == 'E'))
        power++;
    if (power > end && power < text.len && (text.ptr[power] == '-' || text.ptr[power] == '+'))
        power++;
    if (power == end || power >= text.len || !is_digit(text.ptr[power]))
        return end - at;
    while (power < text.len && is_digit(text.ptr[power]))
        power++;
    return power - at;
}

static bool is_known(struct gt_str word) {
    for (const char *at = words; (at = memmem(at, strlen(at), word.ptr, word.len)); at++)
        if (at[-1] == ' ' && at[word.len] == ' ')
            return true;
    return false;
}

struct gt_str gt_redact_texts_values(struct gt_str text, struct gt_arena *arena) {
    char *out = gt_arena_alloc(arena, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; out && i < text.len;) {
        size_t number = is_digit(text.ptr[i]) ? number_bytes(text, i) : 0;
        size_t bytes = number ? number : is_letter(text.ptr[i]) ? word_bytes(text, i) : 1;
        struct gt_str part = {text.ptr + i, bytes};
        bool is_mark = bytes == 1 && part.ptr[0] && strchr("[](){}<>,.+- \"'", part.ptr[0]);
        if (number || is_mark || (is_letter(part.ptr[0]) && is_known(part))) {
            memcpy(out + len, part.ptr, bytes);
            len += bytes;
        } else {
            out[len++] = '?';
        }
        i += bytes;
    }
    return (struct gt_str){out ? out : "", len};
}

size_t gt_redact_texts_file(struct gt_str text) {
    for (size_t end = text.len; end > 3; end--) {
        size_t digits = end - 3;
        if (text.ptr[end - 1] != ' ' || text.ptr[end - 2] != ':' || text.ptr[end - 3] != ')')
            continue;
        while (digits && is_digit(text.ptr[digits - 1]))
            digits--;
        if (digits && digits < end - 3 && text.ptr[digits - 1] == '(')
            return digits - 1;
    }
    return 0;
}
