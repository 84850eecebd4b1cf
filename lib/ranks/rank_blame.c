/* Charges waits in rounds: what a delayer did itself is charged to it; what it waited for elsewhere is a cost there, in
   the next round. */
#include "ranks/rank_blame.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "events/comms.h"
#include "ranks/rank_links.h"
#include "ranks/rank_tiles.h"

enum { ROUNDS_MAX = 10000 };

/* What all threads share. Costs and charges are sums of whole numbers, so nothing depends on who adds first. */
struct rounds {
    struct gt_rank_job *job;
    int64_t *cost, *next;  /* by member; the second is added to by all */
    uint32_t *due, *later; /* members with a cost */
    size_t due_count;
    atomic_size_t later_count;
    atomic_bool failed;
};

/* What one thread works with. */
struct charging {
    struct rounds *rounds;
    const struct gt_rank_job *job;
    int64_t *weights, *shares; /* for the kernels of a delayer */
    uint32_t *kernels;
    size_t room;
    bool failed;
};

void gt_rank_blame_divide(int64_t amount, const int64_t *weights, size_t count, int64_t *shares) {
    unsigned __int128 sum = 0;
    size_t largest = 0;
    int64_t left = amount;
    for (size_t i = 0; i < count; i++) {
        sum += (uint64_t)weights[i];
        largest = weights[i] > weights[largest] ? i : largest;
    }
    for (size_t i = 0; i < count; i++) {
        shares[i] = sum ? (int64_t)((unsigned __int128)(uint64_t)amount * (uint64_t)weights[i] / sum) : 0;
        left -= shares[i];
    }
    if (count)
        shares[largest] += left;
}

static void charge(struct charging *it, uint32_t rank, size_t reason, const struct gt_rank_collective *c, int64_t ns) {
    const struct gt_rank_job *job = it->job;
    size_t step = c->has_step && job->step_count ? gt_rank_job_step(job, c->step) : job->step_count;
    __atomic_fetch_add(gt_rank_job_charge(job, rank == GT_RANK_NONE ? job->rank_count : rank, reason, step), ns,
                       __ATOMIC_RELAXED);
}

/* Costs are above 0: only the first to add one finds 0. */
static void pass_on(struct rounds *rounds, uint32_t member, int64_t ns) {
    if (ns != 0 && __atomic_fetch_add(&rounds->next[member], ns, __ATOMIC_RELAXED) == 0)
        rounds->later[atomic_fetch_add(&rounds->later_count, 1)] = member;
}

/* ---- what nobody's lateness explains ---- */

static void charge_rest(struct charging *it, const struct gt_rank_collective *c, const struct gt_rank_member *n,
                        int64_t rest_ns) {
    const struct gt_rank_job *job = it->job;
    uint32_t there = gt_rank_job_member(job, n->before, n->rank);
    uint32_t last = gt_rank_job_member(job, n->before, c->last_rank);
    int64_t of_bytes = 0;
    if (there != GT_RANK_NONE && last != GT_RANK_NONE && last != there &&
        job->collectives[n->before].op == GT_COMM_all_to_all) {
        int64_t own = gt_rank_job_load(job, &job->members[there]), other = gt_rank_job_load(job, &job->members[last]);
        if (own >= 0 && other > own)
            of_bytes = (int64_t)((__int128)rest_ns * (other - own) / other);
    }
    if (of_bytes)
        charge(it, c->last_rank, GT_REASON_BYTES, c, of_bytes);
    charge(it, GT_RANK_NONE, GT_REASON_SPREAD, c, rest_ns - of_bytes);
}

/* ---- what the delayer did ---- */

static bool make_room(struct charging *it, size_t count) {
    if (count <= it->room)
        return true;
    size_t room = 2 * count;
    int64_t *weights = gt_mem_realloc(it->weights, room * sizeof *weights);
    it->weights = weights ? weights : it->weights;
    int64_t *shares = gt_mem_realloc(it->shares, room * sizeof *shares);
    it->shares = shares ? shares : it->shares;
    uint32_t *kernels = gt_mem_realloc(it->kernels, room * sizeof *kernels);
    it->kernels = kernels ? kernels : it->kernels;
    it->failed |= !weights || !shares || !kernels;
    it->room = it->failed ? it->room : room;
    return !it->failed;
}

/* The kernels that waited between two moments, in order of time, with how long. */
static size_t list_waiting(struct charging *it, const struct gt_rank_lane *rank, int64_t start_ns, int64_t end_ns) {
    size_t count = 0;
    for (size_t t = gt_rank_tiles_after(rank, start_ns); t < rank->tile_count; t++) {
        const struct gt_rank_tile *tile = &rank->tiles[t];
        if (tile->start_ns >= end_ns || !make_room(it, count + 1))
            break;
        int64_t from_ns = tile->start_ns > start_ns ? tile->start_ns : start_ns;
        int64_t tile_end_ns = gt_rank_tiles_end_ns(tile), until_ns = tile_end_ns < end_ns ? tile_end_ns : end_ns;
        if (count && it->kernels[count - 1] == tile->kernel) { /* tiles of a kernel follow each other */
            it->weights[count - 1] += until_ns - from_ns;
            continue;
        }
        it->kernels[count] = tile->kernel;
        it->weights[count++] = until_ns - from_ns;
    }
    return count;
}

static void pass_wait(struct charging *it, const struct gt_rank_lane *rank, int64_t start_ns, int64_t end_ns,
                      int64_t ns) {
    size_t count = list_waiting(it, rank, start_ns, end_ns);
    if (it->failed || count == 0)
        return;
    gt_rank_blame_divide(ns, it->weights, count, it->shares);
    for (size_t i = 0; i < count; i++)
        pass_on(it->rounds, rank->kernel_member[it->kernels[i]], it->shares[i]);
}

static void charge_delayer(struct charging *it, const struct gt_rank_collective *c, const struct gt_rank_member *n,
                           int64_t charged_ns) {
    const struct gt_rank_job *job = it->job;
    uint32_t collective = n->collective;
    const struct gt_rank_lane *delayer = &job->ranks[n->delayer], *waiting = &job->ranks[n->rank];
    const struct gt_rank_member *late = &job->members[gt_rank_job_member(job, collective, n->delayer)];
    const struct gt_rank_kernel *from = gt_rank_job_kernel(
                                    job, &job->members[gt_rank_job_member(job, n->before, n->delayer)]),
                                *to = gt_rank_job_kernel(job, late);
    const struct gt_rank_kernel *own_from =
                                    gt_rank_job_kernel(job, &job->members[gt_rank_job_member(job, n->before, n->rank)]),
                                *own_to = gt_rank_job_kernel(job, n);
    int64_t parts[GT_PART_COUNT], own[GT_PART_COUNT], shares[GT_PART_COUNT];
    gt_rank_tiles_parts(delayer, from->end_point, to->start_point, parts);
    gt_rank_tiles_parts(waiting, own_from->end_point, own_to->start_point, own);
    for (int part = 0; part < GT_PART_COUNT; part++)
        parts[part] = parts[part] > own[part] ? parts[part] - own[part] : 0;
    gt_rank_blame_divide(charged_ns, parts, GT_PART_COUNT, shares);
    for (size_t part = 0; part < GT_PART_COUNT; part++)
        if (part != GT_PART_WAIT && shares[part])
            charge(it, n->delayer, part, c, shares[part]);
    if (shares[GT_PART_WAIT])
        pass_wait(it, delayer, from->end_ns, to->start_ns, shares[GT_PART_WAIT]);
}

static void settle(struct charging *it, uint32_t number, int64_t cost_ns) {
    const struct gt_rank_member *n = &it->job->members[number];
    const struct gt_rank_collective *c = &it->job->collectives[n->collective];
    if (n->before == GT_RANK_NONE || n->wait_ns <= 0) {
        charge(it, GT_RANK_NONE, GT_REASON_WINDOW, c, cost_ns);
        return;
    }
    int64_t charged_ns = (int64_t)((__int128)cost_ns * gt_rank_links_late(it->job, n) / n->wait_ns);
    if (cost_ns > charged_ns)
        charge_rest(it, c, n, cost_ns - charged_ns);
    if (charged_ns)
        charge_delayer(it, c, n, charged_ns);
}

/* ---- rounds ---- */

static void swap_rounds(struct rounds *it) {
    int64_t *cost = it->cost;
    uint32_t *due = it->due;
    it->cost = it->next;
    it->next = cost;
    it->due = it->later;
    it->later = due;
    it->due_count = atomic_load(&it->later_count);
    atomic_store(&it->later_count, 0);
}

static void settle_some(void *context, size_t first, size_t end) {
    struct rounds *rounds = context;
    struct charging it = {.rounds = rounds, .job = rounds->job};
    for (size_t i = first; i < end && !it.failed; i++) {
        int64_t cost_ns = rounds->cost[rounds->due[i]];
        rounds->cost[rounds->due[i]] = 0;
        settle(&it, rounds->due[i], cost_ns);
    }
    if (it.failed)
        atomic_store(&rounds->failed, true);
    gt_mem_free(it.weights);
    gt_mem_free(it.shares);
    gt_mem_free(it.kernels);
}

static void run_rounds(struct rounds *it) {
    struct gt_rank_job *job = it->job;
    struct charging rest = {.rounds = it, .job = job};
    for (size_t r = 0; r < job->rank_count; r++)
        for (size_t t = 0; t < job->ranks[r].tile_count; t++) {
            const struct gt_rank_tile *tile = &job->ranks[r].tiles[t];
            pass_on(it, job->ranks[r].kernel_member[tile->kernel], gt_rank_tiles_end_ns(tile) - tile->start_ns);
        }
    swap_rounds(it);
    for (; it->due_count && job->rounds < ROUNDS_MAX && !atomic_load(&it->failed); job->rounds++) {
        gt_rank_job_share(job, it->due_count, settle_some, it);
        swap_rounds(it);
    }
    for (size_t i = 0; i < it->due_count; i++)
        charge(&rest, GT_RANK_NONE, GT_REASON_UNRESOLVED, &job->collectives[job->members[it->due[i]].collective],
               it->cost[it->due[i]]);
}

/* Guilt: what ranks did themselves, and bytes. */
static void sum_guilt(struct gt_rank_job *job) {
    for (size_t r = 0; r < job->rank_count; r++)
        for (size_t reason = 0; reason <= GT_REASON_BYTES; reason++) {
            bool is_guilt = reason == GT_REASON_BYTES || gt_rank_summary_is_own((enum gt_rank_part)reason);
            for (size_t s = 0; s <= job->step_count && is_guilt; s++) {
                int64_t ns = *gt_rank_job_charge(job, r, reason, s);
                job->ranks[r].charged_ns += ns;
                job->charged_ns += ns;
                if (s < job->step_count)
                    job->windows[s * job->rank_count + r].charged_ns += ns;
            }
        }
}

bool gt_rank_blame_charge(struct gt_rank_job *job) {
    struct rounds it = {.job = job,
                        .cost = gt_mem_array(job->member_count, sizeof *it.cost),
                        .next = gt_mem_array(job->member_count, sizeof *it.next),
                        .due = gt_mem_uninitialised(job->member_count, sizeof *it.due),
                        .later = gt_mem_uninitialised(job->member_count, sizeof *it.later)};
    atomic_init(&it.later_count, 0);
    job->charges = gt_arena_array(&job->arena, (job->rank_count + 1) * GT_REASON_COUNT * (job->step_count + 1),
                                  sizeof *job->charges);
    atomic_init(&it.failed, !it.cost || !it.next || !it.due || !it.later || !job->charges);
    if (!atomic_load(&it.failed)) {
        run_rounds(&it);
        sum_guilt(job);
    }
    gt_mem_free(it.cost);
    gt_mem_free(it.next);
    gt_mem_free(it.due);
    gt_mem_free(it.later);
    return !atomic_load(&it.failed);
}
