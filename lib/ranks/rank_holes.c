/* Finds collectives that some members of a group left out: joined lists come in, holes in them go out. */
#include "ranks/rank_holes.h"

#include "base/mem.h"

bool gt_rank_holes_note(struct gt_rank_job *job, uint32_t number, size_t position) {
    const struct gt_rank_item *item = &job->items[number];
    struct gt_rank_set_group *group = &job->groups[item->group];
    if (group->first_mismatch >= 0 && (int64_t)position >= group->first_mismatch)
        return false;
    const struct gt_rank_summary *summary = job->ranks[item->rank].summary;
    uint32_t step = summary->kernels[item->kernel].step;
    group->first_mismatch = (int64_t)position;
    group->mismatch_step = step == GT_RANK_NONE ? GT_RANK_NO_NS : summary->steps[step].number;
    group->mismatch_op = item->op;
    return true;
}

static const struct gt_rank_item *item_at(const struct gt_rank_holes *it, size_t place) {
    return &it->job->items[it->items[place]];
}

/* seen: by place in the reference list, one more than the last list that has it. */
static void count_holes(const struct gt_rank_holes *it, size_t list, size_t *seen) {
    struct gt_rank_set_group *group = &it->job->groups[item_at(it, 0)->group];
    size_t reference = it->firsts[it->reference], length = it->firsts[it->reference + 1] - reference;
    size_t low = length, high = 0;
    for (size_t i = it->firsts[list]; i < it->firsts[list + 1]; i++) {
        size_t position = it->position_of[i];
        if (item_at(it, i)->state != GT_ITEM_MATCHED || position >= length)
            continue;
        seen[position] = list + 1;
        low = position < low ? position : low;
        high = position > high ? position : high;
    }
    for (size_t position = low; position < high; position++) {
        if (seen[position] == list + 1 || item_at(it, reference + position)->state != GT_ITEM_MATCHED)
            continue;
        it->left_out[position]++;
        group->left_out++;
        it->job->issues[GT_RANK_ISSUE_COLLECTIVE_LEFT_OUT]++;
        if (gt_rank_holes_note(it->job, it->items[reference + position], position))
            group->left_out_rank = item_at(it, it->firsts[list])->rank;
    }
}

bool gt_rank_holes_find(const struct gt_rank_holes *it) {
    size_t length = it->firsts[it->reference + 1] - it->firsts[it->reference];
    size_t *seen = gt_mem_array(length, sizeof *seen);
    for (size_t l = 0; seen && l < it->list_count; l++)
        if (l != it->reference)
            count_holes(it, l, seen);
    gt_mem_free(seen);
    return seen != NULL;
}
