/* Sums of work over ops or instances, and cells of them. */
#ifndef GT_MEASURE_EFFICIENCY_WORK_SUMS_H
#define GT_MEASURE_EFFICIENCY_WORK_SUMS_H

#include "measure/efficiency/work_set.h"
#include "report/row.h"

struct gt_work_sums {
    size_t count;
    int64_t total_ns, modelled_ns; /* of all, and of those whose work is known */
    gt_big flops, bytes, roofline_ns;
    bool has_flops, has_bytes, has_roofline; /* that of one is known at least */
    int64_t roofed_ns, lost_ns;              /* time with a known roofline, and what of it is above */
    int64_t bound_ns[GT_BOUND_COUNT];
};

/* An op or, with all that its ops have, an instance; flops, bytes and roofline_ns are -1 where not known. No number of
   ops there is makes sums of 64-bit numbers exceed 128 bits. */
static inline void gt_work_sums_add(struct gt_work_sums *sums, int64_t ns, const struct gt_work_part *part,
                                    uint8_t bound) {
    sums->count++;
    sums->total_ns = gt_ns_add(sums->total_ns, ns);
    if (part->flops >= 0) {
        sums->flops += part->flops;
        sums->has_flops = true;
    }
    if (part->bytes >= 0) {
        sums->bytes += part->bytes;
        sums->has_bytes = true;
        sums->modelled_ns = gt_ns_add(sums->modelled_ns, ns);
    }
    if (part->roofline_ns >= 0) {
        sums->roofline_ns += part->roofline_ns;
        sums->has_roofline = true;
        sums->roofed_ns = gt_ns_add(sums->roofed_ns, ns);
        sums->lost_ns = gt_ns_add(sums->lost_ns, ns > part->roofline_ns ? ns - part->roofline_ns : 0);
        sums->bound_ns[bound] = gt_ns_add(sums->bound_ns[bound], ns);
    }
}

/* Adds what others summed. */
void gt_work_sums_join(struct gt_work_sums *sums, const struct gt_work_sums *more);

/* The kind that most time is of; count if none has any. */
size_t gt_work_sums_most(const int64_t *ns, size_t count);

struct gt_cell gt_work_sums_cell(gt_big amount, bool is_known);                   /* null also if it does not fit */
struct gt_cell gt_work_sums_per_second(gt_big amount, bool is_known, int64_t ns); /* in 1e9 */
struct gt_cell gt_work_sums_efficiency(const struct gt_work_sums *sums);
struct gt_cell gt_work_sums_bound(const struct gt_work_sums *sums);

#endif
