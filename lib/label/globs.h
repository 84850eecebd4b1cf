/* Ordered rules of many small patterns, tried on a name all at once: the first rule that has a match wins.

   A pattern is text in lower case that occurs in the name, whatever the name's case. '*' represents anything, '^' at
   the beginning ties it to the start of the name, '$' at the end to its end, except for a number there (`_clone_$` ends
   `x_clone_7`). Each piece between stars has at least three characters. */
#ifndef GT_LABEL_GLOBS_H
#define GT_LABEL_GLOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

#define GT_GLOBS_NONE UINT32_MAX

enum gt_glob_scope {
    GT_GLOB_FULL, /* anywhere in the whole name, template arguments and parameters included */
    GT_GLOB_NAME, /* in the simplified name */
};

enum { GT_GLOB_MAX_PIECES = 4, GT_GLOBS_SLOTS = 8192 };

struct gt_glob {
    struct gt_str text; /* as written */
    uint32_t rule;      /* the caller's number */
    uint16_t pieces[GT_GLOB_MAX_PIECES];
    uint8_t piece_count;
    uint8_t scope; /* enum gt_glob_scope */
    bool from_start, to_end;
    uint32_t next; /* pattern with the same first piece: index + 1, 0 at the end */
};

struct gt_glob_piece {
    struct gt_str text;
    uint16_t next;  /* in its slot: number + 1, 0 at the end */
    uint32_t globs; /* patterns that begin with it: index + 1 of the first */
};

/* Zero-initialise, add all rules, then match. Failure to allocate sticks: see `failed`. */
struct gt_globs {
    struct gt_arena arena;
    struct gt_glob *items; /* in the order of their rules */
    size_t count, capacity;
    struct gt_glob_piece *pieces;
    size_t piece_count, piece_capacity;
    uint16_t slots[GT_GLOBS_SLOTS]; /* by a hash of three characters: first piece that begins so, number + 1 */
    uint64_t *found;                /* while matching: a bit for each piece that occurs */
    uint16_t *hits;                 /* and their numbers */
    size_t hit_count;
    char *lower; /* the name in lower case */
    size_t lower_bytes;
    bool failed;
};

/* Patterns separated by '|', spaces around them left out; `patterns` must outlive the set. False: one is malformed. */
bool gt_globs_add(struct gt_globs *globs, uint32_t rule, enum gt_glob_scope scope, const char *patterns);
void gt_globs_release(struct gt_globs *globs);

/* Index of the first pattern that matches, GT_GLOBS_NONE if none does or memory is short. `name` lies inside `full`.
   Linear in the length of the name plus the number of patterns. */
uint32_t gt_globs_match(struct gt_globs *globs, struct gt_str full, struct gt_str name);

#endif
