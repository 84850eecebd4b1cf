/* Sentences about efficiency. */
#include "measure/efficiency/efficiency_words.h"

#include <math.h>

#include "base/mem.h"
#include "measure/efficiency/mfu_sums.h"
#include "measure/efficiency/work_sums.h"
#include "measure/results/measure.h"

/* ---- the largest loss ---- */

struct loss {
    int64_t ns;
    const char *bound, *words; /* "memory-bound ", "element-wise kernels" */
};

static void compare(struct loss *largest, int64_t ns, const char *bound, const char *words) {
    if (ns > largest->ns)
        *largest = (struct loss){ns, bound, words};
}

static const char *bound_words(const int64_t *ns) {
    static const char *const words[GT_BOUND_COUNT] = {
        [GT_BOUND_LATENCY] = "very short ", [GT_BOUND_COMPUTE] = "compute-bound ", [GT_BOUND_MEMORY] = "memory-bound "};
    size_t most = gt_work_sums_most(ns, GT_BOUND_UNKNOWN);
    return most == GT_BOUND_UNKNOWN ? "" : words[most];
}

/* Over all devices together. */
static struct gt_model_waterfall sum_models(const struct gt_efficiency_words *it) {
    struct gt_model_waterfall all = {0};
    for (size_t d = 0; d < it->view->device_count; d++) {
        const struct gt_model_waterfall *one = &it->models[d];
        for (size_t f = 0; f < GT_FAMILY_COUNT; f++) {
            all.lost_ns[f] = gt_ns_add(all.lost_ns[f], one->lost_ns[f]);
            for (size_t b = 0; b < GT_BOUND_COUNT; b++)
                all.lost_bound_ns[f][b] = gt_ns_add(all.lost_bound_ns[f][b], one->lost_bound_ns[f][b]);
        }
        for (size_t c = 0; c < GT_IDLE_CAUSE_COUNT; c++)
            all.rest.idle_ns[c] = gt_ns_add(all.rest.idle_ns[c], one->rest.idle_ns[c]);
        all.rest.exposed_comm_ns = gt_ns_add(all.rest.exposed_comm_ns, one->rest.exposed_comm_ns);
        all.rest.exposed_memory_ns = gt_ns_add(all.rest.exposed_memory_ns, one->rest.exposed_memory_ns);
        all.rest.span_ns = gt_ns_add(all.rest.span_ns, one->rest.span_ns);
    }
    return all;
}

/* What samples say about compute, where no model does. */
static void compare_samples(const struct gt_efficiency_words *it, struct loss *largest) {
    int64_t below_ns = 0, clock_ns = 0;
    for (size_t d = 0; d < it->view->device_count; d++) {
        const struct gt_counter_device *device = &it->counters->devices[d];
        below_ns = gt_ns_add(below_ns, device->has_roof ? device->roof.below_ns : 0);
        clock_ns = gt_ns_add(clock_ns, device->has_roof ? device->roof.clock_ns : 0);
    }
    compare(largest, below_ns, "", "kernels below the limits of both matrix units and memory");
    compare(largest, clock_ns, "", "a clock below that of the peak");
}

static struct loss largest_loss(const struct gt_efficiency_words *it, bool is_sampled, int64_t *span_ns) {
    static const char *const idle_words[GT_IDLE_CAUSE_COUNT] = {
        [GT_IDLE_SYNC] = "idle time (sync)",     [GT_IDLE_HOST] = "idle time (host)",
        [GT_IDLE_LAUNCH] = "idle time (launch)", [GT_IDLE_DEPENDENCY] = "idle time (dependency)",
        [GT_IDLE_UNKNOWN] = "idle time",         [GT_IDLE_END] = "idle time (end)"};
    struct gt_model_waterfall all = sum_models(it);
    struct loss largest = {0, "", ""};
    for (size_t f = 0; f < GT_FAMILY_COUNT; f++)
        compare(&largest, all.lost_ns[f], bound_words(all.lost_bound_ns[f]), gt_family_infos[f].words);
    for (size_t c = 0; c < GT_IDLE_CAUSE_COUNT; c++)
        compare(&largest, all.rest.idle_ns[c], "", idle_words[c]);
    compare(&largest, all.rest.exposed_comm_ns, "", "exposed communication");
    compare(&largest, all.rest.exposed_memory_ns, "", "exposed copies and fills");
    if (is_sampled)
        compare_samples(it, &largest);
    *span_ns = all.rest.span_ns;
    return largest;
}

/* ---- what is not known ---- */

struct unmodelled {
    uint64_t kernels[GT_NO_WORK_COUNT];
    int64_t ns[GT_NO_WORK_COUNT], compute_ns;
    uint64_t over_roofline; /* instances that are faster than their roofline */
};

/* Parts of one instance follow each other in few traces alone, so its ops are summed by instance. */
static bool count_over_roofline(const struct gt_efficiency_words *it, uint64_t *count) {
    const struct gt_view *view = it->view;
    int64_t *ns = gt_mem_array(it->set->instance_count, sizeof *ns);
    *count = 0;
    for (size_t i = 0; i < view->op_count && ns; i++) {
        uint32_t instance = it->set->parts[view->row[i]].instance;
        if (instance != GT_NO_ROW)
            ns[instance] = gt_ns_add(ns[instance], gt_view_op_whole_ns(view, i));
    }
    for (size_t i = 0; i < it->set->instance_count && ns; i++) {
        const struct gt_work_instance *instance = &it->set->instances[i];
        *count += ns[i] == instance->total_ns && instance->roofline_ns > ns[i];
    }
    bool ok = ns;
    gt_mem_free(ns);
    return ok;
}

/* false: memory was short. */
static bool count_unmodelled(const struct gt_efficiency_words *it, struct unmodelled *out) {
    for (size_t i = 0; i < it->view->op_count; i++) {
        const struct gt_work_part *part = &it->set->parts[it->view->row[i]];
        if (gt_view_op_class(it->view, i) != GT_CLASS_COMPUTE)
            continue;
        int64_t ns = gt_view_op_ns(it->view, i);
        out->compute_ns = gt_ns_add(out->compute_ns, ns);
        if (part->instance != GT_NO_ROW)
            continue;
        out->kernels[part->reason]++;
        out->ns[part->reason] = gt_ns_add(out->ns[part->reason], ns);
    }
    return count_over_roofline(it, &out->over_roofline);
}

/* ---- the first sentence ---- */

/* Means over the GPUs for which they are known, and the unit with most FLOPs on the first of these. */
struct utilization {
    double hfu, mfu;
    size_t devices;
    const struct gt_gpu_peaks *peaks;
    enum gt_peak_unit unit;
};

static struct utilization utilization_of(const struct gt_efficiency_words *it) {
    struct utilization all = {.unit = GT_PEAK_NONE};
    for (size_t d = 0; d < it->view->device_count; d++) {
        const struct gt_view_device *device = &it->view->devices[d];
        const struct gt_gpu_peaks *peaks = &it->set->peaks[device->device];
        int64_t span_ns = it->models[d].rest.span_ns;
        struct gt_mfu_sums sums = {0};
        gt_mfu_sums_add_device(&sums, it->view, it->set, device);
        double hfu = gt_mfu_sums_share(&sums, GT_FLOPS_EXECUTED, peaks, span_ns);
        if (hfu < 0)
            continue;
        all.hfu += hfu;
        all.mfu += gt_mfu_sums_share(&sums, GT_FLOPS_MODEL, peaks, span_ns);
        if (!all.devices++) {
            all.peaks = peaks;
            all.unit = gt_mfu_sums_unit(&sums);
        }
    }
    return all;
}

static struct gt_str gpu_words(struct gt_str name) {
    enum { LONGEST = 60 };
    return name.len ? gt_str_cut(name, LONGEST) : GT_STR("the GPU");
}

/* "(dense bf16 peak of H200, 989 TFLOP/s)" */
static struct gt_str peak_words(struct gt_arena *arena, const struct utilization *all) {
    bool is_given = all->peaks->given_name.len;
    struct gt_str name = is_given ? all->peaks->given_name : all->peaks->name;
    if (gt_str_starts(name, GT_STR("NVIDIA ")))
        name = (struct gt_str){name.ptr + 7, name.len - 7};
    if (all->unit == GT_PEAK_NONE)
        return GT_STR("");
    name = gpu_words(name);
    double peak = (double)gt_gpu_peaks_of_products(all->peaks, all->unit) / 1e12;
    return gt_arena_printf(arena, " (dense %s peak of %.*s%s, %.*f TFLOP/s)", gt_peak_unit_keys[all->unit],
                           (int)name.len, name.ptr, is_given ? " as given" : "",
                           peak >= 100 ? 0
                           : peak >= 1 ? 1
                                       : 3,
                           peak);
}

/* HFU as samples have it: the mean over the GPUs for which it is known; NAN: none. */
static double sampled_hfu(const struct gt_efficiency_words *it) {
    double sum = 0;
    size_t count = 0;
    for (size_t d = 0; d < it->view->device_count; d++) {
        double hfu = gt_counter_set_hfu(&it->counters->devices[d]);
        sum += isnan(hfu) ? 0 : hfu;
        count += isnan(hfu) ? 0 : 1;
    }
    return count ? sum / (double)count : NAN;
}

/* FLOP/s of all matrix work over the span; 0: none is known. */
static double achieved_flops(const struct gt_efficiency_words *it) {
    struct gt_mfu_sums sums = {0};
    double span_ns = 0;
    for (size_t d = 0; d < it->view->device_count; d++) {
        gt_mfu_sums_add_device(&sums, it->view, it->set, &it->view->devices[d]);
        span_ns += (double)it->models[d].rest.span_ns;
    }
    return span_ns > 0 ? 1e9 * (double)gt_mfu_sums_flops(&sums, GT_FLOPS_EXECUTED) / span_ns : 0;
}

static double modelled_share(const struct unmodelled *found) {
    int64_t unknown_ns = 0;
    for (size_t i = 1; i < GT_NO_WORK_COUNT; i++)
        unknown_ns = gt_ns_add(unknown_ns, found->ns[i]);
    return found->compute_ns > 0 ? 1 - (double)unknown_ns / (double)found->compute_ns : 1;
}

/* Kernels whose work is not known may be products, too. */
static const char *least_words(const struct unmodelled *found) {
    enum { MOSTLY_PERCENT = 95 };
    return 100 * modelled_share(found) < MOSTLY_PERCENT ? "at least " : "";
}

/* Where neither models nor samples know the utilization: why. */
static struct gt_str unknown_words(const struct gt_efficiency_words *it, const struct unmodelled *found) {
    struct gt_arena *arena = &it->section->report->arena;
    double flops = achieved_flops(it);
    bool is_large = flops >= 1e11;
    const char *least = *least_words(found) ? "At least " : "";
    if (flops > 0)
        return gt_arena_printf(
            arena,
            "%s%.3g %s of matrix work on average; HFU and MFU are not known, because the peaks of the "
            "GPU are not",
            least, flops / (is_large ? 1e12 : 1e9), is_large ? "TFLOP/s" : "GFLOP/s");
    return gt_arena_printf(arena, "HFU and MFU are not known, because %s",
                           !it->set->has_operators ? "the trace has no operators with shapes"
                           : !it->set->has_shapes  ? "operators were recorded without shapes"
                                                   : "no matrix work is modelled");
}

/* "HFU 47.9%, MFU 47.9% (dense bf16 peak of H200, 989 TFLOP/s), HFU 48.2% by hardware counters" */
static struct gt_str utilization_words(const struct gt_efficiency_words *it, const struct unmodelled *found) {
    struct gt_arena *arena = &it->section->report->arena;
    struct utilization all = utilization_of(it);
    double sampled = sampled_hfu(it);
    struct gt_str by_samples = GT_STR("");
    if (!isnan(sampled))
        by_samples = gt_arena_printf(arena, "HFU %.1f%% by hardware counters", 100 * sampled);
    if (!all.devices)
        return by_samples.len ? by_samples : unknown_words(it, found);
    const char *least = least_words(found);
    return gt_arena_printf(arena, "HFU %s%.1f%%, MFU %s%.1f%%%s%s%s%s", least, 100 * all.hfu / (double)all.devices,
                           least, 100 * all.mfu / (double)all.devices, peak_words(arena, &all).ptr,
                           all.devices > 1 ? ", mean over GPUs" : "", by_samples.len ? ", " : "", by_samples.ptr);
}

static void say_first(const struct gt_efficiency_words *it, const struct unmodelled *found) {
    struct gt_arena *arena = &it->section->report->arena;
    int64_t span_ns;
    struct loss largest = largest_loss(it, modelled_share(found) < 0.5, &span_ns);
    if (!it->view->op_count)
        return;
    struct gt_str text = utilization_words(it, found);
    if (largest.ns > 0 && span_ns > 0)
        text = gt_arena_printf(arena, "%s; %.1f%% of the span is lost in %s%s", text.ptr,
                               100 * (double)largest.ns / (double)span_ns, largest.bound, largest.words);
    gt_section_note(it->section, GT_FOR_ALL, gt_arena_printf(arena, "%s.", text.ptr));
}

/* ---- what is not known, in words ---- */

#define LEAST_PERCENT 0.05 /* less reads as 0.0% */

static void say_unmodelled(const struct gt_efficiency_words *it, const struct unmodelled *found) {
    struct gt_arena *arena = &it->section->report->arena;
    struct gt_str list = {"", 0};
    for (size_t i = 1; i < GT_NO_WORK_COUNT; i++) {
        double percent = found->compute_ns > 0 ? 100 * (double)found->ns[i] / (double)found->compute_ns : 0;
        bool is_of_trace = i == GT_NO_WORK_NO_OPERATOR && !it->set->has_operators;
        if (percent >= LEAST_PERCENT)
            list = gt_arena_printf(arena, "%s%s%s %.1f%%", list.ptr, list.len ? ", " : "",
                                   is_of_trace ? "no operators in the trace" : gt_no_work_words[i], percent);
    }
    double all = 100 * (1 - modelled_share(found));
    if (list.len)
        gt_section_note(it->section, GT_FOR_ALL,
                        gt_arena_printf(arena, "Unmodelled kernel time: %.1f%% (%s).", all, list.ptr));
}

static void say_how_to_record(const struct gt_efficiency_words *it) {
    if (it->set->has_operators && !it->set->has_shapes && it->view->op_count)
        gt_section_note(it->section, GT_FOR_ALL,
                        GT_STR("Operators were recorded without shapes: use "
                               "torch.profiler.profile(record_shapes=True) to see FLOPs and bytes."));
}

/* Traces may have a bandwidth of GPUs without known peaks: what moves bytes has a roofline then. */
static void say_unknown_gpus(const struct gt_efficiency_words *it, uint64_t *count) {
    struct gt_arena *arena = &it->section->report->arena;
    struct gt_str name = {"", 0};
    bool has_bandwidth = false;
    for (size_t d = 0; d < it->view->device_count; d++) {
        const struct gt_gpu_peaks *peaks = &it->set->peaks[it->view->devices[d].device];
        if (peaks->is_known)
            continue;
        has_bandwidth |= peaks->bandwidth > 0;
        name = (*count)++ ? name : peaks->name;
    }
    if (*count)
        gt_section_note(
            it->section, GT_FOR_ALL,
            gt_arena_printf(arena,
                            "Peaks of %.*s are not known, so %s as unmodelled; give --gpu NAME, or --peak and "
                            "--bandwidth.",
                            (int)gpu_words(name).len, gpu_words(name).ptr,
                            has_bandwidth ? "percentages are of memory bandwidth alone, and the waterfall "
                                            "counts matrix products"
                                          : "there are no percentages, and the waterfall counts all "
                                            "kernels"));
}

/* Without a bandwidth nothing has a roofline, whatever peaks are known. */
static void say_unknown_bandwidth(const struct gt_efficiency_words *it) {
    for (size_t d = 0; d < it->view->device_count; d++) {
        const struct gt_gpu_peaks *peaks = &it->set->peaks[it->view->devices[d].device];
        struct gt_str name = gpu_words(peaks->name);
        if (!peaks->is_known || peaks->bandwidth)
            continue;
        gt_section_note(it->section, GT_FOR_ALL,
                        gt_arena_printf(&it->section->report->arena,
                                        "The memory bandwidth of %.*s is not known, so there are no rooflines; give "
                                        "--bandwidth.",
                                        (int)name.len, name.ptr));
        return;
    }
}

/* ---- counted problems ---- */

static void add_issues(const struct gt_efficiency_words *it, const struct unmodelled *found, uint64_t unknown_gpus) {
    static const enum gt_issue_id ids[GT_NO_WORK_COUNT] = {
#define GT_NO_WORK(key, name, words) [GT_NO_WORK_##key] = GT_ISSUE_UNMODELLED_##key,
#include "measure/efficiency/no_work.def"
#undef GT_NO_WORK
    };
    gt_measure_issue(it->section, GT_ISSUE_UNKNOWN_GPU, unknown_gpus);
    gt_measure_issue(it->section, GT_ISSUE_NO_SHAPES,
                     it->set->has_operators && !it->set->has_shapes && it->view->op_count);
    gt_measure_issue(it->section, GT_ISSUE_OVER_ROOFLINE, found->over_roofline);
    for (size_t i = 1; i < GT_NO_WORK_COUNT; i++)
        gt_measure_issue(it->section, ids[i], found->kernels[i]);
}

bool gt_efficiency_words_say(const struct gt_efficiency_words *words) {
    struct unmodelled found = {0};
    uint64_t unknown_gpus = 0;
    if (!count_unmodelled(words, &found))
        return false;
    say_first(words, &found);
    say_how_to_record(words);
    say_unmodelled(words, &found);
    say_unknown_gpus(words, &unknown_gpus);
    say_unknown_bandwidth(words);
    add_issues(words, &found, unknown_gpus);
    return true;
}
