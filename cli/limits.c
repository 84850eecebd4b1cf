/* Collects limits from options and files, with the place of each, and prints their verdicts. */
#include "limits.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "request.h"
#include "terminal.h"

enum { LARGEST_FILE = 1 << 20 };

/* ---- collecting ---- */

static enum gputime_status read_text(FILE *file, const char *path, char **text, struct gputime_error *err) {
    *text = malloc(LARGEST_FILE + 1);
    if (!*text)
        return cli_fail_memory(err);
    size_t bytes = fread(*text, 1, LARGEST_FILE + 1, file);
    if (ferror(file))
        return cli_fail_system(err, errno, "cannot read '%s'", path);
    if (bytes > LARGEST_FILE)
        return cli_fail(err, "cannot read '%s': not a file of limits (larger than 1 MB)", path);
    (*text)[bytes] = '\0';
    return strlen(*text) == bytes ? GPUTIME_OK : cli_fail(err, "cannot read '%s': not a file of limits (binary)", path);
}

static enum gputime_status read_file(const char *path, char **text, struct gputime_error *err) {
    if (strcmp(path, "-") == 0)
        return read_text(stdin, path, text, err);
    FILE *file = fopen(path, "re");
    if (!file)
        return cli_fail_system(err, errno, "cannot read '%s'", path);
    enum gputime_status status = read_text(file, path, text, err);
    fclose(file);
    return status;
}

static bool add_limit(struct cli_limits *limits, struct cli_limit limit) {
    if (limits->count == limits->capacity) {
        size_t capacity = limits->capacity ? 2 * limits->capacity : 16;
        struct cli_limit *items = realloc(limits->items, capacity * sizeof *items);
        if (!items)
            return false;
        limits->items = items;
        limits->capacity = capacity;
    }
    limits->items[limits->count++] = limit;
    return true;
}

/* Names may contain '#', so a comment starts at the line start or after white space. */
static void drop_comment(char *line) {
    for (char *c = line; *c; c++)
        if (*c == '#' && (c == line || isspace((unsigned char)c[-1]))) {
            *c = '\0';
            return;
        }
}

/* Splits the text into lines, skipping comments and empty lines. */
static enum gputime_status add_lines(struct cli_limits *limits, char *text, const char *path,
                                     struct gputime_error *err) {
    static const char mark[] = "\xEF\xBB\xBF"; /* UTF-8 byte order mark, which some editors write */
    size_t before = limits->count, number = 1;
    bool is_marked = strncmp(text, mark, strlen(mark)) == 0;
    for (char *line = is_marked ? text + strlen(mark) : text, *next; line; line = next, number++) {
        char *end = strchr(line, '\n');
        next = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
        drop_comment(line);
        line += strspn(line, " \t\r");
        if (*line && !add_limit(limits, (struct cli_limit){line, path, number}))
            return cli_fail_memory(err);
    }
    return limits->count > before ? GPUTIME_OK : cli_fail_usage(err, "'%s' has no limits", path);
}

enum gputime_status cli_limits_init(struct cli_limits *limits, const struct cli_command *command,
                                    const struct cli_options *options, struct cli_words traces,
                                    struct gputime_error *err) {
    const struct cli_texts *values = command->action == CLI_ACTION_DIFF ? &options->fail_if : &options->limits;
    enum gputime_status status = GPUTIME_OK;
    size_t pipes = 0;
    *limits = (struct cli_limits){0};
    for (size_t i = 0; i < traces.count; i++)
        pipes += strcmp(traces.items[i], "-") == 0;
    for (size_t i = 0; i < values->count; i++)
        if (!add_limit(limits, (struct cli_limit){values->items[i], NULL, 0}))
            return cli_fail_memory(err);
    for (size_t i = 0; i < options->limit_files.count && !status; i++) {
        const char *path = options->limit_files.items[i];
        pipes += strcmp(path, "-") == 0;
        if (pipes > 1)
            return cli_fail_usage(err, "standard input ('-') can be read only once");
        status = read_file(path, &limits->files[i], err);
        if (!status)
            status = add_lines(limits, limits->files[i], path, err);
    }
    if (!status && command->action == CLI_ACTION_CHECK && !limits->count)
        return cli_fail_usage(err, "'%s' needs a limit: --limit 'idle<20%%', or --limits FILE", command->name);
    return status;
}

bool cli_limits_have_kind(const struct cli_limits *limits, const char *kind) {
    static const char each[] = "each";
    size_t bytes = strlen(kind);
    for (size_t i = 0; i < limits->count; i++) {
        const char *text = limits->items[i].text + strspn(limits->items[i].text, " \t");
        if (strncmp(text, each, strlen(each)) == 0 && isspace((unsigned char)text[strlen(each)]))
            text += strlen(each) + strspn(text + strlen(each), " \t");
        if (strncmp(text, kind, bytes) == 0 && text[bytes] == ':')
            return true;
    }
    return false;
}

void cli_limits_release(struct cli_limits *limits) {
    for (size_t i = 0; i < CLI_TEXTS_MAX; i++)
        free(limits->files[i]);
    free(limits->items);
    *limits = (struct cli_limits){0};
}

/* ---- verdicts ---- */

/* A row of the table of limits. */
struct verdict {
    struct gputime_cell limit, verdict, detail, worst;
};

static struct gputime_cell cell_of(const struct gputime_table *table, size_t row, const char *key) {
    return gputime_table_cell(table, row, gputime_table_find_column(table, key));
}

static bool is_text(struct gputime_cell cell, const char *text) {
    return cell.type == GPUTIME_CELL_TEXT && cell.text_bytes == strlen(text) &&
           memcmp(cell.text, text, cell.text_bytes) == 0;
}

static void count_verdicts(const struct gputime_report *report, struct cli_verdicts *verdicts) {
    *verdicts = (struct cli_verdicts){0};
    for (size_t s = 0; s < gputime_report_section_count(report); s++) {
        const struct gputime_table *table = gputime_report_table(report, s, CLI_TABLE_LIMITS);
        for (size_t row = 0; row < gputime_table_row_count(table); row++) {
            struct gputime_cell verdict = cell_of(table, row, "verdict");
            verdicts->count++;
            verdicts->broken += is_text(verdict, "broken");
            verdicts->noise += is_text(verdict, "noise");
        }
    }
}

enum gputime_status cli_limits_judge(const struct cli_limits *limits, struct gputime_report *report,
                                     struct cli_verdicts *verdicts, struct gputime_error *err) {
    for (size_t i = 0; i < limits->count; i++) {
        const struct cli_limit *limit = &limits->items[i];
        struct gputime_error why = {.status = GPUTIME_OK};
        size_t broken;
        enum gputime_status status = gputime_report_check(report, &limit->text, 1, &broken, &why);
        if (status && !limit->file)
            *err = why;
        else if (status == GPUTIME_USAGE)
            return cli_fail_usage(err, "%s:%zu: %s", limit->file, limit->line, why.message);
        else if (status)
            return cli_fail(err, "%s:%zu: %s", limit->file, limit->line, why.message);
        if (status)
            return status;
    }
    count_verdicts(report, verdicts);
    return GPUTIME_OK;
}

static void print_verdict(const struct gputime_report *report, size_t section, const struct verdict *line,
                          bool names_trace) {
    char text[2048], quoted[4 * sizeof text];
    /* The row may have only the beginning of a name. */
    bool has_worst = line->worst.type == GPUTIME_CELL_TEXT &&
                     !memmem(line->detail.text, line->detail.text_bytes, line->worst.text, line->worst.text_bytes);
    snprintf(text, sizeof text, "%.*s%s%s: %.*s%s%.*s", (int)line->limit.text_bytes, line->limit.text,
             names_trace ? " in " : "", names_trace ? gputime_report_section_title(report, section) : "",
             (int)line->detail.text_bytes, line->detail.text, has_worst ? ": " : "",
             has_worst ? (int)line->worst.text_bytes : 0, has_worst ? line->worst.text : "");
    fprintf(stderr, "gputime: %s: %s\n", is_text(line->verdict, "broken") ? "broken" : "within the noise",
            cli_terminal_text(quoted, sizeof quoted, text));
}

void cli_limits_print(const struct gputime_report *report, const struct cli_verdicts *verdicts) {
    size_t sections = 0;
    for (size_t s = 0; s < gputime_report_section_count(report); s++)
        sections += gputime_report_table(report, s, CLI_TABLE_LIMITS) != NULL;
    for (size_t s = 0; s < gputime_report_section_count(report); s++) {
        const struct gputime_table *table = gputime_report_table(report, s, CLI_TABLE_LIMITS);
        for (size_t row = 0; row < gputime_table_row_count(table); row++) {
            struct verdict line = {cell_of(table, row, "limit"), cell_of(table, row, "verdict"),
                                   cell_of(table, row, "detail"), cell_of(table, row, "worst")};
            if (is_text(line.verdict, "broken") || is_text(line.verdict, "noise"))
                print_verdict(report, s, &line, sections > 1);
        }
    }
    if (verdicts->noise)
        fprintf(stderr, "gputime: %zu of %zu limits %s exceeded within the noise and not broken\n", verdicts->noise,
                verdicts->count, verdicts->noise == 1 ? "is" : "are");
}
