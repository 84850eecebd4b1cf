/* Rules about ranks: the verdict, episodes, all_to_alls and pipelines of a job come in, findings go out. */
#include "ranks/rank_rules.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "ranks/rank_costs.h"
#include "ranks/rank_reasons.h"
#include "ranks/rank_words.h"

enum { LONGEST_NAME = 100 };

/* ---- sentences ---- */

static struct gt_str format_sentence(struct gt_arena *arena, const char *format, va_list args) {
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    return gt_arena_copy(arena, gt_str_cut(gt_str_of(text), sizeof text - 1));
}

void gt_rank_rules_say(struct gt_rank_rules_job *it, struct gt_finding *finding, const char *format, ...) {
    va_list args;
    if (finding->evidence_count >= GT_FINDING_SENTENCES - 2)
        return;
    va_start(args, format);
    finding->evidence[finding->evidence_count++] = format_sentence(it->arena, format, args);
    va_end(args);
}

void gt_rank_rules_advise(struct gt_rank_rules_job *it, struct gt_finding *finding, const char *format, ...) {
    va_list args;
    if (finding->advice_count == GT_FINDING_SENTENCES)
        return;
    va_start(args, format);
    finding->advice[finding->advice_count++] = format_sentence(it->arena, format, args);
    va_end(args);
}

void gt_rank_rules_title(struct gt_rank_rules_job *it, struct gt_finding *finding, const char *format, ...) {
    va_list args;
    va_start(args, format);
    finding->title = format_sentence(it->arena, format, args);
    va_end(args);
}

const char *gt_rank_rules_ns(struct gt_rank_rules_job *it, int64_t ns) {
    char text[GT_NUM_MAX];
    gt_num_format_duration(text, (double)ns);
    return gt_arena_copy(it->arena, gt_str_of(text)).ptr;
}

static struct gt_rank_rules_answer nothing(void) {
    return (struct gt_rank_rules_answer){.is_found = false};
}

static int64_t known_gain(const struct gt_rank_job *job, uint32_t rank) {
    int64_t gain_ns = job->ranks[rank].gain_ns;
    return gain_ns == GT_RANK_NO_NS || gain_ns < 0 ? 0 : gain_ns;
}

static bool has_stragglers(const struct gt_rank_job *job) {
    return job->culprit_count && !gt_rank_costs_are_little(job);
}

/* Whether the finding on stragglers has the gain of the rank. */
static bool is_straggler(const struct gt_rank_job *job, uint32_t rank) {
    return has_stragglers(job) && gt_rank_costs_is_culprit(job, rank);
}

/* ---- advice ---- */

/* What to do about a rank that is late for this reason. */
static void advise_reason(struct gt_rank_rules_job *it, struct gt_finding *finding, struct gt_str reason) {
    static const struct {
        struct gt_str reason;
        const char *text;
    } list[] = {
        {GT_STR("compute_more"), "Give the rank less work: sequence lengths, layers, experts and the loss are what "
                                 "ranks usually differ in."},
        {GT_STR("compute_slower"), "The same kernels take longer there: compare clocks, power limit and temperature "
                                   "of its GPU with the others (nvidia-smi -q -d CLOCK,POWER,TEMPERATURE)."},
        {GT_STR("compute"), "Compare its kernels with those of another rank."},
        {GT_STR("memory"), "Look at its copies: 'gputime summary --table memory' on its trace."},
        {GT_STR("idle_sync"), "Remove synchronizing calls that only this rank makes: logging, metrics, checkpoints."},
        {GT_STR("idle_host"), "Its CPU is late: data loading, garbage collection, logging on this rank alone, other "
                              "processes on its cores, threads that are not pinned near its GPU."},
        {GT_STR("idle_launch"), "Its launches are slow: other processes on its cores, CPU clock, fewer launches by "
                                "CUDA graphs."},
        {GT_STR("bytes"), "Balance what the members of all_to_alls send and receive."},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (gt_str_eq(reason, list[i].reason))
            gt_rank_rules_advise(it, finding, "%s", list[i].text);
}

static void advise_diff(struct gt_rank_rules_job *it, struct gt_finding *finding, uint32_t rank) {
    uint32_t other = it->job->computes[rank].reference;
    if (other != GT_RANK_NONE &&
        it->job->ranks[other].summary->head.input_number != it->job->ranks[rank].summary->head.input_number)
        gt_rank_rules_advise(it, finding, "'gputime diff' compares its trace with that of rank %" PRId64 ".",
                             it->job->ranks[other].number);
}

/* ---- one rank ---- */

static void title_culprits(struct gt_rank_rules_job *it, struct gt_finding *finding) {
    const struct gt_rank_job *job = it->job;
    bool is_one = job->culprit_count == 1, is_one_reason = true;
    for (size_t i = 1; i < job->culprit_count; i++)
        is_one_reason &= gt_str_eq(job->culprits[i].reason, job->culprits[0].reason);
    struct gt_str ranks = gt_rank_words_culprits(job, !is_one_reason, it->arena);
    if (is_one_reason)
        gt_rank_rules_title(it, finding, "Rank%s %s hold%s the others up: %s", is_one ? "" : "s", ranks.ptr,
                            is_one ? "s" : "", gt_rank_words_reason(job->culprits[0].reason));
    else
        gt_rank_rules_title(it, finding, "Ranks %s hold the others up", ranks.ptr);
}

/* What each of them adds, and what no replay can tell. */
static void say_gains(struct gt_rank_rules_job *it, struct gt_finding *finding) {
    const struct gt_rank_job *job = it->job;
    for (size_t i = 0; i < job->culprit_count; i++) {
        const struct gt_rank_culprit *culprit = &job->culprits[i];
        if (i > 0 && culprit->gain_ns != GT_RANK_NO_NS)
            gt_rank_rules_say(it, finding, "With rank %" PRId64 " (%s) like the median, too, the saving is %s in all.",
                              job->ranks[culprit->rank].number, gt_rank_words_reason(culprit->reason),
                              gt_rank_rules_ns(it, culprit->gain_ns));
        else if (culprit->gain_ns != GT_RANK_NO_NS)
            gt_rank_rules_say(it, finding, "Like the median it would save %s of %s.",
                              gt_rank_rules_ns(it, culprit->gain_ns), gt_rank_rules_ns(it, job->replay_ns));
    }
    if (gt_rank_costs_are_least(job))
        gt_rank_rules_say(it, finding,
                          "That is a lower bound: %zu of %zu communication kernels could not be matched between ranks.",
                          job->silent_kernels, job->comm_kernels);
    if (gt_rank_costs_is_between(job, job->culprits[0].rank))
        gt_rank_rules_say(it, finding, "It is late between the steps, which replays leave as they are.");
}

struct gt_rank_rules_answer gt_rank_rules_find_straggler(struct gt_rank_rules_job *it, struct gt_finding *finding) {
    const struct gt_rank_job *job = it->job;
    if (!has_stragglers(job))
        return nothing();
    uint32_t first = job->culprits[0].rank;
    const struct gt_rank_lane *rank = &job->ranks[first];
    const struct gt_rank_compute *compute = &job->computes[first];
    bool is_one = job->culprit_count == 1;
    title_culprits(it, finding);
    gt_rank_rules_say(it, finding, "%s is charged with %s of %s exposed wait and leads in %zu of %zu steps.",
                      is_one ? "It" : gt_arena_printf(it->arena, "Rank %" PRId64, rank->number).ptr,
                      gt_rank_rules_ns(it, rank->charged_ns), gt_rank_rules_ns(it, job->exposed_wait_ns), rank->leads,
                      job->step_count);
    if (compute->reference != GT_RANK_NONE && compute->kernel_ns > 0)
        gt_rank_rules_say(it, finding, "%.*s runs %s longer there than on rank %" PRId64 ".",
                          (int)gt_str_cut(compute->kernel, LONGEST_NAME).len, compute->kernel.ptr,
                          gt_rank_rules_ns(it, compute->kernel_ns), job->ranks[compute->reference].number);
    if (job->verdict_host.len)
        gt_rank_rules_say(it, finding, "All ranks of its host %.*s together hold the other hosts up.",
                          (int)job->verdict_host.len, job->verdict_host.ptr);
    say_gains(it, finding);
    advise_reason(it, finding, job->culprits[0].reason);
    for (size_t i = 1; i < job->culprit_count; i++)
        if (!gt_str_eq(job->culprits[i].reason, job->culprits[i - 1].reason))
            advise_reason(it, finding, job->culprits[i].reason);
    advise_diff(it, finding, first);
    int64_t gain_ns = gt_rank_costs_gain(job);
    bool is_known = gain_ns != GT_RANK_NO_NS && gain_ns > 0 && gt_rank_costs_are_much(job);
    bool is_hot = job->hot_rank != GT_RANK_NONE && first == job->hot_rank && job->hot_gain_ns > gain_ns;
    return (struct gt_rank_rules_answer){
        .is_found = true, .saving_ns = is_known ? gain_ns : 0, .overlaps = is_hot ? "hot_expert" : NULL};
}

/* Where the step is in the trace of the rank. */
static void say_step(struct gt_rank_rules_job *it, struct gt_finding *finding, const struct gt_rank_episode *episode) {
    const struct gt_rank_summary *summary = it->job->ranks[episode->rank].summary;
    for (size_t i = 0; i < summary->steps_count; i++) {
        const struct gt_rank_step *step = &summary->steps[i];
        if (step->number != it->job->steps[episode->step])
            continue;
        gt_rank_rules_say(it, finding,
                          "In its trace the step is from %s to %s: 'gputime gaps --per device --from %" PRId64
                          "us --to %" PRId64 "us' shows its gaps.",
                          gt_rank_rules_ns(it, step->start_ns - summary->head.first_ns),
                          gt_rank_rules_ns(it, step->end_ns - summary->head.first_ns),
                          (step->start_ns - summary->head.first_ns) / 1000,
                          (step->end_ns - summary->head.first_ns) / 1000 + 1);
        return;
    }
}

struct gt_rank_rules_answer gt_rank_rules_find_rank_episode(struct gt_rank_rules_job *it, struct gt_finding *finding) {
    const struct gt_rank_job *job = it->job;
    size_t worst = 0;
    if (job->episode_count == 0)
        return nothing();
    for (size_t i = 1; i < job->episode_count; i++)
        worst = job->episodes[i].charged_ns > job->episodes[worst].charged_ns ? i : worst;
    const struct gt_rank_episode *episode = &job->episodes[worst];
    gt_rank_rules_title(it, finding, "Rank %" PRId64 " holds the others up in step %" PRId64 ": %s",
                        job->ranks[episode->rank].number, job->steps[episode->step],
                        gt_rank_words_reason(episode->reason));
    gt_rank_rules_say(it, finding, "The others waited %s for it there, all together.",
                      gt_rank_rules_ns(it, episode->charged_ns));
    if (job->episode_count > 1)
        gt_rank_rules_say(it, finding, "There are %zu such steps.", job->episode_count);
    say_step(it, finding, episode);
    gt_rank_rules_advise(it, finding, "%s",
                         gt_str_starts(episode->reason, GT_STR("compute"))
                             ? "Look at this step in the trace of this rank: a longer sequence, evaluation, a kernel "
                               "that was compiled or tuned."
                             : "Look at this step in the trace of this rank: garbage collection, checkpoints, data "
                               "loading, other processes on its CPU.");
    bool is_counted = is_straggler(job, episode->rank);
    return (struct gt_rank_rules_answer){.is_found = true,
                                         .saving_ns = is_counted ? 0 : known_gain(job, episode->rank),
                                         .overlaps = is_counted ? "straggler" : NULL};
}

/* ---- uneven bytes ---- */

struct gt_rank_rules_answer gt_rank_rules_find_hot_expert(struct gt_rank_rules_job *it, struct gt_finding *finding) {
    const struct gt_rank_job *job = it->job;
    if (job->hot_rank == GT_RANK_NONE)
        return nothing();
    const struct gt_rank_lane *rank = &job->ranks[job->hot_rank];
    double received = 0, all = 0;
    gt_rank_rules_title(it, finding, "Rank %" PRId64 " receives most in all_to_alls: up to %.2f times the mean",
                        rank->number, job->imbalance);
    for (size_t i = 0; i < job->flow_count; i++) {
        all += (double)job->flows[i].bytes;
        received += job->flows[i].dst == rank->number ? (double)job->flows[i].bytes : 0;
    }
    if (all > 0)
        gt_rank_rules_say(it, finding, "It receives %.1f%% of all bytes that all_to_alls move.", 100 * received / all);
    gt_rank_rules_say(it, finding, "It is charged with %s for what it did and had to move.",
                      gt_rank_rules_ns(it, rank->charged_ns));
    gt_rank_rules_advise(it, finding,
                         "Balance the experts: an auxiliary loss, a capacity limit, or copies of the hot ones.");
    if (job->hot_gain_ns != GT_RANK_NO_NS)
        gt_rank_rules_say(it, finding,
                          "With even loads in all_to_alls, and like the median otherwise, it would save %s of %s.",
                          gt_rank_rules_ns(it, job->hot_gain_ns), gt_rank_rules_ns(it, job->replay_ns));
    bool is_less = is_straggler(job, job->hot_rank) && job->hot_gain_ns <= gt_rank_costs_gain(job);
    bool is_known = job->hot_gain_ns != GT_RANK_NO_NS && job->hot_gain_ns > 0;
    return (struct gt_rank_rules_answer){.is_found = true,
                                         .saving_ns = is_known && !is_less ? job->hot_gain_ns : 0,
                                         .overlaps = is_less ? "straggler" : NULL};
}

/* ---- pipelines ---- */

/* Over all steps and ranks. */
struct bubbles {
    double bubble_ns, step_ns;
    double excess_ns; /* what ranks waited longer than the schedule explains */
    const struct gt_rank_bubble *worst;
};

static double share_of(const struct gt_rank_bubble *bubble) {
    return bubble->step_ns > 0 ? (double)bubble->bubble_ns / (double)bubble->step_ns : 0;
}

/* The stage that takes longest has no bubble, so only what the others have above the ideal counts. */
static struct bubbles sum_bubbles(const struct gt_rank_job *job) {
    struct bubbles sum = {0};
    for (size_t i = 0; i < job->bubble_count; i++) {
        const struct gt_rank_bubble *bubble = &job->bubbles[i];
        sum.bubble_ns += (double)bubble->bubble_ns;
        sum.step_ns += (double)bubble->step_ns;
        sum.excess_ns += fmax(0, (double)bubble->bubble_ns - bubble->ideal_share * (double)bubble->step_ns);
        if (!sum.worst || share_of(bubble) > share_of(sum.worst))
            sum.worst = bubble;
    }
    return sum;
}

static int by_ns(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The stage that computes most, against the median. */
static void say_deepest(struct gt_rank_rules_job *it, struct gt_finding *finding) {
    const struct gt_rank_job *job = it->job;
    int64_t *list = gt_arena_array(it->arena, job->rank_count, sizeof *list), most_ns = -1;
    const struct gt_rank_bubble *deepest = NULL;
    size_t count = 0;
    for (size_t i = 0; list && i < job->bubble_count && job->bubbles[i].step == job->bubbles[0].step; i++) {
        int64_t compute_ns = gt_rank_reasons_compute_ns(job->ranks[job->bubbles[i].rank].summary);
        if (count < job->rank_count)
            list[count++] = compute_ns;
        deepest = compute_ns > most_ns ? &job->bubbles[i] : deepest;
        most_ns = compute_ns > most_ns ? compute_ns : most_ns;
    }
    if (!count)
        return;
    qsort(list, count, sizeof *list, by_ns);
    int64_t median_ns = list[(count - 1) / 2];
    if (deepest && deepest->stage >= 0 && median_ns > 0)
        gt_rank_rules_say(it, finding,
                          "Stage %" PRId64 " (rank %" PRId64 ") computes %.2f times as long as the median.",
                          deepest->stage, job->ranks[deepest->rank].number, (double)most_ns / (double)median_ns);
}

struct gt_rank_rules_answer gt_rank_rules_find_pipeline_bubble(struct gt_rank_rules_job *it,
                                                               struct gt_finding *finding) {
    const struct gt_rank_job *job = it->job;
    struct bubbles sum = sum_bubbles(job);
    const double least_share = 0.05;
    if (!sum.worst || sum.step_ns <= 0 || sum.excess_ns < least_share * sum.step_ns)
        return nothing();
    gt_rank_rules_title(it, finding, "Pipeline bubbles are up to %.0f%% of a step, the schedule explains %.0f%%",
                        100 * share_of(sum.worst), 100 * sum.worst->ideal_share);
    gt_rank_rules_say(it, finding, "Rank %" PRId64 " has the largest in step %" PRId64 ": %s of %s.",
                      job->ranks[sum.worst->rank].number, job->steps[sum.worst->step],
                      gt_rank_rules_ns(it, sum.worst->bubble_ns), gt_rank_rules_ns(it, sum.worst->step_ns));
    gt_rank_rules_say(it, finding, "Stages waited %s for messages, all ranks together.",
                      gt_rank_rules_ns(it, (int64_t)sum.bubble_ns));
    say_deepest(it, finding);
    gt_rank_rules_advise(it, finding,
                         "Balance the stages: layers, embedding and loss; more micro batches make the "
                         "bubble of the schedule smaller.");
    bool is_counted = has_stragglers(job), is_replayed = job->ideal_ns != GT_RANK_NO_NS;
    double excess_ns = sum.excess_ns / (double)job->rank_count;
    double even_ns = is_replayed ? fmax(0, (double)(job->replay_ns - job->ideal_ns)) : 0;
    return (struct gt_rank_rules_answer){.is_found = true,
                                         .saving_ns = is_counted ? 0 : (int64_t)fmin(excess_ns, even_ns),
                                         .overlaps = is_counted ? "straggler" : NULL};
}
