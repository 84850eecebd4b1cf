/* What a comparison says in words: how much longer a step takes and by which parts, what makes the sides hard to
   compare, which tables have no news. Reads the tables of the comparison and the reports of its sides. */
#ifndef GT_VERDICT_VERDICT_H
#define GT_VERDICT_VERDICT_H

#include "compare/compare.h"

/* Puts the sentences before the tables of a comparison. */
enum gt_status gt_verdict_add(struct gt_report *report, struct gt_error *err);

/* The last words on a comparison whose tables have got their shape: those without news leave the screen, and a sentence
   says which; then the captures, where they are many. */
enum gt_status gt_verdict_finish(struct gt_report *report, struct gt_error *err);

/* verdict_words.c: the first sentence. */
bool gt_verdict_is_of_the_whole(const struct gt_block *block); /* has its table parts that the sentence is made from? */
void gt_verdict_note_change(const struct gt_compare_sides *sides, struct gt_section *section);

/* verdict_notes.c: the other sentences. */
void gt_verdict_note_per(const struct gt_compare_sides *sides, struct gt_section *section);
/* What a side lacks looks like a change of the program: said before all else. */
void gt_verdict_note_losses(const struct gt_compare_sides *sides, struct gt_section *section);
void gt_verdict_note_graphs(const struct gt_compare_sides *sides, struct gt_section *section);
void gt_verdict_note_work(const struct gt_compare_sides *sides, struct gt_section *section);
/* Takes tables without news off the screen and names them. */
void gt_verdict_hide_tables(const struct gt_compare_sides *sides, struct gt_section *section);

#endif
