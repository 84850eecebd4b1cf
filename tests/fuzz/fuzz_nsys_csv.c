/* Fuzzes the decoder of `nsys stats` CSVs and everything after it. Bytes between 0xff are the files of one capture. */
#include <string.h>

#include "run_report.h"

enum { FILES_MAX = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char texts[FILES_MAX][FUZZ_PATH_MAX];
    const char *paths[FILES_MAX];
    int fds[FILES_MAX];
    size_t count = 0, begin = 0;
    while (count < FILES_MAX && begin <= size) {
        const uint8_t *stop = begin < size ? memchr(data + begin, 0xff, size - begin) : NULL;
        size_t end = stop && count + 1 < FILES_MAX ? (size_t)(stop - data) : size;
        fds[count] = fuzz_file(data + begin, end - begin, texts[count]);
        paths[count] = texts[count];
        count++;
        begin = end + 1;
    }
    struct fuzz_options options = fuzz_options_new(fuzz_format(size));
    if (size % 3 == 0)
        options.selection.name = "re:[a-f]";
    fuzz_report(paths, count, &options);
    while (count)
        close(fds[--count]);
    return 0;
}
