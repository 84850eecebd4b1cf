/* Limits that a user sets for a report (what must hold) or a comparison (what must not), and their verdicts. */
#ifndef GT_REPORT_LIMIT_H
#define GT_REPORT_LIMIT_H

#include "base/fail.h"
#include "base/num.h"
#include "report/report.h"

enum gt_limit_unit { GT_LIMIT_NUMBER, GT_LIMIT_PERCENT, GT_LIMIT_TIME };

struct gt_special;

/* "exposed_comm<5%", "kernel:*flash*>+10%", "each kernel:*>+10%": MEASURE or KIND:GLOB, < <= > >=, a number with %, ns,
   us, ms, s or nothing. The last < or > counts, for names of kernels have some. */
struct gt_limit {
    struct gt_str text;               /* whole */
    struct gt_str kind, pattern;      /* kind is empty for a measure, whose name then is the pattern */
    const struct gt_special *special; /* the measure, if it is no row of a table */
    bool is_each;                     /* every row by itself, not their sum */
    bool is_above, takes_equal;       /* > or >=; >= or <= */
    bool is_signed;                   /* the number has a + or - */
    double bound;                     /* fraction, ns or plain number */
    enum gt_limit_unit unit;
};

/* A malformed limit is a usage error. The result borrows text. */
enum gt_status gt_limit_parse(const char *text, struct gt_limit *limit, struct gt_error *err);

/* A usage error about a limit, which it quotes first. */
enum gt_status gt_limit_fail(const struct gt_limit *limit, struct gt_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether value is on that side of the bound. */
bool gt_limit_holds(const struct gt_limit *limit, double value);

/* '*' stands for anything, '?' for one byte; case does not matter. */
bool gt_glob_matches(struct gt_str glob, struct gt_str text);

/* Whether a row of the table can have such a name, though none may: a pattern can match nothing, and some tables know
   what their rows can be called. */
bool gt_limit_may_be_absent(const struct gt_limit *limit, const struct gt_table *table);

/* Which table a limit is about and which column its pattern is matched with. */
struct gt_limit_place {
    const char *table, *column;
};
/* A kind that there is not is a usage error. */
enum gt_status gt_limit_place_find(const struct gt_limit *limit, struct gt_limit_place *place, struct gt_error *err);

/* ---- limit_measures.c: measures that are no rows of a table ---- */

struct gt_special {
    const char *name;
    double (*measure)(const struct gt_section *section); /* NAN: the trace does not tell */
    enum gt_limit_unit unit;                             /* of the result */
    const char *needs;                                   /* what a trace that does not tell has none of */
    bool adds;                                           /* it grows with the length of the capture */
    bool is_exact;                                       /* a count, which does not vary by itself */
    const char *one_per;                                 /* per what it is always 1; NULL: nothing */
};
double gt_step_count(const struct gt_section *section); /* warm-up too */

/* Finds the measure that a limit without a kind names, in full and in whatever case, and gives it the name as it is
   spelt here. One that there is not is a usage error. */
enum gt_status gt_limit_resolve(struct gt_limit *limit, struct gt_error *err);
/* A measure that is always 1 in a comparison per such a thing is a usage error: nothing can break its limit. */
enum gt_status gt_limit_check_per(const struct gt_limit *limit, const char *per, struct gt_error *err);

/* That a measure is not there: the section's trace has no steps, or no work. who is the side of a comparison, or
   empty. */
enum gt_status gt_limit_fail_measure(const struct gt_limit *limit, const struct gt_section *section, const char *who,
                                     struct gt_error *err);
/* That the trace cannot tell a table, or one measure. */
enum gt_status gt_limit_fail_lack(const struct gt_limit *limit, const struct gt_section *section, const char *who,
                                  struct gt_str lacks, struct gt_error *err);
/* That no row has the name, with those that there are where they are known; table may be NULL. */
enum gt_status gt_limit_fail_name(const struct gt_limit *limit, const struct gt_table *table, const char *where,
                                  struct gt_error *err);

/* ---- verdicts ---- */

enum gt_verdict { GT_VERDICT_OK, GT_VERDICT_BROKEN, GT_VERDICT_NOISE };

struct gt_judgement {
    enum gt_verdict verdict;
    double value;         /* what is compared with the bound; NAN or infinite: none */
    struct gt_str detail; /* in words */
    const char *noise;    /* "known", "unknown": of a change; NULL: there is none */
    size_t rows;          /* that match; 1 for a measure */
    size_t broken_rows;   /* each: those that break it */
    struct gt_str worst;  /* each: the row that value is of */
};

/* Adds a line to the table `limits`, which is made at the first and stands before all other blocks. */
void gt_limits_add(struct gt_section *section, const struct gt_limit *limit, const struct gt_judgement *judgement);

/* A number in the unit it has: "1.2 ms", "49.1%", "1,234", "0.4912". */
void gt_limit_format(char text[GT_NUM_MAX], enum gt_limit_unit unit, double value);

/* An amount in words: "+3.1%", "(1.2 ms -> 1.3 ms, noise 8 us)". */
struct gt_limit_words {
    struct gt_str head, tail; /* tail may be empty */
};
struct gt_str gt_limit_describe(struct gt_arena *arena, const struct gt_limit_words *words);
/* "3 of 45, 2 more in noise, worst +3.1% NAME": short, for the line of a table has room for little more. */
struct gt_str gt_limit_describe_rows(struct gt_arena *arena, const struct gt_judgement *judgement, size_t noisy_rows,
                                     struct gt_str worst);

/* Judges every limit in every section of a report, or in a comparison. Each limit says there what must hold, here what
   must not; a change inside the noise breaks none. What a trace cannot tell is a usage error, and so are measures and
   names that there are not. */
enum gt_status gt_report_check(struct gt_report *report, const char *const *limits, size_t count, size_t *broken,
                               struct gt_error *err);

/* limit_diff.c: one limit of a comparison. */
enum gt_status gt_diff_check(struct gt_report *report, const struct gt_limit *limit, bool *is_broken,
                             struct gt_error *err);

#endif
