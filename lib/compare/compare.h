/* Compares two finished reports, A and B, each over one or several captures: matches the rows of their tables by key
   and subtracts their amounts. Knows tables, columns, units, keys and roles, and nothing of what they are about. */
#ifndef GT_COMPARE_COMPARE_H
#define GT_COMPARE_COMPARE_H

#include "base/fail.h"
#include "report/report.h"

enum gt_side { GT_SIDE_A, GT_SIDE_B, GT_SIDE_COUNT };

#define GT_COMPARE_SMALL_PART 0.05 /* of the largest change: smaller ones need no mention */

/* The captures of both sides and what their amounts are divided by. */
struct gt_compare_sides {
    const struct gt_report *reports[GT_SIDE_COUNT];
    const struct gt_roles *roles;
    size_t capture_count; /* of both together: those of A, then those of B */
    double *divisors;     /* by capture */
    const char *why;      /* they are what they are: a sentence with a blank before it; "" */
    bool is_chosen;       /* the user said which tables to show */
    const char *per;      /* "step" ...; "none" */
    const char *unit;     /* "per step", in words; "" */
    double noise_share;
    bool is_noise_given;              /* by the user */
    const char *names[GT_SIDE_COUNT]; /* as people are shown them: "A" and "B", or what the user calls them */
    bool is_named;                    /* they are other names than A and B */
};

static inline enum gt_side gt_compare_side(const struct gt_compare_sides *sides, size_t capture) {
    return capture < sides->reports[GT_SIDE_A]->section_count ? GT_SIDE_A : GT_SIDE_B;
}
static inline const struct gt_section *gt_compare_section(const struct gt_compare_sides *sides, size_t capture) {
    size_t of_a = sides->reports[GT_SIDE_A]->section_count;
    return capture < of_a ? &sides->reports[GT_SIDE_A]->sections[capture]
                          : &sides->reports[GT_SIDE_B]->sections[capture - of_a];
}

/* The captures of one side. */
struct gt_captures {
    size_t first, count;
};
static inline struct gt_captures gt_compare_captures(const struct gt_compare_sides *sides, enum gt_side side) {
    size_t of_a = sides->reports[GT_SIDE_A]->section_count;
    return side == GT_SIDE_A ? (struct gt_captures){0, of_a} : (struct gt_captures){of_a, sides->capture_count - of_a};
}

/* How to compare; zeroed: automatic. */
struct gt_compare_options {
    const char *per;     /* amounts are divided by the number of: key of a divisor of the roles; "none": they are not;
                            NULL: the first that every capture has for most of it */
    const char *range;   /* per range: its name */
    const char *tables;  /* comma-separated keys of the tables to show; "": none, NULL: all that both reports have */
    bool is_noise_given; /* noise_share is the user's: smaller changes count as noise whatever the spread */
    double noise_share;
    const char *labels[GT_SIDE_COUNT]; /* what headings call the sides; NULL: A and B */
};

/* Two reports with the same analyses in, one report out: its first section is the comparison, with a table under the
   key of each table it compares; one more section for each capture has its notes, facts and problems. The result
   borrows from both. options may be NULL; limits are not for this. Cost: linear in the rows but for sorts. */
enum gt_status gt_compare_new(const struct gt_report *a, const struct gt_report *b,
                              const struct gt_compare_options *options, struct gt_report **out, struct gt_error *err);

/* Columns of a table of a comparison, SIZE_MAX where there is none: a column of the tables it compares as side A has
   it, as side B has it, and the change; column is one of table->shape, or SIZE_MAX. */
struct gt_compare_columns {
    size_t a, b, delta;
};
struct gt_compare_columns gt_compare_find_columns(const struct gt_table *table, size_t column);
/* Those of the first amount with that flag. */
struct gt_compare_columns gt_compare_find_amount(const struct gt_table *table, uint32_t flag);
/* A number of a table; NAN where the column is SIZE_MAX or there is none. */
double gt_compare_number(const struct gt_table *table, size_t row, size_t column);

/* compare_sides.c: chooses what amounts are divided by. */
enum gt_status gt_compare_sides_init(struct gt_compare_sides *sides, const struct gt_report *a,
                                     const struct gt_report *b, const struct gt_compare_options *options,
                                     struct gt_arena *arena, struct gt_error *err);

/* compare_captures.c: the sections of the captures, and a table of them in the comparison where they are many. */
void gt_compare_describe_captures(const struct gt_compare_sides *sides, struct gt_report *report);
void gt_compare_list_captures(const struct gt_compare_sides *sides, struct gt_section *section);

#endif
