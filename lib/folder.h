/* Writes a report as the directory of an older tool. */
#ifndef GT_FOLDER_H
#define GT_FOLDER_H

#include "base/fail.h"
#include "gputime.h"
#include "report/folders.h"
#include "report/report.h"

/* path ends in '/'; its parent must exist. Files are replaced atomically, after all of them were written.
 */
enum gt_status gt_folder_write(const struct gt_report *report, const struct gputime_write_options *options,
                               const struct gt_folder *folder, const char *path, struct gt_error *err);

#endif
