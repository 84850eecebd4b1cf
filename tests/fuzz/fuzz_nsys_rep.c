/* Fuzzes the decoder of Nsight Systems reports and everything after it: with every fact there is, by one thread and by
   three, which must come to the same store; then as any report is read. */
#include "decode/nsys/nsys_rep.h"
#include "run_report.h"
#include "same_store.h"

static struct gt_store *decode(const char *path, size_t threads) {
    const struct gt_decode_options options = {.threads = threads, .reader = GT_READER_NATIVE, .facts = GT_FACTS_ALL};
    struct gt_source *source;
    struct gt_store *store = NULL;
    if (gt_source_open(path, &source, NULL) != GT_OK)
        return NULL;
    gt_nsys_rep_decode(&source, 1, &options, &store, NULL);
    gt_source_close(source);
    return store;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[FUZZ_PATH_MAX];
    int fd = fuzz_file(data, size, path);
    struct gt_store *one = decode(path, 1), *three = decode(path, 3);
    fuzz_same_store(three, one);
    gt_store_free(three);
    gt_store_free(one);
    close(fd);
    return fuzz_report_of(data, size);
}
