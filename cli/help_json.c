/* `gputime help --format json`: commands, options and tables, from the tables of the program, for programs that call
 * it. */
#include <inttypes.h>
#include <string.h>

#include "help.h"
#include "json_tables.h"
#include "mcp.h"
#include "request.h"

/* ---- commands ---- */

static const struct cli_json_column command_columns[] = {
    {"command", "Command", false}, {"help", "Help", false},       {"usage", "Usage", false},
    {"words", "Words", false},     {"formats", "Formats", false}, {"details", "Details", false},
    {"example", "Example", false}, {"is_tool", "MCP tool", true}, {NULL, NULL, false},
};

static void write_command(struct cli_json_tables *json, const struct cli_command *command) {
    char formats[256];
    const struct cli_option *format = cli_option_find("format", strlen("format"), command->groups);
    bool has_format = format && cli_command_takes(command, format);
    const char *cells[] = {
        command->name,
        command->help,
        command->usage,
        command->words,
        !has_format        ? NULL
        : command->formats ? command->formats
                           : cli_option_choices(format, formats, sizeof formats),
        command->details,
        command->examples[0],
        cli_mcp_offers(command) ? "true" : "false",
    };
    cli_json_tables_row(json, cells);
}

/* ---- options ---- */

static const struct cli_json_column option_columns[] = {
    {"command", "Command", false}, {"option", "Option", false},
    {"letter", "Letter", false},   {"alias", "Other name", false},
    {"type", "Type", false},       {"argument", "Argument", false},
    {"choices", "Choices", false}, {"min", "Min", true},
    {"max", "Max", true},          {"default", "Default", false},
    {"repeats", "Repeats", true},  {"help", "Help", false},
    {NULL, NULL, false},
};

static const char *type_name(enum cli_type type) {
    static const char *const names[] = {
        [CLI_FLAG] = "flag",
        [CLI_CONSTANT] = "flag",
        [CLI_INTEGER] = "integer",
        [CLI_DECIMAL] = "number",
        [CLI_MICROSECONDS] = "microseconds",
        [CLI_PERCENT] = "percent",
        [CLI_DURATION] = "duration",
        [CLI_TIME] = "time",
        [CLI_RANGES] = "numbers",
        [CLI_KEYS] = "keys",
        [CLI_TWO_TEXTS] = "two texts",
        [CLI_TEXT] = "text",
        [CLI_MOMENT] = "moment",
        [CLI_CHOICE] = "choice",
        [CLI_FORMAT] = "choice",
        [CLI_TEXTS] = "text",
        [CLI_LINE] = "text",
        [CLI_WORD] = "text",
        [CLI_PLACE] = "traces",
    };
    return names[type];
}

/* A choice by its place in "a|b". */
static const char *choice_at(const char *choices, int64_t index, char *text, size_t size) {
    for (; index > 0 && choices; index--) {
        const char *bar = strchr(choices, '|');
        choices = bar ? bar + 1 : NULL;
    }
    if (!choices)
        return NULL;
    snprintf(text, size, "%.*s", (int)strcspn(choices, "|"), choices);
    return text;
}

/* What counts without the option, where a value says that; often that depends on the trace or the command. */
static const char *default_of(const struct cli_option *option, const char *choices, char *text, size_t size) {
    struct gputime_option value = cli_option_analysing(option).automatic;
    if (option->type == CLI_FLAG)
        return "false";
    if (option->type == CLI_CHOICE && !option->analysing)
        return option->min ? NULL : choice_at(choices, 0, text, size);
    if (!option->analysing)
        return NULL;
    switch (value.type) {
    case GPUTIME_OPTION_INT:
        snprintf(text, size, "%" PRId64, value.integer);
        return value.integer == INT64_MIN || value.integer == INT64_MAX ? NULL : text; /* no limit */
    case GPUTIME_OPTION_REAL:
        snprintf(text, size, "%g", value.real);
        return text;
    case GPUTIME_OPTION_TEXT:
    case GPUTIME_OPTION_CHOICE:
        return value.text;
    case GPUTIME_OPTION_FLAG:
        break;
    }
    return NULL;
}

static void write_option(struct cli_json_tables *json, const struct cli_command *command,
                         const struct cli_option *option) {
    char choice_text[256], automatic[64], low[32], high[32], letter[2] = {option->letter, '\0'};
    const char *choices = cli_option_choices(option, choice_text, sizeof choice_text);
    struct gputime_option_info info = cli_option_analysing(option);
    bool is_number = option->type == CLI_INTEGER;
    bool repeats = option->type == CLI_TEXTS || option->type == CLI_LINE || option->type == CLI_WORD;
    if (option->type == CLI_FORMAT && command->formats)
        choices = command->formats;
    snprintf(low, sizeof low, "%.17g", option->analysing ? info.min : (double)option->min);
    snprintf(high, sizeof high, "%.17g", option->analysing ? info.max : (double)option->max);
    const char *cells[] = {
        command->name,
        option->name,
        option->letter ? letter : NULL,
        option->alias,
        type_name(option->type),
        option->argument,
        choices,
        is_number ? low : NULL,
        is_number ? high : NULL,
        default_of(option, choices, automatic, sizeof automatic),
        repeats ? "true" : "false",
        cli_command_option_help(command, option),
    };
    cli_json_tables_row(json, cells);
}

static void write_options(struct cli_json_tables *json, const struct cli_command *command) {
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *option = &cli_option_table[i];
        if (cli_command_takes(command, option) && option->group != CLI_GROUP_HIDDEN)
            write_option(json, command, option);
    }
}

/* ---- tables ---- */

static const struct cli_json_column table_columns[] = {
    {"command", "Command", false},
    {"table", "Table", false},
    {"analysis", "Analysis", false},
    {"title", "Title of the analysis", false},
    {NULL, NULL, false},
};

/* The tables of an analysis, as the registry lists them. */
static void write_tables_of(struct cli_json_tables *json, const struct cli_command *command, const char *analysis) {
    struct gputime_entry entry = gputime_registry_find(GPUTIME_ANALYSES, analysis);
    for (const char *item = entry.detail; item && *item;) {
        char key[CLI_TABLE_KEY_MAX];
        size_t bytes = strcspn(item, ",");
        snprintf(key, sizeof key, "%.*s", (int)bytes, item);
        cli_json_tables_row(json, (const char *const[]){command->name, key, entry.key, entry.title});
        item += bytes + (item[bytes] == ',');
    }
}

static bool is_earlier(const struct cli_command *command, size_t part, size_t index) {
    const char *key = command->parts[part].analyses[index];
    for (size_t p = 0; p <= part; p++)
        for (size_t i = 0; command->parts[p].analyses && command->parts[p].analyses[i] && (p < part || i < index); i++)
            if (strcmp(command->parts[p].analyses[i], key) == 0)
                return true;
    return false;
}

static void write_tables(struct cli_json_tables *json, const struct cli_command *command) {
    for (size_t p = 0; p < CLI_MAX_PARTS; p++)
        for (size_t i = 0; command->parts[p].analyses && command->parts[p].analyses[i]; i++)
            if (!is_earlier(command, p, i))
                write_tables_of(json, command, command->parts[p].analyses[i]);
}

/* ---- all ---- */

static void walk(struct cli_json_tables *json, const struct cli_command *only,
                 void (*write)(struct cli_json_tables *json, const struct cli_command *command)) {
    for (size_t i = 0; i < cli_command_count; i++)
        if (!only || only == &cli_command_table[i])
            write(json, &cli_command_table[i]);
}

void cli_help_json(FILE *out, const struct cli_command *command) {
    struct cli_json_tables json;
    cli_json_tables_begin(&json, out, "help");
    cli_json_tables_table(&json, "commands", "Commands", command_columns);
    walk(&json, command, write_command);
    cli_json_tables_table(&json, "options", "Options of commands", option_columns);
    walk(&json, command, write_options);
    cli_json_tables_table(&json, "tables", "Tables of commands", table_columns);
    walk(&json, command, write_tables);
    cli_json_tables_end(&json);
}
