/* Reads the spans of lanes from columns. */
#include "measure/results/lane_set.h"

#include "base/mem.h"

void gt_lane_set_release(struct gt_lane_set *set) {
    gt_mem_free(set->ids);
    for (size_t i = 0; i < GT_ARRAY_COUNT(set->owned); i++)
        gt_mem_free(set->owned[i]);
    *set = (struct gt_lane_set){0};
}

void gt_lane_set_read(const void *data, size_t first, size_t count, struct gt_span *out) {
    const struct gt_lane_set *set = data;
    for (size_t i = 0; i < count; i++) {
        uint32_t id = set->ids[first + i];
        out[i] = (struct gt_span){set->start_ns[id], set->end_ns[id], set->category ? set->category[id] : 0};
    }
}
