/* One table as comma-separated values: raw numbers, column keys as header, nulls empty, an `input` column first. */
#include "base/threads.h"
#include "write/escape.h"
#include "write/picked_table.h"
#include "write/row_plan.h"
#include "write/writer.h"

static void write_header(struct gt_out *out, const struct gt_picked_table *picked) {
    for (size_t i = 0; i < picked->count; i++) {
        gt_out_text(out, i ? "," : "");
        gt_escape_csv(out, gt_str_of(picked->joined.columns[picked->columns[i]]->key));
    }
    gt_out_char(out, '\n');
}

static void plan_column(struct gt_row_plan *plan, const struct gt_joined *joined, size_t place) {
    size_t column = gt_joined_table_column(joined, place);
    if (column == SIZE_MAX) {
        struct gt_cell same = gt_joined_table_same(joined, place);
        gt_row_plan_same(plan, GT_ROW_PLAN_FIELD, &same);
        return;
    }
    struct gt_bound bound;
    gt_bound_init_column(&bound, column);
    gt_row_plan_add(plan, GT_ROW_PLAN_FIELD, &bound);
}

static const struct gt_cell *row_of(const void *context, size_t index) {
    return gt_joined_table_row(context, index);
}

/* Of the table that the rows come from now. */
static enum gt_status write_rows(struct gt_out *out, const struct gt_picked_table *picked, size_t threads,
                                 struct gt_error *err) {
    const struct gt_joined *joined = &picked->joined;
    struct gt_row_plan plan;
    if (gt_row_plan_init(&plan, err) != GT_OK)
        return GT_ERR;
    for (size_t i = 0; i < picked->count; i++) {
        gt_out_text(plan.texts, i ? "," : "");
        plan_column(&plan, joined, picked->columns[i]);
    }
    gt_out_char(plan.texts, '\n');
    gt_row_plan_write(&plan, out, threads, gt_joined_table_rows(joined), row_of, joined);
    gt_row_plan_release(&plan);
    return GT_OK;
}

enum gt_status gt_write_csv(const struct gt_report *report, const struct gputime_write_options *options,
                            struct gt_out *out, struct gt_error *err) {
    size_t threads = gt_threads_count(options->threads);
    struct gt_picked_table picked;
    enum gt_status status = gt_picked_table_init(&picked, report, options, err);
    if (status == GT_OK)
        write_header(out, &picked);
    while (status == GT_OK && gt_joined_next_table(&picked.joined))
        status = write_rows(out, &picked, threads, err);
    gt_picked_table_release(&picked);
    return status;
}
