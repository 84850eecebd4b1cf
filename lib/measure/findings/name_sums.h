/* Sums of time by name, the largest first when sorted. PyTorch's emit_nvtx numbers its ranges ("aten::mm, seq = 5,
   op_id = 7"): names that are equal without the numbers are one. */
#ifndef GT_MEASURE_FINDINGS_NAME_SUMS_H
#define GT_MEASURE_FINDINGS_NAME_SUMS_H

#include "base/map.h"
#include "events/store.h"

struct gt_name_sum {
    gt_strid name;      /* the first of them */
    struct gt_str text; /* what it is: the ids of names follow the order of the file */
    size_t count;
    __int128 ns;
};

/* Zeroed: empty. */
struct gt_name_sums {
    struct gt_name_sum *items;
    size_t count, capacity;
    __int128 total_ns;
    struct gt_map places;
    bool has_failed; /* memory was short */
};

void gt_name_sums_add(struct gt_name_sums *sums, const struct gt_store *store, gt_strid name, int64_t ns);
/* Adds what other sums have: as if it had been added to these one by one, after what they have. */
void gt_name_sums_merge(struct gt_name_sums *sums, const struct gt_store *store, const struct gt_name_sums *other);
/* By time, the most first, then by name. Nothing may be added after it. */
void gt_name_sums_sort(struct gt_name_sums *sums);
void gt_name_sums_release(struct gt_name_sums *sums);

/* The name without such numbers. */
struct gt_str gt_name_sums_plain(struct gt_str name);

#endif
