/* The folder of the cache: the environment comes in, a folder of column files that stays within its limit goes out. */
#include "events/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/oserror.h"

#define SUFFIX           ".columns"
#define TEMPORARY_PREFIX "tmp-"

enum { TEMPORARY_SECONDS = 3600, PLACE_DIGITS = 32 };

struct entry {
    char name[GT_CACHE_NAME_MAX];
    uint64_t size_bytes;
    struct timespec used;
    bool is_temporary;
};

struct listing {
    struct entry *entries;
    size_t count, capacity;
};

static bool is_off(void) {
    const char *value = getenv("GPUTIME_CACHE");
    return value && strcmp(value, "off") == 0; /* a folder of that name is "./off" */
}

/* $GPUTIME_CACHE, $XDG_CACHE_HOME/gputime or $HOME/.cache/gputime; false if no variable is set or the cache is off. */
static bool folder_path(char path[PATH_MAX]) {
    const struct {
        const char *variable, *below;
        bool any_path; /* others must be absolute to count */
    } places[] = {
        {"GPUTIME_CACHE", "", true}, {"XDG_CACHE_HOME", "/gputime", false}, {"HOME", "/.cache/gputime", false}};
    for (size_t i = 0; !is_off() && i < sizeof(places) / sizeof(*places); i++) {
        const char *value = getenv(places[i].variable);
        if (value && value[0] && (places[i].any_path || value[0] == '/'))
            return snprintf(path, PATH_MAX, "%s%s", value, places[i].below) < PATH_MAX;
    }
    return false;
}

static void make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700); /* what fails here is identified by the opening after it */
}

int gt_cache_folder_open(bool create) {
    char path[PATH_MAX];
    if (!folder_path(path))
        return -1;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0 || !create)
        return folder;
    make_folders(path);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void gt_cache_folder_name(const struct gt_cache_key *key, char name[GT_CACHE_NAME_MAX]) {
    snprintf(name, GT_CACHE_NAME_MAX, "%016llx%016llx" SUFFIX, (unsigned long long)key->place[0],
             (unsigned long long)key->place[1]);
}

int gt_cache_folder_create(int folder, char name[GT_CACHE_NAME_MAX]) {
    uint64_t number;
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
        number = (uint64_t)getpid();
    snprintf(name, GT_CACHE_NAME_MAX, TEMPORARY_PREFIX "%016llx" SUFFIX, (unsigned long long)number);
    return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* Only files that this library named: a folder given by the user may hold other things. */
static bool is_ours(const char *name, bool *is_temporary) {
    size_t digits = strspn(name, "0123456789abcdef");
    *is_temporary = strncmp(name, TEMPORARY_PREFIX, strlen(TEMPORARY_PREFIX)) == 0;
    if (*is_temporary) {
        size_t prefix = strlen(TEMPORARY_PREFIX);
        digits = strspn(name + prefix, "0123456789abcdef");
        return digits == PLACE_DIGITS / 2 && strcmp(name + prefix + digits, SUFFIX) == 0;
    }
    return digits == PLACE_DIGITS && strcmp(name + digits, SUFFIX) == 0;
}

static bool add_entry(struct listing *list, int folder, const char *name) {
    struct entry entry = {0};
    struct stat info;
    if (!is_ours(name, &entry.is_temporary) || fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISREG(info.st_mode))
        return true;
    memcpy(entry.name, name, strlen(name) + 1);
    entry.size_bytes = (uint64_t)info.st_size;
    entry.used = info.st_mtim;
    struct entry *grown = gt_mem_room(list->entries, list->count, &list->capacity, sizeof *grown);
    if (!grown)
        return false;
    list->entries = grown;
    list->entries[list->count++] = entry;
    return true;
}

/* The caller frees entries. A folder that cannot be read lists as empty. */
static struct listing list_folder(int folder) {
    struct listing list = {0};
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* closedir closes it */
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return list;
    }
    for (struct dirent *item = readdir(dir); item && add_entry(&list, folder, item->d_name);)
        item = readdir(dir);
    closedir(dir);
    return list;
}

static int by_use(const void *a, const void *b) {
    const struct timespec *x = &((const struct entry *)a)->used, *y = &((const struct entry *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

void gt_cache_folder_trim(int folder) {
    struct listing list = list_folder(folder);
    time_t now = time(NULL);
    uint64_t total = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (!list.entries[i].is_temporary)
            total += list.entries[i].size_bytes;
        else if (list.entries[i].used.tv_sec < now - TEMPORARY_SECONDS)
            unlinkat(folder, list.entries[i].name, 0);
    }
    if (list.count)
        qsort(list.entries, list.count, sizeof(*list.entries), by_use);
    for (size_t i = 0; i < list.count && total > GT_CACHE_BYTES_MAX; i++)
        if (!list.entries[i].is_temporary && unlinkat(folder, list.entries[i].name, 0) == 0)
            total -= list.entries[i].size_bytes;
    gt_mem_free(list.entries);
}

static enum gt_status find_folder(char path[PATH_MAX], struct gt_error *err) {
    if (folder_path(path))
        return GT_OK;
    if (is_off())
        return gt_fail(err, "the cache is off; set GPUTIME_CACHE to a directory");
    return gt_fail(err, "no directory for the cache; set GPUTIME_CACHE");
}

enum gt_status gt_cache_describe(struct gt_cache_summary *summary, struct gt_error *err) {
    *summary = (struct gt_cache_summary){.is_off = is_off()};
    if (summary->is_off)
        return GT_OK;
    if (find_folder(summary->folder, err) != GT_OK)
        return GT_ERR;
    int folder = gt_cache_folder_open(false);
    if (folder < 0)
        return GT_OK;
    struct listing list = list_folder(folder);
    for (size_t i = 0; i < list.count; i++) {
        summary->files += !list.entries[i].is_temporary;
        summary->size_bytes += list.entries[i].size_bytes;
    }
    gt_mem_free(list.entries);
    close(folder);
    return GT_OK;
}

enum gt_status gt_cache_clear(uint64_t *removed_files, struct gt_error *err) {
    char path[PATH_MAX], text[GT_OSERROR_MAX];
    *removed_files = 0;
    if (find_folder(path, err) != GT_OK)
        return GT_ERR;
    int folder = gt_cache_folder_open(false), failure = 0;
    if (folder < 0)
        return errno == ENOENT ? GT_OK : gt_fail(err, "cannot open '%s': %s", path, gt_oserror_text(errno, text));
    struct listing list = list_folder(folder);
    for (size_t i = 0; i < list.count; i++) {
        if (unlinkat(folder, list.entries[i].name, 0) == 0)
            *removed_files += !list.entries[i].is_temporary;
        else if (errno != ENOENT)
            failure = errno;
    }
    gt_mem_free(list.entries);
    close(folder);
    return failure ? gt_fail(err, "cannot clear '%s': %s", path, gt_oserror_text(failure, text)) : GT_OK;
}
