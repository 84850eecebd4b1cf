/* Input bytes from a file, a pipe or standard input ("-"), inflated when they are gzip, zstd, xz or a member of a zip
   archive: one interface for all. */
#ifndef GT_BASE_SOURCE_H
#define GT_BASE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/str.h"

struct gt_mapping;
struct gt_source;

enum gt_packing { GT_PACKING_NONE, GT_PACKING_GZIP, GT_PACKING_ZSTD, GT_PACKING_XZ, GT_PACKING_ZIP };

#define GT_SOURCE_PEEK_MAX 65536

/* Opens path for reading; "-" is standard input. Errors name the file: missing, a directory, not readable. */
enum gt_status gt_source_open(const char *path, struct gt_source **out, struct gt_error *err);
void gt_source_close(struct gt_source *source); /* NULL is fine */

const char *gt_source_path(const struct gt_source *source); /* as given; "standard input" for "-" */
enum gt_packing gt_source_packing(const struct gt_source *source);

/* Members of a zip archive, at least one; 0: the input is none. The first is read unless another one is selected. What
   was peeked or read before is gone then. Errors: it cannot be read, as it is encrypted for example. */
size_t gt_source_member_count(const struct gt_source *source);
const char *gt_source_member_name(const struct gt_source *source, size_t member);
enum gt_status gt_source_select(struct gt_source *source, size_t member, struct gt_error *err);

/* The first bytes after inflating, up to GT_SOURCE_PEEK_MAX, without consuming them: for sniffing. Fewer only at the
   end of input. Borrowed until the first read. */
enum gt_status gt_source_peek(struct gt_source *source, struct gt_str *head, struct gt_error *err);

/* Fills buf with up to size bytes; *got = 0 means the end. Multi-member gzip and multi-frame zstd read as one stream;
   trailing zero bytes and garbage after a whole member end it. Input that is cut or damaged gives what could be
   inflated, then the end, and gt_source_damage() says so: it is no error. */
enum gt_status gt_source_read(struct gt_source *source, void *buf, size_t size, size_t *got, struct gt_error *err);

/* NULL, or one line on what is wrong with the packed stream ("gzip stream ends early", "zstd checksum is wrong"). */
const char *gt_source_damage(const struct gt_source *source);

/* Random access, for plain regular files (packing none): true and the size. pread may be called from several
   threads at once and gives fewer bytes only at the end of the file (a file may shrink while it is read). */
bool gt_source_is_seekable(const struct gt_source *source, uint64_t *size_bytes);
enum gt_status gt_source_pread(const struct gt_source *source, void *buf, size_t size, uint64_t offset, size_t *got,
                               struct gt_error *err);

/* The same bytes through a mapping, some from offset on, for readers that cope with bytes that change; empty: they are
   to be read. Those that are used are counted for progress. May be called from several threads, each with its own. */
struct gt_str gt_source_show(const struct gt_source *source, struct gt_mapping *mapping, uint64_t offset);
void gt_source_count(const struct gt_source *source, size_t bytes);

/* The bytes of a packed regular file as they are stored, for gt_source_pread: true and their number. Such a file can
   be read again from a place where a member begins; gave_bytes: there were some before it. What was peeked is gone. */
bool gt_source_file_size(const struct gt_source *source, uint64_t *size_bytes);
void gt_source_restart(struct gt_source *source, uint64_t offset, bool gave_bytes);

/* Packed or plain bytes taken from the file so far and its size (0 where unknown): for progress. */
void gt_source_progress(const struct gt_source *source, uint64_t *done_bytes, uint64_t *total_bytes);

#endif
