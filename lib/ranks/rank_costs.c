/* Finds the ranks that cost a job time: ranks that take longer than the others and a schedule come in, those without
   which the replay is shorter go out, with what they gain together. */
#include "ranks/rank_costs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ranks/rank_excess.h"
#include "ranks/rank_play.h"
#include "ranks/rank_reasons.h"

static const double least_gain_share = 0.01;   /* of the time in steps: less is no culprit */
static const double least_silent_share = 0.05; /* of the time of communication kernels: less makes no difference */

/* ---- what is known ---- */

static void count_silent(struct gt_rank_job *job) {
    double all_ns = 0, silent_ns = 0;
    for (size_t r = 0; r < job->rank_count; r++) {
        const struct gt_rank_summary *summary = job->ranks[r].summary;
        for (size_t k = 0; k < summary->kernels_count; k++) {
            double ns = (double)summary->kernels[k].end_ns - (double)summary->kernels[k].start_ns;
            bool is_silent =
                job->ranks[r].kernel_member[k] == GT_RANK_NONE && gt_rank_summary_carried_count(summary, k) == 0;
            job->silent_kernels += is_silent;
            silent_ns += is_silent ? ns : 0;
            all_ns += ns;
        }
        job->comm_kernels += summary->kernels_count;
    }
    job->silent_share = all_ns > 0 ? silent_ns / all_ns : 0;
}

bool gt_rank_costs_are_least(const struct gt_rank_job *job) {
    return job->collective_count && job->silent_share >= least_silent_share;
}

bool gt_rank_costs_is_between(const struct gt_rank_job *job, uint32_t rank) {
    int64_t *scratch = gt_mem_uninitialised(job->rank_count + job->step_count, sizeof *scratch), inside_ns = 0;
    for (int part = 0; scratch && part < GT_PART_COUNT; part++)
        if (gt_rank_summary_is_own((enum gt_rank_part)part))
            inside_ns += gt_rank_excess_of(job, rank, (enum gt_rank_part)part, scratch);
    gt_mem_free(scratch);
    return job->ranks[rank].between_ns > 0 && job->ranks[rank].between_ns > inside_ns;
}

int64_t gt_rank_costs_gain(const struct gt_rank_job *job) {
    return job->culprit_count ? job->culprits[job->culprit_count - 1].gain_ns : GT_RANK_NO_NS;
}

static bool is_gain(const struct gt_rank_job *job, int64_t gain_ns) {
    return (double)gain_ns >= least_gain_share * (double)gt_rank_job_stepping_ns(job);
}

bool gt_rank_costs_are_much(const struct gt_rank_job *job) {
    int64_t gain_ns = gt_rank_costs_gain(job);
    return gain_ns != GT_RANK_NO_NS && job->replay_ns != GT_RANK_NO_NS && is_gain(job, gain_ns);
}

bool gt_rank_costs_are_little(const struct gt_rank_job *job) {
    bool is_known = gt_rank_costs_gain(job) != GT_RANK_NO_NS && job->replay_ns != GT_RANK_NO_NS;
    return is_known && !gt_rank_costs_are_much(job) && !gt_rank_costs_are_least(job) &&
           !gt_rank_costs_is_between(job, job->culprits[0].rank);
}

bool gt_rank_costs_is_culprit(const struct gt_rank_job *job, uint32_t rank) {
    for (size_t i = 0; i < job->culprit_count; i++)
        if (job->culprits[i].rank == rank)
            return true;
    return false;
}

/* ---- culprits ---- */

/* The part that a reason is about; GT_PART_COUNT: none. */
static int part_of(struct gt_str reason) {
    if (gt_str_starts(reason, GT_STR("compute")))
        return GT_PART_COMPUTE;
    int part = 0;
    while (part < GT_PART_COUNT && !gt_str_eq(reason, gt_str_of(gt_rank_summary_parts[part])))
        part++;
    return part;
}

static void add_culprit(struct gt_rank_job *job, uint32_t rank, int64_t gain_ns, int64_t *scratch) {
    struct gt_rank_culprit *culprit = &job->culprits[job->culprit_count++];
    *culprit = (struct gt_rank_culprit){.rank = rank, .gain_ns = gain_ns};
    if (job->verdict == GT_VERDICT_PINNED && rank == job->verdict_rank) {
        int part = part_of(job->verdict_reason);
        culprit->reason = job->verdict_reason;
        culprit->more_ns = part < GT_PART_COUNT ? gt_rank_excess_of(job, rank, (enum gt_rank_part)part, scratch) : 0;
        if (culprit->more_ns < job->ranks[rank].between_ns && part >= GT_PART_IDLE_SYNC && part < GT_PART_COUNT)
            culprit->more_ns = job->ranks[rank].between_ns;
        return;
    }
    for (size_t part = 0; part < GT_PART_COUNT; part++) {
        bool is_own = gt_rank_summary_is_own((enum gt_rank_part)part);
        int64_t ns = is_own ? gt_rank_excess_of(job, rank, (enum gt_rank_part)part, scratch) : 0;
        if (ns <= culprit->more_ns)
            continue;
        culprit->more_ns = ns;
        culprit->reason = gt_rank_reasons_usual_name(job, rank, part, ns);
    }
}

bool gt_rank_costs_begin(struct gt_rank_job *job) {
    count_silent(job);
    if (job->verdict != GT_VERDICT_PINNED)
        return true;
    int64_t *scratch = gt_mem_uninitialised(job->rank_count + job->step_count, sizeof *scratch);
    if (scratch)
        add_culprit(job, job->verdict_rank, GT_RANK_NO_NS, scratch);
    gt_mem_free(scratch);
    return scratch != NULL;
}

/* ---- one after the other ---- */

#define EVENTS_MAX 20000000u /* with which more than the first is looked for */

enum { CANDIDATES_MAX = GT_RANK_PLAY_LANES - GT_RANK_CULPRITS_MAX };

struct candidate {
    uint32_t rank;
    int64_t less_ns; /* of its own time, if it were like the others */
};

struct looking {
    struct gt_rank_job *job;
    const struct gt_rank_schedule *schedule;
    struct candidate *candidates; /* those that are no culprits yet, with most to lose first */
    size_t count;
    int64_t *scratch;
};

static int by_less(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->less_ns != y->less_ns)
        return x->less_ns > y->less_ns ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void list_candidates(struct looking *it) {
    for (uint32_t r = 0; r < it->job->rank_count; r++) {
        const struct gt_rank_lane_events *lane = &it->schedule->lanes.items[r];
        struct candidate candidate = {r, 0};
        for (size_t i = 0; i <= lane->count; i++)
            candidate.less_ns += lane->pieces[i] - lane->level[i];
        if (it->job->ranks[r].takes_longer && candidate.less_ns > 0 && !gt_rank_costs_is_culprit(it->job, r))
            it->candidates[it->count++] = candidate;
    }
    if (it->count)
        qsort(it->candidates, it->count, sizeof *it->candidates, by_less);
    it->count = it->count < CANDIDATES_MAX ? it->count : CANDIDATES_MAX;
}

static struct gt_rank_change with_culprits(const struct gt_rank_job *job) {
    struct gt_rank_change change = {.leveled_count = job->culprit_count};
    for (size_t i = 0; i < job->culprit_count; i++)
        change.leveled[i] = job->culprits[i].rank;
    return change;
}

static void take_candidate(struct looking *it, size_t place, int64_t gain_ns) {
    add_culprit(it->job, it->candidates[place].rank, gain_ns, it->scratch);
    it->count--;
    memmove(&it->candidates[place], &it->candidates[place + 1], (it->count - place) * sizeof *it->candidates);
}

/* All candidates one by one, then the first two, the first three ... of them together. */
static size_t list_changes(const struct looking *it, struct gt_rank_change *changes) {
    size_t count = 0, room = GT_RANK_CULPRITS_MAX - it->job->culprit_count;
    for (; count < it->count; count++) {
        changes[count] = with_culprits(it->job);
        changes[count].leveled[changes[count].leveled_count++] = it->candidates[count].rank;
    }
    for (size_t together = 2; together <= room && together <= it->count; together++, count++) {
        changes[count] = with_culprits(it->job);
        for (size_t i = 0; i < together; i++)
            changes[count].leveled[changes[count].leveled_count++] = it->candidates[i].rank;
    }
    return count;
}

/* Adds the rank that gains most with those before it; if none does alone, the fewest that do together: ranks that are
   equally late hide each other. *is_found: some. */
static bool look_once(struct looking *it, bool *is_found) {
    struct gt_rank_job *job = it->job;
    struct gt_rank_change changes[GT_RANK_PLAY_LANES] = {{.leveled_count = 0}};
    int64_t gains_ns[GT_RANK_PLAY_LANES], before_ns = job->culprit_count ? gt_rank_costs_gain(job) : 0;
    size_t singles = it->count, count = list_changes(it, changes), best = 0, set = singles;
    if (!gt_rank_play(it->schedule, changes, count, gains_ns))
        return false;
    for (size_t i = 0; i < count; i++)
        gains_ns[i] = job->replay_ns - gains_ns[i];
    for (size_t i = 1; i < singles; i++)
        best = gains_ns[i] > gains_ns[best] ? i : best;
    while (set < count && !is_gain(job, gains_ns[set] - before_ns))
        set++;
    bool is_one = is_gain(job, gains_ns[best] - before_ns);
    if (is_one)
        take_candidate(it, best, gains_ns[best]);
    for (size_t i = 0; !is_one && set < count && i < set - singles + 2; i++)
        take_candidate(it, 0, gains_ns[i ? singles + i - 1 : 0]);
    *is_found = is_one || set < count;
    return true;
}

/* The gain of the rank of the verdict, where it is not known yet. */
static bool replay_first(struct looking *it) {
    struct gt_rank_job *job = it->job;
    if (!job->culprit_count)
        return true;
    struct gt_rank_culprit *first = &job->culprits[0];
    first->gain_ns = job->ranks[first->rank].gain_ns;
    if (first->gain_ns != GT_RANK_NO_NS)
        return true;
    struct gt_rank_change change = with_culprits(job);
    bool ok = gt_rank_play(it->schedule, &change, 1, &first->gain_ns);
    first->gain_ns = ok ? job->replay_ns - first->gain_ns : GT_RANK_NO_NS;
    return ok;
}

bool gt_rank_costs_replay(struct gt_rank_job *job, const struct gt_rank_schedule *schedule) {
    struct looking it = {.job = job,
                         .schedule = schedule,
                         .candidates = gt_mem_uninitialised(job->rank_count, sizeof *it.candidates),
                         .scratch = gt_mem_uninitialised(job->rank_count + job->step_count, sizeof *it.scratch)};
    bool ok = it.candidates && it.scratch && replay_first(&it), is_found;
    if (ok)
        list_candidates(&it);
    is_found = schedule->count <= EVENTS_MAX;
    while (ok && is_found && it.count && job->culprit_count < GT_RANK_CULPRITS_MAX)
        ok = look_once(&it, &is_found);
    if (job->verdict != GT_VERDICT_PINNED && job->culprit_count < 2) /* one alone would be the verdict */
        job->culprit_count = 0;
    gt_mem_free(it.candidates);
    gt_mem_free(it.scratch);
    return ok;
}
