/* What the files of the comparison share: the two sides, and the rows of one table while they are matched. */
#ifndef GT_REPORT_DIFF_PARTS_H
#define GT_REPORT_DIFF_PARTS_H

#include "base/strtab.h"
#include "report/diff.h"

enum gt_side { GT_SIDE_A, GT_SIDE_B, GT_SIDE_COUNT };

/* How the rows of both sides found each other. */
enum gt_match {
    GT_MATCH_NONE,     /* only on one side */
    GT_MATCH_EXACT,    /* the same key */
    GT_MATCH_ORDER,    /* ids (GPU, process, stream) differ: the same place in their order */
    GT_MATCH_SHORT,    /* the same alias: simplified name */
    GT_MATCH_SIMILAR,  /* the same but for tile sizes, architecture and generated numbers */
    GT_MATCH_CATEGORY, /* nothing but the kind of work is the same */
    GT_MATCH_COUNT,
};
extern const char *const gt_match_names[GT_MATCH_COUNT];

#define GT_DIFF_SMALL_PART 0.05 /* of the largest change: what is smaller need not be told */

/* The captures of both sides and what their amounts are divided by. */
struct gt_diff_sides {
    const struct gt_report *reports[GT_SIDE_COUNT];
    size_t capture_count; /* of both together: those of A, then those of B */
    double *divisors;     /* by capture */
    const char *why;      /* they are what they are: a sentence with a blank before it; "" */
    bool is_chosen;       /* the user said which tables to show */
    const char *per;      /* "step" ...; "none" */
    const char *unit;     /* "per step", in words; "" */
    double noise_share;
    bool is_noise_told;               /* by the user */
    const char *names[GT_SIDE_COUNT]; /* as people are shown them: "A" and "B", or what the user calls them */
    bool is_named;                    /* they are other names than A and B */
};

static inline enum gt_side gt_capture_side(const struct gt_diff_sides *sides, size_t capture) {
    return capture < sides->reports[GT_SIDE_A]->section_count ? GT_SIDE_A : GT_SIDE_B;
}
static inline const struct gt_section *gt_capture_section(const struct gt_diff_sides *sides, size_t capture) {
    size_t of_a = sides->reports[GT_SIDE_A]->section_count;
    return capture < of_a ? &sides->reports[GT_SIDE_A]->sections[capture]
                          : &sides->reports[GT_SIDE_B]->sections[capture - of_a];
}

/* The captures of one side. */
struct gt_captures {
    size_t first, count;
};
static inline struct gt_captures gt_captures_of(const struct gt_diff_sides *sides, enum gt_side side) {
    size_t of_a = sides->reports[GT_SIDE_A]->section_count;
    return side == GT_SIDE_A ? (struct gt_captures){0, of_a} : (struct gt_captures){of_a, sides->capture_count - of_a};
}

/* What one capture has of one row: the number of rows, mean and squared deviations of their leading amounts (Welford),
   the variance of the sum by the table's own spread (NAN: not told), then the amounts, all divided. */
enum { GT_SLOT_ROWS, GT_SLOT_MEAN, GT_SLOT_SQUARES, GT_SLOT_VARIANCE, GT_SLOT_AMOUNTS };

struct gt_diff_row {
    const struct gt_cell *cells[GT_SIDE_COUNT]; /* of the first row seen on that side; NULL: none */
    const struct gt_table *tables[GT_SIDE_COUNT];
    size_t names[GT_SIDE_COUNT];                  /* different keys that are joined here */
    const struct gt_cell *largest[GT_SIDE_COUNT]; /* of these the one with the most of the leading amount */
    double largest_amount[GT_SIDE_COUNT];
    enum gt_match match;
    bool is_joined; /* to another row, which counts for it: */
    size_t head;
    struct gt_str label; /* what joined rows have in common; empty: one name on each side */
};

/* The table of one capture. */
struct gt_diff_source {
    const struct gt_table *table; /* NULL: it has none */
    bool is_partial;              /* a row that is absent may be there in truth */
};

/* The rows of one table on both sides. */
struct gt_diff_join {
    const struct gt_diff_sides *sides;
    const struct gt_table *shape;   /* whose columns are the columns of all */
    size_t *adds;                   /* columns of shape that add up */
    size_t add_count, lead;         /* lead: index into adds */
    bool *is_known;                 /* by side and amount: some row has it */
    struct gt_diff_source *sources; /* by capture */
    struct gt_diff_row *rows;
    double *slots; /* by row, capture, slot */
    size_t row_count, row_capacity;
    struct gt_strtab keys;
    struct gt_arena arena; /* labels */
    char *text;            /* a key in the making */
    size_t text_bytes, text_capacity;
    bool failed;
};

static inline size_t gt_join_slot_count(const struct gt_diff_join *join) {
    return GT_SLOT_AMOUNTS + join->add_count;
}
static inline double *gt_join_slots(const struct gt_diff_join *join, size_t row, size_t capture) {
    return join->slots + (row * join->sides->capture_count + capture) * gt_join_slot_count(join);
}

/* Finds the table in every capture and collects its rows. false: the table cannot be compared (it has no leading
   amount, or was cut); join->failed: memory was short. Release in any case. */
bool gt_join_init(struct gt_diff_join *join, const struct gt_diff_sides *sides, const char *table);
void gt_join_release(struct gt_diff_join *join);

/* diff_match.c: joins rows that only one side has, tier after tier. false: memory was short. */
bool gt_join_match(struct gt_diff_join *join);
/* Adds the amounts of one row to another, which then stands for both. */
void gt_join_rows(struct gt_diff_join *join, size_t into, size_t from);

/* Makes room in join->text for that many more bytes. */
bool gt_join_reserve(struct gt_diff_join *join, size_t more_bytes);
/* Appends one part of a key, so that different lists of parts are different texts. */
void gt_join_put(struct gt_diff_join *join, struct gt_str part);

/* A capture of the side that cannot tell the row, its index; SIZE_MAX: all tell it, if only that it is not there. */
size_t gt_join_mute_capture(const struct gt_diff_join *join, size_t row, enum gt_side side);

/* Mean over the captures of a side of one amount; NAN where the side does not tell. */
double gt_join_amount(const struct gt_diff_join *join, size_t row, enum gt_side side, size_t amount);

/* diff_noise.c: what a change of the leading amount may be without meaning anything; 95 % of an interval for the change
   by resampling captures, where a side has several. */
struct gt_noise {
    double floor_ns;        /* NAN: not known */
    double low_ns, high_ns; /* NAN: not known */
    bool is_beyond;         /* the change means something */
    bool is_guess;          /* nothing varies where it could be seen: the floor is the usual share of the amount */
};
struct gt_noise gt_join_noise(const struct gt_diff_join *join, size_t row);

/* Of the mean of several values, by how they differ; NAN for fewer than two. stride: how far apart they stand. */
double gt_variance_of_mean(const double *values, size_t stride, size_t count);
/* What a change from a to b may be, by the variances of both (NAN: not known). */
double gt_noise_floor(const struct gt_diff_sides *sides, double a, double b, double variance_a, double variance_b,
                      bool *is_guess);

/* diff_table.c: the joined rows as a table of the comparison. */
struct gt_diff_counts {
    size_t rows, by_match[GT_MATCH_COUNT], changed, noisy, unknown, only[GT_SIDE_COUNT];
};
struct gt_table *gt_join_add_table(struct gt_diff_join *join, struct gt_section *section,
                                   struct gt_diff_counts *counts);

/* diff_members.c: says below a table which names its first joined rows hold. */
void gt_diff_note_members(const struct gt_diff_sides *sides, struct gt_section *section, const struct gt_table *table);

/* diff_per.c: chooses what amounts are divided by. */
enum gt_status gt_diff_sides_init(struct gt_diff_sides *sides, const struct gt_report *a, const struct gt_report *b,
                                  const struct gt_diff_options *options, struct gt_arena *arena, struct gt_error *err);

/* diff_words.c: the first lines. Reads the tables of the comparison. */
void gt_diff_add_words(const struct gt_diff_sides *sides, struct gt_section *section, const struct gt_table *measures,
                       const struct gt_table *categories, const struct gt_table *causes, const struct gt_table *work);

/* Tables that the first sentence is made from. */
#define GT_DIFF_TOLD_TABLES                                                                                            \
    { "categories", "idle_causes" }

/* diff_notes.c: the other sentences. Tables may be NULL. */
void gt_diff_note_per(const struct gt_diff_sides *sides, struct gt_section *section);
void gt_diff_note_matches(const struct gt_diff_sides *sides, struct gt_section *section,
                          const struct gt_diff_counts *counts);
/* What a side lacks looks like a change of the program: said before all else. */
void gt_diff_note_losses(const struct gt_diff_sides *sides, struct gt_section *section);
/* Takes tables without news off the screen and names them. */
void gt_diff_hide_tables(const struct gt_diff_sides *sides, struct gt_section *section);
void gt_diff_note_graphs(const struct gt_diff_sides *sides, struct gt_section *section);
void gt_diff_note_work(const struct gt_diff_sides *sides, struct gt_section *section, const struct gt_table *measures,
                       const struct gt_table *kernels, const struct gt_table *ranges);

/* diff_captures.c: the sections of the captures, and what the comparison itself tells of them where they are many. */
void gt_diff_describe_captures(const struct gt_diff_sides *sides, struct gt_report *report);
void gt_diff_tell_captures(const struct gt_diff_sides *sides, struct gt_section *section);

/* A number of a finished table as a double; NAN for null and text. */
double gt_table_number(const struct gt_table *table, size_t row, const char *column);
/* Text of a table; empty for null, numbers and a column or table that is not there. */
struct gt_str gt_table_text(const struct gt_table *table, size_t row, const char *column);

#endif
