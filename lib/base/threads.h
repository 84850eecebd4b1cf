/* A small pool: one call runs a task on several threads and waits for all of them. */
#ifndef GT_BASE_THREADS_H
#define GT_BASE_THREADS_H

#include <stddef.h>

/* How many to use: the asked number, else GPUTIME_THREADS, else the CPUs this process may run on; 1 .. 64. */
size_t gt_threads_count(size_t asked);

/* Calls task(context, index) for index 0 .. count - 1, index 0 on the calling thread. Threads that cannot be
   started have their share run by the caller, so every index runs exactly once. */
void gt_threads_run(size_t count, void (*task)(void *context, size_t index), void *context);

#endif
