/* Encodings of Parquet's data pages: values in, bytes out. The output has room for the most that the input can need. */
#ifndef GT_COLUMNS_PARQUET_ENCODE_H
#define GT_COLUMNS_PARQUET_ENCODE_H

#include <stddef.h>
#include <stdint.h>

/* DELTA_BINARY_PACKED: differences of whole numbers, in blocks with as many bits as these need. Differences wrap, so
   that numbers with and without a sign are the same. */
size_t gt_parquet_encode_delta_room(size_t count);
size_t gt_parquet_encode_delta(const uint64_t *values, size_t count, uint8_t *out);

/* RLE and bit packing mixed: numbers below 2^bits, runs of equal ones as one. */
size_t gt_parquet_encode_hybrid_room(size_t count, unsigned bits);
size_t gt_parquet_encode_hybrid(const uint32_t *values, size_t count, unsigned bits, uint8_t *out);

/* The same of one number, count times. */
size_t gt_parquet_encode_run(uint32_t value, size_t count, unsigned bits, uint8_t *out);

/* How many bits numbers up to this one need; 0 for 0. */
unsigned gt_parquet_encode_bits(uint64_t largest);

#endif
