/* Tables: columns with keys, units and roles, and rows of cells. row.h writes rows. */
#ifndef GT_REPORT_TABLE_H
#define GT_REPORT_TABLE_H

#include <stdbool.h>

#include "base/fail.h"
#include "report/cell.h"
#include "report/roles.h"

struct gt_report;

enum gt_column_flag {
    GT_COLUMN_NAME = 1,     /* long text: takes the width that is left and is shortened in the middle */
    GT_COLUMN_BAR = 2,      /* the text writer draws a bar next to it, scaled to the largest value of the column */
    GT_COLUMN_DETAIL = 4,   /* left out of text and Markdown unless asked for by `columns` */
    GT_COLUMN_WHOLE = 8,    /* bars are scaled to 1 instead: shares whose whole the reader should see */
    GT_COLUMN_SINGLE = 16,  /* a statistic of single events (mean, largest): such columns of a table share a unit */
    GT_COLUMN_MOMENT = 32,  /* a place on the time line: milliseconds, to the microsecond */
    GT_COLUMN_EDGE = 64,    /* edges of bins grow by factors: each cell has its own unit */
    GT_COLUMN_SIGNED = 128, /* a difference: numbers above 0 have a '+' */
    GT_COLUMN_SENTENCE = 1 << 24, /* with NAME: if it is the last column, the text is wrapped rather than shortened */
    GT_COLUMN_SPARSE = 1 << 25,   /* left out for people where it is null or 0 in all rows that they see */
    GT_COLUMN_VARIES = 1 << 26,   /* the same where all these rows have the same there */

    /* What lets two tables be compared row by row, whatever they are about (lib/compare). */
    GT_COLUMN_KEY = 256,  /* distinguishes rows; without one all rows are compared as one */
    GT_COLUMN_ADDS = 512, /* an amount that adds up over rows and grows with the length of the capture */
    GT_COLUMN_LEADS =
        1024, /* the amount (it adds) that says how much a row matters; without one a table is not compared */
    GT_COLUMN_SPREAD = 2048,  /* sample standard deviation of the events that the leading amount sums, as many as the
                                 first count that adds says */
    GT_COLUMN_ALIAS = 4096,   /* another name of the row, to use where the keys differ */
    GT_COLUMN_GROUP = 16384,  /* rows with the same text here are one row of the comparison; null: the row is its own */
    GT_COLUMN_CLASS = 8192,   /* the kind of work that the row belongs to, to use where all names differ */
    GT_COLUMN_MEAN = 32768,   /* over so many the times of the row are sums, and their mean is compared whatever other
                                 amounts are divided by; null: the row is like the others */
    GT_COLUMN_RATE = 1 << 27, /* with ADDS: a rate or ratio, never divided; rows compared as one have its mean */
    GT_COLUMN_LEVEL = 1 << 28, /* with ADDS: memory in use and the like, never divided; it adds up over rows */
    GT_COLUMN_EXACT = 1 << 29, /* with KEY: a number or name that tells rows apart by itself, such as a rank: rows match
                                  only if they have the same there, never by order or similarity */
    GT_COLUMN_SIDE = 65536,    /* what one side of a comparison has, or the difference: such columns share a unit */

    /* Roles in the words of a comparison (roles.h). */
    GT_COLUMN_TOTAL = 1 << 17,   /* of several times the one that titles need not name */
    GT_COLUMN_PART = 1 << 18,    /* over all rows these sum to what the table is a part of */
    GT_COLUMN_WORK = 1 << 19,    /* time of GPU work: compared where a side lacks the whole */
    GT_COLUMN_WORDS = 1 << 20,   /* text that says how the row is called */
    GT_COLUMN_DIVISOR = 1 << 21, /* counts what amounts may be divided by */
    GT_COLUMN_AT_ONCE = 1 << 22, /* so many count theirs at the same time */
    GT_COLUMN_EXTENT = 1 << 23,  /* time of the things counted: of several to divide by, the longest is advised */
    GT_COLUMN_ROLES = GT_COLUMN_TOTAL | GT_COLUMN_PART | GT_COLUMN_WORK | GT_COLUMN_WORDS | GT_COLUMN_DIVISOR |
                      GT_COLUMN_AT_ONCE | GT_COLUMN_EXTENT,
};

#define GT_TABLE_COLUMNS_MAX 256

struct gt_report_column {
    const char *key, *title;
    enum gt_unit unit;
    const char *of; /* shares: "kernel time", "launches" ... */
    uint32_t flags; /* enum gt_column_flag */
};

struct gt_table {
    const char *key, *title;
    const struct gt_report_column *columns;
    size_t column_count;
    struct gt_cell *cells; /* row by row */
    size_t row_count, row_capacity;
    size_t total_rows;          /* before a limit took some away; at least row_count */
    size_t screen_limit;        /* rows shown on the screen; 0 = all */
    size_t page_limit;          /* rows that a page has of it for a chart; 0 = as many as of any table */
    bool page_samples;          /* of more rows a page has some from everywhere, rather than the first ones */
    size_t blank_rows;          /* so many at the end say nothing and are not missed on the screen; sorting ends that */
    const char *screen_columns; /* comma-separated keys; NULL = all but the detail ones */
    bool is_ranked;             /* rows are numbered on the screen */
    bool keeps_order;           /* a comparison leaves its rows in their order and shows all that are not blank */
    bool folds;                 /* columns that find no room there follow below, after the first once more */
    const char *empty;          /* the sentence to show when there are no rows; NULL: the table is not shown */
    const char *sort;           /* key of the column the rows are ordered by, as gt_table_sort leaves it; may be NULL */
    bool shows_sort;            /* people asked for that order: that column is shown, whatever has to give way */
    bool stands_alone;          /* data formats add no columns that say which input a row is of */
    const char *all_rows;       /* option that shows rows left out on the screen; NULL: --table KEY --top 0 */
    const char *all_columns;    /* likewise columns; NULL: --columns */
    bool is_fixed;              /* it has the same rows for every trace that has them: one that is absent is not 0 */
    const struct gt_parts *parts; /* of a table with GT_COLUMN_PART; NULL: of the whole, by their names */
    const struct gt_table *shape; /* of a comparison: the table of a capture whose columns it compares */
    struct gt_str *names; /* what its rows can be called, where that is known; most traces have but some of them */
    size_t name_count, name_capacity;
    struct gt_report *report;
};

/* Adds what a row can be called; copies. */
void gt_table_name(struct gt_table *table, struct gt_str name);

/* Index of a column, SIZE_MAX if there is none. */
size_t gt_table_column(const struct gt_table *table, const char *key);
size_t gt_table_column_named(const struct gt_table *table, struct gt_str key);
/* The column that a user means by `sort`, which may have a '+' before it: by its key, else by its title, else by the
   beginning of its key where no other begins so. SIZE_MAX: no column. */
size_t gt_table_column_sorted(const struct gt_table *table, const char *sort);
/* The first column with all of these flags, SIZE_MAX if there is none. */
size_t gt_table_column_flagged(const struct gt_table *table, uint32_t flags);
/* The column that names the rows: of several keys the one with long text, else the last. SIZE_MAX: there is none. */
size_t gt_table_name_column(const struct gt_table *table);
/* A number as a double; NAN for null, text and a column or row that is not there. */
double gt_table_number(const struct gt_table *table, size_t row, const char *column);
/* Text; empty for null, numbers and a column or table that is not there. */
struct gt_str gt_table_text(const struct gt_table *table, size_t row, const char *column);

/* ---- shape.c ---- */

/* Largest first, or smallest first with '+' before the key; nulls last; equal values keep their order. */
enum gt_status gt_table_sort(struct gt_table *table, const char *sort, struct gt_error *err);
void gt_table_limit(struct gt_table *table, size_t rows); /* keeps the first ones; 0: all */

#endif
