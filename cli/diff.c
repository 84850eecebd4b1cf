/* Splits the words of the command line into the two sides of a comparison. */
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "error.h"
#include "request.h"

static const char usage[] = "diff needs two traces, or the captures of each side: --a A1 A2 --b B1 B2";

/* Copies the words from `first` to `end`. */
static size_t copy_words(const char **to, struct cli_words words, size_t first, size_t end) {
    for (size_t i = first; i < end; i++)
        *to++ = words.items[i];
    return end - first;
}

/* The words of A, then those of B; *split is the first word of B. Places include the command's own word. */
static enum gputime_status order_words(const struct cli_options *options, struct cli_words words, const char **ordered,
                                       size_t *split, struct gputime_error *err) {
    size_t a = options->a_words ? (size_t)options->a_words - 2 : 0;
    size_t b = options->b_words ? (size_t)options->b_words - 2 : 0;
    if (!options->a_words && !options->b_words) {
        *split = words.count == 2 ? copy_words(ordered, words, 0, 2) - 1 : copy_words(ordered, words, 0, words.count);
        return words.count >= 2 ? GPUTIME_OK : cli_fail_usage(err, "%s", usage);
    }
    bool has_both = options->a_words > 1 && options->b_words > 1 && (a < b ? a : b) == 0;
    size_t a_end = a < b ? b : words.count, b_end = a < b ? words.count : a;
    if (!has_both || a == a_end || b == b_end)
        return cli_fail_usage(err, "%s", usage);
    *split = copy_words(ordered, words, a, a_end);
    copy_words(ordered + *split, words, b, b_end);
    return GPUTIME_OK;
}

/* --of names a table, or an analysis, which means its first table; --table does the same here. */
static enum gputime_status choose_table(struct cli_options *options, char first[CLI_TABLE_KEY_MAX],
                                        struct gputime_error *err) {
    if (!options->of)
        return GPUTIME_OK;
    options->writing.table = options->of;
    if (cli_table_analysis(options->of).key || strcmp(options->of, CLI_TABLE_LIMITS) == 0)
        return GPUTIME_OK;
    for (size_t i = 0; i < gputime_registry_count(GPUTIME_ANALYSES); i++) {
        struct gputime_entry analysis = gputime_registry_entry(GPUTIME_ANALYSES, i);
        size_t bytes = strcspn(analysis.detail, ",");
        if (strcmp(analysis.key, options->of) != 0 || !bytes || bytes >= CLI_TABLE_KEY_MAX)
            continue;
        memcpy(first, analysis.detail, bytes);
        first[bytes] = '\0';
        options->writing.table = first;
        return GPUTIME_OK;
    }
    return cli_fail_usage(err, "no table '%s' to compare; see 'gputime list analyses'", options->of);
}

enum gputime_status cli_diff_run(const struct cli_command *command, const struct cli_options *options,
                                 struct cli_words words, struct gputime_error *err) {
    struct cli_options chosen = *options;
    char first[CLI_TABLE_KEY_MAX];
    size_t split = 0;
    const char **ordered = calloc(words.count + 1, sizeof *ordered);
    if (!ordered)
        return cli_fail_memory(err);
    enum gputime_status status = order_words(options, words, ordered, &split, err);
    if (!status)
        status = choose_table(&chosen, first, err);
    if (!status)
        status = cli_report_run_sides(command, &chosen, (struct cli_words){ordered, words.count}, split, err);
    free(ordered);
    return status;
}
