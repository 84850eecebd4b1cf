/* Fuzzes the ways to read a trace of PyTorch against each other: the portable scanner, the fast one, and four threads
   with chunks of a few hundred bytes. For any bytes all of them must come to the same store, whatever is asked for. */
#include "base/source.h"
#include "decode/torch/torch_json.h"
#include "run_report.h"
#include "same_store.h"

enum { LARGE = 1 << 20, SMALL = 256 };

static struct gt_store *decode(const char *path, size_t threads, const struct gt_torch_sizes *sizes, uint32_t facts) {
    struct gt_decode_options options = {.threads = threads, .facts = facts};
    struct gt_source *source;
    struct gt_store *store = NULL;
    if (gt_source_open(path, &source, NULL) != GT_OK)
        abort();
    gt_torch_json_decode_sized(source, &options, sizes, &store, NULL);
    gt_source_close(source);
    return store;
}

static void compare_ways(const char *path, size_t size, uint32_t facts) {
    const struct gt_torch_sizes portable = {LARGE, LARGE, LARGE, GT_TORCH_PORTABLE, 0};
    const struct gt_torch_sizes fast = {LARGE, size % 2 ? SMALL : LARGE, LARGE, GT_TORCH_EAGER, 0};
    const struct gt_torch_sizes chunks = {SMALL + size % 512, SMALL, LARGE, GT_TORCH_EAGER, 0};
    struct gt_store *expected = decode(path, 1, &portable, facts);
    struct gt_store *found = decode(path, 1, &fast, facts);
    struct gt_store *joined = decode(path, 4, &chunks, facts);
    fuzz_same_store(found, expected);
    fuzz_same_store(joined, expected);
    gt_store_free(joined);
    gt_store_free(found);
    gt_store_free(expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[FUZZ_PATH_MAX];
    int fd = fuzz_file(data, size, path);
    uint32_t some = UINT32_C(2654435761) * (uint32_t)size >> (32 - GT_FACT_COUNT);
    compare_ways(path, size, GT_FACTS_USUAL);
    compare_ways(path, size, size % 2 ? GT_FACTS_ALL : some | GT_FACT_OPS);
    close(fd);
    return 0;
}
