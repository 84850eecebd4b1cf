/* Whether a file is a rocpd database: Nsight Systems exports SQLite, too. */
#include <string.h>
#include <unistd.h>

#include "decode/rocm/rocpd.h"

static bool begins_table(const char *p, const char *end) {
    p += p < end && (*p == '`' || *p == '"' || *p == '\'' || *p == '[');
    return gt_str_starts((struct gt_str){p, (size_t)(end - p)}, GT_STR("rocpd_"));
}

/* 1: it has tables of rocpd, 0: others, -1: none can be seen. */
static int look_at(struct gt_str head) {
    static const struct gt_str words = GT_STR("CREATE TABLE ");
    const char *p = head.ptr, *end = p + head.len;
    int seen = -1;
    while (p && p < end && (p = memmem(p, (size_t)(end - p), words.ptr, words.len)) != NULL) {
        p += words.len;
        if (begins_table(p, end))
            return 1;
        seen = gt_str_starts((struct gt_str){p, (size_t)(end - p)}, GT_STR("sqlite_")) ? seen : 0;
    }
    return seen;
}

/* The list of tables may lie anywhere in the file. */
static bool has_table(const char *path) {
    struct gt_source *source;
    struct gt_sqlite_db db = {0};
    struct gt_error ignored = {0};
    uint64_t size_bytes;
    bool is_found = false;
    if (access(path, F_OK) != 0 || gt_source_open(path, &source, &ignored) != GT_OK)
        return false;
    if (gt_source_is_seekable(source, &size_bytes) && gt_sqlite_db_open(&db, source, &ignored) == GT_OK)
        for (size_t i = 0; i < db.table_count && !is_found; i++)
            is_found = gt_rocpd_is_table(db.tables[i].name);
    gt_sqlite_db_close(&db);
    gt_source_close(source);
    return is_found;
}

int gt_rocpd_sniff(struct gt_str head, const char *path) {
    if (!gt_str_starts(head, (struct gt_str){"SQLite format 3", 16}))
        return 0;
    int seen = look_at(head);
    return seen == 1 || (seen < 0 && has_table(path)) ? 100 : 0;
}
