/* Rule low_efficiency: kernels that take several times as long as their work needs at the GPU's limits. */
#include "measure/findings/lost_kernels.h"

enum { LISTED = 3 };

/* Short kernels are no question of efficiency, and a lower bound of the work says too little. */
static double part_of(const struct gt_kernel_roofs *roofs, size_t position, const struct gt_kernel_roof *roof) {
    (void)roofs;
    (void)position;
    double of_good = roof->share / gt_kernel_roofs_good(roof);
    if (roof->bound == GT_BOUND_LATENCY || roof->provenance == GT_PROVENANCE_BOUND ||
        of_good * gt_thresholds.slow_ratio >= 1)
        return 0;
    return 1 - of_good;
}

static const char *say_what(struct gt_evidence *evidence, const struct gt_lost_kernel *kernel) {
    const char *name = gt_say_kernel(evidence, kernel->name);
    if (kernel->roof.family == GT_FAMILY_COUNT)
        return name;
    return gt_arena_printf(evidence->arena, "%s (%s)", name, gt_family_infos[kernel->roof.family].key).ptr;
}

static bool is_hopper(const struct gt_evidence *evidence, size_t position) {
    const struct gt_view *view = evidence->view;
    for (size_t d = 0; d < view->device_count; d++)
        if (position >= view->devices[d].first && position < view->devices[d].first + view->devices[d].count)
            return view->store->devices.compute_major[view->devices[d].device] == 9 &&
                   (evidence->context & GT_CONTEXT_NVIDIA);
    return false;
}

static void advise_attention(struct gt_evidence *evidence, struct gt_finding *finding,
                             const struct gt_lost_kernel *kernel) {
    bool is_torch = evidence->context & GT_CONTEXT_TORCH;
    struct gt_str name = gt_store_string(evidence->view->store, kernel->name);
    if (kernel->roof.unit == GT_PEAK_FP32)
        gt_finding_add_advice(evidence, finding, "Attention with 32-bit data: 16-bit data has faster kernels%s.",
                              is_torch ? " (torch.autocast)" : "");
    else if (is_hopper(evidence, kernel->position) && !gt_str_find_nocase(name, GT_STR("sm90")))
        gt_finding_add_advice(evidence, finding,
                              "This attention kernel was not made for Hopper: use FlashAttention 3%s.",
                              is_torch ? " or torch.nn.attention.sdpa_kernel(SDPBackend.CUDNN_ATTENTION)" : "");
}

/* For the kernel that loses most. */
static void advise(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_lost_kernel *kernel) {
    bool is_torch = evidence->context & GT_CONTEXT_TORCH;
    switch (kernel->roof.family) {
    case GT_FAMILY_ATTENTION:
        advise_attention(evidence, finding, kernel);
        break;
    case GT_FAMILY_GEMM:
    case GT_FAMILY_CONV:
        gt_finding_add_advice(evidence, finding,
                              "Sizes that are multiples of the tile (128) and a larger batch fill the matrix units%s.",
                              is_torch ? "; torch.compile(mode='max-autotune') tries other kernels" : "");
        break;
    default:
        break;
    }
}

static void describe(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_lost_kernels *lost) {
    size_t steps = gt_evidence_step_count(evidence);
    double divisor = steps ? (double)steps : 1;
    gt_finding_set_title(evidence, finding, "%s far from the GPU's limits: %s of the time lost, most in %s",
                         lost->count == 1 ? "A kernel is" : "Kernels are",
                         gt_say_share(evidence, (double)evidence->ledger.claimed_ns, (double)evidence->ledger.span_ns),
                         say_what(evidence, &lost->items[0]));
    for (size_t i = 0; i < lost->count && i < LISTED; i++) {
        const struct gt_lost_kernel *kernel = &lost->items[i];
        gt_finding_add_evidence(evidence, finding, "%s: %s of %s lost%s, at %s.", say_what(evidence, kernel),
                                gt_say_ns(evidence, kernel->lost_ns / divisor),
                                gt_say_ns(evidence, (double)kernel->ns / divisor), steps ? " per step" : "",
                                gt_lost_kernels_say_roof(evidence, kernel));
    }
    gt_finding_add_evidence(evidence, finding,
                            "Lost is the time beyond that of good kernels, which reach %.0f%% of the roof (products), "
                            "%.0f%% (attention) or %.0f%% (others); only kernels that take %.0f times as long count.",
                            100 * gt_thresholds.good_products, 100 * gt_thresholds.good_attention,
                            100 * gt_thresholds.good_vectors, gt_thresholds.slow_ratio);
}

bool gt_find_low_efficiency(struct gt_evidence *evidence, struct gt_finding *finding) {
    static const struct gt_lost_kernels_finding how = {part_of, describe, advise};
    return gt_lost_kernels_find(evidence, finding, &how);
}
