/* Reads a trace and does nothing else: what the benchmark compares with other readers. Prints what it found. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/source.h"
#include "decode/decoder.h"

/* What every reader of the benchmark must agree on. */
static void print_sums(const struct gt_store *store) {
    uint64_t kernels = 0;
    int64_t kernel_ns = 0;
    for (size_t i = 0; i < store->ops.count; i++) {
        if (store->ops.kind[i] != GT_OP_KERNEL)
            continue;
        kernels++;
        kernel_ns += store->ops.end_ns[i] - store->ops.start_ns[i];
    }
    size_t kept = store->ops.count + store->calls.count + store->ranges.count + store->cpu_ops.count;
    printf("kernels %" PRIu64 " kernel_ns %" PRId64 " kept %zu\n", kernels, kernel_ns, kept);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: read THREADS TRACE\n");
        return 2;
    }
    struct gt_decode_options options = {.threads = strtoul(argv[1], NULL, 10)};
    const struct gt_decoder *decoder;
    struct gt_source *source = NULL;
    struct gt_store *store = NULL;
    struct gt_error error = {0};
    enum gt_status status = gt_source_open(argv[2], &source, &error);
    if (status == GT_OK)
        status = gt_decoder_choose(source, &decoder, &error);
    if (status == GT_OK)
        status = decoder->decode(&source, 1, &options, &store, &error);
    if (status == GT_OK)
        print_sums(store);
    else
        fprintf(stderr, "read: %s\n", error.message);
    gt_store_free(store);
    gt_source_close(source);
    return status == GT_OK ? 0 : 1;
}
