/* Fuzzes the reader of Nsight Systems' SQLite exports and everything after it; then reads all that an export can have,
   of which reports use a part. */
#include "base/source.h"
#include "decode/nsys/nsys_sqlite.h"
#include "run_report.h"

static void decode_all_facts(const char *path, size_t threads) {
    struct gt_decode_options options = {.threads = threads, .facts = GT_FACTS_ALL};
    struct gt_source *source;
    struct gt_store *store = NULL;
    struct gt_error err = {0};
    if (gt_source_open(path, &source, NULL) != GT_OK)
        abort();
    if ((gt_nsys_sqlite_decode(&source, 1, &options, &store, &err) == GT_OK) != (store != NULL))
        abort();
    gt_store_free(store);
    gt_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_report_of(data, size);
    decode_all_facts(fuzz_named_file(data, size), 1 + size % 2);
    return 0;
}
