/* Fuzzes the decoders of what XLA's profiler writes, and everything after them: with every fact there is, in pieces of
   the usual size by one thread and in small ones by three, which must come to the same rows; then as any report is
   read. */
#include "decode/xla/xla_json.h"
#include "decode/xla/xplane.h"
#include "run_report.h"
#include "same_store.h"

enum { SMALL_PIECE_BYTES = 100, USUAL_PIECE_BYTES = 512 << 10 };

static struct gt_store *decode(const char *path, size_t threads, size_t piece_bytes, bool is_json) {
    const struct gt_decode_options options = {.threads = threads, .facts = GT_FACTS_ALL};
    struct gt_source *source;
    struct gt_store *store = NULL;
    if (gt_source_open(path, &source, NULL) != GT_OK)
        return NULL;
    if (is_json)
        gt_xla_json_decode(&source, 1, &options, &store, NULL);
    else
        gt_xplane_decode_sized(source, &options, piece_bytes, &store, NULL);
    gt_source_close(source);
    return store;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[FUZZ_PATH_MAX];
    int fd = fuzz_file(data, size, path);
    bool is_json = size > 0 && (data[0] == '{' || data[0] == '[' || data[0] == 0x1f);
    struct gt_store *one = decode(path, 1, is_json ? 0 : SMALL_PIECE_BYTES, is_json);
    struct gt_store *three = decode(path, 3, SMALL_PIECE_BYTES, is_json);
    fuzz_same_store(three, one);
    gt_store_free(three);
    three = decode(path, 3, USUAL_PIECE_BYTES, is_json);
    fuzz_expect(!three == !one && (!one || one->ops.count == three->ops.count));
    fuzz_expect(!one || one->ranges.count == three->ranges.count);
    gt_store_free(three);
    gt_store_free(one);
    close(fd);
    return fuzz_report_of(data, size);
}
