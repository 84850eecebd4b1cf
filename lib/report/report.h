/* MODEL 2: the report. Analyses add blocks to sections; writers walk them and know nothing else. */
#ifndef GT_REPORT_REPORT_H
#define GT_REPORT_REPORT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "gputime.h"
#include "report/roles.h"
#include "report/timeline.h"

enum gt_unit {
    GT_UNIT_NONE,  /* names and ids */
    GT_UNIT_COUNT, /* how many: grouped digits on the screen */
    GT_UNIT_NS,
    GT_UNIT_BYTES,
    GT_UNIT_SHARE, /* fraction 0..1 of what the column's `of` says; percent on the screen */
};
const char *gt_cell_unit_name(enum gt_unit unit); /* as in JSON: "", "count", "ns", "bytes", "share" */

/* One typed value. Zeroed it is null. Text is borrowed: from constants, the report's arena or the trace. */
struct gt_cell {
    union {
        int64_t integer;
        double real;
        const char *text;
    };
    uint32_t text_bytes;
    uint32_t type; /* enum gputime_cell_type */
};

static inline struct gt_cell gt_cell_null(void) {
    return (struct gt_cell){.type = GPUTIME_CELL_NULL};
}
static inline struct gt_cell gt_cell_int(int64_t value) {
    return (struct gt_cell){.integer = value, .type = GPUTIME_CELL_INT};
}
static inline struct gt_cell gt_cell_real(double value) {
    return (struct gt_cell){.real = value, .type = GPUTIME_CELL_REAL};
}
static inline struct gt_cell gt_cell_text(struct gt_str text) {
    uint32_t bytes = text.len > UINT32_MAX ? UINT32_MAX : (uint32_t)text.len;
    return (struct gt_cell){.text = text.ptr, .text_bytes = bytes, .type = GPUTIME_CELL_TEXT};
}

static inline struct gt_cell gt_cell_count(size_t count) {
    return gt_cell_int((int64_t)count);
}
static inline struct gt_cell gt_cell_share(double part, double whole) { /* 0 of nothing is 0 */
    return gt_cell_real(whole > 0 ? part / whole : 0);
}
/* As a number: NAN for null and text. As text: empty for null and numbers. */
static inline double gt_cell_as_number(const struct gt_cell *cell) {
    return cell->type == GPUTIME_CELL_INT ? (double)cell->integer : cell->type == GPUTIME_CELL_REAL ? cell->real : NAN;
}
static inline struct gt_str gt_cell_as_text(const struct gt_cell *cell) {
    return cell->type == GPUTIME_CELL_TEXT ? (struct gt_str){cell->text, cell->text_bytes} : (struct gt_str){0};
}

enum gt_audience { GT_FOR_SCREEN = 1, GT_FOR_DATA = 2, GT_FOR_PAGE = 4, GT_FOR_ALL = 7 };

enum gt_column_flag {
    GT_COLUMN_NAME = 1,     /* long text: takes the width that is left and is shortened in the middle */
    GT_COLUMN_BAR = 2,      /* the text writer draws a bar next to it, scaled to the largest value of the column */
    GT_COLUMN_DETAIL = 4,   /* left out of text and Markdown unless asked for by `columns` */
    GT_COLUMN_WHOLE = 8,    /* bars are scaled to 1 instead: shares whose whole the reader should see */
    GT_COLUMN_SINGLE = 16,  /* a statistic of single events (mean, largest): such columns of a table share a unit */
    GT_COLUMN_MOMENT = 32,  /* a place on the time line: milliseconds, to the microsecond */
    GT_COLUMN_EDGE = 64,    /* edges of bins grow by factors: each cell has its own unit */
    GT_COLUMN_SIGNED = 128, /* a difference: numbers above 0 have a '+' */

    /* What lets two tables be compared row by row, whatever they are about (lib/compare). */
    GT_COLUMN_KEY = 256,  /* distinguishes rows; without one all rows are compared as one */
    GT_COLUMN_ADDS = 512, /* an amount that adds up over rows and grows with the length of the capture */
    GT_COLUMN_LEADS =
        1024, /* the amount (it adds) that says how much a row matters; without one a table is not compared */
    GT_COLUMN_SPREAD = 2048, /* sample standard deviation of the events that the leading amount sums, as many as the
                                first count that adds says */
    GT_COLUMN_ALIAS = 4096,  /* another name of the row, to use where the keys differ */
    GT_COLUMN_GROUP = 16384, /* rows with the same text here are one row of the comparison; null: the row is its own */
    GT_COLUMN_CLASS = 8192,  /* the kind of work that the row belongs to, to use where all names differ */
    GT_COLUMN_MEAN = 32768,  /* over so many the times of the row are sums, and their mean is compared whatever other
                                amounts are divided by; null: the row is like the others */
    GT_COLUMN_SIDE = 65536,  /* what one side of a comparison has, or the difference: such columns share a unit */

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
    size_t blank_rows;          /* so many at the end say nothing and are not missed on the screen; sorting ends that */
    const char *screen_columns; /* comma-separated keys; NULL = all but the detail ones */
    bool is_ranked;             /* rows are numbered on the screen */
    bool keeps_order;           /* a comparison leaves its rows in their order and shows all that are not blank */
    bool folds;                 /* columns that find no room there follow below, after the first once more */
    const char *empty;          /* the sentence to show when there are no rows; NULL: the table is not shown */
    const char *sort;           /* key of the column the rows are ordered by, as gt_table_sort leaves it; may be NULL */
    bool shows_sort;            /* people asked for that order: that column is shown, whatever has to give way */
    bool is_fixed;              /* it has the same rows for every trace that has them: one that is absent is not 0 */
    const struct gt_parts *parts; /* of a table with GT_COLUMN_PART; NULL: of the whole, by their names */
    const struct gt_table *shape; /* of a comparison: the table of a capture whose columns it compares */
    struct gt_str *names; /* what its rows can be called, where that is known; most traces have but some of them */
    size_t name_count, name_capacity;
    struct gt_report *report;
};

struct gt_report_fact {
    const char *key, *title;
    enum gt_unit unit;
    struct gt_cell value;
};

enum gt_severity { GT_SEVERITY_HIGH, GT_SEVERITY_MEDIUM, GT_SEVERITY_LOW };
const char *gt_finding_list_severity_name(enum gt_severity severity); /* "high", "medium", "low" */

#define GT_FINDING_SENTENCES 6

/* Something worth doing about the program or the capture. Sentences are text for people that may hold names of the
   trace; those of a count after the last are empty. Text is borrowed as in cells. */
struct gt_finding {
    const char *id; /* stable: "host_bound" */
    enum gt_severity severity;
    struct gt_str title;
    struct gt_str evidence[GT_FINDING_SENTENCES]; /* with the numbers; at least one */
    size_t evidence_count;
    struct gt_str advice[GT_FINDING_SENTENCES];
    size_t advice_count;
    int64_t recoverable_ns;  /* of GPU time, at most; -1: not known */
    const char *overlaps_id; /* id of a finding that describes the same time and says more; NULL: none */
    const char *table;       /* where the evidence is: key of a table that some analysis makes; may be NULL */
};

enum gt_block_kind { GT_BLOCK_TABLE, GT_BLOCK_FINDINGS, GT_BLOCK_FACTS, GT_BLOCK_NOTE, GT_BLOCK_TIMELINE };

struct gt_block {
    enum gt_block_kind kind;
    uint32_t audience;
    size_t index;           /* its place in the section */
    struct gt_table *table; /* GT_BLOCK_TABLE; GT_BLOCK_FINDINGS: the findings as rows for data; else NULL */
    const char *title;      /* GT_BLOCK_FACTS; may be NULL */
    struct gt_report_fact *facts;
    size_t fact_count, fact_capacity;
    struct gt_str note;           /* GT_BLOCK_NOTE: a sentence */
    struct gt_timeline *timeline; /* GT_BLOCK_TIMELINE: in the arena */
};

/* A data problem, as every report states it. */
struct gt_report_issue {
    const char *id, *help;
    uint64_t count;
    uint64_t first_offset; /* UINT64_MAX: no place to name */
    int is_loss;
};

/* What was read. */
struct gt_report_input {
    struct gt_str label; /* short name of the input, unique in the report */
    struct gt_str path;
    const char *format;
    struct gt_str producer;
    struct gt_str selection; /* "step 3, name triton"; empty: the whole trace */
    uint64_t ops, kernels, calls, ranges, cpu_ops, skipped_events;
    int64_t origin_ns, base_ns, rank, world_size; /* base 0, rank -1: unknown */
};

/* A table that a trace says in part or not at all: rows that are absent may be there in truth. */
struct gt_report_lack {
    struct gt_str table;
    struct gt_str what; /* the trace has none of: "ranges" */
};

/* How much a row of a table varies from step to step: what a comparison takes for noise. */
struct gt_report_spread {
    const char *table;
    struct gt_str name; /* empty: all rows that numbers alone tell apart (GPUs) */
    size_t steps;
    double stddev_ns;
};

struct gt_section {
    struct gt_report *report;
    struct gt_report_input input;
    struct gt_block *blocks;
    size_t block_count, block_capacity;
    struct gt_report_issue *issues;
    size_t issue_count, issue_capacity;
    struct gt_report_lack *lacks;
    size_t lack_count, lack_capacity;
    struct gt_report_spread *spreads;
    size_t spread_count, spread_capacity;
    bool has_warm_up;            /* some of its steps are warm-up */
    bool is_told;                /* text and Markdown tell elsewhere what it has */
    struct gt_finding *findings; /* most valuable first */
    size_t finding_count, finding_capacity;
};

/* Of a side of a comparison. */
enum gt_step_choice {
    GT_STEPS_OPEN,  /* nobody has chosen yet whether amounts are per step */
    GT_STEPS_LEFT,  /* they are of whole captures */
    GT_STEPS_TAKEN, /* they are of whole steps */
};

struct gt_report {
    struct gt_arena arena;
    struct gt_error failure; /* the first row that was not written as its table has it (row.h) */
    const char *command;
    struct gt_str heading;    /* above everything; empty: none */
    const char *main_table;   /* key; NULL: the first table */
    const char *generated_at; /* when, for those who keep reports; NULL: not known */
    struct gt_section *sections;
    size_t section_count;
    size_t input_count; /* among which it divides the room it has; a part of a larger report: those of that */
    enum gt_step_choice step_choice;
    const struct gt_roles *roles;         /* what its tables mean; never NULL */
    const struct gt_compare_sides *sides; /* of a comparison, which is the first section; NULL: none */
    struct gt_section joint; /* what text and Markdown show of all inputs together, before each by itself */

    /* Handed out after a memory failure, so that whoever builds need not look. */
    struct gt_table spare_table;
    struct gt_block spare_block;
    struct gt_timeline spare_timeline;
    struct gt_cell spare_cells[GT_TABLE_COLUMNS_MAX];
};

/* ---- building: failures stick in the report; ask for them once, at the end ---- */

struct gt_report *gt_report_new(const char *command, size_t section_count); /* NULL: memory was short */
void gt_report_free(struct gt_report *report);
/* Fails where memory was short or a row did not fit its table. */
enum gt_status gt_report_status(const struct gt_report *report, struct gt_error *err);

/* columns must outlive the report (constants; at most GT_TABLE_COLUMNS_MAX). Never NULL: after a memory failure a
   table that keeps nothing. */
struct gt_table *gt_section_table(struct gt_section *section, const char *key, const char *title,
                                  const struct gt_report_column *columns, size_t column_count);

/* Adds what a row can be called; copies. */
void gt_table_name(struct gt_table *table, struct gt_str name);

/* Never NULL. The block stays good for gt_block_fact however many blocks are added after it. */
struct gt_block *gt_section_facts(struct gt_section *section, const char *title);
void gt_block_fact(struct gt_section *section, struct gt_block *facts, const char *key, const char *title,
                   enum gt_unit unit, struct gt_cell value);
void gt_section_note(struct gt_section *section, uint32_t audience, struct gt_str text); /* copies */
/* An empty one, for pages. Never NULL: after a memory failure one that no block has. */
struct gt_timeline *gt_section_timeline(struct gt_section *section);
void gt_section_issue(struct gt_section *section, const struct gt_report_issue *issue);
/* Says that the trace does not contain all of a table, and what it would need. Copies neither. */
void gt_section_lack(struct gt_section *section, struct gt_str table, struct gt_str what);
/* Says how much a row varies. Copies no text. */
void gt_section_spread(struct gt_section *section, const char *table, struct gt_str name, size_t steps,
                       double stddev_ns);

/* ---- splice.c ---- */

/* Puts what a section of another report has after what this one has, and leaves that report empty: blocks, findings
   and issues move with the memory they are in. Of facts that several analyses state, the first of a key stays. */
void gt_section_splice(struct gt_section *section, struct gt_section *from);

/* ---- findings.c ---- */

/* The block of the findings and its table `findings`, without rows. One for a section, before its first finding. */
struct gt_table *gt_finding_list_new(struct gt_section *section);
/* Puts it among the section's findings: the most severe first, then the most potential saving (what is not known counts
   as none), then what no other describes, then in the order they come. */
void gt_finding_list_add(struct gt_section *section, const struct gt_finding *finding);
/* After the last finding: each that has overlaps_id says so in its evidence, by the number of the other. */
void gt_finding_list_link(struct gt_section *section);
/* What row of the table `findings` says, wherever sorting has put it. */
const struct gt_finding *gt_finding_list_at(const struct gt_section *section, const struct gt_table *table, size_t row);
/* Whether people want to see a part of the findings ("evidence"): all except for a choice of columns. */
bool gt_finding_list_shows(const struct gt_table *table, const char *column);
/* How many sentences of advice people want to see: without the evidence, only the first. */
size_t gt_finding_list_advice_shown(const struct gt_table *table, const struct gt_finding *finding);

/* ---- looking ---- */

/* Moves the last blocks to the front. */
void gt_section_bring_first(struct gt_section *section, size_t count);

bool gt_section_has_fact(const struct gt_section *section, const char *key);
/* The value of a fact; null if the section has none of that key. */
struct gt_cell gt_section_fact(const struct gt_section *section, struct gt_str key);
/* What the trace would need to tell all of a table; empty: nothing. */
struct gt_str gt_section_lacks(const struct gt_section *section, const char *table);
/* The table with that key in a section, NULL if there is none. */
struct gt_table *gt_section_find(const struct gt_section *section, const char *key);
struct gt_table *gt_section_find_named(const struct gt_section *section, struct gt_str key);
/* Index of a column, SIZE_MAX if there is none. */
size_t gt_table_column(const struct gt_table *table, const char *key);
size_t gt_table_column_named(const struct gt_table *table, struct gt_str key);
/* The first column with all of these flags, SIZE_MAX if there is none. */
size_t gt_table_column_flagged(const struct gt_table *table, uint32_t flags);
/* The column that names the rows: of several keys the one with long text, else the last. SIZE_MAX: there is none. */
size_t gt_table_name_column(const struct gt_table *table);
/* A number as a double; NAN for null, text and a column or row that is not there. */
double gt_table_number(const struct gt_table *table, size_t row, const char *column);
/* Text; empty for null, numbers and a column or table that is not there. */
struct gt_str gt_table_text(const struct gt_table *table, size_t row, const char *column);

/* ---- shape.c: sort, limit, columns ---- */

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
    const char *pivot;    /* "ROW,VALUE": of several inputs they show one table that has a row for each ROW, a column
                             for each input with the sum of its VALUEs, and the totals */
};

/* Takes the next key off a comma-separated list, blanks around it dropped. false: none is left. */
bool gt_shape_columns_next(struct gt_str *rest, struct gt_str *key);

/* Largest first, or smallest first with '+' before the key; nulls last; equal values keep their order. */
enum gt_status gt_table_sort(struct gt_table *table, const char *sort, struct gt_error *err);
void gt_table_limit(struct gt_table *table, size_t rows); /* keeps the first ones; 0: all */

/* What all shapes of a table ask for together: a later one wins, field by field. */
struct gt_shape gt_shape_of(const char *table, const struct gt_shape *shapes, size_t count);

/* joint.c: the tables of all inputs that the shape asks for, in the joint section instead of in each. */
enum gt_status gt_report_join(struct gt_report *report, const struct gt_shape *shape, struct gt_error *err);

/* Applies the shapes to every table they name. Unknown sort or screen columns are usage errors that list the columns.
 */
enum gt_status gt_report_shape(struct gt_report *report, const struct gt_shape *shapes, size_t count,
                               struct gt_error *err);

#endif
