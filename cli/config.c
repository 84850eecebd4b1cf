/* The configuration file: lines "option = value" with the long names of the option table, '#' starts a comment. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "parse.h"
#include "suggest.h"

enum { LARGEST_BYTES = 1 << 20 };

static enum gputime_status config_path(char *path, size_t size, struct gputime_error *err) {
    const char *base = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    int written = 0;
    path[0] = '\0';
    if (base && base[0] == '/') /* the XDG rules say that a relative path is to be ignored */
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

/* place is "FILE:LINE". A '#' inside a value is kept unless white space stands before it. */
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
    return cli_setting_apply(arguments, command, option, value, where, err);
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

enum gputime_status cli_config_read(struct cli_arguments *arguments, const struct cli_command *command,
                                    struct gputime_error *err) {
    char path[4096];
    enum gputime_status status = config_path(path, sizeof path, err);
    if (status || !*path)
        return status;
    FILE *file = fopen(path, "re");
    if (!file) /* unreadable is worth a word, absent is the normal case */
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
        return cli_fail(err, "cannot read '%s': it is no configuration file; it has over a megabyte", path);
    text[bytes] = '\0';
    return read_lines(arguments, command, path, err);
}
