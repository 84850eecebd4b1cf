/* Help, manual page and shell completions, from the option and command tables. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "commands.h"

void cli_help_short(FILE *out);
void cli_help_program(FILE *out);
void cli_help_command(FILE *out, const struct cli_command *command);

/* All commands, or this one, with their options and tables as JSON. */
void cli_help_json(FILE *out, const struct cli_command *command);

void cli_man_print(FILE *out);
void cli_completion_print(FILE *out, enum cli_shell shell);

#endif
