/* libsqlite3 wants a file: it gets a copy of one that is in memory, which nobody else sees. The library asks for it
   only where its own reader does not know a table, so that most executions need none. */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "in_memory.h"

int __real_sqlite3_open_v2(const char *name, sqlite3 **out, int flags, const char *vfs);
int __wrap_sqlite3_open_v2(const char *name, sqlite3 **out, int flags, const char *vfs);

static bool copy_to(const char *path, const void *data, size_t size) {
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool is_whole = size == 0 || write(fd, data, size) == (ssize_t)size;
    return close(fd) == 0 && is_whole;
}

int __wrap_sqlite3_open_v2(const char *name, sqlite3 **out, int flags, const char *vfs) {
    static const char scheme[] = "file://";
    char path[64], copy[64], uri[128];
    const void *data;
    size_t size, length = strcspn(name, "?");
    if (strncmp(name, scheme, sizeof scheme - 1) != 0 || length - (sizeof scheme - 1) >= sizeof path)
        return __real_sqlite3_open_v2(name, out, flags, vfs);
    snprintf(path, sizeof path, "%.*s", (int)(length - (sizeof scheme - 1)), name + sizeof scheme - 1);
    if (!fuzz_memory_bytes(path, &data, &size))
        return __real_sqlite3_open_v2(name, out, flags, vfs);
    snprintf(copy, sizeof copy, "/tmp/gputime-fuzz-%ld", (long)getpid());
    if (!copy_to(copy, data, size))
        abort();
    snprintf(uri, sizeof uri, "%s%s%s", scheme, copy, name + length);
    int result = __real_sqlite3_open_v2(uri, out, flags, vfs);
    unlink(copy); /* it is open by now */
    return result;
}
