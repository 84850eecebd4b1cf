/* Says what a verdict does not cover: a job without a culprit comes in, words on why nobody is named and on what was
   not seen go out. */
#include "ranks/rank_hedges.h"

#include <inttypes.h>
#include <math.h>

#include "events/store.h"
#include "ranks/rank_costs.h"
#include "ranks/rank_reasons.h"
#include "ranks/rank_words.h"

/* ---- pipelines ---- */

/* "waiting is the pipeline schedule's ..."; empty: it is not, or there is no pipeline. */
static struct gt_str schedule_words(const struct gt_rank_job *job, struct gt_arena *arena) {
    const double least_share = 0.5, most_excess = 0.05; /* of the wait; of the steps, as the finding has it */
    double bubble_ns = 0, step_ns = 0, excess_ns = 0;
    for (size_t i = 0; i < job->bubble_count; i++) {
        const struct gt_rank_bubble *bubble = &job->bubbles[i];
        double ideal_ns = bubble->ideal_share * (double)bubble->step_ns;
        bubble_ns += (double)bubble->bubble_ns;
        step_ns += (double)bubble->step_ns;
        excess_ns += fmax(0, (double)bubble->bubble_ns - ideal_ns);
    }
    bool is_all = step_ns > 0 && excess_ns < most_excess * step_ns &&
                  bubble_ns >= least_share * (double)job->exposed_wait_ns && bubble_ns > 0;
    if (!is_all)
        return GT_STR("");
    const struct gt_rank_bubble *any = &job->bubbles[job->bubble_count / 2];
    return gt_arena_printf(arena,
                           "no rank holds the others up: the pipeline schedule explains the waiting (%zu stages, %zu "
                           "micro-batches: ideal bubble %.1f%% of a step), which more micro-batches would shrink",
                           any->stages, any->micro_batches, 100 * any->ideal_share);
}

/* ---- nobody ---- */

/* What has more than the traces that were read. */
static const char *origin_words(const struct gt_rank_job *job) {
    uint32_t origin = GT_MADE_FROM_NOTHING;
    for (size_t i = 0; i < job->rank_count && origin == GT_MADE_FROM_NOTHING; i++)
        origin = job->ranks[i].summary->head.made_from;
    return origin == GT_MADE_FROM_REPORT  ? "an export lacks what its .nsys-rep has; "
           : origin == GT_MADE_FROM_TRACE ? "the trace that a .pftrace was made from may have it; "
                                          : "";
}

/* Why nothing is known, and what helps. */
static struct gt_str unmatched_words(const struct gt_rank_job *job, struct gt_arena *arena) {
    uint64_t silent = job->issues[GT_RANK_ISSUE_COLLECTIVE_NO_METADATA];
    if (!silent)
        return GT_STR("no collective could be matched between ranks");
    return gt_arena_printf(
        arena,
        "who waited is not known, since no collective could be matched between ranks: %" PRIu64
        " communication kernels say nothing about their collective%s%s%s",
        silent, job->options.match_names ? "" : " (", job->options.match_names ? "" : origin_words(job),
        job->options.match_names ? "" : "'--match names' matches by names, if all ranks are one group)");
}

static struct gt_str few_words(const struct gt_rank_job *job, struct gt_arena *arena) {
    uint32_t most = 0;
    if (!job->exposed_wait_ns)
        return GT_STR("no rank waited for another");
    for (uint32_t r = 1; r < job->rank_count; r++)
        most = job->ranks[r].charged_ns > job->ranks[most].charged_ns ? r : most;
    struct gt_str so_far = {"", 0};
    if (job->charged_ns > 0)
        so_far = gt_arena_printf(arena, "; so far rank %" PRId64 " has %.0f%% of the charges", job->ranks[most].number,
                                 100 * (double)job->ranks[most].charged_ns / (double)job->charged_ns);
    return gt_arena_printf(arena, "too few steps to say whether one rank holds the others up: %s, three are needed%s",
                           job->step_count == 0   ? "the traces have none"
                           : job->step_count == 1 ? "the traces have one"
                                                  : "the traces have two",
                           so_far.ptr);
}

/* The rank that comes last in more than half of the steps, and why it is no culprit; empty: there is none. */
static struct gt_str last_words(const struct gt_rank_job *job, struct gt_arena *arena) {
    uint32_t most = 0;
    for (uint32_t r = 1; r < job->rank_count; r++)
        most = job->ranks[r].leads > job->ranks[most].leads ? r : most;
    const struct gt_rank_lane *rank = &job->ranks[most];
    if (2 * rank->leads <= job->step_count)
        return GT_STR("");
    return gt_arena_printf(
        arena, "no rank holds the others up: rank %" PRId64 " comes last in %zu of %zu steps, but %s", rank->number,
        rank->leads, job->step_count,
        rank->takes_longer ? "that may be chance" : "takes less than 2% longer than the median rank itself");
}

/* "; rank 5, which has no trace, may": empty: all have one. */
static struct gt_str unread_words(const struct gt_rank_job *job, struct gt_arena *arena) {
    struct gt_str ranks;
    int64_t count = gt_rank_words_without_trace(job, arena, &ranks);
    if (!count || job->options.is_one_trace)
        return GT_STR("");
    return gt_arena_printf(arena, "; rank%s %s, which ha%s no trace, may", count > 1 ? "s" : "", ranks.ptr,
                           count > 1 ? "ve" : "s");
}

struct gt_str gt_rank_hedges_nobody(const struct gt_rank_job *job, struct gt_arena *arena) {
    if (job->rank_count == 0)
        return GT_STR("no rank with GPU work was read");
    if (job->collective_count == 0 && job->verdict != GT_VERDICT_FEW_STEPS)
        return unmatched_words(job, arena);
    if (job->verdict == GT_VERDICT_FEW_STEPS)
        return few_words(job, arena);
    struct gt_str unread = unread_words(job, arena);
    if (job->exposed_wait_ns == 0)
        return unread.len ? gt_arena_printf(arena, "no rank that was read waits for another that was")
                          : GT_STR("the ranks are even: none waits for another");
    if (unread.len)
        return gt_arena_printf(arena, "no rank that was read holds the others up in most steps%s", unread.ptr);
    struct gt_str text = schedule_words(job, arena);
    text = text.len ? text : last_words(job, arena);
    if (text.len)
        return text;
    return job->verdict == GT_VERDICT_ROTATING ? GT_STR("ranks hold each other up in turn, none in most of the steps")
                                               : GT_STR("no rank holds the others up in most steps");
}

/* ---- what was not seen ---- */

/* How many of the last steps a rank lacks, and its own last one. */
static size_t lacking_steps(const struct gt_rank_job *job, uint32_t rank, size_t *last) {
    size_t end = job->step_count;
    while (end > 0 && job->windows[(end - 1) * job->rank_count + rank].step_ns <= 0)
        end--;
    *last = end ? end - 1 : 0;
    return end ? job->step_count - end : 0;
}

/* Profilers that stop one step apart are no news; a trace that was cut is. */
static struct gt_str end_words(const struct gt_rank_job *job, struct gt_arena *arena) {
    enum { NAMED_MAX = 3 };
    size_t least = job->options.traces_partly_read ? 1 : 2, count = 0, last;
    struct gt_str text = {"", 0};
    for (uint32_t r = 0; r < job->rank_count; r++) {
        if (lacking_steps(job, r, &last) < least || count++ >= NAMED_MAX)
            continue;
        text = gt_arena_printf(arena, "%s%sthe trace of rank %" PRId64 " ends in step %" PRId64, text.ptr,
                               text.len ? ", " : "", job->ranks[r].number, job->steps[last]);
    }
    if (!count || count == job->rank_count)
        return GT_STR("");
    if (count > NAMED_MAX)
        text = gt_arena_printf(arena, "%s, %zu more end early", text.ptr, count - NAMED_MAX);
    return gt_arena_printf(arena, " T%s; the last step is %" PRId64 ". What %s after that is not known.", text.ptr + 1,
                           job->steps[job->step_count - 1], count > 1 ? "they cost" : "it costs");
}

/* What ranks waited outside the steps, which a verdict on steps does not cover, and who is charged with most of it. */
static struct gt_str outside_words(const struct gt_rank_job *job, struct gt_arena *arena) {
    const double least_share = 0.25; /* of all waiting */
    int64_t outside_ns = job->exposed_wait_ns, most_ns = 0;
    uint32_t rank = 0;
    size_t reason = 0;
    for (size_t i = 0; i < job->step_count * job->rank_count; i++)
        outside_ns -= job->windows[i].ns[GT_PART_WAIT];
    if (!job->step_count || !job->charges || outside_ns <= 0 ||
        (double)outside_ns < least_share * (double)job->exposed_wait_ns)
        return GT_STR("");
    for (uint32_t r = 0; r < job->rank_count; r++)
        for (size_t why = 0; why <= GT_REASON_BYTES; why++) {
            bool is_guilt = why == GT_REASON_BYTES || gt_rank_summary_is_own((enum gt_rank_part)why);
            int64_t ns = is_guilt ? *gt_rank_job_charge(job, r, why, job->step_count) : 0;
            rank = ns > most_ns ? r : rank;
            reason = ns > most_ns ? why : reason;
            most_ns = ns > most_ns ? ns : most_ns;
        }
    struct gt_str who = {"", 0};
    if (2 * most_ns >= outside_ns && most_ns > 0)
        who = gt_arena_printf(arena, ", most of it for rank %" PRId64 " (%s)", job->ranks[rank].number,
                              gt_rank_words_reason(gt_rank_reasons_name(job, rank, reason, most_ns)));
    return gt_arena_printf(arena, " %.0f%% of all waiting is outside the steps%s.",
                           100 * (double)outside_ns / (double)job->exposed_wait_ns, who.ptr);
}

static struct gt_str silent_words(const struct gt_rank_job *job, struct gt_arena *arena) {
    if (!gt_rank_costs_are_least(job))
        return GT_STR("");
    return gt_arena_printf(
        arena,
        " %zu of %zu communication kernels could not be matched between ranks, since they say nothing "
        "about their collective (as in CUDA graphs): waits and costs are lower bounds.%s",
        job->silent_kernels, job->comm_kernels,
        job->options.match_names ? "" : " '--match names' matches them by names, if all ranks are one group.");
}

struct gt_str gt_rank_hedges_say(const struct gt_rank_job *job, struct gt_arena *arena) {
    return gt_arena_printf(arena, "%s%s%s", outside_words(job, arena).ptr, end_words(job, arena).ptr,
                           silent_words(job, arena).ptr);
}
