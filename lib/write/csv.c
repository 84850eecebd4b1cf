/* One table as comma-separated values: raw numbers, column keys as header, nulls empty, an `input` column first. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "write/cell_format.h"
#include "write/escape.h"
#include "write/joined.h"
#include "write/writer.h"

static void write_cell(struct gt_out *out, const struct gt_cell *cell) {
    char buf[GT_NUM_MAX];
    switch ((enum gputime_cell_type)cell->type) {
    case GPUTIME_CELL_TEXT:
        gt_escape_csv(out, gt_cell_str(cell));
        break;
    case GPUTIME_CELL_INT:
        gt_out_write(out, buf, gt_num_format_int(buf, cell->integer));
        break;
    case GPUTIME_CELL_REAL:
        if (isfinite(cell->real))
            gt_out_write(out, buf, gt_num_format_real(buf, cell->real));
        break;
    case GPUTIME_CELL_NULL:
        break;
    }
}

/* Which columns to write, in order: all, or exactly those asked for (`input` is one to ask for). */
struct choice {
    size_t columns[GT_TABLE_COLUMNS_MAX];
    size_t count;
};

static size_t place_of(const struct gt_joined *joined, struct gt_str key) {
    size_t c = 0;
    while (c < joined->column_count && !gt_str_eq(gt_str_of(joined->columns[c]->key), key))
        c++;
    return c;
}

static enum gt_status choose_columns(struct choice *choice, const struct gt_joined *joined,
                                     const struct gputime_write_options *options, struct gt_error *err) {
    choice->count = 0;
    for (size_t c = 0; !options->columns && c < joined->column_count && c < GT_TABLE_COLUMNS_MAX; c++)
        choice->columns[choice->count++] = c;
    for (size_t i = 0; options->columns && i < options->column_count && choice->count < GT_TABLE_COLUMNS_MAX; i++) {
        size_t place = place_of(joined, gt_str_of(options->columns[i]));
        if (place == joined->column_count)
            return gt_fail_usage(err, "table '%s' has no column '%s'", joined->key, options->columns[i]);
        choice->columns[choice->count++] = place;
    }
    return GT_OK;
}

static enum gt_status write_table(const struct gt_report *report, const char *key,
                                  const struct gputime_write_options *options, struct gt_out *out,
                                  struct gt_error *err) {
    struct gt_joined joined;
    struct choice choice;
    enum gt_status status = gt_joined_init(&joined, report, key, err);
    if (status)
        return status;
    status = choose_columns(&choice, &joined, options, err);
    for (size_t i = 0; i < choice.count && !status; i++) {
        gt_out_text(out, i ? "," : "");
        gt_escape_csv(out, gt_str_of(joined.columns[choice.columns[i]]->key));
    }
    gt_out_char(out, '\n');
    for (const struct gt_cell *row; !status && (row = gt_joined_next(&joined));) {
        for (size_t i = 0; i < choice.count; i++) {
            if (i)
                gt_out_char(out, ',');
            write_cell(out, &row[choice.columns[i]]);
        }
        gt_out_char(out, '\n');
    }
    gt_joined_release(&joined);
    return status;
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

enum gt_status gt_write_csv(const struct gt_report *report, const struct gputime_write_options *options,
                            struct gt_out *out, struct gt_error *err) {
    const char *key = options->table ? options->table : report->main_table;
    if (options->table && !has_table(report, key))
        return unknown_table(report, key, err);
    if (!key || !has_table(report, key))
        key = gt_joined_key(report, GT_FOR_DATA, 0);
    return write_table(report, key ? key : "", options, out, err);
}
