/* Reads a trace and does nothing else: what the benchmark compares with other readers. Prints what it found. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "decode/decoder.h"
#include "decode/torch_json.h"

/* What every reader of the benchmark must agree on, then what this one keeps. */
static void print_sums(const struct gt_store *store) {
    uint64_t kernels = 0, name_bytes = 0;
    int64_t kernel_ns = 0;
    for (size_t i = 0; i < store->ops.count; i++) {
        if (store->ops.kind[i] != GT_OP_KERNEL)
            continue;
        kernels++;
        kernel_ns += store->ops.end_ns[i] - store->ops.start_ns[i];
    }
    for (gt_strid i = 0; i < store->strings.count; i++)
        name_bytes += gt_store_string(store, i).len;
    size_t kept = store->ops.count + store->calls.count + store->ranges.count + store->cpu_ops.count;
    printf("kernels %" PRIu64 " kernel_ns %" PRId64 " kept %zu name_bytes %" PRIu64 "\n", kernels, kernel_ns, kept,
           name_bytes);
}

static enum gt_status read_portable(struct gt_source *source, const struct gt_decode_options *options,
                                    struct gt_store **store, struct gt_error *error) {
    const struct gt_torch_sizes sizes = {8 << 20, 256 << 10, 64 << 20, GT_TORCH_PORTABLE};
    return gt_torch_json_decode_sized(source, options, &sizes, store, error);
}

int main(int argc, char **argv) {
    bool is_portable = argc == 4 && strcmp(argv[3], "portable") == 0;
    if (argc != 3 && !is_portable) {
        fprintf(stderr, "usage: read THREADS TRACE [portable]\n");
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
        status = is_portable ? read_portable(source, &options, &store, &error)
                             : decoder->decode(&source, 1, &options, &store, &error);
    if (status == GT_OK)
        print_sums(store);
    else
        fprintf(stderr, "read: %s\n", error.message);
    gt_store_free(store);
    gt_source_close(source);
    return status == GT_OK ? 0 : 1;
}
