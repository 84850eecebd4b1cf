/* A new database under a temporary name: opened, filled by others, then synced and renamed, or removed. */
#include "redact/redact_file.h"

#include <errno.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/durable.h"
#include "base/oserror.h"

static enum gt_status fail_system(const struct gt_redact_file *file, struct gt_error *err) {
    char text[GT_OSERROR_MAX];
    return gt_fail(err, "cannot write '%s': %s", file->path, gt_oserror_text(errno, text));
}

enum gt_status gt_redact_file_fail(const struct gt_redact_file *file, struct gt_error *err) {
    return gt_fail(err, "cannot write '%s': %s", file->path, sqlite3_errmsg(file->connection));
}

enum gt_status gt_redact_file_open(struct gt_redact_file *file, const char *path, struct gt_error *err) {
    /* Without a journal nothing lies next to the file, and the file is thrown away whole when something fails. */
    static const char begin[] =
        "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA temp_store=MEMORY; BEGIN EXCLUSIVE";
    *file = (struct gt_redact_file){.path = path};
    file->fd = gt_temporary_open(&file->temporary, path);
    if (file->fd < 0)
        return fail_system(file, err);
    if (sqlite3_open_v2(file->temporary.path, &file->connection, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
        sqlite3_exec(file->connection, begin, NULL, NULL, NULL) != SQLITE_OK)
        return gt_redact_file_fail(file, err);
    return GT_OK;
}

enum gt_status gt_redact_file_commit(struct gt_redact_file *file, struct gt_error *err) {
    if (sqlite3_exec(file->connection, "COMMIT", NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_close(file->connection) != SQLITE_OK)
        return gt_redact_file_fail(file, err);
    file->connection = NULL;
    if (gt_durable_sync(file->fd) != 0 || gt_temporary_rename(&file->temporary, file->path) != 0)
        return fail_system(file, err);
    return GT_OK;
}

void gt_redact_file_close(struct gt_redact_file *file) {
    if (!file->path)
        return;
    sqlite3_close(file->connection);
    if (file->fd >= 0)
        close(file->fd);
    gt_temporary_remove(&file->temporary);
}
