/* Limits that a user sets for a report (what must hold) or a comparison (what must not), and their verdicts. */
#ifndef GT_VERDICT_LIMIT_H
#define GT_VERDICT_LIMIT_H

#include "base/fail.h"
#include "base/num.h"
#include "report/report.h"

enum gt_limit_unit { GT_LIMIT_NUMBER, GT_LIMIT_PERCENT, GT_LIMIT_TIME, GT_LIMIT_BYTES };

/* "exposed_comm<5%", "kernel:*flash*>+10%", "each kernel:*>+10%": MEASURE or KIND:GLOB, < <= > >=, a number with %, ns,
   us, ms, s, B, kB, KiB ... TiB or nothing. The last < or > counts, since kernel names may contain some. */
struct gt_limit {
    struct gt_str text;               /* as given */
    struct gt_str kind, pattern;      /* kind is empty for a measure, whose name then is the pattern */
    const struct gt_measure *measure; /* NULL: it has a kind */
    bool is_each;                     /* each row, not their sum */
    bool is_above, takes_equal;       /* > or >=; >= or <= */
    bool is_signed;                   /* the number has a + or - */
    double bound;                     /* fraction, ns, bytes or plain number */
    enum gt_limit_unit unit;
};

/* A malformed limit or unknown measure is a usage error. The result borrows text. */
enum gt_status gt_limit_parse(const char *text, const struct gt_roles *roles, struct gt_limit *limit,
                              struct gt_error *err);

/* Key of the table that has the values of a limit; NULL: it is malformed, or reads no table. */
const char *gt_limit_table(const char *text, const struct gt_roles *roles);

/* A usage error that quotes the limit first. */
enum gt_status gt_limit_fail(const struct gt_limit *limit, struct gt_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether value is on that side of the bound. */
bool gt_limit_holds(const struct gt_limit *limit, double value);

/* '*' matches anything, '?' for one byte; case does not matter. */
bool gt_limit_glob_matches(struct gt_str glob, struct gt_str text);

/* Whether the glob matches a name of rows, with or without the part in parentheses at its end: "cpu" matches
   "cpu (forward)". */
bool gt_limit_name_matches(struct gt_str glob, struct gt_str name);

/* Whether the name may match nothing: it is a pattern, or one of the names that the table knows its rows can have. */
bool gt_limit_may_be_absent(const struct gt_limit *limit, const struct gt_table *table);

/* The table of a limit. An unknown kind is a usage error. */
enum gt_status gt_limit_find_table(const struct gt_limit *limit, const struct gt_roles *roles, const char **table,
                                   struct gt_error *err);

/* ---- limit_measures.c ---- */

/* Finds the measure of a limit without a kind, ignoring case, and replaces the name by the spelling of the roles. An
 * unknown measure is a usage error. */
enum gt_status gt_limit_resolve(struct gt_limit *limit, const struct gt_roles *roles, struct gt_error *err);
/* The value of a measure that is not in the table of measures; NAN: the trace lacks the data. */
double gt_limit_measure(const struct gt_measure *measure, const struct gt_section *section);
/* The number of steps that the section counts; 0: none. */
double gt_limit_steps(const struct gt_section *section);
enum gt_limit_unit gt_limit_unit_of(const struct gt_measure *measure);
enum gt_limit_unit gt_limit_unit_of_column(enum gt_unit unit);
/* A measure that is always 1 with this --per is a usage error: its limit could never be broken. */
enum gt_status gt_limit_check_per(const struct gt_limit *limit, const char *per, struct gt_error *err);

/* Error: the section's trace lacks the data for a measure. who is the side of a comparison, or empty. */
enum gt_status gt_limit_fail_measure(const struct gt_limit *limit, const struct gt_section *section, const char *who,
                                     struct gt_error *err);
/* Error: the trace lacks the data for a table or measure. */
enum gt_status gt_limit_fail_lack(const struct gt_limit *limit, const struct gt_section *section, const char *who,
                                  struct gt_str lacks, struct gt_error *err);
/* Error: no row has the name; lists the known names. table may be NULL. */
enum gt_status gt_limit_fail_name(const struct gt_limit *limit, const struct gt_table *table, const char *where,
                                  struct gt_error *err);

/* ---- verdicts ---- */

enum gt_verdict { GT_VERDICT_OK, GT_VERDICT_BROKEN, GT_VERDICT_NOISE };

struct gt_judgement {
    enum gt_verdict verdict;
    double value;         /* compared with the bound; NAN or infinite: none */
    struct gt_str detail; /* as text */
    const char *noise;    /* "known", "unknown": of a change; NULL: there is none */
    size_t rows;          /* matching rows; 1 for a measure */
    size_t broken_rows;   /* each: those that break it */
    struct gt_str worst;  /* each, and rows that do not add up: the row that value is of */
};

/* Adds a row to the table `limits`, which is created on first use and precedes all other blocks. */
void gt_limit_add_verdict(struct gt_section *section, const struct gt_limit *limit,
                          const struct gt_judgement *judgement);

/* A number with its unit: "1.2 ms", "49.1%", "1,234", "0.4912". */
void gt_limit_format(char text[GT_NUM_MAX], enum gt_limit_unit unit, double value);

/* An amount as text: "+3.1%", "(1.2 ms -> 1.3 ms, noise 8 us)". */
struct gt_limit_words {
    struct gt_str head, tail; /* tail may be empty */
};
struct gt_str gt_limit_describe(struct gt_arena *arena, const struct gt_limit_words *words);
/* The row that decides where rows do not add up: "37.01 (least of 2: dp 0-6:2)". how: "least". */
struct gt_str gt_limit_describe_one(struct gt_arena *arena, const struct gt_judgement *judgement, const char *how,
                                    struct gt_str value);
/* "3 of 45, 2 more within noise, worst +3.1% NAME": kept short to fit in a row of the table. */
struct gt_str gt_limit_describe_rows(struct gt_arena *arena, const struct gt_judgement *judgement, size_t noisy_rows,
                                     struct gt_str worst);

/* Judges every limit in every section of a report, or in a comparison. In a report, limits say what must hold; in a
 * comparison, what must not; changes within the noise break none. Missing data and unknown measures or names are usage
 * errors. */
enum gt_status gt_limit_check(struct gt_report *report, const char *const *limits, size_t count, size_t *broken,
                              struct gt_error *err);

/* limit_change.c: one limit of a comparison. */
enum gt_status gt_limit_check_change(struct gt_report *report, const struct gt_limit *limit, bool *is_broken,
                                     struct gt_error *err);

#endif
