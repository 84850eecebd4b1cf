/* The tools of the server, from the command table, and their input schemas, from the option table. */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "json_write.h"
#include "mcp.h"

/* Commands that only read, and answer at once. Others have to be listed here on purpose. */
bool cli_mcp_offers(const struct cli_command *command) {
    switch (command->action) {
    case CLI_ACTION_REPORT:
    case CLI_ACTION_DIFF:
    case CLI_ACTION_CHECK:
    case CLI_ACTION_RANKS:
    case CLI_ACTION_SQL:
    case CLI_ACTION_LIST:
    case CLI_ACTION_DEFINE:
        return true;
    case CLI_ACTION_REDACT:
    case CLI_ACTION_EXPORT:
    case CLI_ACTION_CACHE:
    case CLI_ACTION_VIEW:
    case CLI_ACTION_HELP:
    case CLI_ACTION_VERSION:
    case CLI_ACTION_MCP:
        break;
    }
    return false;
}

/* Clients name traces and nothing else of this machine. */
bool cli_mcp_offers_option(const struct cli_command *command, const struct cli_option *option) {
    return cli_command_takes(command, option) && option->group != CLI_GROUP_GENERAL &&
           option->group != CLI_GROUP_HIDDEN && option->type != CLI_CONSTANT && option->type != CLI_WORD &&
           !option->is_local && !cli_option_names_file(option);
}

/* Text that fits an answer; pages and binary files do not. */
bool cli_mcp_offers_format(const struct cli_command *command, const char *format) {
    return cli_choice_index("text|json|csv|md", format) >= 0 && cli_command_writes(command, format) &&
           gputime_registry_find(GPUTIME_OUTPUTS, format).key;
}

const char *cli_mcp_word(const struct cli_command *command, char *name, size_t size) {
    size_t bytes = 0;
    if (!command->words)
        return NULL;
    for (const char *c = *command->words ? "what" : command->usage; *c && bytes + 1 < size; c++)
        if (isalpha((unsigned char)*c))
            name[bytes++] = (char)tolower((unsigned char)*c);
    name[bytes] = '\0';
    return name;
}

const char *cli_mcp_query(const struct cli_command *command) {
    return command->action == CLI_ACTION_SQL ? "query" : NULL;
}

/* ---- schemas ---- */

/* Help of several lines as one. */
static void write_description(FILE *out, const char *help) {
    char text[4096];
    snprintf(text, sizeof text, "%s", help);
    for (char *c = text; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    fputs(",\"description\":", out);
    cli_json_write_text(out, text);
}

/* "a|b" as an array. */
static void write_choices(FILE *out, const char *choices) {
    const char *lead = ",\"enum\":[";
    for (const char *choice = choices; choice && *choice; lead = ",") {
        size_t bytes = strcspn(choice, "|");
        fputs(lead, out);
        cli_json_write_bytes(out, choice, bytes);
        choice += bytes + (choice[bytes] != '\0');
    }
    fputc(']', out);
}

static void write_formats(FILE *out, const struct cli_command *command) {
    const char *lead = ",\"enum\":[";
    for (size_t i = 0; i < gputime_registry_count(GPUTIME_OUTPUTS); i++) {
        const char *key = gputime_registry_entry(GPUTIME_OUTPUTS, i).key;
        if (!cli_mcp_offers_format(command, key))
            continue;
        fputs(lead, out);
        cli_json_write_text(out, key);
        lead = ",";
    }
    fputs("],\"description\":\"what the answer is made of (text, with the same as JSON next to it)\"", out);
}

static bool is_max_rows(const struct cli_option *option) {
    return option->offset == offsetof(struct cli_options, max_rows);
}

static void write_bounds(FILE *out, const struct cli_option *option) {
    struct gputime_option_info info = cli_option_analysing(option);
    double low = option->analysing ? info.min : (double)option->min;
    double high = option->analysing ? info.max : (double)option->max;
    if (is_max_rows(option)) {
        low = 1;
        high = CLI_MCP_QUERY_ROWS;
    }
    if (high > low)
        fprintf(out, ",\"minimum\":%.17g,\"maximum\":%.17g", low, high);
}

static const char *json_type(const struct cli_option *option) {
    switch (option->type) {
    case CLI_FLAG:
        return "\"boolean\"";
    case CLI_INTEGER:
        return "\"integer\"";
    case CLI_DECIMAL:
    case CLI_MICROSECONDS:
        return "\"number\"";
    case CLI_TEXTS:
    case CLI_LINE:
    case CLI_PLACE:
        return "\"array\",\"items\":{\"type\":\"string\"}";
    case CLI_RANGES:
        return "[\"string\",\"integer\"]";
    case CLI_CONSTANT:
    case CLI_PERCENT:
    case CLI_DURATION:
    case CLI_TIME:
    case CLI_KEYS:
    case CLI_TWO_TEXTS:
    case CLI_TEXT:
    case CLI_MOMENT:
    case CLI_CHOICE:
    case CLI_FORMAT:
    case CLI_WORD:
        break;
    }
    return "\"string\"";
}

/* Queries have narrower limits here than on the command line. */
static const char *help_of(const struct cli_command *command, const struct cli_option *option, char *text,
                           size_t size) {
    if (is_max_rows(option))
        snprintf(text, size, "most rows of the result (%d)", CLI_MCP_QUERY_ROWS);
    else if (option->offset == offsetof(struct cli_options, timeout_ns))
        snprintf(text, size, "stop the query after this time (%ds, and not more)", CLI_MCP_QUERY_SECONDS);
    else
        return cli_command_option_help(command, option);
    return text;
}

static void write_option(FILE *out, const struct cli_command *command, const struct cli_option *option) {
    char name[64], choices[256], text[128];
    fprintf(out, ",\"%s\":{\"type\":%s", cli_mcp_argument(option, name, sizeof name), json_type(option));
    if (option->type == CLI_INTEGER)
        write_bounds(out, option);
    if (option->type == CLI_CHOICE && !option->pair)
        write_choices(out, cli_option_choices(option, choices, sizeof choices));
    if (option->type == CLI_FORMAT)
        write_formats(out, command);
    else
        write_description(out, help_of(command, option, text, sizeof text));
    fputc('}', out);
}

static void write_first(FILE *out, const struct cli_command *command) {
    char name[64];
    const char *word = cli_mcp_word(command, name, sizeof name);
    if (word) {
        fprintf(out, "\"%s\":{\"type\":\"string\"", word);
        if (*command->words)
            write_choices(out, command->words);
        fputs("}", out);
        return;
    }
    fputs("\"traces\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1", out);
    write_description(out, command->takes_directories ? "paths of trace files, or of directories of them"
                           : command->takes_runs      ? "paths of trace files, or FILE,ENGINE,MODEL,SECONDS"
                                                      : "paths of trace files");
    fputc('}', out);
}

/* A comparison has its traces in two lists as well. */
static bool has_places(const struct cli_command *command) {
    for (size_t i = 0; i < cli_option_count; i++)
        if (cli_option_table[i].type == CLI_PLACE && cli_command_takes(command, &cli_option_table[i]))
            return true;
    return false;
}

static void write_query(FILE *out, const struct cli_command *command) {
    if (!cli_mcp_query(command))
        return;
    fprintf(out, ",\"%s\":{\"type\":\"string\"", cli_mcp_query(command));
    write_description(out, "one SELECT of SQLite's dialect; '' with schema, which needs no traces");
    fputc('}', out);
}

static void write_schema(FILE *out, const struct cli_command *command) {
    char name[64];
    const char *word = cli_mcp_word(command, name, sizeof name), *query = cli_mcp_query(command);
    fputs("{\"type\":\"object\",\"properties\":{", out);
    write_first(out, command);
    write_query(out, command);
    for (size_t i = 0; i < cli_option_count; i++)
        if (cli_mcp_offers_option(command, &cli_option_table[i]))
            write_option(out, command, &cli_option_table[i]);
    fputs("},\"additionalProperties\":false", out);
    if (!has_places(command)) /* queries may be about the schema, without traces */
        fprintf(out, ",\"required\":[\"%s\"]", query ? query : word ? word : "traces");
    fputc('}', out);
}

static void write_tool(FILE *out, const struct cli_command *command) {
    char text[4096];
    snprintf(text, sizeof text, "%s. %s", command->help, command->details);
    text[0] = (char)toupper((unsigned char)text[0]);
    fputs("{\"name\":", out);
    cli_json_write_text(out, command->name);
    fputs(",\"title\":", out);
    cli_json_write_text(out, command->help);
    write_description(out, text);
    fputs(",\"inputSchema\":", out);
    write_schema(out, command);
    fputs(",\"annotations\":{\"readOnlyHint\":true,\"destructiveHint\":false,\"idempotentHint\":true,"
          "\"openWorldHint\":false}}",
          out);
}

void cli_mcp_list_tools(FILE *out) {
    const char *lead = "[";
    for (size_t i = 0; i < cli_command_count; i++)
        if (cli_mcp_offers(&cli_command_table[i])) {
            fputs(lead, out);
            write_tool(out, &cli_command_table[i]);
            lead = ",";
        }
    fputc(']', out);
}
