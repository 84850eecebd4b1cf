/* The folder of the cache: where it is, what is in it and what has to go. Shared by the files of the cache only. */
#ifndef GT_EVENTS_CACHE_FOLDER_H
#define GT_EVENTS_CACHE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "events/cache.h"

#define GT_CACHE_NAME_MAX  48
#define GT_CACHE_BYTES_MAX ((uint64_t)5 << 30)

/* A descriptor of the folder for openat and the like, -1 if there is none (and none could be made). */
int gt_cache_folder_open(bool create);

void gt_cache_folder_name(const struct gt_cache_key *key, char name[GT_CACHE_NAME_MAX]);
int gt_cache_folder_create(int folder, char name[GT_CACHE_NAME_MAX]); /* a temporary file to write: descriptor or -1 */

/* Removes the files that were used the longest ago until the rest is within GT_CACHE_BYTES_MAX, and temporaries that
   a killed process left. */
void gt_cache_folder_trim(int folder);

#endif
