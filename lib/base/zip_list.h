/* The members of a zip archive: a file comes in, where each of them is goes out. For zip.c. */
#ifndef GT_BASE_ZIP_LIST_H
#define GT_BASE_ZIP_LIST_H

#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"

struct gt_zip_file {
    int fd;
    uint64_t start, size; /* where in the file the archive is */
    const char *path;
};

enum { GT_ZIP_STORED = 0, GT_ZIP_DEFLATED = 8 };

struct gt_zip_member {
    const char *name;
    uint64_t begin;        /* of its packed bytes */
    uint64_t packed_bytes; /* may be more than the file has; UINT64_MAX: not known */
    uint64_t plain_bytes;
    uint32_t crc;
    uint16_t method;
    bool is_encrypted;
    bool has_check; /* plain_bytes and crc are known */
};

struct gt_zip_list {
    struct gt_zip_member *members;
    size_t count, capacity;
    const char *damage; /* NULL: the archive's directory is whole */
    struct gt_arena arena;
};

/* Errors: reading, memory, too many members, an archive in several files. */
enum gt_status gt_zip_list_read(struct gt_zip_list *list, const struct gt_zip_file *file, struct gt_error *err);
void gt_zip_list_release(struct gt_zip_list *list);

/* Bytes of the archive; fewer only at its end. */
enum gt_status gt_zip_list_pread(const struct gt_zip_file *file, void *buf, size_t size, uint64_t offset, size_t *got,
                                 struct gt_error *err);

#endif
