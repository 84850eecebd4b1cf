/* CSV read row by row from an input of any size: one reused buffer, cells as slices of it, nothing copied. */
#ifndef GT_DECODE_CSV_CSV_SCAN_H
#define GT_DECODE_CSV_CSV_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/source.h"
#include "base/str.h"

enum { GT_CSV_CELLS_MAX = 64 };

struct gt_csv_cell {
    struct gt_str text; /* without the quotes around it */
    bool has_quotes;    /* text has doubled quotes: decode it */
};

/* Lives until the reader is asked for the next row. */
struct gt_csv_row {
    struct gt_csv_cell cells[GT_CSV_CELLS_MAX];
    size_t count;    /* of the cells that are there; those beyond GT_CSV_CELLS_MAX are not kept */
    uint64_t offset; /* of the row in the input */
    struct gt_str raw;
    bool is_broken; /* text after a closing quote, a quote never closed, or too long: a count alone says nothing */
    bool is_cut;    /* the input ends in this row, without a line end */
};

/* How much is held at once. The defaults suit files; tests use tiny ones. */
struct gt_csv_sizes {
    size_t window_bytes; /* of the buffer at first */
    size_t max_bytes;    /* ... and at most: a row that needs more is broken */
};
extern const struct gt_csv_sizes gt_csv_default_sizes;

struct gt_csv_reader {
    struct gt_source *source;
    struct gt_csv_sizes sizes;
    char *buffer;
    size_t capacity;
    const char *p, *end; /* bytes available */
    uint64_t offset;     /* of p in the input */
    bool is_all;         /* nothing follows the current bytes */
    bool skips_line;     /* what follows belongs to a row given up */
    void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes); /* NULL: nobody asks */
    void *progress_context;
    uint64_t reported_bytes;
};

enum gt_csv_unit { GT_CSV_LINE, GT_CSV_RECORD };

enum gt_status gt_csv_scan_reader_init(struct gt_csv_reader *reader, struct gt_source *source,
                                       const struct gt_csv_sizes *sizes, struct gt_error *err);
void gt_csv_scan_reader_release(struct gt_csv_reader *reader);

/* The next row; *has_row is false at the end of the input. A line ends where the line does, a record may hold line
   ends inside quotes. Empty lines are rows of one empty cell. */
enum gt_status gt_csv_scan_reader_next(struct gt_csv_reader *reader, enum gt_csv_unit unit, struct gt_csv_row *row,
                                       bool *has_row, struct gt_error *err);

/* Goes back to the line after the row's first: a quote that was never closed must not take good rows along. */
void gt_csv_scan_reader_reread(struct gt_csv_reader *reader, const struct gt_csv_row *row);

/* Cuts the row at *p into cells and moves after it. false: the bytes end before the row does, which with is_all ends
   it instead. A byte-order mark before the row is passed over. */
bool gt_csv_scan_row(const char **p, const char *end, bool is_all, enum gt_csv_unit unit, struct gt_csv_row *row);

/* Undoes doubled quotes into buf, which has room for text.len bytes; returns the length. */
size_t gt_csv_scan_decode(struct gt_str text, char *buf);

#endif
