/* Parses the command line against the option table. */
#include "parse.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "error.h"
#include "suggest.h"

static void *member(struct cli_options *options, size_t offset) {
    return (char *)options + offset;
}

static enum gputime_status set_flag(int *flag, const char *value, const char *where, struct gputime_error *err) {
    static const char *const words[] = {"no", "yes", "false", "true", "0", "1", "off", "on"};
    if (!value) {
        *flag = 1;
        return GPUTIME_OK;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(value, words[i]) == 0) {
            *flag = (int)(i % 2);
            return GPUTIME_OK;
        }
    return cli_fail_usage(err, "%s is yes or no, not '%s'", where, value);
}

static enum gputime_status set_integer(int64_t *number, const struct cli_option *option, const char *value,
                                       const char *where, struct gputime_error *err) {
    char *end = NULL;
    assert(value); /* cli_option_set has seen to it, as for the next */
    errno = 0;
    long long parsed = strtoll(value, &end, 10);
    bool is_digit = *value >= '0' && *value <= '9';
    if (!is_digit || *end || errno || parsed < option->min || parsed > option->max)
        return cli_fail_usage(err, "%s needs a whole number from %lld to %lld, not '%s'", where, (long long)option->min,
                              (long long)option->max, value);
    *number = parsed;
    return GPUTIME_OK;
}

static enum gputime_status set_decimal(const char **text, const char *value, const char *where,
                                       struct gputime_error *err) {
    assert(value);
    size_t whole = strspn(value, "0123456789");
    size_t point = value[whole] == '.';
    size_t part = point ? strspn(value + whole + 1, "0123456789") : 0;
    if (whole + part == 0 || value[whole + point + part])
        return cli_fail_usage(err, "%s needs a number such as 2 or 0.5, not '%s'", where, value);
    *text = value;
    return GPUTIME_OK;
}

static enum gputime_status fail_choice(const char *choices, const char *value, const char *where,
                                       struct gputime_error *err) {
    char list[256];
    size_t used = 0;
    for (const char *c = choices; *c && used + 3 < sizeof list; c++) {
        list[used++] = *c == '|' ? ',' : *c;
        if (*c == '|')
            list[used++] = ' ';
    }
    list[used] = '\0';
    return cli_fail_usage(err, "%s cannot be '%s'; there are %s", where, value, list);
}

static enum gputime_status add_text(struct cli_texts *texts, const char *value, const char *where,
                                    struct gputime_error *err) {
    if (texts->count == CLI_TEXTS_MAX)
        return cli_fail_usage(err, "%s can be given %d times at most", where, CLI_TEXTS_MAX);
    texts->items[texts->count++] = value;
    return GPUTIME_OK;
}

enum gputime_status cli_option_set(struct cli_options *options, const struct cli_option *option, const char *value,
                                   const char *where, struct gputime_error *err) {
    char choice_text[256];
    const char *choices = cli_option_choices(option, choice_text, sizeof choice_text);
    void *place = member(options, option->offset);

    if (cli_option_takes_value(option) && (!value || !*value))
        return cli_fail_usage(err, "%s needs a value: %s", where,
                              cli_option_argument(option, choice_text, sizeof choice_text));
    if (choices && cli_choice_index(choices, value) < 0)
        return fail_choice(choices, value, where, err);

    switch (option->type) {
    case CLI_FLAG:
        return set_flag(place, value, where, err);
    case CLI_CONSTANT:
        if (value)
            return cli_fail_usage(err, "%s takes no value", where);
        *(const char **)place = option->choices;
        return GPUTIME_OK;
    case CLI_INTEGER:
        return set_integer(place, option, value, where, err);
    case CLI_DECIMAL:
        return set_decimal(place, value, where, err);
    case CLI_CHOICE:
        *(int *)place = cli_choice_index(choices, value);
        return GPUTIME_OK;
    case CLI_MOMENT:
        if (!cli_moment_is_valid(value))
            return cli_fail_usage(err, "%s cannot be '%s'; write a time as 2026-01-31T09:30:00Z, or a date", where,
                                  value);
        *(const char **)place = value;
        return GPUTIME_OK;
    case CLI_TEXT:
    case CLI_KEYWORD:
    case CLI_FORMAT:
        *(const char **)place = value;
        return GPUTIME_OK;
    case CLI_TEXTS:
        return add_text(place, value, where, err);
    case CLI_WORD:
        break;
    case CLI_PLACE: /* only the command line has places */
        return cli_fail_usage(err, "%s belongs between the traces", where);
    }
    return GPUTIME_OK;
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
        return cli_fail_usage(reader->err, "%s %s needs a name, as in --%s %s NAME", where, option->pair, option->name,
                              option->pair);
    *value = option->pair;
    const char **place = member(&reader->arguments->options, option->pair_offset);
    if (*place && strcmp(*place, name) != 0)
        return cli_fail_usage(reader->err, "%s cannot be '%s %s' and '%s %s' at once; give it once", where,
                              option->pair, *place, option->pair, name);
    *place = name;
    return GPUTIME_OK;
}

static enum gputime_status take_place(struct reader *reader, const struct cli_option *option, const char *value,
                                      const char *where) {
    int64_t *place = member(&reader->arguments->options, option->offset);
    if (value || *place)
        return cli_fail_usage(reader->err, value ? "%s takes no value with '='; traces follow it" : "%s is given twice",
                              where);
    *place = (int64_t)reader->arguments->word_count + 1;
    return GPUTIME_OK;
}

/* Whether a second value would make the first one silently lost: files, selections, tables, formats. Of numbers and
   choices, and of how traces are read, the last word counts; some options gather all. */
static bool is_given_once(const struct cli_option *option) {
    switch (option->type) {
    case CLI_TEXT:
    case CLI_KEYWORD:
    case CLI_FORMAT:
    case CLI_CONSTANT:
    case CLI_MOMENT:
        return option->group != CLI_GROUP_READING;
    case CLI_FLAG:
    case CLI_INTEGER:
    case CLI_DECIMAL:
    case CLI_CHOICE:
    case CLI_TEXTS:
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
            return cli_fail_usage(reader->err, "%s cannot be '%s' and '%s' at once; give it once", where, before,
                                  value);
    }
    reader->arguments->values[option - cli_option_table] = value;
    return GPUTIME_OK;
}

static enum gputime_status take_option(struct reader *reader, const struct cli_option *option, const char *value,
                                       const char *where) {
    if (!value && cli_option_takes_value(option) && reader->next < reader->argc) {
        /* A long option here is more likely a forgotten value than a value; "--name=--x" still says the latter. */
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

/* The groups of the command where the first word has named it by now. */
static unsigned known_groups(const struct cli_arguments *arguments) {
    const struct cli_command *command = arguments->word_count ? cli_command_find(arguments->words[0]) : NULL;
    return command ? command->groups : CLI_GROUPS_REPORT;
}

static enum gputime_status fail_unknown_option(const char *name, size_t bytes, struct gputime_error *err) {
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
        return fail_unknown_option(word, bytes < 200 ? bytes : 200, reader->err);
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
    *arguments = (struct cli_arguments){.options = {.top = CLI_UNSET, .gap_top = CLI_UNSET, .kernel_limit = CLI_UNSET}};
    arguments->words = calloc((size_t)argc + 1, sizeof *arguments->words);
    if (!arguments->words)
        return cli_fail_memory(err);
    struct reader reader = {.arguments = arguments, .argv = argv, .argc = argc, .next = 1, .err = err};
    return read_words(&reader);
}

/* ---- settings ---- */

static const struct cli_option *find(const char *name) {
    return cli_option_find(name, strlen(name), CLI_GROUPS_REPORT);
}

static bool is_given(const struct cli_arguments *arguments, const struct cli_option *option) {
    for (size_t i = 0; i < cli_option_count; i++)
        if (arguments->given[i] && cli_option_table[i].offset == option->offset)
            return true;
    return false;
}

enum gputime_status cli_setting_apply(struct cli_arguments *arguments, const struct cli_command *command,
                                      const struct cli_option *option, const char *value, const char *where,
                                      struct gputime_error *err) {
    struct cli_options unused = {0};
    bool applies = cli_command_takes(command, option) && (option->type == CLI_TEXTS || !is_given(arguments, option)) &&
                   (option->type != CLI_FORMAT || !value || cli_command_writes(command, value));
    arguments->is_set[option - cli_option_table] |= applies;
    return cli_option_set(applies ? &arguments->options : &unused, option, value, where, err);
}

static enum gputime_status read_environment(struct cli_arguments *arguments, const struct cli_command *command,
                                            struct gputime_error *err) {
    static const char *const variables[][2] = {{"GPUTIME_THREADS", "threads"}, {"GPUTIME_RULES", "rules"}};
    enum gputime_status status = GPUTIME_OK;
    for (size_t i = 0; !status && i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i][0]);
        const struct cli_option *option = find(variables[i][1]);
        if (value && *value)
            status = cli_setting_apply(arguments, command, option, value, variables[i][0], err);
    }
    return status;
}

static bool is_set(const struct cli_arguments *arguments, const char *name) {
    return arguments->is_set[find(name) - cli_option_table];
}

/* Of several values the later wins, so what was set goes before what was given. */
static void put_settings_first(struct cli_texts *texts, size_t given) {
    struct cli_texts before = *texts;
    size_t set = before.count - given;
    memcpy(texts->items, before.items + given, set * sizeof *texts->items);
    memcpy(texts->items + set, before.items, given * sizeof *texts->items);
}

/* What follows from several options together. */
static void settle(struct cli_arguments *arguments) {
    /* --rules and --map both say what the categories are: what is given wins over what is set. */
    const struct cli_texts *rules = &arguments->options.rules;
    bool has_rules = rules->count && (is_given(arguments, find("rules")) || !is_given(arguments, find("map")));
    arguments->options.lib.rules = has_rules ? rules->items[rules->count - 1] : NULL;
    arguments->options.lib.rule_files = rules->items;
    arguments->options.lib.rule_file_count = rules->count;
    if (is_given(arguments, find("rules")) && !is_given(arguments, find("map")))
        arguments->options.lib.map = NULL;
    arguments->options.is_class_default = !is_given(arguments, find("rules")) && !is_given(arguments, find("map"));
    if (is_set(arguments, "bins") && !is_set(arguments, "hist")) /* only bins of equal width can be counted out */
        arguments->options.lib.bins = GPUTIME_BINS_LINEAR;
}

enum gputime_status cli_settings_read(struct cli_arguments *arguments, const struct cli_command *command,
                                      struct gputime_error *err) {
    size_t given_rules = arguments->options.rules.count;
    memcpy(arguments->is_set, arguments->given, sizeof arguments->is_set);
    enum gputime_status status = cli_config_read(arguments, command, err);
    if (!status)
        status = read_environment(arguments, command, err);
    put_settings_first(&arguments->options.rules, given_rules);
    settle(arguments);
    return status;
}

void cli_arguments_release(struct cli_arguments *arguments) {
    free(arguments->words);
    free(arguments->config_text);
    *arguments = (struct cli_arguments){0};
}
