/* A team of processes that is connected by MPI. The thread that begins it makes all calls of MPI; the work is done by
   another one. So every process answers the others while it works, and one that does not answer any more is noticed. */
#ifndef MPI_TRANSPORT_H
#define MPI_TRANSPORT_H

#include "gputime.h"

/* Starts MPI. Ends the program where that fails or takes too long. */
const struct gputime_team *mpi_transport_begin(int *argc, char ***argv);

/* Runs the work on another thread, moves what it sends and receives, and returns when it is done. */
void mpi_transport_run(void (*work)(void *context), void *context);

/* When all processes are done. */
void mpi_transport_end(void);

#endif
