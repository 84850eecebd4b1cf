/* The cache file: a header, a body with all single values, then every column of columns.def in that order, then the
   strings. Where things are follows from the row counts alone, so there are no offsets that could lie. Numbers are in
   the machine's own byte order, which is part of the key. */
#ifndef GT_EVENTS_CACHE_FORMAT_H
#define GT_EVENTS_CACHE_FORMAT_H

#include <stdint.h>

#include "events/store.h"

#define GT_CACHE_MAGIC        "gtcache1"
#define GT_CACHE_FORMAT_BYTES 32
#define GT_CACHE_ALIGNMENT    64

struct gt_cache_header {
    char magic[8];
    uint64_t place[2], content[2]; /* struct gt_cache_key */
    uint64_t file_bytes;
    uint64_t payload_hash; /* XXH3 of all bytes after the header */
    uint64_t header_hash;  /* XXH3 of the header up to here */
};
_Static_assert(sizeof(struct gt_cache_header) == GT_CACHE_ALIGNMENT, "what follows the header is aligned");

struct gt_cache_body {
    uint64_t rows[GT_TABLE_COUNT];
    uint64_t string_count, text_bytes;
    struct gt_issue issues[GT_ISSUE_COUNT];
    int64_t base_ns, rank, world_size, duration_ns, origin_ns;
    uint64_t skipped_events, announced;
    uint32_t facts, asked;
    uint32_t possible; /* 0: not known */
    gt_strid origin, producer, host;
    char format[GT_CACHE_FORMAT_BYTES]; /* NUL-terminated */
};

/* After the columns: for each string the offset of its end in the text, its NUL included; then the text. */
typedef uint64_t gt_cache_string_end;

static inline uint64_t gt_cache_format_align(uint64_t offset) {
    return (offset + GT_CACHE_ALIGNMENT - 1) / GT_CACHE_ALIGNMENT * GT_CACHE_ALIGNMENT;
}

#endif
