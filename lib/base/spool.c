/* Copies of inputs: a source that only streams comes in, one that can be read from any place goes out. The file is
   unlinked as soon as it is open, so that no file remains, however the process ends. */
#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/oserror.h"

enum { COPY_BYTES = 1 << 20 };

struct gt_spool {
    int fd;
    struct gt_source *source;
    char path[64];
};

static enum gt_status fail_write(int number, struct gt_error *err) {
    char text[GT_OSERROR_MAX];
    return gt_fail(err, "cannot write a temporary file: %s; set TMPDIR to a directory with more space",
                   gt_oserror_text(number, text));
}

enum gt_status gt_spool_new_file(int *fd, struct gt_error *err) {
    const char *folder = secure_getenv("TMPDIR");
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/gputime-XXXXXX", folder && *folder ? folder : "/tmp");
    if (length < 0 || (size_t)length >= sizeof path)
        return fail_write(ENAMETOOLONG, err);
    *fd = mkostemp(path, O_CLOEXEC);
    if (*fd < 0)
        return fail_write(errno, err);
    unlink(path);
    return GT_OK;
}

static enum gt_status open_file(struct gt_spool *spool, struct gt_error *err) {
    enum gt_status status = gt_spool_new_file(&spool->fd, err);
    if (status == GT_OK)
        snprintf(spool->path, sizeof spool->path, "/proc/%ld/fd/%d", (long)getpid(), spool->fd);
    return status;
}

enum gt_status gt_spool_write(int fd, const void *from, size_t size, struct gt_error *err) {
    const char *bytes = from;
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return fail_write(errno, err);
        bytes += written;
        size -= (size_t)written;
    }
    return GT_OK;
}

static enum gt_status copy(struct gt_spool *spool, struct gt_source *source, struct gt_error *err) {
    size_t got = 0;
    enum gt_status status = GT_OK;
    char *buffer = gt_mem_alloc(COPY_BYTES);
    if (!buffer)
        return gt_fail_memory(err);
    do {
        status = gt_source_read(source, buffer, COPY_BYTES, &got, err);
        if (status == GT_OK)
            status = gt_spool_write(spool->fd, buffer, got, err);
    } while (status == GT_OK && got > 0);
    gt_mem_free(buffer);
    return status;
}

enum gt_status gt_spool_open(struct gt_source *source, struct gt_spool **out, struct gt_error *err) {
    *out = NULL;
    struct gt_spool *spool = gt_mem_array(1, sizeof *spool);
    if (!spool)
        return gt_fail_memory(err);
    spool->fd = -1;
    enum gt_status status = open_file(spool, err);
    if (status == GT_OK)
        status = copy(spool, source, err);
    if (status == GT_OK)
        status = gt_source_open(spool->path, &spool->source, err);
    if (status == GT_OK)
        *out = spool;
    else
        gt_spool_close(spool);
    return status;
}

void gt_spool_close(struct gt_spool *spool) {
    if (!spool)
        return;
    gt_source_close(spool->source);
    if (spool->fd >= 0)
        close(spool->fd);
    gt_mem_free(spool);
}

struct gt_source *gt_spool_source(const struct gt_spool *spool) {
    return spool->source;
}

const char *gt_spool_path(const struct gt_spool *spool) {
    return spool->path;
}
