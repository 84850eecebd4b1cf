/* Matching the rows of one table of both sides. */
#ifndef GT_COMPARE_JOIN_H
#define GT_COMPARE_JOIN_H

#include "base/strtab.h"
#include "compare/compare.h"

/* How rows of both sides were matched. */
enum gt_match {
    GT_MATCH_NONE,     /* only on one side */
    GT_MATCH_EXACT,    /* the same key */
    GT_MATCH_ORDER,    /* ids (GPU, process, stream) differ: same position in their order */
    GT_MATCH_SHORT,    /* the same alias: simplified name */
    GT_MATCH_SIMILAR,  /* the same except for tile sizes, architecture and generated numbers */
    GT_MATCH_CATEGORY, /* only the category is the same */
    GT_MATCH_COUNT,
};
extern const char *const gt_match_names[GT_MATCH_COUNT];

/* A row in one capture: the number of rows, mean and squared deviations of their leading amounts (Welford), the
 * variance of the sum from the table's spread (NAN: unknown), then the amounts, all divided. */
enum { GT_SLOT_ROWS, GT_SLOT_MEAN, GT_SLOT_SQUARES, GT_SLOT_VARIANCE, GT_SLOT_AMOUNTS };

struct gt_join_row {
    const struct gt_cell *cells[GT_SIDE_COUNT]; /* of the first row seen on that side; NULL: none */
    const struct gt_table *tables[GT_SIDE_COUNT];
    size_t names[GT_SIDE_COUNT];                  /* different keys that are joined here */
    const struct gt_cell *largest[GT_SIDE_COUNT]; /* of these, the one with the largest leading amount */
    double largest_amount[GT_SIDE_COUNT];
    enum gt_match match;
    bool is_joined; /* to another row, which represents it: */
    size_t head;
    struct gt_str label; /* what joined rows have in common; empty: one name on each side */
};

/* The table of one capture. */
struct gt_join_source {
    const struct gt_table *table; /* NULL: it has none */
    bool is_partial;              /* truncated: a missing row may exist */
};

/* The rows of one table on both sides. */
struct gt_join {
    const struct gt_compare_sides *sides;
    const struct gt_table *shape;   /* its columns are used for all */
    size_t *adds;                   /* columns of shape that add up */
    size_t add_count, lead;         /* lead: index into adds */
    bool *is_known;                 /* by side and amount: some row has it */
    struct gt_join_source *sources; /* by capture */
    struct gt_join_row *rows;
    double *slots; /* by row, capture, slot */
    size_t row_count, row_capacity;
    struct gt_strtab keys;
    struct gt_arena arena; /* labels */
    char *text;            /* buffer for a key */
    size_t text_bytes, text_capacity;
    bool failed;
};

static inline size_t gt_join_slot_count(const struct gt_join *join) {
    return GT_SLOT_AMOUNTS + join->add_count;
}
static inline double *gt_join_slots(const struct gt_join *join, size_t row, size_t capture) {
    return join->slots + (row * join->sides->capture_count + capture) * gt_join_slot_count(join);
}

/* Finds the table in every capture and collects its rows. false: the table cannot be compared (it has no leading
   amount, or was truncated); join->failed: out of memory. Release in any case. */
bool gt_join_init(struct gt_join *join, const struct gt_compare_sides *sides, const char *table);
void gt_join_release(struct gt_join *join);

/* join_match.c: joins rows that only one side has, tier by tier. false: out of memory. */
bool gt_join_match(struct gt_join *join);
/* join_names.c: appends a name without parts that depend on the build or GPU: tile sizes, architectures, generated
 * numbers. Types (f16, int8) stay. */
void gt_join_plain_name(struct gt_str name, char *out, size_t *length);
#define GT_JOIN_PLAIN_MAX(name_bytes) (2 * (name_bytes) + 1) /* size that it needs */
/* Adds the amounts of one row to another, which then represents both. */
void gt_join_merge_rows(struct gt_join *join, size_t into, size_t from);

/* Makes room in join->text for that many more bytes. */
bool gt_join_reserve(struct gt_join *join, size_t more_bytes);
/* Appends one part of a key; different lists of parts give different texts. */
void gt_join_put(struct gt_join *join, struct gt_str part);

/* Index of a capture of the side that lacks the data for the row; SIZE_MAX: there is none. */
size_t gt_join_mute_capture(const struct gt_join *join, size_t row, enum gt_side side);

/* Mean over the captures of a side of one amount; NAN if the side lacks the data. */
double gt_join_amount(const struct gt_join *join, size_t row, enum gt_side side, size_t amount);

/* join_noise.c: the largest insignificant change of the leading amount; a 95 % interval of the change by resampling
 * captures, if a side has several. */
struct gt_noise {
    double floor_ns;        /* NAN: unknown */
    double low_ns, high_ns; /* NAN: unknown */
    bool is_beyond;         /* the change is significant */
    bool is_guess;          /* no variation was seen: the noise is the default share of the amount */
};
struct gt_noise gt_join_noise(const struct gt_join *join, size_t row);

/* Variance of the mean of several values; NAN for fewer than two. stride: distance between values. */
double gt_join_variance_of_mean(const double *values, size_t stride, size_t count);
/* Noise of a change from a to b, from the variances of both (NAN: unknown). */
double gt_join_noise_floor(const struct gt_compare_sides *sides, double a, double b, double variance_a,
                           double variance_b, bool *is_guess);

/* join_table.c: the joined rows as a table of the comparison. */
struct gt_join_counts {
    size_t rows, by_match[GT_MATCH_COUNT], changed, noisy, unknown, only[GT_SIDE_COUNT];
};
struct gt_table *gt_join_add_table(struct gt_join *join, struct gt_section *section, struct gt_join_counts *counts);

/* join_notes.c: notes below a table: how its rows were matched, and which names its first joined rows contain. */
void gt_join_note_matches(const struct gt_compare_sides *sides, struct gt_section *section, const char *title,
                          const struct gt_join_counts *counts);
void gt_join_note_members(const struct gt_compare_sides *sides, struct gt_section *section,
                          const struct gt_table *table);

#endif
