/* Matches items: those of a group, or of a channel between two ranks, are identified by a number that all ranks know,
   or else joined as lists in order of time. */
#include "ranks/rank_match.h"

#include <stdlib.h>

#include "base/mem.h"
#include "events/comms.h"
#include "ranks/rank_collect.h"
#include "ranks/rank_holes.h"
#include "ranks/rank_items.h"
#include "ranks/rank_joins.h"

/* A run of items that belong to one group or channel, by rank and time. */
struct run {
    struct gt_rank_job *job;
    const uint32_t *items;
    size_t count;
    size_t *firsts; /* of each rank's list, and the end of the last */
    size_t list_count;
    size_t reference;      /* the longest list */
    uint32_t *position_of; /* by place: the place in the reference list that it is joined to */
    size_t first_listed;   /* where its items are in what joining looks at */
    enum gt_rank_rung rung;
    bool is_channel;
};

/* All runs. Lists of all of them are joined at once, so that threads and processes have enough to do. */
struct matching {
    struct gt_rank_job *job;
    uint32_t *order; /* items, run by run */
    struct run *runs;
    size_t run_count, run_capacity;
    size_t *firsts; /* of all runs */
    uint32_t *position_of;
    /* What joining looks at: items of the runs that have no numbers. */
    int64_t *end_ns, *step;
    uint64_t *label;
    struct gt_rank_join_pair *pairs;
    size_t pair_count;
};

static const struct gt_rank_item *item_at(const struct run *run, size_t place) {
    return &run->job->items[run->items[place]];
}

/* ---- runs ---- */

static int by_run(const void *a, const void *b, void *context) {
    const struct gt_rank_item *items = context;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct gt_rank_item *x = &items[i], *y = &items[j];
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->src != y->src) /* collectives have none: they come last */
        return x->src < y->src ? -1 : 1;
    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (i > j) - (i < j); /* items of a rank are in order of time */
}

static bool is_same_run(const struct gt_rank_item *x, const struct gt_rank_item *y) {
    return x->group == y->group && x->src == y->src && x->dst == y->dst;
}

/* The firsts have room for one more than there are lists. */
static void set_lists(struct run *run) {
    size_t longest = 0;
    run->list_count = 0;
    for (size_t i = 0; i < run->count; i++)
        if (i == 0 || item_at(run, i)->rank != item_at(run, i - 1)->rank)
            run->firsts[run->list_count++] = i;
    run->firsts[run->list_count] = run->count;
    for (size_t l = 0; l < run->list_count; l++) {
        size_t length = run->firsts[l + 1] - run->firsts[l];
        if (length > longest) {
            longest = length;
            run->reference = l;
        }
    }
}

/* ---- what is left over ---- */

static void leave(struct run *run, size_t place, enum gt_rank_item_state state) {
    struct gt_rank_job *job = run->job;
    struct gt_rank_item *item = &job->items[run->items[place]];
    static const enum gt_rank_issue issues[] = {
        [GT_ITEM_UNMATCHED] = GT_RANK_ISSUE_COLLECTIVE_UNMATCHED,
        [GT_ITEM_OUTSIDE] = GT_RANK_ISSUE_COLLECTIVE_OUTSIDE_WINDOW,
        [GT_ITEM_ALONE] = GT_RANK_ISSUE_COLLECTIVE_ALONE,
        [GT_ITEM_MISMATCH] = GT_RANK_ISSUE_COLLECTIVE_MISMATCH,
    };
    item->state = (uint8_t)state;
    job->issues[issues[state]]++;
    job->groups[item->group].outside += state == GT_ITEM_OUTSIDE;
    job->groups[item->group].unmatched += state == GT_ITEM_UNMATCHED || state == GT_ITEM_MISMATCH;
    job->ranks[item->rank].unmatched += state == GT_ITEM_UNMATCHED || state == GT_ITEM_MISMATCH;
}

/* Of each list, what is before the first and after the last match is outside; what is between is a hole. */
static void judge_rest(struct run *run) {
    const uint32_t *position_of = run->position_of;
    for (size_t l = 0; l < run->list_count; l++) {
        size_t first = run->firsts[l], end = run->firsts[l + 1], matched_first = end, matched_last = end;
        uint32_t before = 0;
        for (size_t i = first; i < end; i++)
            if (item_at(run, i)->state == GT_ITEM_MATCHED) {
                matched_first = matched_first == end ? i : matched_first;
                matched_last = i;
            }
        for (size_t i = first; i < end; i++) {
            enum gt_rank_item_state state = (enum gt_rank_item_state)item_at(run, i)->state;
            if (state == GT_ITEM_MATCHED && position_of[i] != GT_RANK_NONE)
                before = position_of[i] + 1;
            bool is_hole = i > matched_first && i < matched_last;
            if (state == GT_ITEM_UNMATCHED)
                leave(run, i, is_hole ? GT_ITEM_UNMATCHED : GT_ITEM_OUTSIDE);
            if ((state == GT_ITEM_UNMATCHED && is_hole) || state == GT_ITEM_MISMATCH)
                gt_rank_holes_note(run->job, run->items[i], l == run->reference ? i - first : before);
        }
    }
}

/* What some members left out, though their traces cover it. collected: the first collective of the run. */
static bool find_holes(struct run *run, struct gt_rank_collect *collect, size_t collected) {
    size_t length = run->firsts[run->reference + 1] - run->firsts[run->reference];
    uint32_t *left_out = gt_mem_array(length, sizeof *left_out);
    const struct gt_rank_holes holes = {run->job,        run->items,     run->position_of, run->firsts,
                                        run->list_count, run->reference, left_out};
    bool ok = left_out && gt_rank_holes_find(&holes);
    for (size_t c = collected; ok && c < collect->count; c++)
        if (collect->items[c].index < length)
            collect->items[c].left_out = left_out[collect->items[c].index];
    gt_mem_free(left_out);
    return ok;
}

/* ---- by numbers ---- */

/* UINT64_MAX: it has none. */
static uint64_t number_of(const struct gt_rank_job *job, const struct gt_rank_item *item, enum gt_rank_rung rung) {
    const struct gt_rank_summary *summary = job->ranks[item->rank].summary;
    uint32_t carried = gt_rank_items_carried(job, item);
    if (carried == GT_RANK_NONE)
        return UINT64_MAX;
    if (rung == GT_RUNG_COMMS_ID)
        return gt_rank_summary_comms_id(summary, carried);
    int64_t sequence = gt_rank_summary_sequence(summary, carried);
    return sequence < 0 ? UINT64_MAX : (uint64_t)sequence;
}

struct numbered {
    uint64_t number;
    uint32_t place;
};

static int by_number(const void *a, const void *b) {
    const struct numbered *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* All have one, and none is there twice on a rank. */
static bool has_numbers(const struct run *run, enum gt_rank_rung rung, struct numbered *list) {
    for (size_t i = 0; i < run->count; i++) {
        uint64_t number = number_of(run->job, item_at(run, i), rung);
        if (number == UINT64_MAX)
            return false;
        list[i] = (struct numbered){number, (uint32_t)i};
    }
    qsort(list, run->count, sizeof *list, by_number);
    for (size_t i = 1; i < run->count; i++)
        if (list[i].number == list[i - 1].number &&
            item_at(run, list[i].place)->rank == item_at(run, list[i - 1].place)->rank)
            return false;
    return true;
}

static bool has_one_label(const struct run *run, const struct numbered *list, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (item_at(run, list[i].place)->label != item_at(run, list[0].place)->label)
            return false;
    return true;
}

static bool match_numbers(struct run *run, const struct numbered *list, struct gt_rank_collect *collect) {
    uint32_t *position_of = run->position_of;
    size_t first = run->firsts[run->reference], end = run->firsts[run->reference + 1];
    bool ok = true;
    for (size_t i = 0; i < run->count; i++)
        position_of[i] = GT_RANK_NONE;
    for (size_t i = 0, last; i < run->count; i = last) {
        uint32_t index = GT_RANK_NONE;
        for (last = i + 1; last < run->count && list[last].number == list[i].number; last++)
            continue;
        for (size_t k = i; k < last; k++)
            if (list[k].place >= first && list[k].place < end)
                index = (uint32_t)(list[k].place - first);
        bool is_match = last - i > 1 && has_one_label(run, list + i, last - i);
        for (size_t k = i; k < last; k++) {
            position_of[list[k].place] = index;
            if (!is_match && last - i > 1)
                leave(run, list[k].place, GT_ITEM_MISMATCH);
        }
        if (!is_match)
            continue;
        ok = ok && gt_rank_collect_begin(collect, index, run->rung);
        for (size_t k = i; ok && k < last; k++)
            gt_rank_collect_add(collect, run->job, run->items[list[k].place]);
    }
    return ok;
}

/* ---- by lists ---- */

static bool is_listed(const struct run *run) {
    return run->list_count > 1 && run->rung > GT_RUNG_SEQ;
}

static void fill_lists(struct matching *matching, const struct run *run) {
    const struct gt_rank_job *job = matching->job;
    for (size_t i = 0; i < run->count; i++) {
        const struct gt_rank_item *item = item_at(run, i);
        const struct gt_rank_summary *summary = job->ranks[item->rank].summary;
        const struct gt_rank_kernel *kernel = &summary->kernels[item->kernel];
        bool has_step = summary->head.steps_are_numbered && kernel->step != GT_RANK_NONE;
        size_t place = run->first_listed + i;
        matching->end_ns[place] = kernel->end_ns;
        matching->label[place] = item->label;
        matching->step[place] = has_step ? summary->steps[kernel->step].number : GT_RANK_JOIN_NO_STEP;
    }
}

static struct gt_rank_join_list list_at(const struct matching *matching, const struct run *run, size_t index) {
    size_t first = run->first_listed + run->firsts[index];
    return (struct gt_rank_join_list){matching->end_ns + first, matching->label + first, matching->step + first,
                                      run->firsts[index + 1] - run->firsts[index]};
}

/* All lists of the run are to be joined to the longest. */
static void add_pairs(struct matching *matching, const struct run *run) {
    struct gt_rank_join_list reference = list_at(matching, run, run->reference);
    for (size_t l = 0; l < run->list_count; l++) {
        uint32_t *partner = run->position_of + run->firsts[l];
        if (l != run->reference)
            matching->pairs[matching->pair_count++] = (struct gt_rank_join_pair){
                .a = reference, .b = list_at(matching, run, l), .are_messages = run->is_channel, .partner = partner};
        for (size_t i = 0; l == run->reference && i < reference.count; i++)
            partner[i] = (uint32_t)i;
    }
}

static bool list_runs(struct matching *matching) {
    size_t listed = 0;
    for (size_t r = 0; r < matching->run_count; r++) {
        matching->runs[r].first_listed = listed;
        listed += is_listed(&matching->runs[r]) ? matching->runs[r].count : 0;
    }
    matching->end_ns = gt_mem_uninitialised(listed, sizeof *matching->end_ns);
    matching->step = gt_mem_uninitialised(listed, sizeof *matching->step);
    matching->label = gt_mem_uninitialised(listed, sizeof *matching->label);
    if (!matching->end_ns || !matching->step || !matching->label)
        return false;
    for (size_t r = 0; r < matching->run_count; r++)
        if (is_listed(&matching->runs[r])) {
            fill_lists(matching, &matching->runs[r]);
            add_pairs(matching, &matching->runs[r]);
        }
    return true;
}

static void release_lists(struct matching *matching) {
    gt_mem_free(matching->end_ns);
    gt_mem_free(matching->step);
    gt_mem_free(matching->label);
    matching->end_ns = matching->step = NULL;
    matching->label = NULL;
}

/* By position in the reference list, then rank: items that are joined to it. */
static bool collect_lists(struct run *run, struct gt_rank_collect *collect) {
    const uint32_t *position_of = run->position_of;
    size_t first = run->firsts[run->reference], length = run->firsts[run->reference + 1] - first;
    size_t *next = gt_mem_array(length + 1, sizeof *next);
    uint32_t *places = gt_mem_uninitialised(run->count, sizeof *places);
    bool ok = next && places;
    for (size_t i = 0; ok && i < run->count; i++)
        if (position_of[i] != GT_RANK_NONE)
            next[position_of[i] + 1]++;
    for (size_t i = 0; ok && i < length; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; ok && i < run->count; i++)
        if (position_of[i] != GT_RANK_NONE)
            places[next[position_of[i]]++] = (uint32_t)i; /* ascending, so by rank */
    for (size_t index = 0; ok && index < length; index++) {
        size_t begin = index ? next[index - 1] : 0;
        if (next[index] - begin < 2)
            continue;
        ok = gt_rank_collect_begin(collect, (uint32_t)index, run->rung);
        for (size_t k = begin; ok && k < next[index]; k++)
            gt_rank_collect_add(collect, run->job, run->items[places[k]]);
    }
    gt_mem_free(next);
    gt_mem_free(places);
    return ok;
}

/* ---- a run ---- */

static enum gt_rank_rung rung_of_lists(const struct gt_rank_set_group *group) {
    return group->is_of_names ? GT_RUNG_NAMES : group->communicator != UINT64_MAX ? GT_RUNG_HASH : GT_RUNG_ORDER;
}

static void leave_alone(struct run *run) {
    const struct gt_rank_item *first = item_at(run, 0);
    bool has_peer = run->is_channel ? first->src != GT_RANK_NONE && first->dst != GT_RANK_NONE
                                    : run->job->groups[first->group].present > 1;
    for (size_t i = 0; i < run->count; i++)
        leave(run, i, has_peer ? GT_ITEM_UNMATCHED : GT_ITEM_ALONE);
}

static bool find_rung(struct run *run) {
    struct gt_rank_set_group *group = &run->job->groups[item_at(run, 0)->group];
    struct numbered *list = gt_mem_uninitialised(run->count, sizeof *list);
    run->rung = rung_of_lists(group);
    for (int rung = GT_RUNG_SEQ; list && !run->is_channel && rung >= GT_RUNG_COMMS_ID; rung--)
        if (has_numbers(run, (enum gt_rank_rung)rung, list))
            run->rung = (enum gt_rank_rung)rung;
    group->rungs |= 1u << run->rung;
    gt_mem_free(list);
    return list != NULL;
}

static bool begin_run(struct run *run) {
    run->is_channel = gt_comms_op_kind((enum gt_comm_op)item_at(run, 0)->op) == GT_COMM_KIND_MESSAGE;
    if (run->list_count < 2) {
        leave_alone(run);
        return true;
    }
    return find_rung(run);
}

static bool end_run(struct run *run, struct gt_rank_collect *collect) {
    if (run->list_count < 2)
        return true;
    bool ok;
    size_t collected = collect->count;
    if (run->rung <= GT_RUNG_SEQ) {
        struct numbered *list = gt_mem_uninitialised(run->count, sizeof *list);
        ok = list && has_numbers(run, run->rung, list) && match_numbers(run, list, collect);
        gt_mem_free(list);
    } else {
        ok = collect_lists(run, collect);
    }
    if (ok)
        judge_rest(run);
    return ok && (run->is_channel || find_holes(run, collect, collected));
}

/* ---- all ---- */

static bool sort_items(struct matching *matching) {
    struct gt_rank_job *job = matching->job;
    matching->order = gt_mem_uninitialised(job->item_count, sizeof *matching->order);
    for (uint32_t i = 0; matching->order && i < job->item_count; i++)
        matching->order[i] = i;
    if (matching->order && job->item_count)
        qsort_r(matching->order, job->item_count, sizeof *matching->order, by_run, job->items);
    return matching->order != NULL;
}

/* Runs and their lists; the firsts of each run have one more than it has lists. */
static bool find_runs(struct matching *matching) {
    struct gt_rank_job *job = matching->job;
    const uint32_t *order = matching->order;
    size_t lists = 0, used = 0;
    for (size_t i = 0, end; i < job->item_count; i = end) {
        for (end = i + 1; end < job->item_count && is_same_run(&job->items[order[i]], &job->items[order[end]]); end++)
            lists += job->items[order[end]].rank != job->items[order[end - 1]].rank;
        struct run *runs = gt_mem_room(matching->runs, matching->run_count, &matching->run_capacity, sizeof *runs);
        if (!runs)
            return false;
        matching->runs = runs;
        runs[matching->run_count++] = (struct run){.job = job, .items = order + i, .count = end - i};
        lists++;
    }
    matching->firsts = gt_mem_uninitialised(lists + matching->run_count, sizeof *matching->firsts);
    matching->pairs = gt_mem_array(lists, sizeof *matching->pairs);
    matching->position_of = gt_mem_uninitialised(job->item_count, sizeof *matching->position_of);
    if (!matching->firsts || !matching->pairs || !matching->position_of)
        return false;
    for (size_t r = 0; r < matching->run_count; r++) {
        struct run *run = &matching->runs[r];
        run->firsts = matching->firsts + used;
        run->position_of = matching->position_of + (run->items - order);
        set_lists(run);
        used += run->list_count + 1;
    }
    return true;
}

static bool join_all(struct matching *matching) {
    struct gt_rank_job *job = matching->job;
    if (!gt_rank_joins_run(matching->pairs, matching->pair_count, &job->options))
        return false;
    for (size_t i = 0; i < matching->pair_count; i++)
        job->issues[GT_RANK_ISSUE_MESSAGE_SHIFT_GUESSED] += matching->pairs[i].is_guessed;
    return true;
}

/* Who differs most from the others of the first group that does not do the same everywhere. */
static bool find_worst(struct gt_rank_job *job) {
    uint32_t g = 0;
    while (g < job->group_count && job->groups[g].first_mismatch < 0)
        g++;
    if (g == job->group_count)
        return true;
    size_t *counts = gt_mem_array(job->rank_count, sizeof *counts);
    struct gt_rank_set_group *group = &job->groups[g];
    for (size_t i = 0; counts && i < job->item_count; i++) {
        const struct gt_rank_item *item = &job->items[i];
        if (item->group != g || (item->state != GT_ITEM_UNMATCHED && item->state != GT_ITEM_MISMATCH))
            continue;
        size_t count = ++counts[item->rank];
        if (count > group->worst_unmatched || (count == group->worst_unmatched && item->rank < group->worst_rank)) {
            group->worst_unmatched = count;
            group->worst_rank = item->rank;
        }
    }
    gt_mem_free(counts);
    return counts != NULL;
}

static void matching_release(struct matching *matching) {
    gt_mem_free(matching->order);
    gt_mem_free(matching->runs);
    gt_mem_free(matching->firsts);
    gt_mem_free(matching->position_of);
    release_lists(matching);
    gt_mem_free(matching->pairs);
}

bool gt_rank_match(struct gt_rank_job *job) {
    struct gt_rank_collect collect = {0};
    struct matching matching = {.job = job};
    bool ok = sort_items(&matching) && find_runs(&matching);
    for (size_t r = 0; ok && r < matching.run_count; r++)
        ok = begin_run(&matching.runs[r]);
    ok = ok && list_runs(&matching) && join_all(&matching);
    release_lists(&matching);
    for (size_t r = 0; ok && r < matching.run_count; r++)
        ok = end_run(&matching.runs[r], &collect);
    matching_release(&matching);
    ok = ok && find_worst(job) && gt_rank_collect_finish(&collect, job);
    gt_rank_collect_release(&collect);
    return ok;
}
