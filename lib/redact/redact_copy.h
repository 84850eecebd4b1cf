/* Copies the allowed parts of an export's tables, value by value. */
#ifndef GT_REDACT_REDACT_COPY_H
#define GT_REDACT_REDACT_COPY_H

#include "decode/nsys/nsys_schema.h"
#include "redact/redact.h"
#include "redact/redact_file.h"
#include "redact/redact_names.h"
#include "redact/redact_numbers.h"

struct gt_redact_copy {
    const struct gt_sqlite_db *input;
    const char *input_path;
    const struct gt_nsys_table *strings; /* of the input: its columns are id and value; no table: none */
    struct gt_redact_file output;
    struct gt_redact_counts *counts;
    struct gt_redact_numbers numbers;
    struct gt_redact_names names;
    struct gt_map string_ids; /* (role, id in the input) -> id in the output */
};

/* Fills the rest of copy. Release also after a failure. */
enum gt_status gt_redact_copy_init(struct gt_redact_copy *copy, bool hides_names, struct gt_error *err);
void gt_redact_copy_release(struct gt_redact_copy *copy);

/* First the numbers of each table are seen; then, with these sealed, each is copied; then the strings that are referred
   to. Tables that are not allowed are counted. */
enum gt_status gt_redact_copy_see(struct gt_redact_copy *copy, const struct gt_sqlite_table *table,
                                  struct gt_error *err);
enum gt_status gt_redact_copy_table(struct gt_redact_copy *copy, const struct gt_sqlite_table *table,
                                    struct gt_error *err);
enum gt_status gt_redact_copy_strings(struct gt_redact_copy *copy, struct gt_error *err);

#endif
