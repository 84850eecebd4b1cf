/* Runs a fuzz target over the files that are given, without a fuzzer: what failed once must never fail again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The block is exactly as long as the file, so that reading one byte too many is seen. */
static int replay(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        return 1;
    }
    size_t size = (size_t)ftell(file);
    uint8_t *data = malloc(size ? size : 1);
    rewind(file);
    if (!data || fread(data, 1, size, file) != size) {
        perror(path);
        return 1;
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (replay(argv[i]) != 0)
            return 1;
    printf("%s: %d inputs\n", argv[0], argc - 1);
    return argc > 1 ? 0 : 1;
}
