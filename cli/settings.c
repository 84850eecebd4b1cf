/* Settings: applies the configuration file and the environment to a command, then what follows from all options
 * together. The file has lines "option = value" with the long names of the option table; '#' starts a comment. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "parse.h"
#include "suggest.h"

enum { LARGEST_BYTES = 1 << 20 };

static const struct cli_option *find(const char *name) {
    return cli_option_find(name, strlen(name), CLI_GROUPS_REPORT);
}

static bool is_given(const struct cli_arguments *arguments, const struct cli_option *option) {
    for (size_t i = 0; i < cli_option_count; i++)
        if (arguments->given[i] && cli_option_table[i].offset == option->offset)
            return true;
    return false;
}

/* Sets an option, unless the command line has set it or the command does not take it; the value must be valid even
 * then. */
static enum gputime_status apply(struct cli_arguments *arguments, const struct cli_command *command,
                                 const struct cli_option *option, const char *value, const char *where,
                                 struct gputime_error *err) {
    struct cli_options unused;
    cli_options_init(&unused);
    bool applies = cli_command_takes(command, option) && (option->type == CLI_TEXTS || !is_given(arguments, option)) &&
                   (option->type != CLI_FORMAT || !value || cli_command_writes(command, value));
    arguments->is_set[option - cli_option_table] |= applies;
    enum gputime_status status = cli_option_set(applies ? &arguments->options : &unused, option, value, where, err);
    cli_options_release(&unused);
    return status;
}

/* ---- the configuration file ---- */

static enum gputime_status config_path(char *path, size_t size, struct gputime_error *err) {
    const char *base = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    int written = 0;
    path[0] = '\0';
    if (base && base[0] == '/') /* XDG: relative paths are ignored */
        written = snprintf(path, size, "%s/gputime/config", base);
    else if (home && *home)
        written = snprintf(path, size, "%s/.config/gputime/config", home);
    if (written < 0 || (size_t)written >= size)
        return cli_fail(err, "the path of the configuration file is too long");
    return GPUTIME_OK;
}

static bool can_be_configured(const struct cli_option *option) {
    return option->group != CLI_GROUP_GENERAL && option->group != CLI_GROUP_HIDDEN && option->type != CLI_CONSTANT &&
           option->type != CLI_WORD;
}

static enum gputime_status fail_name(const char *place, const char *name, struct gputime_error *err) {
    struct cli_suggestion suggestion;
    cli_suggestion_init(&suggestion, name, strlen(name));
    for (size_t i = 0; i < cli_option_count; i++)
        if (can_be_configured(&cli_option_table[i])) {
            cli_suggestion_offer(&suggestion, cli_option_table[i].name);
            cli_suggestion_offer(&suggestion, cli_option_table[i].alias);
        }
    if (suggestion.nearest)
        return cli_fail_usage(err, "%s: unknown option '%s'; did you mean '%s'?", place, name, suggestion.nearest);
    return cli_fail_usage(err, "%s: unknown option '%s'; see 'gputime --help'", place, name);
}

static char *trim(char *text) {
    while (isspace((unsigned char)*text))
        text++;
    size_t bytes = strlen(text);
    while (bytes && isspace((unsigned char)text[bytes - 1]))
        bytes--;
    text[bytes] = '\0';
    return text;
}

/* place is "FILE:LINE". A '#' inside a value is kept unless white space precedes it. */
static enum gputime_status read_line(struct cli_arguments *arguments, const struct cli_command *command, char *line,
                                     const char *place, struct gputime_error *err) {
    for (char *c = line; *c; c++)
        if (*c == '#' && (c == line || isspace((unsigned char)c[-1]))) {
            *c = '\0';
            break;
        }
    char *name = trim(line);
    if (!*name)
        return GPUTIME_OK;
    char *value = strchr(name, '=');
    if (value) {
        *value++ = '\0';
        value = trim(value);
        name = trim(name);
    }
    const struct cli_option *option = cli_option_find(name, strlen(name), command->groups);
    if (!option || !can_be_configured(option))
        return fail_name(place, name, err);
    char where[sizeof err->message];
    snprintf(where, sizeof where, "%s: option '%s'", place, option->name);
    return apply(arguments, command, option, value, where, err);
}

static enum gputime_status read_lines(struct cli_arguments *arguments, const struct cli_command *command,
                                      const char *path, struct gputime_error *err) {
    char place[sizeof err->message / 2];
    unsigned number = 0;
    for (char *line = arguments->config_text; line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        snprintf(place, sizeof place, "%.480s:%u", path, ++number);
        enum gputime_status status = read_line(arguments, command, line, place, err);
        if (status)
            return status;
        line = end;
    }
    return GPUTIME_OK;
}

static enum gputime_status read_config(struct cli_arguments *arguments, const struct cli_command *command,
                                       struct gputime_error *err) {
    char path[4096];
    enum gputime_status status = config_path(path, sizeof path, err);
    if (status || !*path)
        return status;
    FILE *file = fopen(path, "re");
    if (!file) /* an unreadable file is an error, a missing one is not */
        return errno == ENOENT || errno == ENOTDIR ? GPUTIME_OK : cli_fail_system(err, errno, "cannot read '%s'", path);
    char *text = arguments->config_text = malloc(LARGEST_BYTES + 1);
    if (!text) {
        fclose(file);
        return cli_fail_memory(err);
    }
    size_t bytes = fread(text, 1, LARGEST_BYTES + 1, file);
    int read_error = ferror(file) ? errno : 0;
    fclose(file);
    if (read_error)
        return cli_fail_system(err, read_error, "cannot read '%s'", path);
    if (bytes > LARGEST_BYTES)
        return cli_fail(err, "cannot read '%s': not a configuration file (larger than 1 MB)", path);
    text[bytes] = '\0';
    return read_lines(arguments, command, path, err);
}

/* ---- all settings ---- */

static enum gputime_status read_environment(struct cli_arguments *arguments, const struct cli_command *command,
                                            struct gputime_error *err) {
    static const char *const variables[][2] = {{"GPUTIME_THREADS", "threads"}, {"GPUTIME_RULES", "rules"}};
    enum gputime_status status = GPUTIME_OK;
    for (size_t i = 0; !status && i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i][0]);
        const struct cli_option *option = find(variables[i][1]);
        if (value && *value)
            status = apply(arguments, command, option, value, variables[i][0], err);
    }
    return status;
}

/* The last value wins, so settings go before options. */
static void put_settings_first(struct cli_texts *texts, size_t given) {
    struct cli_texts before = *texts;
    size_t set = before.count - given;
    memcpy(texts->items, before.items + given, set * sizeof *texts->items);
    memcpy(texts->items + set, before.items, given * sizeof *texts->items);
}

/* --rules and --map both define the categories: options win over settings. */
static enum gputime_status settle_rules(struct cli_arguments *arguments, struct gputime_error *err) {
    struct cli_options *options = &arguments->options;
    const struct cli_texts *texts = &options->rules;
    bool is_rules_given = is_given(arguments, find("rules")), is_map_given = is_given(arguments, find("map"));
    const char **paths = cli_options_keep(options, (texts->count + 1) * sizeof *paths);
    struct cli_rules rules = {0};
    if (!paths)
        return cli_fail_memory(err);
    options->opening.rule_paths = paths;
    for (size_t i = 0; i < texts->count; i++) {
        enum gputime_status status = cli_rules_parse(options, texts->items[i], &rules, err);
        if (status)
            return status;
        if (rules.path)
            paths[options->opening.rule_path_count++] = rules.path;
    }
    if (texts->count && (is_rules_given || !is_map_given)) {
        options->opening.rules_path = rules.path;
        options->opening.rules_engine = rules.engine;
        options->opening.rules_model = rules.model;
    }
    if (is_rules_given && !is_map_given)
        options->opening.map_path = NULL;
    options->is_class_default = !is_rules_given && !is_map_given;
    return GPUTIME_OK;
}

static enum gputime_status settle_analysing(struct cli_arguments *arguments, struct gputime_error *err) {
    const struct cli_option *bins = find("bins"), *hist = find("hist");
    if (arguments->is_set[bins - cli_option_table] && !arguments->is_set[hist - cli_option_table]) {
        /* a number of bins implies equal widths */
        arguments->options.bins = cli_choice_index(cli_option_analysing(hist).choices, "linear");
        arguments->is_set[hist - cli_option_table] = true;
    }
    for (size_t i = 0; i < cli_option_count; i++)
        if (cli_option_table[i].analysing && arguments->is_set[i] &&
            !cli_option_gather(&arguments->options, &cli_option_table[i]))
            return cli_fail_memory(err);
    return GPUTIME_OK;
}

enum gputime_status cli_settings_read(struct cli_arguments *arguments, const struct cli_command *command,
                                      struct gputime_error *err) {
    size_t given_rules = arguments->options.rules.count;
    memcpy(arguments->is_set, arguments->given, sizeof arguments->is_set);
    enum gputime_status status = read_config(arguments, command, err);
    if (!status)
        status = read_environment(arguments, command, err);
    put_settings_first(&arguments->options.rules, given_rules);
    if (!status)
        status = settle_rules(arguments, err);
    if (arguments->options.redact_names)
        arguments->options.opening.redact = GPUTIME_REDACT_NAMES;
    return status ? status : settle_analysing(arguments, err);
}
