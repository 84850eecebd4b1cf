/* Decoded traces kept as column files, so that reading one again costs a mapping instead of a decoding. Nothing here
   can fail loudly: what cannot be kept or used is decoded again. */
#ifndef GT_EVENTS_CACHE_H
#define GT_EVENTS_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "events/store.h"

/* What a capture is known by: real paths, inodes, sizes, times of change, a hash of samples of the content, and the
   version and columns of this library. Made before the files are read: what changes after that belongs to another key.
 */
struct gt_cache_key {
    bool is_usable;      /* only regular files that have been left alone for two seconds */
    uint64_t place[2];   /* of the paths alone: names the file, so that a changed trace replaces its old copy */
    uint64_t content[2]; /* of everything */
};

void gt_cache_key_init(struct gt_cache_key *key, const char *const *paths, size_t count);

/* true: *out is the store that was saved under this key; free it with gt_store_free. A damaged file is removed. false
   also where the store was saved without some of these facts (enum gt_fact); then *held are those that it has been read
   for, else 0. */
bool gt_cache_load(const struct gt_cache_key *key, uint32_t facts, struct gt_store **out, uint32_t *held);

/* Keeps a sealed store, unless the files changed since the key was made. The oldest files make room for it. */
void gt_cache_save(const struct gt_cache_key *key, const char *const *paths, size_t count,
                   const struct gt_store *store);

struct gt_cache_summary {
    char folder[PATH_MAX];
    uint64_t files, size_bytes;
    bool is_off; /* GPUTIME_CACHE is "off": nothing is read or kept */
};

/* A cache that does not exist yet is an empty one; an error only when the environment names no place for it. */
enum gt_status gt_cache_describe(struct gt_cache_summary *summary, struct gt_error *err);
enum gt_status gt_cache_clear(uint64_t *removed_files, struct gt_error *err);

#endif
