/* Rule no_tensor_cores: products and convolutions in float32 on the ordinary cores of a GPU that has tensor cores. */
#include "measure/findings/claim_ranges.h"
#include "measure/findings/findings.h"

/* How much faster they could be; 1: the GPU has no tensor cores. From the peak rates of the vendor: GPUs for data
   centers (compute capability x.0, and 7.5) reach 8 times the rate of float32 with TF32 or 16-bit data, others about 2.
 */
static double gain_of(const struct gt_evidence *evidence, const struct gt_view_device *device) {
    const struct gt_devices *devices = &evidence->view->store->devices;
    uint32_t major = devices->compute_major[device->device], minor = devices->compute_minor[device->device];
    if (major == 0 || (evidence->context & GT_CONTEXT_AMD))
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
    uint32_t longest;               /* position; GT_NO_ROW */
    bool lacks_tf32;                /* a GPU that runs some of them */
};

static void claim_device(struct gt_evidence *evidence, const struct gt_traits *traits,
                         const struct gt_view_device *device, struct ordinary *found) {
    const struct gt_view *view = evidence->view;
    double gain = gain_of(evidence, device);
    uint32_t major = view->store->devices.compute_major[device->device];
    for (size_t i = device->first; i < device->first + device->count && gain > 1; i++) {
        unsigned of_op = gt_traits_of_op(traits, view, i);
        int64_t left_ns = evidence->ledger.op_left_ns[i];
        if (!(of_op & GT_TRAIT_ORDINARY) || left_ns == 0)
            continue;
        double op_gain = of_op & GT_TRAIT_CONVOLUTION ? fmin(gain, gt_thresholds.convolution_gain) : gain;
        gt_ledger_claim_op(&evidence->ledger, (uint32_t)i, (int64_t)((double)left_ns * (1 - 1 / op_gain)));
        found->count++;
        found->total_ns += (double)left_ns;
        found->half_ns += of_op & GT_TRAIT_HALF ? (double)left_ns : 0;
        found->convolution_ns += of_op & GT_TRAIT_CONVOLUTION ? (double)left_ns : 0;
        found->lacks_tf32 |= major == 7;
        if (found->longest == GT_NO_ROW || gt_view_op_ns(view, i) > gt_view_op_ns(view, found->longest))
            found->longest = (uint32_t)i;
    }
}

static void describe(struct gt_evidence *evidence, struct gt_finding *finding, const struct ordinary *found) {
    bool is_half = found->half_ns > found->total_ns / 2, is_amd = evidence->context & GT_CONTEXT_AMD;
    const char *what = found->convolution_ns > found->total_ns / 2 ? "convolutions" : "matrix products";
    size_t steps = gt_evidence_step_count(evidence);
    double divisor = steps ? (double)steps : 1;
    gt_finding_set_title(evidence, finding, "%s %s without %s cores%s cost %s of the time",
                         is_half ? "16-bit" : "float32", what, is_amd ? "matrix" : "tensor",
                         gt_claim_ranges_say(evidence),
                         gt_say_share(evidence, (double)evidence->ledger.claimed_ns, (double)evidence->ledger.span_ns));
    gt_finding_add_evidence(evidence, finding, "%s%s took %s; on %s cores they would be about %.0f times as fast.",
                            gt_say_counted(evidence, (size_t)((double)found->count / divisor), "kernel"),
                            steps ? " per step" : "", gt_say_ns(evidence, found->total_ns / divisor),
                            is_amd ? "matrix" : "tensor",
                            found->total_ns / (found->total_ns - (double)evidence->ledger.claimed_ns));
    gt_finding_add_evidence(evidence, finding, "The longest is %s with %s.",
                            gt_say_kernel(evidence, evidence->view->name[found->longest]),
                            gt_say_ns(evidence, (double)gt_view_op_ns(evidence->view, found->longest)));
    if (is_half)
        gt_finding_add_advice(
            evidence, finding,
            "The data has 16 bits already: pad the dimensions to multiples of 8, so that tensor cores "
            "can be used.");
    else if ((evidence->context & GT_CONTEXT_TORCH) && !is_amd && !found->lacks_tf32)
        gt_finding_add_advice(evidence, finding,
                              "Allow TF32: torch.set_float32_matmul_precision('high') for products, "
                              "torch.backends.cudnn.allow_tf32 = True for convolutions.");
}

bool gt_find_no_tensor_cores(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_traits *traits = gt_evidence_traits(evidence);
    struct ordinary found = {.longest = GT_NO_ROW};
    if (!traits || !(traits->of_any & GT_TRAIT_ORDINARY))
        return false;
    for (size_t d = 0; d < evidence->view->device_count; d++)
        claim_device(evidence, traits, &evidence->view->devices[d], &found);
    if (found.count == 0)
        return false;
    describe(evidence, finding, &found);
    return true;
}
