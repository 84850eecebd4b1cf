/* Compares ranks with the median rank, step by step: windows and the time between them come in, what a rank usually has
   more than the others goes out. */
#include "ranks/rank_excess.h"

#include "base/mem.h"
#include "ranks/rank_join.h"
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
