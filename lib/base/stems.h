/* Answers about names that differ in the number at their end alone, as the steps of a program do: what looks for words
   without digits finds the same in all of them, so one of them is asked about. */
#ifndef GT_BASE_STEMS_H
#define GT_BASE_STEMS_H

#include <stdint.h>

#include "base/str.h"

enum { GT_STEMS_KEPT = 32 };

/* Zero-initialise before. The names must stay where they are. */
struct gt_stems {
    struct gt_str stems[GT_STEMS_KEPT];
    uint8_t answers[GT_STEMS_KEPT];
};

/* Where the answer about names with the stem of this one is, or goes: 0 where none has been given yet, or where another
   stem took its place. NULL: the name does not end in a digit. */
uint8_t *gt_stems_answer(struct gt_stems *stems, struct gt_str name);

#endif
