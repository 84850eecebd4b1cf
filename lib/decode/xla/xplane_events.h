/* Events of an XSpace: the bytes of a piece come in, rows go out. One belongs to one thread. */
#ifndef GT_DECODE_XLA_XPLANE_EVENTS_H
#define GT_DECODE_XLA_XPLANE_EVENTS_H

#include "decode/xla/xla_rows.h"
#include "decode/xla/xplane_space.h"

struct gt_xplane_events {
    const struct gt_xplane_space *space;
    struct gt_xla_rows rows;
    int64_t base_ns;  /* what to take off all times */
    gt_strid **names; /* by plane, then by word: the builder's number of the name, GT_STRID_EMPTY: not yet known */
    uint64_t event_count;
};

enum gt_status gt_xplane_events_init(struct gt_xplane_events *events, const struct gt_xplane_space *space,
                                     struct gt_builder *builder, const struct gt_xla_capture *capture, int64_t base_ns,
                                     struct gt_error *err);
void gt_xplane_events_release(struct gt_xplane_events *events);

/* Takes all events of a piece of the space. GT_PROTO_PADDING bytes are readable after them. */
void gt_xplane_events_take(struct gt_xplane_events *events, size_t piece_number, struct gt_str bytes);

#endif
