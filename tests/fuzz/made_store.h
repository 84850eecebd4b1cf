/* A store made from bytes: what a decoder could have filled a builder with, without the cost of a file. */
#ifndef TESTS_FUZZ_MADE_STORE_H
#define TESTS_FUZZ_MADE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events/store.h"

/* The rows of the bytes in several builders, dealt in chunks; the store does not depend on how many there are. NULL:
   there was no memory. */
struct gt_store *fuzz_made_store(const uint8_t *data, size_t size, size_t builder_count);

#endif
