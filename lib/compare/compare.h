/* Compares two finished reports, A and B, each over one or several captures: matches the rows of their tables by key
   and subtracts their amounts. Knows only tables, columns, units, keys and roles, not their meaning. */
#ifndef GT_COMPARE_COMPARE_H
#define GT_COMPARE_COMPARE_H

#include "base/fail.h"
#include "report/report.h"

enum gt_side { GT_SIDE_A, GT_SIDE_B, GT_SIDE_COUNT };

#define GT_COMPARE_SMALL_PART 0.05 /* of the largest change: smaller ones are not mentioned */

/* The captures of both sides and what their amounts are divided by. */
struct gt_compare_sides {
    const struct gt_report *reports[GT_SIDE_COUNT];
    const struct gt_roles *roles;
    size_t capture_count; /* of both together: those of A, then those of B */
    double *divisors;     /* by capture */
    const char *why;      /* of this choice: a sentence after a blank; "" */
    bool is_chosen;       /* the user chose the tables */
    const char *per;      /* "step" ...; "none" */
    const char *unit;     /* "per step"; "" */
    double noise_share;
    bool is_noise_given;              /* by the user */
    const char *names[GT_SIDE_COUNT]; /* as shown: "A" and "B", or the user's names */
    bool is_named;                    /* they are not A and B */
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
    const char *per;     /* key of a divisor of the roles; "none": amounts are not divided; NULL: automatic */
    const char *range;   /* per range: its name */
    const char *tables;  /* comma-separated keys of the tables to show; "": none, NULL: all that both reports have */
    bool is_noise_given; /* noise_share is the user's: smaller changes count as noise whatever the spread */
    double noise_share;
    const char *labels[GT_SIDE_COUNT]; /* names of the sides; NULL: A and B */
};

/* Makes one report from two with the same analyses: its first section is the comparison, with a table under the key of
 * each compared table; a further section for each capture has its notes, facts and issues. The result borrows from
 * both. options may be NULL; limits are ignored. Cost: linear in the rows except for sorting. */
enum gt_status gt_compare_new(const struct gt_report *a, const struct gt_report *b,
                              const struct gt_compare_options *options, struct gt_report **out, struct gt_error *err);

/* Columns of a table of a comparison for a column of table->shape (or SIZE_MAX): the value of A, of B, the change, and
 * the largest insignificant change. SIZE_MAX: there is none. */
struct gt_compare_columns {
    size_t a, b, delta, noise;
};
struct gt_compare_columns gt_compare_find_columns(const struct gt_table *table, size_t column);
/* Those of the first amount with that flag. */
struct gt_compare_columns gt_compare_find_amount(const struct gt_table *table, uint32_t flag);
/* A number of a table; NAN if the column is SIZE_MAX or the cell is empty. */
double gt_compare_number(const struct gt_table *table, size_t row, size_t column);

/* compare_sides.c: chooses what amounts are divided by. */
enum gt_status gt_compare_sides_init(struct gt_compare_sides *sides, const struct gt_report *a,
                                     const struct gt_report *b, const struct gt_compare_options *options,
                                     struct gt_arena *arena, struct gt_error *err);

/* compare_chosen.c: of several captures of a side, those that can be averaged (capture_needs of the roles). Why one
   cannot, in words; NULL: it can. */
const char *gt_compare_lack(const struct gt_report *report, size_t section);
/* The report with these alone, in the arena, which borrows from it, or the report itself. NULL: memory was short. */
const struct gt_report *gt_compare_choose(const struct gt_report *report, struct gt_arena *arena);
/* Says which are left out of a side, and why. */
void gt_compare_note_left_out(const struct gt_report *report, const char *side, struct gt_section *section);

/* compare_captures.c: the sections of the captures, and a table of them in the comparison if there are many. */
void gt_compare_describe_captures(const struct gt_compare_sides *sides, struct gt_report *report);
void gt_compare_list_captures(const struct gt_compare_sides *sides, struct gt_section *section);

#endif
