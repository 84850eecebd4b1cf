/* Rows of `nsys stats` tables: cells come in, ops, summed rows and projected ranges go into a builder. */
#ifndef GT_DECODE_CSV_NSYS_CSV_ROWS_H
#define GT_DECODE_CSV_NSYS_CSV_ROWS_H

#include "decode/csv/nsys_csv_value.h"
#include "decode/nsys/nsys.h"
#include "events/builder.h"

struct gt_nsys_csv_sink {
    struct gt_builder *builder;
    struct gt_nsys_capture capture; /* empty: the tables hold nothing of it */
    struct gt_nsys_sink model;
    char *name; /* room for names whose quotes were doubled */
    size_t name_bytes;
    char device[128]; /* the last op's device as it was written, asked for most often */
    size_t device_bytes;
    int64_t device_id;
    uint32_t read_for;           /* enum gt_fact: who reads these cells and is concerned by damage; 0: all */
    uint64_t row_count, sums[2]; /* of the rows taken so far: start and duration, or instances and total */
};

/* facts: enum gt_fact, what is to be read. false: no memory. */
bool gt_nsys_csv_rows_init(struct gt_nsys_csv_sink *sink, struct gt_builder *builder, uint32_t facts);
void gt_nsys_csv_rows_release(struct gt_nsys_csv_sink *sink);

/* false: a number that the row cannot do without is none. */
bool gt_nsys_csv_rows_take(struct gt_nsys_csv_sink *sink, const struct gt_nsys_csv_cells *cells);

/* enum gt_fact: a table is read for any of these; 0: always. */
uint32_t gt_nsys_csv_rows_facts(enum gt_nsys_csv_table table);

/* Splits the names of projected ranges from row `first` to `end` into domain and text. */
void gt_nsys_csv_rows_split_ranges(struct gt_builder *builder, size_t first, size_t end);
void gt_nsys_csv_rows_split_range_sums(struct gt_builder *builder, size_t first, size_t end);

#endif
