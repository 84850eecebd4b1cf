/* The actions of commands. Each returns a status; results go to standard output, errors to *err. */
#ifndef CLI_ACTIONS_H
#define CLI_ACTIONS_H

#include "commands.h"
#include "parse.h"

/* The words that follow the command. */
struct cli_words {
    const char *const *items;
    size_t count;
};

enum gputime_status cli_report_run(const struct cli_command *command, const struct cli_options *options,
                                   struct cli_words traces, struct gputime_error *err);
/* The same for two sides: words from `split` on belong to the second. If there are none, there must be two captures. */
enum gputime_status cli_report_run_sides(const struct cli_command *command, const struct cli_options *options,
                                         struct cli_words traces, size_t split, struct gputime_error *err);
enum gputime_status cli_diff_run(const struct cli_command *command, const struct cli_options *options,
                                 struct cli_words traces, struct gputime_error *err);
enum gputime_status cli_redact_run(const struct cli_command *command, const struct cli_options *options,
                                   struct cli_words words, struct gputime_error *err);
enum gputime_status cli_export_run(const struct cli_command *command, const struct cli_options *options,
                                   struct cli_words words, struct gputime_error *err);
enum gputime_status cli_sql_run(const struct cli_command *command, const struct cli_options *options,
                                struct cli_words words, struct gputime_error *err);
enum gputime_status cli_view_run(const struct cli_command *command, const struct cli_options *options,
                                 struct cli_words words, struct gputime_error *err);
enum gputime_status cli_list_run(const struct cli_command *command, const struct cli_options *options,
                                 struct cli_words words, struct gputime_error *err);
enum gputime_status cli_define_run(const struct cli_command *command, struct cli_words words,
                                   struct gputime_error *err);
enum gputime_status cli_mcp_run(const struct cli_command *command, const struct cli_options *options,
                                struct cli_words words, struct gputime_error *err);
enum gputime_status cli_cache_run(const struct cli_command *command, struct cli_words words, struct gputime_error *err);

#endif
