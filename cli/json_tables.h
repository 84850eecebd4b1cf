/* Tables of the program's own as JSON, in the shape that all commands share (docs/json.md). */
#ifndef CLI_JSON_TABLES_H
#define CLI_JSON_TABLES_H

#include <stdbool.h>
#include <stdio.h>

struct cli_json_column {
    const char *key, *title; /* key NULL: the end */
    bool is_number;          /* cells are JSON already: numbers, true, false */
};

/* The document while it is being written: begin, then each table with its rows, then end. */
struct cli_json_tables {
    FILE *out;
    const struct cli_json_column *columns;
    size_t tables, rows;
};

void cli_json_tables_begin(struct cli_json_tables *tables, FILE *out, const char *command);
void cli_json_tables_table(struct cli_json_tables *tables, const char *key, const char *title,
                           const struct cli_json_column *columns);
void cli_json_tables_row(struct cli_json_tables *tables, const char *const *cells); /* NULL: null */
void cli_json_tables_end(struct cli_json_tables *tables);

#endif
