/* gputime-mpi: the program in several processes. Process 0 is the program; the others read traces for it. */
#include <stdlib.h>

#include "../cli/program.h"
#include "transport.h"

struct program {
    int argc;
    char **argv;
    const struct gputime_team *team;
    int status;
};

static void run(void *context) {
    struct program *program = context;
    if (program->team->process) {
        cli_program_serve(program->argc, program->argv, program->team);
        return;
    }
    program->status = cli_program_run(program->argc, program->argv, program->team);
    gputime_team_end(program->team);
}

int main(int argc, char **argv) {
    struct program program = {.team = mpi_transport_begin(&argc, &argv)};
    setenv("TERM", "dumb", 1); /* Open MPI makes output look like a terminal, also where it goes to a file */
    program.argc = argc;
    program.argv = argv;
    mpi_transport_run(run, &program);
    mpi_transport_end();
    return program.status;
}
