/* Finds the table and the columns that a format of one table is to write. */
#include "write/picked_table.h"

#include <string.h>

static size_t place_of(const struct gt_joined *joined, struct gt_str key) {
    size_t c = 0;
    while (c < joined->column_count && !gt_str_eq(gt_str_of(joined->columns[c]->key), key))
        c++;
    return c;
}

static enum gt_status choose_columns(struct gt_picked_table *picked, const struct gputime_write_options *options,
                                     struct gt_error *err) {
    const struct gt_joined *joined = &picked->joined;
    picked->count = 0;
    for (size_t c = 0; !options->columns && c < joined->column_count && c < GT_TABLE_COLUMNS_MAX; c++)
        picked->columns[picked->count++] = c;
    for (size_t i = 0; options->columns && i < options->column_count && picked->count < GT_TABLE_COLUMNS_MAX; i++) {
        size_t place = place_of(joined, gt_str_of(options->columns[i]));
        if (place == joined->column_count)
            return gt_fail_usage(err, "table '%s' has no column '%s'", joined->key, options->columns[i]);
        picked->columns[picked->count++] = place;
    }
    return GT_OK;
}

static bool has_table(const struct gt_report *report, const char *key) {
    for (size_t s = 0; s < report->section_count; s++) {
        if (gt_section_find(&report->sections[s], key))
            return true;
    }
    return false;
}

static enum gt_status unknown_table(const struct gt_report *report, const char *key, struct gt_error *err) {
    char keys[768] = "";
    size_t used = 0;
    const char *known;
    for (size_t i = 0; (known = gt_joined_key(report, GT_FOR_DATA, i)) && used + strlen(known) + 3 < sizeof keys; i++) {
        const char *separator = i ? ", " : "";
        memcpy(keys + used, separator, strlen(separator));
        used += strlen(separator);
        memcpy(keys + used, known, strlen(known) + 1);
        used += strlen(known);
    }
    return gt_fail_usage(err, "no table '%.80s'; available: %s", key, used ? keys : "none");
}

enum gt_status gt_picked_table_init(struct gt_picked_table *picked, const struct gt_report *report,
                                    const struct gputime_write_options *options, struct gt_error *err) {
    const char *key = options->table ? options->table : report->main_table;
    picked->joined = (struct gt_joined){0};
    if (options->table && !has_table(report, key))
        return unknown_table(report, key, err);
    if (!key || !has_table(report, key))
        key = gt_joined_key(report, GT_FOR_DATA, 0);
    enum gt_status status = gt_joined_init(&picked->joined, report, key ? key : "", err);
    return status == GT_OK ? choose_columns(picked, options, err) : status;
}

void gt_picked_table_release(struct gt_picked_table *picked) {
    gt_joined_release(&picked->joined);
}
