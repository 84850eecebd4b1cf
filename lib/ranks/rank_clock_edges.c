/* Finds pairs of ranks that were together, and measures how far apart their clocks are. */
#include "ranks/rank_clock_edges.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/ns.h"
#include "events/comms.h"
#include "ranks/rank_join.h"

/* ---- samples of common ends ---- */

static int by_time_of_higher(const void *a, const void *b) {
    const struct gt_rank_clock_sample *x = a, *y = b;
    if (x->high_ns != y->high_ns)
        return x->high_ns < y->high_ns ? -1 : 1;
    return (x->low_ns > y->low_ns) - (x->low_ns < y->low_ns);
}

static int by_ranks(const void *a, const void *b) {
    const struct gt_rank_clock_edge *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return (x->high > y->high) - (x->high < y->high);
}

/* Pairs of ranks, in their order, with how many samples they have. edge_of: (low, high) -> place. */
static bool list_pairs(struct gt_rank_clock_edges *edges, const struct gt_rank_job *job, struct gt_map *edge_of) {
    size_t capacity = 0;
    for (size_t c = 0; c < job->collective_count; c++) {
        const struct gt_rank_collective *collective = &job->collectives[c];
        const struct gt_rank_member *members = &job->members[collective->first_member];
        for (size_t m = 1; m < collective->member_count && collective->kind == GT_COMM_KIND_SYNC; m++) {
            struct gt_rank_clock_edge *items = gt_mem_room(edges->items, edges->count, &capacity, sizeof *items);
            if (!items)
                return false;
            edges->items = items;
            uint32_t place = gt_map_put_if_new(edge_of, members[0].rank, members[m].rank, (uint32_t)edges->count);
            if (edge_of->failed)
                return false;
            if (place == edges->count)
                items[edges->count++] =
                    (struct gt_rank_clock_edge){.low = members[0].rank, .high = members[m].rank, .by = GT_CLOCK_ENDS};
            items[place].count++;
        }
    }
    if (edges->count)
        qsort(edges->items, edges->count, sizeof *edges->items, by_ranks);
    for (size_t e = 0; e < edges->count; e++)
        gt_map_put(edge_of, edges->items[e].low, edges->items[e].high, (uint32_t)e);
    return true;
}

static void fill_samples(struct gt_rank_clock_edges *edges, const struct gt_rank_job *job,
                         const struct gt_map *edge_of) {
    for (size_t e = 0; e < edges->count; e++)
        edges->items[e].count = 0;
    for (size_t c = 0; c < job->collective_count; c++) {
        const struct gt_rank_collective *collective = &job->collectives[c];
        const struct gt_rank_member *members = &job->members[collective->first_member];
        int64_t low_ns = gt_rank_job_kernel(job, &members[0])->end_ns;
        for (size_t m = 1; m < collective->member_count && collective->kind == GT_COMM_KIND_SYNC; m++) {
            struct gt_rank_clock_edge *edge = &edges->items[gt_map_get(edge_of, members[0].rank, members[m].rank)];
            edges->samples[edge->first + edge->count++] =
                (struct gt_rank_clock_sample){low_ns, gt_rank_job_kernel(job, &members[m])->end_ns};
        }
    }
    for (size_t e = 0; e < edges->count; e++)
        qsort(edges->samples + edges->items[e].first, edges->items[e].count, sizeof *edges->samples, by_time_of_higher);
}

static bool take_samples(struct gt_rank_clock_edges *edges, const struct gt_rank_job *job) {
    struct gt_map edge_of = {0};
    size_t count = 0, most = 0;
    bool ok = list_pairs(edges, job, &edge_of);
    for (size_t e = 0; e < edges->count; e++) {
        edges->items[e].first = count;
        count += edges->items[e].count;
        most = edges->items[e].count > most ? edges->items[e].count : most;
    }
    edges->samples = gt_mem_uninitialised(count, sizeof *edges->samples);
    edges->scratch = gt_mem_uninitialised(3 * most, sizeof *edges->scratch);
    ok = ok && edges->samples && edges->scratch;
    if (ok)
        fill_samples(edges, job, &edge_of);
    gt_map_release(&edge_of);
    return ok;
}

/* ---- messages ---- */

/* A message between two ranks: how much later the receiver's clock shows its end. */
struct passage {
    uint32_t low, high;
    bool is_up; /* from low to high */
    int64_t took_ns;
};

static int by_ends(const void *a, const void *b) {
    const struct passage *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return (x->high > y->high) - (x->high < y->high);
}

static struct passage *new_passages(const struct gt_rank_job *job, size_t *count) {
    struct passage *list = gt_mem_uninitialised(job->collective_count, sizeof *list);
    *count = 0;
    for (size_t c = 0; list && c < job->collective_count; c++) {
        const struct gt_rank_collective *it = &job->collectives[c];
        const struct gt_rank_member *members = &job->members[it->first_member];
        if (it->kind != GT_COMM_KIND_MESSAGE || it->member_count != 2)
            continue;
        bool is_up = it->src < it->dst;
        int64_t low_ns = gt_rank_job_kernel(job, &members[0])->end_ns;
        int64_t high_ns = gt_rank_job_kernel(job, &members[1])->end_ns;
        list[(*count)++] =
            (struct passage){members[0].rank, members[1].rank, is_up, is_up ? high_ns - low_ns : low_ns - high_ns};
    }
    if (list && *count)
        qsort(list, *count, sizeof *list, by_ends);
    return list;
}

static struct gt_rank_clock_edge edge_of_passages(const struct passage *list, size_t count) {
    struct gt_rank_clock_edge edge = {.low = list->low, .high = list->high, .by = GT_CLOCK_P2P, .count = count};
    edge.there_ns = edge.back_ns = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        int64_t *least = list[i].is_up ? &edge.there_ns : &edge.back_ns;
        *least = list[i].took_ns < *least ? list[i].took_ns : *least;
    }
    return edge;
}

/* ---- edges ---- */

/* Of messages both ways; there is room for them. */
static void add_edges(struct gt_rank_clock_edges *edges, const struct passage *passages, size_t passage_count) {
    for (size_t i = 0, end; i < passage_count; i = end) {
        for (end = i + 1; end < passage_count && by_ends(&passages[i], &passages[end]) == 0; end++)
            continue;
        struct gt_rank_clock_edge edge = edge_of_passages(passages + i, end - i);
        if (edge.there_ns != INT64_MAX && edge.back_ns != INT64_MAX)
            edges->items[edges->count++] = edge;
    }
}

static size_t count_pairs(const struct passage *passages, size_t count) {
    size_t pairs = count > 0;
    for (size_t i = 1; i < count; i++)
        pairs += by_ends(&passages[i - 1], &passages[i]) != 0;
    return pairs;
}

static bool index_edges(struct gt_rank_clock_edges *edges, size_t rank_count) {
    edges->first_of = gt_mem_array(rank_count + 2, sizeof *edges->first_of);
    edges->of_rank = gt_mem_uninitialised(2 * edges->count, sizeof *edges->of_rank);
    if (!edges->first_of || !edges->of_rank)
        return false;
    for (size_t e = 0; e < edges->count; e++) {
        edges->first_of[edges->items[e].low + 2]++;
        edges->first_of[edges->items[e].high + 2]++;
    }
    for (size_t r = 0; r < rank_count; r++)
        edges->first_of[r + 2] += edges->first_of[r + 1];
    for (uint32_t e = 0; e < edges->count; e++) {
        edges->of_rank[edges->first_of[edges->items[e].low + 1]++] = e;
        edges->of_rank[edges->first_of[edges->items[e].high + 1]++] = e;
    }
    return true;
}

bool gt_rank_clock_edges_init(struct gt_rank_clock_edges *edges, const struct gt_rank_job *job) {
    size_t passage_count = 0;
    if (!take_samples(edges, job))
        return false;
    struct passage *passages = new_passages(job, &passage_count);
    size_t most = edges->count + (passages ? count_pairs(passages, passage_count) : 0);
    struct gt_rank_clock_edge *items = gt_mem_realloc(edges->items, (most + 1) * sizeof *items);
    bool ok = passages && items;
    edges->items = items ? items : edges->items;
    if (ok)
        add_edges(edges, passages, passage_count);
    gt_mem_free(passages);
    return ok && index_edges(edges, job->rank_count);
}

void gt_rank_clock_edges_release(struct gt_rank_clock_edges *edges) {
    gt_mem_free(edges->items);
    gt_mem_free(edges->samples);
    gt_mem_free(edges->of_rank);
    gt_mem_free(edges->first_of);
    gt_mem_free(edges->scratch);
    *edges = (struct gt_rank_clock_edges){0};
}

/* ---- offset and drift ---- */

/* Differences of clocks in order of time of the rank that is measured. */
struct differences {
    int64_t *times, *offsets, *scratch;
    size_t count;
};

static int64_t median_of(const struct differences *it, const int64_t *values, size_t first, size_t end) {
    memcpy(it->scratch, values + first, (end - first) * sizeof *values);
    return gt_rank_join_select(it->scratch, end - first, (end - first - 1) / 2);
}

static int64_t median_off(const struct differences *it, size_t first, size_t end, int64_t median) {
    for (size_t i = first; i < end; i++)
        it->scratch[i - first] = it->offsets[i] > median ? it->offsets[i] - median : median - it->offsets[i];
    return gt_rank_join_select(it->scratch, end - first, (end - first - 1) / 2);
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* false: there is none above the noise, or one that no clock has. */
static bool find_drift(const struct differences *it, double *drift, int64_t *offset_ns) {
    enum { LEAST = 8 };
    const int64_t second_ns = 1000000000;
    const double most = 1e-3; /* oscillators are off by 1e-4 at the most */
    int64_t first_ns = it->times[0], last_ns = it->times[it->count - 1],
            middle_ns = first_ns + (last_ns - first_ns) / 2;
    size_t cut = 0;
    while (cut < it->count && it->times[cut] <= middle_ns)
        cut++;
    if (cut < LEAST || it->count - cut < LEAST)
        return false;
    int64_t t1 = median_of(it, it->times, 0, cut), t2 = median_of(it, it->times, cut, it->count);
    int64_t d1 = median_of(it, it->offsets, 0, cut), d2 = median_of(it, it->offsets, cut, it->count);
    int64_t noise = larger(median_off(it, 0, cut, d1), median_off(it, cut, it->count, d2));
    if (t2 - t1 < second_ns || larger(d2 - d1, d1 - d2) <= 2 * noise)
        return false;
    *drift = (double)(d2 - d1) / (double)(t2 - t1);
    if (fabs(*drift) > most) {
        *drift = 0;
        return false;
    }
    *offset_ns = d1 - (int64_t)floor((double)(t1 - first_ns) * *drift);
    return true;
}

static int by_time(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    if (x[0] != y[0])
        return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

/* Samples are in order of time of the higher rank; where the lower one is measured they are put in its order. */
static struct differences take_differences(struct gt_rank_clock_edges *edges, const struct gt_rank_clock_edge *edge,
                                           bool is_up) {
    struct differences it = {edges->scratch, edges->scratch + edge->count, edges->scratch + 2 * edge->count,
                             edge->count};
    int64_t *pairs = edges->scratch + edge->count; /* (time, offset) */
    for (size_t i = 0; i < edge->count; i++) {
        const struct gt_rank_clock_sample *sample = &edges->samples[edge->first + i];
        pairs[2 * i] = is_up ? sample->high_ns : sample->low_ns;
        pairs[2 * i + 1] = is_up ? sample->high_ns - sample->low_ns : sample->low_ns - sample->high_ns;
    }
    qsort(pairs, edge->count, 2 * sizeof *pairs, by_time);
    for (size_t i = 0; i < edge->count; i++)
        it.times[i] = pairs[2 * i];
    for (size_t i = 0; i < edge->count; i++)
        it.offsets[i] = pairs[2 * i + 1]; /* never before it is read: i <= 2 * i + 1 */
    return it;
}

/* Clocks may be so far apart that the sum of two differences does not fit. */
static int64_t half_down(__int128 value) {
    return gt_ns_of_sum(value >= 0 ? value / 2 : -((1 - value) / 2));
}

void gt_rank_clock_edges_measure(struct gt_rank_clock_edges *edges, struct gt_rank_job *job,
                                 const struct gt_rank_clock_edge *edge, uint32_t from, uint32_t to) {
    struct gt_rank_lane *lane = &job->ranks[to];
    bool is_up = from == edge->low;
    lane->reference = from;
    lane->clock_by = edge->by;
    if (edge->by == GT_CLOCK_P2P) {
        int64_t there_ns = is_up ? edge->there_ns : edge->back_ns, back_ns = is_up ? edge->back_ns : edge->there_ns;
        lane->offset_ns = half_down((__int128)there_ns - back_ns);
        lane->floor_ns = -half_down(-((__int128)there_ns + back_ns));
        return;
    }
    struct differences it = take_differences(edges, edge, is_up);
    lane->t0_ns = it.times[0];
    if (!find_drift(&it, &lane->drift, &lane->offset_ns))
        lane->offset_ns = median_of(&it, it.offsets, 0, it.count);
}
