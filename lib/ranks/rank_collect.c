/* Puts collectives in order: in come matched items, out go numbered collectives with their members by rank. */
#include "ranks/rank_collect.h"

#include <stdlib.h>

#include "base/mem.h"
#include "events/comms.h"

bool gt_rank_collect_begin(struct gt_rank_collect *collect, uint32_t index, enum gt_rank_rung rung) {
    struct gt_rank_collective *list =
        gt_mem_room(collect->collectives, collect->collective_count, &collect->collective_capacity, sizeof *list);
    if (!list)
        return false;
    collect->collectives = list;
    list[collect->collective_count++] = (struct gt_rank_collective){.first_member = (uint32_t)collect->member_count,
                                                                    .index = index,
                                                                    .rung = (uint8_t)rung,
                                                                    .last_rank = GT_RANK_NONE,
                                                                    .delayer = GT_RANK_NONE,
                                                                    .aligned_last_rank = GT_RANK_NONE,
                                                                    .aligned_skew_ns = GT_RANK_NO_NS};
    return true;
}

bool gt_rank_collect_add(struct gt_rank_collect *collect, struct gt_rank_job *job, uint32_t number) {
    struct gt_rank_member *members =
        gt_mem_room(collect->members, collect->member_count, &collect->member_capacity, sizeof *members);
    if (!members)
        return false;
    struct gt_rank_item *item = &job->items[number];
    struct gt_rank_collective *collective = &collect->collectives[collect->collective_count - 1];
    collect->members = members;
    members[collect->member_count++] = (struct gt_rank_member){.rank = item->rank,
                                                               .kernel = item->kernel,
                                                               .item = number,
                                                               .before = GT_RANK_NONE,
                                                               .load = -1,
                                                               .own_ns = GT_RANK_NO_NS,
                                                               .aligned_wait_ns = GT_RANK_NO_NS};
    item->state = GT_ITEM_MATCHED;
    if (collective->member_count++ == 0) {
        collective->group = item->group;
        collective->op = item->op;
        collective->kind = (uint8_t)gt_comms_op_kind((enum gt_comm_op)item->op);
        collective->src = item->src;
        collective->dst = item->dst;
    }
    return true;
}

/* ---- numbers ---- */

static int by_first_rank(const void *a, const void *b, void *context) {
    const struct gt_rank_collect *collect = context;
    const struct gt_rank_collective *x = &collect->collectives[*(const uint32_t *)a];
    const struct gt_rank_collective *y = &collect->collectives[*(const uint32_t *)b];
    const struct gt_rank_member *m = &collect->members[x->first_member], *n = &collect->members[y->first_member];
    if (m->rank != n->rank)
        return m->rank < n->rank ? -1 : 1;
    if (m->kernel != n->kernel) /* kernels are in order of start and row */
        return m->kernel < n->kernel ? -1 : 1;
    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    return (x > y) - (x < y);
}

static bool sort(struct gt_rank_collect *collect, struct gt_rank_job *job) {
    size_t count = collect->collective_count, filled = 0;
    uint32_t *order = gt_mem_uninitialised(count, sizeof *order);
    struct gt_rank_collective *sorted = gt_arena_array(&job->arena, count, sizeof *sorted);
    struct gt_rank_member *members = gt_arena_array(&job->arena, collect->member_count, sizeof *members);
    bool ok = order && sorted && members;
    for (uint32_t i = 0; ok && i < count; i++)
        order[i] = i;
    if (ok && count)
        qsort_r(order, count, sizeof *order, by_first_rank, collect);
    for (uint32_t c = 0; ok && c < count; c++) {
        sorted[c] = collect->collectives[order[c]];
        for (uint32_t m = 0; m < sorted[c].member_count; m++) {
            members[filled + m] = collect->members[sorted[c].first_member + m];
            members[filled + m].collective = c;
            job->items[members[filled + m].item].collective = c;
        }
        sorted[c].first_member = (uint32_t)filled;
        filled += sorted[c].member_count;
    }
    if (ok) {
        job->collectives = sorted;
        job->collective_count = count;
        job->members = members;
        job->member_count = collect->member_count;
    }
    gt_mem_free(order);
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
        job->issues[GT_RANK_ISSUE_COLLECTIVE_MEMBERS_MISSING] +=
            collective->kind != GT_COMM_KIND_MESSAGE &&
            collective->member_count < (uint64_t)job->groups[collective->group].size;
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
    gt_mem_free(collect->collectives);
    gt_mem_free(collect->members);
    *collect = (struct gt_rank_collect){0};
}
