/* What threads under a lock wait for, and what tells them that it may have come. A thread that waits looks on for a
   moment before it sleeps: waking a sleeping one takes longer than many of the tasks that it would be woken for. */
#ifndef GT_BASE_BELL_H
#define GT_BASE_BELL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct gt_bell {
    pthread_cond_t rung;
    atomic_uint rings;
    size_t sleeping; /* threads, guarded by the lock */
};

void gt_bell_init(struct gt_bell *bell);
void gt_bell_release(struct gt_bell *bell);

/* Both with the lock held. Waiting lets go of it for as long as it takes; the next ring ends it, or nothing at all, so
   that callers ask again for what they wait for. `may_look`: there are CPUs for threads that only look. */
void gt_bell_ring(struct gt_bell *bell);
void gt_bell_wait(struct gt_bell *bell, pthread_mutex_t *lock, bool may_look);

#endif
