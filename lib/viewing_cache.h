/* Answers that took long, by their question, and the gate that lets few questions take long at the same time. */
#ifndef GT_VIEWING_CACHE_H
#define GT_VIEWING_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { GT_VIEWING_CACHE_ANSWERS = 64, GT_VIEWING_CACHE_BYTES = 64 << 20 };

struct gt_viewing_cached {
    char *question;
    struct gt_str answer;
    uint64_t used; /* number of the question that used it last */
};

struct gt_viewing_cache {
    pthread_mutex_t lock;
    pthread_cond_t free_place;
    struct gt_viewing_cached answers[GT_VIEWING_CACHE_ANSWERS];
    size_t count, bytes;
    uint64_t clock;
    unsigned running, waiting;
};

void gt_viewing_cache_init(struct gt_viewing_cache *cache);
void gt_viewing_cache_release(struct gt_viewing_cache *cache);

/* A copy of the answer, to be freed with gt_mem_free; NULL: it is not there, or memory is short. */
char *gt_viewing_cache_find(struct gt_viewing_cache *cache, struct gt_str question, size_t *bytes);

/* Keeps a copy unless it is too large or memory is short; those that were not used for longest make room. */
void gt_viewing_cache_add(struct gt_viewing_cache *cache, struct gt_str question, struct gt_str answer);

/* Who waits for an answer; is_gone NULL: always somebody. */
struct gt_viewing_cache_asker {
    int (*is_gone)(void *context);
    void *context;
};

/* Waits until there is a place. false: too many wait already, or nobody waits for the answer any more. */
bool gt_viewing_cache_enter(struct gt_viewing_cache *cache, const struct gt_viewing_cache_asker *asker);
void gt_viewing_cache_leave(struct gt_viewing_cache *cache);

#endif
