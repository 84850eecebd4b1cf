/* Shapes: how tables are shown: order, length, columns. */
#ifndef GT_REPORT_SHAPE_H
#define GT_REPORT_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* How one table is shown. What is 0 or NULL leaves it as the analysis made it. */
struct gt_shape {
    const char *table;    /* key */
    const char *sort;     /* key of a column, largest first; "+key" smallest first */
    int64_t limit;        /* rows kept in every format; 0 = all */
    int64_t screen_limit; /* rows shown in text and Markdown; 0 = the table's own choice, -1 = all */
    const char *columns;  /* comma-separated keys for text and Markdown, in order */
    int hidden;           /* 1: left out of text and Markdown; -1: shown there even if meant for data */
    int absent;           /* 1: of no use, an analysis need not make it */
    int ranked;           /* 1: rows are numbered in text and Markdown */
    int joined;           /* 1: of several inputs they show one table with the rows of all */
    const char *cut_sort; /* as sort, of a table with more rows than screen_limit; NULL: as it is */
    const char *pivot;    /* "ROW,VALUE": of several inputs they show one table that has a row for each ROW, a column
                             for each input with the sum of its VALUEs, and the totals */
};

/* What all shapes of a table ask for together: a later one wins, field by field. */
struct gt_shape gt_shape_of(const char *table, const struct gt_shape *shapes, size_t count);

#endif
