/* Writes a report as a directory of files. All files are written under temporary names first and then renamed, so that
 * a failure leaves existing files unchanged. */
#include "folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/durable.h"
#include "base/mem.h"
#include "base/oserror.h"
#include "base/out.h"
#include "base/threads.h"
#include "write/folder_files.h"
#include "write/picked.h"
#include "write/writer.h"

enum { FILES_MAX = 32, FOLDERS_MAX = 64 };

struct work {
    const struct gt_report *report;
    const struct gputime_write_options *options;
    const char *path; /* of the directory, with a slash at its end */
    struct gt_arena arena;
    struct gt_out *outs[FILES_MAX]; /* by file of the layout; NULL: not written */
    const char *made[FOLDERS_MAX];  /* directories that were created */
    size_t made_count;
};

static const char *path_of(struct work *work, const char *below, size_t bytes) {
    return gt_arena_printf(&work->arena, "%s%.*s", work->path, (int)bytes, below).ptr;
}

/* Creates one directory, if missing. */
static enum gt_status make_folder(struct work *work, const char *path, struct gt_error *err) {
    char reason[GT_OSERROR_MAX];
    if (gt_arena_failed(&work->arena))
        return gt_fail_memory(err);
    bool is_made = gt_durable_make_folder(path) == 0;
    if (!is_made && errno != EEXIST)
        return gt_fail(err, "cannot create directory '%s': %s", path, gt_oserror_text(errno, reason));
    if (is_made && work->made_count < FOLDERS_MAX)
        work->made[work->made_count++] = path;
    return GT_OK;
}

/* Creates the directory of a file and its parents. */
static enum gt_status make_folders(struct work *work, const char *path, struct gt_error *err) {
    enum gt_status status =
        gt_arena_failed(&work->arena) ? gt_fail_memory(err) : GT_OK; /* in that case the path is empty */
    for (const char *slash = *path ? strchr(path + 1, '/') : NULL; slash && status == GT_OK;
         slash = strchr(slash + 1, '/'))
        status = make_folder(work, gt_arena_printf(&work->arena, "%.*s", (int)(slash - path), path).ptr, err);
    return status;
}

static enum gt_status has_rows(const struct gt_section *section, const struct gt_csv_layout *layout, bool *out,
                               struct gt_error *err) {
    struct gt_picked picked;
    struct gt_pick one = layout->rows;
    one.sort = NULL; /* whichever row it is */
    one.limit = 1;
    enum gt_status status = gt_picked_init(&picked, &one, &(struct gt_scope){.section = section}, 1, err);
    *out = picked.count > 0;
    gt_picked_release(&picked);
    return status;
}

/* Whether this report and this build have the file. */
static enum gt_status is_wanted(const struct work *work, const struct gt_folder_file *file, bool *out,
                                struct gt_error *err) {
    *out = !file->format || gt_writer_is_built(gt_writer_find(file->format));
    return file->needs_rows ? has_rows(&work->report->sections[0], file->csv, out, err) : GT_OK;
}

static enum gt_status write_one(struct work *work, const struct gt_folder_file *file, struct gt_out *out,
                                struct gt_error *err) {
    size_t threads = gt_threads_count(work->options->threads);
    if (file->csv)
        return gt_folder_files_csv(work->report, file->csv, threads, out, err);
    if (file->keys)
        return gt_folder_files_keys(work->report, file->keys, threads, out, err);
    return gt_writer_find(file->format)->write(work->report, work->options, out, err);
}

/* ---- all files, several at once ---- */

struct writing {
    struct work *work;
    const struct gt_folder *folder;
    enum gt_status status[FILES_MAX];
    struct gt_error err[FILES_MAX];
};

static void write_file(void *context, size_t index) {
    struct writing *writing = context;
    struct gt_out *out = writing->work->outs[index];
    if (out)
        writing->status[index] = write_one(writing->work, &writing->folder->files[index], out, &writing->err[index]);
    if (out && writing->status[index] == GT_OK) /* while others are still written */
        writing->status[index] = gt_out_settle(out, &writing->err[index]);
}

static enum gt_status write_all(struct work *work, const struct gt_folder *folder, struct gt_error *err) {
    struct writing *writing = gt_mem_array(1, sizeof *writing); /* too large for a small stack */
    enum gt_status status = GT_OK;
    size_t count = 0;
    if (!writing)
        return gt_fail_memory(err);
    *writing = (struct writing){.work = work, .folder = folder};
    while (folder->files[count].path)
        count++;
    gt_threads_deal(gt_threads_count(work->options->threads), count, write_file, writing);
    for (size_t i = 0; i < count && status == GT_OK; i++) {
        status = writing->status[i];
        if (status != GT_OK)
            *err = writing->err[i];
    }
    gt_mem_free(writing);
    return status;
}

static enum gt_status open_all(struct work *work, const struct gt_folder *folder, struct gt_error *err) {
    enum gt_status status = GT_OK;
    for (size_t i = 0; status == GT_OK && folder->files[i].path; i++) {
        const struct gt_folder_file *file = &folder->files[i];
        bool wanted;
        status = is_wanted(work, file, &wanted, err);
        if (status != GT_OK || !wanted)
            continue;
        const char *path = path_of(work, file->path, strlen(file->path));
        status = make_folders(work, path, err);
        if (status == GT_OK)
            status = gt_out_open(path, &work->outs[i], err);
    }
    return status;
}

/* Removes files of an earlier report that this one does not have; they would look like part of it. */
static void commit_none(struct work *work, const struct gt_folder_file *file) {
    struct stat info;
    const char *path = path_of(work, file->path, strlen(file->path));
    if (!gt_arena_failed(&work->arena) && lstat(path, &info) == 0 && S_ISREG(info.st_mode) && unlink(path) == 0)
        gt_durable_name(path);
}

static enum gt_status commit_all(struct work *work, const struct gt_folder *folder, struct gt_error *err) {
    enum gt_status status = GT_OK;
    for (size_t i = 0; status == GT_OK && folder->files[i].path; i++) {
        if (work->outs[i])
            status = gt_out_commit(work->outs[i], err);
        else
            commit_none(work, &folder->files[i]);
    }
    return status;
}

enum gt_status gt_folder_write(const struct gt_report *report, const struct gputime_write_options *options,
                               const struct gt_folder *folder, const char *path, struct gt_error *err) {
    struct work work = {.report = report, .options = options, .path = path};
    if (report->section_count != 1)
        return gt_fail_usage(err, "cannot write %zu traces to one directory '%s'; use one directory per trace",
                             report->section_count, path);
    enum gt_status status = open_all(&work, folder, err);
    if (status == GT_OK)
        status = write_all(&work, folder, err);
    if (status == GT_OK)
        status = commit_all(&work, folder, err);
    for (size_t i = 0; i < FILES_MAX; i++)
        gt_out_close(work.outs[i]);
    while (status != GT_OK && work.made_count)
        rmdir(work.made[--work.made_count]); /* kept if it has a file */
    gt_arena_release(&work.arena);
    return status;
}
