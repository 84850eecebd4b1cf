/* Levels ranks: pieces of all ranks come in, for each what it would be if the rank were like the others goes out. */
#include <stdlib.h>

#include "base/mem.h"
#include "events/comms.h"
#include "ranks/rank_join.h"
#include "ranks/rank_lanes.h"

/* The pieces of a rank in a step. They need not be next to each other where windows have one number. */
struct share {
    uint32_t rank, step;
    size_t first, end; /* of pieces */
    uint64_t shape;    /* equal for ranks that do the same */
    int64_t sum_ns;
};

static uint64_t mixed(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 29);
}

/* The event that ends a piece. Those who send and those who receive do different work around a message. */
static uint64_t mixed_event(uint64_t hash, const struct gt_rank_job *job, const struct gt_rank_lane_events *lane,
                            uint32_t rank, size_t piece) {
    if (piece >= lane->count)
        return mixed(hash, UINT64_MAX);
    const struct gt_rank_event *event = &lane->events[piece];
    const struct gt_rank_member *member = &job->members[job->ranks[rank].kernel_member[event->kernel]];
    const struct gt_rank_collective *collective = &job->collectives[member->collective];
    bool is_sent = collective->kind == GT_COMM_KIND_MESSAGE && collective->src == rank;
    return mixed(mixed(mixed(mixed(hash, event->is_end), collective->op), is_sent), collective->bytes);
}

static size_t list_shares(const struct gt_rank_lanes *lanes, const struct gt_rank_job *job, struct share *shares) {
    size_t count = 0;
    for (uint32_t r = 0; r < lanes->count; r++) {
        const struct gt_rank_lane_events *lane = &lanes->items[r];
        for (size_t i = 0, end; i <= lane->count; i = end) {
            struct share share = {r, lane->steps[i], i, 0, 0, 0};
            for (end = i; end <= lane->count && lane->steps[end] == share.step; end++) {
                share.shape = mixed_event(share.shape, job, lane, r, end);
                share.sum_ns += lane->pieces[end];
            }
            share.end = end;
            if (share.step != GT_RANK_NONE && shares)
                shares[count] = share;
            count += share.step != GT_RANK_NONE;
        }
    }
    return count;
}

static int by_shape(const void *a, const void *b) {
    const struct share *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    size_t x_count = x->end - x->first, y_count = y->end - y->first;
    if (x_count != y_count)
        return x_count < y_count ? -1 : 1;
    if (x->shape != y->shape)
        return x->shape < y->shape ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static bool is_peer(const struct share *x, const struct share *y) {
    return x->step == y->step && x->shape == y->shape && x->end - x->first == y->end - y->first;
}

static void level_peers(struct gt_rank_lanes *lanes, const struct share *peers, size_t count, int64_t *scratch) {
    for (size_t i = 0; i < peers->end - peers->first; i++) {
        for (size_t p = 0; p < count; p++)
            scratch[p] = lanes->items[peers[p].rank].pieces[peers[p].first + i];
        int64_t median_ns = gt_rank_join_select(scratch, count, (count - 1) / 2);
        for (size_t p = 0; p < count; p++)
            lanes->items[peers[p].rank].level[peers[p].first + i] = median_ns;
    }
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The largest level at which the pieces, cut to it, sum to no more than the limit. sorted: the pieces, ascending. */
static int64_t level_of(const int64_t *sorted, size_t count, int64_t limit_ns) {
    int64_t below_ns = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t rest = (int64_t)(count - i);
        if (sorted[i] > (limit_ns - below_ns) / rest)
            return (limit_ns - below_ns) / rest;
        below_ns += sorted[i];
    }
    return INT64_MAX;
}

static bool level_alone(struct gt_rank_lane_events *lane, const struct share *share, int64_t limit_ns) {
    size_t count = share->end - share->first;
    int64_t *sorted = gt_mem_uninitialised(count, sizeof *sorted);
    if (!sorted)
        return false;
    memcpy(sorted, lane->pieces + share->first, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    int64_t level_ns = level_of(sorted, count, limit_ns);
    for (size_t i = share->first; i < share->end; i++)
        lane->level[i] = lane->pieces[i] < level_ns ? lane->pieces[i] : level_ns;
    gt_mem_free(sorted);
    return true;
}

/* All shares of one step. */
static bool level_step(struct gt_rank_lanes *lanes, const struct share *shares, size_t count, int64_t *scratch) {
    bool ok = true;
    for (size_t i = 0; i < count; i++)
        scratch[i] = shares[i].sum_ns;
    int64_t median_ns = gt_rank_join_select(scratch, count, (count - 1) / 2);
    for (size_t i = 0, end; ok && i < count; i = end) {
        for (end = i + 1; end < count && is_peer(&shares[i], &shares[end]); end++)
            continue;
        if (end - i > 1)
            level_peers(lanes, shares + i, end - i, scratch);
        else
            ok = level_alone(&lanes->items[shares[i].rank], &shares[i], median_ns);
    }
    return ok;
}

bool gt_rank_lanes_level(struct gt_rank_lanes *lanes, const struct gt_rank_job *job) {
    size_t count = list_shares(lanes, job, NULL);
    struct share *shares = gt_mem_uninitialised(count, sizeof *shares);
    int64_t *scratch = gt_mem_uninitialised(count, sizeof *scratch);
    bool ok = shares && scratch;
    for (size_t r = 0; ok && r < lanes->count; r++) {
        struct gt_rank_lane_events *lane = &lanes->items[r];
        lane->level = gt_mem_uninitialised(lane->count + 1, sizeof *lane->level);
        ok = lane->level != NULL;
        if (ok)
            memcpy(lane->level, lane->pieces, (lane->count + 1) * sizeof *lane->level);
    }
    if (ok) {
        list_shares(lanes, job, shares);
        qsort(shares, count, sizeof *shares, by_shape);
    }
    for (size_t i = 0, end; ok && i < count; i = end) {
        for (end = i + 1; end < count && shares[end].step == shares[i].step; end++)
            continue;
        ok = level_step(lanes, shares + i, end - i, scratch);
    }
    gt_mem_free(shares);
    gt_mem_free(scratch);
    return ok;
}
