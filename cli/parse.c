/* Parses the command line against the option table. */
#include "parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "suggest.h"

static void *member(struct cli_options *options, size_t offset) {
    return (char *)options + offset;
}

/* The command line while it is being read. */
struct reader {
    struct cli_arguments *arguments;
    char **argv;
    int argc, next;
    struct gputime_error *err;
};

/* "--per range NAME", "--per range:NAME": some values are followed by one more. *value becomes what is before it. */
static enum gputime_status take_pair(struct reader *reader, const struct cli_option *option, const char **value,
                                     const char *where) {
    size_t bytes = option->pair ? strlen(option->pair) : 0;
    if (!bytes || !*value || strncmp(option->pair, *value, bytes) != 0 || !strchr(":", (*value)[bytes]))
        return GPUTIME_OK;
    const char *name = (*value)[bytes] ? *value + bytes + 1 : NULL;
    bool has_following = reader->next < reader->argc && strncmp(reader->argv[reader->next], "--", 2) != 0;
    if (!name && has_following)
        name = reader->argv[reader->next++];
    if (!name || !*name)
        return cli_fail_usage(reader->err, "%s %s needs a name: --%s %s NAME", where, option->pair, option->name,
                              option->pair);
    *value = option->pair;
    const char **place = member(&reader->arguments->options, option->pair_offset);
    if (*place && strcmp(*place, name) != 0)
        return cli_fail_usage(reader->err, "%s is given twice: '%s %s' and '%s %s'", where, option->pair, *place,
                              option->pair, name);
    *place = name;
    return GPUTIME_OK;
}

static enum gputime_status take_place(struct reader *reader, const struct cli_option *option, const char *value,
                                      const char *where) {
    int64_t *place = member(&reader->arguments->options, option->offset);
    if (value || *place)
        return cli_fail_usage(reader->err, value ? "%s takes no value; traces follow it" : "%s is given twice", where);
    *place = (int64_t)reader->arguments->word_count + 1;
    return GPUTIME_OK;
}

/* Whether repeating it is an error, because the first value would be lost: files, selections, tables, formats. For
 * numbers, choices and reading options the last value counts; some options collect all values. */
static bool is_given_once(const struct cli_option *option) {
    switch (option->type) {
    case CLI_TEXT:
    case CLI_FORMAT:
    case CLI_CONSTANT:
    case CLI_MOMENT:
    case CLI_PERCENT:
    case CLI_TIME:
    case CLI_RANGES:
    case CLI_KEYS:
    case CLI_TWO_TEXTS:
        return option->group != CLI_GROUP_READING;
    case CLI_CHOICE:
        return option->pair;
    case CLI_FLAG:
    case CLI_INTEGER:
    case CLI_DECIMAL:
    case CLI_MICROSECONDS:
    case CLI_DURATION:
    case CLI_TEXTS:
    case CLI_LINE:
    case CLI_WORD:
    case CLI_PLACE:
        break;
    }
    return false;
}

static enum gputime_status check_repeated(struct reader *reader, const struct cli_option *option, const char *value,
                                          const char *where) {
    for (size_t i = 0; i < cli_option_count && is_given_once(option); i++) {
        const char *before = reader->arguments->values[i];
        if (cli_option_table[i].offset == option->offset && before && value && strcmp(before, value) != 0)
            return cli_fail_usage(reader->err, "%s is given twice: '%s' and '%s'", where, before, value);
    }
    reader->arguments->values[option - cli_option_table] = value;
    return GPUTIME_OK;
}

static enum gputime_status take_option(struct reader *reader, const struct cli_option *option, const char *value,
                                       const char *where) {
    if (!value && cli_option_takes_value(option) && reader->next < reader->argc) {
        /* A long option here is more likely a forgotten value than a value; use "--name=--x" for the latter. */
        const char *following = reader->argv[reader->next];
        if (strncmp(following, "--", 2) != 0) {
            value = following;
            reader->next++;
        }
    }
    reader->arguments->given[option - cli_option_table] = true;
    if (option->implies)
        *(int *)member(&reader->arguments->options, option->implies) = 1;
    if (option->type == CLI_PLACE)
        return take_place(reader, option, value, where);
    enum gputime_status status = take_pair(reader, option, &value, where);
    if (!status)
        status = cli_option_set(&reader->arguments->options, option, value, where, reader->err);
    if (!status)
        status = check_repeated(reader, option, option->type == CLI_CONSTANT ? option->choices : value, where);
    if (!status && option->type == CLI_WORD)
        reader->arguments->words[reader->arguments->word_count++] = value;
    return status;
}

/* The groups of the command, if the first word has been read. */
static uint64_t known_groups(const struct cli_arguments *arguments) {
    const struct cli_command *command = arguments->word_count ? cli_command_find(arguments->words[0]) : NULL;
    return command ? command->groups : CLI_GROUPS_REPORT;
}

enum gputime_status cli_arguments_fail_unknown(const char *name, size_t bytes, struct gputime_error *err) {
    struct cli_suggestion suggestion;
    cli_suggestion_init(&suggestion, name, bytes);
    for (size_t i = 0; i < cli_option_count; i++) {
        if (cli_option_table[i].group == CLI_GROUP_HIDDEN)
            continue;
        cli_suggestion_offer(&suggestion, cli_option_table[i].name);
        cli_suggestion_offer(&suggestion, cli_option_table[i].alias);
    }
    if (suggestion.nearest)
        return cli_fail_usage(err, "unknown option '--%.*s'; did you mean '--%s'?", (int)bytes, name,
                              suggestion.nearest);
    return cli_fail_usage(err, "unknown option '--%.*s'; see 'gputime --help'", (int)bytes, name);
}

static enum gputime_status take_long(struct reader *reader, const char *word) {
    char where[64];
    size_t bytes = strcspn(word, "=");
    const struct cli_option *option = cli_option_find(word, bytes, known_groups(reader->arguments));
    if (!option)
        return cli_arguments_fail_unknown(word, bytes < 200 ? bytes : 200, reader->err);
    snprintf(where, sizeof where, "option '--%.*s'", (int)bytes, word);
    return take_option(reader, option, word[bytes] ? word + bytes + 1 : NULL, where);
}

/* "-v", "-t5", "-vgt5": letters of flags, the last one may take a value. */
static enum gputime_status take_letters(struct reader *reader, const char *letters) {
    char where[64];
    for (; *letters; letters++) {
        const struct cli_option *option = cli_option_find_letter(*letters);
        if (!option)
            return cli_fail_usage(reader->err, "unknown option '-%.1s'; see 'gputime --help'", letters);
        bool has_value = cli_option_takes_value(option) && letters[1];
        snprintf(where, sizeof where, "option '-%c'", *letters);
        enum gputime_status status = take_option(reader, option, has_value ? letters + 1 : NULL, where);
        if (status || has_value)
            return status;
    }
    return GPUTIME_OK;
}

static enum gputime_status read_words(struct reader *reader) {
    struct cli_arguments *arguments = reader->arguments;
    enum gputime_status status = GPUTIME_OK;
    bool only_words = false;

    while (!status && reader->next < reader->argc) {
        const char *word = reader->argv[reader->next++];
        if (only_words || word[0] != '-' || !word[1]) {
            arguments->words[arguments->word_count++] = word;
            arguments->plain_words += !only_words;
        } else if (strcmp(word, "--") == 0) {
            only_words = true;
        } else if (word[1] == '-') {
            status = take_long(reader, word + 2);
        } else {
            status = take_letters(reader, word + 1);
        }
    }
    return status;
}

bool cli_options_ask_about(const struct cli_options *options) {
    return options->help || options->version || options->print_man || options->print_completion;
}

enum gputime_status cli_arguments_parse(struct cli_arguments *arguments, int argc, char **argv,
                                        struct gputime_error *err) {
    *arguments = (struct cli_arguments){0};
    cli_options_init(&arguments->options);
    arguments->words = calloc((size_t)argc + 1, sizeof *arguments->words);
    if (!arguments->words)
        return cli_fail_memory(err);
    struct reader reader = {.arguments = arguments, .argv = argv, .argc = argc, .next = 1, .err = err};
    return read_words(&reader);
}

void cli_arguments_release(struct cli_arguments *arguments) {
    free(arguments->words);
    free(arguments->config_text);
    cli_options_release(&arguments->options);
    *arguments = (struct cli_arguments){0};
}
