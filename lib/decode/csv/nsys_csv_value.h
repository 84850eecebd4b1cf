/* Cells of `nsys stats` tables as values: numbers in any unit become ns, counts and bytes, labels become kinds. */
#ifndef GT_DECODE_CSV_NSYS_CSV_VALUE_H
#define GT_DECODE_CSV_NSYS_CSV_VALUE_H

#include "decode/csv/nsys_csv_header.h"

enum gt_nsys_csv_state {
    GT_NSYS_CSV_ABSENT, /* no such column, an empty cell or None */
    GT_NSYS_CSV_READ,
    GT_NSYS_CSV_UNREADABLE,
};

/* What all below read: a row that has as many cells as its header. */
struct gt_nsys_csv_cells {
    const struct gt_nsys_csv_header *header;
    const struct gt_csv_row *row;
};

/* The cell; empty where there is no such column. */
static inline struct gt_csv_cell gt_nsys_csv_value_cell(const struct gt_nsys_csv_cells *cells,
                                                        enum gt_nsys_csv_column column) {
    size_t place = cells->header->place[column];
    return place == GT_NSYS_CSV_NOWHERE ? (struct gt_csv_cell){{"", 0}, false} : cells->row->cells[place];
}

bool gt_nsys_csv_value_is_absent(struct gt_str text);

enum gt_nsys_csv_state gt_nsys_csv_value_ns(const struct gt_nsys_csv_cells *cells, enum gt_nsys_csv_column column,
                                            int64_t *ns);
enum gt_nsys_csv_state gt_nsys_csv_value_real_ns(const struct gt_nsys_csv_cells *cells, enum gt_nsys_csv_column column,
                                                 double *ns);
enum gt_nsys_csv_state gt_nsys_csv_value_count(const struct gt_nsys_csv_cells *cells, enum gt_nsys_csv_column column,
                                               uint64_t *count);

/* Size of a copy. Megabytes are printed with three decimals; the throughput next to them, which is the size times the
   whole number of times that the duration goes into a second, mostly says it to the byte. Where it does not, the
   roundest of the sizes that fit is taken. */
enum gt_nsys_csv_state gt_nsys_csv_value_bytes(const struct gt_nsys_csv_cells *cells, int64_t duration_ns,
                                               uint64_t *bytes);

/* Any other size: where it is printed in larger units, the roundest that fits. */
enum gt_nsys_csv_state gt_nsys_csv_value_size(const struct gt_nsys_csv_cells *cells, enum gt_nsys_csv_column column,
                                              uint64_t *bytes);

enum gt_nsys_csv_value_op { GT_NSYS_CSV_KERNEL, GT_NSYS_CSV_COPY, GT_NSYS_CSV_FILL };

/* "[CUDA memcpy HtoD]" and "[CUDA memcpy Host-to-Device]" are the same kind of copy, numbered as NVIDIA does. */
enum gt_nsys_csv_value_op gt_nsys_csv_value_op(struct gt_str name, uint64_t *copy_kind);

/* "Pageable" ... as NVIDIA numbers them. */
uint64_t gt_nsys_csv_value_memory_kind(struct gt_str label);

/* "NVIDIA H200 (0)": the number, -1 if there is none, and the name before it. */
int64_t gt_nsys_csv_value_device(struct gt_str text, struct gt_str *name);

#endif
