/* The database that redaction writes: a temporary file that takes its name when all is in it. */
#ifndef GT_REDACT_REDACT_FILE_H
#define GT_REDACT_REDACT_FILE_H

#include "base/fail.h"
#include "base/temporary.h"

struct sqlite3;

struct gt_redact_file {
    const char *path; /* of the result; borrowed */
    struct gt_temporary temporary;
    int fd;                     /* of the temporary; good while connection is open or was */
    struct sqlite3 *connection; /* NULL: not open */
};

/* Opens and begins a transaction. Close also after a failure. */
enum gt_status gt_redact_file_open(struct gt_redact_file *file, const char *path, struct gt_error *err);
/* Fails with what SQLite says about the output. */
enum gt_status gt_redact_file_fail(const struct gt_redact_file *file, struct gt_error *err);
enum gt_status gt_redact_file_commit(struct gt_redact_file *file, struct gt_error *err);
/* Without a commit before, nothing is left of it. */
void gt_redact_file_close(struct gt_redact_file *file);

#endif
