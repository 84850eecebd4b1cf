/* Packs a file as gzip (level 6) or zstd (level 3), as users find their traces packed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

enum { PIECE_BYTES = 1 << 20 };

static char piece[PIECE_BYTES];

static int pack_gzip(FILE *from, const char *path) {
    gzFile to = gzopen(path, "wb6");
    size_t size;
    while (to && (size = fread(piece, 1, PIECE_BYTES, from)) > 0)
        if (gzwrite(to, piece, (unsigned)size) != (int)size)
            return 1;
    return to && gzclose(to) == Z_OK ? 0 : 1;
}

static int pack_zstd(FILE *from, const char *path) {
    FILE *to = fopen(path, "wb");
    ZSTD_CCtx *context = ZSTD_createCCtx();
    size_t capacity = ZSTD_CStreamOutSize(), size = PIECE_BYTES, left;
    char *packed = malloc(capacity);
    if (!to || !context || !packed)
        return 1;
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 3);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    while (size == PIECE_BYTES) {
        size = fread(piece, 1, PIECE_BYTES, from);
        ZSTD_EndDirective mode = size == PIECE_BYTES ? ZSTD_e_continue : ZSTD_e_end;
        ZSTD_inBuffer in = {piece, size, 0};
        do {
            ZSTD_outBuffer out = {packed, capacity, 0};
            left = ZSTD_compressStream2(context, &out, &in, mode);
            if (ZSTD_isError(left) || fwrite(packed, 1, out.pos, to) != out.pos)
                return 1;
        } while (mode == ZSTD_e_end ? left > 0 : in.pos < in.size);
    }
    free(packed);
    ZSTD_freeCCtx(context);
    return fclose(to) == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    FILE *from = argc == 4 ? fopen(argv[2], "rb") : NULL;
    if (!from) {
        fprintf(stderr, "usage: pack gzip|zstd FROM TO\n");
        return 2;
    }
    return strcmp(argv[1], "gzip") == 0 ? pack_gzip(from, argv[3]) : pack_zstd(from, argv[3]);
}
