/* Arrow streams in the public interface: tables of reports and frames of traces. */
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "columns/arrow.h"
#include "export/frame_batch.h"
#include "internal.h"
#include "report/table_columns.h"
#include "write/joined.h"

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

static enum gt_status fill_joined(struct gt_table_columns *columns, struct gt_joined *joined, struct gt_error *err) {
    const struct gt_cell *row;
    enum gt_status status = gt_table_columns_init(columns, joined->columns, joined->column_count, err);
    while (status == GT_OK && (row = gt_joined_next(joined)) != NULL)
        gt_table_columns_look(columns, row);
    if (status == GT_OK)
        status = gt_table_columns_begin(columns, err);
    gt_joined_rewind(joined);
    while (status == GT_OK && (row = gt_joined_next(joined)) != NULL)
        gt_table_columns_fill(columns, row);
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

static enum gt_status stream_joined(const struct gt_report *report, const char *key, struct ArrowArrayStream *out,
                                    struct gt_error *err) {
    struct gt_joined joined = {0};
    struct gt_table_columns *columns = gt_mem_array(1, sizeof *columns);
    enum gt_status status = columns ? gt_joined_init(&joined, report, key, err) : gt_fail_memory(err);
    if (status == GT_OK && !joined.title)
        status = gt_fail_usage(err, "there is no table '%s'", key);
    if (status == GT_OK)
        status = fill_joined(columns, &joined, err);
    if (status == GT_OK) {
        struct gt_arrow_table about = {.key = key, .title = joined.title};
        status = gt_arrow_stream(&about, &columns->batch, (struct gt_arrow_owner){columns, free_columns}, out, err);
    } else if (columns) {
        free_columns(columns);
    }
    gt_joined_release(&joined);
    return status;
}

API enum gputime_status gputime_report_arrow(const struct gputime_report *report, const char *table,
                                             struct ArrowArrayStream *out, struct gputime_error *err) {
    struct gt_error error = {0};
    *out = (struct ArrowArrayStream){0};
    enum gt_status status = stream_joined(report->model, table ? table : "", out, &error);
    return gt_internal_fail(status, &error, err);
}

/* ---- frames of traces ---- */

/* What a stream of a frame keeps. */
struct framed {
    struct gputime_trace *trace;
    struct gt_frames *frames;
    struct gt_frame_batch batch;
    size_t *columns;
    size_t column_count;
};

static void free_framed(void *object) {
    struct framed *framed = object;
    gt_frame_batch_release(&framed->batch);
    gt_frame_free(framed->frames);
    gputime_trace_free(framed->trace);
    gt_mem_free(framed->columns);
    gt_mem_free(framed);
}

static enum gt_status unknown_frame(const char *key, struct gt_error *err) {
    char keys[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < gt_frame_count() && used + strlen(gt_frame_key(i)) + 3 < sizeof keys; i++)
        for (const char *parts[] = {i ? ", " : "", gt_frame_key(i), NULL}, **part = parts; *part; part++) {
            memcpy(keys + used, *part, strlen(*part) + 1);
            used += strlen(*part);
        }
    return gt_fail_usage(err, "no frame '%.80s'; available: %s", key, keys);
}

/* Columns by their keys, or all that need no more than was read. *facts: what they need. */
static enum gt_status choose_columns(struct framed *framed, size_t frame, const char *const *keys, size_t count,
                                     uint32_t *facts, struct gt_error *err) {
    size_t all = gt_frame_column_count(frame);
    framed->columns = gt_mem_array(keys ? count : all, sizeof *framed->columns);
    if (!framed->columns)
        return gt_fail_memory(err);
    /* More than is usual would be read again for numbers of rows that others do not have. */
    *facts = gt_frame_facts(frame) | (gt_frame_row_facts(frame) & GT_FACTS_USUAL);
    for (size_t i = 0; i < (keys ? count : all); i++) {
        size_t column = keys ? gt_frame_find_column(frame, gt_str_of(keys[i])) : i;
        if (column == SIZE_MAX)
            return gt_fail_usage(err, "frame '%s' has no column '%.80s'", gt_frame_key(frame), keys[i]);
        uint32_t needed = gt_frame_column(frame, column).facts;
        if (!keys && gt_store_facts_closed(needed) & ~framed->trace->asked)
            continue;
        *facts |= needed;
        framed->columns[framed->column_count++] = column;
    }
    return GT_OK;
}

static enum gt_status stream_frame(struct framed *framed, size_t frame, struct ArrowArrayStream *out,
                                   struct gt_error *err) {
    char origin[GT_NUM_MAX], base[GT_NUM_MAX];
    struct gputime_trace_info info = gputime_trace_describe(framed->trace);
    origin[gt_num_format_int(origin, info.origin_ns)] = '\0';
    base[gt_num_format_int(base, info.base_ns)] = '\0';
    const struct gt_arrow_pair pairs[] = {{"gputime.origin_ns", origin}, {"gputime.base_ns", info.base_ns ? base : ""}};
    struct gt_arrow_table about = {gt_frame_key(frame), gt_frame_help(frame), pairs, sizeof pairs / sizeof *pairs};
    return gt_arrow_stream(&about, &framed->batch.batch, (struct gt_arrow_owner){framed, free_framed}, out, err);
}

static enum gt_status make_frame(struct framed *framed, size_t frame, const char *const *keys, size_t count,
                                 struct gt_error *err) {
    uint32_t facts = 0;
    enum gt_status status = choose_columns(framed, frame, keys, count, &facts, err);
    if (status == GT_OK)
        status = gt_internal_frames(framed->trace, facts, &framed->frames, err);
    if (status == GT_OK)
        status = gt_frame_batch_init(&framed->batch, frame, framed->columns, framed->column_count, 0, err);
    if (status == GT_OK)
        status = gt_frame_batch_fill(&framed->batch, framed->frames, frame, framed->columns, framed->column_count, 0,
                                     UINT32_MAX, err);
    return status;
}

API enum gputime_status gputime_trace_arrow(struct gputime_trace *trace, const char *frame, const char *const *columns,
                                            size_t column_count, struct ArrowArrayStream *out,
                                            struct gputime_error *err) {
    struct gt_error error = {0};
    *out = (struct ArrowArrayStream){0};
    size_t number = gt_frame_find(gt_str_of(frame));
    if (number == SIZE_MAX)
        return gt_internal_fail(unknown_frame(frame, &error), &error, err);
    struct framed *framed = gt_mem_array(1, sizeof *framed);
    if (!framed)
        return gt_internal_fail(gt_fail_memory(&error), &error, err);
    framed->trace = gt_internal_hold(trace);
    enum gt_status status = make_frame(framed, number, columns, column_count, &error);
    if (status == GT_OK)
        status = stream_frame(framed, number, out, &error);
    else
        free_framed(framed);
    return gt_internal_fail(status, &error, err);
}

API const char *gputime_frame_key(size_t frame) {
    return frame < gt_frame_count() ? gt_frame_key(frame) : NULL;
}

API const char *gputime_frame_column_key(size_t frame, size_t column) {
    return frame < gt_frame_count() && column < gt_frame_column_count(frame) ? gt_frame_column(frame, column).key
                                                                             : NULL;
}
