/* Tells traces of several jobs apart: summaries in any order come in, a job for each goes out. */
#include "ranks/rank_apart.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "events/trace_rank.h"
#include "ranks/rank_parts.h"

/* ---- copies ---- */

static int by_events(const void *a, const void *b, void *context) {
    const struct gt_rank_parts *it = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct gt_rank_head *one = &it->summaries[x]->head, *two = &it->summaries[y]->head;
    const int64_t ones[] = {one->rank, one->world_size, one->first_ns, one->last_ns, one->base_ns, (int64_t)one->ops};
    const int64_t twos[] = {two->rank, two->world_size, two->first_ns, two->last_ns, two->base_ns, (int64_t)two->ops};
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        if (ones[i] != twos[i])
            return ones[i] < twos[i] ? -1 : 1;
    return 0;
}

static bool has_same_events(const struct gt_rank_parts *it, uint32_t a, uint32_t b) {
    const struct gt_rank_summary *x = it->summaries[a], *y = it->summaries[b];
    return x->head.input_number != y->head.input_number && by_events(&a, &b, (void *)(uintptr_t)it) == 0 &&
           gt_str_eq(gt_rank_summary_text(x, x->head.host), gt_rank_summary_text(y, y->head.host)) &&
           x->kernels_count == y->kernels_count && x->work_count == y->work_count &&
           (!x->kernels_count || memcmp(x->kernels, y->kernels, x->kernels_count * sizeof *x->kernels) == 0);
}

static int by_events_then_name(const void *a, const void *b, void *context) {
    const struct gt_rank_parts *it = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = by_events(a, b, context);
    order = order ? order : gt_str_cmp(it->names[x], it->names[y]);
    return order ? order : (x > y) - (x < y);
}

/* The same trace under two names is no second job. The list has all traces, and after it those that are no copies. */
static size_t leave_out_copies(struct gt_rank_parts *it, size_t count) {
    size_t left = 0;
    if (count)
        qsort_r(it->list, count, sizeof *it->list, by_events_then_name, it);
    for (size_t i = 0, first = 0; i < count; i++) {
        uint32_t own = it->list[i];
        first = i && by_events(&it->list[i], &it->list[first], it) == 0 ? first : i;
        for (size_t k = first; k < i && gt_rank_parts_says_rank(it->summaries[own]); k++)
            if (it->apart->same_as[own] == GT_RANK_NONE && has_same_events(it, it->list[k], own))
                it->apart->same_as[own] = it->list[k];
    }
    for (uint32_t i = 0; i < it->count; i++)
        if (it->summaries[i]->head.ops && it->apart->same_as[i] == GT_RANK_NONE)
            it->list[left++] = i;
    return left;
}

/* ---- by world size ---- */

static int64_t world_of(const struct gt_rank_summary *summary) {
    bool says = summary->head.source == GT_RANK_OF_TRACE && summary->head.world_size > 0;
    return says ? summary->head.world_size : -1;
}

static int by_part(const void *a, const void *b, void *context) {
    const struct gt_rank_parts *it = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (it->part_of[x] != it->part_of[y])
        return it->part_of[x] < it->part_of[y] ? -1 : 1;
    return (x > y) - (x < y);
}

/* ---- strays ---- */

/* What is known of the world that most are of. */
struct world {
    uint64_t size;
    struct gt_map known; /* 0, rank: it is there; 1, communicator: somebody has it; 2, input: one of it is no stray */
    uint64_t seen;       /* ranks that are there */
    uint64_t communicating; /* traces that communicate */
};

static void learn_world(struct gt_rank_parts *it, const uint32_t *list, size_t count, struct world *world) {
    for (size_t i = 0; i < count; i++) {
        const struct gt_rank_summary *summary = it->summaries[list[i]];
        int64_t rank = summary->head.rank;
        if (world_of(summary) < 0 || (uint64_t)world_of(summary) != world->size)
            continue;
        if (rank >= 0 && (uint64_t)rank < world->size)
            world->seen += gt_map_put_if_new(&world->known, 0, (uint64_t)rank, list[i]) == list[i];
        world->communicating += summary->kernels_count > 0;
        for (size_t g = 0; g < summary->groups_count; g++)
            if (summary->groups[g].communicator != UINT64_MAX)
                gt_map_put_if_new(&world->known, 1, summary->groups[g].communicator, list[i]);
    }
}

static bool shares_communicator(const struct gt_rank_summary *summary, const struct world *world) {
    for (size_t g = 0; g < summary->groups_count; g++)
        if (summary->groups[g].communicator != UINT64_MAX &&
            gt_map_get(&world->known, 1, summary->groups[g].communicator) != GT_MAP_NONE)
            return true;
    return false;
}

/* Whether a trace that does not say its world cannot be of this one: all ranks are there and it is none of them, or the
   others communicate and it never does. */
static bool is_stray(const struct gt_rank_summary *summary, const struct world *world) {
    bool is_rank = gt_rank_parts_says_rank(summary) && (uint64_t)summary->head.rank < world->size;
    if (world->size == 0 || world_of(summary) >= 0 || is_rank || shares_communicator(summary, world))
        return false;
    return world->seen == world->size ||
           (world->communicating > 1 && summary->head.rank < 0 && summary->kernels_count == 0);
}

/* Who does not say it is of the world that most are of, unless it cannot be. Gives how many these are. */
static size_t choose_worlds(struct gt_rank_parts *it, const uint32_t *list, size_t count, uint64_t usual) {
    struct world world = {.size = usual};
    size_t strays = 0;
    learn_world(it, list, count, &world);
    for (size_t i = 0; i < count; i++)
        if (!is_stray(it->summaries[list[i]], &world))
            gt_map_put(&world.known, 2, it->summaries[list[i]]->head.input_number, 0);
    for (size_t i = 0; i < count; i++) { /* what is in one file is of one job */
        int64_t own = world_of(it->summaries[list[i]]);
        bool is_apart = gt_map_get(&world.known, 2, it->summaries[list[i]]->head.input_number) == GT_MAP_NONE;
        strays += is_apart;
        it->part_of[list[i]] = is_apart ? UINT64_MAX : own < 0 ? usual : (uint64_t)own;
    }
    it->failed |= world.known.failed;
    gt_map_release(&world.known);
    return strays;
}

/* The world that most say; of several the largest. 0: nobody says one. */
static uint64_t usual_world(struct gt_rank_parts *it, const uint32_t *list, size_t count) {
    struct gt_map counts = {0};
    uint32_t most = 0;
    int64_t usual = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t world = world_of(it->summaries[list[i]]);
        uint32_t before = world < 0 ? GT_MAP_NONE : gt_map_get(&counts, 0, (uint64_t)world);
        uint32_t now = before == GT_MAP_NONE ? 1 : before + 1;
        if (world < 0)
            continue;
        gt_map_put(&counts, 0, (uint64_t)world, now);
        if (now > most || (now == most && world > usual)) {
            most = now;
            usual = world;
        }
    }
    it->failed |= counts.failed;
    gt_map_release(&counts);
    return (uint64_t)usual;
}

static void divide_by_world(struct gt_rank_parts *it, uint32_t *list, size_t count) {
    uint64_t usual = usual_world(it, list, count);
    size_t strays = choose_worlds(it, list, count, usual);
    if (count)
        qsort_r(list, count, sizeof *list, by_part, it);
    if (it->failed)
        return;
    if (strays) /* they are the last, and not all: others say the world */
        it->apart->why = GT_APART_STRAYS;
    if (count && it->part_of[list[0]] != it->part_of[list[count - strays - 1]])
        it->apart->why = GT_APART_WORLDS;
    for (size_t i = 0, end; i < count; i = end) {
        end = gt_rank_parts_end(it, list, count, i);
        gt_rank_parts_divide(it, list + i, end - i);
    }
}

/* ---- the order of jobs, and logs ---- */

struct job {
    size_t traces;
    uint32_t first, number;
};

static int by_size(const void *a, const void *b) {
    const struct job *x = a, *y = b;
    if (x->traces != y->traces)
        return x->traces > y->traces ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static bool number_jobs(struct gt_rank_parts *it) {
    size_t count = it->apart->job_count;
    struct job *jobs = gt_mem_array(count, sizeof *jobs);
    uint32_t *number_of = gt_mem_array(count, sizeof *number_of);
    bool ok = jobs && number_of;
    for (uint32_t j = 0; ok && j < count; j++)
        jobs[j] = (struct job){.first = UINT32_MAX, .number = j};
    for (uint32_t i = 0; ok && i < it->count; i++)
        if (it->apart->job_of[i] != GT_RANK_NONE) {
            struct job *job = &jobs[it->apart->job_of[i]];
            job->traces++;
            job->first = i < job->first ? i : job->first;
        }
    if (ok && count)
        qsort(jobs, count, sizeof *jobs, by_size);
    for (uint32_t j = 0; ok && j < count; j++)
        number_of[jobs[j].number] = j;
    for (uint32_t i = 0; ok && i < it->count; i++)
        if (it->apart->job_of[i] != GT_RANK_NONE)
            it->apart->job_of[i] = number_of[it->apart->job_of[i]];
    gt_mem_free(jobs);
    gt_mem_free(number_of);
    return ok;
}

/* With the first job that has a communicator of theirs, else with the first of all. */
static void place_logs(struct gt_rank_parts *it) {
    struct gt_map job_of = {0};
    for (size_t i = 0; i < it->count; i++)
        for (size_t g = 0; g < it->summaries[i]->groups_count && it->apart->job_of[i] != GT_RANK_NONE; g++) {
            uint64_t communicator = it->summaries[i]->groups[g].communicator;
            uint32_t job = it->apart->job_of[i];
            if (communicator != UINT64_MAX && gt_map_put_if_new(&job_of, 0, communicator, job) > job)
                gt_map_put(&job_of, 0, communicator, job);
        }
    for (size_t i = 0; i < it->count; i++) {
        const struct gt_rank_summary *summary = it->summaries[i];
        uint32_t job = GT_MAP_NONE;
        if (summary->head.ops)
            continue;
        for (size_t k = 0; k < summary->log_lanes_count && job == GT_MAP_NONE; k++)
            job = gt_map_get(&job_of, 0, summary->log_lanes[k].communicator);
        it->apart->job_of[i] = job == GT_MAP_NONE ? 0 : job;
    }
    it->failed |= job_of.failed;
    gt_map_release(&job_of);
}

bool gt_rank_apart_init(struct gt_rank_apart *apart, struct gt_rank_summary *const *summaries,
                        const struct gt_str *names, size_t count) {
    *apart = (struct gt_rank_apart){.job_of = gt_mem_array(count, sizeof *apart->job_of),
                                    .same_as = gt_mem_array(count, sizeof *apart->same_as)};
    struct gt_rank_parts it = {.apart = apart,
                               .summaries = summaries,
                               .names = names,
                               .count = count,
                               .list = gt_mem_array(count, sizeof *it.list),
                               .root = gt_mem_array(count, sizeof *it.root),
                               .part_of = gt_mem_array(count, sizeof *it.part_of)};
    bool ok = apart->job_of && apart->same_as && it.list && it.root && it.part_of;
    size_t traces = 0;
    for (uint32_t i = 0; ok && i < count; i++) {
        apart->job_of[i] = apart->same_as[i] = GT_RANK_NONE;
        if (summaries[i]->head.ops)
            it.list[traces++] = i;
    }
    if (ok) {
        divide_by_world(&it, it.list, leave_out_copies(&it, traces));
        ok = number_jobs(&it) && !it.failed;
    }
    if (apart->job_count > 1 && apart->why == GT_APART_ONE)
        apart->why = GT_APART_RANKS;
    apart->job_count = apart->job_count ? apart->job_count : 1;
    if (ok)
        place_logs(&it);
    gt_mem_free(it.list);
    gt_mem_free(it.root);
    gt_mem_free(it.part_of);
    return ok && !it.failed;
}

void gt_rank_apart_release(struct gt_rank_apart *apart) {
    gt_mem_free(apart->job_of);
    gt_mem_free(apart->same_as);
    *apart = (struct gt_rank_apart){0};
}
