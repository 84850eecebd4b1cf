/* Writes the JSON document of commands that make no report. */
#include "json_tables.h"

#include "gputime.h"
#include "json_write.h"

void cli_json_tables_begin(struct cli_json_tables *tables, FILE *out, const char *command) {
    *tables = (struct cli_json_tables){.out = out};
    fprintf(out,
            "{\n  \"tool\": {\"name\": \"gputime\", \"version\": \"%s\"},\n  \"command\": \"%s\",\n  \"inputs\": [],\n"
            "  \"tables\": {",
            gputime_version(), command);
}

static void end_table(struct cli_json_tables *tables) {
    if (tables->tables)
        fputs(tables->rows ? "\n      ]\n    }" : "]\n    }", tables->out);
}

void cli_json_tables_table(struct cli_json_tables *tables, const char *key, const char *title,
                           const struct cli_json_column *columns) {
    end_table(tables);
    fprintf(tables->out, "%s\n    \"%s\": {\n      \"title\": \"%s\",\n      \"columns\": [", tables->tables ? "," : "",
            key, title);
    for (size_t c = 0; columns[c].key; c++)
        fprintf(tables->out, "%s\n        {\"key\": \"%s\", \"title\": \"%s\", \"unit\": \"\"}", c ? "," : "",
                columns[c].key, columns[c].title);
    fputs("\n      ],\n      \"rows\": [", tables->out);
    tables->columns = columns;
    tables->tables++;
    tables->rows = 0;
}

void cli_json_tables_row(struct cli_json_tables *tables, const char *const *cells) {
    fprintf(tables->out, "%s\n        {", tables->rows++ ? "," : "");
    for (size_t c = 0; tables->columns[c].key; c++) {
        fprintf(tables->out, "%s\"%s\": ", c ? ", " : "", tables->columns[c].key);
        if (cells[c] && tables->columns[c].is_number)
            fputs(cells[c], tables->out);
        else
            cli_json_write_text(tables->out, cells[c]);
    }
    fputc('}', tables->out);
}

void cli_json_tables_end(struct cli_json_tables *tables) {
    end_table(tables);
    fputs("\n  },\n  \"facts\": {},\n  \"findings\": [],\n  \"issues\": []\n}\n", tables->out);
}
