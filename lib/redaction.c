/* The public interface of redaction. */
#include "internal.h"
#include "redact/redact.h"

API enum gputime_status gputime_redact(const char *input, const char *output, int hash_names,
                                       struct gputime_redaction *done, struct gputime_error *err) {
    struct gt_error error = {0};
    struct gt_redact_counts counts = {0};
    enum gt_status status = gt_redact(input, output, hash_names != 0, &counts, &error);
    if (done)
        *done = (struct gputime_redaction){
            .kept_tables = counts.kept_tables,
            .kept_rows = counts.kept_rows,
            .kept_strings = counts.kept_strings,
            .left_tables = counts.left_tables,
            .left_columns = counts.left_columns,
            .left_rows = counts.left_rows,
            .hidden_names = counts.hidden_names,
        };
    return gt_internal_fail(status, &error, err);
}
