/* Keeps answers and counts who computes. All is under one lock, which is never held for longer than a copy. */
#include "viewing_cache.h"

#include <time.h>

#include "base/mem.h"

enum { MOST_RUNNING = 2, MOST_WAITING = 48, NS_BETWEEN_LOOKS = 250000000 };

void gt_viewing_cache_init(struct gt_viewing_cache *cache) {
    *cache = (struct gt_viewing_cache){.count = 0};
    pthread_mutex_init(&cache->lock, NULL); /* neither can fail without attributes */
    pthread_cond_init(&cache->free_place, NULL);
}

static void drop(struct gt_viewing_cache *cache, size_t index) {
    struct gt_viewing_cached *cached = &cache->answers[index];
    cache->bytes -= cached->answer.len;
    gt_mem_free(cached->question);
    gt_mem_free((char *)(uintptr_t)cached->answer.ptr);
    *cached = cache->answers[--cache->count];
}

void gt_viewing_cache_release(struct gt_viewing_cache *cache) {
    while (cache->count)
        drop(cache, cache->count - 1);
    pthread_cond_destroy(&cache->free_place);
    pthread_mutex_destroy(&cache->lock);
}

/* Under the lock; NULL: it is not there. */
static struct gt_viewing_cached *find(struct gt_viewing_cache *cache, struct gt_str question) {
    for (size_t i = 0; i < cache->count; i++)
        if (gt_str_eq(gt_str_of(cache->answers[i].question), question))
            return &cache->answers[i];
    return NULL;
}

static char *copy_of(struct gt_str text) {
    char *copy = gt_mem_alloc(text.len + 1);
    if (copy) {
        memcpy(copy, text.ptr, text.len);
        copy[text.len] = '\0';
    }
    return copy;
}

char *gt_viewing_cache_find(struct gt_viewing_cache *cache, struct gt_str question, size_t *bytes) {
    char *copy = NULL;
    pthread_mutex_lock(&cache->lock);
    struct gt_viewing_cached *cached = find(cache, question);
    if (cached) {
        cached->used = ++cache->clock;
        copy = copy_of(cached->answer);
        *bytes = cached->answer.len;
    }
    pthread_mutex_unlock(&cache->lock);
    return copy;
}

static size_t longest_unused(const struct gt_viewing_cache *cache) {
    size_t index = 0;
    for (size_t i = 1; i < cache->count; i++)
        if (cache->answers[i].used < cache->answers[index].used)
            index = i;
    return index;
}

void gt_viewing_cache_add(struct gt_viewing_cache *cache, struct gt_str question, struct gt_str answer) {
    if (answer.len > GT_VIEWING_CACHE_BYTES / 2)
        return;
    char *key = copy_of(question), *bytes = copy_of(answer);
    pthread_mutex_lock(&cache->lock);
    bool is_kept = key && bytes && !find(cache, question);
    while (is_kept && cache->count &&
           (cache->count == GT_VIEWING_CACHE_ANSWERS || cache->bytes + answer.len > GT_VIEWING_CACHE_BYTES))
        drop(cache, longest_unused(cache));
    if (is_kept) {
        cache->bytes += answer.len;
        cache->answers[cache->count++] = (struct gt_viewing_cached){key, {bytes, answer.len}, ++cache->clock};
    }
    pthread_mutex_unlock(&cache->lock);
    if (!is_kept) {
        gt_mem_free(key);
        gt_mem_free(bytes);
    }
}

/* Under the lock, which is free meanwhile: until there may be a place, or it is time to see who still waits. */
static void wait_a_while(struct gt_viewing_cache *cache) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += NS_BETWEEN_LOOKS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&cache->free_place, &cache->lock, &until);
}

bool gt_viewing_cache_enter(struct gt_viewing_cache *cache, const struct gt_viewing_cache_asker *asker) {
    pthread_mutex_lock(&cache->lock);
    bool is_wanted = cache->running < MOST_RUNNING || cache->waiting < MOST_WAITING;
    cache->waiting++;
    while (is_wanted && cache->running == MOST_RUNNING) {
        wait_a_while(cache);
        is_wanted = !asker->is_gone || !asker->is_gone(asker->context);
    }
    cache->waiting--;
    cache->running += is_wanted;
    pthread_mutex_unlock(&cache->lock);
    return is_wanted;
}

void gt_viewing_cache_leave(struct gt_viewing_cache *cache) {
    pthread_mutex_lock(&cache->lock);
    cache->running--;
    pthread_cond_signal(&cache->free_place);
    pthread_mutex_unlock(&cache->lock);
}
