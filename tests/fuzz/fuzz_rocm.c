/* Fuzzes the decoders of what ROCm's profilers write, and everything after them: databases by one thread and by three,
   which must come to the same rows, CSVs and JSON in small and in usual buffers, which must, too; then as any report is
   read. */
#include "decode/rocm/rocpd.h"
#include "decode/rocm/rocprof_csv.h"
#include "decode/rocm/rocprof_json.h"
#include "run_report.h"
#include "same_store.h"

enum kind { DATABASE, JSON, CSV };

static enum kind kind_of(const uint8_t *data, size_t size) {
    if (size >= 16 && memcmp(data, "SQLite format 3", 16) == 0)
        return DATABASE;
    return size > 0 && (data[0] == '{' || data[0] == ' ') ? JSON : CSV;
}

static struct gt_store *decode(const char *path, enum kind kind, bool is_small) {
    static const struct gt_csv_sizes small_rows = {64, 65536}, usual_rows = {1 << 16, 65536};
    static const struct gt_json_sizes small_text = {.window_bytes = 64, .max_bytes = 65536},
                                      usual_text = {.window_bytes = 1 << 16, .max_bytes = 65536};
    const struct gt_decode_options options = {.threads = is_small ? 3 : 1, .facts = GT_FACTS_ALL};
    struct gt_source *source;
    struct gt_store *store = NULL;
    if (gt_source_open(path, &source, NULL) != GT_OK)
        return NULL;
    if (kind == DATABASE)
        gt_rocpd_decode(&source, 1, &options, &store, NULL);
    else if (kind == JSON)
        gt_rocprof_json_decode_sized(source, &options, is_small ? &small_text : &usual_text, &store, NULL);
    else
        gt_rocprof_csv_decode_sized(&source, 1, &options, is_small ? &small_rows : &usual_rows, &store, NULL);
    gt_source_close(source);
    return store;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum kind kind = kind_of(data, size);
    const char *path = fuzz_named_file(data, size);
    struct gt_store *usual = decode(path, kind, false), *small = decode(path, kind, true);
    fuzz_same_store(small, usual);
    gt_store_free(small);
    gt_store_free(usual);
    return fuzz_report_of(data, size);
}
