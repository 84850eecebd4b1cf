/* Input bytes: a path comes in, the bytes of the file, pipe or standard input go out, inflated where they are packed.
   Files are read, or looked at through mapping.h, so that a file that shrinks meanwhile cannot kill the process. */
#include "base/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/inflate.h"
#include "base/mapping.h"
#include "base/mem.h"
#include "base/oserror.h"
#include "base/spool.h"
#include "base/zip.h"

enum { RAW_BYTES = 256 * 1024, READ_MAX = 1 << 30 };

struct gt_source {
    char *path; /* as given; NULL for standard input */
    int fd;
    bool is_regular;
    uint64_t start, size; /* regular files: where in the file the input begins, and its bytes from there on */
    uint64_t position;    /* regular files: the next byte for the stream, counted from start */
    _Atomic uint64_t done;

    unsigned char *raw; /* bytes of the file on their way: its head, and all that is to be inflated */
    size_t raw_next, raw_end;
    bool raw_ended;

    struct gt_zip *zip; /* where the raw bytes come from; NULL: from the file */
    bool owns_fd;       /* of standard input: a copy of an archive */

    enum gt_packing packing; /* of the file, or of the member of an archive */
    struct gt_inflate *inflate;

    unsigned char *head; /* what was peeked; allocated by the first peek */
    size_t head_next, head_end;
};

static enum gt_status fail_errno(const struct gt_source *source, int number, struct gt_error *err) {
    char text[GT_OSERROR_MAX];
    gt_oserror_text(number, text);
    if (!source->path)
        return gt_fail(err, "cannot read standard input: %s", text);
    return gt_fail(err, "cannot read '%s': %s", source->path, text);
}

/* After a failed read: whether to try again. A descriptor that came from others may be set not to block. */
static bool retries(int fd, int number) {
    if (number == EAGAIN || number == EWOULDBLOCK)
        return poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1) >= 0 || errno == EINTR;
    return number == EINTR;
}

static enum gt_status read_member(struct gt_source *source, void *buf, size_t size, size_t *got, struct gt_error *err) {
    uint64_t before = gt_zip_done(source->zip);
    enum gt_status status = gt_zip_read(source->zip, buf, size, got, err);
    atomic_fetch_add_explicit(&source->done, gt_zip_done(source->zip) - before, memory_order_relaxed);
    return status;
}

/* One read of some bytes; *got = 0 means the end. */
static enum gt_status read_some(struct gt_source *source, void *buf, size_t size, size_t *got, struct gt_error *err) {
    if (source->zip)
        return read_member(source, buf, size, got, err);
    if (size > READ_MAX)
        size = READ_MAX;
    ssize_t n;
    do {
        n = source->is_regular ? pread(source->fd, buf, size, (off_t)(source->start + source->position))
                               : read(source->fd, buf, size);
    } while (n < 0 && retries(source->fd, errno));
    *got = n > 0 ? (size_t)n : 0;
    if (n < 0)
        return fail_errno(source, errno, err);
    source->position += *got;
    atomic_fetch_add_explicit(&source->done, *got, memory_order_relaxed);
    return GT_OK;
}

/* Appends to the raw bytes that are left. */
static enum gt_status fill_raw(struct gt_source *source, struct gt_error *err) {
    size_t left = source->raw_end - source->raw_next, got;
    memmove(source->raw, source->raw + source->raw_next, left);
    source->raw_next = 0;
    source->raw_end = left;
    enum gt_status status = read_some(source, source->raw + left, RAW_BYTES - left, &got, err);
    source->raw_end += got;
    source->raw_ended = status == GT_OK && got == 0;
    return status;
}

static enum gt_status fill_head(struct gt_source *source, struct gt_error *err) {
    while (source->raw_end < GT_INFLATE_MAGIC_MAX && !source->raw_ended)
        if (fill_raw(source, err) != GT_OK)
            return GT_ERR;
    return GT_OK;
}

static enum gt_status sniff_packing(struct gt_source *source, struct gt_error *err) {
    if (fill_head(source, err) != GT_OK)
        return GT_ERR;
    source->packing = gt_inflate_sniff(source->raw, source->raw_end);
    if (source->packing != GT_PACKING_NONE && !(source->inflate = gt_inflate_new(source->packing)))
        return gt_fail_memory(err);
    return GT_OK;
}

/* The directory of an archive is at its end: what comes through a pipe is copied to a file without a name first. */
static enum gt_status keep_pipe(struct gt_source *source, struct gt_error *err) {
    int fd = -1;
    enum gt_status status = gt_spool_new_file(&fd, err);
    while (status == GT_OK && !(source->raw_ended && source->raw_next == source->raw_end)) {
        status = gt_spool_write(fd, source->raw + source->raw_next, source->raw_end - source->raw_next, err);
        source->size += source->raw_end - source->raw_next;
        source->raw_next = source->raw_end;
        if (status == GT_OK)
            status = fill_raw(source, err);
    }
    if (status != GT_OK) {
        if (fd >= 0)
            close(fd);
        return status;
    }
    if (source->path)
        close(source->fd);
    source->fd = fd;
    source->owns_fd = source->is_regular = true;
    source->start = 0;
    return GT_OK;
}

static enum gt_status open_archive(struct gt_source *source, struct gt_error *err) {
    if (!source->is_regular && keep_pipe(source, err) != GT_OK)
        return GT_ERR;
    if (gt_zip_open(source->fd, source->start, source->size, gt_source_path(source), &source->zip, err) != GT_OK)
        return GT_ERR;
    if (gt_zip_count(source->zip) == 0)
        return gt_fail(err,
                       gt_zip_damage(source->zip) ? "'%s': no readable data: %s" : "'%s': zip archive without files%s",
                       gt_source_path(source), gt_zip_damage(source->zip) ? gt_zip_damage(source->zip) : "");
    /* Members that cannot be read are errors only where they are asked for. */
    for (size_t i = 0; i < gt_zip_count(source->zip); i++)
        if (gt_source_select(source, i, i + 1 == gt_zip_count(source->zip) ? err : NULL) == GT_OK)
            return GT_OK;
    return GT_ERR;
}

static enum gt_status sniff(struct gt_source *source, struct gt_error *err) {
    source->raw = gt_mem_alloc(RAW_BYTES);
    if (!source->raw)
        return gt_fail_memory(err);
    if (fill_head(source, err) != GT_OK)
        return GT_ERR;
    if (gt_zip_begins(source->raw, source->raw_end))
        return open_archive(source, err);
    return sniff_packing(source, err);
}

static enum gt_status open_path(struct gt_source *source, const char *path, struct gt_error *err) {
    size_t size = strlen(path) + 1;
    source->path = gt_mem_alloc(size);
    if (!source->path)
        return gt_fail_memory(err);
    memcpy(source->path, path, size);
    do {
        source->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    } while (source->fd < 0 && errno == EINTR);
    if (source->fd >= 0)
        return GT_OK;
    int number = errno;
    struct stat info;
    char text[GT_OSERROR_MAX];
    if (number == ENXIO && stat(path, &info) == 0 && S_ISSOCK(info.st_mode))
        return gt_fail(err, "cannot read '%s': it is a socket", path);
    return gt_fail(err, "cannot read '%s': %s", path, gt_oserror_text(number, text));
}

static enum gt_status examine(struct gt_source *source, struct gt_error *err) {
    struct stat info;
    if (fstat(source->fd, &info) < 0)
        return fail_errno(source, errno, err);
    if (S_ISDIR(info.st_mode))
        return source->path ? gt_fail(err, "cannot read '%s': it is a directory", source->path)
                            : gt_fail(err, "cannot read standard input: it is a directory");
    source->is_regular = S_ISREG(info.st_mode);
    if (!source->is_regular)
        return GT_OK;
    /* Standard input may be a file of which others have read a part. */
    off_t start = source->path ? 0 : lseek(source->fd, 0, SEEK_CUR);
    source->start = start > 0 ? (uint64_t)start : 0;
    if ((uint64_t)info.st_size > source->start)
        source->size = (uint64_t)info.st_size - source->start;
    return GT_OK;
}

enum gt_status gt_source_open(const char *path, struct gt_source **out, struct gt_error *err) {
    *out = NULL;
    struct gt_source *source = gt_mem_array(1, sizeof(*source));
    if (!source)
        return gt_fail_memory(err);
    source->fd = STDIN_FILENO;
    if ((strcmp(path, "-") != 0 && open_path(source, path, err) != GT_OK) || examine(source, err) != GT_OK ||
        sniff(source, err) != GT_OK) {
        gt_source_close(source);
        return GT_ERR;
    }
    *out = source;
    return GT_OK;
}

void gt_source_close(struct gt_source *source) {
    if (!source)
        return;
    if ((source->path || source->owns_fd) && source->fd >= 0)
        close(source->fd);
    gt_zip_close(source->zip);
    gt_inflate_free(source->inflate);
    gt_mem_free(source->head);
    gt_mem_free(source->raw);
    gt_mem_free(source->path);
    gt_mem_free(source);
}

const char *gt_source_path(const struct gt_source *source) {
    return source->path ? source->path : "standard input";
}

enum gt_packing gt_source_packing(const struct gt_source *source) {
    return source->zip && source->packing == GT_PACKING_NONE ? GT_PACKING_ZIP : source->packing;
}

size_t gt_source_member_count(const struct gt_source *source) {
    return source->zip ? gt_zip_count(source->zip) : 0;
}

const char *gt_source_member_name(const struct gt_source *source, size_t member) {
    return gt_zip_name(source->zip, member);
}

enum gt_status gt_source_select(struct gt_source *source, size_t member, struct gt_error *err) {
    gt_inflate_free(source->inflate);
    gt_mem_free(source->head);
    source->inflate = NULL;
    source->head = NULL;
    source->head_next = source->head_end = source->raw_next = source->raw_end = 0;
    source->raw_ended = false;
    source->packing = GT_PACKING_NONE;
    enum gt_status status = gt_zip_select(source->zip, member, err);
    return status == GT_OK ? sniff_packing(source, err) : status;
}

const char *gt_source_damage(const struct gt_source *source) {
    const char *damage = source->inflate ? gt_inflate_damage(source->inflate) : NULL;
    return damage || !source->zip ? damage : gt_zip_damage(source->zip);
}

static enum gt_status read_plain(struct gt_source *source, unsigned char *buf, size_t size, size_t *got,
                                 struct gt_error *err) {
    size_t from_raw = source->raw_end - source->raw_next;
    from_raw = from_raw < size ? from_raw : size;
    memcpy(buf, source->raw + source->raw_next, from_raw);
    source->raw_next += from_raw;
    *got = from_raw;
    while (*got < size && !source->raw_ended) {
        size_t more;
        if (read_some(source, buf + *got, size - *got, &more, err) != GT_OK)
            return GT_ERR;
        *got += more;
        source->raw_ended = more == 0;
    }
    return GT_OK;
}

static enum gt_status read_packed(struct gt_source *source, unsigned char *buf, size_t size, size_t *got,
                                  struct gt_error *err) {
    struct gt_inflate_io io = {.out = buf, .out_size = size};
    enum gt_inflate_status status;
    do {
        io.in = source->raw + source->raw_next;
        io.in_size = source->raw_end - source->raw_next;
        io.in_is_last = source->raw_ended;
        status = gt_inflate_run(source->inflate, &io);
        source->raw_next = source->raw_end - io.in_size;
        if (status == GT_INFLATE_NO_MEMORY)
            return gt_fail_memory(err);
        if (status == GT_INFLATE_NEEDS_INPUT && fill_raw(source, err) != GT_OK)
            return GT_ERR;
    } while (status == GT_INFLATE_NEEDS_INPUT);
    *got = size - io.out_size;
    return GT_OK;
}

static enum gt_status read_stream(struct gt_source *source, unsigned char *buf, size_t size, size_t *got,
                                  struct gt_error *err) {
    *got = 0;
    return source->inflate ? read_packed(source, buf, size, got, err) : read_plain(source, buf, size, got, err);
}

enum gt_status gt_source_peek(struct gt_source *source, struct gt_str *head, struct gt_error *err) {
    *head = (struct gt_str){"", 0};
    if (!source->head) {
        source->head = gt_mem_alloc(GT_SOURCE_PEEK_MAX);
        if (!source->head)
            return gt_fail_memory(err);
        if (read_stream(source, source->head, GT_SOURCE_PEEK_MAX, &source->head_end, err) != GT_OK) {
            gt_mem_free(source->head);
            source->head = NULL;
            source->head_end = 0;
            return GT_ERR;
        }
    }
    *head = (struct gt_str){(const char *)source->head + source->head_next, source->head_end - source->head_next};
    return GT_OK;
}

enum gt_status gt_source_read(struct gt_source *source, void *buf, size_t size, size_t *got, struct gt_error *err) {
    size_t from_head = source->head_end - source->head_next;
    from_head = from_head < size ? from_head : size;
    if (from_head)
        memcpy(buf, source->head + source->head_next, from_head);
    source->head_next += from_head;
    *got = from_head;
    if (from_head == size)
        return GT_OK;
    size_t more;
    enum gt_status status = read_stream(source, (unsigned char *)buf + from_head, size - from_head, &more, err);
    *got += more;
    return status;
}

bool gt_source_is_seekable(const struct gt_source *source, uint64_t *size_bytes) {
    /* Files of /proc say that they have no bytes, and have some: they are streams. */
    if (!source->is_regular || source->zip || source->packing != GT_PACKING_NONE || source->size == 0)
        return false;
    *size_bytes = source->size;
    return true;
}

bool gt_source_file_size(const struct gt_source *source, uint64_t *size_bytes) {
    *size_bytes = source->size;
    return source->is_regular && !source->zip && source->size > 0;
}

void gt_source_restart(struct gt_source *source, uint64_t offset, bool gave_bytes) {
    source->head_next = source->head_end;
    source->raw_next = source->raw_end = 0;
    source->raw_ended = false;
    source->position = offset;
    gt_inflate_restart(source->inflate, gave_bytes);
}

enum gt_status gt_source_pread(const struct gt_source *source, void *buf, size_t size, uint64_t offset, size_t *got,
                               struct gt_error *err) {
    *got = 0;
    if (offset > (uint64_t)INT64_MAX - source->start || size > (uint64_t)INT64_MAX - source->start - offset)
        return GT_OK; /* after the end of any file */
    while (*got < size) {
        size_t piece = size - *got < READ_MAX ? size - *got : READ_MAX;
        ssize_t n = pread(source->fd, (char *)buf + *got, piece, (off_t)(source->start + offset + *got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(source, errno, err);
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    gt_source_count(source, *got);
    return GT_OK;
}

struct gt_str gt_source_show(const struct gt_source *source, struct gt_mapping *mapping, uint64_t offset) {
    if (offset >= source->size)
        return (struct gt_str){"", 0};
    return gt_mapping_show(mapping, source->fd, source->start + offset, source->start + source->size);
}

void gt_source_count(const struct gt_source *source, size_t bytes) {
    /* Only a counter, and the const pointer always points to a heap block that this file allocated. */
    atomic_fetch_add_explicit(&((struct gt_source *)(uintptr_t)source)->done, bytes, memory_order_relaxed);
}

void gt_source_progress(const struct gt_source *source, uint64_t *done_bytes, uint64_t *total_bytes) {
    uint64_t done = atomic_load_explicit(&((struct gt_source *)(uintptr_t)source)->done, memory_order_relaxed);
    *total_bytes = source->size;
    *done_bytes = source->size && done > source->size ? source->size : done; /* bytes read twice count twice */
}
