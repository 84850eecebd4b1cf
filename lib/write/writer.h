/* An output format: reads a report, writes bytes. writers.def has the table of all. */
#ifndef GT_WRITE_WRITER_H
#define GT_WRITE_WRITER_H

#include "base/fail.h"
#include "base/out.h"
#include "gputime.h"
#include "report/report.h"

struct gt_writer {
    const char *key, *title;
    const char *suffix; /* ".csv" */
    bool is_data;       /* for programs: every row, whatever the screen would show */
    bool fills_folders; /* one file holds one table, so a folder holds them all */
    bool is_binary;     /* nothing to see on a terminal */
    /* Errors of the output itself stick in out; the status is for requests that make no sense (no such table). */
    enum gt_status (*write)(const struct gt_report *report, const struct gputime_write_options *options,
                            struct gt_out *out, struct gt_error *err);
};

#define GT_WRITER(name, key, title, suffix, is_data, fills_folders, is_binary)                                         \
    enum gt_status gt_write_##name(const struct gt_report *report, const struct gputime_write_options *options,        \
                                   struct gt_out *out, struct gt_error *err);
#include "write/writers.def"
GT_WRITER(layout, "", "", "", true, false, false) /* the old tools' files: options->format names the layout */
#undef GT_WRITER

extern const struct gt_writer gt_writers[];
extern const size_t gt_writer_count;

const struct gt_writer *gt_writer_find(const char *key);      /* layouts too; NULL if there is none */
bool gt_writer_is_built(const struct gt_writer *writer);      /* false for NULL, and for what this build lacks */
const struct gt_writer *gt_writer_for_folder(void);           /* NULL if none fills folders */
const struct gt_writer *gt_writer_for_path(const char *path); /* by suffix; NULL if none fits */

#endif
