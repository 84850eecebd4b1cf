/* The old tools' files as data: lines with {places}, run over each section by the layout writer, or the columns of a
   CSV file. */
#ifndef GT_REPORT_LAYOUTS_H
#define GT_REPORT_LAYOUTS_H

#include <stdbool.h>
#include <stddef.h>

#define GT_LAYOUT_PARTS  8
#define GT_LAYOUT_ORDERS 8

#define GT_CSV_LAYOUT_COLUMNS 12

/* The rows of a table that a file lists. */
struct gt_pick {
    const char *table;
    const char *where, *is; /* only rows in which this column is this text; NULL: all */
    const char *match;      /* only rows whose cell in this column is that of the row around them; NULL: all */
    const char *with;       /* only rows in which this column is neither null nor 0; NULL: all */
    const char *known;      /* only rows in which this column is not null; NULL: all */
    const char *sort;       /* column, largest first; NULL: as the table has them */
    size_t limit;           /* 0: all */
};

/* A CSV file. Values are places without their braces: "total_ns/1000000". */
struct gt_csv_layout {
    struct gt_pick rows;
    const char *line_end; /* NULL: CR LF */
    bool has_header;      /* also without rows */
    struct gt_csv_layout_column {
        const char *title, *value;
    } columns[GT_CSV_LAYOUT_COLUMNS];
};

/* Text with places. In a row {key} is a cell of the row, in a head a fact of the section:
     {key/1000}     divided, {key*100} multiplied
     {key+}         a moment in the trace's own clock instead of from its first op
     {key:8.2}      at least 8 columns, right-aligned, 2 decimals; either may be left out. With 0 decimals halves are
                    rounded up
     {key:-8}       text, left-aligned in 8 columns or as many as the longest of the table's column takes
     {key:~40}      text, shortened to 40 columns as names of kernels are
     {'text'key:-8} this text, aligned as that
     {key|other}    the first of them that has a value
     {#}            the row's number, from 1
     {@rows}        how many rows follow
     {@order}       what the rows are ordered by, in the layout's words
     {@input}       what the section's input is called
     {@notes}       a paragraph for each note and issue of the section, with a blank line before them
     {{             a brace */
struct gt_layout {
    const char *key;
    const char *none; /* what a place without value gives; NULL: "-" */
    bool is_screen;   /* replaces text: it names its inputs itself and has as many rows as text would */
    struct gt_layout_part {
        const char *fact;  /* only in sections in which this has a value; NULL: in all */
        const char *issue; /* only in sections that have this one; NULL: in all */
        const char *head;  /* once */
        const char *table; /* then the row text for each row of this table; NULL: the head alone */
        const char *where; /* only rows in which this column is not 0; NULL: all */
        const char *sort;  /* column, largest first; NULL: as the table has them */
        size_t limit;      /* rows at most; 0: all */
        const char *row;
    } parts[GT_LAYOUT_PARTS];
    struct gt_layout_order {
        const char *column, *words;
    } orders[GT_LAYOUT_ORDERS];

    const struct gt_csv_layout *csv; /* instead of parts: one table of all sections; NULL: none */
};

extern const struct gt_layout gt_layouts[];
extern const size_t gt_layout_count;

const struct gt_layout *gt_layout_find(const char *key); /* NULL if there is none */

#endif
