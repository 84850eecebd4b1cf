/* The sentences of a comparison: how much longer a step takes and in which parts, what makes the sides hard to compare,
 * which tables did not change. Reads the tables of the comparison and the reports of its sides. */
#ifndef GT_VERDICT_VERDICT_H
#define GT_VERDICT_VERDICT_H

#include "compare/compare.h"

/* Puts the sentences before the tables of a comparison. */
enum gt_status gt_verdict_add(struct gt_report *report, struct gt_error *err);

/* Finishes a comparison after its tables were shaped: hides unchanged tables from the screen and names them in a
 * sentence; then the captures, if there are many. */
enum gt_status gt_verdict_finish(struct gt_report *report, struct gt_error *err);

/* verdict_words.c: the first sentence. */
bool gt_verdict_is_of_the_whole(const struct gt_block *block); /* whether the first sentence is made from this table */
void gt_verdict_note_change(const struct gt_compare_sides *sides, struct gt_section *section);
/* A sentence for each table that is a whole of its own: how it changed and in which parts. */
void gt_verdict_note_wholes(const struct gt_compare_sides *sides, struct gt_section *section);

/* verdict_notes.c: the other sentences. */
void gt_verdict_note_per(const struct gt_compare_sides *sides, struct gt_section *section);
/* Lost data looks like a change of the program, so it is noted first. */
void gt_verdict_note_losses(const struct gt_compare_sides *sides, struct gt_section *section);
void gt_verdict_note_graphs(const struct gt_compare_sides *sides, struct gt_section *section);
void gt_verdict_note_work(const struct gt_compare_sides *sides, struct gt_section *section);
/* Hides unchanged tables from the screen and names them. */
void gt_verdict_hide_tables(const struct gt_compare_sides *sides, struct gt_section *section);

#endif
