/* The decoder of the CSV tables that `nsys stats` writes, and the same with other sizes than usual for tests. */
#ifndef GT_DECODE_CSV_NSYS_CSV_H
#define GT_DECODE_CSV_NSYS_CSV_H

#include "decode/csv/csv_scan.h"
#include "decode/decoder.h"

#define GT_NSYS_CSV_KEY "nsys-csv"

int gt_nsys_csv_sniff(struct gt_str head, const char *path);

/* The files of one capture, each with one table or several. What a table of events says is not taken from summed
   tables again. */
enum gt_status gt_nsys_csv_decode(struct gt_source *const *sources, size_t count,
                                  const struct gt_decode_options *options, struct gt_store **out, struct gt_error *err);

/* Tables of one capture are PREFIX_REPORT.csv: the length of PREFIX; 0: the path is none of them. */
size_t gt_nsys_csv_capture_prefix(const char *path);

enum gt_status gt_nsys_csv_decode_sized(struct gt_source *const *sources, size_t count,
                                        const struct gt_decode_options *options, const struct gt_csv_sizes *sizes,
                                        struct gt_store **out, struct gt_error *err);

#endif
