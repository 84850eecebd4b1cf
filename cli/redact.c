/* The command "redact": writes a copy of an export that is safe to share, and prints one line about it. */
#include <stdio.h>

#include "actions.h"
#include "error.h"
#include "terminal.h"

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

/* "12 tables" */
static void print_count(const char *before, uint64_t count, const char *what) {
    printf("%s%llu %s%s", before, (unsigned long long)count, what, plural(count));
}

enum gputime_status cli_redact_run(const struct cli_command *command, const struct cli_options *options,
                                   struct cli_words words, struct gputime_error *err) {
    struct gputime_redaction done;
    char name[4096];
    if (words.count != 1)
        return cli_fail_usage(err, "'%s' takes one file, not %zu; usage: gputime %s %s", command->name, words.count,
                              command->name, command->usage);
    if (!options->output)
        return cli_fail_usage(err, "'%s' needs an output file; usage: gputime %s %s", command->name, command->name,
                              command->usage);
    if (options->names == CLI_NAMES_SHORT)
        return cli_fail_usage(err, "--names can be full or hash with 'redact', not short");
    enum gputime_status status =
        gputime_redact(words.items[0], options->output, options->names == CLI_NAMES_HASH, &done, err);
    if (status || options->quiet)
        return status;
    printf("wrote %s: ", cli_terminal_text(name, sizeof name, options->output));
    print_count("kept ", done.kept_tables, "table");
    print_count(", ", done.kept_rows, "row");
    print_count(" and ", done.kept_strings, "string");
    print_count("; left out ", done.left_tables, "table");
    print_count(", ", done.left_columns, "column");
    print_count(" and ", done.left_rows, "row");
    if (done.hidden_names)
        print_count("; hid ", done.hidden_names, "name");
    putchar('\n');
    return GPUTIME_OK;
}
