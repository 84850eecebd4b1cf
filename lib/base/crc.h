/* The checksum of gzip (CRC-32), also of parts that are computed apart from each other. */
#ifndef GT_BASE_CRC_H
#define GT_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Of some bytes; of none it is 0. */
uint32_t gt_crc_of(const void *bytes, size_t size);

/* Of bytes that follow those of a checksum, together with these. */
uint32_t gt_crc_more(uint32_t crc, const void *bytes, size_t size);

/* Of the bytes of two parts, the second of which has so many. */
uint32_t gt_crc_joined(uint32_t first, uint32_t second, uint64_t second_size);

#endif
