/* Runs a fuzz target over the files that are given, without a fuzzer: what failed once must never fail again. With
   --cuts before them, over every beginning of each file as well. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void fail(const char *path) {
    perror(path);
    exit(1);
}

/* The block is exactly as long as the input, so that reading one byte too many is seen. */
static void try_input(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        fail("input");
    if (size)
        memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* Several inputs in one file, as bundle.py writes them. */
static const uint8_t bundle_magic[8] = "inputs\0\1";

static size_t replay_bundle(const uint8_t *data, size_t size) {
    size_t count = 0, at = sizeof bundle_magic;
    for (uint32_t bytes; at + sizeof bytes <= size; at += bytes, count++) {
        memcpy(&bytes, data + at, sizeof bytes);
        bytes = le32toh(bytes);
        at += sizeof bytes;
        if (bytes > size - at)
            fail("bundle");
        try_input(data + at, bytes);
    }
    return count;
}

/* How many inputs it was. */
static size_t replay(const char *path, int with_cuts) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        fail(path);
    size_t size = (size_t)ftell(file);
    uint8_t *data = malloc(size ? size : 1);
    rewind(file);
    if (!data || fread(data, 1, size, file) != size)
        fail(path);
    fclose(file);
    size_t count = 1;
    if (size > sizeof bundle_magic && memcmp(data, bundle_magic, sizeof bundle_magic) == 0)
        count = replay_bundle(data, size);
    else
        for (size_t cut = with_cuts ? 0 : size; cut <= size; cut++)
            try_input(data, cut);
    free(data);
    return count;
}

int main(int argc, char **argv) {
    int with_cuts = argc > 1 && strcmp(argv[1], "--cuts") == 0, first = 1 + with_cuts;
    size_t count = 0;
    for (int i = first; i < argc; i++)
        count += replay(argv[i], with_cuts);
    printf("%s: %zu inputs%s\n", argv[0], count, with_cuts ? ", cut at every byte" : "");
    return argc > first ? 0 : 1;
}
