/* The program as a function, for those that start it in another way than the shell. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include "gputime.h"

/* Its exit status. team: other processes that help with jobs; NULL: none. */
int cli_program_run(int argc, char **argv, const struct gputime_team *team);

/* One of the others, with the same command line: prints nothing. */
void cli_program_serve(int argc, char **argv, const struct gputime_team *team);

#endif
