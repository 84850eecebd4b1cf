/* Makes a batch of the columns of a frame: their types are the same, so only pointers are copied. */
#include "export/frame_batch.h"

#include "base/mem.h"

enum gt_status gt_frame_batch_init(struct gt_frame_batch *batch, size_t frame, const size_t *columns, size_t count,
                                   size_t leading, struct gt_error *err) {
    *batch = (struct gt_frame_batch){.columns = gt_mem_array(leading + count, sizeof *batch->columns),
                                     .texts = gt_mem_array(count, sizeof *batch->texts)};
    if (!batch->columns || !batch->texts)
        return gt_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        struct gt_frame_column from = gt_frame_column(frame, columns[i]);
        batch->columns[leading + i] = (struct gt_batch_column){.key = from.key,
                                                               .title = from.help,
                                                               .unit = from.unit,
                                                               .type = from.type,
                                                               .null = from.null,
                                                               .texts = from.is_text ? &batch->texts[i] : NULL};
    }
    batch->batch = (struct gt_batch){.columns = batch->columns, .column_count = leading + count};
    return GT_OK;
}

/* One element that is null; NULL: the column has no such value. */
static const void *null_of(const struct gt_batch_column *column) {
    static const uint64_t max = UINT64_MAX;
    static const int64_t min = INT64_MIN;
    static const double negative = -1;
    switch (column->null) {
    case GPUTIME_NULL_MAX:
        return &max;
    case GPUTIME_NULL_MIN:
        return &min;
    case GPUTIME_NULL_NEGATIVE:
        return column->type == GPUTIME_FIELD_F64 ? (const void *)&negative : (const void *)&min;
    case GPUTIME_NULL_NEVER:
        break;
    }
    return NULL;
}

static bool is_lacking(size_t frame, size_t column, uint32_t read) {
    return gt_store_facts_closed(gt_frame_column(frame, column).facts) & ~read;
}

enum gt_status gt_frame_batch_fill(struct gt_frame_batch *batch, struct gt_frames *frames, size_t frame,
                                   const size_t *columns, size_t count, size_t leading, uint32_t read,
                                   struct gt_error *err) {
    enum gt_status status = gt_frame_rows(frames, frame, &batch->batch.row_count, err);
    for (size_t i = 0; i < count && status == GT_OK; i++) {
        struct gt_batch_column *column = &batch->columns[leading + i];
        struct gt_frame_values values;
        column->is_constant = is_lacking(frame, columns[i], read) && null_of(column);
        if (column->is_constant) {
            column->values = null_of(column);
            batch->texts[i] = (struct gt_batch_texts){NULL, 0};
            continue;
        }
        status = gt_frame_values(frames, frame, columns[i], &values, err);
        if (status != GT_OK)
            return status;
        column->values = values.data;
        batch->texts[i] = (struct gt_batch_texts){values.texts, values.text_count};
    }
    return status;
}

void gt_frame_batch_release(struct gt_frame_batch *batch) {
    gt_mem_free(batch->columns);
    gt_mem_free(batch->texts);
    *batch = (struct gt_frame_batch){0};
}
