/* Many small things to one output: they are made in its buffer, without a call for each. */
#ifndef GT_WRITE_PEN_H
#define GT_WRITE_PEN_H

#include <string.h>

#include "base/num.h"
#include "base/out.h"
#include "base/str.h"

/* Between gt_pen_init and gt_pen_lift nothing else writes to the output. */
struct gt_pen {
    struct gt_out *out;
    char *begin, *at, *end; /* of the room in its buffer; where the next byte goes */
    char no_room[1];        /* where they are as long as there is none */
};

void gt_pen_init(struct gt_pen *pen, struct gt_out *out);
void gt_pen_lift(struct gt_pen *pen); /* all that was put is written; the pen can go on */

/* Room for so many bytes at `at`, at most GT_OUT_ROOM_MAX. */
void gt_pen_refill(struct gt_pen *pen, size_t size);
static inline void gt_pen_need(struct gt_pen *pen, size_t size) {
    if ((size_t)(pen->end - pen->at) < size)
        gt_pen_refill(pen, size);
}

void gt_pen_long_text(struct gt_pen *pen, struct gt_str text);
static inline void gt_pen_text(struct gt_pen *pen, struct gt_str text) {
    if ((size_t)(pen->end - pen->at) <= text.len) { /* also where there is no room yet and no text */
        gt_pen_long_text(pen, text);
        return;
    }
    memcpy(pen->at, text.ptr, text.len);
    pen->at += text.len;
}

static inline void gt_pen_int(struct gt_pen *pen, int64_t value) {
    gt_pen_need(pen, GT_NUM_MAX);
    pen->at += gt_num_format_int(pen->at, value);
}

static inline void gt_pen_real(struct gt_pen *pen, double value) {
    gt_pen_need(pen, GT_NUM_MAX);
    pen->at += gt_num_format_real(pen->at, value);
}

void gt_pen_json(struct gt_pen *pen, struct gt_str text); /* in quotes */
void gt_pen_csv(struct gt_pen *pen, struct gt_str text);  /* a field */

#endif
