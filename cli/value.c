/* Parses values of options, from the command line and from settings, and stores them. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clock.h"
#include "error.h"
#include "options.h"

/* ---- memory ---- */

struct cli_memory {
    struct cli_memory *next;
};

void *cli_options_keep(struct cli_options *options, size_t bytes) {
    struct cli_memory *memory = calloc(1, sizeof *memory + bytes);
    if (!memory)
        return NULL;
    memory->next = options->memory;
    options->memory = memory;
    return memory + 1;
}

static char *keep_text(struct cli_options *options, const char *text) {
    char *kept = cli_options_keep(options, strlen(text) + 1);
    return kept ? strcpy(kept, text) : NULL;
}

void cli_options_init(struct cli_options *options) {
    *options = (struct cli_options){.opening = GPUTIME_OPEN_OPTIONS_INIT,
                                    .run = GPUTIME_RUN_INIT,
                                    .selection = GPUTIME_SELECTION_INIT,
                                    .writing = GPUTIME_WRITE_OPTIONS_INIT,
                                    .diff = GPUTIME_DIFF_OPTIONS_INIT,
                                    .top = CLI_UNSET,
                                    .gap_top = CLI_UNSET,
                                    .kernel_limit = CLI_UNSET,
                                    .max_rows = CLI_UNSET,
                                    .idle_seconds = CLI_UNSET};
}

void cli_options_release(struct cli_options *options) {
    for (struct cli_memory *memory = options->memory, *next; memory; memory = next) {
        next = memory->next;
        free(memory);
    }
    *options = (struct cli_options){0};
}

/* ---- numbers ---- */

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
    return cli_fail_usage(err, "%s must be yes or no, not '%s'", where, value);
}

static enum gputime_status set_integer(int64_t *number, const struct cli_option *option, const char *value,
                                       const char *where, struct gputime_error *err) {
    char *end = NULL;
    long long min = option->min, max = option->max;
    if (option->analysing) {
        struct gputime_option_info info = cli_option_analysing(option);
        min = (long long)info.min;
        max = (long long)info.max;
    }
    assert(value); /* checked by cli_option_set, as for the others */
    errno = 0;
    long long parsed = strtoll(value, &end, 10);
    bool is_digit = *value >= '0' && *value <= '9';
    if (!is_digit || *end || errno || parsed < min || parsed > max)
        return cli_fail_usage(err, "%s needs a whole number from %lld to %lld, not '%s'", where, min, max, value);
    *number = parsed;
    return GPUTIME_OK;
}

/* Digits, and others after a point. */
static bool is_decimal(const char *value) {
    size_t whole = strspn(value, "0123456789");
    size_t point = value[whole] == '.';
    size_t part = point ? strspn(value + whole + 1, "0123456789") : 0;
    return whole + part > 0 && !value[whole + point + part];
}

static enum gputime_status fail_decimal(const char *value, const char *where, struct gputime_error *err) {
    return cli_fail_usage(err, "%s needs a number such as 2 or 0.5, not '%s'", where, value);
}

static enum gputime_status set_decimal(double *number, const struct cli_option *option, const char *value,
                                       const char *where, struct gputime_error *err) {
    if (!is_decimal(value))
        return fail_decimal(value, where, err);
    double parsed = strtod(value, NULL);
    struct gputime_option_info info = cli_option_analysing(option);
    if (option->analysing && (parsed < info.min || parsed > info.max))
        return cli_fail_usage(err, "%s needs a number from %g to %g, not '%s'", where, info.min, info.max, value);
    *number = parsed;
    return GPUTIME_OK;
}

static enum gputime_status set_duration(int64_t *ns, const char *value, const char *where, struct gputime_error *err) {
    struct gputime_time time;
    if (gputime_time_parse(value, &time, NULL) || time.kind != GPUTIME_TIME_NS || time.ns < 0)
        return cli_fail_usage(err, "%s: invalid duration '%s'; use for example 2s or 500ms", where, value);
    *ns = time.ns > 0 ? time.ns : 1;
    return GPUTIME_OK;
}

static enum gputime_status set_microseconds(int64_t *ns, const char *value, const char *where,
                                            struct gputime_error *err) {
    char text[64];
    struct gputime_time time = {.kind = GPUTIME_TIME_NONE};
    bool fits = snprintf(text, sizeof text, "%sus", value) < (int)sizeof text;
    if (!is_decimal(value) || !fits || gputime_time_parse(text, &time, NULL))
        return fail_decimal(value, where, err);
    *ns = time.ns;
    return GPUTIME_OK;
}

static enum gputime_status set_percent(double *share, const char *value, const char *where, struct gputime_error *err) {
    char number[32];
    size_t bytes = strcspn(value, "%");
    bool fits = snprintf(number, sizeof number, "%.*s", (int)bytes, value) < (int)sizeof number;
    double percent = strtod(number, NULL);
    if (!fits || !is_decimal(number) || strcmp(value + bytes, "%") != 0)
        return cli_fail_usage(err, "%s: invalid percentage '%s'; use for example 2%%", where, value);
    *share = percent > 0 ? percent / 100 : -1;
    return GPUTIME_OK;
}

/* Adds the place of the option to an error of the library. */
static enum gputime_status pass_error(const struct gputime_error *why, const char *where, struct gputime_error *err) {
    return cli_fail_usage(err, "%s: %s", where, why->message);
}

static enum gputime_status set_time(struct gputime_time *time, const char *value, const char *where,
                                    struct gputime_error *err) {
    struct gputime_error why;
    return gputime_time_parse(value, time, &why) ? pass_error(&why, where, err) : GPUTIME_OK;
}

/* ---- lists ---- */

/* A pointer followed by a count, as in the library's options. */
static void set_list(void *place, const void *items, size_t count) {
    memcpy(place, &items, sizeof items);
    memcpy((char *)place + sizeof items, &count, sizeof count);
}

static enum gputime_status set_ranges(struct cli_options *options, void *place, const char *value, const char *where,
                                      struct gputime_error *err) {
    struct gputime_error why;
    size_t count;
    if (gputime_ranges_parse(value, NULL, 0, &count, &why))
        return pass_error(&why, where, err);
    struct gputime_range *ranges = cli_options_keep(options, count * sizeof *ranges);
    if (!ranges)
        return cli_fail_memory(err);
    gputime_ranges_parse(value, ranges, count, &count, NULL);
    set_list(place, ranges, count);
    return GPUTIME_OK;
}

/* Splits the text at commas and trims blanks; keys has room for all. */
static size_t split_keys(char *text, const char **keys) {
    size_t count = 0;
    for (char *rest = text, *key; (key = strsep(&rest, ","));) {
        key += strspn(key, " ");
        size_t bytes = strlen(key);
        while (bytes && key[bytes - 1] == ' ')
            key[--bytes] = '\0';
        keys[count++] = key;
    }
    return count;
}

static size_t count_keys(const char *value) {
    size_t count = 1;
    for (const char *c = value; *c; c++)
        count += *c == ',';
    return count;
}

static enum gputime_status set_keys(struct cli_options *options, void *place, const char *value,
                                    struct gputime_error *err) {
    const char **keys = cli_options_keep(options, count_keys(value) * sizeof *keys);
    char *text = keep_text(options, value);
    if (!keys || !text)
        return cli_fail_memory(err);
    set_list(place, keys, split_keys(text, keys));
    return GPUTIME_OK;
}

static enum gputime_status set_two_texts(struct cli_options *options, const char **places, const char *value,
                                         const char *where, struct gputime_error *err) {
    char *text = keep_text(options, value);
    const char *names[2];
    if (!text)
        return cli_fail_memory(err);
    bool are_two = count_keys(text) == 2;
    if (are_two)
        split_keys(text, names);
    if (!are_two || !*names[0] || !*names[1] || strcmp(names[0], names[1]) == 0)
        return cli_fail_usage(err, "%s: '%s' does not name two sides; use for example main,PR", where, value);
    memcpy(places, names, sizeof names);
    return GPUTIME_OK;
}

/* ---- choices and texts ---- */

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
    return cli_fail_usage(err, "%s cannot be '%s'; use one of %s", where, value, list);
}

static enum gputime_status add_text(struct cli_texts *texts, const char *value, const char *where,
                                    struct gputime_error *err) {
    if (texts->count == CLI_TEXTS_MAX)
        return cli_fail_usage(err, "%s can be given at most %d times", where, CLI_TEXTS_MAX);
    texts->items[texts->count++] = value;
    return GPUTIME_OK;
}

static enum gputime_status add_line(struct cli_options *options, const char **place, const char *prefix,
                                    const char *value, struct gputime_error *err) {
    const char *before = *place ? *place : "";
    size_t bytes = strlen(before) + strlen(prefix) + strlen(value) + sizeof "\n";
    char *text = cli_options_keep(options, bytes);
    if (!text)
        return cli_fail_memory(err);
    snprintf(text, bytes, "%s%s%s%s", before, *before ? "\n" : "", prefix, value);
    *place = text;
    return GPUTIME_OK;
}

enum gputime_status cli_option_set(struct cli_options *options, const struct cli_option *option, const char *value,
                                   const char *where, struct gputime_error *err) {
    char choice_text[256];
    const char *choices = cli_option_choices(option, choice_text, sizeof choice_text);
    void *place = (char *)options + option->offset;

    if (cli_option_takes_value(option) && (!value || !*value))
        return cli_fail_usage(err, "%s needs a value: %s", where,
                              cli_option_argument(option, choice_text, sizeof choice_text));
    bool is_export = option->type == CLI_FORMAT && gputime_registry_find(GPUTIME_EXPORTS, value).key;
    if (choices && cli_choice_index(choices, value) < 0 && !is_export) /* the command says whether it takes exports */
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
        return set_decimal(place, option, value, where, err);
    case CLI_MICROSECONDS:
        return set_microseconds(place, value, where, err);
    case CLI_PERCENT:
        return set_percent(place, value, where, err);
    case CLI_DURATION:
        return set_duration(place, value, where, err);
    case CLI_TIME:
        return set_time(place, value, where, err);
    case CLI_RANGES:
        return set_ranges(options, place, value, where, err);
    case CLI_KEYS:
        return set_keys(options, place, value, err);
    case CLI_TWO_TEXTS:
        return set_two_texts(options, place, value, where, err);
    case CLI_CHOICE:
        *(int *)place = (int)option->min + cli_choice_index(choices, value);
        return GPUTIME_OK;
    case CLI_MOMENT:
        if (!cli_moment_is_valid(value))
            return cli_fail_usage(err, "%s cannot be '%s'; use a time such as 2026-01-31T09:30:00Z, or a date", where,
                                  value);
        *(const char **)place = value;
        return GPUTIME_OK;
    case CLI_TEXT:
    case CLI_FORMAT:
        *(const char **)place = value;
        return GPUTIME_OK;
    case CLI_TEXTS:
        return add_text(place, value, where, err);
    case CLI_LINE:
        return add_line(options, place, option->choices, value, err);
    case CLI_WORD:
        break;
    case CLI_PLACE: /* only valid on the command line */
        return cli_fail_usage(err, "%s is only valid on the command line", where);
    }
    return GPUTIME_OK;
}

/* ---- options of analyses ---- */

/* One of "a|b", kept with the options; NULL: out of memory. */
static const char *choice_text(struct cli_options *options, const char *choices, int index) {
    for (; index > 0; index--)
        choices += strcspn(choices, "|") + 1;
    size_t bytes = strcspn(choices, "|");
    char *text = cli_options_keep(options, bytes + 1);
    return text ? memcpy(text, choices, bytes) : NULL;
}

bool cli_option_gather(struct cli_options *options, const struct cli_option *option) {
    struct gputime_option_info info = cli_option_analysing(option);
    struct gputime_option value = {.key = option->analysing, .type = info.automatic.type};
    const void *place = (const char *)options + option->offset;
    assert(info.automatic.key && options->analysing_count < CLI_ANALYSIS_OPTIONS);
    switch (value.type) {
    case GPUTIME_OPTION_FLAG:
        value.integer = *(const int *)place != option->is_negated;
        break;
    case GPUTIME_OPTION_INT:
        value.integer = *(const int64_t *)place;
        break;
    case GPUTIME_OPTION_REAL:
        value.real = *(const double *)place;
        break;
    case GPUTIME_OPTION_TEXT:
        value.text = *(const char *const *)place;
        break;
    case GPUTIME_OPTION_CHOICE:
        value.text = choice_text(options, info.choices, *(const int *)place);
        break;
    }
    options->analysing[options->analysing_count++] = value;
    return value.type != GPUTIME_OPTION_CHOICE || value.text;
}

/* ---- rules ---- */

enum gputime_status cli_rules_parse(struct cli_options *options, const char *text, struct cli_rules *rules,
                                    struct gputime_error *err) {
    struct stat info;
    char *kept = keep_text(options, text), *comma = strrchr(text, ',') ? kept : NULL;
    *rules = (struct cli_rules){0};
    if (!kept)
        return cli_fail_memory(err);
    if (!comma || stat(text, &info) == 0) {
        rules->path = kept;
        return GPUTIME_OK;
    }
    comma = strrchr(kept, ',');
    *comma = '\0';
    rules->model = comma + 1;
    comma = strrchr(kept, ',');
    if (comma) {
        *comma = '\0';
        rules->path = kept;
    }
    rules->engine = comma ? comma + 1 : kept;
    if (!*rules->engine || !*rules->model || (rules->path && !*rules->path))
        return cli_fail_usage(err, "invalid --rules '%s'; use FILE, FILE,ENGINE,MODEL or ENGINE,MODEL", text);
    return GPUTIME_OK;
}
