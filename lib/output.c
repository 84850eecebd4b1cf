/* The pipeline's end: writes a report to a file, standard output, or a directory of tables. */
#include <errno.h>
#include <string.h>

#include "base/durable.h"
#include "base/mem.h"
#include "base/oserror.h"
#include "base/out.h"
#include "base/temporary.h"
#include "folder.h"
#include "internal.h"
#include "take.h"
#include "write/joined.h"
#include "write/text_table.h"
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
    if (gt_durable_make_folder(directory) != 0 && errno != EEXIST)
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

/* Options of any version of the header, checked. */
static enum gt_status take_options(const struct gputime_write_options *options, struct gputime_write_options *taken,
                                   struct gt_error *err) {
    enum gt_status status = GT_TAKE(gputime_write_options, options, taken, err);
    if (status == GT_OK)
        status = gt_take_choice("unit", (unsigned)taken->unit, GPUTIME_UNIT_S, err);
    if (status == GT_OK)
        status = gt_take_choice("color", (unsigned)taken->color, GPUTIME_COLOR_NEVER, err);
    if (status == GT_OK && taken->width < 0)
        status = gt_fail_usage(err, "the width cannot be negative");
    if (status == GT_OK && taken->row_limit < 0)
        status = gt_fail_usage(err, "the number of rows cannot be negative");
    return status;
}

API enum gputime_status gputime_report_write(const struct gputime_report *report,
                                             const struct gputime_write_options *options, const char *path,
                                             struct gputime_error *err) {
    struct gt_error error = {0};
    struct gputime_write_options taken;
    enum gt_status status = take_options(options, &taken, &error);
    if (status == GT_OK)
        status = write_report(report->model, &taken, path, &error);
    return gt_internal_fail(status, &error, err);
}

/* ---- into memory ---- */

/* A writer's output, or a table alone where there is no report. */
struct printing {
    const struct gt_report *report;
    const struct gt_writer *writer;
    const struct gt_table *table;
    const struct gputime_write_options *options;
};

static enum gt_status write_memory(const struct printing *printing, struct gt_out *memory, struct gt_error *err) {
    if (printing->report)
        return printing->writer->write(printing->report, printing->options, memory, err);
    struct gt_screen screen;
    gt_screen_init(&screen, printing->options, memory);
    if (printing->table && (printing->table->row_count || printing->table->empty))
        gt_text_table(&screen, printing->table, printing->options);
    return GT_OK;
}

static enum gt_status print(const struct printing *printing, struct gputime_text *out, struct gt_error *err) {
    struct gt_out *memory = NULL;
    enum gt_status status = gt_out_open_memory(&memory, err);
    if (status == GT_OK)
        status = write_memory(printing, memory, err);
    if (status == GT_OK)
        status = gt_out_commit(memory, err);
    if (status == GT_OK) {
        struct gt_str text = gt_out_bytes(memory);
        char *copy = gt_mem_alloc(text.len + 1);
        if (copy) {
            if (text.len)
                memcpy(copy, text.ptr, text.len);
            copy[text.len] = '\0';
            *out = (struct gputime_text){copy, text.len};
        } else {
            status = gt_fail_memory(err);
        }
    }
    gt_out_close(memory);
    return status;
}

API enum gputime_status gputime_report_print(const struct gputime_report *report,
                                             const struct gputime_write_options *options, struct gputime_text *out,
                                             struct gputime_error *err) {
    struct gt_error error = {0};
    struct gputime_write_options taken;
    *out = (struct gputime_text){0};
    struct printing printing = {.report = report->model, .options = &taken};
    enum gt_status status = take_options(options, &taken, &error);
    if (status == GT_OK && taken.format && gt_folder_find(taken.format))
        status = gt_fail_usage(&error, "format '%s' writes a directory; end its path with '/'", taken.format);
    if (status == GT_OK)
        status = choose_writer(&taken, NULL, false, &printing.writer, &error);
    if (status == GT_OK)
        status = print(&printing, out, &error);
    return gt_internal_fail(status, &error, err);
}

API enum gputime_status gputime_table_print(const struct gputime_table *table,
                                            const struct gputime_write_options *options, struct gputime_text *out,
                                            struct gputime_error *err) {
    struct gt_error error = {0};
    struct gputime_write_options taken;
    *out = (struct gputime_text){0};
    const struct printing printing = {.table = (const struct gt_table *)(const void *)table, .options = &taken};
    enum gt_status status = take_options(options, &taken, &error);
    if (status == GT_OK)
        status = print(&printing, out, &error);
    return gt_internal_fail(status, &error, err);
}

API void gputime_text_free(struct gputime_text text) {
    gt_mem_free((void *)(uintptr_t)text.bytes);
}

API void gputime_remove_unfinished(void) {
    gt_temporary_remove_all();
}
