/* Finds the members of a zip archive, by its directory or, where that is missing or damaged, one after the other. */
#include "base/zip_list.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/oserror.h"
#include "base/zip.h"

enum { LOCAL_BYTES = 30, ENTRY_BYTES = 46, END_BYTES = 22, END64_BYTES = 56, LOCATOR_BYTES = 20, COMMENT_MAX = 65535 };
enum { NAME_MAX_BYTES = 65535, EXTRA_ZIP64 = 1, FLAG_ENCRYPTED = 1, FLAG_SIZES_FOLLOW = 8 };

enum gt_status gt_zip_list_pread(const struct gt_zip_file *file, void *buf, size_t size, uint64_t offset, size_t *got,
                                 struct gt_error *err) {
    *got = 0;
    if (offset >= file->size)
        return GT_OK;
    size = size < file->size - offset ? size : (size_t)(file->size - offset);
    while (*got < size) {
        ssize_t n = pread(file->fd, (char *)buf + *got, size - *got, (off_t)(file->start + offset + *got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            char text[GT_OSERROR_MAX];
            return gt_fail(err, "cannot read '%s': %s", file->path, gt_oserror_text(errno, text));
        }
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return GT_OK;
}

static uint64_t number(const unsigned char *p, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = bytes; i-- > 0;)
        value = value << 8 | p[i];
    return value;
}

static bool has_mark(const unsigned char *p, const char *mark) {
    return memcmp(p, mark, 4) == 0;
}

struct reading {
    struct gt_zip_list *list;
    const struct gt_zip_file *file;
    unsigned char *text; /* a name and its extra field */
    struct gt_error *err;
};

/* All of some bytes, or false: the archive ends before them. Errors of the system are *status. */
static bool read_all(const struct reading *it, void *buf, size_t size, uint64_t offset, enum gt_status *status) {
    size_t got;
    *status = gt_zip_list_pread(it->file, buf, size, offset, &got, it->err);
    return *status == GT_OK && got == size;
}

/* ---- members ---- */

/* Directories, and what macOS adds to each file. */
static bool is_ignored(const char *name, size_t bytes) {
    const char *slash = memrchr(name, '/', bytes);
    const char *base = slash ? slash + 1 : name;
    size_t base_bytes = bytes - (size_t)(base - name);
    return base_bytes == 0 || strncmp(name, "__MACOSX/", 9) == 0 || strncmp(base, "._", 2) == 0 ||
           strcmp(base, ".DS_Store") == 0;
}

static enum gt_status add_member(const struct reading *it, const struct gt_zip_member *member, size_t name_bytes) {
    struct gt_zip_list *list = it->list;
    for (size_t i = 0; i < name_bytes; i++) /* errors show it */
        it->text[i] = it->text[i] < ' ' || it->text[i] == 0x7f ? '?' : it->text[i];
    const char *name = gt_arena_copy(&list->arena, (struct gt_str){(const char *)it->text, name_bytes}).ptr;
    if (gt_arena_failed(&list->arena))
        return gt_fail_memory(it->err);
    if (is_ignored(name, strlen(name)))
        return GT_OK;
    if (list->count == GT_ZIP_MEMBERS_MAX)
        return gt_fail(it->err, "'%s': zip archive with more than %d members; extract the trace", it->file->path,
                       GT_ZIP_MEMBERS_MAX);
    struct gt_zip_member *grown = gt_mem_room(list->members, list->count, &list->capacity, sizeof *grown);
    if (!grown)
        return gt_fail_memory(it->err);
    list->members = grown;
    list->members[list->count] = *member;
    list->members[list->count++].name = name;
    return GT_OK;
}

/* Sizes and place that do not fit 32 bits are in an extra field, those that do are not. */
static void widen(const unsigned char *extra, size_t bytes, uint64_t *const values[], size_t count) {
    while (bytes >= 4) {
        size_t size = number(extra + 2, 2);
        if (size > bytes - 4)
            return;
        if (number(extra, 2) == EXTRA_ZIP64) {
            const unsigned char *next = extra + 4, *end = next + size;
            for (size_t i = 0; i < count; i++)
                if (*values[i] == UINT32_MAX && end - next >= 8) {
                    *values[i] = number(next, 8);
                    next += 8;
                }
            return;
        }
        extra += 4 + size;
        bytes -= 4 + size;
    }
}

/* ---- the directory ---- */

struct directory {
    uint64_t count, bytes, offset; /* as written */
    uint64_t end;                  /* where it ends */
};

static bool find_end(const struct reading *it, unsigned char *tail, size_t tail_bytes, struct directory *found) {
    for (size_t at = tail_bytes < END_BYTES ? 0 : tail_bytes - END_BYTES + 1; at-- > 0;) {
        const unsigned char *p = tail + at;
        if (!has_mark(p, "PK\5\6") || number(p + 20, 2) + at + END_BYTES > tail_bytes)
            continue;
        *found = (struct directory){number(p + 10, 2), number(p + 12, 4), number(p + 16, 4),
                                    it->file->size - tail_bytes + at};
        return true;
    }
    return false;
}

/* Where one of the numbers does not fit, a second end before the first has them all. */
static bool find_end64(const struct reading *it, struct directory *found, enum gt_status *status) {
    unsigned char locator[LOCATOR_BYTES], end[END64_BYTES];
    if (found->end < LOCATOR_BYTES || !read_all(it, locator, LOCATOR_BYTES, found->end - LOCATOR_BYTES, status) ||
        !has_mark(locator, "PK\6\7"))
        return *status == GT_OK;
    uint64_t at = number(locator + 8, 8);
    if (!read_all(it, end, END64_BYTES, at, status) || !has_mark(end, "PK\6\6"))
        return false;
    *found = (struct directory){number(end + 32, 8), number(end + 40, 8), number(end + 48, 8), at};
    return true;
}

/* The bytes of a member begin after a header of its own. */
static bool find_begin(const struct reading *it, struct gt_zip_member *member, uint64_t header,
                       enum gt_status *status) {
    unsigned char local[LOCAL_BYTES];
    if (!read_all(it, local, LOCAL_BYTES, header, status) || !has_mark(local, "PK\3\4"))
        return false;
    member->begin = header + LOCAL_BYTES + number(local + 26, 2) + number(local + 28, 2);
    return member->begin <= it->file->size;
}

/* The entry at *at, which is then that of the next one. false: it is damaged, or *status says what. */
static bool read_entry(const struct reading *it, uint64_t *at, uint64_t prefix, enum gt_status *status) {
    unsigned char entry[ENTRY_BYTES];
    if (!read_all(it, entry, ENTRY_BYTES, *at, status) || !has_mark(entry, "PK\1\2"))
        return false;
    size_t name_bytes = number(entry + 28, 2), extra_bytes = number(entry + 30, 2);
    if (!read_all(it, it->text, name_bytes + extra_bytes, *at + ENTRY_BYTES, status))
        return false;
    uint64_t header = number(entry + 42, 4);
    struct gt_zip_member member = {
        .packed_bytes = number(entry + 20, 4),
        .plain_bytes = number(entry + 24, 4),
        .crc = (uint32_t)number(entry + 16, 4),
        .method = (uint16_t)number(entry + 10, 2),
        .is_encrypted = number(entry + 8, 2) & FLAG_ENCRYPTED,
        .has_check = true,
    };
    widen(it->text + name_bytes, extra_bytes, (uint64_t *const[]){&member.plain_bytes, &member.packed_bytes, &header},
          3);
    *at += ENTRY_BYTES + name_bytes + extra_bytes + number(entry + 32, 2);
    if (header > it->file->size || !find_begin(it, &member, header + prefix, status))
        return false;
    *status = add_member(it, &member, name_bytes);
    return *status == GT_OK;
}

/* false: the directory is missing or damaged, or *status says what. */
static bool read_directory(const struct reading *it, enum gt_status *status) {
    size_t tail_bytes = it->file->size < COMMENT_MAX + END_BYTES ? (size_t)it->file->size : COMMENT_MAX + END_BYTES;
    unsigned char *tail = gt_mem_alloc(tail_bytes + 1);
    struct directory found;
    *status = tail ? GT_OK : gt_fail_memory(it->err);
    bool is_there = tail && read_all(it, tail, tail_bytes, it->file->size - tail_bytes, status) &&
                    find_end(it, tail, tail_bytes, &found);
    gt_mem_free(tail);
    if (!is_there || !find_end64(it, &found, status) || found.bytes > found.end)
        return false;
    /* What was put in front of an archive later moved it. */
    uint64_t at = found.end - found.bytes;
    if (at < found.offset)
        return false;
    uint64_t prefix = at - found.offset;
    for (uint64_t i = 0; i < found.count; i++)
        if (!read_entry(it, &at, prefix, status))
            return false;
    return true;
}

/* ---- without it ---- */

/* The member at *at by its own header; *at is then after its bytes, or after the archive where that is not known. */
static bool read_local(const struct reading *it, uint64_t *at, enum gt_status *status) {
    unsigned char local[LOCAL_BYTES];
    if (!read_all(it, local, LOCAL_BYTES, *at, status) || !has_mark(local, "PK\3\4"))
        return false;
    size_t name_bytes = number(local + 26, 2), extra_bytes = number(local + 28, 2);
    if (!read_all(it, it->text, name_bytes + extra_bytes, *at + LOCAL_BYTES, status))
        return false;
    uint64_t flags = number(local + 6, 2);
    struct gt_zip_member member = {
        .begin = *at + LOCAL_BYTES + name_bytes + extra_bytes,
        .packed_bytes = number(local + 18, 4),
        .plain_bytes = number(local + 22, 4),
        .crc = (uint32_t)number(local + 14, 4),
        .method = (uint16_t)number(local + 8, 2),
        .is_encrypted = flags & FLAG_ENCRYPTED,
        .has_check = !(flags & FLAG_SIZES_FOLLOW),
    };
    widen(it->text + name_bytes, extra_bytes, (uint64_t *const[]){&member.plain_bytes, &member.packed_bytes}, 2);
    bool is_known = member.has_check || member.packed_bytes;
    if (!is_known)
        member.packed_bytes = UINT64_MAX;
    *at = is_known && member.packed_bytes <= it->file->size - member.begin ? member.begin + member.packed_bytes
                                                                           : it->file->size;
    *status = add_member(it, &member, name_bytes);
    return *status == GT_OK;
}

/* Sizes that follow a member may be between it and the next. */
static void skip_sizes(const struct reading *it, uint64_t *at, enum gt_status *status) {
    unsigned char mark[4];
    if (!read_all(it, mark, sizeof mark, *at, status) || !has_mark(mark, "PK\7\10"))
        return;
    static const uint64_t sizes[] = {16, 24};
    for (size_t i = 0; i < 2; i++)
        if (read_all(it, mark, sizeof mark, *at + sizes[i], status) && mark[0] == 'P' && mark[1] == 'K') {
            *at += sizes[i];
            return;
        }
}

static enum gt_status walk(const struct reading *it) {
    enum gt_status status = GT_OK;
    uint64_t at = 0;
    it->list->count = 0;
    it->list->damage = "zip archive ends early, or its directory is damaged";
    while (status == GT_OK && read_local(it, &at, &status))
        skip_sizes(it, &at, &status);
    return status;
}

enum gt_status gt_zip_list_read(struct gt_zip_list *list, const struct gt_zip_file *file, struct gt_error *err) {
    struct reading reading = {list, file, gt_mem_alloc(2 * NAME_MAX_BYTES), err};
    memset(list, 0, sizeof *list);
    if (!reading.text)
        return gt_fail_memory(err);
    enum gt_status status;
    if (!read_directory(&reading, &status) && status == GT_OK)
        status = walk(&reading);
    gt_mem_free(reading.text);
    return status;
}

void gt_zip_list_release(struct gt_zip_list *list) {
    gt_mem_free(list->members);
    gt_arena_release(&list->arena);
}
