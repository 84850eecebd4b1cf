/* Adds up work: what is not known stays unknown, and adds nothing. */
#include "measure/efficiency/work_sums.h"

void gt_work_sums_join(struct gt_work_sums *sums, const struct gt_work_sums *more) {
    sums->count += more->count;
    sums->total_ns = gt_ns_add(sums->total_ns, more->total_ns);
    sums->modelled_ns = gt_ns_add(sums->modelled_ns, more->modelled_ns);
    sums->flops = gt_work_math_add(sums->flops, more->flops);
    sums->bytes = gt_work_math_add(sums->bytes, more->bytes);
    sums->roofline_ns = gt_work_math_add(sums->roofline_ns, more->roofline_ns);
    sums->has_flops |= more->has_flops;
    sums->has_bytes |= more->has_bytes;
    sums->has_roofline |= more->has_roofline;
    sums->roofed_ns = gt_ns_add(sums->roofed_ns, more->roofed_ns);
    sums->lost_ns = gt_ns_add(sums->lost_ns, more->lost_ns);
    for (size_t i = 0; i < GT_BOUND_COUNT; i++)
        sums->bound_ns[i] = gt_ns_add(sums->bound_ns[i], more->bound_ns[i]);
}

size_t gt_work_sums_most(const int64_t *ns, size_t count) {
    size_t most = count;
    for (size_t i = 0; i < count; i++)
        if (ns[i] > 0 && (most == count || ns[i] > ns[most]))
            most = i;
    return most;
}

struct gt_cell gt_work_sums_cell(gt_big amount, bool is_known) {
    return is_known && gt_work_math_fits(amount) ? gt_cell_int((int64_t)amount) : gt_cell_null();
}

struct gt_cell gt_work_sums_per_second(gt_big amount, bool is_known, int64_t ns) {
    return is_known && ns > 0 && gt_work_math_fits(amount) ? gt_cell_real((double)amount / (double)ns) : gt_cell_null();
}

struct gt_cell gt_work_sums_efficiency(const struct gt_work_sums *sums) {
    bool is_known = sums->has_roofline && sums->roofed_ns > 0;
    return is_known ? gt_cell_real((double)sums->roofline_ns / (double)sums->roofed_ns) : gt_cell_null();
}

struct gt_cell gt_work_sums_bound(const struct gt_work_sums *sums) {
    size_t most = gt_work_sums_most(sums->bound_ns, GT_BOUND_COUNT);
    return most < GT_BOUND_UNKNOWN ? gt_cell_text(gt_str_of(gt_work_bound_names[most])) : gt_cell_null();
}
