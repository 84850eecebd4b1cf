/* The command table: what each command runs and shows. A new report command is one more row of data. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "options.h"

enum {
    CLI_MAX_PARTS = 7,
    CLI_MAX_LISTS = 3, /* of one part; if two have the same table, the later one wins */
    CLI_MAX_NOTES = 10,
    CLI_MAX_EXAMPLES = 4,
    CLI_MAX_FILES = 4,
};

/* A short name for a column, as --sort takes it. */
struct cli_sort {
    const char *name;
    const char *plus_column; /* "+KEY", smallest first; without the '+', largest first */
};

/* A table that a sort and a top option act on. Many parts may share one. */
struct cli_list {
    const char *table;
    const char *sort;               /* column without the option; NULL: the order of the analysis */
    const char *cut_sort;           /* the same of text and Markdown that do not show all rows */
    int64_t screen_rows;            /* without the option, in text and Markdown; 0: the default of the analysis */
    size_t sort_offset, top_offset; /* of the options in struct cli_options; 0: none */
    const struct cli_sort *sorts;   /* up to a row without a name; NULL: none */
    bool only_sorts;                /* only those columns are valid */
    bool is_ranked;                 /* rows are numbered in text and Markdown */
};

/* Analyses that run when an option has a value, or always; their tables and how these are shown. */
struct cli_part {
    size_t option; /* offset of an int in struct cli_options; 0: always */
    int value;
    bool for_data;                      /* only for formats that have all rows, not for text and Markdown */
    bool for_page;                      /* only for the page, which has room for more */
    bool is_alone;                      /* if it applies, only such parts do, except in the command's directory */
    const char *main_table;             /* NULL: that of the previous part */
    const char *output_layout;          /* of the file that --output names; NULL: that of the previous part */
    bool lays_out_columns;              /* which are all among those of the shapes, or cost nothing */
    const char *print_layout;           /* of printed text if a directory was written; several parts may have one */
    const char *text_layout;            /* of text, printed or in a file; NULL: the library's text */
    const char *gap_layout;             /* of the file that --gap-output names */
    const char *const *analyses;        /* up to a NULL */
    const char *const *tables;          /* up to a NULL: what text and Markdown show; NULL: all of its analyses */
    const char *const *data_tables;     /* up to a NULL: only for data formats or on request; NULL: none */
    const char *const *asked_tables;    /* up to a NULL: of comparisons, only on request; NULL: none */
    const struct gputime_shape *shapes; /* up to one without a table; NULL: none */
    const struct cli_list *lists[CLI_MAX_LISTS];
};

/* Help of an option for this command, if that of the option table is not precise enough. */
struct cli_note {
    const char *option, *help;
};

/* A file that a command writes to --out-dir unless the user names a format or file. */
struct cli_file {
    const char *name, *format;
    bool is_layout; /* of an older tool's file; else an output, skipped if this build cannot write it */
};

enum cli_action {
    CLI_ACTION_REPORT,
    CLI_ACTION_DIFF,
    CLI_ACTION_CHECK,
    CLI_ACTION_RANKS,
    CLI_ACTION_REDACT,
    CLI_ACTION_EXPORT,
    CLI_ACTION_SQL,
    CLI_ACTION_LIST,
    CLI_ACTION_DEFINE,
    CLI_ACTION_CACHE,
    CLI_ACTION_HELP,
    CLI_ACTION_VERSION,
    CLI_ACTION_MCP,
    CLI_ACTION_VIEW
};

struct cli_command {
    const char *name, *help; /* one line */
    const char *usage;       /* what follows the options */
    const char *words;       /* "a|b": arguments it takes; NULL: traces */
    const char *details;     /* a paragraph */
    enum cli_action action;
    uint64_t groups;     /* CLI_GROUP_: the options it takes */
    const char *formats; /* "a|b": values of --format; NULL: those of the library, for reports or exports */
    struct cli_part parts[CLI_MAX_PARTS];
    bool takes_directories; /* words may be directories of traces */
    bool takes_runs;        /* words may be FILE,ENGINE,MODEL,SECONDS as well */
    struct cli_file files[CLI_MAX_FILES];
    const char *directory_layout; /* of the directory that --out names; NULL: none */
    const char *directory_files;  /* contents of that directory */
    bool may_refuse;              /* a report that states why it has no answer is a failure */
    bool prints_too;              /* --output is written in addition to printed text */
    const char *hint;             /* printed below text in the default order */
    struct cli_note notes[CLI_MAX_NOTES];
    const char *examples[CLI_MAX_EXAMPLES];
};

extern const struct cli_command cli_command_table[]; /* the first is the default */
extern const size_t cli_command_count;

const struct cli_command *cli_command_find(const char *name); /* NULL if there is none */
bool cli_command_takes(const struct cli_command *command, const struct cli_option *option);
bool cli_command_writes(const struct cli_command *command, const char *format);
/* Values of --format as "a|b"; writes into text if needed. */
const char *cli_command_formats(const struct cli_command *command, char *text, size_t size);
/* The option's line in the command's help: its note, else the option table's. */
const char *cli_command_option_help(const struct cli_command *command, const struct cli_option *option);
bool cli_command_has_note(const struct cli_command *command, const struct cli_option *option);

#endif
