/* Rule dominant_kernel: kernels of one name that take a large part of the kernel time, unless another finding is about
   them already. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "graph/dag_slack.h"
#include "measure/findings/saving.h"
#include "measure/findings/step_times.h"

/* A name with its template arguments: kernels that differ in them do different things. */
struct kernel {
    gt_strid name;
    size_t count;
    int64_t total_ns;
    int64_t steady_ns, claimed_ns; /* of those after the warm-up, in all and of those in other findings */
};

/* Communication waits for other GPUs: a profiler of kernels shows nothing there. */
static bool is_candidate(struct gt_evidence *evidence, size_t position) {
    return gt_view_op_kind(evidence->view, position) == GT_OP_KERNEL &&
           gt_view_op_class(evidence->view, position) != GT_CLASS_COMM &&
           !gt_say_name_is_lost(evidence, evidence->view->name[position]);
}

/* The name with the most time; an empty one: there is none. */
static gt_strid longest_name(struct gt_evidence *evidence) {
    const struct gt_view *view = evidence->view;
    int64_t *sums_ns = gt_mem_array(view->store->strings.count, sizeof *sums_ns);
    gt_strid longest = GT_STRID_EMPTY;
    if (!sums_ns)
        gt_evidence_fail(evidence);
    for (size_t i = 0; i < view->op_count && sums_ns; i++)
        if (gt_view_op_kind(view, i) == GT_OP_KERNEL)
            sums_ns[view->name[i]] = gt_ns_add(sums_ns[view->name[i]], gt_view_op_ns(view, i));
    for (size_t i = 0; i < view->op_count && sums_ns; i++)
        if (sums_ns[view->name[i]] > sums_ns[longest] && is_candidate(evidence, i))
            longest = view->name[i];
    gt_mem_free(sums_ns);
    return longest;
}

static struct kernel kernel_of(const struct gt_evidence *evidence, gt_strid name) {
    const struct gt_view *view = evidence->view;
    struct kernel kernel = {.name = name};
    for (size_t i = 0; i < view->op_count; i++) {
        if (view->name[i] != name || gt_view_op_kind(view, i) != GT_OP_KERNEL)
            continue;
        int64_t ns = gt_view_op_ns(view, i);
        kernel.count++;
        kernel.total_ns = gt_ns_add(kernel.total_ns, ns);
        if (view->start_ns[i] < evidence->ledger.steady_ns)
            continue;
        kernel.steady_ns = gt_ns_add(kernel.steady_ns, ns);
        kernel.claimed_ns = gt_ns_add(kernel.claimed_ns, gt_ledger_op_is_claimed(&evidence->ledger, i) ? ns : 0);
    }
    return kernel;
}

/* Of an input that is summed already. */
static struct kernel longest_summed(struct gt_evidence *evidence) {
    const struct gt_named_set *kernels = gt_evidence_kernels(evidence);
    for (size_t i = 0; i < kernels->count; i++) {
        const struct gt_named *of = &kernels->items[i];
        if (!gt_say_name_is_lost(evidence, of->full_name))
            return (struct kernel){.name = of->full_name, .count = of->count, .total_ns = of->total_ns};
    }
    return (struct kernel){0};
}

/* ---- what it saves where it gets faster ---- */

/* The simulation of 10 % less; NULL: there is no answer. */
static const struct gt_saving *simulate_faster(struct gt_evidence *evidence, struct gt_finding *finding,
                                               gt_strid full_name) {
    struct gt_str glob = gt_saving_glob(evidence, gt_store_string(evidence->view->store, full_name));
    if (evidence->view->is_summed || !glob.len)
        return NULL;
    finding->simulation.change = gt_arena_printf(evidence->arena, "scale:%s=0.9", glob.ptr).ptr;
    const struct gt_saving *saving = gt_saving_of(evidence, finding->simulation.change);
    return saving && saving->has_answer ? saving : NULL;
}

/* How much later its launches could have ended, the lower median; 0: they could not. */
static int64_t slack_of(struct gt_evidence *evidence, const struct kernel *kernel) {
    const struct gt_view *view = evidence->view;
    const struct gt_paths *paths = gt_results_paths(view, evidence->err);
    int64_t *late_ns = paths ? gt_paths_late_new(paths) : NULL;
    int64_t *slacks_ns = gt_mem_uninitialised(kernel->count, sizeof *slacks_ns);
    size_t count = 0;
    if (!late_ns || !slacks_ns)
        gt_evidence_fail(evidence);
    for (size_t i = 0; i < view->op_count && late_ns && slacks_ns && count < kernel->count; i++)
        if (view->name[i] == kernel->name && gt_view_op_kind(view, i) == GT_OP_KERNEL) {
            int64_t op_late_ns = late_ns[paths->dag->op_node[view->row[i]]];
            if (op_late_ns != GT_DAG_SLACK_NEVER)
                slacks_ns[count++] = gt_ns_between(view->end_ns[i], op_late_ns);
        }
    int64_t slack_ns = gt_step_times_lower_median(slacks_ns, count);
    gt_mem_free(late_ns);
    gt_mem_free(slacks_ns);
    return slack_ns > 0 ? slack_ns : 0;
}

/* ---- sentences ---- */

/* Less than this part of what it would save if all of it were on the path is nothing. */
enum { NOTHING_PART = 20 };

static bool saves_nothing(const struct gt_saving *saving, const struct kernel *kernel) {
    int64_t all_ns = kernel->steady_ns / 10, nothing_ns = all_ns / NOTHING_PART + (all_ns % NOTHING_PART > 0);
    return saving && gt_ns_between(saving->predicted_ns, saving->base_ns) < nothing_ns;
}

static void advise(struct gt_evidence *evidence, struct gt_finding *finding, bool is_awaited) {
    if (is_awaited)
        gt_finding_add_advice(evidence, finding, "Profile it with %s; try another algorithm, data type or library.",
                              gt_say_profiler(evidence));
    else
        gt_finding_add_advice(evidence, finding, "Look at what is waited for instead: 'gputime path' shows it.");
}

static void describe(struct gt_evidence *evidence, struct gt_finding *finding, const struct kernel *kernel,
                     double all_ns) {
    const char *name = gt_say_kernel(evidence, kernel->name);
    double total_ns = (double)kernel->total_ns;
    const char *share = gt_say_share(evidence, total_ns, all_ns);
    const struct gt_saving *saving = simulate_faster(evidence, finding, kernel->name);
    bool is_awaited = !saves_nothing(saving, kernel);
    int64_t slack_ns = is_awaited ? 0 : slack_of(evidence, kernel);
    if (is_awaited)
        gt_finding_set_title(evidence, finding, "One kernel takes %s of kernel time: %s", share, name);
    else
        gt_finding_set_title(evidence, finding, "One kernel takes %s of kernel time, but nothing waits for it: %s",
                             share, name);
    gt_finding_add_evidence(evidence, finding, "%s: %s in %s, %s each on average.", name, gt_say_ns(evidence, total_ns),
                            gt_say_counted(evidence, kernel->count, "launch"),
                            gt_say_ns(evidence, total_ns / (double)kernel->count));
    if (slack_ns)
        gt_finding_add_evidence(evidence, finding, "It could end %s later without making anything late (median slack).",
                                gt_say_ns(evidence, (double)slack_ns));
    advise(evidence, finding, is_awaited);
}

bool gt_find_dominant_kernel(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_named_set *kernels = gt_evidence_kernels(evidence);
    double all_ns = (double)kernels->total_ns, least_ns = gt_thresholds.dominant_share * all_ns;
    /* Simplified names sum up several, so none has more than the first. */
    if (kernels->count == 0 || all_ns <= 0 || (double)kernels->items[0].total_ns < least_ns)
        return false;
    bool is_summed = evidence->view->is_summed;
    struct kernel top = is_summed ? longest_summed(evidence) : kernel_of(evidence, longest_name(evidence));
    if (top.count == 0 || (double)top.total_ns < least_ns || (top.steady_ns > 0 && top.claimed_ns >= top.steady_ns / 2))
        return false;
    describe(evidence, finding, &top, all_ns);
    return true;
}
