/* Finds what is worth doing about a job: a verdict and what it is based on come in, findings go out. */
#include "ranks/rank_findings.h"

#include <inttypes.h>
#include <math.h>

#include "base/num.h"
#include "ranks/rank_words.h"

struct finding_it {
    const struct gt_rank_job *job;
    struct gt_section *section;
    struct gt_arena *arena;
    int64_t length_ns; /* of the job */
};

static struct gt_finding new_finding(const char *id, const char *table, const char *rule) {
    return (struct gt_finding){
        .id = id, .table = table, .rule = rule, .recoverable_ns = -1, .step_ns = -1, .share = -1};
}

static const char *duration(struct finding_it *it, int64_t ns) {
    char text[GT_NUM_MAX];
    gt_num_format_duration(text, (double)ns);
    return gt_arena_copy(it->arena, gt_str_of(text)).ptr;
}

static void say(struct gt_finding *finding, struct gt_str sentence) {
    finding->evidence[finding->evidence_count++] = sentence;
}

static void advise(struct gt_finding *finding, struct gt_str sentence) {
    finding->advice[finding->advice_count++] = sentence;
}

/* Savings as everywhere: 15 % of the time is high, 5 % medium. */
static void add(struct finding_it *it, struct gt_finding *finding, int64_t saving_ns) {
    finding->severity = GT_SEVERITY_LOW;
    if (saving_ns > 0 && it->length_ns > 0) {
        finding->recoverable_ns = saving_ns;
        finding->share = (double)saving_ns / (double)it->length_ns;
        finding->step_ns = it->job->step_count ? saving_ns / (int64_t)it->job->step_count : -1;
        finding->severity = finding->share >= 0.15   ? GT_SEVERITY_HIGH
                            : finding->share >= 0.05 ? GT_SEVERITY_MEDIUM
                                                     : GT_SEVERITY_LOW;
    }
    gt_finding_list_add(it->section, finding);
}

/* ---- ranks that hold others up ---- */

static void find_straggler(struct finding_it *it) {
    const struct gt_rank_job *job = it->job;
    if (job->verdict != GT_VERDICT_PINNED)
        return;
    const struct gt_rank_lane *rank = &job->ranks[job->verdict_rank];
    struct gt_finding finding = new_finding("straggler", "blame", "One rank has the largest guilt in most steps.");
    finding.title = gt_arena_printf(it->arena, "Rank %" PRId64 " holds the others up: %s", rank->number,
                                    gt_rank_words_reason(job->verdict_reason));
    say(&finding, gt_arena_printf(it->arena, "It is charged with %s of %s exposed wait and leads in %zu of %zu steps.",
                                  duration(it, rank->charged_ns), duration(it, job->exposed_wait_ns), rank->leads,
                                  job->step_count));
    if (rank->gain_ns != GT_RANK_NO_NS)
        say(&finding, gt_arena_printf(it->arena, "Like the median it would save %s of %s.", duration(it, rank->gain_ns),
                                      duration(it, it->length_ns)));
    advise(&finding, GT_STR("Give the rank less work, or find out why the same work takes longer there; 'gputime diff' "
                            "compares its trace with that of its reference rank."));
    add(it, &finding, rank->gain_ns == GT_RANK_NO_NS ? 0 : rank->gain_ns);
}

static void find_episodes(struct finding_it *it) {
    const struct gt_rank_job *job = it->job;
    size_t worst = 0;
    if (job->episode_count == 0)
        return;
    for (size_t i = 1; i < job->episode_count; i++)
        worst = job->episodes[i].charged_ns > job->episodes[worst].charged_ns ? i : worst;
    const struct gt_rank_episode *episode = &job->episodes[worst];
    int64_t gain_ns = job->ranks[episode->rank].gain_ns;
    struct gt_finding finding = new_finding("rank_episode", "episodes", "A rank is far worse in one step than usual.");
    finding.title = gt_arena_printf(it->arena, "Rank %" PRId64 " holds the others up in step %" PRId64 ": %s",
                                    job->ranks[episode->rank].number, job->steps[episode->step],
                                    gt_rank_words_reason(episode->reason));
    say(&finding, gt_arena_printf(it->arena, "The others waited %s for it there, all together.",
                                  duration(it, episode->charged_ns)));
    if (job->episode_count > 1)
        say(&finding, gt_arena_printf(it->arena, "There are %zu such steps.", job->episode_count));
    advise(&finding,
           GT_STR("Look at this step in the trace of this rank: garbage collection, checkpoints, data loading, "
                  "other processes on its CPU."));
    bool is_of_verdict = job->verdict == GT_VERDICT_PINNED && job->verdict_rank == episode->rank;
    add(it, &finding, is_of_verdict || gain_ns == GT_RANK_NO_NS ? 0 : gain_ns);
}

/* ---- what moves unevenly ---- */

static void find_hot_expert(struct finding_it *it) {
    const struct gt_rank_job *job = it->job;
    if (job->hot_rank == GT_RANK_NONE)
        return;
    struct gt_finding finding =
        new_finding("hot_expert", "all_to_all", "One rank receives most in all_to_alls whose sizes are uneven.");
    finding.title =
        gt_arena_printf(it->arena, "Rank %" PRId64 " receives most in all_to_alls: up to %.2f times the mean",
                        job->ranks[job->hot_rank].number, job->imbalance);
    say(&finding, gt_arena_printf(it->arena, "It is charged with %s for what it did and had to move.",
                                  duration(it, job->ranks[job->hot_rank].charged_ns)));
    advise(&finding, GT_STR("Balance the experts: an auxiliary loss, a capacity limit, or copies of the hot ones."));
    add(it, &finding, 0);
}

static void find_bubbles(struct finding_it *it) {
    const struct gt_rank_job *job = it->job;
    double bubble_ns = 0, ideal_ns = 0, step_ns = 0;
    for (size_t i = 0; i < job->bubble_count; i++) {
        const struct gt_rank_bubble *bubble = &job->bubbles[i];
        bubble_ns += (double)bubble->bubble_ns;
        ideal_ns += bubble->ideal_share * (double)bubble->step_ns;
        step_ns += (double)bubble->step_ns;
    }
    if (step_ns <= 0 || bubble_ns - ideal_ns < 0.05 * step_ns)
        return;
    struct gt_finding finding =
        new_finding("pipeline_bubble", "bubbles", "Stages wait longer for messages than the schedule explains.");
    finding.title = gt_arena_printf(it->arena, "Pipeline bubbles are %.0f%% of the steps, the schedule explains %.0f%%",
                                    100 * bubble_ns / step_ns, 100 * ideal_ns / step_ns);
    say(&finding, gt_arena_printf(it->arena, "Stages waited %s for messages, all ranks together.",
                                  duration(it, (int64_t)bubble_ns)));
    advise(&finding, GT_STR("Balance the stages; more micro batches make the bubble of the schedule smaller."));
    add(it, &finding, 0);
}

/* ---- the job itself ---- */

static void find_shared_gpus(struct finding_it *it) {
    const struct gt_rank_job *job = it->job;
    if (!job->issues[GT_RANK_ISSUE_GPU_SHARED])
        return;
    struct gt_finding finding = new_finding("shared_gpu", "ranks", "Ranks on one host use the same GPU.");
    finding.title = gt_arena_printf(it->arena, "%" PRIu64 " ranks share a GPU with another rank",
                                    job->issues[GT_RANK_ISSUE_GPU_SHARED]);
    say(&finding, GT_STR("Their compute contains the time that others took from it."));
    advise(&finding, GT_STR("Give each rank a GPU of its own: CUDA_VISIBLE_DEVICES by local rank."));
    add(it, &finding, 0);
}

static void find_desync(struct finding_it *it) {
    const struct gt_rank_job *job = it->job;
    for (size_t g = 0; g < job->group_count; g++) {
        const struct gt_rank_set_group *group = &job->groups[g];
        if (group->first_mismatch < 0)
            continue;
        struct gt_finding finding =
            new_finding("desync", "groups", "Members of a group do not do the same collectives in the same order.");
        finding.title = gt_arena_printf(it->arena, "Ranks of group %zu differ from collective %" PRId64 " on", g,
                                        group->first_mismatch);
        say(&finding,
            gt_arena_printf(it->arena, "%zu kernels between matched ones have no partner.", group->unmatched));
        advise(&finding, GT_STR("Compare what the members do there; where the program is right, events were lost."));
        add(it, &finding, 0);
        return;
    }
}

void gt_rank_findings_add(const struct gt_rank_job *job, struct gt_section *section) {
    struct finding_it it = {job, section, &section->report->arena,
                            job->replay_ns == GT_RANK_NO_NS ? 0 : job->replay_ns};
    struct gt_table *table = gt_finding_list_new(section);
    find_straggler(&it);
    find_episodes(&it);
    find_hot_expert(&it);
    find_bubbles(&it);
    find_shared_gpus(&it);
    find_desync(&it);
    gt_finding_list_link(section);
    table->empty = "No findings.";
}
