/* Host stalls: long gaps in which the CPU had launched nothing, by the code that the launching thread was in. */
#include "measure/findings/saving.h"
#include "measure/findings/waits.h"

/* The code is named by a range or operator, else by a Python function, else by a call. */
static gt_strid name_of(const struct gt_chain *chain) {
    if (chain->code != GT_STRID_EMPTY)
        return chain->code;
    return chain->python != GT_STRID_EMPTY ? chain->python : chain->call;
}

/* Stalls, by name; those that no name has are under the empty one. */
struct stalls {
    struct gt_name_sums names;
    size_t count;
    int64_t between_steps_ns; /* of those without a name */
    gt_strid python, callee;  /* of the longest gap; GT_STRID_EMPTY */
    int64_t longest_ns;
    uint32_t next; /* position of the op after the longest gap */
};

static bool is_between_steps(const struct gt_idle *idle, size_t gap) {
    const struct gt_view *view = idle->view;
    uint32_t previous = gt_idle_gap_previous(idle, gap), next = idle->next[gap];
    if (previous == GT_NO_ROW || next == GT_NO_ROW)
        return false;
    return view->labels->op_step[view->row[previous]] != view->labels->op_step[view->row[next]];
}

static void add_stall(struct gt_evidence *evidence, struct stalls *stalls, size_t gap, int64_t ns) {
    const struct gt_chain *chain = &gt_evidence_chains(evidence)[gap]; /* is there, or it would be no stall */
    gt_strid name = name_of(chain);
    stalls->count++;
    gt_name_sums_add(&stalls->names, evidence->view->store, name, ns);
    if (name == GT_STRID_EMPTY && is_between_steps(evidence->ledger.idle, gap))
        stalls->between_steps_ns = gt_ns_add(stalls->between_steps_ns, ns);
    if (ns > stalls->longest_ns) {
        stalls->longest_ns = ns;
        stalls->python = chain->python;
        stalls->callee = chain->callee;
        stalls->next = evidence->ledger.idle->next[gap];
    }
}

static void claim_stalls(struct gt_evidence *evidence, struct stalls *stalls) {
    const struct gt_idle *idle = evidence->ledger.idle;
    const struct gt_host_gaps *gaps = gt_evidence_host_gaps(evidence);
    for (size_t d = 0; d < idle->device_count && gaps->of && gaps->counts[GT_HOST_GAP_STALL]; d++) {
        const struct gt_idle_device *device = &idle->devices[d];
        for (size_t i = device->first, end = i + device->count;
             (i = gt_waits_next_of(gaps, GT_HOST_GAP_STALL, i, end)) < end; i++)
            if (gt_waits_is_stall(evidence, i))
                add_stall(evidence, stalls, i, gt_waits_claim_gap(evidence, d, i));
    }
    gt_name_sums_sort(&stalls->names);
    if (stalls->names.has_failed)
        gt_evidence_fail(evidence);
}

static const char *say_name(struct gt_evidence *evidence, gt_strid name) {
    return gt_say_quoted(evidence, gt_name_sums_plain(gt_store_string(evidence->view->store, name)));
}

/* Libraries that choose and build an algorithm for each shape take long at every new one. The operator says so, or the
   name of a kernel that cuDNN makes at run time. */
static void advise_on_plans(struct gt_evidence *evidence, struct gt_finding *finding, const struct stalls *stalls) {
    const struct gt_store *store = evidence->view->store;
    struct gt_str name = gt_store_string(store, stalls->names.items[0].name);
    struct gt_str kernel =
        stalls->next == GT_NO_ROW ? GT_STR("") : gt_store_string(store, evidence->view->name[stalls->next]);
    if (gt_str_starts(kernel, GT_STR("cudnn_generated")))
        name = kernel;
    bool is_cudnn = gt_str_find_nocase(name, GT_STR("cudnn")), is_miopen = gt_str_find_nocase(name, GT_STR("miopen"));
    if (!is_cudnn && !is_miopen)
        return;
    gt_finding_add_advice(evidence, finding,
                          "%s prepares a plan for every new shape, which may be this: keep shapes static, or pad to a "
                          "few; with a growing key-value cache every step is new.",
                          is_cudnn ? "cuDNN" : "MIOpen");
    bool is_attention = gt_str_find_nocase(name, GT_STR("attention")) || gt_str_find_nocase(name, GT_STR("sdpa"));
    if (is_cudnn && is_attention && (evidence->context & GT_CONTEXT_TORCH))
        gt_finding_add_advice(evidence, finding,
                              "torch.backends.cuda.enable_cudnn_sdp(False) takes another kernel for attention.");
}

/* The title speaks of all stalls. */
static bool is_nearly_all(const struct stalls *stalls) {
    return 10 * stalls->names.items[0].ns >= 9 * stalls->names.total_ns;
}

/* Nothing that the trace shows ran on the thread. */
static void describe_untraced(struct gt_evidence *evidence, struct gt_finding *finding, const struct stalls *stalls) {
    bool is_python = evidence->context & (GT_CONTEXT_TORCH | GT_CONTEXT_JAX);
    const char *where = stalls->between_steps_ns > stalls->names.items[0].ns / 2 ? " between steps" : "";
    gt_finding_set_title(evidence, finding, "Untraced CPU work%s%s the GPU: %s of the time", where,
                         is_nearly_all(stalls) ? " stalls" : " and other code stall", gt_waits_say_claimed(evidence));
    if (evidence->context & GT_CONTEXT_KINETO)
        gt_finding_add_evidence(evidence, finding,
                                "It is outside any range or operator: Python itself, garbage collection, I/O; record "
                                "with_stack=True to see it.");
    else if (evidence->context & GT_CONTEXT_XLA)
        gt_finding_add_evidence(evidence, finding,
                                "It is outside any range: Python itself, garbage collection, I/O; record "
                                "ProfileOptions.python_tracer_level=1 to see it.");
    else if (evidence->context & GT_CONTEXT_ROCPROF)
        gt_finding_add_evidence(evidence, finding,
                                "It is outside any range: the program itself or I/O; mark its parts with ROCTX "
                                "(rocprofv3 --marker-trace) to see them.");
    else if (is_python)
        gt_finding_add_evidence(evidence, finding,
                                "It is outside any range: the program itself, garbage collection, I/O; nsys "
                                "--trace=cuda,nvtx,osrt --python-sampling=true shows it.");
    else
        gt_finding_add_evidence(evidence, finding,
                                "It is outside any range: the program itself or I/O; nsys --trace=cuda,nvtx,osrt "
                                "--sample=process-tree shows it.");
    if (is_python)
        gt_finding_add_advice(evidence, finding,
                              "If it is garbage collection: gc.freeze() after the setup, gc.disable() in the loop and "
                              "gc.collect() where it does not hurt.");
}

static void describe_named(struct gt_evidence *evidence, struct gt_finding *finding, const struct stalls *stalls) {
    const struct gt_name_sum *most = &stalls->names.items[0];
    bool is_alone = is_nearly_all(stalls);
    gt_finding_set_title(evidence, finding, "%s%s the CPU: the GPU waits %s of the time",
                         say_name(evidence, most->name), is_alone ? " stalls" : " and other code stall",
                         gt_waits_say_claimed(evidence));
    gt_finding_add_evidence(evidence, finding, "%s: %s, %s of idle time.", say_name(evidence, most->name),
                            gt_waits_say_often(evidence, most->count, "gap"), gt_say_ns(evidence, (double)most->ns));
    if (stalls->python != GT_STRID_EMPTY && stalls->python != most->name)
        gt_finding_add_evidence(evidence, finding, "The longest one is in %s.", say_name(evidence, stalls->python));
    if (stalls->callee != GT_STRID_EMPTY)
        gt_finding_add_evidence(evidence, finding, "Most of the longest one is spent in %s, called from there.",
                                say_name(evidence, stalls->callee));
}

/* Set-up is one long gap, a fault of the loop many. */
static void add_single(struct gt_evidence *evidence, struct gt_finding *finding, const struct stalls *stalls) {
    bool is_single = stalls->names.items[0].count == 1,
         is_most = (double)stalls->longest_ns >= gt_thresholds.single_gap_share * (double)stalls->names.total_ns;
    if (is_single)
        gt_finding_add_evidence(evidence, finding,
                                "It happened once: if that was initialization, let the program warm up before the "
                                "capture.");
    else if (is_most)
        gt_finding_add_evidence(evidence, finding,
                                "One gap alone has %s: if that was initialization, let the program warm up before the "
                                "capture.",
                                gt_say_ns(evidence, (double)stalls->longest_ns));
}

static void add_others(struct gt_evidence *evidence, struct gt_finding *finding, const struct stalls *stalls) {
    enum { LISTED = 3 };
    for (size_t i = 1; i < stalls->names.count && i < LISTED; i++) {
        const struct gt_name_sum *sum = &stalls->names.items[i];
        const char *name =
            sum->name == GT_STRID_EMPTY ? "Outside any range or operator" : say_name(evidence, sum->name);
        gt_finding_add_evidence(evidence, finding, "%s: %s, %s.", name, gt_say_counted(evidence, sum->count, "gap"),
                                gt_say_ns(evidence, (double)sum->ns));
    }
}

bool gt_find_host_stalls(struct gt_evidence *evidence, struct gt_finding *finding) {
    if (!gt_evidence_may_blame_host(evidence))
        return false;
    struct stalls stalls = {0};
    claim_stalls(evidence, &stalls);
    bool found = stalls.names.count > 0 && stalls.names.total_ns > 0;
    gt_saving_settle(evidence, finding, GT_SAVING_NO_CPU);
    if (found && stalls.names.items[0].name == GT_STRID_EMPTY)
        describe_untraced(evidence, finding, &stalls);
    else if (found)
        describe_named(evidence, finding, &stalls);
    if (found) {
        advise_on_plans(evidence, finding, &stalls);
        add_single(evidence, finding, &stalls);
        add_others(evidence, finding, &stalls);
        gt_finding_add_evidence(
            evidence, finding, "%s of %s or more, %s in total.", gt_waits_say_often(evidence, stalls.count, "gap"),
            gt_say_ns(evidence, gt_thresholds.stall_ns), gt_say_ns(evidence, (double)stalls.names.total_ns));
        gt_waits_add_warm_up(evidence, finding);
    }
    gt_name_sums_release(&stalls.names);
    return found;
}
