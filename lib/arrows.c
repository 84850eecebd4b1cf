/* Arrow streams in the public interface: tables of reports and frames of traces. */
#include "base/mem.h"
#include "columns/arrow.h"
#include "internal.h"
#include "report/table_columns.h"

/* ---- tables of reports ---- */

static enum gt_status fill_columns(struct gt_table_columns *columns, const struct gt_table *table,
                                   struct gt_error *err) {
    const struct gt_report_column *list[GT_TABLE_COLUMNS_MAX];
    size_t count = table->column_count < GT_TABLE_COLUMNS_MAX ? table->column_count : GT_TABLE_COLUMNS_MAX;
    for (size_t c = 0; c < count; c++)
        list[c] = &table->columns[c];
    enum gt_status status = gt_table_columns_init(columns, list, count, err);
    for (size_t r = 0; r < table->row_count && status == GT_OK; r++)
        gt_table_columns_look(columns, &table->cells[r * table->column_count]);
    if (status == GT_OK)
        status = gt_table_columns_begin(columns, err);
    for (size_t r = 0; r < table->row_count && status == GT_OK; r++)
        gt_table_columns_fill(columns, &table->cells[r * table->column_count]);
    return status == GT_OK ? gt_table_columns_end(columns, err) : status;
}

static void free_columns(void *object) {
    gt_table_columns_release(object);
    gt_mem_free(object);
}

static enum gt_status stream_table(const struct gt_table *table, struct ArrowArrayStream *out, struct gt_error *err) {
    struct gt_table_columns *columns = gt_mem_array(1, sizeof *columns);
    if (!columns)
        return gt_fail_memory(err);
    enum gt_status status = fill_columns(columns, table, err);
    if (status != GT_OK) {
        free_columns(columns);
        return status;
    }
    struct gt_arrow_table about = {.key = table->key, .title = table->title};
    return gt_arrow_stream(&about, &columns->batch, (struct gt_arrow_owner){columns, free_columns}, out, err);
}

API enum gputime_status gputime_table_arrow(const struct gputime_table *table, struct ArrowArrayStream *out,
                                            struct gputime_error *err) {
    struct gt_error error = {0};
    *out = (struct ArrowArrayStream){0};
    enum gt_status status = table ? stream_table((const struct gt_table *)(const void *)table, out, &error)
                                  : gt_fail_usage(&error, "there is no such table");
    return gt_internal_fail(status, &error, err);
}
