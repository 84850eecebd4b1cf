/* Inflates the chunks of a report that bench/nsysrepgen made and throws the bytes away: what no reader of it can do
   without.

       chunks FILE */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lz4.h>

enum { MAGIC_BYTES = 46, MESSAGES = 2, PLAIN_MAX = 64 << 20 };

static char plain[PLAIN_MAX];

static uint64_t read_varint(FILE *file) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        int byte = getc(file);
        if (byte == EOF)
            return 0;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

/* The head and the index, which chunks follow. */
static int skip_messages(FILE *file) {
    if (fseek(file, MAGIC_BYTES, SEEK_SET) != 0)
        return 0;
    for (int i = 0; i < MESSAGES; i++) {
        uint64_t size = read_varint(file);
        if (size > PLAIN_MAX || fseek(file, (long)size, SEEK_CUR) != 0)
            return 0;
    }
    return 1;
}

/* 0: there is none any more. */
static int inflate_chunk(FILE *file, uint64_t *total) {
    uint64_t packed_size = read_varint(file), size = read_varint(file);
    if (packed_size == 0 || packed_size > PLAIN_MAX || size > PLAIN_MAX)
        return 0;
    char *packed = malloc(packed_size);
    int is_whole = packed && fread(packed, 1, packed_size, file) == packed_size &&
                   LZ4_decompress_safe(packed, plain, (int)packed_size, (int)size) == (int)size;
    free(packed);
    *total += is_whole ? size : 0;
    return is_whole;
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    uint64_t total = 0;
    if (!file || !skip_messages(file)) {
        fputs("usage: chunks FILE\n", stderr);
        return 2;
    }
    while (inflate_chunk(file, &total))
        continue;
    fclose(file);
    printf("inflated %llu\n", (unsigned long long)total);
    return total ? 0 : 1;
}
