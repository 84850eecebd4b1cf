/* Reads the traces of a job with what `gputime ranks` needs of them, as many at the same time as there are threads, and
   does nothing else: what the time of that command is compared with. With "open" launches are matched and ops
   classified as well, as for any report. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "base/threads.h"
#include "decode/decoder.h"
#include "label/label.h"
#include "ranks/rank_reduce.h"

struct reading {
    char **paths;
    size_t threads;
    bool labels;
    atomic_uint_least64_t ops;
    atomic_bool failed;
};

static void read_one(void *context, size_t index) {
    struct reading *reading = context;
    const struct gt_decode_options options = {.threads = reading->threads, .facts = GT_RANK_REDUCE_FACTS};
    const struct gt_decoder *decoder;
    struct gt_source *source = NULL;
    struct gt_store *store = NULL;
    struct gt_labels *labels = NULL;
    struct gt_error error = {0};
    enum gt_status status = gt_source_open(reading->paths[index], &source, &error);
    if (status == GT_OK)
        status = gt_decoder_choose(source, &decoder, &error);
    if (status == GT_OK)
        status = decoder->decode(&source, 1, &options, &store, &error);
    if (status == GT_OK && reading->labels)
        status = gt_label_new_by_rules(store, NULL, reading->threads, &labels, &error);
    if (status == GT_OK)
        reading->ops += store->ops.count;
    else {
        fprintf(stderr, "read_job: %s\n", error.message);
        reading->failed = true;
    }
    gt_source_close(source);
    gt_label_free(labels);
    gt_store_free(store);
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: read_job THREADS read|open TRACE...\n");
        return 2;
    }
    struct reading reading = {.paths = argv + 3,
                              .threads = gt_threads_count((int64_t)strtoul(argv[1], NULL, 10)),
                              .labels = strcmp(argv[2], "open") == 0};
    gt_threads_deal(reading.threads, (size_t)argc - 3, read_one, &reading);
    printf("ops %" PRIuLEAST64 "\n", reading.ops);
    return reading.failed;
}
