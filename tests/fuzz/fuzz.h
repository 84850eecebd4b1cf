/* What fuzz targets and those who drive them have in common; the names are libFuzzer's. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A target: any bytes must pass. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* mutator.c: changes an input in place; gives its new size. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* The driver's own mutation of plain bytes, which knows nothing of their meaning. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#endif
