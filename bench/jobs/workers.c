/* Does numbered pieces of work on several threads; which thread does which makes no difference. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "job.h"

struct shared {
    atomic_uint next;
    uint32_t count;
    work *run;
    void *context;
};

static void *take(void *argument) {
    struct shared *shared = argument;
    for (uint32_t i; (i = atomic_fetch_add(&shared->next, 1)) < shared->count;)
        shared->run(shared->context, i);
    return NULL;
}

void workers_run(uint32_t threads, uint32_t count, work *run, void *context) {
    struct shared shared = {.count = count, .run = run, .context = context};
    pthread_t *others = draw_memory(threads, sizeof *others);
    uint32_t started = 0;
    while (started + 1 < threads && pthread_create(&others[started], NULL, take, &shared) == 0)
        started++;
    take(&shared);
    while (started > 0)
        pthread_join(others[--started], NULL);
    free(others);
}
