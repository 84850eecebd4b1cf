/* Cells: the typed values of a report, with their units. */
#ifndef GT_REPORT_CELL_H
#define GT_REPORT_CELL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ns.h"
#include "base/str.h"
#include "gputime.h"

enum gt_unit {
    GT_UNIT_NONE,  /* names and ids */
    GT_UNIT_COUNT, /* how many: grouped digits on the screen */
    GT_UNIT_NS,
    GT_UNIT_BYTES,
    GT_UNIT_SHARE, /* fraction 0..1 of what the column's `of` says; percent on the screen */
};
const char *gt_cell_unit_name(enum gt_unit unit); /* as in JSON: "", "count", "ns", "bytes", "share" */

/* One typed value. Zeroed it is null. Text is borrowed: from constants, the report's arena or the trace. */
struct gt_cell {
    union {
        int64_t integer;
        double real;
        const char *text;
    };
    uint32_t text_bytes;
    uint32_t type; /* enum gputime_cell_type */
};

static inline struct gt_cell gt_cell_null(void) {
    return (struct gt_cell){.type = GPUTIME_CELL_NULL};
}
static inline struct gt_cell gt_cell_int(int64_t value) {
    return (struct gt_cell){.integer = value, .type = GPUTIME_CELL_INT};
}
static inline struct gt_cell gt_cell_real(double value) {
    return (struct gt_cell){.real = value, .type = GPUTIME_CELL_REAL};
}
static inline struct gt_cell gt_cell_text(struct gt_str text) {
    uint32_t bytes = text.len > UINT32_MAX ? UINT32_MAX : (uint32_t)text.len;
    return (struct gt_cell){.text = text.ptr, .text_bytes = bytes, .type = GPUTIME_CELL_TEXT};
}

static inline struct gt_cell gt_cell_count(size_t count) {
    return gt_cell_int((int64_t)count);
}
static inline struct gt_cell gt_cell_share(double part, double whole) { /* 0 of nothing is 0 */
    return gt_cell_real(whole > 0 ? part / whole : 0);
}
static inline struct gt_str gt_cell_str(const struct gt_cell *cell) {
    return (struct gt_str){cell->text, cell->text_bytes};
}
static inline bool gt_cell_is_text(const struct gt_cell *cell) {
    return cell->type == GPUTIME_CELL_TEXT;
}
/* As a number: NAN for null and text. As text: empty for null and numbers. */
static inline double gt_cell_as_number(const struct gt_cell *cell) {
    return cell->type == GPUTIME_CELL_INT ? (double)cell->integer : cell->type == GPUTIME_CELL_REAL ? cell->real : NAN;
}
static inline struct gt_str gt_cell_as_text(const struct gt_cell *cell) {
    return cell->type == GPUTIME_CELL_TEXT ? (struct gt_str){cell->text, cell->text_bytes} : (struct gt_str){0};
}

/* twice / 2: an integer where it is one */
static inline struct gt_cell gt_cell_half(__int128 twice) {
    return twice % 2 ? gt_cell_real((double)twice / 2) : gt_cell_int(gt_ns_of_sum(twice / 2));
}
/* null if negative: the input does not say */
static inline struct gt_cell gt_cell_known(double value) {
    return value >= 0 ? gt_cell_real(value) : gt_cell_null();
}
/* the nearest whole number, likewise; null too if it does not fit */
static inline struct gt_cell gt_cell_whole(double value) {
    return value >= 0 && value < 0x1p63 ? gt_cell_int((int64_t)(value + 0.5)) : gt_cell_null();
}

#endif
