/* CRC-32: bytes come in, a checksum goes out. Checksums are polynomials over two elements, modulo that of the format:
   bytes that follow multiply by a power of x. */
#include "base/crc.h"

#ifdef GT_HAVE_ISAL
#include <isa-l/crc.h>
#else
#include <zlib.h>
#endif

uint32_t gt_crc_of(const void *bytes, size_t size) {
    return gt_crc_more(0, bytes, size);
}

uint32_t gt_crc_more(uint32_t crc, const void *bytes, size_t size) {
    enum { MOST = 1 << 30 }; /* what one call of zlib takes */
    const unsigned char *next = bytes;
    while (size > 0) {
        size_t piece = size < MOST ? size : MOST;
#ifdef GT_HAVE_ISAL
        crc = crc32_gzip_refl(crc, next, piece);
#else
        crc = (uint32_t)crc32(crc, next, (unsigned)piece);
#endif
        next += piece;
        size -= piece;
    }
    return crc;
}

/* The highest power of x is the lowest bit. */
static const uint32_t ONE = UINT32_C(1) << 31, MODULUS = UINT32_C(0xedb88320);

static uint32_t times_x(uint32_t a) {
    return a >> 1 ^ (a & 1 ? MODULUS : 0);
}

static uint32_t product(uint32_t a, uint32_t b) {
    uint32_t sum = 0;
    for (uint32_t bit = ONE; bit; bit >>= 1, b = times_x(b))
        if (a & bit)
            sum ^= b;
    return sum;
}

uint32_t gt_crc_joined(uint32_t first, uint32_t second, uint64_t second_size) {
    /* x to the power of 8, squared as often as it takes. */
    uint32_t power = ONE, square = ONE >> 8;
    for (; second_size > 0; second_size >>= 1, square = product(square, square))
        if (second_size & 1)
            power = product(power, square);
    return product(power, first) ^ second;
}
