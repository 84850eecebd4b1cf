/* gputime under the name of a program that it replaces: turns the command line of that program into one of gputime. */
#ifndef CLI_OLDNAME_H
#define CLI_OLDNAME_H

#include <stddef.h>

#include "gputime.h"

enum { CLI_OWN_RULES_MAX = 16 };

struct cli_command_line {
    char **words; /* as argv */
    int count;
    char *rules[CLI_OWN_RULES_MAX]; /* paths that some of the words are */
    size_t rule_count;
};

/* If argv[0] is the name of such a program, inserts the command that replaces it before the arguments; else the words
 * are those of argv. Release also after a failure. */
enum gputime_status cli_command_line_init(struct cli_command_line *line, int argc, char **argv,
                                          struct gputime_error *err);
void cli_command_line_release(struct cli_command_line *line);

#endif
