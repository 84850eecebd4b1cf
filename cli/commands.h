/* The command table: what each command runs and shows. A new report command is one more row of data. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "options.h"

enum {
    CLI_MAX_PARTS = 6,
    CLI_MAX_LISTS = 3, /* of one part; where two are of one table, a later one wins */
    CLI_MAX_NOTES = 10,
    CLI_MAX_EXAMPLES = 4,
    CLI_MAX_FILES = 4,
};

/* A short name for a column, as --sort takes it. */
struct cli_sort {
    const char *name;
    const char
        *plus_column; /* "+KEY", as the library takes it for the smallest first; behind the '+' for the largest */
};

/* A table that a sort and a top option act on. Many parts may share one. */
struct cli_list {
    const char *table;
    const char *sort;               /* column without the option; NULL: as the analysis has it */
    int64_t screen_rows;            /* without the option, in text and Markdown; 0: as the analysis has it */
    size_t sort_offset, top_offset; /* of the options in struct cli_options; 0: none */
    const struct cli_sort *sorts;   /* up to a row without a name; NULL: none */
    bool only_sorts;                /* no other columns than those */
    bool is_ranked;                 /* rows are numbered in text and Markdown */
};

/* Analyses that run when an option has a value, or always; their tables and how these are shown. */
struct cli_part {
    size_t option; /* offset of an int in struct cli_options; 0: always */
    int value;
    bool for_data;                      /* only for formats that carry every row, not for text and Markdown */
    bool for_page;                      /* only for the page, which has room for more than was asked for */
    bool is_alone;                      /* where it applies, no other part does; with the command's folder all do */
    const char *main_table;             /* NULL: as the part before says */
    const char *output_layout;          /* of the file that --output names; NULL: as the part before says */
    const char *print_layout;           /* of what is printed when a folder was written; several may be */
    const char *text_layout;            /* of text, printed or in a file; NULL: as the library writes it */
    const char *gap_layout;             /* of the file that --gap-output names */
    const char *const *analyses;        /* up to a NULL */
    const char *const *tables;          /* up to a NULL: what text and Markdown show; NULL: all of its analyses */
    const char *const *data_tables;     /* up to a NULL: made for data formats alone, or if asked for; NULL: none */
    const char *const *asked_tables;    /* up to a NULL: of comparisons, made only if asked for; NULL: none */
    const struct gputime_shape *shapes; /* up to one without a table; NULL: none */
    const struct cli_list *lists[CLI_MAX_LISTS];
};

/* What an option means to this command, where the option table's line is not precise enough. */
struct cli_note {
    const char *option, *help;
};

/* A file that a command writes by itself into --out-dir, unless the user names a format or file. */
struct cli_file {
    const char *name, *format;
    bool is_layout; /* of an older tool's file; else an output, left out where the library cannot write it */
};

enum cli_action {
    CLI_ACTION_REPORT,
    CLI_ACTION_DIFF,
    CLI_ACTION_CHECK,
    CLI_ACTION_REDACT,
    CLI_ACTION_LIST,
    CLI_ACTION_DEFINE,
    CLI_ACTION_CACHE,
    CLI_ACTION_HELP,
    CLI_ACTION_VERSION
};

struct cli_command {
    const char *name, *help; /* one line */
    const char *usage;       /* what follows the options */
    const char *words;       /* "a|b": the words it takes; NULL: traces */
    const char *details;     /* a paragraph */
    enum cli_action action;
    unsigned groups;     /* enum cli_group: the options it takes */
    const char *formats; /* "a|b": all that --format can be; NULL: those of the library */
    struct cli_part parts[CLI_MAX_PARTS];
    bool takes_runs; /* words may be FILE,ENGINE,MODEL,SECONDS as well */
    struct cli_file files[CLI_MAX_FILES];
    const char *folder_layout; /* of the folder that --out names; NULL: none */
    const char *folder_files;  /* what that holds, below its path */
    bool prints_too;           /* --output is written beside what is printed, not in its place */
    const char *hint;          /* printed below text that is sorted as without --sort */
    struct cli_note notes[CLI_MAX_NOTES];
    const char *examples[CLI_MAX_EXAMPLES];
};

extern const struct cli_command cli_command_table[]; /* the first is the default */
extern const size_t cli_command_count;

const struct cli_command *cli_command_find(const char *name); /* NULL if there is none */
bool cli_command_takes(const struct cli_command *command, const struct cli_option *option);
bool cli_command_writes(const struct cli_command *command, const char *format);
/* The option's line in the command's help: its note, else the option table's. */
const char *cli_command_option_help(const struct cli_command *command, const struct cli_option *option);
bool cli_command_has_note(const struct cli_command *command, const struct cli_option *option);

#endif
