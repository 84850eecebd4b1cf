/* Files of a folder that are not those of a writer: CSV and JSON as older tools have them. */
#ifndef GT_WRITE_FOLDER_FILES_H
#define GT_WRITE_FOLDER_FILES_H

#include "base/fail.h"
#include "base/out.h"
#include "gputime.h"
#include "report/folders.h"
#include "report/report.h"

/* The rows of all sections, on several threads where there are many. */
enum gt_status gt_folder_files_csv(const struct gt_report *report, const struct gt_csv_layout *layout, size_t threads,
                                   struct gt_out *out, struct gt_error *err);

/* The whole report as JSON, and below it the keys of its first section. */
enum gt_status gt_folder_files_keys(const struct gt_report *report, const struct gt_key *keys, size_t threads,
                                    struct gt_out *out, struct gt_error *err);

#endif
