/* The old tools' text files as data: lines with {column} places, run over a section by the layout writer. */
#ifndef GT_REPORT_LAYOUTS_H
#define GT_REPORT_LAYOUTS_H

#include <stddef.h>

/* Text with places: {key} is a fact or, in row lines, a column; {key/1000:.2} divides and fixes the decimals,
   {key*100:.1} multiplies, {#} is the row's number from 1, {{ a brace. A place without value gives "-". */
struct gt_layout {
    const char *key;
    const char *head;  /* once */
    const char *table; /* then for each row of this table: */
    const char *row;
    const char *tail; /* once */
    /* Up to three tables before the main one, as the old gap report has them. */
    struct gt_layout_part {
        const char *head, *table, *row;
    } parts[3];
};

extern const struct gt_layout gt_layouts[];
extern const size_t gt_layout_count;

const struct gt_layout *gt_layout_find(const char *key); /* NULL if there is none */

#endif
