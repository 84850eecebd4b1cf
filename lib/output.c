/* The pipeline's end: writes a report to a file, standard output, or a directory of tables. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/oserror.h"
#include "base/out.h"
#include "base/temporary.h"
#include "folder.h"
#include "internal.h"
#include "take.h"
#include "write/joined.h"
#include "write/writer.h"

static enum gt_status choose_writer(const struct gputime_write_options *options, const char *path, bool is_folder,
                                    const struct gt_writer **out, struct gt_error *err) {
    if (options->format)
        *out = gt_writer_find(options->format);
    else if (is_folder)
        *out = gt_writer_for_folder();
    else
        *out = path ? gt_writer_for_path(path) : NULL;
    if (!*out && !options->format)
        *out = &gt_writers[0];
    if (!*out)
        return gt_fail_usage(err, "unknown format '%s'; see 'gputime list outputs'", options->format);
    if (is_folder && !(*out)->fills_folders)
        return gt_fail_usage(err, "format '%s' writes one file, but '%s' is a directory", (*out)->key, path);
    return GT_OK;
}

static enum gt_status write_file(const struct gt_writer *writer, const struct gt_report *report,
                                 const struct gputime_write_options *options, const char *path, struct gt_error *err) {
    struct gt_out *out = NULL;
    enum gt_status status = gt_out_open(path, &out, err);
    if (status == GT_OK)
        status = writer->write(report, options, out, err);
    if (status == GT_OK)
        status = gt_out_commit(out, err);
    gt_out_close(out);
    return status;
}

/* One file per table that is meant as data. */
static enum gt_status write_folder(const struct gt_writer *writer, const struct gt_report *report,
                                   const struct gputime_write_options *options, const char *directory,
                                   struct gt_error *err) {
    char reason[GT_OSERROR_MAX];
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return gt_fail(err, "cannot create directory '%s': %s", directory, gt_oserror_text(errno, reason));
    enum gt_status status = GT_OK;
    struct gt_arena names = {0};
    const char *key;
    for (size_t i = 0; status == GT_OK && (key = gt_joined_key(report, GT_FOR_DATA, i)); i++) {
        struct gputime_write_options one = *options;
        one.table = key;
        one.columns = NULL;
        one.column_count = 0;
        struct gt_str path = gt_arena_printf(&names, "%s%s%s", directory, key, writer->suffix);
        status = gt_arena_failed(&names) ? gt_fail_memory(err) : write_file(writer, report, &one, path.ptr, err);
    }
    gt_arena_release(&names);
    return status;
}

static enum gt_status write_report(const struct gt_report *report, const struct gputime_write_options *options,
                                   const char *path, struct gt_error *err) {
    bool is_folder = path && *path && path[strlen(path) - 1] == '/';
    const struct gt_folder *folder = options->format ? gt_folder_find(options->format) : NULL;
    const struct gt_writer *writer;
    if (folder && !is_folder)
        return gt_fail_usage(err, "format '%s' writes a directory; end its path with '/'", options->format);
    if (folder)
        return gt_folder_write(report, options, folder, path, err);
    enum gt_status status = choose_writer(options, path, is_folder, &writer, err);
    if (status != GT_OK)
        return status;
    return is_folder ? write_folder(writer, report, options, path, err)
                     : write_file(writer, report, options, path, err);
}

API enum gputime_status gputime_report_write(const struct gputime_report *report,
                                             const struct gputime_write_options *options, const char *path,
                                             struct gputime_error *err) {
    struct gt_error error = {0};
    struct gputime_write_options taken;
    enum gt_status status = GT_TAKE(gputime_write_options, options, &taken, &error);
    if (status == GT_OK)
        status = gt_take_choice("unit", (unsigned)taken.unit, GPUTIME_UNIT_S, &error);
    if (status == GT_OK)
        status = gt_take_choice("color", (unsigned)taken.color, GPUTIME_COLOR_NEVER, &error);
    if (status == GT_OK && taken.width < 0)
        status = gt_fail_usage(&error, "the width cannot be negative");
    if (status == GT_OK && taken.row_limit < 0)
        status = gt_fail_usage(&error, "the number of rows cannot be negative");
    if (status == GT_OK)
        status = write_report(report->model, &taken, path, &error);
    return gt_internal_fail(status, &error, err);
}

API void gputime_remove_unfinished(void) {
    gt_temporary_remove_all();
}
