/* Files of a directory that are written together: none takes its name before all are complete. */
#ifndef GT_EXPORT_FILES_H
#define GT_EXPORT_FILES_H

#include "base/arena.h"
#include "base/fail.h"
#include "base/out.h"

struct gt_files {
    const char *directory; /* with a slash at its end; borrowed */
    bool is_made;          /* it was not there before */
    struct gt_arena arena;
    struct gt_out **outs;
    size_t count, capacity;
};

/* Creates the directory if it is missing; its parent must exist. Release also after a failure. */
enum gt_status gt_files_init(struct gt_files *files, const char *directory, size_t capacity, struct gt_error *err);
/* Begins a file, of at most `capacity`. *out belongs to the files. */
enum gt_status gt_files_open(struct gt_files *files, const char *name, const char *suffix, struct gt_out **out,
                             struct gt_error *err);
enum gt_status gt_files_commit(struct gt_files *files, struct gt_error *err);
/* Files that were not committed leave nothing, and neither does a directory that was created for them. */
void gt_files_release(struct gt_files *files);

#endif
