/* What the tables of a report mean to comparisons and limits. Analyses declare it in constants: flags of columns
   (enum gt_column_flag), the parts of a table, and these lists. Whoever compares or judges reads roles and knows no
   table by name. */
#ifndef GT_REPORT_ROLES_H
#define GT_REPORT_ROLES_H

#include <stdbool.h>
#include <stddef.h>

struct gt_report_column;

/* Where the number of a measure is. */
enum gt_measure_from {
    GT_FROM_ROW,    /* the leading amount of the row of that name in the table of measures */
    GT_FROM_FACT,   /* a fact; not known where the trace lacks the data of `table` */
    GT_FROM_MEAN,   /* of `column` over the rows of `table`; not known without rows */
    GT_FROM_MAX,    /* the same, 0 without rows; not known where the table is absent, `needs_rows_of` has no rows or
                       all cells are null */
    GT_FROM_ISSUES, /* how many data problems were counted */
    GT_FROM_LOSSES, /* those among them that are losses */
};

enum gt_measure_kind { GT_MEASURE_TIME, GT_MEASURE_SHARE, GT_MEASURE_NUMBER, GT_MEASURE_BYTES };

/* A number of a capture that limits may be set for. */
struct gt_measure {
    const char *key;      /* as limits call it */
    const char *spelling; /* another spelling of it; NULL: none */
    enum gt_measure_from from;
    const char *table, *column; /* column: or the key of the fact */
    const char *needs_rows_of;  /* NULL: none */
    enum gt_measure_kind kind;
    const char *needs;      /* what a trace without it lacks, in words */
    bool adds;              /* it grows with the length of the capture */
    bool is_exact;          /* a count, which does not vary from run to run of the same program */
    const char *one_per;    /* key of the divisor by which it is always 1; NULL: none */
    bool is_per_step;       /* divided by the number of steps, where there are some */
    const char *over;       /* of a time in a verdict: "mean over ranks", said after "per step" or "per run"; "": only
                               these; NULL: neither */
    const char *leaves_out; /* the things that a row which is a mean leaves out, in words; NULL: it is none */
};

/* What amounts may be divided by, so that captures of different length compare. The table counts them in the column
   with GT_COLUMN_DIVISOR. */
enum gt_divisor_rows {
    GT_DIVISOR_STEPS, /* in the row of one measure; chosen unasked where steps are most of the time */
    GT_DIVISOR_NAMED, /* in the rows that the user names */
    GT_DIVISOR_WORK,  /* in all rows: the work that was done */
};
struct gt_divisor {
    const char *key;     /* "step", as in --per step */
    const char *unit;    /* "per step" */
    const char *many;    /* "steps" */
    const char *table;   /* compared even if it is not shown */
    const char *measure; /* GT_DIVISOR_STEPS: the row; else NULL */
    enum gt_divisor_rows rows;
};

/* KIND:GLOB of a limit: which table it is about. */
struct gt_limit_kind {
    const char *key, *table;
    const char *over; /* as in gt_measure */
};

/* What captures of one side have in common: one that lacks it is left out where another has it. */
struct gt_capture_need {
    const char *fact;
    double least;
    const char *lack; /* what is said of one that has less */
};

struct gt_roles {
    const char *measures;    /* table that has the measures as rows; what a comparison shows first */
    const char *whole;       /* the measure that the parts of the time sum to */
    const char *whole_words; /* what it is called in a sentence */
    const char *gpus;        /* table with a row for each GPU: the whole is a mean over them, the parts are sums. NULL:
                                both are the same */
    const struct gt_measure *measure_list;
    size_t measure_count;
    const struct gt_divisor *divisors;
    size_t divisor_count;
    const struct gt_limit_kind *kinds;
    size_t kind_count;
    const struct gt_report_column *capture_facts; /* facts that a list of captures shows of each */
    size_t capture_fact_count;
    const struct gt_capture_need *capture_needs;
    size_t capture_need_count;
    const char *opaque_issue; /* id of the problem that work was traced without the kernels inside */
};

extern const struct gt_roles gt_no_roles;

/* How the rows of a table are called in the first sentence of a comparison, and what they are a part of. The column
   with GT_COLUMN_PART has the amounts, the one with GT_COLUMN_WORDS the words; a row without words stays in what it is
   a part of. */
struct gt_term {
    const char *text, *words;
};
struct gt_parts {
    const char *table, *row;     /* part of that row of that table; NULL: of the whole */
    const char *whole;           /* its rows sum to a whole of their own, which has a sentence of its own: what that is
                                    called; NULL: they do not */
    const char *column, *text;   /* only rows that have this text in this column are parts; NULL: all are */
    bool is_by_gpu;              /* with a whole of its own: it is that of each GPU, so that the mean is said, and said
                                    even if it did not change */
    const char *unknown;         /* with which the words of parts begin of which nobody knows what they are; NULL:
                                    there are none */
    const char *prefix, *suffix; /* put around the words: "idle (", ")" */
    const struct gt_term *terms; /* up to one without text: words for the texts of the column, where they have none the
                                    row's name; NULL: the texts are the words */
};

#endif
