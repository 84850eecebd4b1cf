/* The public interface of comparisons and limits: finished reports in, another or a verdict out. */
#include "base/mem.h"
#include "internal.h"
#include "report/diff.h"
#include "report/limit.h"

API enum gputime_status gputime_report_diff(const struct gputime_report *a, const struct gputime_report *b,
                                            const struct gputime_diff_options *diff,
                                            const struct gputime_options *options, struct gputime_report **out,
                                            struct gputime_error *err) {
    struct gt_error error = {0};
    const struct gputime_options *how = options ? options : &gt_options_automatic;
    *out = NULL;
    struct gputime_report *report = gt_alloc_array(1, sizeof *report);
    if (!report)
        return gt_error_pass(gt_fail_memory(&error), &error, err);
    enum gt_status status = gt_diff_new(a->model, b->model, diff, &report->model, &error);
    if (status == GT_OK) {
        if (how->main_table)
            report->model->main_table = how->main_table;
        status = gt_report_shape(report->model, how->shapes, how->shape_count, &error);
    }
    if (status == GT_OK)
        *out = report;
    else
        gputime_report_free(report);
    return gt_error_pass(status, &error, err);
}

API enum gputime_status gputime_report_check(struct gputime_report *report, const char *const *limits,
                                             size_t limit_count, size_t *broken, struct gputime_error *err) {
    struct gt_error error = {0};
    return gt_error_pass(gt_report_check(report->model, limits, limit_count, broken, &error), &error, err);
}
