/* The way round for reports whose layout is not known here: nsys itself turns them into SQLite. */
#ifndef GT_DECODE_NSYS_NSYS_EXPORT_H
#define GT_DECODE_NSYS_NSYS_EXPORT_H

#include "decode/decoder.h"

/* Whether there is an nsys to run: the options' command, else one on PATH. */
bool gt_nsys_export_is_possible(const struct gt_decode_options *options);

/* Runs `nsys export` on the file at path and decodes what comes out. The export lies in a private folder in TMPDIR
   that is removed in every case, also when this process is killed. subject: the file in messages. */
enum gt_status gt_nsys_export_decode(const char *path, const char *subject, const struct gt_decode_options *options,
                                     struct gt_store **out, struct gt_error *err);

#endif
