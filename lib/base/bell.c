/* Waiting for other threads: first by looking at a counter, then asleep. */
#include "base/bell.h"

#include <stdint.h>
#include <time.h>

/* About what it takes to wake a thread on a virtual machine, and much less than threads take to be made anew. */
enum { LOOK_NS = 200 * 1000, LOOKS_PER_CLOCK = 64 };

void gt_bell_init(struct gt_bell *bell) {
    pthread_cond_init(&bell->rung, NULL); /* cannot fail without attributes */
    atomic_init(&bell->rings, 0);
    bell->sleeping = 0;
}

void gt_bell_release(struct gt_bell *bell) {
    pthread_cond_destroy(&bell->rung);
}

void gt_bell_ring(struct gt_bell *bell) {
    atomic_fetch_add(&bell->rings, 1);
    if (bell->sleeping > 0)
        pthread_cond_broadcast(&bell->rung);
}

/* Leaves the core to the thread that shares it, where two do. */
static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void look_for_ring(const struct gt_bell *bell, unsigned seen) {
    int64_t until_ns = now_ns() + LOOK_NS;
    do {
        for (int i = 0; i < LOOKS_PER_CLOCK; i++) {
            if (atomic_load_explicit(&bell->rings, memory_order_relaxed) != seen)
                return;
            pause_briefly();
        }
    } while (now_ns() < until_ns);
}

void gt_bell_wait(struct gt_bell *bell, pthread_mutex_t *lock, bool may_look) {
    unsigned seen = atomic_load(&bell->rings);
    if (may_look) {
        pthread_mutex_unlock(lock);
        look_for_ring(bell, seen);
        pthread_mutex_lock(lock);
    }
    if (atomic_load(&bell->rings) != seen)
        return;
    bell->sleeping++;
    pthread_cond_wait(&bell->rung, lock);
    bell->sleeping--;
}
