/* Matches items: those of a group, or of a channel between two ranks, are identified by a number that all ranks know,
   or else joined as lists in order of time. */
#include "ranks/rank_match.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/threads.h"
#include "events/comms.h"
#include "ranks/rank_collect.h"
#include "ranks/rank_join.h"

/* A run of items in `order` that belong to one group or channel, by rank and time. */
struct run {
    struct gt_rank_job *job;
    const uint32_t *items;
    size_t count;
    size_t *firsts; /* of each rank's list, and the end of the last */
    size_t list_count;
    size_t reference; /* the longest list */
    enum gt_rank_rung rung;
    bool is_channel;
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

static void note_mismatch(struct run *run, size_t position) {
    int64_t *first = &run->job->groups[item_at(run, 0)->group].first_mismatch;
    if (*first < 0 || (int64_t)position < *first)
        *first = (int64_t)position;
}

/* Of each list, what is before the first and after the last match is outside; what is between is a hole. position_of:
   by place, its place in the reference list or that of the match before it. */
static void judge_rest(struct run *run, const uint32_t *position_of) {
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
                note_mismatch(run, l == run->reference ? i - first : before);
        }
    }
}

/* ---- by numbers ---- */

static uint64_t number_of(const struct gt_rank_item *item, enum gt_rank_rung rung) {
    return rung == GT_RUNG_COMMS_ID ? item->comms_id : (uint64_t)item->sequence;
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
        const struct gt_rank_item *item = item_at(run, i);
        if (rung == GT_RUNG_COMMS_ID ? item->comms_id == UINT64_MAX : item->sequence < 0)
            return false;
        list[i] = (struct numbered){number_of(item, rung), (uint32_t)i};
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

static bool match_numbers(struct run *run, const struct numbered *list, uint32_t *position_of,
                          struct gt_rank_collect *collect) {
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
            ok = gt_rank_collect_add(collect, run->job, run->items[list[k].place]);
    }
    return ok;
}

/* ---- by lists ---- */

struct lists {
    int64_t *end_ns, *step;
    uint64_t *label;
};

static bool lists_init(struct lists *lists, const struct run *run) {
    lists->end_ns = gt_mem_uninitialised(run->count, sizeof *lists->end_ns);
    lists->step = gt_mem_uninitialised(run->count, sizeof *lists->step);
    lists->label = gt_mem_uninitialised(run->count, sizeof *lists->label);
    if (!lists->end_ns || !lists->step || !lists->label)
        return false;
    for (size_t i = 0; i < run->count; i++) {
        const struct gt_rank_item *item = item_at(run, i);
        const struct gt_rank_summary *summary = run->job->ranks[item->rank].summary;
        const struct gt_rank_kernel *kernel = &summary->kernels[item->kernel];
        bool has_step = summary->head.steps_are_numbered && kernel->step != GT_RANK_NONE;
        lists->end_ns[i] = kernel->end_ns;
        lists->label[i] = item->label;
        lists->step[i] = has_step ? summary->steps[kernel->step].number : GT_RANK_JOIN_NO_STEP;
    }
    return true;
}

static void lists_release(struct lists *lists) {
    gt_mem_free(lists->end_ns);
    gt_mem_free(lists->step);
    gt_mem_free(lists->label);
}

static struct gt_rank_join_list list_at(const struct run *run, const struct lists *lists, size_t index) {
    size_t first = run->firsts[index];
    return (struct gt_rank_join_list){lists->end_ns + first, lists->label + first, lists->step + first,
                                      run->firsts[index + 1] - first};
}

/* Joining all lists to the longest, on threads. */
struct join_work {
    const struct run *run;
    const struct lists *lists;
    uint32_t *position_of;
    atomic_bool failed;
    atomic_size_t guessed;
};

static void join_one(void *context, size_t index) {
    struct join_work *work = context;
    const struct run *run = work->run;
    struct gt_rank_join_list reference = list_at(run, work->lists, run->reference);
    struct gt_rank_join_list list = list_at(run, work->lists, index);
    uint32_t *partner = work->position_of + run->firsts[index];
    bool is_guessed = false;
    if (index == run->reference) {
        for (size_t i = 0; i < list.count; i++)
            partner[i] = (uint32_t)i;
        return;
    }
    if (!gt_rank_join(&reference, &list, run->is_channel, partner, &is_guessed))
        atomic_store(&work->failed, true);
    atomic_fetch_add(&work->guessed, is_guessed);
}

/* position_of: by place, the place in the reference list that it is joined to. */
static bool join_lists(struct run *run, const struct lists *lists, uint32_t *position_of) {
    enum { WORTH_THREADS = 10000 };
    struct join_work work = {.run = run, .lists = lists, .position_of = position_of};
    size_t threads = run->count < WORTH_THREADS ? 1 : gt_threads_count(run->job->options.threads);
    atomic_init(&work.failed, false);
    atomic_init(&work.guessed, 0);
    gt_threads_deal(threads, run->list_count, join_one, &work);
    run->job->issues[GT_RANK_ISSUE_MESSAGE_SHIFT_GUESSED] += atomic_load(&work.guessed);
    return !atomic_load(&work.failed);
}

/* By position in the reference list, then rank: items that are joined to it. */
static bool collect_lists(struct run *run, const uint32_t *position_of, struct gt_rank_collect *collect) {
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
            ok = gt_rank_collect_add(collect, run->job, run->items[places[k]]);
    }
    gt_mem_free(next);
    gt_mem_free(places);
    return ok;
}

static bool match_lists(struct run *run, uint32_t *position_of, struct gt_rank_collect *collect) {
    struct lists lists = {0};
    bool ok =
        lists_init(&lists, run) && join_lists(run, &lists, position_of) && collect_lists(run, position_of, collect);
    lists_release(&lists);
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

static bool match_run(struct run *run, struct gt_rank_collect *collect) {
    const struct gt_rank_item *first = item_at(run, 0);
    struct gt_rank_set_group *group = &run->job->groups[first->group];
    run->is_channel = gt_comms_op_kind((enum gt_comm_op)first->op) == GT_COMM_KIND_MESSAGE;
    set_lists(run);
    if (run->list_count < 2) {
        leave_alone(run);
        return true;
    }
    struct numbered *list = gt_mem_uninitialised(run->count, sizeof *list);
    uint32_t *position_of = gt_mem_uninitialised(run->count, sizeof *position_of);
    bool ok = list && position_of;
    run->rung = rung_of_lists(group);
    for (int rung = GT_RUNG_SEQ; ok && !run->is_channel && rung >= GT_RUNG_COMMS_ID; rung--)
        if (has_numbers(run, (enum gt_rank_rung)rung, list))
            run->rung = (enum gt_rank_rung)rung;
    group->rungs |= 1u << run->rung;
    if (ok && run->rung <= GT_RUNG_SEQ)
        ok = has_numbers(run, run->rung, list) && match_numbers(run, list, position_of, collect);
    else if (ok)
        ok = match_lists(run, position_of, collect);
    if (ok)
        judge_rest(run, position_of);
    gt_mem_free(list);
    gt_mem_free(position_of);
    return ok;
}

bool gt_rank_match(struct gt_rank_job *job) {
    struct gt_rank_collect collect = {0};
    uint32_t *order = gt_mem_uninitialised(job->item_count, sizeof *order);
    size_t *firsts = gt_mem_uninitialised(job->rank_count + 1, sizeof *firsts);
    bool ok = order && firsts;
    for (uint32_t i = 0; ok && i < job->item_count; i++)
        order[i] = i;
    if (ok && job->item_count)
        qsort_r(order, job->item_count, sizeof *order, by_run, job->items);
    for (size_t i = 0, end; ok && i < job->item_count; i = end) {
        for (end = i + 1; end < job->item_count && is_same_run(&job->items[order[i]], &job->items[order[end]]); end++)
            continue;
        struct run run = {.job = job, .items = order + i, .count = end - i, .firsts = firsts};
        ok = match_run(&run, &collect);
    }
    gt_mem_free(order);
    gt_mem_free(firsts);
    ok = ok && gt_rank_collect_finish(&collect, job);
    gt_rank_collect_release(&collect);
    return ok;
}
