/* The table of folder layouts. */
#include "report/folders.h"

#include <string.h>

static const struct gt_folder folders[] = {
    {"explain", gt_explain_files},
};

const struct gt_folder *gt_folder_find(const char *key) {
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strcmp(folders[i].key, key) == 0)
            return &folders[i];
    return NULL;
}
