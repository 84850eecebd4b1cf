/* Exports events as Parquet: one file for each frame, in a directory, with the rows of all traces, in their order. The
 * columns `input` and `rank` come first, as in tables of reports. */
#include "base/mem.h"
#include "base/threads.h"
#include "columns/parquet.h"
#include "export/exporter.h"
#include "export/files.h"
#include "export/frame_batch.h"

enum { INPUT, RANK, LEADING };

struct work {
    const struct gt_export *export;
    struct gt_out **outs; /* by frame; NULL: not wanted */
    uint32_t **rows;      /* by input: the selected ops, ascending; NULL: all */
    size_t part_count;
    struct gt_error *errors; /* by part */
};

/* Some of the frames, written one after the other, by one thread and those that have nothing else to do. */
struct part {
    const struct work *work;
    struct gt_frames **frames; /* by input */
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

static enum gt_status put_input(struct part *part, struct gt_parquet *parquet, struct gt_frame_batch *batch,
                                size_t frame, size_t index, struct gt_error *err) {
    const struct gt_export_input *input = &part->work->export->inputs[index];
    const struct gt_batch_texts label = {&input->label, 1};
    enum gt_status status = gt_frame_batch_fill(batch, part->frames[index], frame, part->columns, part->column_count,
                                                LEADING, input->view->store->asked, err);
    if (status != GT_OK)
        return gt_fail_context(err, "'%s'", input->path);
    lead(batch->columns, &label, &input->rank.rank);
    batch->batch.rows = NULL;
    choose_rows(part->work, frame, index, &batch->batch);
    return gt_parquet_append(parquet, &batch->batch, err);
}

/* Every column has its place, whatever the traces have, so that files of different traces fit together. */
static enum gt_status list_columns(struct part *part, size_t frame, struct gt_error *err) {
    gt_mem_free(part->columns);
    part->column_count = gt_frame_column_count(frame);
    part->columns = gt_mem_array(part->column_count, sizeof *part->columns);
    for (size_t c = 0; part->columns && c < part->column_count; c++)
        part->columns[c] = c;
    return part->columns ? GT_OK : gt_fail_memory(err);
}

static enum gt_status put_rows(struct part *part, struct gt_frame_batch *batch, size_t frame, struct gt_error *err) {
    const struct gt_export *export = part->work->export;
    const struct gt_batch_texts none = {NULL, 0};
    struct gt_parquet parquet;
    lead(batch->columns, &none, NULL);
    enum gt_status status = gt_parquet_init(&parquet, part->work->outs[frame], export->threads, gt_frame_key(frame),
                                            gt_frame_help(frame), batch->columns, LEADING + part->column_count, err);
    for (size_t i = 0; i < export->input_count && status == GT_OK; i++)
        status = put_input(part, &parquet, batch, frame, i, err);
    if (status == GT_OK)
        status = gt_parquet_finish(&parquet, err);
    gt_parquet_release(&parquet);
    return status;
}

static enum gt_status put_frame(struct part *part, size_t frame, struct gt_error *err) {
    struct gt_frame_batch batch = {0};
    enum gt_status status = list_columns(part, frame, err);
    if (status == GT_OK)
        status = gt_frame_batch_init(&batch, frame, part->columns, part->column_count, LEADING, err);
    if (status == GT_OK)
        status = put_rows(part, &batch, frame, err);
    gt_frame_batch_release(&batch);
    return status;
}

/* ---- parts: frames that need the same results are made together ---- */

enum { PARTS_MAX = 2 };

static bool is_of_part(const struct work *work, size_t part, size_t frame) {
    struct gt_str key = gt_str_of(gt_frame_key(frame));
    bool is_of_ops = gt_str_eq(key, GT_STR("ops")) || gt_str_eq(key, GT_STR("gaps"));
    return work->outs[frame] && (work->part_count == 1 || part == (is_of_ops ? 0 : 1));
}

static enum gt_status begin_part(struct part *part, size_t number, struct gt_error *err) {
    const struct gt_export *export = part->work->export;
    part->frames = gt_mem_array(export->input_count, sizeof *part->frames);
    for (size_t i = 0; part->frames && i < export->input_count; i++) {
        const struct gt_export_input *input = &export->inputs[i];
        struct gt_frame_trace trace = {.store = input->view->store,
                                       .labels = input->view->labels,
                                       .rank = input->rank,
                                       .path = gt_str_of(input->path),
                                       .view = number == 0 && input->view->is_whole ? input->view : NULL};
        part->frames[i] = gt_frame_new(&trace);
        if (!part->frames[i])
            return gt_fail_memory(err);
    }
    return part->frames ? GT_OK : gt_fail_memory(err);
}

static void put_part(void *context, size_t number) {
    struct work *work = context;
    struct part part = {.work = work};
    struct gt_error *err = &work->errors[number];
    enum gt_status status = begin_part(&part, number, err);
    for (size_t f = 0; f < gt_frame_count() && status == GT_OK; f++)
        if (is_of_part(work, number, f))
            status = put_frame(&part, f, err);
    for (size_t i = 0; part.frames && i < work->export->input_count; i++)
        gt_frame_free(part.frames[i]);
    gt_mem_free(part.frames);
    gt_mem_free(part.columns);
}

/* ---- all of them ---- */

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
    work->outs = gt_mem_array(gt_frame_count(), sizeof *work->outs);
    work->rows = gt_mem_array(export->input_count, sizeof *work->rows);
    work->part_count = export->threads < PARTS_MAX ? export->threads : PARTS_MAX;
    work->errors = gt_mem_array(work->part_count, sizeof *work->errors);
    if (status == GT_OK && (!work->outs || !work->rows || !work->errors))
        status = gt_fail_memory(err);
    for (size_t i = 0; i < export->input_count && status == GT_OK; i++)
        if (!export->inputs[i].view->is_whole)
            status = list_selected(export->inputs[i].view, &work->rows[i], err);
    return status;
}

static enum gt_status open_files(struct work *work, struct gt_files *files, struct gt_error *err) {
    enum gt_status status = GT_OK;
    for (size_t f = 0; f < gt_frame_count() && status == GT_OK; f++)
        if (is_wanted(work->export, f))
            status = gt_files_open(files, gt_frame_key(f), ".parquet", &work->outs[f], err);
    return status;
}

static enum gt_status put_frames(struct work *work, struct gt_error *err) {
    gt_threads_deal(work->export->threads, work->part_count, put_part, work);
    for (size_t i = 0; i < work->part_count; i++)
        if (work->errors[i].code != GT_OK) {
            *err = work->errors[i];
            return err->code;
        }
    return GT_OK;
}

enum gt_status gt_export_parquet(const struct gt_export *export, const char *path, struct gt_error *err) {
    struct work work = {.export = export};
    struct gt_files files = {0};
    enum gt_status status = begin(&work, err);
    if (status == GT_OK)
        status = gt_files_init(&files, path, gt_frame_count(), err);
    if (status == GT_OK)
        status = open_files(&work, &files, err);
    if (status == GT_OK)
        status = put_frames(&work, err);
    if (status == GT_OK)
        status = gt_files_commit(&files, err);
    gt_files_release(&files);
    for (size_t i = 0; work.rows && i < export->input_count; i++)
        gt_mem_free(work.rows[i]);
    gt_mem_free(work.rows);
    gt_mem_free(work.outs);
    gt_mem_free(work.errors);
    return status;
}
