/* A team of threads: one call runs a task on several threads and waits for all of them. What its tasks deal in turn
   goes to the same threads. */
#ifndef GT_BASE_THREADS_H
#define GT_BASE_THREADS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GT_THREADS_MOST = 64 };

/* How many to use: the asked number where it is above 0, else GPUTIME_THREADS, else the CPUs this process may run on; 1
 * .. GT_THREADS_MOST. */
size_t gt_threads_count(int64_t asked);

/* Calls task(context, index) for index 0 .. count - 1, index 0 on the calling thread. Threads that cannot be
   started have their share run by the caller, so every index runs exactly once. */
void gt_threads_run(size_t count, void (*task)(void *context, size_t index), void *context);

/* The same with another number of threads than indices: each takes the lowest that nobody has taken. Where a task calls
   this in turn, those that have no index of their own any more take part, and no more threads are started than the
   outermost call may have: all have work to the end however unequal the tasks are, except for a caller that waits for
   its own last indices. */
void gt_threads_deal(size_t thread_count, size_t count, void (*task)(void *context, size_t index), void *context);

/* The same for parts of one piece of work: tasks that enter no gate (below). What they deal in turn are parts, too.
   Threads that wait at a gate take part in them, so that they are to be short. */
void gt_threads_parts(size_t thread_count, size_t count, void (*task)(void *context, size_t index), void *context);

/* Calls the task. Threads that are started for what it deals, one call after the other, stay until it returns: starting
   them anew for each would take longer than some of these calls. */
void gt_threads_together(size_t thread_count, void (*task)(void *context), void *context);

/* How many of so many threads are the caller's own: all of them, or in a task those that the other tasks of the
   outermost call leave. For callers that start their own threads; 1 or more. */
size_t gt_threads_own(size_t thread_count);

/* Into how many slices to cut rows for so many threads: fewer where there are few rows, or where what each slice keeps
   for itself (own_items) is not small next to them. Slice i holds the rows from gt_threads_slice_begin(i) to that of i
   + 1. */
size_t gt_threads_slices(size_t thread_count, size_t rows, size_t own_items);
static inline size_t gt_threads_slice_begin(size_t rows, size_t slices, size_t index) {
    size_t rest = rows % slices;
    return rows / slices * index + (index < rest ? index : rest);
}

/* In how many turns to go through rows that lie in several runs, each of which refers to places all over the same
   columns: so that one thread looks at the same places for all runs while they are in the cache. Turn t of a run has
   its rows from gt_threads_slice_begin(t) to that of t + 1. */
size_t gt_threads_turns(size_t rows);

/* Calls task(context, slice, begin, end) for every such slice of the rows, on as many threads as there are slices.
   Slices are parts. */
void gt_threads_rows(size_t slices, size_t rows, void (*task)(void *context, size_t slice, size_t begin, size_t end),
                     void *context);

/* What one thread makes while others want it: a lock whose holder may deal work that those who wait for it take part
   in. A thread that waits may itself hold other gates, so it takes up nothing but parts, which wait for no gate. */
struct gt_threads_gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    _Atomic(void *) team; /* of the thread that holds it */
    atomic_bool is_held;
};
void gt_threads_gate_init(struct gt_threads_gate *gate);
void gt_threads_gate_release(struct gt_threads_gate *gate);
void gt_threads_gate_enter(struct gt_threads_gate *gate);
void gt_threads_gate_leave(struct gt_threads_gate *gate);

/* Deals jobs 0 .. count - 1 to workers as they become free, to each in ascending order. A part at the beginning is all
   for worker 0: what it makes of those jobs can stay where it is when the results are put in order. */
struct gt_deal {
    size_t front_count, count;
    atomic_size_t front_taken, rest_taken;
};
void gt_threads_deal_init(struct gt_deal *deal, size_t count, size_t workers);
bool gt_threads_deal_take(struct gt_deal *deal, size_t worker, size_t *job); /* false: none left */
size_t gt_threads_deal_taken(struct gt_deal *deal);

#endif
