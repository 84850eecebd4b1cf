/* Texts of events that are neither names nor numbers: lists of shapes, types, places in source files. */
#ifndef GT_REDACT_REDACT_TEXTS_H
#define GT_REDACT_REDACT_TEXTS_H

#include "base/arena.h"
#include "base/str.h"

/* Numbers, brackets and the words that frameworks write for types and values stay; all other words become "?". The
   text is in the arena. */
struct gt_str gt_redact_texts_values(struct gt_str text, struct gt_arena *arena);

/* "/home/me/train.py(41): step": the part with the file, 0 if there is none. */
size_t gt_redact_texts_file(struct gt_str text);

#endif
