/* Puts collectives in order: in come matched items, out go numbered collectives with their members by rank. */
#include "ranks/rank_collect.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "events/comms.h"

bool gt_rank_collect_begin(struct gt_rank_collect *collect, uint32_t index, enum gt_rank_rung rung) {
    struct gt_rank_collected *items = gt_mem_room(collect->items, collect->count, &collect->capacity, sizeof *items);
    if (!items)
        return false;
    collect->items = items;
    items[collect->count++] = (struct gt_rank_collected){.index = index, .rung = rung};
    return true;
}

void gt_rank_collect_add(struct gt_rank_collect *collect, struct gt_rank_job *job, uint32_t number) {
    struct gt_rank_collected *collected = &collect->items[collect->count - 1];
    if (collected->count++ == 0)
        collected->first_item = number;
    job->items[number].state = GT_ITEM_MATCHED;
    job->items[number].collective = (uint32_t)collect->count - 1;
    collect->member_count++;
}

/* ---- numbers ---- */

struct sorting {
    const struct gt_rank_collect *collect;
    const struct gt_rank_item *items;
};

static int by_first_rank(const void *a, const void *b, void *context) {
    const struct sorting *it = context;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct gt_rank_item *x = &it->items[it->collect->items[i].first_item];
    const struct gt_rank_item *y = &it->items[it->collect->items[j].first_item];
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->kernel != y->kernel) /* kernels are in order of start and row */
        return x->kernel < y->kernel ? -1 : 1;
    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    return (i > j) - (i < j);
}

static struct gt_rank_collective collective_of(const struct gt_rank_collected *collected,
                                               const struct gt_rank_item *item, size_t first_member) {
    return (struct gt_rank_collective){.first_member = (uint32_t)first_member,
                                       .group = item->group,
                                       .index = collected->index,
                                       .src = item->src,
                                       .dst = item->dst,
                                       .first_load = GT_RANK_NONE,
                                       .op = item->op,
                                       .kind = (uint8_t)gt_comms_op_kind((enum gt_comm_op)item->op),
                                       .rung = (uint8_t)collected->rung,
                                       .imbalance = NAN,
                                       .last_rank = GT_RANK_NONE,
                                       .delayer = GT_RANK_NONE,
                                       .aligned_last_rank = GT_RANK_NONE,
                                       .aligned_skew_ns = GT_RANK_NO_NS};
}

/* Items are in order of ranks, so members are, too. */
static void place_members(struct gt_rank_job *job, const uint32_t *number_of) {
    for (uint32_t i = 0; i < job->item_count; i++) {
        struct gt_rank_item *item = &job->items[i];
        if (item->state != GT_ITEM_MATCHED)
            continue;
        item->collective = number_of[item->collective];
        struct gt_rank_collective *collective = &job->collectives[item->collective];
        job->members[collective->first_member + collective->member_count++] =
            (struct gt_rank_member){.collective = item->collective,
                                    .rank = item->rank,
                                    .kernel = item->kernel,
                                    .item = i,
                                    .delayer = GT_RANK_NONE};
    }
}

static bool sort(struct gt_rank_collect *collect, struct gt_rank_job *job) {
    size_t count = collect->count, members = 0;
    struct sorting it = {collect, job->items};
    uint32_t *order = gt_mem_uninitialised(count, sizeof *order);
    uint32_t *number_of = gt_mem_uninitialised(count, sizeof *number_of);
    job->collectives = gt_arena_array(&job->arena, count, sizeof *job->collectives);
    job->members = gt_arena_array(&job->arena, collect->member_count, sizeof *job->members);
    bool ok = order && number_of && job->collectives && job->members;
    for (uint32_t i = 0; ok && i < count; i++)
        order[i] = i;
    if (ok && count)
        qsort_r(order, count, sizeof *order, by_first_rank, &it);
    for (uint32_t c = 0; ok && c < count; c++) {
        const struct gt_rank_collected *collected = &collect->items[order[c]];
        job->collectives[c] = collective_of(collected, &job->items[collected->first_item], members);
        number_of[order[c]] = c;
        members += collected->count;
        job->issues[GT_RANK_ISSUE_COLLECTIVE_MEMBERS_MISSING] +=
            job->collectives[c].kind != GT_COMM_KIND_MESSAGE &&
            collected->count + collected->left_out < (uint64_t)job->groups[job->collectives[c].group].size;
    }
    if (ok) {
        job->collective_count = count;
        job->member_count = collect->member_count;
        place_members(job, number_of);
    }
    gt_mem_free(order);
    gt_mem_free(number_of);
    return ok;
}

/* ---- steps ---- */

static bool step_of(const struct gt_rank_job *job, const struct gt_rank_member *member, int64_t *number) {
    const struct gt_rank_summary *summary = job->ranks[member->rank].summary;
    uint32_t step = summary->kernels[member->kernel].step;
    if (step == GT_RANK_NONE)
        return false;
    *number = summary->steps[step].number;
    return true;
}

static void find_steps(struct gt_rank_job *job) {
    for (size_t c = 0; c < job->collective_count; c++) {
        struct gt_rank_collective *collective = &job->collectives[c];
        const struct gt_rank_member *members = &job->members[collective->first_member];
        bool differs = false;
        int64_t number;
        collective->has_step = step_of(job, &members[0], &collective->step);
        for (size_t m = 1; m < collective->member_count; m++) {
            bool has_step = step_of(job, &members[m], &number);
            differs |= has_step != collective->has_step || (has_step && number != collective->step);
        }
        job->issues[GT_RANK_ISSUE_STEP_DIFFERS] += differs;
        job->groups[collective->group].ops++;
    }
}

/* ---- sets of members ---- */

static bool find_sets(struct gt_rank_job *job) {
    struct gt_strtab sets;
    size_t capacity = 0, size_capacity = 0, longest = 0;
    if (!gt_strtab_init(&sets))
        return false;
    for (size_t c = 0; c < job->collective_count; c++)
        longest = job->collectives[c].member_count > longest ? job->collectives[c].member_count : longest;
    uint32_t *list = gt_mem_uninitialised(longest, sizeof *list);
    bool ok = list != NULL;
    for (size_t c = 0; ok && c < job->collective_count; c++) {
        struct gt_rank_collective *collective = &job->collectives[c];
        size_t bytes = collective->member_count * sizeof *list, before = sets.count;
        for (size_t m = 0; m < collective->member_count; m++)
            list[m] = job->members[collective->first_member + m].rank;
        collective->set = gt_strtab_intern(&sets, (struct gt_str){(const char *)list, bytes}) - 1;
        if (sets.failed || sets.count == before) {
            ok = !sets.failed;
            continue;
        }
        uint32_t **kept = gt_arena_room(&job->arena, job->sets, job->set_count, &capacity, sizeof *kept);
        uint32_t *sizes = gt_arena_room(&job->arena, job->set_sizes, job->set_count, &size_capacity, sizeof *sizes);
        uint32_t *copy = gt_arena_array(&job->arena, collective->member_count, sizeof *copy);
        ok = kept && sizes && copy;
        if (!ok)
            break;
        memcpy(copy, list, bytes);
        job->sets = kept;
        job->set_sizes = sizes;
        kept[job->set_count] = copy;
        sizes[job->set_count++] = collective->member_count;
    }
    gt_mem_free(list);
    gt_strtab_release(&sets);
    return ok;
}

static void count_matched(struct gt_rank_job *job) {
    for (size_t i = 0; i < job->member_count; i++) {
        const struct gt_rank_member *member = &job->members[i];
        struct gt_rank_lane *rank = &job->ranks[member->rank];
        rank->matched += rank->kernel_member[member->kernel] == GT_RANK_NONE;
        if (rank->kernel_member[member->kernel] == GT_RANK_NONE)
            rank->kernel_member[member->kernel] = (uint32_t)i;
    }
}

bool gt_rank_collect_finish(struct gt_rank_collect *collect, struct gt_rank_job *job) {
    bool is_sorted = sort(collect, job);
    gt_rank_collect_release(collect);
    if (!is_sorted)
        return false;
    find_steps(job);
    count_matched(job);
    return find_sets(job);
}

void gt_rank_collect_release(struct gt_rank_collect *collect) {
    gt_mem_free(collect->items);
    *collect = (struct gt_rank_collect){0};
}
