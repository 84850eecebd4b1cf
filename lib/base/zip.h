/* A zip archive in a file: its members, and the plain bytes of one of them at a time, stored or deflated. Memory is of
   fixed size, whatever the archive holds. */
#ifndef GT_BASE_ZIP_H
#define GT_BASE_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

struct gt_zip;

/* Members that an archive may have. One with more is refused. */
#define GT_ZIP_MEMBERS_MAX 1000

/* Whether the first four bytes are those of an archive; of an empty one, too. */
bool gt_zip_begins(const unsigned char *head, size_t size);

/* Lists the members of the archive in [start, start + size) of a file, which stays the caller's. Directories and what
   macOS adds are left out. Where the archive's own directory is missing or damaged, members are found one after the
   other, and gt_zip_damage() says so. path: for errors. */
enum gt_status gt_zip_open(int fd, uint64_t start, uint64_t size, const char *path, struct gt_zip **out,
                           struct gt_error *err);
void gt_zip_close(struct gt_zip *zip); /* NULL is fine */

size_t gt_zip_count(const struct gt_zip *zip);
const char *gt_zip_name(const struct gt_zip *zip, size_t member);

/* Begins to read a member. Errors: it is encrypted, or packed in another way. */
enum gt_status gt_zip_select(struct gt_zip *zip, size_t member, struct gt_error *err);

/* Up to size bytes; *got = 0 means the end. A member that is cut or damaged gives what could be inflated. */
enum gt_status gt_zip_read(struct gt_zip *zip, void *buf, size_t size, size_t *got, struct gt_error *err);

/* NULL, or what is wrong with the archive or the member that was read. */
const char *gt_zip_damage(const struct gt_zip *zip);

uint64_t gt_zip_done(const struct gt_zip *zip); /* bytes of the member that were taken from the file */

#endif
