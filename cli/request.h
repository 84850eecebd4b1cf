/* Turns a command and the options into a request to the library: analyses, shapes of tables, files. */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include "commands.h"

/* ---- tables of the library's analyses, from its registry ---- */

enum { CLI_TABLE_KEY_MAX = 64 };

#define CLI_TABLE_LIMITS "limits" /* verdicts on limits; no analysis makes it */

/* Zero-initialise, then call cli_table_next until it gives NULL. */
struct cli_table_walk {
    size_t next;      /* analysis */
    const char *rest; /* rest of the list of the previous analysis */
    char key[CLI_TABLE_KEY_MAX];
};

const char *cli_table_next(struct cli_table_walk *walk); /* good until the next call */

/* The analysis that makes the table; its key is NULL if there is none. */
struct gputime_entry cli_table_analysis(const char *table);

/* ---- requests ---- */

/* Where a report goes. */
struct cli_destination {
    const char *path;     /* NULL: standard output */
    const char *format;   /* key of an output or a layout */
    bool is_complete;     /* a detailed list: all rows, regardless of --top */
    bool is_layout;       /* of an older tool's file: --table applies only to printed text */
    bool makes_directory; /* in --out-dir, which may not exist yet */
    bool makes_itself;    /* a directory that the library creates, with its parents */
    char file[4096];      /* path points to it in that case */
    bool is_gap_part;     /* only the parts for --gap-output; --columns and --table apply to the others */
};
enum { CLI_MAX_DESTINATIONS = 3 + CLI_MAX_FILES };

enum { CLI_REQUEST_ANALYSES = 128, CLI_REQUEST_SHAPES = 32, CLI_REQUEST_TABLES = 256, CLI_REQUEST_NAMES = 2048 };

struct cli_request {
    const char *analyses[CLI_REQUEST_ANALYSES];
    size_t analysis_count;
    struct gputime_shape shapes[CLI_REQUEST_SHAPES];
    size_t shape_count;
    const char *main_table;
    const char *text_layout;    /* instead of text; NULL: none */
    bool is_layout_of_columns;  /* the destination's layout has no other columns than those of the command's shapes */
    const char *const *columns; /* column_count of them, of CSV; NULL: all */
    size_t column_count;
    const char *shown[CLI_REQUEST_TABLES]; /* tables that text and Markdown show */
    size_t shown_count;
    const char *absent[CLI_REQUEST_TABLES]; /* need not be made */
    size_t absent_count;
    const char *forced;            /* shown even if meant for data; NULL: none */
    char names[CLI_REQUEST_NAMES]; /* keys of tables may point to it */
    size_t names_used;
};

/* The shaping of the request; borrows from it. */
/* Runs the analysis that makes a table, too, without showing it. Unknown tables do nothing. */
void cli_request_add_table(struct cli_request *request, const char *table);

struct gputime_shaping cli_request_shaping(const struct cli_request *request);

bool cli_format_is_data(const char *format);    /* for programs: has all rows */
bool cli_format_is_binary(const char *format);  /* not for a terminal */
bool cli_format_is_page(const char *format);    /* for browsers */
bool cli_format_is_missing(const char *format); /* this build cannot write it */

bool cli_part_applies(const struct cli_part *part, const struct cli_options *options);

/* destination.c: where the options send the report. Files first, so that nothing is printed when one of them cannot be
 * written. */
enum gputime_status cli_destinations_plan(const struct cli_command *command, const struct cli_options *options,
                                          struct cli_destination destinations[CLI_MAX_DESTINATIONS], size_t *count,
                                          struct gputime_error *err);

enum gputime_status cli_request_build(const struct cli_command *command, const struct cli_options *options,
                                      const struct cli_destination *destination, struct cli_request *request,
                                      struct gputime_error *err);

/* Whether only the rows that text and Markdown show are needed; layouts of older tools need all. */
bool cli_request_is_for_screen(const struct cli_request *request, const struct cli_destination *destination);
/* Whether columns that the shapes do not list are of no use: text that is printed or laid out as that of an older tool.
 */
bool cli_request_is_of_columns(const struct cli_request *request, const struct cli_destination *destination);

/* Whether both can use the same report. */
bool cli_request_same(const struct cli_request *a, const struct cli_request *b);

/* Whether the command's first list has its default order. */
bool cli_request_has_default_order(const struct cli_command *command, const struct cli_options *options);

#endif
