/* The program as a function, for those that start it in another way than the shell. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include "gputime.h"
#include "options.h"

/* Its exit status. team: other processes that help with jobs; NULL: none. */
int cli_program_run(int argc, char **argv, const struct gputime_team *team);

/* Runs a command line, without the program's name for itself, inside of a host. What it prints goes to standard output.
 */
struct cli_host;
enum gputime_status cli_program_call(int argc, char **argv, const struct cli_host *host, struct gputime_error *err);

/* For an option that the command does not take; says which ones do. */
struct cli_command;
enum gputime_status cli_program_fail_option(const struct cli_command *command, const struct cli_option *option,
                                            struct gputime_error *err);

/* One of the others, with the same command line: prints nothing. */
void cli_program_serve(int argc, char **argv, const struct gputime_team *team);

#endif
