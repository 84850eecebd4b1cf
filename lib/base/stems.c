/* Keeps the stems of the latest names: one for each of a few places, chosen by its length and two of its letters. */
#include "base/stems.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

uint8_t *gt_stems_answer(struct gt_stems *stems, struct gt_str name) {
    struct gt_str stem = name;
    while (stem.len && is_digit(stem.ptr[stem.len - 1]))
        stem.len--;
    if (stem.len == name.len)
        return NULL;
    size_t letters = stem.len < 4 ? 0 : (unsigned char)stem.ptr[0] * 7u + (unsigned char)stem.ptr[stem.len / 2];
    size_t place = (stem.len + letters) % GT_STEMS_KEPT;
    if (!gt_str_eq(stems->stems[place], stem)) {
        stems->stems[place] = stem;
        stems->answers[place] = 0;
    }
    return &stems->answers[place];
}
