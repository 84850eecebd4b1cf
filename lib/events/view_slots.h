/* Slots of a view for results that are computed from it: each is made once, for the first that asks, whatever the
   number of threads. The slots know nothing of what they hold: who asks says how it is made. */
#ifndef GT_EVENTS_VIEW_SLOTS_H
#define GT_EVENTS_VIEW_SLOTS_H

#include <stddef.h>

#include "base/fail.h"

enum { GT_VIEW_SLOTS_COUNT = 32 };

struct gt_view;
struct gt_view_slots;

/* How a result is made: init fills `bytes` zeroed bytes and keeps nothing where it fails. */
struct gt_view_slots_maker {
    size_t bytes;
    enum gt_status (*init)(void *result, const struct gt_view *view, struct gt_error *err);
    void (*release)(void *result);
};

struct gt_view_slots *gt_view_slots_new(void); /* NULL: memory was short */
void gt_view_slots_free(struct gt_view_slots *slots);

/* The result in a slot of the view, good until the slots are cleared. A thread that asks for what another is making
   waits for it. NULL: it could not be made, err says why. */
const void *gt_view_slots_get(const struct gt_view *view, size_t slot, const struct gt_view_slots_maker *maker,
                              struct gt_error *err);
/* Releases all results; whoever asks again has them made again. */
void gt_view_slots_clear(struct gt_view_slots *slots);

#endif
