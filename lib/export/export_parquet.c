/* Exports events as Parquet: one file for each frame, in a directory, with the rows of all traces, in their order. The
 * columns `input` and `rank` come first, as in tables of reports. */
#include "base/mem.h"
#include "columns/parquet.h"
#include "export/exporter.h"
#include "export/files.h"
#include "export/frame_batch.h"

enum { INPUT, RANK, LEADING };

struct work {
    const struct gt_export *export;
    struct gt_frames **frames; /* by input */
    uint32_t **rows;           /* by input: the selected ops, ascending; NULL: all */
    size_t *columns;           /* of the frame that is written */
    size_t column_count;
};

/* ---- which rows ---- */

static enum gt_status list_selected(const struct gt_view *view, uint32_t **rows, struct gt_error *err) {
    size_t count = view->store->ops.count, kept = 0;
    uint8_t *is_selected = gt_mem_array(count, 1);
    *rows = gt_mem_uninitialised(view->op_count, sizeof **rows);
    for (size_t i = 0; is_selected && *rows && i < view->op_count; i++)
        is_selected[view->row[i]] = 1;
    for (size_t i = 0; is_selected && *rows && i < count; i++)
        if (is_selected[i])
            (*rows)[kept++] = (uint32_t)i;
    gt_mem_free(is_selected);
    return is_selected && *rows ? GT_OK : gt_fail_memory(err);
}

/* A selection is of ops; rows of other frames do not belong to one. */
static void choose_rows(const struct work *work, size_t frame, size_t input, struct gt_batch *batch) {
    if (!work->rows[input] || !gt_str_eq(gt_str_of(gt_frame_key(frame)), GT_STR("ops")))
        return;
    batch->rows = work->rows[input];
    batch->row_count = work->export->inputs[input].view->op_count;
}

/* ---- one frame ---- */

static void lead(struct gt_batch_column *columns, const struct gt_batch_texts *label, const int64_t *rank) {
    static const uint8_t first = 0;
    columns[INPUT] = (struct gt_batch_column){.key = "input",
                                              .title = "name of the trace",
                                              .type = GPUTIME_FIELD_U8,
                                              .is_constant = true,
                                              .values = &first,
                                              .texts = label};
    columns[RANK] = (struct gt_batch_column){.key = "rank",
                                             .title = "rank of the trace, where it is known",
                                             .type = GPUTIME_FIELD_I64,
                                             .null = GPUTIME_NULL_NEGATIVE,
                                             .is_constant = true,
                                             .values = rank};
}

static enum gt_status put_input(struct work *work, struct gt_parquet *parquet, struct gt_frame_batch *batch,
                                size_t frame, size_t index, struct gt_error *err) {
    const struct gt_export_input *input = &work->export->inputs[index];
    const struct gt_batch_texts label = {&input->label, 1};
    enum gt_status status = gt_frame_batch_fill(batch, work->frames[index], frame, work->columns, work->column_count,
                                                LEADING, input->view->store->asked, err);
    if (status != GT_OK)
        return gt_fail_context(err, "'%s'", input->path);
    lead(batch->columns, &label, &input->rank.rank);
    batch->batch.rows = NULL;
    choose_rows(work, frame, index, &batch->batch);
    return gt_parquet_append(parquet, &batch->batch, err);
}

static enum gt_status put_frame(struct work *work, size_t frame, struct gt_out *out, struct gt_error *err) {
    struct gt_frame_batch batch;
    struct gt_parquet parquet = {0};
    const struct gt_batch_texts none = {NULL, 0};
    enum gt_status status = gt_frame_batch_init(&batch, frame, work->columns, work->column_count, LEADING, err);
    if (status == GT_OK) {
        lead(batch.columns, &none, NULL);
        status = gt_parquet_init(&parquet, out, work->export->threads, gt_frame_key(frame), gt_frame_help(frame),
                                 batch.columns, LEADING + work->column_count, err);
    }
    for (size_t i = 0; i < work->export->input_count && status == GT_OK; i++)
        status = put_input(work, &parquet, &batch, frame, i, err);
    if (status == GT_OK)
        status = gt_parquet_finish(&parquet, err);
    gt_parquet_release(&parquet);
    gt_frame_batch_release(&batch);
    return status;
}

/* ---- all of them ---- */

/* Every column has its place, whatever the traces have, so that files of different traces fit together. */
static enum gt_status list_columns(struct work *work, size_t frame, struct gt_error *err) {
    gt_mem_free(work->columns);
    work->column_count = gt_frame_column_count(frame);
    work->columns = gt_mem_array(work->column_count, sizeof *work->columns);
    for (size_t c = 0; work->columns && c < work->column_count; c++)
        work->columns[c] = c;
    return work->columns ? GT_OK : gt_fail_memory(err);
}

static bool is_wanted(const struct gt_export *export, size_t frame) {
    bool is_named = !export->tables;
    for (size_t i = 0; i < export->table_count && !is_named; i++)
        is_named = gt_frame_find(gt_str_of(export->tables[i])) == frame;
    return is_named;
}

static enum gt_status check_tables(const struct gt_export *export, struct gt_error *err) {
    for (size_t i = 0; i < export->table_count; i++)
        if (gt_frame_find(gt_str_of(export->tables[i])) == SIZE_MAX)
            return gt_fail_usage(err, "no table '%.80s' to export", export->tables[i]);
    return GT_OK;
}

static enum gt_status begin(struct work *work, struct gt_error *err) {
    const struct gt_export *export = work->export;
    enum gt_status status = check_tables(export, err);
    if (status != GT_OK)
        return status;
    work->frames = gt_mem_array(export->input_count, sizeof *work->frames);
    work->rows = gt_mem_array(export->input_count, sizeof *work->rows);
    if (!work->frames || !work->rows)
        return gt_fail_memory(err);
    for (size_t i = 0; i < export->input_count && status == GT_OK; i++) {
        const struct gt_export_input *input = &export->inputs[i];
        struct gt_frame_trace trace = {.store = input->view->store,
                                       .labels = input->view->labels,
                                       .rank = input->rank,
                                       .path = gt_str_of(input->path)};
        work->frames[i] = gt_frame_new(&trace);
        status = work->frames[i] ? GT_OK : gt_fail_memory(err);
        if (status == GT_OK && !input->view->is_whole)
            status = list_selected(input->view, &work->rows[i], err);
    }
    return status;
}

static enum gt_status put_frames(struct work *work, struct gt_files *files, struct gt_error *err) {
    enum gt_status status = GT_OK;
    for (size_t f = 0; f < gt_frame_count() && status == GT_OK; f++) {
        struct gt_out *out;
        if (!is_wanted(work->export, f))
            continue;
        status = list_columns(work, f, err);
        if (status == GT_OK)
            status = gt_files_open(files, gt_frame_key(f), ".parquet", &out, err);
        if (status == GT_OK)
            status = put_frame(work, f, out, err);
    }
    return status;
}

enum gt_status gt_export_parquet(const struct gt_export *export, const char *path, struct gt_error *err) {
    struct work work = {.export = export};
    struct gt_files files = {0};
    enum gt_status status = begin(&work, err);
    if (status == GT_OK)
        status = gt_files_init(&files, path, gt_frame_count(), err);
    if (status == GT_OK)
        status = put_frames(&work, &files, err);
    if (status == GT_OK)
        status = gt_files_commit(&files, err);
    gt_files_release(&files);
    for (size_t i = 0; i < export->input_count; i++) {
        gt_frame_free(work.frames ? work.frames[i] : NULL);
        gt_mem_free(work.rows ? work.rows[i] : NULL);
    }
    gt_mem_free(work.frames);
    gt_mem_free(work.rows);
    gt_mem_free(work.columns);
    return status;
}
