/* Repeatable random numbers for tests: the same seed gives the same run on every machine. */
#ifndef TESTS_UNIT_RANDOM_H
#define TESTS_UNIT_RANDOM_H

#include <stdint.h>

static inline uint64_t random_u64(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t random_below(uint64_t *state, uint64_t limit) {
    return random_u64(state) % limit;
}

/* From first to last, both possible. The width must fit 64 bits. */
static inline int64_t random_between(uint64_t *state, int64_t first, int64_t last) {
    return (int64_t)((uint64_t)first + random_below(state, (uint64_t)last - (uint64_t)first + 1));
}

#endif
