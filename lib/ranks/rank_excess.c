/* Who takes longer than the others: windows of ranks, the time between them and what they are charged for come in, what
   a rank usually has more than the median rank, ranks that may be guilty and the reason of one go out. */
#include "ranks/rank_excess.h"

#include "base/mem.h"
#include "base/ns.h"
#include "ranks/rank_join.h"
#include "ranks/rank_reasons.h"
#include "ranks/rank_tiles.h"

static int64_t median_of(int64_t *values, size_t count) {
    return count ? gt_rank_join_select(values, count, (count - 1) / 2) : 0;
}

/* ---- between windows ---- */

#define NO_GAP INT64_MIN /* nothing was before the step */

/* Own time of a rank from its window before to each of its windows, by step. */
static void fill_gaps(const struct gt_rank_job *job, uint32_t rank, int64_t *gaps_ns) {
    const struct gt_rank_lane *lane = &job->ranks[rank];
    for (size_t s = 1; s < lane->summary->steps_count; s++) {
        const struct gt_rank_step *before = &lane->summary->steps[s - 1], *step = &lane->summary->steps[s];
        int64_t ns[GT_PART_COUNT] = {0}, own_ns = 0;
        if (step->start_ns > before->end_ns)
            gt_rank_tiles_parts(lane, before->end_point, step->start_point, ns);
        for (int part = 0; part < GT_PART_COUNT; part++)
            own_ns += gt_rank_summary_is_own((enum gt_rank_part)part) ? ns[part] : 0;
        gaps_ns[gt_rank_job_step(job, step->number) * job->rank_count + rank] = own_ns;
    }
}

static void find_between(struct gt_rank_job *job, int64_t *gaps_ns, int64_t *scratch) {
    size_t ranks = job->rank_count, steps = job->step_count;
    for (size_t s = 0; s < steps; s++) {
        int64_t *row = &gaps_ns[s * ranks];
        size_t count = 0;
        for (size_t r = 0; r < ranks; r++)
            if (row[r] != NO_GAP)
                scratch[count++] = row[r];
        int64_t median_ns = median_of(scratch, count);
        for (size_t r = 0; r < ranks; r++)
            row[r] -= row[r] == NO_GAP ? 0 : median_ns;
    }
    for (size_t r = 0; r < ranks; r++) {
        size_t count = 0;
        for (size_t s = 0; s < steps; s++)
            if (gaps_ns[s * ranks + r] != NO_GAP)
                scratch[count++] = gaps_ns[s * ranks + r];
        job->ranks[r].between_ns = median_of(scratch, count);
    }
}

bool gt_rank_excess_between(struct gt_rank_job *job) {
    size_t cells = job->step_count * job->rank_count;
    int64_t *gaps_ns = gt_mem_uninitialised(cells, sizeof *gaps_ns);
    int64_t *scratch = gt_mem_uninitialised(job->step_count + job->rank_count, sizeof *scratch);
    bool ok = gaps_ns && scratch;
    for (size_t i = 0; ok && i < cells; i++)
        gaps_ns[i] = NO_GAP;
    for (uint32_t r = 0; ok && cells && r < job->rank_count; r++)
        fill_gaps(job, r, gaps_ns);
    if (ok)
        find_between(job, gaps_ns, scratch);
    gt_mem_free(gaps_ns);
    gt_mem_free(scratch);
    return ok;
}

/* ---- inside them ---- */

size_t gt_rank_excess_steps(const struct gt_rank_job *job, uint32_t rank) {
    size_t count = 0;
    for (size_t s = 0; s < job->step_count; s++)
        count += job->windows[s * job->rank_count + rank].step_ns > 0;
    return count;
}

int64_t gt_rank_excess_of(const struct gt_rank_job *job, uint32_t rank, enum gt_rank_part part, int64_t *scratch) {
    int64_t *excess_ns = scratch + job->rank_count;
    size_t steps = 0;
    for (size_t s = 0; s < job->step_count; s++) {
        const struct gt_rank_window *windows = &job->windows[s * job->rank_count];
        size_t count = 0;
        if (!windows[rank].is_there)
            continue;
        for (size_t r = 0; r < job->rank_count; r++)
            if (windows[r].is_there)
                scratch[count++] = windows[r].ns[part];
        excess_ns[steps++] = windows[rank].ns[part] - median_of(scratch, count);
    }
    return median_of(excess_ns, steps);
}

/* ---- ranks that may be guilty ---- */

/* A rank is guilty of nothing when it takes as long as the others: what it is charged for is the order in which they
   come, as in the stages of a pipeline. Its usual excess has to be this share of the usual time of a rank. */
#define LEAST_EXCESS_PERCENT 2

bool gt_rank_excess_leaders(const struct gt_rank_job *job, bool *may_lead) {
    size_t steps = job->step_count, ranks = job->rank_count;
    int64_t *scratch = gt_mem_uninitialised(steps > ranks ? steps : ranks, sizeof *scratch);
    int64_t *usual = gt_mem_array(steps, sizeof *usual);
    bool ok = scratch && usual;
    for (size_t s = 0; ok && s < steps; s++) {
        size_t count = 0;
        for (size_t r = 0; r < ranks; r++)
            if (job->windows[s * ranks + r].is_there)
                scratch[count++] = gt_rank_tiles_own_ns(&job->windows[s * ranks + r]);
        usual[s] = median_of(scratch, count);
    }
    int64_t usual_ns = ok ? median_of(usual, steps) : 0;
    for (size_t r = 0; ok && r < ranks; r++) {
        size_t count = 0;
        for (size_t s = 0; s < steps; s++)
            if (job->windows[s * ranks + r].is_there)
                scratch[count++] = job->windows[s * ranks + r].excess_ns;
        int64_t excess_ns = gt_ns_add(median_of(scratch, count), job->ranks[r].between_ns);
        may_lead[r] = count && excess_ns > 0 && (__int128)excess_ns * 100 >= (__int128)usual_ns * LEAST_EXCESS_PERCENT;
    }
    gt_mem_free(scratch);
    gt_mem_free(usual);
    return ok;
}

/* ---- the reason of a rank ---- */

/* How much longer than the median a rank is in a part, outside its episodes. scratch: as many as there are ranks. */
static int64_t own_excess(const struct gt_rank_job *job, uint32_t rank, enum gt_rank_part part, int64_t *scratch) {
    int64_t excess_ns = 0;
    for (size_t s = 0; s < job->step_count; s++) {
        const struct gt_rank_window *windows = &job->windows[s * job->rank_count];
        size_t count = 0;
        if (!windows[rank].is_there || gt_rank_job_episode(job, s, rank))
            continue;
        for (size_t r = 0; r < job->rank_count; r++)
            if (windows[r].is_there)
                scratch[count++] = windows[r].ns[part];
        excess_ns += windows[rank].ns[part] - median_of(scratch, count);
    }
    return excess_ns;
}

static int64_t usual_guilt(const struct gt_rank_job *job, uint32_t rank, size_t reason) {
    size_t steps = job->step_count ? job->step_count : 1;
    int64_t ns = 0;
    for (size_t s = 0; s < steps; s++)
        ns += gt_rank_job_episode(job, s, rank) ? 0 : *gt_rank_job_charge(job, rank, reason, s);
    return ns;
}

bool gt_rank_excess_reason(const struct gt_rank_job *job, uint32_t rank, struct gt_str *out) {
    int64_t *scratch = gt_mem_uninitialised(job->rank_count, sizeof *scratch);
    int64_t guilt_ns[GT_REASON_COUNT] = {0}, longest_ns = 0;
    size_t largest = 0, longest = GT_REASON_COUNT;
    for (size_t reason = 0; reason <= GT_REASON_BYTES && scratch; reason++) {
        bool is_part = reason < GT_REASON_PARTS;
        if (is_part && !gt_rank_summary_is_own((enum gt_rank_part)reason))
            continue;
        guilt_ns[reason] = usual_guilt(job, rank, reason);
        largest = guilt_ns[reason] > guilt_ns[largest] ? reason : largest;
        int64_t ns = is_part && guilt_ns[reason] > 0 ? own_excess(job, rank, (enum gt_rank_part)reason, scratch) : 0;
        longest = ns > longest_ns ? reason : longest;
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    size_t best = largest == GT_REASON_BYTES || longest == GT_REASON_COUNT ? largest : longest;
    *out = gt_rank_reasons_usual_name(job, rank, best, guilt_ns[best]);
    gt_mem_free(scratch);
    return scratch != NULL;
}
