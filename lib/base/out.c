/* Output: bytes come in, a file, the standard output or a block of memory goes out. Regular files are written to a
   temporary next to them that takes their name at the commit. A broken pipe is an error like any other as long as
   SIGPIPE is ignored, which is up to the program. */
#include "base/out.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/durable.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/oserror.h"
#include "base/temporary.h"

enum {
    BUFFER_BYTES = 64 * 1024,
    LINKS_MAX = 40,
    BEGIN_BYTES = 16 << 20, /* enough for a disk to be busy */
    RESERVED_BYTES = 64 << 20,
};
_Static_assert(BUFFER_BYTES >= GT_OUT_ROOM_MAX, "room that is asked for fits in a buffer that is empty");

struct gt_out {
    char *path; /* as given; NULL for standard output and memory */
    int fd;     /* -1: memory */
    bool owns_fd;
    char *target;                  /* regular files: what is replaced, links followed */
    struct gt_temporary temporary; /* regular files: what is written until then */
    char *buffer;
    size_t used, capacity;
    int64_t written, begun; /* bytes of a regular file: by the program, and of these on their way to the disk */
    int64_t reserved;       /* where the room ends that was found for it ahead; 0: none */
    bool cannot_reserve;
    bool is_settled; /* on the disk */
    bool failed;
    int error; /* errno of the first failure; 0: memory was short */
};

static char *copy_text(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = gt_mem_alloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

static void fail_write(struct gt_out *out, int number) {
    if (!out->failed)
        out->error = number;
    out->failed = true;
    out->used = 0;
}

/* ---- opening ---- */

/* "/dev/stdout", "/dev/stderr" and "/dev/fd/3" name what is open already: opening them anew would lose its position. */
static int named_fd(const char *path) {
    int64_t number;
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    if (strncmp(path, "/dev/fd/", 8) == 0 && gt_num_parse_int(gt_str_of(path + 8), &number) && number >= 0 &&
        number <= INT_MAX)
        return (int)number;
    return -1;
}

/* dir of path, with the slash, and name after it; NULL: memory was short. */
static char *in_folder_of(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0, size = strlen(name) + 1;
    char *joined = gt_mem_alloc(folder + size);
    if (!joined)
        return NULL;
    memcpy(joined, path, folder);
    memcpy(joined + folder, name, size);
    return joined;
}

/* What a path leads to when it is a symbolic link, even to nothing, so that the link itself stays. NULL with errno. */
static char *follow_links(const char *path) {
    char *current = copy_text(path), link[PATH_MAX];
    for (int i = 0; current && i < LINKS_MAX; i++) {
        ssize_t n = readlink(current, link, sizeof(link) - 1);
        if (n < 0)
            return current; /* no link, or not there: opening it says */
        link[n] = '\0';
        char *next = link[0] == '/' ? copy_text(link) : in_folder_of(current, link);
        gt_mem_free(current);
        current = next;
    }
    errno = current ? ELOOP : ENOMEM;
    gt_mem_free(current);
    return NULL;
}

static enum gt_status fail_open(const char *path, int number, struct gt_error *err) {
    char text[GT_OSERROR_MAX];
    if (number == ENOMEM)
        return gt_fail_memory(err);
    if (number == ENOENT && path[0])
        return gt_fail(err, "cannot write '%s': its directory does not exist", path);
    return gt_fail(err, "cannot write '%s': %s", path, gt_oserror_text(number, text));
}

/* info: the file that is there, NULL if there is none. */
static enum gt_status open_regular(struct gt_out *out, const struct stat *info, struct gt_error *err) {
    out->target = follow_links(out->path);
    if (!out->target || (info && access(out->target, W_OK) < 0))
        return fail_open(out->path, errno, err);
    out->fd = gt_temporary_open(&out->temporary, out->target);
    if (out->fd < 0)
        return fail_open(out->path, errno, err);
    if (info) { /* the new file is to look like the old one; what the system does not allow stays as it is */
        if (info->st_uid != geteuid() || info->st_gid != getegid())
            (void)!fchown(out->fd, info->st_uid, info->st_gid);
        (void)!fchmod(out->fd, info->st_mode & 0777);
    }
    return GT_OK;
}

static enum gt_status open_path(struct gt_out *out, const char *path, struct gt_error *err) {
    struct stat info;
    out->path = copy_text(path);
    if (!out->path)
        return gt_fail_memory(err);
    out->fd = -1;
    out->owns_fd = true;
    int named = named_fd(path);
    if (named >= 0) {
        out->fd = fcntl(named, F_DUPFD_CLOEXEC, 3);
        return out->fd < 0 ? fail_open(path, errno, err) : GT_OK;
    }
    bool exists = stat(path, &info) == 0;
    if (!exists && (errno != ENOENT || !path[0]))
        return fail_open(path, errno, err);
    size_t size = strlen(path);
    if (exists ? S_ISDIR(info.st_mode) : size > 0 && path[size - 1] == '/')
        return gt_fail(err, exists ? "cannot write '%s': it is a directory" : "cannot write '%s': no such directory",
                       path);
    if (!exists || S_ISREG(info.st_mode))
        return open_regular(out, exists ? &info : NULL, err);
    out->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return out->fd < 0 ? fail_open(path, errno, err) : GT_OK;
}

static struct gt_out *new_out(int fd) {
    struct gt_out *out = gt_mem_array(1, sizeof(*out));
    if (!out)
        return NULL;
    out->fd = fd;
    out->capacity = BUFFER_BYTES;
    out->buffer = gt_mem_alloc(out->capacity);
    if (!out->buffer) {
        gt_mem_free(out);
        return NULL;
    }
    return out;
}

enum gt_status gt_out_open(const char *path, struct gt_out **out, struct gt_error *err) {
    *out = NULL;
    struct gt_out *opened = new_out(STDOUT_FILENO);
    if (!opened)
        return gt_fail_memory(err);
    if (path && strcmp(path, "-") != 0 && open_path(opened, path, err) != GT_OK) {
        gt_out_close(opened);
        return GT_ERR;
    }
    *out = opened;
    return GT_OK;
}

enum gt_status gt_out_open_memory(struct gt_out **out, struct gt_error *err) {
    *out = new_out(-1);
    return *out ? GT_OK : gt_fail_memory(err);
}

struct gt_str gt_out_bytes(const struct gt_out *out) {
    return (struct gt_str){out->buffer, out->used};
}

void gt_out_clear(struct gt_out *out) {
    out->used = 0;
}

/* ---- writing ---- */

/* Files that became long are likely to go on. */
static void reserve(struct gt_out *out, size_t coming) {
    if (out->cannot_reserve || !out->temporary.path || out->written < BEGIN_BYTES || coming > RESERVED_BYTES ||
        out->written + (int64_t)coming <= out->reserved)
        return;
    out->cannot_reserve = !gt_durable_reserve(out->fd, out->written, RESERVED_BYTES);
    if (!out->cannot_reserve)
        out->reserved = out->written + RESERVED_BYTES;
}

static void write_all(struct gt_out *out, const char *bytes, size_t size) {
    reserve(out, size);
    while (size > 0 && !out->failed) {
        ssize_t n = write(out->fd, bytes, size < (1 << 30) ? size : 1 << 30);
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
            out->written += n;
        } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            /* Others may have set a descriptor that we were given not to block. */
            if (poll(&(struct pollfd){.fd = out->fd, .events = POLLOUT}, 1, -1) < 0 && errno != EINTR)
                fail_write(out, errno);
        } else if (n == 0 || errno != EINTR) {
            fail_write(out, n == 0 ? EIO : errno);
        }
    }
    if (out->temporary.path && out->written - out->begun >= BEGIN_BYTES) {
        gt_durable_begin(out->fd, out->begun, out->written - out->begun);
        out->begun = out->written;
    }
}

static void flush(struct gt_out *out) {
    size_t size = out->used;
    out->used = 0;
    write_all(out, out->buffer, size);
}

static bool grow_memory(struct gt_out *out, size_t more) {
    size_t wanted = out->used + more;
    if (wanted < more || wanted > SIZE_MAX / 2)
        return false;
    size_t capacity = out->capacity;
    while (capacity < wanted)
        capacity *= 2;
    char *buffer = gt_mem_realloc(out->buffer, capacity);
    if (!buffer)
        return false;
    out->buffer = buffer;
    out->capacity = capacity;
    return true;
}

/* Makes room for size bytes in the buffer. false: the bytes are not for the buffer, or all is lost. */
static bool make_room(struct gt_out *out, size_t size) {
    if (out->failed)
        return false;
    if (size <= out->capacity - out->used)
        return true;
    if (out->fd < 0) {
        if (!grow_memory(out, size))
            fail_write(out, 0);
        return !out->failed;
    }
    flush(out);
    return !out->failed && size <= out->capacity;
}

void gt_out_write(struct gt_out *out, const void *bytes, size_t size) {
    if (size == 0)
        return;
    if (make_room(out, size)) {
        memcpy(out->buffer + out->used, bytes, size);
        out->used += size;
    } else if (!out->failed) {
        write_all(out, bytes, size);
    }
}

/* The buffer is larger than what may be asked for, also after growing failed. */
char *gt_out_room(struct gt_out *out, size_t size) {
    assert(size <= GT_OUT_ROOM_MAX);
    (void)make_room(out, size);
    return out->buffer + out->used;
}

void gt_out_advance(struct gt_out *out, size_t size) {
    out->used += out->failed ? 0 : size;
}

bool gt_out_failed(const struct gt_out *out) {
    return out->failed;
}

void gt_out_text(struct gt_out *out, const char *text) {
    gt_out_write(out, text, strlen(text));
}

void gt_out_str(struct gt_out *out, struct gt_str text) {
    gt_out_write(out, text.ptr, text.len);
}

void gt_out_char(struct gt_out *out, char c) {
    gt_out_write(out, &c, 1);
}

void gt_out_repeat(struct gt_out *out, const char *text, size_t times) {
    size_t size = strlen(text);
    for (size_t i = 0; i < times; i++)
        gt_out_write(out, text, size);
}

void gt_out_printf(struct gt_out *out, const char *format, ...) {
    char small[512], *text = small;
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(small, sizeof(small), format, arguments);
    va_end(arguments);
    if (size >= (int)sizeof(small) && (text = gt_mem_alloc((size_t)size + 1))) {
        va_start(arguments, format);
        vsnprintf(text, (size_t)size + 1, format, arguments);
        va_end(arguments);
    }
    if (!text || size < 0)
        fail_write(out, text ? EOVERFLOW : 0);
    else
        gt_out_write(out, text, (size_t)size);
    if (text != small)
        gt_mem_free(text);
}

void gt_out_fail_memory(struct gt_out *out) {
    fail_write(out, 0);
}

/* ---- ending ---- */

static void close_fd(struct gt_out *out) {
    if (out->owns_fd && out->fd >= 0 && close(out->fd) < 0 && errno != EINTR)
        fail_write(out, errno);
    out->owns_fd = false;
}

static void settle(struct gt_out *out) {
    if (!out->failed && out->fd >= 0)
        flush(out);
    if (!out->failed && out->reserved > out->written)
        gt_durable_trim(out->fd, out->written);
    out->reserved = 0;
    if (!out->failed && out->temporary.path && !out->is_settled && gt_durable_sync(out->fd) < 0)
        fail_write(out, errno);
    out->is_settled = true;
}

static void replace_target(struct gt_out *out) {
    close_fd(out);
    if (!out->failed && gt_temporary_rename(&out->temporary, out->target) < 0)
        fail_write(out, errno);
}

static enum gt_status status_of(const struct gt_out *out, struct gt_error *err) {
    if (!out->failed)
        return GT_OK;
    if (out->error == 0)
        return gt_fail_memory(err);
    char text[GT_OSERROR_MAX];
    gt_oserror_text(out->error, text);
    if (!out->path)
        return gt_fail(err, "cannot write standard output: %s", text);
    return gt_fail(err, "cannot write '%s': %s", out->path, text);
}

enum gt_status gt_out_settle(struct gt_out *out, struct gt_error *err) {
    settle(out);
    return status_of(out, err);
}

enum gt_status gt_out_commit(struct gt_out *out, struct gt_error *err) {
    settle(out);
    if (!out->failed && out->temporary.path)
        replace_target(out);
    else if (!out->failed)
        close_fd(out);
    return status_of(out, err);
}

void gt_out_close(struct gt_out *out) {
    if (!out)
        return;
    if (out->owns_fd && out->fd >= 0)
        close(out->fd);
    gt_temporary_remove(&out->temporary);
    gt_mem_free(out->target);
    gt_mem_free(out->buffer);
    gt_mem_free(out->path);
    gt_mem_free(out);
}
