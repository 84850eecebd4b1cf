/* The ops of a view by process and by the innermost range around their launch, as tables of ranges distinguish them.
 */
#ifndef GT_MEASURE_RESULTS_RANGE_GROUPS_H
#define GT_MEASURE_RESULTS_RANGE_GROUPS_H

#include "events/view.h"
#include "measure/results/keyed.h"

struct gt_range_groups {
    struct gt_keyed keyed; /* the lengths of ops; the functions below read its keys */
};

enum gt_status gt_range_groups_init(struct gt_range_groups *groups, const struct gt_view *view, struct gt_error *err);
void gt_range_groups_release(struct gt_range_groups *groups);

/* Ranges of one name and domain have one key. */
#define GT_NO_RANGE_KEY UINT64_MAX
static inline uint64_t gt_range_groups_key(const struct gt_store *store, uint32_t range) {
    return range == GT_NO_ROW ? GT_NO_RANGE_KEY
                              : (uint64_t)store->ranges.domain[range] << 32 | store->ranges.name[range];
}

static inline gt_strid gt_range_groups_key_name(uint64_t key) {
    return (gt_strid)(key & UINT32_MAX);
}

static inline gt_strid gt_range_groups_key_domain(uint64_t key) {
    return (gt_strid)(key >> 32);
}

/* Of a group: its process (GT_NO_TRACK: the trace does not say), whether its ops are kernels, and the key of their
   ranges (GT_NO_RANGE_KEY: they are outside all). */
static inline uint32_t gt_range_group_process(const struct gt_keyed_group *group) {
    return (uint32_t)(group->hi >> 1);
}

static inline bool gt_range_group_is_of_kernels(const struct gt_keyed_group *group) {
    return group->hi & 1;
}

static inline uint64_t gt_range_group_range(const struct gt_keyed_group *group) {
    return group->lo;
}

#endif
