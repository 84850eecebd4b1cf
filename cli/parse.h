/* Parses arguments into struct cli_options and the remaining words; then applies the environment and the configuration
 * file, once the command is known. */
#ifndef CLI_PARSE_H
#define CLI_PARSE_H

#include <stdbool.h>

#include "commands.h"

struct cli_arguments {
    struct cli_options options;
    bool given[CLI_MAX_OPTIONS];         /* on the command line, by row of the table */
    const char *values[CLI_MAX_OPTIONS]; /* the last value of each; NULL: none */
    bool is_set[CLI_MAX_OPTIONS];        /* on the command line or by a setting */
    const char **words;                  /* arguments that are not options, in order */
    size_t word_count;
    size_t plain_words; /* those before "--": only they can name a command */
    char *config_text;  /* values of the options may point into it */
};

/* The command line alone. Release also after a failure. */
enum gputime_status cli_arguments_parse(struct cli_arguments *arguments, int argc, char **argv,
                                        struct gputime_error *err);
void cli_arguments_release(struct cli_arguments *arguments);

/* For an option that does not exist; says which one is nearest. */
enum gputime_status cli_arguments_fail_unknown(const char *name, size_t bytes, struct gputime_error *err);

/* Help, version and the generated files: they need no settings and no trace. */
bool cli_options_ask_about(const struct cli_options *options);

/* settings.c: the environment and the configuration file, in this order of precedence and after the command line. */
enum gputime_status cli_settings_read(struct cli_arguments *arguments, const struct cli_command *command,
                                      struct gputime_error *err);

#endif
