/* Aligns clocks: pairs of ranks that left a collective together come in, a tree of offsets goes out, and what remains
   of the differences. */
#include "ranks/rank_clocks.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/quantile.h"
#include "events/comms.h"
#include "ranks/rank_clock_edges.h"

/* ---- time of a rank on the clock of its tree ---- */

static int64_t floor_of(double value) {
    return (int64_t)floor(value);
}

/* Of two such times the difference fits. */
static int64_t limited(int64_t time_ns) {
    const int64_t latest_ns = INT64_MAX / 2;
    return time_ns > latest_ns ? latest_ns : time_ns < -latest_ns ? -latest_ns : time_ns;
}

int64_t gt_rank_clocks_aligned(const struct gt_rank_job *job, uint32_t rank, int64_t time_ns) {
    enum { DEEPEST = 1 << 20 };
    for (size_t depth = 0; depth < DEEPEST && job->ranks[rank].clock_by != GT_CLOCK_REFERENCE; depth++) {
        const struct gt_rank_lane *lane = &job->ranks[rank];
        int64_t drifted_ns = lane->drift != 0 ? floor_of((double)(time_ns - lane->t0_ns) * lane->drift) : 0;
        time_ns = limited(gt_ns_between(gt_ns_add(lane->offset_ns, drifted_ns), time_ns));
        rank = lane->reference;
    }
    return time_ns;
}

int64_t gt_rank_clocks_floor(const struct gt_rank_job *job, const struct gt_rank_collective *collective) {
    int64_t floor_ns = GT_RANK_NO_NS;
    uint32_t tree = job->ranks[job->members[collective->first_member].rank].tree;
    for (size_t m = 0; m < collective->member_count; m++) {
        const struct gt_rank_lane *rank = &job->ranks[job->members[collective->first_member + m].rank];
        if (rank->tree != tree)
            return GT_RANK_NO_NS;
        floor_ns = rank->floor_ns > floor_ns ? rank->floor_ns : floor_ns;
    }
    return floor_ns;
}

/* ---- the tree ---- */

struct growing {
    struct gt_rank_job *job;
    struct gt_rank_clock_edges *edges;
    uint32_t *heap; /* edges with one end reached, the best first */
    size_t heap_count;
    bool *is_reached;
};

static bool is_better(const struct growing *it, uint32_t x, uint32_t y) {
    const struct gt_rank_clock_edge *a = &it->edges->items[x], *b = &it->edges->items[y];
    if (a->by != b->by)
        return a->by < b->by;
    if (a->count != b->count)
        return a->count > b->count;
    return a->low != b->low ? a->low < b->low : a->high < b->high;
}

static void push(struct growing *it, uint32_t edge) {
    size_t at = it->heap_count++;
    for (; at && is_better(it, edge, it->heap[(at - 1) / 2]); at = (at - 1) / 2)
        it->heap[at] = it->heap[(at - 1) / 2];
    it->heap[at] = edge;
}

static uint32_t pop(struct growing *it) {
    uint32_t best = it->heap[0], last = it->heap[--it->heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < it->heap_count; at = child) {
        child += child + 1 < it->heap_count && is_better(it, it->heap[child + 1], it->heap[child]);
        if (!is_better(it, it->heap[child], last))
            break;
        it->heap[at] = it->heap[child];
    }
    it->heap[at] = last;
    return best;
}

static void reach(struct growing *it, uint32_t rank) {
    it->is_reached[rank] = true;
    for (size_t i = it->edges->first_of[rank]; i < it->edges->first_of[rank + 1]; i++)
        push(it, it->edges->of_rank[i]);
}

static void grow_tree(struct growing *it, uint32_t root) {
    struct gt_rank_job *job = it->job;
    job->ranks[root].tree = job->ranks[root].reference = root;
    job->ranks[root].clock_by = GT_CLOCK_REFERENCE;
    reach(it, root);
    while (it->heap_count) {
        const struct gt_rank_clock_edge *edge = &it->edges->items[pop(it)];
        if (it->is_reached[edge->low] && it->is_reached[edge->high])
            continue;
        uint32_t from = it->is_reached[edge->low] ? edge->low : edge->high;
        uint32_t to = from == edge->low ? edge->high : edge->low;
        gt_rank_clock_edges_measure(it->edges, job, edge, from, to);
        job->ranks[to].tree = root;
        reach(it, to);
    }
    job->clock_trees++;
}

static bool grow_trees(struct gt_rank_job *job, struct gt_rank_clock_edges *edges) {
    struct growing it = {.job = job,
                         .edges = edges,
                         .heap = gt_mem_uninitialised(2 * edges->count + 1, sizeof *it.heap),
                         .is_reached = gt_mem_array(job->rank_count, sizeof *it.is_reached)};
    bool ok = it.heap && it.is_reached;
    for (uint32_t r = 0; ok && r < job->rank_count; r++)
        if (!it.is_reached[r])
            grow_tree(&it, r);
    job->issues[GT_RANK_ISSUE_CLOCK_UNCONNECTED] = job->clock_trees ? job->clock_trees - 1 : 0;
    gt_mem_free(it.heap);
    gt_mem_free(it.is_reached);
    return ok;
}

/* ---- what remains ---- */

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void set_floor(struct gt_rank_lane *rank, const int64_t *residuals, size_t count) {
    enum { LEAST_NS = 10000 };
    if (!count)
        return;
    int64_t p95_ns = (int64_t)gt_quantile(residuals, count, 0.95);
    rank->residual_p50_ns = gt_quantile(residuals, count, 0.5);
    rank->floor_ns = p95_ns > LEAST_NS ? p95_ns : LEAST_NS;
}

/* How far each member's end is from the median end, by rank. */
static bool find_residuals(struct gt_rank_job *job) {
    size_t *first = gt_mem_array(job->rank_count + 2, sizeof *first), longest = 0;
    int64_t *residuals = gt_mem_uninitialised(job->member_count, sizeof *residuals);
    for (size_t c = 0; first && c < job->collective_count; c++) {
        const struct gt_rank_collective *collective = &job->collectives[c];
        longest = collective->member_count > longest ? collective->member_count : longest;
        for (size_t m = 0; m < collective->member_count && collective->kind == GT_COMM_KIND_SYNC; m++)
            first[job->members[collective->first_member + m].rank + 2]++;
    }
    for (size_t r = 0; first && r < job->rank_count; r++)
        first[r + 2] += first[r + 1];
    int64_t *ends = gt_mem_uninitialised(2 * longest, sizeof *ends), *sorted = ends ? ends + longest : NULL;
    bool ok = first && residuals && ends;
    for (size_t c = 0; ok && c < job->collective_count; c++) {
        const struct gt_rank_collective *collective = &job->collectives[c];
        const struct gt_rank_member *members = &job->members[collective->first_member];
        if (collective->kind != GT_COMM_KIND_SYNC)
            continue;
        for (size_t m = 0; m < collective->member_count; m++)
            ends[m] = gt_rank_clocks_aligned(job, members[m].rank, gt_rank_job_kernel(job, &members[m])->end_ns);
        memcpy(sorted, ends, collective->member_count * sizeof *ends);
        qsort(sorted, collective->member_count, sizeof *sorted, by_value);
        int64_t median_ns = sorted[(collective->member_count - 1) / 2];
        for (size_t m = 0; m < collective->member_count; m++)
            residuals[first[members[m].rank + 1]++] = ends[m] > median_ns ? ends[m] - median_ns : median_ns - ends[m];
    }
    for (size_t r = 0; ok && r < job->rank_count; r++)
        set_floor(&job->ranks[r], residuals + first[r], first[r + 1] - first[r]);
    gt_mem_free(first);
    gt_mem_free(residuals);
    gt_mem_free(ends);
    return ok;
}

/* ---- collectives on aligned clocks ---- */

/* Whether it seems to end on one rank before it began on another. */
static bool align_collective(const struct gt_rank_job *job, struct gt_rank_collective *collective) {
    const struct gt_rank_member *members = &job->members[collective->first_member];
    int64_t floor_ns = gt_rank_clocks_floor(job, collective);
    int64_t last_start_ns = INT64_MIN, first_start_ns = INT64_MAX, first_end_ns = INT64_MAX;
    uint32_t last = GT_RANK_NONE;
    if (floor_ns == GT_RANK_NO_NS)
        return false;
    for (size_t m = 0; m < collective->member_count; m++) {
        const struct gt_rank_kernel *kernel = gt_rank_job_kernel(job, &members[m]);
        int64_t start_ns = gt_rank_clocks_aligned(job, members[m].rank, kernel->start_ns);
        int64_t end_ns = gt_rank_clocks_aligned(job, members[m].rank, kernel->end_ns);
        last = start_ns > last_start_ns ? members[m].rank : last;
        last_start_ns = start_ns > last_start_ns ? start_ns : last_start_ns;
        first_start_ns = start_ns < first_start_ns ? start_ns : first_start_ns;
        first_end_ns = end_ns < first_end_ns ? end_ns : first_end_ns;
    }
    if (last_start_ns - first_start_ns > floor_ns) {
        collective->aligned_skew_ns = last_start_ns - first_start_ns;
        collective->aligned_last_rank = last;
    }
    return collective->kind == GT_COMM_KIND_SYNC && first_end_ns < last_start_ns - floor_ns;
}

struct aligning {
    struct gt_rank_job *job;
    atomic_size_t disordered;
};

static void align_some(void *context, size_t first, size_t end) {
    struct aligning *it = context;
    size_t disordered = 0;
    for (size_t c = first; c < end; c++)
        disordered += align_collective(it->job, &it->job->collectives[c]);
    atomic_fetch_add(&it->disordered, disordered);
}

bool gt_rank_clocks_waits(const struct gt_rank_job *job, const struct gt_rank_collective *collective,
                          int64_t *waits_ns) {
    const struct gt_rank_member *members = &job->members[collective->first_member];
    int64_t last_ns = INT64_MIN;
    bool is_known = gt_rank_clocks_floor(job, collective) != GT_RANK_NO_NS;
    for (size_t m = 0; m < collective->member_count; m++) { /* starts at first */
        waits_ns[m] = is_known
                          ? gt_rank_clocks_aligned(job, members[m].rank, gt_rank_job_kernel(job, &members[m])->start_ns)
                          : GT_RANK_NO_NS;
        last_ns = waits_ns[m] > last_ns ? waits_ns[m] : last_ns;
    }
    for (size_t m = 0; m < collective->member_count && is_known; m++) {
        int64_t early_ns = last_ns - waits_ns[m], length_ns = gt_rank_job_length(job, &members[m]);
        waits_ns[m] = early_ns < length_ns ? early_ns : length_ns;
    }
    return is_known;
}

bool gt_rank_clocks_align(struct gt_rank_job *job) {
    struct gt_rank_clock_edges edges = {0};
    for (size_t r = 0; r < job->rank_count; r++) {
        job->ranks[r].floor_ns = GT_RANK_NO_NS;
        job->ranks[r].residual_p50_ns = NAN;
    }
    bool ok = gt_rank_clock_edges_init(&edges, job) && grow_trees(job, &edges) && find_residuals(job);
    struct aligning aligning = {.job = job};
    atomic_init(&aligning.disordered, 0);
    if (ok)
        gt_rank_job_share(job, job->collective_count, align_some, &aligning);
    job->issues[GT_RANK_ISSUE_COLLECTIVE_ORDER] += atomic_load(&aligning.disordered);
    gt_rank_clock_edges_release(&edges);
    return ok;
}
