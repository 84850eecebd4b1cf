/* Tiles a rank's span: waits of kernels come in, the exposed time in which nothing but waiting happened goes out. An
   instant in which any kernel moves data is transfer; of several that wait, the one that began first does. */
#include "ranks/rank_tiles.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ranks/rank_sums.h"

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t wait_of(const struct gt_rank_job *job, const struct gt_rank_lane *rank, size_t kernel) {
    uint32_t member = rank->kernel_member[kernel];
    return member == GT_RANK_NONE ? 0 : job->members[member].wait_ns;
}

/* ---- tiles ---- */

static int by_start(const void *a, const void *b) {
    const struct gt_interval *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Times in which a kernel moves data, merged. */
static bool find_transfers(const struct gt_rank_job *job, const struct gt_rank_lane *rank,
                           struct gt_intervals *transfers) {
    const struct gt_rank_summary *summary = rank->summary;
    struct gt_interval *list = gt_mem_uninitialised(summary->kernels_count, sizeof *list);
    if (!list)
        return false;
    for (size_t k = 0; k < summary->kernels_count; k++)
        list[k] =
            (struct gt_interval){summary->kernels[k].start_ns + wait_of(job, rank, k), summary->kernels[k].end_ns};
    qsort(list, summary->kernels_count, sizeof *list, by_start);
    for (size_t k = 0; k < summary->kernels_count; k++)
        gt_intervals_add(transfers, list[k].start_ns, list[k].end_ns);
    gt_mem_free(list);
    return !transfers->failed;
}

struct tiling {
    struct gt_rank_job *job;
    struct gt_rank_lane *rank;
    struct gt_intervals transfers, exposed; /* moving data, and without compute */
    size_t next_exposed, next_transfer;     /* the first that may still matter */
    size_t capacity;
    int64_t sum_ns;
    bool failed;
};

static void add_tile(struct tiling *it, int64_t start_ns, int64_t end_ns, uint32_t kernel) {
    struct gt_rank_lane *rank = it->rank;
    if (end_ns <= start_ns)
        return;
    struct gt_rank_tile *tiles = gt_mem_room(rank->tiles, rank->tile_count, &it->capacity, sizeof *tiles);
    it->failed |= !tiles;
    if (!tiles)
        return;
    rank->tiles = tiles;
    tiles[rank->tile_count++] = (struct gt_rank_tile){start_ns, it->sum_ns, kernel, 0};
    it->sum_ns += end_ns - start_ns;
    if (it->job->exposed_waits_ns)
        it->job->exposed_waits_ns[rank->kernel_member[kernel]] += end_ns - start_ns;
}

/* What is left of [start, end) without transfers. */
static void add_without_transfers(struct tiling *it, int64_t start_ns, int64_t end_ns, uint32_t kernel) {
    const struct gt_intervals *transfers = &it->transfers;
    while (it->next_transfer < transfers->count && transfers->items[it->next_transfer].end_ns <= start_ns)
        it->next_transfer++;
    for (size_t t = it->next_transfer; start_ns < end_ns && t < transfers->count; t++) {
        const struct gt_interval *transfer = &transfers->items[t];
        if (transfer->start_ns >= end_ns)
            break;
        add_tile(it, start_ns, earlier(transfer->start_ns, end_ns), kernel);
        start_ns = later(start_ns, transfer->end_ns);
    }
    add_tile(it, start_ns, end_ns, kernel);
}

/* The part of a wait that no kernel before it has, without compute. */
static void add_wait(struct tiling *it, int64_t start_ns, int64_t end_ns, uint32_t kernel) {
    const struct gt_intervals *exposed = &it->exposed;
    while (it->next_exposed < exposed->count && exposed->items[it->next_exposed].end_ns <= start_ns)
        it->next_exposed++;
    for (size_t e = it->next_exposed; e < exposed->count && exposed->items[e].start_ns < end_ns; e++)
        add_without_transfers(it, later(start_ns, exposed->items[e].start_ns),
                              earlier(end_ns, exposed->items[e].end_ns), kernel);
}

/* No more room than they need, with the one after the last. */
static bool end_tiles(struct tiling *it) {
    struct gt_rank_lane *rank = it->rank;
    struct gt_rank_tile *tiles = gt_mem_realloc(rank->tiles, (rank->tile_count + 1) * sizeof *tiles);
    if (!tiles)
        return false;
    rank->tiles = tiles;
    tiles[rank->tile_count] = (struct gt_rank_tile){INT64_MAX, it->sum_ns, GT_RANK_NONE, 0};
    return true;
}

static bool tile_rank(struct gt_rank_job *job, struct gt_rank_lane *rank) {
    const struct gt_rank_summary *summary = rank->summary;
    struct tiling it = {.job = job, .rank = rank};
    int64_t reached_ns = summary->head.first_ns;
    bool ok = find_transfers(job, rank, &it.transfers) && gt_rank_sums_list_exposed(summary, &it.exposed);
    for (uint32_t k = 0; ok && k < summary->kernels_count; k++) {
        int64_t start_ns = summary->kernels[k].start_ns, end_ns = start_ns + wait_of(job, rank, k);
        if (end_ns > reached_ns)
            add_wait(&it, later(start_ns, reached_ns), end_ns, k);
        reached_ns = later(reached_ns, end_ns);
    }
    ok = ok && !it.failed && end_tiles(&it);
    if (ok && summary->head.points)
        gt_rank_tiles_parts(rank, 0, (uint32_t)summary->head.points - 1, rank->ns);
    gt_intervals_release(&it.transfers);
    gt_intervals_release(&it.exposed);
    return ok;
}

/* ---- sums ---- */

size_t gt_rank_tiles_after(const struct gt_rank_lane *rank, int64_t time_ns) {
    size_t low = 0, high = rank->tile_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (gt_rank_tiles_end_ns(&rank->tiles[middle]) <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* From the first op to a moment. */
static int64_t wait_until(const struct gt_rank_lane *rank, int64_t time_ns) {
    const struct gt_rank_tile *tile = &rank->tiles[gt_rank_tiles_after(rank, time_ns)];
    return tile->before_ns + (time_ns > tile->start_ns ? time_ns - tile->start_ns : 0);
}

int64_t gt_rank_tiles_wait_ns(const struct gt_rank_lane *rank, int64_t start_ns, int64_t end_ns) {
    return wait_until(rank, end_ns) - wait_until(rank, start_ns);
}

void gt_rank_tiles_parts(const struct gt_rank_lane *rank, uint32_t from, uint32_t to, int64_t ns[GT_PART_COUNT]) {
    int64_t from_ns = rank->summary->head.first_ns, to_ns = from_ns, before_ns[GT_PART_COUNT];
    gt_rank_sums_between(rank->summary, from, to, before_ns, ns);
    for (int part = 0; part < GT_PART_COUNT; part++) {
        from_ns += before_ns[part];
        to_ns += ns[part];
        ns[part] -= before_ns[part];
    }
    ns[GT_PART_WAIT] = gt_rank_tiles_wait_ns(rank, from_ns, to_ns);
    ns[GT_PART_TRANSFER] -= ns[GT_PART_WAIT];
}

/* ---- steps ---- */

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The numbers of all steps. Ranks that agree on none would need room for each with each: then there are none. */
static bool list_steps(struct gt_rank_job *job) {
    size_t room = 0, filled = 0;
    for (size_t r = 0; r < job->rank_count; r++)
        room += job->ranks[r].summary->steps_count;
    job->steps = gt_arena_array(&job->arena, room, sizeof *job->steps);
    if (!job->steps)
        return false;
    for (size_t r = 0; r < job->rank_count; r++)
        for (size_t s = 0; s < job->ranks[r].summary->steps_count; s++)
            job->steps[filled++] = job->ranks[r].summary->steps[s].number;
    qsort(job->steps, filled, sizeof *job->steps, by_number);
    for (size_t i = 0; i < filled; i++)
        if (job->step_count == 0 || job->steps[i] != job->steps[job->step_count - 1])
            job->steps[job->step_count++] = job->steps[i];
    if (job->step_count * job->rank_count > 64 * room + (1 << 20))
        job->step_count = 0;
    return true;
}

static void add_window(struct gt_rank_window *window, const struct gt_rank_lane *rank,
                       const struct gt_rank_step *step) {
    int64_t ns[GT_PART_COUNT];
    gt_rank_tiles_parts(rank, step->start_point, step->end_point, ns);
    window->start_ns = window->is_there && window->start_ns < step->start_ns ? window->start_ns : step->start_ns;
    window->is_there = true;
    window->step_ns += step->end_ns - step->start_ns;
    for (int part = 0; part < GT_PART_COUNT; part++)
        window->ns[part] += ns[part];
}

int64_t gt_rank_tiles_own_ns(const struct gt_rank_window *window) {
    int64_t own_ns = 0;
    for (int part = 0; part < GT_PART_COUNT; part++)
        own_ns += gt_rank_summary_is_own((enum gt_rank_part)part) ? window->ns[part] : 0;
    return own_ns;
}

static void find_excess(struct gt_rank_job *job, struct gt_rank_window *windows, int64_t *scratch) {
    size_t count = 0;
    for (size_t r = 0; r < job->rank_count; r++)
        if (windows[r].is_there)
            scratch[count++] = gt_rank_tiles_own_ns(&windows[r]);
    qsort(scratch, count, sizeof *scratch, by_number);
    for (size_t r = 0; r < job->rank_count && count; r++)
        windows[r].excess_ns = windows[r].is_there ? gt_rank_tiles_own_ns(&windows[r]) - scratch[(count - 1) / 2] : 0;
}

static bool make_windows(struct gt_rank_job *job) {
    int64_t *scratch = gt_mem_uninitialised(job->rank_count, sizeof *scratch);
    job->windows = gt_arena_array(&job->arena, job->step_count * job->rank_count, sizeof *job->windows);
    if (!job->windows || !scratch) {
        gt_mem_free(scratch);
        return false;
    }
    for (size_t r = 0; r < job->rank_count && job->step_count; r++)
        for (size_t s = 0; s < job->ranks[r].summary->steps_count; s++) {
            const struct gt_rank_step *step = &job->ranks[r].summary->steps[s];
            add_window(&job->windows[gt_rank_job_step(job, step->number) * job->rank_count + r], &job->ranks[r], step);
        }
    for (size_t s = 0; s < job->step_count; s++)
        find_excess(job, &job->windows[s * job->rank_count], scratch);
    gt_mem_free(scratch);
    return true;
}

struct tilings {
    struct gt_rank_job *job;
    atomic_bool failed;
};

static void tile_one(void *context, size_t rank) {
    struct tilings *it = context;
    if (!tile_rank(it->job, &it->job->ranks[rank]))
        atomic_store(&it->failed, true);
}

void gt_rank_tiles_release(struct gt_rank_job *job) {
    for (size_t r = 0; r < job->rank_count; r++) {
        gt_mem_free(job->ranks[r].tiles);
        job->ranks[r].tiles = NULL;
        job->ranks[r].tile_count = 0;
    }
}

bool gt_rank_tiles_make(struct gt_rank_job *job) {
    bool ok = true;
    if (job->options.keeps_exposed) {
        job->exposed_waits_ns = gt_arena_array(&job->arena, job->member_count, sizeof *job->exposed_waits_ns);
        ok = job->exposed_waits_ns != NULL;
    }
    struct tilings tilings = {.job = job};
    atomic_init(&tilings.failed, !ok);
    if (ok)
        gt_rank_job_each_rank(job, tile_one, &tilings);
    ok = !atomic_load(&tilings.failed);
    for (size_t r = 0; ok && r < job->rank_count; r++)
        job->exposed_wait_ns += job->ranks[r].ns[GT_PART_WAIT];
    return ok && list_steps(job) && make_windows(job);
}
