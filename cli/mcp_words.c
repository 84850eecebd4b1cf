/* The arguments of a call as the words of a command line, and which files these may name. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "error.h"
#include "mcp.h"
#include "parse.h"
#include "program.h"

/* ---- what may be read ---- */

static bool is_inside(const char *path, const char *root) {
    size_t bytes = strlen(root);
    return strncmp(path, root, bytes) == 0 && (path[bytes] == '/' || path[bytes] == '\0' || strcmp(root, "/") == 0);
}

/* A file or directory that is there: pipes and devices could wait forever, and standard input is the protocol's. */
enum gputime_status cli_mcp_check_path(void *context, const char *path, struct gputime_error *err) {
    const struct cli_mcp *server = context;
    struct stat info;
    char real[PATH_MAX];
    if (strcmp(path, "-") == 0)
        return cli_fail_usage(err, "standard input cannot be read here; name a file");
    if (!realpath(path, real)) { /* what is not there is no different from what is elsewhere */
        int failure = errno;
        if (strpbrk(path, "*?["))
            return cli_fail(err, "cannot read '%s': patterns are not expanded here; name each file%s", path,
                            server->command && server->command->takes_directories ? ", or a directory" : "");
        return server->root ? cli_fail(err, "cannot read '%s': not in the root", path)
                            : cli_fail_system(err, failure, "cannot read '%s'", path);
    }
    if (server->root && !is_inside(real, server->root))
        return cli_fail(err, "cannot read '%s': not in the root", path);
    if (stat(real, &info) != 0)
        return cli_fail_system(err, errno, "cannot read '%s'", path);
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return cli_fail(err, "cannot read '%s': not a regular file", path);
    return GPUTIME_OK;
}

/* The trace of a run is what is before the last three commas, unless there is a file of the whole name. */
static enum gputime_status check_word(const struct cli_mcp *server, const struct cli_command *command, const char *word,
                                      struct gputime_error *err) {
    enum gputime_status status = cli_mcp_check_path((void *)(uintptr_t)server, word, err);
    char path[PATH_MAX];
    if (!status || !command->takes_runs || strlen(word) >= sizeof path)
        return status;
    strcpy(path, word);
    for (int i = 0; i < 3; i++) {
        char *comma = strrchr(path, ',');
        if (!comma)
            return status;
        *comma = '\0';
    }
    return cli_mcp_check_path((void *)(uintptr_t)server, path, err);
}

/* ---- words ---- */

static enum gputime_status add_word(struct cli_mcp_words *words, const char *lead, const char *text,
                                    struct gputime_error *err) {
    if (words->count + 1 >= words->capacity) {
        size_t capacity = 2 * words->capacity + 32;
        char **items = realloc(words->items, capacity * sizeof *items);
        if (!items)
            return cli_fail_memory(err);
        words->items = items;
        words->capacity = capacity;
    }
    char *word;
    if (asprintf(&word, "%s%s", lead, text) < 0)
        return cli_fail_memory(err);
    words->items[words->count++] = word;
    words->items[words->count] = NULL;
    return GPUTIME_OK;
}

void cli_mcp_words_release(struct cli_mcp_words *words) {
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    free(words->items);
}

/* A value as the text of an option; `key` is for the message. */
static enum gputime_status text_of(const struct cli_json *value, const char *key, char *text, size_t size,
                                   struct gputime_error *err) {
    if (value->type == CLI_JSON_TRUE || value->type == CLI_JSON_FALSE) {
        snprintf(text, size, "%s", value->type == CLI_JSON_TRUE ? "true" : "false");
        return GPUTIME_OK;
    }
    if (value->type != CLI_JSON_TEXT && value->type != CLI_JSON_NUMBER)
        return cli_fail_usage(err, "argument '%.100s': a text or number is needed here", key);
    if (value->bytes >= size)
        return cli_fail_usage(err, "argument '%.100s' is too long", key);
    if (memchr(value->text, '\0', value->bytes))
        return cli_fail_usage(err, "argument '%.100s' has a NUL inside", key);
    memcpy(text, value->text, value->bytes);
    text[value->bytes] = '\0';
    return GPUTIME_OK;
}

enum { TEXT_MAX = 65536 };

/* Values of an array, or the only one. */
static enum gputime_status add_traces(struct cli_mcp_words *words, const struct cli_mcp *server,
                                      const struct cli_command *command, const struct cli_json *value,
                                      struct gputime_error *err) {
    char *text = malloc(TEXT_MAX);
    enum gputime_status status = GPUTIME_OK;
    if (!text)
        return cli_fail_memory(err);
    for (const struct cli_json *item = value->type == CLI_JSON_ARRAY ? value->first : value; !status && item;
         item = value->type == CLI_JSON_ARRAY ? item->next : NULL) {
        status = text_of(item, value->key, text, TEXT_MAX, err);
        if (!status)
            status = check_word(server, command, text, err);
        if (!status)
            status = add_word(words, text[0] == '-' ? "./" : "", text, err);
    }
    free(text);
    return status;
}

/* "a,b" of an array, for options that take lists. */
static enum gputime_status join_items(const struct cli_json *value, char *text, size_t size,
                                      struct gputime_error *err) {
    size_t used = 0;
    enum gputime_status status = GPUTIME_OK;
    text[0] = '\0';
    for (const struct cli_json *item = value->first; item && !status; item = item->next) {
        if (item != value->first && used + 1 < size)
            text[used++] = ',';
        status = text_of(item, value->key, text + used, size - used, err);
        used += status ? 0 : strlen(text + used);
    }
    return status;
}

static enum gputime_status add_option(struct cli_mcp_words *words, const struct cli_option *option,
                                      const struct cli_json *value, struct gputime_error *err) {
    char lead[128], *text = malloc(TEXT_MAX);
    bool is_repeated = option->type == CLI_TEXTS || option->type == CLI_LINE;
    enum gputime_status status = GPUTIME_OK;
    if (!text)
        return cli_fail_memory(err);
    snprintf(lead, sizeof lead, "--%.100s=", value->key);
    if (value->type == CLI_JSON_ARRAY && is_repeated) {
        for (const struct cli_json *item = value->first; item && !status; item = item->next) {
            status = text_of(item, value->key, text, TEXT_MAX, err);
            if (!status)
                status = add_word(words, lead, text, err);
        }
    } else if (value->type != CLI_JSON_NULL) {
        status = value->type == CLI_JSON_ARRAY ? join_items(value, text, TEXT_MAX, err)
                                               : text_of(value, value->key, text, TEXT_MAX, err);
        if (!status)
            status = add_word(words, lead, text, err);
    }
    free(text);
    return status;
}

static enum gputime_status take_format(struct cli_mcp *server, const struct cli_command *command,
                                       const struct cli_json *value, struct gputime_error *err) {
    char text[64];
    enum gputime_status status = text_of(value, value->key, text, sizeof text, err);
    if (status)
        return status;
    if (!cli_mcp_offers_format(command, text))
        return cli_fail_usage(err, "format '%s' is not available here; use text, json, csv or md", text);
    server->format = gputime_registry_find(GPUTIME_OUTPUTS, text).key;
    return GPUTIME_OK;
}

static enum gputime_status take_rows(struct cli_mcp *server, const struct cli_json *value, struct gputime_error *err) {
    char text[32], *end;
    enum gputime_status status = text_of(value, value->key, text, sizeof text, err);
    if (status)
        return status;
    errno = 0;
    server->rows = strtoll(text, &end, 10);
    if (errno || *end || end == text || server->rows < 0 || server->rows > INT32_MAX)
        return cli_fail_usage(err, "argument '%s' must be a number from 0 to %d", value->key, INT32_MAX);
    return GPUTIME_OK;
}

/* Whether the argument is no option. */
static bool is_word(const struct cli_command *command, const char *key) {
    char name[64];
    const char *word = cli_mcp_word(command, name, sizeof name), *query = cli_mcp_query(command);
    return strcmp(key, word ? word : "traces") == 0 || (query && strcmp(key, query) == 0);
}

/* Options first, so that none of the words is taken for a value. Only what the tool's schema has gets this far. */
static enum gputime_status add_options(struct cli_mcp_words *words, struct cli_mcp *server,
                                       const struct cli_command *command, const struct cli_json *arguments,
                                       struct gputime_error *err) {
    enum gputime_status status = GPUTIME_OK;
    for (const struct cli_json *value = arguments ? arguments->first : NULL; value && !status; value = value->next) {
        const struct cli_option *option = cli_option_find(value->key, strlen(value->key), command->groups);
        if (is_word(command, value->key))
            continue;
        if (!option) /* as a word of the command line, one with a '=' inside would be another option */
            status = cli_mcp_fail_unknown(command, value->key, err);
        else if (!cli_command_takes(command, option))
            status = cli_program_fail_option(command, option, err);
        else if (!cli_mcp_offers_option(command, option))
            status = cli_fail_usage(
                err, "argument '%s' is not available here: clients name traces and nothing else of this machine",
                value->key);
        else if (option->type == CLI_PLACE)
            continue;
        else if (option->type == CLI_FORMAT && value->type != CLI_JSON_NULL)
            status = take_format(server, command, value, err);
        else if (option->offset == offsetof(struct cli_options, writing.row_limit))
            status = take_rows(server, value, err);
        else
            status = add_option(words, option, value, err);
    }
    return status;
}

static bool has_value(const struct cli_json *value) {
    return value && value->type != CLI_JSON_NULL;
}

static enum gputime_status add_places(struct cli_mcp_words *words, const struct cli_mcp *server,
                                      const struct cli_command *command, const struct cli_json *arguments,
                                      struct gputime_error *err) {
    enum gputime_status status = GPUTIME_OK;
    const struct cli_json *traces = cli_json_member(arguments, "traces");
    for (size_t i = 0; i < cli_option_count && !status; i++) {
        const struct cli_option *option = &cli_option_table[i];
        const struct cli_json *value = cli_json_member(arguments, option->name);
        if (option->type != CLI_PLACE || !has_value(value) || !cli_command_takes(command, option))
            continue;
        if (has_value(traces)) /* which would belong to the last place */
            return cli_fail_usage(err, "'%s' takes either traces or a and b, not both", command->name);
        status = add_word(words, "--", option->name, err);
        if (!status)
            status = add_traces(words, server, command, value, err);
    }
    return status;
}

/* A text as a word that is neither an option nor a command. */
static enum gputime_status add_text(struct cli_mcp_words *words, const struct cli_json *value,
                                    struct gputime_error *err) {
    char *text = malloc(TEXT_MAX);
    enum gputime_status status = text ? text_of(value, value->key, text, TEXT_MAX, err) : cli_fail_memory(err);
    if (!status)
        status = add_word(words, "", "--", err);
    if (!status)
        status = add_word(words, "", text, err);
    free(text);
    return status;
}

enum gputime_status cli_mcp_words_make(struct cli_mcp_words *words, struct cli_mcp *server,
                                       const struct cli_command *command, const struct cli_json *arguments,
                                       struct gputime_error *err) {
    char name[64];
    const char *word = cli_mcp_word(command, name, sizeof name), *query = cli_mcp_query(command);
    const struct cli_json *value = cli_json_member(arguments, word ? word : "traces");
    const struct cli_json *asked = query ? cli_json_member(arguments, query) : NULL;
    enum gputime_status status = add_word(words, "", "gputime", err);
    if (!status)
        status = add_word(words, "", command->name, err);
    if (!status)
        status = add_options(words, server, command, arguments, err);
    if (!status && !word)
        status = add_places(words, server, command, arguments, err);
    if (!status && has_value(value))
        status = word ? add_text(words, value, err) : add_traces(words, server, command, value, err);
    if (!status && query)
        status = has_value(asked) ? add_text(words, asked, err) : add_word(words, "", "", err);
    return status;
}
