/* Fuzzes the fast reader of traces against the portable one: for any bytes both must come to the same store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/source.h"
#include "decode/torch_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct gt_store *decode(const char *path, enum gt_torch_mode mode, size_t window_bytes) {
    const struct gt_torch_sizes sizes = {1 << 20, window_bytes, 1 << 20, mode};
    struct gt_decode_options options = {.threads = 1};
    struct gt_source *source;
    struct gt_store *store = NULL;
    if (gt_source_open(path, &source, NULL) != GT_OK)
        abort();
    gt_torch_json_decode_sized(source, &options, &sizes, &store, NULL);
    gt_source_close(source);
    return store;
}

static void compare(struct gt_store *a, struct gt_store *b) {
    if (!a != !b)
        abort();
    for (size_t i = 0; a && i < gt_column_count; i++) {
        const struct gt_column_info *info = &gt_column_infos[i];
        size_t rows = *gt_store_row_count(a, info->table);
        if (rows != *gt_store_row_count(b, info->table) ||
            (rows && memcmp(*gt_store_column(a, info), *gt_store_column(b, info), rows * info->elem_bytes) != 0))
            abort();
    }
    for (gt_strid i = 0; a && i < a->strings.count; i++)
        if (!gt_str_eq(gt_store_string(a, i), gt_store_string(b, i)))
            abort();
    if (a && (a->strings.count != b->strings.count || a->skipped_events != b->skipped_events ||
              memcmp(a->issues, b->issues, sizeof a->issues) != 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int fd = memfd_create("input", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct gt_store *expected = decode(path, GT_TORCH_PORTABLE, 1 << 16);
    struct gt_store *found = decode(path, GT_TORCH_EAGER, size % 2 ? 256 : 1 << 16);
    compare(found, expected);
    gt_store_free(found);
    gt_store_free(expected);
    close(fd);
    return 0;
}
