/* Fuzzes the ways to read a trace of PyTorch against each other: the portable scanner, the fast one, and four threads
   with chunks of a few hundred bytes. For any bytes all of them must come to the same store. */
#include "base/source.h"
#include "decode/torch/torch_json.h"
#include "run_report.h"
#include "same_store.h"

enum { LARGE = 1 << 20, SMALL = 256 };

static struct gt_store *decode(const char *path, size_t threads, const struct gt_torch_sizes *sizes) {
    struct gt_decode_options options = {.threads = threads};
    struct gt_source *source;
    struct gt_store *store = NULL;
    if (gt_source_open(path, &source, NULL) != GT_OK)
        abort();
    gt_torch_json_decode_sized(source, &options, sizes, &store, NULL);
    gt_source_close(source);
    return store;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct gt_torch_sizes portable = {LARGE, LARGE, LARGE, GT_TORCH_PORTABLE};
    const struct gt_torch_sizes fast = {LARGE, size % 2 ? SMALL : LARGE, LARGE, GT_TORCH_EAGER};
    const struct gt_torch_sizes chunks = {SMALL + size % 512, SMALL, LARGE, GT_TORCH_EAGER};
    char path[FUZZ_PATH_MAX];
    int fd = fuzz_file(data, size, path);
    struct gt_store *expected = decode(path, 1, &portable);
    struct gt_store *found = decode(path, 1, &fast);
    struct gt_store *joined = decode(path, 4, &chunks);
    fuzz_same_store(found, expected);
    fuzz_same_store(joined, expected);
    gt_store_free(joined);
    gt_store_free(found);
    gt_store_free(expected);
    close(fd);
    return 0;
}
