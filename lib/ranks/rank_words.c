/* Says who holds a job up: a verdict, episodes and a replay come in, sentences go out. */
#include "ranks/rank_words.h"

#include <inttypes.h>

#include "base/num.h"
#include "ranks/rank_charges.h"
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

/* " (nvjet_..., +0.9 ms a step)": the kernel that a rank runs longer than the rank it is compared with. */
static struct gt_str kernel_words(const struct gt_rank_job *job, uint32_t rank, struct gt_arena *arena) {
    const struct gt_rank_compute *compute = &job->computes[rank];
    enum { NAME_MAX_BYTES = 40 };
    struct gt_str name = gt_str_cut(compute->kernel, NAME_MAX_BYTES);
    if (compute->reference == GT_RANK_NONE || compute->kernel_ns <= 0 || !name.len)
        return GT_STR("");
    int64_t steps = job->step_count ? (int64_t)job->step_count : 1;
    return gt_arena_printf(arena, " (%.*s%s, +%s%s)", (int)name.len, name.ptr,
                           name.len < compute->kernel.len ? "..." : "", duration(arena, compute->kernel_ns / steps).ptr,
                           job->step_count ? " a step" : "");
}

/* "2.3% of the ranks' time" */
static struct gt_str wait_share(const struct gt_rank_job *job, struct gt_arena *arena) {
    double span_ns = 0;
    for (size_t r = 0; r < job->rank_count; r++)
        span_ns += (double)(job->ranks[r].summary->head.last_ns - job->ranks[r].summary->head.first_ns);
    return gt_arena_printf(arena, "%.1f%% of the ranks' time",
                           span_ns > 0 ? 100 * (double)job->exposed_wait_ns / span_ns : 0.0);
}

bool gt_rank_words_is_little(const struct gt_rank_job *job) {
    const double least_share = 0.01; /* below this nothing is reported */
    if (job->verdict != GT_VERDICT_PINNED || job->replay_ns == GT_RANK_NO_NS)
        return false;
    int64_t gain_ns = job->ranks[job->verdict_rank].gain_ns;
    return gain_ns != GT_RANK_NO_NS && (double)gain_ns < least_share * (double)gt_rank_job_stepping_ns(job);
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

/* What has more than the traces that were read. */
static const char *origin_words(const struct gt_rank_job *job) {
    uint32_t origin = GT_RANK_ORIGINAL;
    for (size_t i = 0; i < job->rank_count && origin == GT_RANK_ORIGINAL; i++)
        origin = job->ranks[i].summary->head.made_from;
    return origin == GT_RANK_OF_REPORT        ? "an export lacks what its .nsys-rep has; "
           : origin == GT_RANK_OF_OTHER_TRACE ? "the trace that a .pftrace was made from may have it; "
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

static struct gt_str verdict_words(const struct gt_rank_job *job, struct gt_arena *arena) {
    struct gt_str text = {"", 0};
    switch (job->verdict) {
    case GT_VERDICT_PINNED:
        if (gt_rank_words_is_little(job))
            return little_words(job, arena);
        text = gt_arena_printf(arena, "rank %" PRId64 " holds the others up in %zu of %zu steps: %s%s%s",
                               job->ranks[job->verdict_rank].number, job->ranks[job->verdict_rank].leads,
                               job->step_count, gt_rank_words_reason(job->verdict_reason),
                               is_compute(job->verdict_reason) ? kernel_words(job, job->verdict_rank, arena).ptr : "",
                               stage_words(job, job->verdict_rank, arena).ptr);
        if (job->verdict_host.len)
            text =
                gt_arena_printf(arena, "%s, on host %.*s", text.ptr, (int)job->verdict_host.len, job->verdict_host.ptr);
        return text;
    case GT_VERDICT_ROTATING:
        return gt_arena_printf(arena, "ranks hold each other up in turn, none in most of the steps: waiting takes %s",
                               wait_share(job, arena).ptr);
    case GT_VERDICT_FEW_STEPS:
        return job->exposed_wait_ns ? GT_STR("too few steps to say whether one rank holds the others up")
                                    : GT_STR("no rank waited for another");
    case GT_VERDICT_NONE:
        break;
    }
    if (job->rank_count == 0)
        return GT_STR("no rank with GPU work was read");
    if (job->collective_count == 0)
        return unmatched_words(job, arena);
    if (job->exposed_wait_ns == 0)
        return GT_STR("the ranks are even: none waits for another");
    return gt_arena_printf(arena, "no rank holds the others up in most steps: waiting takes %s",
                           wait_share(job, arena).ptr);
}

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

/* The other verdicts have it in their own sentence. */
static struct gt_str pinned_wait_words(const struct gt_rank_job *job, struct gt_arena *arena) {
    if (job->verdict != GT_VERDICT_PINNED)
        return GT_STR("");
    return gt_arena_printf(arena, " Waiting takes %s.", wait_share(job, arena).ptr);
}

/* The run as it is and as it would be. From the first op to the last it is longer than the sum of its steps. */
static struct gt_str replay_words(const struct gt_rank_job *job, struct gt_arena *arena) {
    const double least_share = 0.005; /* less is no news */
    bool is_replayed = job->replay_ns != GT_RANK_NO_NS && job->ideal_ns != GT_RANK_NO_NS;
    if (!is_replayed || (double)(job->replay_ns - job->ideal_ns) < least_share * (double)job->replay_ns)
        return GT_STR("");
    struct gt_str steps = {"", 0};
    if (job->step_count)
        steps = gt_arena_printf(arena, " of %zu step%s", job->step_count, job->step_count > 1 ? "s" : "");
    return gt_arena_printf(arena, " With all ranks like the median the run%s would take %s instead of %s.", steps.ptr,
                           duration(arena, job->ideal_ns).ptr, duration(arena, job->replay_ns).ptr);
}

struct gt_str gt_rank_words_group(const struct gt_rank_set_group *group, struct gt_arena *arena) {
    enum { LONGEST = 60 };
    struct gt_str members = gt_rank_tables_members(arena, group), shown = gt_str_cut(members, LONGEST);
    struct gt_str name = gt_rank_tables_group_name(arena, group), about = gt_str_cut(group->description, LONGEST);
    return gt_arena_printf(arena, "%.*s%sgroup %.*s (ranks %.*s%s)", (int)about.len, about.ptr, about.len ? " " : "",
                           (int)name.len, name.ptr, (int)shown.len, shown.ptr, shown.len < members.len ? "..." : "");
}

/* "; the link of tp group 2 (ranks 2,3) is slow: 3.01 times as long as other groups of its kind" */
static struct gt_str link_words(const struct gt_rank_job *job, struct gt_arena *arena) {
    size_t count;
    const struct gt_rank_set_group *group = gt_rank_speeds_slowest(job, &count);
    if (!group)
        return GT_STR("");
    return gt_arena_printf(arena, "; the link of %s is slow: %.2f times as long as other groups of its kind",
                           gt_rank_words_group(group, arena).ptr, group->slow_factor);
}

struct gt_str gt_rank_words_verdict(const struct gt_rank_job *job, struct gt_arena *arena) {
    enum { EPISODES_MAX = 3 };
    struct gt_str text = verdict_words(job, arena);
    for (size_t i = 0; i < job->episode_count && i < EPISODES_MAX; i++)
        text = gt_arena_printf(arena, "%s; %s", text.ptr, episode_words(job, &job->episodes[i], arena).ptr);
    if (job->episode_count > EPISODES_MAX)
        text = gt_arena_printf(arena, "%s; %zu more single steps", text.ptr, job->episode_count - EPISODES_MAX);
    text = gt_arena_printf(arena, "%s%s.%s%s", text.ptr, link_words(job, arena).ptr, pinned_wait_words(job, arena).ptr,
                           replay_words(job, arena).ptr);
    if (text.len && text.ptr[0] >= 'a' && text.ptr[0] <= 'z') {
        char *first = (char *)(uintptr_t)text.ptr; /* in the arena */
        *first = (char)(*first - 'a' + 'A');
    }
    return text;
}

/* ---- ranks without a trace ---- */

/* "1", "4-7" or "1, 4-7 and 12 more". */
struct missing {
    struct gt_arena *arena;
    struct gt_str text;
    size_t runs;
    int64_t left; /* ranks that are not named any more */
    int64_t count;
};

static void add_missing(struct missing *missing, int64_t first, int64_t end) {
    enum { RUNS_MAX = 8 };
    if (first >= end)
        return;
    missing->count += end - first;
    if (missing->runs++ >= RUNS_MAX) {
        missing->left += end - first;
        return;
    }
    const char *lead = missing->text.len ? ", " : "";
    missing->text = end - first == 1 ? gt_arena_printf(missing->arena, "%s%s%" PRId64, missing->text.ptr, lead, first)
                                     : gt_arena_printf(missing->arena, "%s%s%" PRId64 "-%" PRId64, missing->text.ptr,
                                                       lead, first, end - 1);
}

int64_t gt_rank_words_without_trace(const struct gt_rank_job *job, struct gt_arena *arena, struct gt_str *ranks) {
    struct missing missing = {.arena = arena, .text = {"", 0}};
    int64_t next = 0;
    for (size_t r = 0; r < job->rank_count && job->ranks[r].number < job->world_size; r++) {
        add_missing(&missing, next, job->ranks[r].number);
        next = job->ranks[r].number + 1;
    }
    add_missing(&missing, next, job->world_size);
    if (missing.left)
        missing.text = gt_arena_printf(arena, "%s and %" PRId64 " more", missing.text.ptr, missing.left);
    *ranks = missing.text;
    return missing.count;
}

struct gt_str gt_rank_words_missing(const struct gt_rank_job *job, struct gt_arena *arena) {
    struct gt_str ranks;
    int64_t count = gt_rank_words_without_trace(job, arena, &ranks);
    if (!count)
        return ranks;
    return gt_arena_printf(arena, "No trace of rank%s %s, of %" PRId64 ": waits for %s are charged to others.",
                           count > 1 ? "s" : "", ranks.ptr, job->world_size, count > 1 ? "them" : "it");
}
