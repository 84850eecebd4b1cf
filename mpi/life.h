/* Whether the other processes are alive: signs of life, progress, and the end of all when one is gone. */
#ifndef MPI_LIFE_H
#define MPI_LIFE_H

#include <stdint.h>

/* Before MPI is started: ends the program if that takes too long. */
void mpi_life_expect_start(void);
void mpi_life_begin(uint32_t process, uint32_t processes);

/* Sends and takes signs of life when it is time; called often, by the thread of MPI. Ends the program when a process
   that it hears of does not answer any more, or has been reading for long without getting any further. */
void mpi_life_look(void);

/* No signs are sent any more; what follows is bounded by an alarm. */
void mpi_life_end(void);

/* Prints the error and ends all processes. */
void mpi_life_give_up(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Any thread. */
void mpi_life_set_progress(uint64_t done_bytes);
uint64_t mpi_life_progress_of(uint32_t process);
void mpi_life_set_reading(int is_reading);
const char *mpi_life_place_of(uint32_t process);

#endif
