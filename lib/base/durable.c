/* Syncs of files and of the folders that name them. */
#include "base/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nothing depends on it: what could not begin, the sync does, and says so if it fails. */
void gt_durable_begin(int fd, int64_t offset, int64_t bytes) {
    (void)!sync_file_range(fd, offset, bytes, SYNC_FILE_RANGE_WRITE);
}

bool gt_durable_reserve(int fd, int64_t offset, int64_t bytes) {
    return fallocate(fd, FALLOC_FL_KEEP_SIZE, offset, bytes) == 0;
}

/* Nothing depends on it either. */
void gt_durable_trim(int fd, int64_t size) {
    (void)!ftruncate(fd, size);
}

int gt_durable_sync(int fd) {
    int result;
    do
        result = fsync(fd);
    while (result < 0 && errno == EINTR);
    return result < 0 && (errno == EINVAL || errno == EROFS) ? 0 : result;
}

/* "a/b" and "a/b/" are named by "a", "b" by ".". false: the path is too long. */
static bool folder_of(const char *path, char folder[PATH_MAX]) {
    size_t size = strlen(path);
    while (size > 0 && path[size - 1] == '/')
        size--;
    while (size > 0 && path[size - 1] != '/')
        size--;
    if (size + sizeof "." > PATH_MAX)
        return false;
    memcpy(folder, path, size);
    memcpy(folder + size, ".", sizeof ".");
    return true;
}

void gt_durable_name(const char *path) {
    char folder[PATH_MAX];
    int fd = folder_of(path, folder) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    gt_durable_sync(fd);
    close(fd);
}

int gt_durable_make_folder(const char *path) {
    if (mkdir(path, 0777) < 0)
        return -1;
    gt_durable_name(path);
    return 0;
}
