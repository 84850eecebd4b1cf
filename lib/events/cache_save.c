/* Writing the cache: a sealed store comes in, one column file goes out, whole or not at all. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "events/cache.h"
#include "events/cache_folder.h"
#include "events/cache_format.h"

enum { BUFFER_BYTES = 256 * 1024, WRITE_MAX = 1 << 30 };

/* Small pieces are gathered, large ones go out as they are; both pass the hash. */
struct writer {
    int fd;
    bool failed;
    uint64_t offset; /* in the file, of the next byte */
    unsigned char *buffer;
    size_t used;
    XXH3_state_t hash;
};

static void write_out(struct writer *writer, const void *bytes, size_t size) {
    XXH3_64bits_update(&writer->hash, bytes, size);
    while (size > 0 && !writer->failed) {
        ssize_t n = write(writer->fd, bytes, size < WRITE_MAX ? size : WRITE_MAX);
        if (n > 0) {
            bytes = (const char *)bytes + n;
            size -= (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            writer->failed = true;
        }
    }
}

static void flush(struct writer *writer) {
    write_out(writer, writer->buffer, writer->used);
    writer->used = 0;
}

static void put(struct writer *writer, const void *bytes, size_t size) {
    writer->offset += size;
    if (size > BUFFER_BYTES - writer->used)
        flush(writer);
    if (size > BUFFER_BYTES) {
        write_out(writer, bytes, size);
    } else if (size > 0) {
        memcpy(writer->buffer + writer->used, bytes, size);
        writer->used += size;
    }
}

static void put_aligned(struct writer *writer, const void *bytes, size_t size) {
    static const char zeros[GT_CACHE_ALIGNMENT];
    put(writer, zeros, (size_t)(gt_cache_format_align(writer->offset) - writer->offset));
    put(writer, bytes, size);
}

/* Reads only, through functions that builders use as well. */
static struct gt_store *readable(const struct gt_store *store) {
    return (struct gt_store *)(uintptr_t)store;
}

static bool make_body(const struct gt_store *store, struct gt_cache_body *body) {
    *body = (struct gt_cache_body){
        .string_count = store->strings.count,
        .base_ns = store->meta.base_ns,
        .rank = store->meta.rank,
        .world_size = store->meta.world_size,
        .duration_ns = store->meta.duration_ns,
        .origin_ns = store->origin_ns,
        .skipped_events = store->skipped_events,
        .facts = store->facts,
        .origin = store->meta.origin,
        .producer = store->meta.producer,
        .host = store->meta.host,
        .asked = store->asked,
        .possible = store->possible,
        .announced = store->meta.announced,
    };
    for (int t = 0; t < GT_TABLE_COUNT; t++)
        body->rows[t] = *gt_store_row_count(readable(store), (enum gt_table_id)t);
    for (size_t i = 0; i < store->strings.count; i++)
        body->text_bytes += store->strings.strings[i].len + 1;
    memcpy(body->issues, store->issues, sizeof(body->issues));
    const char *format = store->meta.format;
    return format && snprintf(body->format, sizeof(body->format), "%s", format) < (int)sizeof(body->format);
}

static uint64_t size_of_file(const struct gt_cache_body *body) {
    uint64_t size = sizeof(struct gt_cache_header) + sizeof(*body);
    for (size_t i = 0; i < gt_column_count; i++)
        size = gt_cache_format_align(size) + body->rows[gt_column_infos[i].table] * gt_column_infos[i].elem_bytes;
    return gt_cache_format_align(size) + body->string_count * sizeof(gt_cache_string_end) + body->text_bytes;
}

static void put_strings(struct writer *writer, const struct gt_strtab *strings) {
    gt_cache_string_end end = 0;
    put_aligned(writer, NULL, 0);
    for (size_t i = 0; i < strings->count; i++) {
        end += strings->strings[i].len + 1;
        put(writer, &end, sizeof(end));
    }
    for (size_t i = 0; i < strings->count; i++) {
        put(writer, strings->strings[i].ptr, strings->strings[i].len);
        put(writer, "", 1);
    }
}

static void put_payload(struct writer *writer, const struct gt_store *store, const struct gt_cache_body *body) {
    put(writer, body, sizeof(*body));
    for (size_t i = 0; i < gt_column_count; i++) {
        const struct gt_column_info *info = &gt_column_infos[i];
        put_aligned(writer, *gt_store_column(readable(store), info),
                    (size_t)body->rows[info->table] * info->elem_bytes);
    }
    put_strings(writer, &store->strings);
    flush(writer);
}

/* The header comes last, when the hash is known: until then the file has none and is no cache file. */
static bool write_file(int fd, const struct gt_cache_key *key, const struct gt_store *store,
                       const struct gt_cache_body *body) {
    struct gt_cache_header header = {.magic = GT_CACHE_MAGIC, .file_bytes = size_of_file(body)};
    struct writer writer = {.fd = fd, .offset = sizeof(header), .buffer = gt_mem_alloc(BUFFER_BYTES)};
    if (!writer.buffer)
        return false;
    XXH3_64bits_reset(&writer.hash);
    writer.failed = lseek(fd, sizeof(header), SEEK_SET) < 0;
    put_payload(&writer, store, body);
    memcpy(header.place, key->place, sizeof(header.place));
    memcpy(header.content, key->content, sizeof(header.content));
    header.payload_hash = XXH3_64bits_digest(&writer.hash);
    header.header_hash = XXH3_64bits(&header, offsetof(struct gt_cache_header, header_hash));
    gt_mem_free(writer.buffer);
    return !writer.failed && writer.offset == header.file_bytes &&
           pwrite(fd, &header, sizeof(header), 0) == sizeof(header);
}

static bool is_unchanged(const struct gt_cache_key *key, const char *const *paths, size_t count) {
    struct gt_cache_key now;
    gt_cache_key_init(&now, paths, count);
    return now.is_usable && memcmp(now.content, key->content, sizeof(now.content)) == 0;
}

void gt_cache_save(const struct gt_cache_key *key, const char *const *paths, size_t count,
                   const struct gt_store *store) {
    struct gt_cache_body body;
    if (!key->is_usable || !is_unchanged(key, paths, count) || !make_body(store, &body) ||
        size_of_file(&body) > GT_CACHE_BYTES_MAX)
        return;
    int folder = gt_cache_folder_open(true);
    if (folder < 0)
        return;
    char temporary[GT_CACHE_NAME_MAX], name[GT_CACHE_NAME_MAX];
    int fd = gt_cache_folder_create(folder, temporary);
    if (fd >= 0) {
        bool done = write_file(fd, key, store, &body);
        done = close(fd) == 0 && done;
        gt_cache_folder_name(key, name);
        if (!done || renameat(folder, temporary, folder, name) < 0)
            unlinkat(folder, temporary, 0);
        gt_cache_folder_trim(folder);
    }
    close(folder);
}
