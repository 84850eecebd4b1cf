/* Gives every summary its number: in come summaries in the order of the arguments, out go ranks by number. */
#include "ranks/rank_identity.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "events/trace_rank.h"
#include "ranks/rank_parts.h"

const char *gt_rank_identity_source(const struct gt_rank_summary *summary) {
    switch ((enum gt_rank_source)summary->head.source) {
    case GT_RANK_OF_TRACE:
        return "distributedInfo";
    case GT_RANK_OF_MPI:
        return "MPI_RANKS";
    case GT_RANK_OF_ENVIRONMENT:
        return "RANK";
    case GT_RANK_OF_SLURM:
        return "SLURM_PROCID";
    case GT_RANK_OF_OPEN_MPI:
        return "OMPI_COMM_WORLD_RANK";
    case GT_RANK_OF_PMI:
        return "PMI_RANK";
    case GT_RANK_OF_NCCL:
        return "NCCL init";
    case GT_RANK_OF_FILE_NAME:
        return "file name";
    default:
        return "order";
    }
}

static int by_number(const void *a, const void *b) {
    const struct gt_rank_lane *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Those that say who they are, in the order of the arguments; the others get what is left. */
static void number_ranks(struct gt_rank_job *job, struct gt_map *taken) {
    for (size_t i = 0; i < job->rank_count; i++) {
        struct gt_rank_lane *rank = &job->ranks[i];
        int64_t number = rank->summary->head.rank;
        rank->source = gt_rank_identity_source(rank->summary);
        rank->number = -1;
        if (number < 0)
            continue;
        if (gt_map_put_if_new(taken, 0, (uint64_t)number, (uint32_t)i) == i)
            rank->number = number;
        else
            job->issues[GT_RANK_ISSUE_RANK_DUPLICATE]++;
        job->issues[GT_RANK_ISSUE_RANK_FROM_FILE_NAME] += rank->summary->head.source == GT_RANK_OF_FILE_NAME;
    }
    int64_t free_number = 0;
    for (size_t i = 0; i < job->rank_count; i++) {
        struct gt_rank_lane *rank = &job->ranks[i];
        job->issues[GT_RANK_ISSUE_RANK_MISSING] += rank->summary->head.rank < 0;
        if (rank->number >= 0)
            continue;
        while (gt_map_get(taken, 0, (uint64_t)free_number) != GT_MAP_NONE)
            free_number++;
        rank->number = free_number;
        gt_map_put(taken, 0, (uint64_t)free_number, (uint32_t)i);
    }
}

/* As traces say; 0: none does. */
static int64_t stated_world(const struct gt_rank_job *job) {
    int64_t world = 0;
    for (size_t i = 0; i < job->rank_count; i++)
        if (job->ranks[i].summary->head.world_size > world)
            world = job->ranks[i].summary->head.world_size;
    return world;
}

/* What the ranks that traces say leave room for. A number in the name of a file may be anything. */
static int64_t implied_world(const struct gt_rank_job *job) {
    int64_t world = 0;
    for (size_t i = 0; i < job->rank_count; i++) {
        const struct gt_rank_summary *summary = job->ranks[i].summary;
        if (gt_rank_parts_says_rank(summary) && summary->head.rank >= world && summary->head.rank < INT64_MAX)
            world = summary->head.rank + 1;
    }
    return world;
}

/* A rank that does not fit into the world that is stated is an error of its trace, and no larger world. */
static void find_world(struct gt_rank_job *job) {
    int64_t below = 0, stated = stated_world(job), count = (int64_t)job->rank_count;
    int64_t known = stated ? stated : implied_world(job);
    for (size_t i = 0; i < job->rank_count; i++) {
        job->issues[GT_RANK_ISSUE_RANK_BEYOND_WORLD] += stated > 0 && job->ranks[i].summary->head.rank >= stated;
        below += job->ranks[i].number < known;
    }
    job->known_world = known;
    job->world_size = known > count ? known : count;
    job->issues[GT_RANK_ISSUE_RANK_MISSING_TRACE] = (uint64_t)(known - below);
}

/* ---- shared GPUs ---- */

struct place {
    struct gt_str host, uuid;
};

static int by_place(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    int order = gt_str_cmp(x->uuid, y->uuid);
    return order ? order : gt_str_cmp(x->host, y->host);
}

static bool count_shared(struct gt_rank_job *job) {
    struct place *places = gt_mem_array(job->rank_count, sizeof *places);
    size_t count = 0;
    if (!places)
        return false;
    for (size_t i = 0; i < job->rank_count; i++) {
        const struct gt_rank_summary *summary = job->ranks[i].summary;
        struct place place = {gt_rank_summary_text(summary, summary->head.host),
                              gt_rank_summary_text(summary, summary->head.uuid)};
        job->issues[GT_RANK_ISSUE_RANK_SEVERAL_DEVICES] += summary->head.other_devices > 0;
        if (place.host.len && place.uuid.len)
            places[count++] = place;
    }
    qsort(places, count, sizeof *places, by_place);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && by_place(&places[i], &places[end]) == 0; end++)
            continue;
        job->issues[GT_RANK_ISSUE_GPU_SHARED] += end - i > 1 ? end - i : 0;
    }
    gt_mem_free(places);
    return true;
}

bool gt_rank_identity_assign(struct gt_rank_job *job, struct gt_rank_summary *const *summaries, size_t count) {
    struct gt_map taken = {0};
    job->ranks = gt_arena_array(&job->arena, count, sizeof *job->ranks);
    if (!job->ranks)
        return false;
    job->rank_count = count;
    for (size_t i = 0; i < count; i++)
        job->ranks[i].summary = summaries[i];
    number_ranks(job, &taken);
    bool ok = !taken.failed;
    gt_map_release(&taken);
    qsort(job->ranks, count, sizeof *job->ranks, by_number);
    find_world(job);
    for (size_t i = 0; ok && i < count; i++) {
        struct gt_rank_lane *rank = &job->ranks[i];
        rank->gain_ns = GT_RANK_NO_NS;
        rank->kernel_member = gt_arena_array(&job->arena, rank->summary->kernels_count, sizeof(uint32_t));
        ok = rank->kernel_member != NULL;
        for (size_t k = 0; ok && k < rank->summary->kernels_count; k++)
            rank->kernel_member[k] = GT_RANK_NONE;
    }
    return ok && count_shared(job);
}
