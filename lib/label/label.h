/* Labelling: passes over a sealed store, each filling some columns of the label set, several at once. passes.c has the
   table of all. */
#ifndef GT_LABEL_LABEL_H
#define GT_LABEL_LABEL_H

#include <string.h>

#include "base/fail.h"
#include "events/labels.h"

/* What passes of the first round leave to the second in addition to labels; each has its own memory, as several run
   at once. It is released when all are done. */
struct gt_label_scratch {
    size_t threads; /* that a pass may cut its ops into slices for */
    struct gt_arena range_arena, step_arena;
    struct gt_range_forest *ranges; /* attribute.c: the ranges of each thread and stream, to find those around a call */
    struct gt_step_tree *steps;     /* step_tree.h: the steps of each process, likewise */
};

/* Passes of a round need nothing of each other. The first needs the store alone: it leaves launch calls of ops, trees
   of ranges and steps. The second looks up by the launch calls which ranges and steps ops belong to. */
enum gt_label_round { GT_LABEL_FIRST, GT_LABEL_SECOND };

struct gt_label_pass {
    const char *key, *title;
    enum gt_label_round round;
    enum gt_status (*run)(const struct gt_store *store, struct gt_labels *labels, struct gt_label_scratch *scratch,
                          struct gt_error *err);
};

/* For passes that have nothing to look ops up in: each gets GT_NO_ROW. */
static inline void gt_label_no_rows(uint32_t *of_op, size_t count) {
    memset(of_op, 0xff, count * sizeof *of_op);
}

extern const struct gt_label_pass *const gt_label_passes[]; /* in the order they start */
extern const size_t gt_label_pass_count;

/* The labels borrow from the store, which must outlive them. */
enum gt_status gt_label_new(const struct gt_store *store, struct gt_labels **out, struct gt_error *err);
/* The same with a user's rules for the categories, which the labels borrow too (NULL for the built-in ones), on so many
   threads. */
enum gt_status gt_label_new_by_rules(const struct gt_store *store, const struct gt_rules *rules, size_t threads,
                                     struct gt_labels **out, struct gt_error *err);
void gt_label_free(struct gt_labels *labels); /* NULL is fine */

/* names.c: the simplified kernel name, a part of `full` (template arguments, parameters, return type and qualifiers
   off), never empty unless `full` is. What does not read as a C++ signature or a mangled name stays
   whole. Linear. */
struct gt_str gt_label_simplify_name(struct gt_str full);

#endif
