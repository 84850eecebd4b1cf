/* The table of output formats and how one is found by its key or a file's suffix. */
#include <string.h>
#include <strings.h>

#include "report/layouts.h"
#include "write/page.h"
#include "write/writer.h"

#define GT_WRITER(name, key, title, suffix, is_data, fills_folders, is_binary)                                         \
    {key, title, suffix, is_data, fills_folders, is_binary, gt_write_##name},
const struct gt_writer gt_writers[] = {
#include "write/writers.def"
};
#undef GT_WRITER
const size_t gt_writer_count = sizeof gt_writers / sizeof *gt_writers;

static const struct gt_writer layout_writer = {"layout",       "file layout of an older tool", "", true, false, false,
                                               gt_write_layout};

const struct gt_writer *gt_writer_find(const char *key) {
    for (size_t i = 0; i < gt_writer_count; i++) {
        if (strcmp(gt_writers[i].key, key) == 0)
            return &gt_writers[i];
    }
    return gt_layout_find(key) ? &layout_writer : NULL;
}

bool gt_writer_is_built(const struct gt_writer *writer) {
    return writer && (writer->write != gt_write_html || gt_page_bytes);
}

const struct gt_writer *gt_writer_for_folder(void) {
    size_t i = 0;
    while (i < gt_writer_count && !gt_writers[i].fills_folders)
        i++;
    return i < gt_writer_count ? &gt_writers[i] : NULL;
}

const struct gt_writer *gt_writer_for_path(const char *path) {
    size_t length = strlen(path);
    for (size_t i = 0; i < gt_writer_count; i++) {
        size_t suffix = strlen(gt_writers[i].suffix);
        if (length >= suffix && strcasecmp(path + length - suffix, gt_writers[i].suffix) == 0)
            return &gt_writers[i];
    }
    return NULL;
}
