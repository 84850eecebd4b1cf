/* Fuzzes the PyTorch JSON decoder and everything behind it: any bytes must end in a report or an error. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gputime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int fd = memfd_create("input", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const char *paths[] = {path};
    const char *analyses[] = {"overview",    "accounting",  "categories", "kernels",  "memory", "streams",  "gaps",
                              "stream_gaps", "transitions", "histogram",  "launches", "steps",  "processes"};
    struct gputime_options options = {.no_cache = 1, .threads = 1};
    struct gputime_trace *trace = NULL;
    struct gputime_report *report = NULL;
    if (gputime_trace_open(paths, 1, &options, &trace, NULL) == GPUTIME_OK &&
        gputime_report_new(&trace, 1, "fuzz", analyses, sizeof analyses / sizeof *analyses, &options, &report, NULL) ==
            GPUTIME_OK) {
        static const char *const formats[] = {"text", "json", "csv", "md"};
        options.format = formats[size % 4];
        if (gputime_report_write(report, &options, "/dev/null", NULL) != GPUTIME_OK)
            abort();
    }
    gputime_report_free(report);
    gputime_trace_free(trace);
    close(fd);
    return 0;
}
