/* Mutations that keep to a format: each changes one thing in place and gives the new size; 0: the bytes are not of this
   format, or what was chosen did not fit. */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include "fuzz.h"

size_t fuzz_mutate_json(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t fuzz_mutate_csv(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t fuzz_mutate_proto(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t fuzz_mutate_sqlite(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* Chance from a seed: each call gives other bits. */
static inline uint32_t fuzz_chance(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

#endif
