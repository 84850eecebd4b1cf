/* What a capture is known by in the cache: paths come in, two hashes go out. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "events/cache.h"
#include "events/cache_format.h"
#include "gputime.h"

/* The build gives a checksum of the code that decodes; a repaired decoder does not get old answers. */
#ifndef GT_DECODING
#define GT_DECODING ""
#endif

enum { SAMPLE_BYTES = 4096, SAMPLES = 16, SETTLED_SECONDS = 2 };

/* Everything that decides whether a column file of another build can be read and says what this build would say. */
static void hash_schema(XXH3_state_t *hash) {
    const uint32_t build[] = {0x01020304, sizeof(struct gt_cache_body), sizeof(struct gt_cache_header)};
    XXH3_128bits_update(hash, build, sizeof(build));
    XXH3_128bits_update(hash, GPUTIME_VERSION, sizeof(GPUTIME_VERSION));
    XXH3_128bits_update(hash, GT_DECODING, sizeof(GT_DECODING));
    for (size_t i = 0; i < gt_column_count; i++) {
        const struct gt_column_info *info = &gt_column_infos[i];
        const uint64_t numbers[] = {info->elem_bytes, (uint64_t)info->refers};
        XXH3_128bits_update(hash, info->table_name, strlen(info->table_name) + 1);
        XXH3_128bits_update(hash, info->name, strlen(info->name) + 1);
        XXH3_128bits_update(hash, numbers, sizeof(numbers));
    }
    for (size_t i = 0; i < GT_ISSUE_COUNT; i++)
        XXH3_128bits_update(hash, gt_issue_infos[i].id, strlen(gt_issue_infos[i].id) + 1);
}

static bool hash_sample(XXH3_state_t *hash, int fd, uint64_t offset, size_t size) {
    char sample[SAMPLE_BYTES];
    ssize_t n = pread(fd, sample, size, (off_t)offset);
    if (n != (ssize_t)size)
        return false;
    XXH3_128bits_update(hash, sample, size);
    return true;
}

/* The head, samples at equal distances, and the tail; all of a small file. */
static bool hash_samples(XXH3_state_t *hash, int fd, uint64_t size) {
    if (size <= (SAMPLES + 2) * SAMPLE_BYTES) {
        for (uint64_t at = 0; at < size; at += SAMPLE_BYTES)
            if (!hash_sample(hash, fd, at, size - at < SAMPLE_BYTES ? (size_t)(size - at) : SAMPLE_BYTES))
                return false;
        return true;
    }
    uint64_t last = size - SAMPLE_BYTES;
    for (uint64_t i = 0; i <= SAMPLES; i++)
        if (!hash_sample(hash, fd, last / (SAMPLES + 1) * i, SAMPLE_BYTES))
            return false;
    return hash_sample(hash, fd, last, SAMPLE_BYTES);
}

static bool is_settled(const struct stat *info) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return info->st_mtim.tv_sec < now.tv_sec - SETTLED_SECONDS;
}

static bool hash_file(XXH3_state_t *hash, const char *path) {
    /* Should a pipe be there by now, opening must not wait for its writer. */
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false; /* opening and closing a pipe would rob its writer of the real reader */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    bool done = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 && is_settled(&info);
    if (done) {
        const uint64_t numbers[] = {
            (uint64_t)info.st_ino,          (uint64_t)info.st_size,        (uint64_t)info.st_mtim.tv_sec,
            (uint64_t)info.st_mtim.tv_nsec, (uint64_t)info.st_ctim.tv_sec, (uint64_t)info.st_ctim.tv_nsec,
        };
        XXH3_128bits_update(hash, numbers, sizeof(numbers));
        done = hash_samples(hash, fd, (uint64_t)info.st_size);
    }
    close(fd);
    return done;
}

void gt_cache_key_init(struct gt_cache_key *key, const char *const *paths, size_t count) {
    XXH3_state_t place, content;
    *key = (struct gt_cache_key){0};
    XXH3_128bits_reset(&place);
    XXH3_128bits_reset(&content);
    hash_schema(&content);
    for (size_t i = 0; i < count; i++) {
        char real[PATH_MAX];
        if (strcmp(paths[i], "-") == 0 || !realpath(paths[i], real) || !hash_file(&content, real))
            return;
        XXH3_128bits_update(&place, real, strlen(real) + 1);
        XXH3_128bits_update(&content, real, strlen(real) + 1);
    }
    XXH128_hash_t of_place = XXH3_128bits_digest(&place), of_content = XXH3_128bits_digest(&content);
    *key = (struct gt_cache_key){
        .is_usable = count > 0,
        .place = {of_place.high64, of_place.low64},
        .content = {of_content.high64, of_content.low64},
    };
}
