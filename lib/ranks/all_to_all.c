/* Measures all_to_alls by their splits: sizes of each member come in, loads and a matrix of bytes go out. */
#include "ranks/all_to_all.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "events/comms.h"
#include "ranks/rank_items.h"

enum { MATRIX_MAX = 256 }; /* members of a group; a larger one gets no matrix */

/* ---- bytes of a member ---- */

/* NCCL's own call has the bytes for one other member; a group call of messages has splits. */
static uint64_t whole(const struct gt_rank_job *job, const struct gt_rank_item *item,
                      const struct gt_rank_item_sizes *sizes, uint64_t bytes) {
    const struct gt_rank_set_group *group = &job->groups[item->group];
    if (group->communicator == UINT64_MAX || sizes->in_count || bytes == UINT64_MAX)
        return bytes;
    return bytes * (uint64_t)group->size;
}

uint64_t gt_all_to_all_in(const struct gt_rank_job *job, const struct gt_rank_item *item) {
    struct gt_rank_item_sizes sizes = gt_rank_items_sizes(job, item);
    return whole(job, item, &sizes, sizes.in_bytes != UINT64_MAX ? sizes.in_bytes : sizes.out_bytes);
}

uint64_t gt_all_to_all_out(const struct gt_rank_job *job, const struct gt_rank_item *item) {
    struct gt_rank_item_sizes sizes = gt_rank_items_sizes(job, item);
    return whole(job, item, &sizes, sizes.out_bytes != UINT64_MAX ? sizes.out_bytes : sizes.in_bytes);
}

struct split {
    const int64_t *parts;
    uint64_t bytes;
    unsigned __int128 sum;
};

static bool split_init(struct split *split, const int64_t *parts, size_t count, uint64_t bytes, size_t size) {
    *split = (struct split){parts, bytes, 0};
    if (count != size || bytes == UINT64_MAX)
        return false;
    for (size_t i = 0; i < count; i++)
        split->sum += (uint64_t)parts[i];
    return true;
}

static uint64_t part_of(const struct split *split, size_t place) {
    return split->sum ? (uint64_t)((unsigned __int128)split->bytes * (uint64_t)split->parts[place] / split->sum) : 0;
}

static uint64_t part_of_others(const struct split *split, size_t size, size_t own) {
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += i == own ? 0 : part_of(split, i);
    return sum;
}

static size_t place_of(const struct gt_rank_set_group *group, int64_t number) {
    size_t place = 0;
    while (place < group->member_count && group->members[place] != number)
        place++;
    return place;
}

/* ---- a collective ---- */

struct measuring {
    struct gt_rank_job *job;
    uint64_t *bytes, *count;         /* of the group at hand: by place of the sender, then of the receiver */
    uint64_t even_bytes, even_count; /* for each pair of places */
    uint32_t *wins;                  /* by rank: how often it receives most */
    size_t flow_capacity, load_count;
};

static bool is_even(const struct gt_rank_job *job, const struct gt_rank_collective *collective) {
    const struct gt_rank_member *members = &job->members[collective->first_member];
    uint64_t first = gt_all_to_all_in(job, &job->items[members[0].item]);
    bool is_same = first != UINT64_MAX;
    for (size_t m = 0; m < collective->member_count; m++) {
        const struct gt_rank_item *item = &job->items[members[m].item];
        struct gt_rank_item_sizes sizes = gt_rank_items_sizes(job, item);
        is_same &= gt_all_to_all_in(job, item) == first && gt_all_to_all_out(job, item) == first &&
                   sizes.in_count == 0 && sizes.out_count == 0;
    }
    return is_same;
}

static bool load_splits(struct gt_rank_job *job, const struct gt_rank_collective *collective,
                        struct gt_rank_load *loads) {
    const struct gt_rank_set_group *group = &job->groups[collective->group];
    for (size_t m = 0; m < collective->member_count; m++) {
        const struct gt_rank_member *member = &job->members[collective->first_member + m];
        struct gt_rank_item_sizes sizes = gt_rank_items_sizes(job, &job->items[member->item]);
        size_t own = place_of(group, job->ranks[member->rank].number);
        struct split in, out;
        if (own == group->member_count ||
            !split_init(&in, sizes.in_splits, sizes.in_count, sizes.in_bytes, group->member_count) ||
            !split_init(&out, sizes.out_splits, sizes.out_count, sizes.out_bytes, group->member_count))
            return false;
        uint64_t sent = part_of_others(&in, group->member_count, own);
        uint64_t received = part_of_others(&out, group->member_count, own);
        uint64_t load = sent > received ? sent : received;
        loads[m].bytes = load > INT64_MAX ? INT64_MAX : (int64_t)load;
    }
    return true;
}

static void load_evenly(struct gt_rank_job *job, const struct gt_rank_collective *collective,
                        struct gt_rank_load *loads) {
    uint64_t size = (uint64_t)job->groups[collective->group].size;
    for (size_t m = 0; m < collective->member_count; m++) {
        const struct gt_rank_member *member = &job->members[collective->first_member + m];
        uint64_t bytes = gt_all_to_all_in(job, &job->items[member->item]);
        uint64_t load = bytes - bytes / size;
        loads[m].bytes = load > INT64_MAX ? INT64_MAX : (int64_t)load;
    }
}

static void add_flows(struct measuring *measuring, const struct gt_rank_collective *collective) {
    struct gt_rank_job *job = measuring->job;
    const struct gt_rank_set_group *group = &job->groups[collective->group];
    size_t size = group->member_count;
    if (!measuring->bytes)
        return;
    for (size_t m = 0; m < collective->member_count; m++) {
        const struct gt_rank_member *member = &job->members[collective->first_member + m];
        struct gt_rank_item_sizes sizes = gt_rank_items_sizes(job, &job->items[member->item]);
        size_t own = place_of(group, job->ranks[member->rank].number);
        struct split in;
        split_init(&in, sizes.in_splits, sizes.in_count, sizes.in_bytes, size);
        for (size_t i = 0; i < size; i++) {
            measuring->bytes[own * size + i] += part_of(&in, i);
            measuring->count[own * size + i]++;
        }
    }
}

static void find_imbalance(struct measuring *measuring, struct gt_rank_collective *collective) {
    struct gt_rank_job *job = measuring->job;
    uint64_t most = 0;
    double sum = 0;
    uint32_t hot = job->members[collective->first_member].rank;
    for (size_t m = 0; m < collective->member_count; m++) {
        const struct gt_rank_member *member = &job->members[collective->first_member + m];
        uint64_t received = gt_all_to_all_out(job, &job->items[member->item]);
        sum += (double)received;
        hot = received > most ? member->rank : hot;
        most = received > most ? received : most;
    }
    collective->imbalance = sum > 0 ? (double)most * (double)collective->member_count / sum : NAN;
    measuring->wins[hot] += collective->imbalance > 1.1;
    if (collective->imbalance > job->imbalance || isnan(job->imbalance))
        job->imbalance = collective->imbalance;
}

static void measure_one(struct measuring *measuring, struct gt_rank_collective *collective) {
    struct gt_rank_job *job = measuring->job;
    struct gt_rank_load *loads = job->loads + measuring->load_count;
    if (load_splits(job, collective, loads)) {
        add_flows(measuring, collective);
    } else if (is_even(job, collective)) {
        load_evenly(job, collective, loads);
        measuring->even_bytes += gt_all_to_all_in(job, &job->items[job->members[collective->first_member].item]) /
                                 (uint64_t)job->groups[collective->group].size;
        measuring->even_count++;
    } else {
        job->issues[GT_RANK_ISSUE_SPLITS_UNKNOWN]++;
        return;
    }
    collective->first_load = (uint32_t)measuring->load_count;
    measuring->load_count += collective->member_count;
    find_imbalance(measuring, collective);
}

/* ---- a group ---- */

static bool put_flows(struct measuring *measuring, uint32_t number) {
    struct gt_rank_job *job = measuring->job;
    const struct gt_rank_set_group *group = &job->groups[number];
    size_t size = group->member_count;
    for (size_t i = 0; measuring->bytes && i < size * size; i++) {
        bool is_read = gt_rank_job_find(job, group->members[i / size]) != GT_RANK_NONE;
        uint64_t even_count = is_read ? measuring->even_count : 0;
        if (!measuring->count[i] && !even_count)
            continue;
        struct gt_rank_flow *flows =
            gt_arena_room(&job->arena, job->flows, job->flow_count, &measuring->flow_capacity, sizeof *flows);
        if (!flows)
            return false;
        job->flows = flows;
        flows[job->flow_count++] = (struct gt_rank_flow){number, group->members[i / size], group->members[i % size],
                                                         measuring->count[i] + even_count,
                                                         measuring->bytes[i] + (is_read ? measuring->even_bytes : 0)};
    }
    return true;
}

static bool measure_group(struct measuring *measuring, uint32_t number, const uint32_t *order, size_t count) {
    struct gt_rank_job *job = measuring->job;
    size_t size = job->groups[number].member_count;
    bool has_matrix = size <= MATRIX_MAX;
    measuring->bytes = has_matrix ? gt_mem_array(size * size, sizeof *measuring->bytes) : NULL;
    measuring->count = has_matrix ? gt_mem_array(size * size, sizeof *measuring->count) : NULL;
    measuring->even_bytes = measuring->even_count = 0;
    bool ok = !has_matrix || (measuring->bytes && measuring->count);
    for (size_t i = 0; ok && i < count; i++)
        measure_one(measuring, &job->collectives[order[i]]);
    ok = ok && put_flows(measuring, number);
    gt_mem_free(measuring->bytes);
    gt_mem_free(measuring->count);
    return ok;
}

static int by_group(const void *a, const void *b, void *context) {
    const struct gt_rank_collective *list = context;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (list[i].group != list[j].group)
        return list[i].group < list[j].group ? -1 : 1;
    return (i > j) - (i < j);
}

bool gt_all_to_all_measure(struct gt_rank_job *job) {
    struct measuring measuring = {.job = job, .wins = gt_mem_array(job->rank_count, sizeof *measuring.wins)};
    uint32_t *order = gt_mem_uninitialised(job->collective_count, sizeof *order);
    size_t count = 0, members = 0;
    bool ok = measuring.wins && order;
    job->hot_rank = GT_RANK_NONE;
    job->imbalance = NAN;
    for (uint32_t c = 0; ok && c < job->collective_count; c++)
        if (job->collectives[c].op == GT_COMM_all_to_all) {
            order[count++] = c;
            members += job->collectives[c].member_count;
        }
    job->loads = gt_arena_array(&job->arena, members, sizeof *job->loads);
    ok = ok && job->loads;
    if (ok && count)
        qsort_r(order, count, sizeof *order, by_group, job->collectives);
    for (size_t i = 0, end; ok && i < count; i = end) {
        for (end = i + 1; end < count && job->collectives[order[end]].group == job->collectives[order[i]].group; end++)
            continue;
        ok = measure_group(&measuring, job->collectives[order[i]].group, order + i, end - i);
    }
    for (uint32_t r = 0; ok && r < job->rank_count; r++)
        if (measuring.wins[r] && (job->hot_rank == GT_RANK_NONE || measuring.wins[r] > measuring.wins[job->hot_rank]))
            job->hot_rank = r;
    gt_mem_free(measuring.wins);
    gt_mem_free(order);
    return ok;
}
