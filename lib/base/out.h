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
void gt_out_clear(struct gt_out *out);                /* memory output only: empty again, with the memory that it has */

void gt_out_write(struct gt_out *out, const void *bytes, size_t size);
void gt_out_text(struct gt_out *out, const char *text);
void gt_out_str(struct gt_out *out, struct gt_str text);
void gt_out_char(struct gt_out *out, char c);
void gt_out_repeat(struct gt_out *out, const char *text, size_t times);
void gt_out_printf(struct gt_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Room at the end for bytes that are made in place, at most GT_OUT_ROOM_MAX, never NULL; so many of them are written by
   gt_out_advance, before anything else is. After a failure they go nowhere. */
#define GT_OUT_ROOM_MAX ((size_t)32 * 1024)
char *gt_out_room(struct gt_out *out, size_t size);
void gt_out_advance(struct gt_out *out, size_t size);

/* Whether something has failed, so that what is made from now on goes nowhere. */
bool gt_out_failed(const struct gt_out *out);

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
