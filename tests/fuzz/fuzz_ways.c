/* Fuzzes the ways to one store, for every kind of input: read by one thread, by four, and kept in the cache and loaded
   from there. For any bytes all of them must come to the same. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/source.h"
#include "decode/decoder.h"
#include "events/cache.h"
#include "run_report.h"
#include "same_store.h"

static char cache_folder[] = "/tmp/gputime-fuzz-XXXXXX";

static void remove_cache(void) {
    uint64_t removed;
    gt_cache_clear(&removed, NULL);
    rmdir(cache_folder);
}

static void make_cache(void) {
    static bool is_made;
    if (is_made)
        return;
    fuzz_expect(mkdtemp(cache_folder) != NULL && setenv("GPUTIME_CACHE", cache_folder, 1) == 0);
    atexit(remove_cache);
    is_made = true;
}

static struct gt_store *decode(const char *path, size_t threads) {
    struct gt_decode_options options = {.threads = threads, .reader = GT_READER_NATIVE};
    const struct gt_decoder *decoder;
    struct gt_source *source;
    struct gt_store *store = NULL;
    if (gt_source_open(path, &source, NULL) != GT_OK)
        return NULL;
    if (gt_decoder_choose(source, &decoder, NULL) == GT_OK)
        decoder->decode(&source, 1, &options, &store, NULL);
    gt_source_close(source);
    return store;
}

static void keep_and_load(const char *path, struct gt_store *store) {
    const struct timespec long_ago[2] = {{1600000000, 0}, {1600000000, 0}}; /* what is new is not kept */
    struct gt_cache_key key;
    struct gt_store *kept = NULL;
    utimensat(AT_FDCWD, path, long_ago, 0);
    gt_cache_key_init(&key, &path, 1);
    gt_cache_save(&key, &path, 1, store);
    fuzz_expect(gt_cache_load(&key, 0, &kept, &(uint32_t){0}));
    fuzz_same_store(kept, store);
    gt_store_free(kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    make_cache();
    const char *path = fuzz_named_file(data, size);
    struct gt_store *one = decode(path, 1), *four = decode(path, 4);
    fuzz_same_store(four, one);
    if (one)
        keep_and_load(path, one);
    gt_store_free(four);
    gt_store_free(one);
    return 0;
}
