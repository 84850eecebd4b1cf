/* Exports events as Parquet: one file for each event table, in a directory, with the rows of all traces. */
#include "base/arena.h"
#include "base/mem.h"
#include "base/out.h"
#include "columns/parquet.h"
#include "export/exporter.h"
#include "export/files.h"

enum { COLUMNS = 5 };

static void list_columns(const struct gt_export_input *input, const struct gt_batch_texts *label,
                         const struct gt_batch_texts *names, struct gt_batch_column columns[COLUMNS]) {
    static const uint32_t first = 0;
    const struct gt_ops *ops = &input->view->store->ops;
    columns[0] = (struct gt_batch_column){
        .key = "input", .type = GPUTIME_FIELD_U32, .is_constant = true, .values = &first, .texts = label};
    columns[1] =
        (struct gt_batch_column){.key = "start_ns", .unit = "ns", .type = GPUTIME_FIELD_I64, .values = ops->start_ns};
    columns[2] =
        (struct gt_batch_column){.key = "end_ns", .unit = "ns", .type = GPUTIME_FIELD_I64, .values = ops->end_ns};
    columns[3] = (struct gt_batch_column){
        .key = "correlation", .type = GPUTIME_FIELD_U64, .null = GPUTIME_NULL_MAX, .values = ops->correlation};
    columns[4] =
        (struct gt_batch_column){.key = "name", .type = GPUTIME_FIELD_U32, .values = ops->name, .texts = names};
}

static enum gt_status put_input(struct gt_parquet *parquet, const struct gt_export_input *input, struct gt_error *err) {
    const struct gt_store *store = input->view->store;
    struct gt_batch_texts label = {&input->label, 1}, names = {store->strings.strings, store->strings.count};
    struct gt_batch_column columns[COLUMNS];
    list_columns(input, &label, &names, columns);
    struct gt_batch batch = {.columns = columns, .column_count = COLUMNS, .row_count = store->ops.count};
    return gt_parquet_append(parquet, &batch, err);
}

static enum gt_status put_table(const struct gt_export *export, struct gt_out *out, struct gt_error *err) {
    struct gt_parquet parquet;
    struct gt_batch_texts none = {NULL, 0};
    struct gt_batch_column columns[COLUMNS];
    list_columns(&export->inputs[0], &none, &none, columns);
    enum gt_status status = gt_parquet_init(&parquet, out, export->threads, "ops", "GPU ops", columns, COLUMNS, err);
    for (size_t i = 0; i < export->input_count && status == GT_OK; i++)
        status = put_input(&parquet, &export->inputs[i], err);
    if (status == GT_OK)
        status = gt_parquet_finish(&parquet, err);
    gt_parquet_release(&parquet);
    return status;
}

enum gt_status gt_export_parquet(const struct gt_export *export, const char *path, struct gt_error *err) {
    struct gt_files files;
    struct gt_out *out;
    enum gt_status status = gt_files_init(&files, path, 1, err);
    if (status == GT_OK)
        status = gt_files_open(&files, "ops.parquet", &out, err);
    if (status == GT_OK)
        status = put_table(export, out, err);
    if (status == GT_OK)
        status = gt_files_commit(&files, err);
    gt_files_release(&files);
    return status;
}
