/* Look-ups on the option table. */
#include <stdio.h>
#include <string.h>

#include "options.h"

const char *cli_group_heading(uint64_t group) {
    switch (group) {
    case CLI_GROUP_SELECTION:
        return "Selection";
    case CLI_GROUP_RULES:
    case CLI_GROUP_TABLES:
    case CLI_GROUP_NAMES:
        return "Tables";
    case CLI_GROUP_FORMAT:
    case CLI_GROUP_OUTPUT:
    case CLI_GROUP_FILE:
    case CLI_GROUP_TERMINAL:
        return "Output";
    case CLI_GROUP_READING:
        return "Reading";
    case CLI_GROUP_KERNELS:
    case CLI_GROUP_GAPS:
    case CLI_GROUP_GAP_PART:
    case CLI_GROUP_RANGES:
    case CLI_GROUP_DIFF:
    case CLI_GROUP_CHECK:
    case CLI_GROUP_LIMITS:
    case CLI_GROUP_PHASES:
    case CLI_GROUP_FINDINGS:
    case CLI_GROUP_PATH:
    case CLI_GROUP_WHATIF:
    case CLI_GROUP_EFFICIENCY:
    case CLI_GROUP_RANKS:
    case CLI_GROUP_JOB:
    case CLI_GROUP_SQL:
    case CLI_GROUP_WITH_PATH:
    case CLI_GROUP_EXPLAIN:
    case CLI_GROUP_GRAPH:
    case CLI_GROUP_STATS:
    case CLI_GROUP_TITLE:
    case CLI_GROUP_MCP:
    case CLI_GROUP_VIEW:
        return "Options";
    case CLI_GROUP_GENERAL:
    case CLI_GROUP_HIDDEN:
        break;
    }
    return "General";
}

bool cli_option_takes_value(const struct cli_option *option) {
    return option->type != CLI_FLAG && option->type != CLI_CONSTANT && option->type != CLI_PLACE;
}

bool cli_option_names_file(const struct cli_option *option) {
    static const char *const arguments[] = {"FILE", "DIR", "PATH"};
    for (size_t i = 0; option->argument && i < sizeof arguments / sizeof *arguments; i++)
        if (strcmp(option->argument, arguments[i]) == 0)
            return true;
    return false;
}

const char *cli_registry_keys(enum gputime_registry registry, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < gputime_registry_count(registry); i++) {
        int written = snprintf(text + used, size - used, "%s%s", i ? "|" : "", gputime_registry_entry(registry, i).key);
        if (written < 0 || (size_t)written >= size - used)
            break;
        used += (size_t)written;
    }
    return text;
}

struct gputime_option_info cli_option_analysing(const struct cli_option *option) {
    for (size_t i = 0; option->analysing && i < gputime_option_count(); i++) {
        struct gputime_option_info info = gputime_option_at(i);
        if (strcmp(info.automatic.key, option->analysing) == 0)
            return info;
    }
    return (struct gputime_option_info){0};
}

const char *cli_option_choices(const struct cli_option *option, char *text, size_t size) {
    if (option->type == CLI_FORMAT)
        return cli_registry_keys(GPUTIME_OUTPUTS, text, size);
    if (option->type != CLI_CHOICE)
        return NULL;
    return option->choices ? option->choices : cli_option_analysing(option).choices;
}

const char *cli_option_argument(const struct cli_option *option, char *text, size_t size) {
    const char *choices = cli_option_choices(option, text, size);
    return choices ? choices : option->argument;
}

int cli_choice_index(const char *choices, const char *value) {
    size_t bytes = strlen(value);
    int index = 0;
    for (const char *choice = choices; choice; index++) {
        const char *bar = strchr(choice, '|');
        size_t choice_bytes = bar ? (size_t)(bar - choice) : strlen(choice);
        if (choice_bytes == bytes && memcmp(choice, value, bytes) == 0)
            return index;
        choice = bar ? bar + 1 : NULL;
    }
    return -1;
}

static bool same_name(const char *name, const char *given, size_t bytes) {
    if (!name || strlen(name) != bytes)
        return false;
    for (size_t i = 0; i < bytes; i++) {
        char c = given[i] == '_' ? '-' : given[i];
        if (name[i] != c)
            return false;
    }
    return true;
}

const struct cli_option *cli_option_find(const char *name, size_t bytes, uint64_t groups) {
    const struct cli_option *found = NULL;
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *option = &cli_option_table[i];
        if (!same_name(option->name, name, bytes) && !same_name(option->alias, name, bytes))
            continue;
        bool is_better = found && !(found->group & groups) && (option->group & groups);
        found = !found || is_better ? option : found;
    }
    return found;
}

const struct cli_option *cli_option_find_letter(char letter) {
    for (size_t i = 0; i < cli_option_count; i++)
        if (cli_option_table[i].letter && cli_option_table[i].letter == letter)
            return &cli_option_table[i];
    return NULL;
}
