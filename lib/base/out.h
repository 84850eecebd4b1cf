/* Output with sticky errors. A regular file is written whole or not at all: temporary file, fsync, rename. */
#ifndef GT_BASE_OUT_H
#define GT_BASE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/str.h"

struct gt_out;

/* path NULL or "-": standard output. A regular or new file is replaced only by gt_out_commit; a pipe, device or
   terminal is written in place. */
enum gt_status gt_out_open(const char *path, struct gt_out **out, struct gt_error *err);

/* Collects in memory instead; gt_out_bytes gives the result. */
enum gt_status gt_out_open_memory(struct gt_out **out, struct gt_error *err);
struct gt_str gt_out_bytes(const struct gt_out *out); /* borrowed until the next write or close; memory output only */

void gt_out_write(struct gt_out *out, const void *bytes, size_t size);
void gt_out_text(struct gt_out *out, const char *text);
void gt_out_str(struct gt_out *out, struct gt_str text);
void gt_out_char(struct gt_out *out, char c);
void gt_out_repeat(struct gt_out *out, const char *text, size_t times);
void gt_out_printf(struct gt_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Memory was too short to make what was to be written: the commit fails. */
void gt_out_fail_memory(struct gt_out *out);

/* All but the last step of a commit: what is written is on the disk, under its temporary name. For files that are to be
   replaced together, so that most failures come before the first is. */
enum gt_status gt_out_settle(struct gt_out *out, struct gt_error *err);

/* Flushes, syncs and renames. The first failure of any call above is reported here, naming the file. */
enum gt_status gt_out_commit(struct gt_out *out, struct gt_error *err);

/* Frees. Without a commit before, a regular file stays as it was and no temporary is left. NULL is fine. */
void gt_out_close(struct gt_out *out);

#endif
