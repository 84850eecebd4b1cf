/* Sums of FLOPs and their shares of peaks. */
#include "measure/efficiency/mfu_sums.h"

int64_t gt_mfu_sums_kind_flops(const struct gt_work_kind *kind, enum gt_flops_kind which) {
    const int64_t flops[GT_FLOPS_COUNT] = {kind->flops, kind->model_flops, kind->dense_flops};
    return flops[which] > 0 ? flops[which] : 0;
}

void gt_mfu_sums_add(struct gt_mfu_sums *sums, const struct gt_view *view, const struct gt_work_set *set,
                     size_t position) {
    const struct gt_work_kind *kind = gt_mfu_sums_kind(view, set, position);
    if (!kind)
        return;
    sums->instances++;
    for (size_t i = 0; i < GT_FLOPS_COUNT; i++)
        sums->flops[i][kind->unit] =
            gt_work_math_add(sums->flops[i][kind->unit], gt_mfu_sums_kind_flops(kind, (enum gt_flops_kind)i));
}

void gt_mfu_sums_add_device(struct gt_mfu_sums *sums, const struct gt_view *view, const struct gt_work_set *set,
                            const struct gt_view_device *device) {
    for (size_t i = device->first; i < device->first + device->count; i++)
        gt_mfu_sums_add(sums, view, set, i);
}

gt_big gt_mfu_sums_flops(const struct gt_mfu_sums *sums, enum gt_flops_kind kind) {
    gt_big all = 0;
    for (size_t unit = 0; unit <= GT_PEAK_COUNT; unit++)
        all = gt_work_math_add(all, sums->flops[kind][unit]);
    return all;
}

double gt_mfu_sums_share(const struct gt_mfu_sums *sums, enum gt_flops_kind kind, const struct gt_gpu_peaks *peaks,
                         int64_t time_ns) {
    long double seconds = 0;
    if (sums->instances == 0 || time_ns <= 0)
        return -1;
    for (size_t unit = 0; unit <= GT_PEAK_COUNT; unit++) {
        int64_t peak = gt_gpu_peaks_of_products(peaks, (enum gt_peak_unit)unit);
        if (!peak && sums->flops[GT_FLOPS_EXECUTED][unit])
            return -1;
        seconds += peak ? (long double)sums->flops[kind][unit] / (long double)peak : 0;
    }
    return (double)(seconds * 1e9L / (long double)time_ns);
}

enum gt_peak_unit gt_mfu_sums_unit(const struct gt_mfu_sums *sums) {
    enum gt_peak_unit most = GT_PEAK_NONE;
    for (size_t unit = 0; unit < GT_PEAK_COUNT; unit++)
        if (sums->flops[GT_FLOPS_EXECUTED][unit] > (most == GT_PEAK_NONE ? 0 : sums->flops[GT_FLOPS_EXECUTED][most]))
            most = (enum gt_peak_unit)unit;
    return most;
}
