/* Redaction: an SQLite export of Nsight Systems comes in, a new one that can be given to others goes out. */
#ifndef GT_REDACT_REDACT_H
#define GT_REDACT_REDACT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"

struct gt_redact_counts {
    uint64_t kept_tables, kept_rows, kept_strings;
    uint64_t left_tables, left_columns, left_rows; /* columns and rows: of tables that are kept */
    uint64_t hidden_names;                         /* different ones */
};

/* Writes to output, whole or not at all; input stays as it is. */
enum gt_status gt_redact(const char *input, const char *output, bool hides_names, struct gt_redact_counts *counts,
                         struct gt_error *err);

#endif
