/* Arguments, environment and configuration file in; struct cli_options and the words that are no options out. */
#ifndef CLI_PARSE_H
#define CLI_PARSE_H

#include <stdbool.h>

#include "options.h"

struct cli_arguments {
    struct cli_options options;
    bool given[CLI_MAX_OPTIONS]; /* on the command line, by row of the table */
    const char **words;          /* what is no option, in order */
    size_t word_count;
    size_t plain_words; /* those before "--": only they can name a command */
    char *config_text;  /* values of the options may point into it */
};

/* Order of precedence: command line, environment, configuration file. Release also after a failure. */
enum gputime_status cli_arguments_parse(struct cli_arguments *arguments, int argc, char **argv,
                                        struct gputime_error *err);
void cli_arguments_release(struct cli_arguments *arguments);

/* Help, version and the generated files: they need no settings and no trace. */
bool cli_options_ask_about(const struct cli_options *options);

/* Sets one option; value is NULL for a flag without one. `where` names the place in messages: "option '--top'". */
enum gputime_status cli_option_set(struct cli_options *options, const struct cli_option *option, const char *value,
                                   const char *where, struct gputime_error *err);

/* config.c: sets every option the file names; no file is fine. *text is to be freed after the options' last use. */
enum gputime_status cli_config_read(struct cli_options *options, char **text, struct gputime_error *err);

#endif
