/* The option table: one row for each option, read by the parser, --help, the man page and the completions. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gputime.h"

#define CLI_UNSET ((int64_t)-1)

enum cli_per { CLI_PER_STREAM = 0, CLI_PER_DEVICE };
enum cli_names { CLI_NAMES_FULL = 0, CLI_NAMES_SHORT, CLI_NAMES_HASH };
enum { CLI_ANALYSIS_OPTIONS = 16 };
enum cli_shell { CLI_SHELL_NONE = 0, CLI_SHELL_BASH, CLI_SHELL_ZSH, CLI_SHELL_FISH };

/* The values of an option that can be given several times. */
enum { CLI_TEXTS_MAX = 64 };
struct cli_texts {
    const char *items[CLI_TEXTS_MAX];
    size_t count;
};

struct cli_memory; /* owns copied and parsed values */
struct cli_host;   /* host.h */

/* The user's options: structures passed to the library, and options that the program turns into requests. */
struct cli_options {
    struct gputime_open_options opening;
    struct gputime_run run;
    struct gputime_selection selection;
    struct gputime_write_options writing; /* its columns are those of the main list */
    struct gputime_diff_options diff;
    struct gputime_option analysing[CLI_ANALYSIS_OPTIONS]; /* collected from the rows that have one */
    size_t analysing_count;
    struct cli_memory *memory;
    const struct gputime_team *team; /* processes that help with jobs; NULL: none */
    const struct cli_host *host;     /* that the command runs inside of; NULL: it is the program itself */
    const char *second_format;       /* printed after the first, for a host; NULL: none */

    int names; /* enum cli_names */
    int bins;  /* as the library numbers the choices */
    int64_t bin_count, hist_min_ns, hist_max_ns;
    int no_kernel_percentiles, no_range_kernels;
    double coverage_threshold;
    const char *phase_map;
    const char *why_finding;
    int simulate;
    const char *path_range;
    const char *step_tag;
    int match;           /* as the library numbers the choices */
    const char *changes; /* of whatif, one on each line */
    int force;
    const char *peak, *bandwidth, *gpu;
    const char *config;
    const char *output, *gap_output;
    struct cli_texts rules;
    bool is_class_default; /* rules or map come from a setting: classes of a run or of --config take precedence */
    const char *out_dir;   /* for files that a command writes without --output */
    const char *directory; /* directory that the layout of a command is written to */
    const char *generated_at;
    const char *sort, *gap_sort;
    int64_t top, gap_top, kernel_limit; /* CLI_UNSET, or rows to show; 0 = all */
    int per;                            /* enum cli_per */
    int gaps, launches, details, why;
    int path;       /* the critical path as well */
    int efficiency; /* likewise kernels against their roofline */
    int tree;
    int ranks;                        /* traces are those of a job's ranks */
    int64_t a_words, b_words;         /* first word of a side, plus 1; 0: not given */
    const char *of;                   /* table to compare */
    struct cli_texts fail_if, limits; /* of a comparison, of a trace */
    struct cli_texts limit_files;
    int print_schema;
    int redact_names;
    const char *root;       /* directory that clients are limited to; NULL: none */
    const char *query_file; /* of sql, like the next three */
    int64_t max_rows;       /* CLI_UNSET, or rows of a result; 0 = all */
    int64_t most_rows;      /* that max_rows cannot exceed, set by hosts; 0: no limit */
    int64_t timeout_ns;     /* 0: automatic, 1: none */
    int sql_schema;
    const char *address;  /* of view, like the next three; NULL: this machine */
    int64_t port;         /* 0: any */
    int64_t idle_seconds; /* CLI_UNSET: automatic, 0: never */
    int no_open;
    int quiet;
    int open;
    int help, version;
    int print_man;
    int print_completion; /* enum cli_shell */
};

/* How a value is read, and what it is stored as. */
enum cli_type {
    CLI_FLAG,         /* int: 1 */
    CLI_CONSTANT,     /* text: the row's choices; for --json and the like */
    CLI_INTEGER,      /* int64_t from min to max */
    CLI_DECIMAL,      /* double, not negative */
    CLI_MICROSECONDS, /* int64_t: nanoseconds of a decimal number of microseconds, not negative */
    CLI_PERCENT,      /* double: share of "2%"; zero is -1, since 0 is automatic */
    CLI_DURATION,     /* int64_t: nanoseconds of "2s"; zero is 1, since 0 is automatic */
    CLI_TIME,         /* struct gputime_time */
    CLI_RANGES,       /* pointer to struct gputime_range, then a size_t: how many */
    CLI_KEYS,         /* pointer to texts, then a size_t: how many; "a,b" */
    CLI_TWO_TEXTS,    /* two texts; "a,b" */
    CLI_TEXT,         /* text, not empty */
    CLI_MOMENT,       /* text that is a date, or a date and a time of day, as ISO 8601 writes them */
    CLI_CHOICE,       /* int or enum: index into the row's choices */
    CLI_FORMAT,       /* text: key of an output format of the library */
    CLI_TEXTS,        /* struct cli_texts: adds one each time */
    CLI_LINE,         /* text: adds a line each time, what the row's choices say and the value */
    CLI_WORD,         /* adds a non-option word */
    CLI_PLACE,        /* int64_t: number of words before it, plus 1 */
};

/* Commands take groups of options; a group has a heading in the help. Sets of them are of type uint64_t. */
#define CLI_GROUP_SELECTION  (UINT64_C(1) << 0)
#define CLI_GROUP_TABLES     (UINT64_C(1) << 1)
#define CLI_GROUP_FORMAT     (UINT64_C(1) << 2)
#define CLI_GROUP_OUTPUT     (UINT64_C(1) << 3)
#define CLI_GROUP_READING    (UINT64_C(1) << 4)
#define CLI_GROUP_KERNELS    (UINT64_C(1) << 5)
#define CLI_GROUP_GAPS       (UINT64_C(1) << 6)
#define CLI_GROUP_GAP_PART   (UINT64_C(1) << 7)
#define CLI_GROUP_GENERAL    (UINT64_C(1) << 8)
#define CLI_GROUP_HIDDEN     (UINT64_C(1) << 9) /* not in any help */
#define CLI_GROUP_RANGES     (UINT64_C(1) << 10)
#define CLI_GROUP_NAMES      (UINT64_C(1) << 11) /* one option that reports and redaction share, like the next */
#define CLI_GROUP_FILE       (UINT64_C(1) << 12)
#define CLI_GROUP_STATS      (UINT64_C(1) << 13)
#define CLI_GROUP_TITLE      (UINT64_C(1) << 14) /* one option that several commands share */
#define CLI_GROUP_GRAPH      (UINT64_C(1) << 15)
#define CLI_GROUP_PHASES     (UINT64_C(1) << 16) /* one option of all that show ranges */
#define CLI_GROUP_RULES      (UINT64_C(1) << 17)
#define CLI_GROUP_TERMINAL   (UINT64_C(1) << 18)
#define CLI_GROUP_EXPLAIN    (UINT64_C(1) << 19)
#define CLI_GROUP_DIFF       (UINT64_C(1) << 20)
#define CLI_GROUP_CHECK      (UINT64_C(1) << 21)
#define CLI_GROUP_LIMITS     (UINT64_C(1) << 22) /* one option that diff and check share */
#define CLI_GROUP_FINDINGS   (UINT64_C(1) << 23)
#define CLI_GROUP_PATH       (UINT64_C(1) << 24)
#define CLI_GROUP_WHATIF     (UINT64_C(1) << 25)
#define CLI_GROUP_WITH_PATH  (UINT64_C(1) << 26) /* one option that diff and explain share */
#define CLI_GROUP_EFFICIENCY (UINT64_C(1) << 27)
#define CLI_GROUP_RANKS      (UINT64_C(1) << 28)
#define CLI_GROUP_JOB        (UINT64_C(1) << 29) /* options of all that read the ranks of a job together */
#define CLI_GROUP_SQL        (UINT64_C(1) << 30)
#define CLI_GROUP_MCP        (UINT64_C(1) << 31)
#define CLI_GROUP_VIEW       (UINT64_C(1) << 32)
/* Options of all report commands, of some of them, and of all commands. */
#define CLI_GROUPS_REPORT                                                                                              \
    (CLI_GROUP_SELECTION | CLI_GROUP_TABLES | CLI_GROUP_NAMES | CLI_GROUP_FORMAT | CLI_GROUP_OUTPUT | CLI_GROUP_FILE | \
     CLI_GROUP_TERMINAL | CLI_GROUP_READING | CLI_GROUP_RULES)
#define CLI_GROUPS_SPECIAL                                                                                             \
    (CLI_GROUP_KERNELS | CLI_GROUP_GAPS | CLI_GROUP_GAP_PART | CLI_GROUP_RANGES | CLI_GROUP_STATS | CLI_GROUP_TITLE |  \
     CLI_GROUP_GRAPH | CLI_GROUP_PHASES | CLI_GROUP_EXPLAIN | CLI_GROUP_DIFF | CLI_GROUP_CHECK | CLI_GROUP_LIMITS |    \
     CLI_GROUP_FINDINGS | CLI_GROUP_PATH | CLI_GROUP_WHATIF | CLI_GROUP_WITH_PATH | CLI_GROUP_EFFICIENCY |             \
     CLI_GROUP_RANKS | CLI_GROUP_JOB | CLI_GROUP_SQL | CLI_GROUP_MCP | CLI_GROUP_VIEW)
#define CLI_GROUPS_ALWAYS (CLI_GROUP_GENERAL | CLI_GROUP_HIDDEN)

struct cli_option {
    const char *name;  /* long, with dashes */
    char letter;       /* short; 0: none */
    const char *alias; /* another long name; NULL: none */
    enum cli_type type;
    size_t offset;         /* into struct cli_options */
    int64_t min, max;      /* CLI_INTEGER; those of `analysing` where it has one. CLI_CHOICE: min is the first value */
    const char *choices;   /* "a|b|c"; CLI_CHOICE: in the order of the enum; CLI_CONSTANT: the text */
    const char *argument;  /* name of the value in the help */
    const char *help;      /* one line */
    uint64_t group;        /* one CLI_GROUP_ */
    const char *analysing; /* key of the analysis option that it sets and takes choices and bounds from; NULL: none */
    bool is_negated;       /* the flag turns it off */
    bool is_rare;          /* the help of the program only names it */
    size_t implies;        /* offset of a flag that it sets when given on the command line; 0: none */
    const char *pair;      /* a value that another one follows ("range NAME"); NULL: none */
    size_t pair_offset;    /* offset of that name: text */
    bool is_local;         /* about this terminal or machine: not for clients that run commands in a host */
};

extern const struct cli_option cli_option_table[];
extern const size_t cli_option_count;
#define CLI_MAX_OPTIONS 128

const char *cli_group_heading(uint64_t group);

bool cli_option_takes_value(const struct cli_option *option);
bool cli_option_names_file(const struct cli_option *option); /* or a directory, or a program */
/* The library's description of the analysis option that it sets; all zero if there is none. */
struct gputime_option_info cli_option_analysing(const struct cli_option *option);
/* Allowed values as "a|b|c", or NULL if any value is valid; formats come from the library. Writes into text if needed.
 */
const char *cli_option_choices(const struct cli_option *option, char *text, size_t size);
/* Keys of a registry as "a|b|c", as many as fit. */
const char *cli_registry_keys(enum gputime_registry registry, char *text, size_t size);
/* Placeholder of the value: its choices, else the argument's name. */
const char *cli_option_argument(const struct cli_option *option, char *text, size_t size);

/* value.c: sets one option; value is NULL for a flag without one. `where` names the place in messages: "option
   '--top'". */
enum gputime_status cli_option_set(struct cli_options *options, const struct cli_option *option, const char *value,
                                   const char *where, struct gputime_error *err);
/* Adds the option of an analysis that the row's value sets to options->analysing. false: out of memory. */
bool cli_option_gather(struct cli_options *options, const struct cli_option *option);

/* Rules of --rules: FILE | FILE,ENGINE,MODEL | ENGINE,MODEL, where an existing file may have commas in its name. */
struct cli_rules {
    const char *path, *engine, *model; /* NULL: not given */
};
enum gputime_status cli_rules_parse(struct cli_options *options, const char *text, struct cli_rules *rules,
                                    struct gputime_error *err);

/* Memory that lives as long as the options; NULL: out of memory. */
void *cli_options_keep(struct cli_options *options, size_t bytes);
void cli_options_init(struct cli_options *options);
void cli_options_release(struct cli_options *options);

/* Index of value in "a|b|c", or -1. */
int cli_choice_index(const char *choices, const char *value);

/* Long names: '-' and '_' are the same. NULL if there is none; aliases count. A name may mean different options in
 * different groups: one of `groups` takes precedence. */
const struct cli_option *cli_option_find(const char *name, size_t bytes, uint64_t groups);
const struct cli_option *cli_option_find_letter(char letter);

#endif
