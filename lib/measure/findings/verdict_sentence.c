/* Says what the path consists of, or how busy the GPU is and with what, where no finding is above low. */
#include "measure/findings/verdict_sentence.h"

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/path_words.h"

/* Categories are named until they have most of the time. */
enum { NAMED_MOST = 2 };

/* What was lost may be what stands out. */
static bool has_losses(const struct gt_view *view) {
    return gt_store_loss(view->store, view->request->facts) != GT_ISSUE_COUNT;
}

static bool has_more_than_low(const struct gt_section *section) {
    for (size_t i = 0; i < section->finding_count; i++)
        if (section->findings[i].severity != GT_SEVERITY_LOW)
            return true;
    return false;
}

/* Op time by category; NULL: memory was short. */
static __int128 *new_category_times(struct gt_evidence *evidence) {
    const struct gt_op_groups *groups = gt_evidence_op_groups(evidence);
    __int128 *times_ns = gt_mem_array(evidence->view->labels->category_count, sizeof *times_ns);
    for (size_t i = 0; i < groups->count && times_ns; i++)
        times_ns[groups->items[i].category] += groups->items[i].sum_ns;
    return times_ns;
}

/* "matrix products and attention", with the time of both; those named are 0 afterwards. */
static const char *name_largest(struct gt_evidence *evidence, __int128 *times_ns, __int128 total_ns,
                                __int128 *named_ns) {
    const struct gt_labels *labels = evidence->view->labels;
    const char *names = "";
    *named_ns = 0;
    for (size_t named = 0;
         named < NAMED_MOST && (double)*named_ns < gt_thresholds.named_categories_share * (double)total_ns; named++) {
        size_t largest = 0;
        for (size_t i = 1; i < labels->category_count; i++)
            largest = times_ns[i] > times_ns[largest] ? i : largest;
        if (times_ns[largest] == 0)
            break;
        names =
            gt_arena_printf(evidence->arena, "%s%s%s", names, named ? " and " : "", labels->categories[largest].title)
                .ptr;
        *named_ns += times_ns[largest];
        times_ns[largest] = 0;
    }
    return names;
}

static struct gt_str make_sentence(struct gt_evidence *evidence, __int128 *times_ns) {
    double span_ns = (double)gt_evidence_amount(evidence, GT_AMOUNT_SPAN);
    double busy_ns = (double)gt_evidence_amount(evidence, GT_AMOUNT_BUSY);
    double compute_ns = (double)gt_evidence_amount(evidence, GT_AMOUNT_COMPUTE);
    const char *busy = gt_say_share(evidence, busy_ns, span_ns);
    const char *whose = evidence->view->device_count > 1 ? "GPUs are" : "GPU is";
    __int128 total_ns = 0, named_ns;
    for (size_t i = 0; i < evidence->view->labels->category_count; i++)
        total_ns += times_ns[i];
    double exposed_ns = (double)gt_evidence_amount(evidence, GT_AMOUNT_EXPOSED_COMM);
    if (exposed_ns >= gt_thresholds.idle_share * span_ns && exposed_ns >= span_ns - busy_ns)
        return gt_arena_printf(
            evidence->arena,
            "Communication limits this: %s of the time nothing else runs, and compute takes only %s, "
            "too little to hide it. Fewer bytes or faster links help; traces of all ranks show who "
            "waits for whom.",
            gt_say_share(evidence, exposed_ns, span_ns), gt_say_share(evidence, compute_ns, span_ns));
    if (span_ns - busy_ns >= gt_thresholds.idle_share * span_ns)
        return gt_arena_printf(evidence->arena,
                               "Nothing above low was found, although the %s idle %s of the time: the trace shows no "
                               "single cause.",
                               whose, gt_say_share(evidence, span_ns - busy_ns, span_ns));
    const char *names = name_largest(evidence, times_ns, total_ns, &named_ns);
    return gt_arena_printf(evidence->arena, "Nothing stands out: the %s busy %s of the time; %s of the op time is %s.",
                           whose, busy, gt_say_share(evidence, (double)named_ns, (double)total_ns), names);
}

/* What the path consists of, and what mending the first finding saves. Empty: the first one was not simulated. */
static struct gt_str make_path_sentence(struct gt_evidence *evidence, const struct gt_section *section) {
    const struct gt_finding *first = section->finding_count ? &section->findings[0] : NULL;
    const struct gt_paths *paths =
        first && first->is_simulated ? gt_results_paths(evidence->view, evidence->err) : NULL;
    if (!paths)
        return (struct gt_str){"", 0};
    struct gt_path_words_sum sum = gt_path_words_add_up(paths);
    struct gt_str words = gt_path_words_say(evidence->view, paths, &sum, NULL, evidence->arena);
    return words.len ? gt_arena_printf(evidence->arena, "%s. Fixing finding 1 saves %.0f%% (simulated).", words.ptr,
                                       100 * first->share)
                     : words;
}

static void add_fact(struct gt_section *section, struct gt_str sentence) {
    struct gt_measure_fact_group facts = {.section = section, .audience = GT_FOR_DATA};
    if (sentence.len)
        gt_measure_fact_group_add(&facts, GT_FINDINGS_VERDICT.ptr, "Verdict", GT_UNIT_NONE, gt_cell_text(sentence));
}

void gt_verdict_sentence_add(struct gt_evidence *evidence, struct gt_section *section) {
    bool is_known = evidence->view->op_count && evidence->status == GT_OK && !has_losses(evidence->view);
    /* Where no time passes nothing has a share of it. */
    if (!is_known || gt_evidence_amount(evidence, GT_AMOUNT_SPAN) <= 0)
        return;
    if (has_more_than_low(section)) {
        add_fact(section, make_path_sentence(evidence, section));
        return;
    }
    __int128 *times_ns = new_category_times(evidence);
    if (!times_ns) {
        gt_evidence_fail(evidence);
        return;
    }
    add_fact(section, make_sentence(evidence, times_ns));
    gt_mem_free(times_ns);
}
