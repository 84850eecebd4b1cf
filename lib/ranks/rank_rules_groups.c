/* Rules about groups and about the job itself: bandwidths, unmatched collectives and shared GPUs come in, findings go
 * out. */
#include <inttypes.h>
#include <math.h>

#include "events/comms.h"
#include "ranks/rank_rules.h"
#include "ranks/rank_speeds.h"
#include "ranks/rank_words.h"

static struct gt_rank_rules_answer nothing(void) {
    return (struct gt_rank_rules_answer){.is_found = false};
}

/* ---- slow groups ---- */

/* How many hosts the members that were read are on; 0: not all are known, or memory is short. */
static size_t count_hosts(const struct gt_rank_job *job, const struct gt_rank_set_group *group) {
    struct gt_strtab hosts;
    bool is_known = gt_strtab_init(&hosts);
    if (!is_known)
        return 0;
    for (size_t i = 0; i < group->member_count && is_known; i++) {
        uint32_t rank = gt_rank_job_find(job, group->members[i]);
        if (rank == GT_RANK_NONE)
            continue;
        const struct gt_rank_summary *summary = job->ranks[rank].summary;
        struct gt_str host = gt_rank_summary_text(summary, summary->head.host);
        is_known = gt_strtab_intern(&hosts, host) != GT_STRID_EMPTY;
    }
    size_t count = is_known && !hosts.failed ? hosts.count - 1 : 0; /* "" is always there */
    gt_strtab_release(&hosts);
    return count;
}

struct gt_rank_rules_answer gt_rank_rules_find_slow_link(struct gt_rank_rules_job *it, struct gt_finding *finding) {
    const struct gt_rank_job *job = it->job;
    size_t count;
    const struct gt_rank_set_group *group = gt_rank_speeds_slowest(job, &count);
    if (!group)
        return nothing();
    bool is_replayed = group->gain_ns != GT_RANK_NO_NS && job->replay_ns != GT_RANK_NO_NS;
    gt_rank_rules_title(it, finding, "The link of %s is slow: %.2f times as long as other groups of its kind",
                        gt_rank_words_group(group, it->arena).ptr, group->slow_factor);
    gt_rank_rules_say(it, finding, "Its transfers reach %.3g GB/s on average, those of the others %.3g GB/s.",
                      group->usual_busbw / group->slow_factor, group->usual_busbw);
    gt_rank_rules_say(it, finding, "They take %s longer, all collectives together.",
                      gt_rank_rules_ns(it, group->slow_ns));
    size_t hosts = count_hosts(job, group);
    if (hosts)
        gt_rank_rules_say(it, finding, "Its members are on %zu host%s.", hosts, hosts == 1 ? "" : "s");
    if (count > 1)
        gt_rank_rules_say(it, finding, "There are %zu such groups.", count);
    if (is_replayed)
        gt_rank_rules_say(it, finding, "As fast as the others it would save %s of %s.",
                          gt_rank_rules_ns(it, group->gain_ns), gt_rank_rules_ns(it, job->replay_ns));
    gt_rank_rules_advise(it, finding,
                         "Check the way between its members: nvidia-smi topo -m and nvlink -s, errors and "
                         "speed of its network ports, the interface and algorithm that NCCL_DEBUG=INFO "
                         "names, placement of the ranks on hosts.");
    return (struct gt_rank_rules_answer){.is_found = true,
                                         .saving_ns = is_replayed && group->gain_ns > 0 ? group->gain_ns : 0};
}

/* ---- the job itself ---- */

struct gt_rank_rules_answer gt_rank_rules_find_shared_gpu(struct gt_rank_rules_job *it, struct gt_finding *finding) {
    uint64_t shared = it->job->issues[GT_RANK_ISSUE_GPU_SHARED];
    if (!shared)
        return nothing();
    gt_rank_rules_title(it, finding, "%" PRIu64 " ranks share a GPU with another rank", shared);
    gt_rank_rules_say(it, finding,
                      "Their compute contains the time that others took from it, which no replay can tell "
                      "apart.");
    gt_rank_rules_advise(it, finding,
                         "Give each rank a GPU of its own: CUDA_VISIBLE_DEVICES or torch.cuda.set_device "
                         "by local rank.");
    return (struct gt_rank_rules_answer){.is_found = true};
}

/* ": all_reduce in step 4"; empty: neither is known. */
static const char *place_words(struct gt_rank_rules_job *it, const struct gt_rank_set_group *group) {
    const char *op = gt_comms_op_key((enum gt_comm_op)group->mismatch_op);
    if (group->mismatch_step == GT_RANK_NO_NS)
        return op ? gt_arena_printf(it->arena, ": %s", op).ptr : "";
    return gt_arena_printf(it->arena, ": %s%sin step %" PRId64, op ? op : "", op ? " " : "", group->mismatch_step).ptr;
}

/* Who differs: of two members nobody knows which is right. */
static void title_desync(struct gt_rank_rules_job *it, struct gt_finding *finding,
                         const struct gt_rank_set_group *group) {
    const char *name = gt_rank_words_group(group, it->arena).ptr, *place = place_words(it, group);
    bool is_odd_known = group->present > 2;
    if (is_odd_known && group->left_out && !group->worst_unmatched)
        gt_rank_rules_title(it, finding, "Rank %" PRId64 " leaves out collective %" PRId64 " of %s%s",
                            it->job->ranks[group->left_out_rank].number, group->first_mismatch, name, place);
    else if (is_odd_known && !group->left_out && group->worst_unmatched == group->unmatched)
        gt_rank_rules_title(it, finding, "Rank %" PRId64 " alone runs collective %" PRId64 " of %s%s",
                            it->job->ranks[group->worst_rank].number, group->first_mismatch, name, place);
    else
        gt_rank_rules_title(it, finding, "Ranks of %s differ from collective %" PRId64 " on%s", name,
                            group->first_mismatch, place);
}

/* Which of the members has most kernels without a partner. */
static void say_unmatched(struct gt_rank_rules_job *it, struct gt_finding *finding, uint32_t number) {
    const struct gt_rank_set_group *group = &it->job->groups[number];
    if (group->worst_unmatched)
        gt_rank_rules_say(it, finding, "Most of them are on rank %" PRId64 ": %zu.",
                          it->job->ranks[group->worst_rank].number, group->worst_unmatched);
}

struct gt_rank_rules_answer gt_rank_rules_find_desync(struct gt_rank_rules_job *it, struct gt_finding *finding) {
    const struct gt_rank_job *job = it->job;
    uint32_t g = 0;
    while (g < job->group_count && job->groups[g].first_mismatch < 0)
        g++;
    if (g == job->group_count)
        return nothing();
    const struct gt_rank_set_group *group = &job->groups[g];
    title_desync(it, finding, group);
    if (group->unmatched)
        gt_rank_rules_say(it, finding, "%zu kernel%s between matched ones %s no partner.", group->unmatched,
                          group->unmatched > 1 ? "s" : "", group->unmatched > 1 ? "have" : "has");
    say_unmatched(it, finding, g);
    if (group->left_out)
        gt_rank_rules_say(it, finding, "%zu time%s a member lacks a collective that the others ran together.",
                          group->left_out, group->left_out > 1 ? "s" : "");
    gt_rank_rules_advise(it, finding,
                         "Compare what the members do there: a branch that only some take, a batch that "
                         "one has less; where the program is right, the profiler lost events.");
    return (struct gt_rank_rules_answer){.is_found = true};
}
