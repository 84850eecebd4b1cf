/* Sections: one for each input, an ordered list of blocks. Analyses add to them, writers walk them. Memory failures
   stick in the report. */
#ifndef GT_REPORT_SECTION_H
#define GT_REPORT_SECTION_H

#include "report/finding_list.h"
#include "report/table.h"
#include "report/timeline.h"

enum gt_audience { GT_FOR_SCREEN = 1, GT_FOR_DATA = 2, GT_FOR_PAGE = 4, GT_FOR_ALL = 7 };

struct gt_report_fact {
    const char *key, *title;
    enum gt_unit unit;
    struct gt_cell value;
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
    struct gt_str note; /* GT_BLOCK_NOTE: a sentence */
    bool is_loss;       /* GT_BLOCK_NOTE: it says what was not read */
    bool is_warning;    /* GT_BLOCK_NOTE: so it does, or what was left out, or that numbers are of several jobs */
    struct gt_timeline *timeline; /* GT_BLOCK_TIMELINE: in the arena */
};

/* A data problem, as every report states it. */
struct gt_report_issue {
    const char *id, *help;
    uint64_t count;
    uint64_t first_offset; /* UINT64_MAX: no place to name */
    int is_loss;
    struct gt_str mark; /* how verdicts end that rely on what is left; empty: "partly read" */
};

/* What was read. */
#define GT_NOT_COUNTED UINT64_MAX
struct gt_report_input {
    struct gt_str label; /* short name of the input, unique in the report */
    struct gt_str path;
    const char *format;
    struct gt_str producer;
    struct gt_str selection;                       /* "step 3, name triton"; empty: the whole trace */
    uint64_t ops, kernels, calls, ranges, cpu_ops; /* GT_NOT_COUNTED: the report did not ask for them */
    int64_t origin_ns, base_ns, rank, world_size;  /* base 0, rank -1: unknown */
    const char *rank_source; /* where the rank was found: "trace", "file_name" ...; NULL: unknown */
    struct gt_str host;      /* name of the machine; empty: unknown */
};

/* A table that a trace says in part or not at all: rows that are absent may be there in truth. */
struct gt_report_lack {
    struct gt_str table;
    struct gt_str what; /* the trace has none of: "ranges" */
};

/* How much a row of a table varies from step to step: what a comparison takes for noise. */
struct gt_report_spread {
    const char *table;
    struct gt_str name; /* empty: all rows that differ only in numbers (GPUs) */
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
    bool is_shown_elsewhere;     /* text and Markdown show its content in another place */
    struct gt_finding *findings; /* most valuable first */
    size_t finding_count, finding_capacity;
};

/* ---- building ---- */

/* columns must outlive the report (constants; at most GT_TABLE_COLUMNS_MAX). Never NULL: after a memory failure a
   table that keeps nothing. */
struct gt_table *gt_section_table(struct gt_section *section, const char *key, const char *title,
                                  const struct gt_report_column *columns, size_t column_count);

/* Never NULL. The block stays good for gt_section_add_fact however many blocks are added after it. */
struct gt_block *gt_section_facts(struct gt_section *section, const char *title);
void gt_section_add_fact(struct gt_section *section, struct gt_block *facts, const char *key, const char *title,
                         enum gt_unit unit, struct gt_cell value);
void gt_section_note(struct gt_section *section, uint32_t audience, struct gt_str text);         /* copies */
void gt_section_note_warning(struct gt_section *section, uint32_t audience, struct gt_str text); /* copies */
void gt_section_note_loss(struct gt_section *section, struct gt_str text); /* a warning for all; copies */
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

/* ---- looking ---- */

/* Moves the last blocks to the front. */
void gt_section_bring_first(struct gt_section *section, size_t count);

bool gt_section_has_fact(const struct gt_section *section, const char *key);
/* The value of a fact; null if the section has none of that key. */
struct gt_cell gt_section_fact(const struct gt_section *section, struct gt_str key);
/* What the trace lacks for a complete table; empty: nothing. */
struct gt_str gt_section_lacks(const struct gt_section *section, const char *table);
/* The table with that key in a section, NULL if there is none. */
struct gt_table *gt_section_find(const struct gt_section *section, const char *key);
struct gt_table *gt_section_find_named(const struct gt_section *section, struct gt_str key);

#endif
