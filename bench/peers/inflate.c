/* Inflates a file and throws the bytes away, with one of three libraries: what no reader of packed files can beat. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <isa-l/igzip_lib.h>
#include <zlib.h>
#include <zstd.h>

enum { IN_BYTES = 256 * 1024, OUT_BYTES = 1024 * 1024 };

static unsigned char in[IN_BYTES], out[OUT_BYTES];
static int file;

static size_t refill(void) {
    ssize_t n = read(file, in, IN_BYTES);
    return n > 0 ? (size_t)n : 0;
}

static uint64_t inflate_zlib(void) {
    z_stream stream;
    uint64_t total = 0;
    memset(&stream, 0, sizeof stream);
    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
        return 0;
    for (int status = Z_OK; status == Z_OK;) {
        if (stream.avail_in == 0) {
            stream.next_in = in;
            stream.avail_in = (uInt)refill();
        }
        stream.next_out = out;
        stream.avail_out = OUT_BYTES;
        status = inflate(&stream, Z_NO_FLUSH);
        total += OUT_BYTES - stream.avail_out;
    }
    inflateEnd(&stream);
    return total;
}

static uint64_t inflate_isal(void) {
    static struct inflate_state stream;
    uint64_t total = 0;
    isal_inflate_init(&stream);
    stream.crc_flag = ISAL_GZIP;
    while (stream.block_state != ISAL_BLOCK_FINISH) {
        if (stream.avail_in == 0) {
            stream.next_in = in;
            stream.avail_in = (uint32_t)refill();
        }
        stream.next_out = out;
        stream.avail_out = OUT_BYTES;
        if (isal_inflate(&stream) != ISAL_DECOMP_OK)
            return 0;
        total += OUT_BYTES - stream.avail_out;
    }
    return total;
}

static uint64_t inflate_zstd(void) {
    ZSTD_DCtx *context = ZSTD_createDCtx();
    uint64_t total = 0;
    for (size_t size; context && (size = refill()) > 0;) {
        ZSTD_inBuffer from = {in, size, 0};
        while (from.pos < from.size) {
            ZSTD_outBuffer to = {out, OUT_BYTES, 0};
            if (ZSTD_isError(ZSTD_decompressStream(context, &to, &from)))
                return 0;
            total += to.pos;
        }
    }
    ZSTD_freeDCtx(context);
    return total;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        uint64_t (*run)(void);
    } libraries[] = {{"zlib", inflate_zlib}, {"isal", inflate_isal}, {"zstd", inflate_zstd}};
    if (argc == 3 && (file = open(argv[2], O_RDONLY)) >= 0)
        for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
            if (strcmp(argv[1], libraries[i].name) == 0) {
                uint64_t total = libraries[i].run();
                printf("bytes %llu\n", (unsigned long long)total);
                return total ? 0 : 1;
            }
    fprintf(stderr, "usage: inflate zlib|isal|zstd FILE\n");
    return 2;
}
