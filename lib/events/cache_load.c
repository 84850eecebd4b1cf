/* Reading the cache: a key comes in, a store whose columns lie in the mapped file goes out, if the file is there and
   every byte of it can be trusted. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "events/cache.h"
#include "events/cache_folder.h"
#include "events/cache_format.h"

enum outcome { HIT, MISS, DAMAGED };

struct mapped {
    const char *bytes;
    size_t size;
};

static enum outcome map_file(int fd, struct mapped *file) {
    struct stat info;
    if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid())
        return MISS;
    if ((uint64_t)info.st_size < sizeof(struct gt_cache_header) + sizeof(struct gt_cache_body) ||
        (uint64_t)info.st_size > GT_CACHE_BYTES_MAX || (uint64_t)info.st_size > SIZE_MAX)
        return DAMAGED;
    file->size = (size_t)info.st_size;
    file->bytes = gt_mem_pages_map_file(fd, file->size);
    return file->bytes ? HIT : MISS;
}

static const struct gt_cache_body *body_of(const struct mapped *file) {
    return (const void *)(file->bytes + sizeof(struct gt_cache_header));
}

/* Another key is no damage: the trace has changed, or the version. */
static enum outcome check_header(const struct mapped *file, const struct gt_cache_key *key) {
    struct gt_cache_header header;
    memcpy(&header, file->bytes, sizeof(header));
    if (memcmp(header.magic, GT_CACHE_MAGIC, sizeof(header.magic)) != 0 ||
        header.header_hash != XXH3_64bits(&header, offsetof(struct gt_cache_header, header_hash)))
        return DAMAGED;
    if (memcmp(header.place, key->place, sizeof(key->place)) != 0 ||
        memcmp(header.content, key->content, sizeof(key->content)) != 0)
        return MISS;
    return header.file_bytes == file->size ? HIT : DAMAGED;
}

static enum outcome check_payload(const struct mapped *file) {
    const struct gt_cache_header *header = (const void *)file->bytes;
    return header->payload_hash == XXH3_64bits(file->bytes + sizeof(*header), file->size - sizeof(*header)) ? HIT
                                                                                                            : DAMAGED;
}

/* ---- values ---- */

static size_t rows_referred(const struct gt_cache_body *body, enum gt_refers refers) {
    enum gt_table_id table = gt_store_table_referred(refers);
    return table == GT_TABLE_COUNT ? body->string_count : body->rows[table];
}

/* Whether a reference may be GT_NO_TRACK: CPU threads and processes are not always known, GPU-side rows must have
   their place. A record of a collective refers to the one row that carries it, and may know no group. */
static bool may_be_missing(const struct gt_column_info *info) {
    return info->refers == GT_REFERS_PROCESS || info->refers == GT_REFERS_THREAD ||
           (info->refers == GT_REFERS_LANE && info->table != GT_TABLE_ops) ||
           (info->refers >= GT_REFERS_COMM_GROUP && gt_store_table_is_of_any(info->table));
}

/* Rows about rows of another table are in its order; those about one of several tables are in no order. */
static bool is_ordered(const struct gt_column_info *info) {
    return (info->refers == GT_REFERS_OP || info->refers == GT_REFERS_RANGE || info->refers == GT_REFERS_CPU_OP) &&
           !gt_store_table_is_of_any(info->table);
}

static bool references_hold(const struct gt_column_info *info, const uint32_t *values, size_t count, size_t limit) {
    bool is_optional = may_be_missing(info), wrong = false;
    for (size_t i = 0; i < count; i++)
        wrong |= values[i] >= limit && !(is_optional && values[i] == GT_NO_TRACK);
    for (size_t i = 1; i < count && is_ordered(info); i++)
        wrong |= values[i] < values[i - 1];
    return !wrong;
}

/* The largest value of columns that hold an enum or flags. */
static unsigned largest_choice(const struct gt_column_info *info) {
    const char *choices = gt_store_choices(info->refers);
    unsigned largest = 0;
    if (!choices)
        return info->refers == GT_REFERS_OP_FLAGS ? GT_OP_IN_GRAPH : UINT8_MAX;
    for (; *choices; choices++)
        largest += *choices == '|';
    return largest;
}

static bool choices_hold(const struct gt_column_info *info, const uint8_t *values, size_t count) {
    unsigned largest = largest_choice(info);
    bool wrong = false;
    for (size_t i = 0; i < count; i++)
        wrong |= values[i] > largest;
    return !wrong;
}

static bool column_holds(const struct gt_column_info *info, const void *values, const struct gt_cache_body *body) {
    size_t count = body->rows[info->table];
    if (gt_store_column_refers(info))
        return references_hold(info, values, count, rows_referred(body, info->refers));
    return info->elem_bytes > 1 || choices_hold(info, values, count);
}

static bool times_hold(const struct gt_ops *ops) {
    bool wrong = false;
    for (size_t i = 0; i < ops->count; i++)
        wrong |= ops->end_ns[i] < ops->start_ns[i];
    return !wrong;
}

static bool are_ascending(const int64_t *times_ns, size_t count) {
    bool wrong = false;
    for (size_t i = 1; i < count; i++)
        wrong |= times_ns[i] < times_ns[i - 1];
    return !wrong;
}

/* Runs of counters lie one after the other, by track, each by time. */
static bool runs_hold(const struct gt_counter_runs *runs, const struct gt_counters *counters) {
    size_t next = 0;
    for (size_t i = 0; i < runs->count; i++) {
        if (runs->first[i] != next || runs->values[i] > counters->count - next ||
            (i > 0 && runs->track[i] <= runs->track[i - 1]) ||
            !are_ascending(counters->time_ns + next, runs->values[i]))
            return false;
        next += runs->values[i];
    }
    return next == counters->count;
}

static bool sample_runs_hold(const struct gt_store *store) {
    const struct gt_sample_runs *runs = &store->sample_runs;
    for (size_t i = 0; i < runs->count; i++)
        if (runs->values[i] > store->sample_values.count - runs->first[i] ||
            runs->values[i] > store->sample_times.count - runs->times[i] || (i && runs->track[i] < runs->track[i - 1]))
            return false;
    return true;
}

/* ---- the store ---- */

/* Size is checked before values: a file of the right length has room for all that its row counts promise. */
static bool attach_columns(struct gt_store *store, const struct mapped *file, const struct gt_cache_body *body,
                           uint64_t *offset) {
    for (size_t i = 0; i < gt_column_count; i++) {
        const struct gt_column_info *info = &gt_column_infos[i];
        uint64_t rows = body->rows[info->table], at = gt_cache_format_align(*offset);
        if (rows >= GT_NO_ROW || at > file->size || rows * info->elem_bytes > file->size - at)
            return false;
        const char *values = file->bytes + at;
        if (rows > 0 && !column_holds(info, values, body))
            return false;
        *gt_store_column(store, info) = rows > 0 ? (void *)(uintptr_t)values : NULL;
        *gt_store_row_count(store, info->table) = (size_t)rows;
        *offset = at + rows * info->elem_bytes;
    }
    return times_hold(&store->ops) && runs_hold(&store->counter_runs, &store->counters) && sample_runs_hold(store);
}

static enum outcome attach_strings(struct gt_store *store, const struct mapped *file, const struct gt_cache_body *body,
                                   uint64_t offset) {
    uint64_t at = gt_cache_format_align(offset), count = body->string_count;
    if (at > file->size || count == 0 || count > (file->size - at) / sizeof(gt_cache_string_end))
        return DAMAGED;
    const gt_cache_string_end *ends = (const void *)(file->bytes + at);
    const char *text = file->bytes + at + count * sizeof(*ends);
    if (body->text_bytes != file->size - (uint64_t)(text - file->bytes) || ends[count - 1] != body->text_bytes)
        return DAMAGED;
    uint64_t begin = 0;
    for (size_t i = 0; i < count; begin = ends[i++]) {
        if (ends[i] <= begin || ends[i] > body->text_bytes || text[ends[i] - 1] != '\0')
            return DAMAGED;
        struct gt_str string = {text + begin, (size_t)(ends[i] - begin - 1)};
        if (gt_strtab_intern_borrowed(&store->strings, string) != i)
            return store->strings.failed ? MISS : DAMAGED;
    }
    return HIT;
}

static bool attach_values(struct gt_store *store, const struct gt_cache_body *body) {
    if (!memchr(body->format, '\0', sizeof(body->format)) || body->producer >= body->string_count ||
        body->origin >= body->string_count || body->host >= body->string_count)
        return false;
    store->meta = (struct gt_meta){
        .format = body->format, /* as constant as the mapping, which lives as long as the store */
        .base_ns = body->base_ns,
        .rank = body->rank,
        .world_size = body->world_size,
        .duration_ns = body->duration_ns,
        .origin = body->origin,
        .producer = body->producer,
        .host = body->host,
        .announced = (uint32_t)body->announced,
    };
    memcpy(store->issues, body->issues, sizeof(store->issues));
    store->facts = body->facts;
    store->asked = body->asked;
    store->possible = body->possible;
    store->origin_ns = body->origin_ns;
    store->skipped_events = body->skipped_events;
    return true;
}

static enum outcome attach(struct gt_store *store, const struct mapped *file) {
    const struct gt_cache_body *body = body_of(file);
    uint64_t offset = sizeof(struct gt_cache_header) + sizeof(*body);
    if (!attach_values(store, body) || !attach_columns(store, file, body, &offset))
        return DAMAGED;
    return attach_strings(store, file, body, offset);
}

/* The file's own word about its facts is used before it is proven: at worst a trace is read again. What the format
   never has is not looked for there. */
static enum outcome check_facts(const struct mapped *file, uint32_t facts, uint32_t *held) {
    const struct gt_cache_body *body = body_of(file);
    *held = body->asked & GT_FACTS_ALL;
    return (facts & ~*held & (body->possible ? body->possible : GT_FACTS_ALL)) == 0 ? HIT : MISS;
}

static enum outcome load(int fd, const struct gt_cache_key *key, uint32_t facts, struct gt_store **out,
                         uint32_t *held) {
    struct mapped file = {0};
    enum outcome outcome = map_file(fd, &file);
    if (outcome != HIT)
        return outcome;
    struct gt_store *store = gt_mem_array(1, sizeof(*store));
    if (!store) {
        gt_mem_pages_free((void *)(uintptr_t)file.bytes, file.size);
        return MISS;
    }
    store->mapping = (void *)(uintptr_t)file.bytes; /* from here on the store's to unmap */
    store->mapping_bytes = file.size;
    outcome = gt_strtab_init(&store->strings) ? check_header(&file, key) : MISS;
    if (outcome == HIT)
        outcome = check_facts(&file, facts, held);
    if (outcome == HIT)
        outcome = check_payload(&file);
    if (outcome == HIT)
        outcome = attach(store, &file);
    if (outcome == HIT)
        *out = store;
    else
        gt_store_free(store);
    return outcome;
}

bool gt_cache_load(const struct gt_cache_key *key, uint32_t facts, struct gt_store **out, uint32_t *held) {
    int folder = key->is_usable ? gt_cache_folder_open(false) : -1;
    *held = 0;
    if (folder < 0)
        return false;
    char name[GT_CACHE_NAME_MAX];
    gt_cache_folder_name(key, name);
    enum outcome outcome = MISS;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0) {
        outcome = load(fd, key, facts, out, held);
        if (outcome == HIT)
            (void)!futimens(fd, NULL); /* used just now */
        close(fd);
    }
    if (outcome == DAMAGED)
        unlinkat(folder, name, 0);
    close(folder);
    return outcome == HIT;
}
