/* The table of exporters and how one is found by its key or a file's suffix. */
#include <string.h>
#include <strings.h>

#include "export/exporter.h"

#define GT_EXPORTER(name, key, title, suffix, facts) {key, title, suffix, facts, gt_export_##name},
const struct gt_exporter gt_exporters[] = {
#include "export/exporters.def"
};
#undef GT_EXPORTER
const size_t gt_exporter_count = sizeof gt_exporters / sizeof *gt_exporters;

const struct gt_exporter *gt_exporter_find(const char *key) {
    for (size_t i = 0; i < gt_exporter_count; i++)
        if (strcmp(gt_exporters[i].key, key) == 0)
            return &gt_exporters[i];
    return NULL;
}

const struct gt_exporter *gt_exporter_for_path(const char *path) {
    size_t length = strlen(path);
    for (size_t i = 0; i < gt_exporter_count; i++) {
        size_t suffix = strlen(gt_exporters[i].suffix);
        if (length >= suffix && strcasecmp(path + length - suffix, gt_exporters[i].suffix) == 0)
            return &gt_exporters[i];
    }
    return NULL;
}

bool gt_exporter_is_directory(const struct gt_exporter *exporter) {
    return strcmp(exporter->suffix, "/") == 0;
}
