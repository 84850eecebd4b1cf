/* Says who holds a job up: a verdict, episodes and a replay come in, sentences go out. */
#include "ranks/rank_words.h"

#include <inttypes.h>

#include "base/num.h"
#include "ranks/rank_costs.h"
#include "ranks/rank_hedges.h"
#include "ranks/rank_speeds.h"
#include "ranks/rank_tables.h"

static struct gt_str duration(struct gt_arena *arena, int64_t ns) {
    char text[GT_NUM_MAX];
    gt_num_format_duration(text, (double)ns);
    return gt_arena_copy(arena, gt_str_of(text));
}

const char *gt_rank_words_reason(struct gt_str reason) {
    static const struct {
        struct gt_str reason;
        const char *words;
    } list[] = {
        {GT_STR("compute_more"), "more compute"},
        {GT_STR("compute_slower"), "slower kernels"},
        {GT_STR("compute"), "compute"},
        {GT_STR("memory"), "copies"},
        {GT_STR("idle_sync"), "the GPU idle while the CPU synchronizes"},
        {GT_STR("idle_host"), "the GPU idle, waiting for its CPU"},
        {GT_STR("idle_launch"), "launches"},
        {GT_STR("idle_dependency"), "queued work that started late"},
        {GT_STR("idle_unknown"), "an idle GPU"},
        {GT_STR("bytes"), "more bytes to move in all_to_alls"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (gt_str_eq(reason, list[i].reason))
            return list[i].words;
    return "";
}

static bool is_compute(struct gt_str reason) {
    return gt_str_starts(reason, GT_STR("compute"));
}

static bool has_kernel(const struct gt_rank_job *job, const struct gt_rank_culprit *culprit) {
    const struct gt_rank_compute *compute = &job->computes[culprit->rank];
    return is_compute(culprit->reason) && compute->reference != GT_RANK_NONE && compute->kernel_ns > 0 &&
           compute->kernel.len;
}

/* " (nvjet_..., +0.9 ms a step)": the kernel that a rank runs longer than the rank it is compared with, or else what it
   has more of what the reason says. */
static struct gt_str more_words(const struct gt_rank_job *job, const struct gt_rank_culprit *culprit,
                                struct gt_arena *arena) {
    const struct gt_rank_compute *compute = &job->computes[culprit->rank];
    enum { NAME_MAX_BYTES = 40 };
    struct gt_str name = gt_str_cut(compute->kernel, NAME_MAX_BYTES);
    int64_t steps = job->step_count ? (int64_t)job->step_count : 1;
    if (has_kernel(job, culprit))
        return gt_arena_printf(arena, " (%.*s%s, +%s%s)", (int)name.len, name.ptr,
                               name.len < compute->kernel.len ? "..." : "",
                               duration(arena, compute->kernel_ns / steps).ptr, job->step_count ? " a step" : "");
    if (culprit->more_ns <= 0)
        return GT_STR("");
    return gt_arena_printf(arena, " (+%s a step%s)", duration(arena, culprit->more_ns).ptr,
                           gt_rank_costs_is_between(job, culprit->rank) ? ", between the steps" : "");
}

/* ---- shares ---- */

/* "2.3% of the ranks' time"; of the time in steps where much is outside of them. */
static struct gt_str wait_share(const struct gt_rank_job *job, struct gt_arena *arena) {
    const double most_outside = 0.1;
    double span_ns = 0, steps_ns = 0, in_steps_ns = 0;
    for (size_t r = 0; r < job->rank_count; r++)
        span_ns += (double)(job->ranks[r].summary->head.last_ns - job->ranks[r].summary->head.first_ns);
    for (size_t i = 0; i < job->step_count * job->rank_count; i++) {
        steps_ns += (double)job->windows[i].step_ns;
        in_steps_ns += (double)job->windows[i].ns[GT_PART_WAIT];
    }
    bool is_of_steps = steps_ns > 0 && steps_ns < (1 - most_outside) * span_ns;
    double of_ns = is_of_steps ? steps_ns : span_ns;
    return gt_arena_printf(arena, "%.1f%% of the ranks' time%s",
                           of_ns > 0 ? 100 * (is_of_steps ? in_steps_ns : (double)job->exposed_wait_ns) / of_ns : 0.0,
                           is_of_steps ? " in steps" : "");
}

static bool is_little(const struct gt_rank_job *job) {
    return job->verdict == GT_VERDICT_PINNED && gt_rank_costs_are_little(job);
}

/* ---- ranks ---- */

struct gt_str gt_rank_words_culprits(const struct gt_rank_job *job, bool has_reasons, struct gt_arena *arena) {
    struct gt_str text = {"", 0};
    for (size_t i = 0; i < job->culprit_count; i++) {
        const char *lead = i == 0 ? "" : i + 1 == job->culprit_count ? " and " : ", ";
        text = gt_arena_printf(arena, "%s%s%" PRId64, text.ptr, lead, job->ranks[job->culprits[i].rank].number);
        if (has_reasons)
            text = gt_arena_printf(arena, "%s (%s)", text.ptr, gt_rank_words_reason(job->culprits[i].reason));
    }
    return text;
}

static struct gt_str little_words(const struct gt_rank_job *job, struct gt_arena *arena) {
    const struct gt_rank_lane *rank = &job->ranks[job->verdict_rank];
    return gt_arena_printf(arena,
                           "no rank costs much: rank %" PRId64 " is the last in %zu of %zu steps (%s), but like the "
                           "median it would save less than 1%%",
                           rank->number, rank->leads, job->step_count, gt_rank_words_reason(job->verdict_reason));
}

/* ", pipeline stage 1 (of 0 to 3)"; empty: the rank is in none. */
static struct gt_str stage_words(const struct gt_rank_job *job, uint32_t rank, struct gt_arena *arena) {
    for (size_t i = 0; i < job->bubble_count; i++)
        if (job->bubbles[i].rank == rank && job->bubbles[i].stage >= 0 && job->bubbles[i].stages > 1)
            return gt_arena_printf(arena, ", pipeline stage %" PRId64 " (of 0 to %zu)", job->bubbles[i].stage,
                                   job->bubbles[i].stages - 1);
    return GT_STR("");
}

/* "it receives up to 3.2 times the mean in all_to_alls (hot expert), "; empty: it receives no more than others. */
static struct gt_str hot_words(const struct gt_rank_job *job, uint32_t rank, struct gt_arena *arena) {
    if (rank != job->hot_rank)
        return GT_STR("");
    return gt_arena_printf(arena, "it receives up to %.2f times the mean in all_to_alls (hot expert), ",
                           job->imbalance);
}

/* "rank 5 holds the others up in 6 of 6 steps: slower kernels (...); then rank 2: more compute (...)" */
static struct gt_str culprit_words(const struct gt_rank_job *job, struct gt_arena *arena) {
    const struct gt_rank_culprit *first = &job->culprits[0];
    bool is_pinned = job->verdict == GT_VERDICT_PINNED;
    struct gt_str text;
    if (is_pinned)
        text = gt_arena_printf(arena, "rank %" PRId64 " holds the others up in %zu of %zu steps: %s%s%s%s",
                               job->ranks[first->rank].number, job->ranks[first->rank].leads, job->step_count,
                               hot_words(job, first->rank, arena).ptr, gt_rank_words_reason(first->reason),
                               more_words(job, first, arena).ptr, stage_words(job, first->rank, arena).ptr);
    else
        text = gt_arena_printf(arena, "ranks %s hold the others up in turn; rank %" PRId64 ": %s%s",
                               gt_rank_words_culprits(job, false, arena).ptr, job->ranks[first->rank].number,
                               gt_rank_words_reason(first->reason), more_words(job, first, arena).ptr);
    if (is_pinned && job->verdict_host.len)
        text = gt_arena_printf(arena, "%s, on host %.*s", text.ptr, (int)job->verdict_host.len, job->verdict_host.ptr);
    for (size_t i = 1; i < job->culprit_count; i++)
        text = gt_arena_printf(arena, "%s; %srank %" PRId64 ": %s%s", text.ptr, is_pinned ? "then " : "",
                               job->ranks[job->culprits[i].rank].number, gt_rank_words_reason(job->culprits[i].reason),
                               more_words(job, &job->culprits[i], arena).ptr);
    return text;
}

/* ---- single steps, links ---- */

/* "step 4: rank 1's CPU was 15 ms late": the longest wait that it caused. */
static struct gt_str episode_words(const struct gt_rank_job *job, const struct gt_rank_episode *episode,
                                   struct gt_arena *arena) {
    int64_t others = job->rank_count > 1 ? (int64_t)job->rank_count - 1 : 1;
    struct gt_str length = duration(arena, episode->late_ns ? episode->late_ns : episode->charged_ns / others);
    int64_t step = job->steps[episode->step], rank = job->ranks[episode->rank].number;
    if (gt_str_eq(episode->reason, GT_STR("idle_host")))
        return gt_arena_printf(arena, "step %" PRId64 ": rank %" PRId64 "'s host was %s late", step, rank, length.ptr);
    return gt_arena_printf(arena, "step %" PRId64 ": rank %" PRId64 " was %s late (%s)", step, rank, length.ptr,
                           gt_rank_words_reason(episode->reason));
}

struct gt_str gt_rank_words_group(const struct gt_rank_set_group *group, struct gt_arena *arena) {
    enum { LONGEST = 60 };
    struct gt_str members = gt_rank_tables_members(arena, group), shown = gt_str_cut(members, LONGEST);
    struct gt_str name = gt_rank_tables_group_name(arena, group), about = gt_str_cut(group->description, LONGEST);
    return gt_arena_printf(arena, "%.*s%sgroup %.*s (ranks %.*s%s)", (int)about.len, about.ptr, about.len ? " " : "",
                           (int)name.len, name.ptr, (int)shown.len, shown.ptr, shown.len < members.len ? "..." : "");
}

/* "the link of tp group 2 (ranks 2,3) is slow: 3.01 times as long as other groups of its kind, which costs 2 ms a step"
 */
static struct gt_str link_words(const struct gt_rank_job *job, const struct gt_rank_set_group *group,
                                struct gt_arena *arena) {
    struct gt_str cost = {"", 0};
    if (group->gain_ns != GT_RANK_NO_NS && group->gain_ns > 0)
        cost = gt_arena_printf(arena, ", which costs %s%s",
                               duration(arena, group->gain_ns / (job->step_count ? (int64_t)job->step_count : 1)).ptr,
                               job->step_count ? " a step" : "");
    return gt_arena_printf(arena, "the link of %s is slow: %.2f times as long as other groups of its kind%s",
                           gt_rank_words_group(group, arena).ptr, group->slow_factor, cost.ptr);
}

/* ---- what costs most first ---- */

struct clause {
    struct gt_str text;
    int64_t cost_ns;
};

enum { EPISODES_MAX = 3, CLAUSES_MAX = EPISODES_MAX + 2 };

struct clauses {
    struct clause items[CLAUSES_MAX];
    size_t count;
};

/* After those that cost as much. */
static void add_clause(struct clauses *clauses, struct gt_str text, int64_t cost_ns) {
    size_t place = clauses->count++;
    for (; place > 0 && clauses->items[place - 1].cost_ns < cost_ns; place--)
        clauses->items[place] = clauses->items[place - 1];
    clauses->items[place] = (struct clause){text, cost_ns};
}

/* Of a rank's gain what its charges in the step are of those in all its episodes. */
static int64_t episode_cost(const struct gt_rank_job *job, const struct gt_rank_episode *episode) {
    int64_t gain_ns = job->ranks[episode->rank].gain_ns;
    double all_ns = 0;
    if (gain_ns == GT_RANK_NO_NS || gt_rank_costs_is_culprit(job, episode->rank))
        return episode->late_ns;
    for (size_t i = 0; i < job->episode_count; i++)
        all_ns += job->episodes[i].rank == episode->rank ? (double)job->episodes[i].charged_ns : 0;
    return all_ns > 0 ? (int64_t)((double)gain_ns * ((double)episode->charged_ns / all_ns)) : 0;
}

/* Those with the largest charges. */
static void add_episodes(struct clauses *clauses, const struct gt_rank_job *job, struct gt_arena *arena) {
    const struct gt_rank_episode *worst[EPISODES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < job->episode_count; i++) {
        const struct gt_rank_episode *episode = &job->episodes[i];
        size_t place = count < EPISODES_MAX ? count++ : EPISODES_MAX;
        for (; place > 0 && worst[place - 1]->charged_ns < episode->charged_ns; place--)
            if (place < EPISODES_MAX)
                worst[place] = worst[place - 1];
        if (place < EPISODES_MAX)
            worst[place] = episode;
    }
    for (size_t i = 0; i < count; i++)
        add_clause(clauses, episode_words(job, worst[i], arena), episode_cost(job, worst[i]));
}

/* The job as it is and as it would be: a mean step, or all of it. */
static struct gt_str replay_words(const struct gt_rank_job *job, struct gt_arena *arena) {
    const double least_share = 0.005; /* less is no news */
    bool is_replayed = job->replay_ns != GT_RANK_NO_NS && job->ideal_ns != GT_RANK_NO_NS;
    int64_t less_ns = is_replayed ? job->replay_ns - job->ideal_ns : 0, now_ns = gt_rank_job_stepping_ns(job);
    if (!is_replayed || (double)less_ns < least_share * (double)now_ns || less_ns > now_ns)
        return GT_STR("");
    int64_t steps = job->step_count ? (int64_t)job->step_count : 1;
    return gt_arena_printf(arena, " With all ranks like the median %s would take %s instead of %s.",
                           job->step_count ? "a step" : "the run", duration(arena, (now_ns - less_ns) / steps).ptr,
                           duration(arena, now_ns / steps).ptr);
}

/* " Like the median, rank 5 would save 60 us a step, ranks 5 and 2 together 370 us." */
static struct gt_str gain_words(const struct gt_rank_job *job, struct gt_arena *arena) {
    int64_t gain_ns = gt_rank_costs_gain(job), steps = (int64_t)job->step_count;
    if (job->culprit_count < 2 || gain_ns == GT_RANK_NO_NS || !steps)
        return GT_STR("");
    int64_t first_ns = job->culprits[0].gain_ns > 0 ? job->culprits[0].gain_ns : 0;
    return gt_arena_printf(arena,
                           " Like the median, rank %" PRId64 " alone would save %s a step, ranks %s together %s.",
                           job->ranks[job->culprits[0].rank].number, duration(arena, first_ns / steps).ptr,
                           gt_rank_words_culprits(job, false, arena).ptr, duration(arena, gain_ns / steps).ptr);
}

struct gt_str gt_rank_words_verdict(const struct gt_rank_job *job, struct gt_arena *arena) {
    struct clauses clauses = {.count = 0};
    struct gt_str text = {"", 0};
    size_t slow_groups;
    const struct gt_rank_set_group *group = gt_rank_speeds_slowest(job, &slow_groups);
    bool has_culprits = job->culprit_count && !gt_rank_costs_are_little(job);
    int64_t gain_ns = gt_rank_costs_gain(job);
    if (has_culprits)
        add_clause(&clauses, culprit_words(job, arena), gain_ns == GT_RANK_NO_NS ? INT64_MAX : gain_ns);
    if (group)
        add_clause(&clauses, link_words(job, group, arena), group->gain_ns);
    add_episodes(&clauses, job, arena);
    for (size_t i = 0; i < clauses.count; i++)
        text = gt_arena_printf(arena, "%s%s%s", text.ptr, i ? "; " : "", clauses.items[i].text.ptr);
    if (job->episode_count > EPISODES_MAX)
        text = gt_arena_printf(arena, "%s; %zu more single steps", text.ptr, job->episode_count - EPISODES_MAX);
    if (!has_culprits)
        text = gt_arena_printf(arena, "%s%s%s", text.ptr, clauses.count ? "; otherwise " : "",
                               is_little(job) ? little_words(job, arena).ptr : gt_rank_hedges_nobody(job, arena).ptr);
    if (job->exposed_wait_ns && job->collective_count)
        text = gt_arena_printf(arena, "%s. Waiting takes %s", text.ptr, wait_share(job, arena).ptr);
    text = gt_arena_printf(arena, "%s.%s%s%s", text.ptr, gain_words(job, arena).ptr, replay_words(job, arena).ptr,
                           gt_rank_hedges_say(job, arena).ptr);
    if (text.len && text.ptr[0] >= 'a' && text.ptr[0] <= 'z') {
        char *first = (char *)(uintptr_t)text.ptr; /* in the arena */
        *first = (char)(*first - 'a' + 'A');
    }
    return text;
}

/* ---- ranks without a trace ---- */

enum { RUNS_MAX = 8 };

struct missing {
    struct {
        int64_t first, end;
    } runs[RUNS_MAX];
    size_t run_count;
    int64_t left; /* ranks that are not named any more */
    int64_t count;
};

static void add_missing(struct missing *missing, int64_t first, int64_t end) {
    if (first >= end)
        return;
    missing->count += end - first;
    if (missing->run_count == RUNS_MAX) {
        missing->left += end - first;
        return;
    }
    missing->runs[missing->run_count].first = first;
    missing->runs[missing->run_count++].end = end;
}

/* "1", "4-7", "1 and 4-7", "1, 4-7 and 12 more". */
static struct gt_str missing_words(const struct missing *missing, struct gt_arena *arena) {
    struct gt_str text = {"", 0};
    for (size_t i = 0; i < missing->run_count; i++) {
        int64_t first = missing->runs[i].first, last = missing->runs[i].end - 1;
        bool is_last = i + 1 == missing->run_count && !missing->left;
        text = gt_arena_printf(arena, "%s%s%" PRId64, text.ptr, i == 0 ? "" : is_last ? " and " : ", ", first);
        if (last > first)
            text = gt_arena_printf(arena, "%s-%" PRId64, text.ptr, last);
    }
    return missing->left ? gt_arena_printf(arena, "%s and %" PRId64 " more", text.ptr, missing->left) : text;
}

int64_t gt_rank_words_without_trace(const struct gt_rank_job *job, struct gt_arena *arena, struct gt_str *ranks) {
    struct missing missing = {0};
    int64_t next = 0;
    for (size_t r = 0; r < job->rank_count && job->ranks[r].number < job->known_world; r++) {
        add_missing(&missing, next, job->ranks[r].number);
        next = job->ranks[r].number + 1;
    }
    add_missing(&missing, next, job->known_world);
    *ranks = missing_words(&missing, arena);
    return missing.count;
}

struct gt_str gt_rank_words_missing(const struct gt_rank_job *job, struct gt_arena *arena) {
    struct gt_str ranks;
    int64_t count = gt_rank_words_without_trace(job, arena, &ranks);
    if (!count)
        return ranks;
    bool is_one = count == 1;
    const char *effect = !job->exposed_wait_ns ? ""
                         : is_one              ? "; waits for it are charged to other ranks"
                                               : "; waits for them are charged to other ranks";
    return gt_arena_printf(arena, "Rank%s %s of %" PRId64 " %s no trace%s.", is_one ? "" : "s", ranks.ptr,
                           job->known_world, is_one ? "has" : "have", effect);
}
