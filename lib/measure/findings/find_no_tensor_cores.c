/* Rule no_tensor_cores: products and convolutions in float32 on the ordinary cores of a GPU that has tensor cores. */
#include "measure/findings/claim_ranges.h"
#include "measure/findings/findings.h"
#include "measure/findings/kernel_roofs.h"

/* How much faster they could be; 1: the GPU has no tensor cores. From the peak rates of the vendor: GPUs for data
   centers (compute capability x.0, and 7.5) reach 8 times the rate of float32 with TF32 or 16-bit data, others about 2.
 */
static double gain_of(const struct gt_evidence *evidence, const struct gt_view_device *device) {
    const struct gt_devices *devices = &evidence->view->store->devices;
    uint32_t major = devices->compute_major[device->device], minor = devices->compute_minor[device->device];
    if (major == 0 || !(evidence->context & GT_CONTEXT_NVIDIA))
        return gt_thresholds.small_tensor_gain;
    if (major < 7)
        return 1;
    bool is_large = (minor == 0 && major < 12) || (major == 7 && minor == 5) || (major == 10 && minor == 3);
    return is_large ? gt_thresholds.tensor_gain : gt_thresholds.small_tensor_gain;
}

/* What is found. */
struct ordinary {
    size_t count;
    double total_ns;
    double half_ns, convolution_ns; /* of it with 16-bit data, and in convolutions */
    double modelled_ns;             /* and of known work */
    uint32_t longest;               /* position; GT_NO_ROW */
    bool lacks_tf32;                /* a GPU that runs some of them */
};

/* A kernel that uses the ordinary cores. */
struct candidate {
    size_t position;
    bool is_found, is_half, is_convolution, is_modelled;
    double gain; /* how much faster it could be */
};

static struct candidate by_name(const struct gt_traits *traits, const struct gt_view *view, size_t position,
                                double gain) {
    unsigned of_op = gt_traits_of_op(traits, view, position);
    return (struct candidate){.position = position,
                              .is_found = of_op & GT_TRAIT_ORDINARY,
                              .is_half = of_op & GT_TRAIT_HALF,
                              .is_convolution = of_op & GT_TRAIT_CONVOLUTION,
                              .gain = gain};
}

/* How much faster the work would be on tensor cores, at the part of their peak that good kernels reach. */
static double modelled_gain(const struct gt_kernel_roofs *roofs, const struct gt_gpu_peaks *peaks,
                            const struct gt_work_instance *instance) {
    const struct gt_work_kind *kind = gt_work_set_kind(roofs->set, instance);
    int64_t peak = kind->unit == GT_PEAK_BF16 ? 0 : gt_gpu_peaks_of_products(peaks, GT_PEAK_TF32);
    if (peak <= 0) /* 16-bit data, or a GPU that has no TF32 */
        peak = gt_gpu_peaks_of_products(peaks, GT_PEAK_BF16);
    if (peak <= 0 || peaks->bandwidth <= 0 || kind->flops < 0 || kind->bytes < 0 || instance->total_ns <= 0)
        return INFINITY;
    double seconds = fmax((double)kind->flops / (double)peak, (double)kind->bytes / (double)peaks->bandwidth);
    return (double)instance->total_ns * gt_thresholds.good_products / fmax(1e9 * seconds, 1);
}

/* What the work of the operator says beyond the name: products whose kernels have other names, products that a
   convolution needs, and work that memory would limit. It never promises more than the name does. */
static void refine(struct candidate *it, const struct gt_kernel_roofs *roofs, const struct gt_view_device *device,
                   unsigned of_op) {
    const struct gt_work_instance *instance = gt_kernel_roofs_instance(roofs, it->position);
    if (!instance)
        return;
    const struct gt_work_kind *kind = gt_work_set_kind(roofs->set, instance);
    const struct gt_gpu_peaks *peaks = &roofs->set->peaks[device->device];
    bool is_product = kind->family == GT_FAMILY_GEMM || kind->family == GT_FAMILY_CONV;
    bool is_nvidia = peaks->limits.warps > 0, is_helper = roofs->set->parts[roofs->view->row[it->position]].is_helper;
    it->is_found |= is_product && is_nvidia && !is_helper && kind->unit == GT_PEAK_FP32 && !(of_op & GT_TRAIT_TENSOR);
    it->is_convolution |= kind->family == GT_FAMILY_CONV;
    it->is_modelled = is_product;
    if (is_product)
        it->gain = fmin(it->gain, modelled_gain(roofs, peaks, instance));
}

static void claim(struct gt_evidence *evidence, const struct candidate *it, struct ordinary *found) {
    int64_t left_ns = gt_ledger_op_left_ns(&evidence->ledger, it->position);
    double gain = it->is_convolution ? fmin(it->gain, gt_thresholds.convolution_gain) : it->gain;
    if (gain <= 1)
        return;
    gt_ledger_claim_op(&evidence->ledger, (uint32_t)it->position, (int64_t)((double)left_ns * (1 - 1 / gain)));
    found->count++;
    found->total_ns += (double)left_ns;
    found->half_ns += it->is_half ? (double)left_ns : 0;
    found->modelled_ns += it->is_modelled ? (double)left_ns : 0;
    found->convolution_ns += it->is_convolution ? (double)left_ns : 0;
    if (found->longest == GT_NO_ROW ||
        gt_view_op_ns(evidence->view, it->position) > gt_view_op_ns(evidence->view, found->longest))
        found->longest = (uint32_t)it->position;
}

/* roofs: NULL where the work of kernels is not known. */
static void claim_device(struct gt_evidence *evidence, const struct gt_traits *traits,
                         const struct gt_kernel_roofs *roofs, const struct gt_view_device *device,
                         struct ordinary *found) {
    const struct gt_view *view = evidence->view;
    double gain = gain_of(evidence, device);
    size_t before = found->count;
    for (size_t i = device->first; i < device->first + device->count && gain > 1; i++) {
        if (gt_view_op_kind(view, i) != GT_OP_KERNEL || gt_ledger_op_left_ns(&evidence->ledger, i) == 0)
            continue;
        struct candidate it = by_name(traits, view, i, gain);
        if (roofs)
            refine(&it, roofs, device, gt_traits_of_op(traits, view, i));
        if (it.is_found)
            claim(evidence, &it, found);
    }
    found->lacks_tf32 |= found->count > before && view->store->devices.compute_major[device->device] == 7;
}

static void describe(struct gt_evidence *evidence, struct gt_finding *finding, const struct ordinary *found) {
    bool is_half = found->half_ns > found->total_ns / 2, is_matrix = !(evidence->context & GT_CONTEXT_NVIDIA);
    const char *what = found->convolution_ns > found->total_ns / 2 ? "convolutions" : "matrix products";
    size_t steps = gt_evidence_step_count(evidence);
    double divisor = steps ? (double)steps : 1;
    gt_finding_set_title(evidence, finding, "%s %s without %s cores%s cost %s of the time",
                         is_half ? "16-bit" : "float32", what, is_matrix ? "matrix" : "tensor",
                         gt_claim_ranges_say(evidence),
                         gt_say_share(evidence, (double)evidence->ledger.claimed_ns, (double)evidence->ledger.span_ns));
    gt_finding_add_evidence(evidence, finding, "%s%s took %s; on %s cores they would be about %.0f times as fast%s.",
                            gt_say_counted(evidence, (size_t)((double)found->count / divisor), "kernel"),
                            steps ? " per step" : "", gt_say_ns(evidence, found->total_ns / divisor),
                            is_matrix ? "matrix" : "tensor",
                            found->total_ns / (found->total_ns - (double)evidence->ledger.claimed_ns),
                            found->modelled_ns > found->total_ns / 2 ? ", by their FLOPs and bytes" : "");
    gt_finding_add_evidence(evidence, finding, "The longest is %s with %s.",
                            gt_say_kernel(evidence, evidence->view->name[found->longest]),
                            gt_say_ns(evidence, (double)gt_view_op_ns(evidence->view, found->longest)));
    if (is_half)
        gt_finding_add_advice(
            evidence, finding,
            "The data has 16 bits already: pad the dimensions to multiples of 8, so that tensor cores "
            "can be used.");
    else if ((evidence->context & GT_CONTEXT_TORCH) && !is_matrix && !found->lacks_tf32)
        gt_finding_add_advice(evidence, finding,
                              "Allow TF32: torch.set_float32_matmul_precision('high') for products, "
                              "torch.backends.cudnn.allow_tf32 = True for convolutions.");
}

bool gt_find_no_tensor_cores(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_traits *traits = gt_evidence_traits(evidence);
    struct ordinary found = {.longest = GT_NO_ROW};
    struct gt_kernel_roofs roofs;
    bool has_roofs = gt_kernel_roofs_init(&roofs, evidence);
    bool may_have = traits && (has_roofs || (traits->of_any & GT_TRAIT_ORDINARY));
    for (size_t d = 0; d < evidence->view->device_count && may_have; d++)
        claim_device(evidence, traits, has_roofs ? &roofs : NULL, &evidence->view->devices[d], &found);
    gt_kernel_roofs_release(&roofs);
    if (found.count == 0)
        return false;
    describe(evidence, finding, &found);
    return true;
}
