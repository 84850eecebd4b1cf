/* Makes items: in comes what kernels carry, out go collectives and messages with peers that are ranks. A group call
   that exchanges something with every other member is an all_to_all. */
#include "ranks/rank_items.h"

#include "base/map.h"
#include "base/mem.h"
#include "events/comms.h"

struct making {
    struct gt_rank_job *job;
    const struct gt_rank_group_map *maps;
    struct gt_map labels; /* by hash: their numbers */
};

/* ---- labels ---- */

static uint64_t mixed(uint64_t hash, uint64_t value) {
    hash ^= value + 0x9E3779B97F4A7C15u + (hash << 6) + (hash >> 2);
    hash *= 0xFF51AFD7ED558CCDu;
    return hash ^ (hash >> 32);
}

static uint64_t hash_of(struct gt_str text) {
    uint64_t hash = text.len;
    for (size_t i = 0; i < text.len; i++)
        hash = mixed(hash, (unsigned char)text.ptr[i]);
    return hash;
}

/* How large a collective is to a rank; of a message what is sent. */
static uint64_t bytes_of(enum gt_comm_op op, uint64_t in_bytes, uint64_t out_bytes) {
    const struct gt_comms_row row = {.in_bytes = in_bytes, .out_bytes = out_bytes};
    return gt_comms_bytes(&row, op);
}

/* Sizes of an all_to_all differ between ranks, and the ends of a message call it differently. */
static uint64_t label_of(enum gt_comm_op op, uint64_t bytes, struct gt_str dtype) {
    if (op == GT_COMM_all_to_all)
        return mixed(0, op);
    if (op == GT_COMM_send || op == GT_COMM_recv)
        return mixed(1, bytes);
    return mixed(mixed(mixed(2, op), bytes), hash_of(dtype));
}

/* Equal numbers for equal labels. */
static uint32_t number_of(struct making *making, uint64_t label) {
    return gt_map_put_if_new(&making->labels, 0, label, (uint32_t)making->labels.count);
}

/* ---- items ---- */

static struct gt_rank_item *add_item(struct making *making, uint32_t rank, uint32_t kernel, uint32_t group,
                                     enum gt_comm_op op) {
    struct gt_rank_job *job = making->job;
    struct gt_rank_item *items = job->items; /* there is room for all */
    items[job->item_count] = (struct gt_rank_item){.rank = rank,
                                                   .kernel = kernel,
                                                   .group = group,
                                                   .src = GT_RANK_NONE,
                                                   .dst = GT_RANK_NONE,
                                                   .carried = GT_RANK_NONE,
                                                   .collective = GT_RANK_NONE,
                                                   .op = (uint8_t)op};
    return &items[job->item_count++];
}

static bool add_made(struct gt_rank_job *job, struct gt_rank_item *item, struct gt_rank_made made) {
    struct gt_rank_made *list = gt_mem_room(job->made, job->made_count, &job->made_capacity, sizeof *list);
    if (!list || job->made_count >= GT_RANK_NONE)
        return false;
    job->made = list;
    item->is_made = true;
    item->carried = (uint32_t)job->made_count;
    list[job->made_count++] = made;
    return true;
}

/* carried: a place in what its rank carries. */
static struct gt_rank_item *add_carried(struct making *making, uint32_t rank, uint32_t kernel, uint32_t carried,
                                        uint32_t group, uint64_t in_bytes) {
    const struct gt_rank_summary *summary = making->job->ranks[rank].summary;
    const struct gt_rank_call *call = gt_rank_summary_call(summary, carried);
    enum gt_comm_op op = (enum gt_comm_op)call->op;
    struct gt_rank_item *item = add_item(making, rank, kernel, group, op);
    item->carried = carried;
    item->label = number_of(
        making, label_of(op, bytes_of(op, in_bytes, call->out_bytes), gt_rank_summary_text(summary, call->dtype)));
    return item;
}

uint32_t gt_rank_items_carried(const struct gt_rank_job *job, const struct gt_rank_item *item) {
    return item->is_made ? job->made[item->carried].carried : item->carried;
}

struct gt_rank_item_sizes gt_rank_items_sizes(const struct gt_rank_job *job, const struct gt_rank_item *item) {
    const struct gt_rank_summary *summary = job->ranks[item->rank].summary;
    const struct gt_rank_made *made = item->is_made ? &job->made[item->carried] : NULL;
    uint32_t carried = gt_rank_items_carried(job, item);
    struct gt_rank_item_sizes sizes = {.in_bytes = UINT64_MAX, .out_bytes = UINT64_MAX, .root = INT64_MIN};
    if (carried != GT_RANK_NONE) {
        const struct gt_rank_call *call = gt_rank_summary_call(summary, carried);
        bool is_message = call->op == GT_COMM_send || call->op == GT_COMM_recv;
        sizes = (struct gt_rank_item_sizes){
            .in_bytes = is_message ? bytes_of(GT_COMM_send, call->in_bytes, call->out_bytes) : call->in_bytes,
            .out_bytes = call->out_bytes,
            .root = call->root,
            .in_splits = summary->numbers + call->in_splits,
            .out_splits = summary->numbers + call->out_splits,
            .in_count = call->in_count,
            .out_count = call->out_count};
    }
    if (made) {
        sizes.in_bytes = made->in_bytes;
        sizes.out_bytes = made->out_bytes;
    }
    if (made && made->count) {
        sizes.in_splits = made->in_splits;
        sizes.out_splits = made->out_splits;
        sizes.in_count = sizes.out_count = made->count;
    }
    return sizes;
}

/* ---- peers ---- */

static bool is_message(const struct gt_rank_call *call) {
    return call->op == GT_COMM_send || call->op == GT_COMM_recv;
}

/* The number of a message's peer; -1: there is no such rank. */
static int64_t peer_number(const struct gt_rank_set_group *group, int64_t peer, bool is_place) {
    if (!is_place)
        return peer;
    return peer >= 0 && (size_t)peer < group->member_count ? group->members[peer] : -1;
}

static void add_message(struct making *making, uint32_t rank, uint32_t kernel, uint32_t carried, uint32_t group) {
    struct gt_rank_job *job = making->job;
    const struct gt_rank_set_group *it = &job->groups[group];
    const struct gt_rank_call *call = gt_rank_summary_call(job->ranks[rank].summary, carried);
    struct gt_rank_item *item =
        add_carried(making, rank, kernel, carried, group, bytes_of(GT_COMM_send, call->in_bytes, call->out_bytes));
    int64_t number = peer_number(it, call->peer, it->are_peers_places);
    uint32_t peer = number < 0 ? GT_RANK_NONE : gt_rank_job_find(job, number);
    item->src = call->op == GT_COMM_send ? rank : peer;
    item->dst = call->op == GT_COMM_send ? peer : rank;
}

/* ---- whether peers are places in the group or numbers of ranks ---- */

struct channels {
    struct gt_map index_of; /* (group, src, dst) -> balance */
    int64_t *balance;       /* sends without receives */
    uint32_t *groups;
    size_t count, capacity, group_capacity;
    bool failed;
};

static void add_to_channel(struct channels *channels, uint32_t group, int64_t src, int64_t dst, int64_t sent) {
    uint64_t ends = (uint64_t)(src + 1) << 32 | (uint64_t)(dst + 1);
    uint32_t index = gt_map_get(&channels->index_of, group, ends);
    if (index == GT_MAP_NONE) {
        int64_t *balance =
            gt_mem_room(channels->balance, channels->count, &channels->capacity, sizeof *channels->balance);
        uint32_t *groups =
            gt_mem_room(channels->groups, channels->count, &channels->group_capacity, sizeof *channels->groups);
        channels->balance = balance ? balance : channels->balance;
        channels->groups = groups ? groups : channels->groups;
        channels->failed |= !balance || !groups;
        if (channels->failed)
            return;
        index = (uint32_t)channels->count++;
        balance[index] = 0;
        groups[index] = group;
        gt_map_put(&channels->index_of, group, ends, index);
    }
    channels->balance[index] += sent;
}

/* For each group the messages that are left alone if peers are read in this way. */
static bool count_alone(const struct making *making, bool are_places, uint64_t *alone) {
    const struct gt_rank_job *job = making->job;
    struct channels channels = {0};
    for (uint32_t r = 0; r < job->rank_count; r++) {
        const struct gt_rank_summary *summary = job->ranks[r].summary;
        for (size_t i = 0; i < summary->carried_count; i++) {
            const struct gt_rank_call *call = gt_rank_summary_call(summary, i);
            if (!is_message(call) || call->group == GT_RANK_NONE)
                continue;
            uint32_t group = making->maps[r].group_of[call->group];
            int64_t peer = peer_number(&job->groups[group], call->peer, are_places), own = job->ranks[r].number;
            bool is_sent = call->op == GT_COMM_send;
            if (peer < 0 || peer > INT32_MAX || own > INT32_MAX)
                alone[group]++;
            else
                add_to_channel(&channels, group, is_sent ? own : peer, is_sent ? peer : own, is_sent ? 1 : -1);
        }
    }
    for (size_t i = 0; i < channels.count; i++)
        alone[channels.groups[i]] += (uint64_t)(channels.balance[i] < 0 ? -channels.balance[i] : channels.balance[i]);
    bool ok = !channels.failed && !channels.index_of.failed;
    gt_map_release(&channels.index_of);
    gt_mem_free(channels.balance);
    gt_mem_free(channels.groups);
    return ok;
}

static bool choose_peers(struct making *making) {
    struct gt_rank_job *job = making->job;
    uint64_t *global = gt_mem_array(job->group_count, sizeof *global);
    uint64_t *local = gt_mem_array(job->group_count, sizeof *local);
    bool ok = global && local && count_alone(making, false, global) && count_alone(making, true, local);
    for (size_t g = 0; ok && g < job->group_count; g++)
        job->groups[g].are_peers_places = job->groups[g].communicator != UINT64_MAX || local[g] < global[g];
    gt_mem_free(global);
    gt_mem_free(local);
    return ok;
}

/* ---- group calls ---- */

static void add_split(int64_t *split, uint64_t bytes) {
    if (bytes != UINT64_MAX && bytes < INT64_MAX / 2 && *split < INT64_MAX / 2)
        *split += (int64_t)bytes;
}

/* Messages to and from every other member are one all_to_all. *is_one says so. */
static bool add_exchange(struct making *making, uint32_t rank, uint32_t kernel, uint32_t group, bool *is_one) {
    struct gt_rank_job *job = making->job;
    const struct gt_rank_summary *summary = job->ranks[rank].summary;
    uint32_t first = summary->kernels[kernel].first_carried, count = gt_rank_summary_carried_count(summary, kernel);
    const struct gt_rank_set_group *it = &job->groups[group];
    size_t size = it->member_count, own = size, reached = 0;
    *is_one = false;
    for (size_t i = 0; i < size; i++)
        if (it->members[i] == job->ranks[rank].number)
            own = i;
    if (size < 2 || own == size || count < 2 * (size - 1))
        return true;
    int64_t *in = gt_arena_array(&job->arena, 2 * size, sizeof *in), *out = in ? in + size : NULL;
    uint8_t *ways = gt_mem_array(size, 1); /* 1: to it, 2: from it */
    bool ok = in && ways;
    for (size_t i = 0; ok && i < count; i++) {
        const struct gt_rank_call *call = gt_rank_summary_call(summary, first + i);
        bool is_sent = call->op == GT_COMM_send;
        uint64_t peer = (uint64_t)call->peer;
        if (peer >= size)
            continue;
        reached += peer != own && !(ways[peer] & (is_sent ? 1 : 2));
        ways[peer] |= is_sent ? 1 : 2;
        add_split(is_sent ? &in[peer] : &out[peer], bytes_of(GT_COMM_send, call->in_bytes, call->out_bytes));
    }
    gt_mem_free(ways);
    if (!ok || reached < 2 * (size - 1))
        return ok;
    *is_one = true;
    struct gt_rank_item *item = add_item(making, rank, kernel, group, GT_COMM_all_to_all);
    struct gt_rank_made made = {.in_splits = in, .out_splits = out, .count = (uint32_t)size, .carried = GT_RANK_NONE};
    for (size_t i = 0; i < size; i++) {
        made.in_bytes += (uint64_t)in[i];
        made.out_bytes += (uint64_t)out[i];
    }
    item->label = number_of(making, label_of(GT_COMM_all_to_all, 0, GT_STR("")));
    return add_made(job, item, made);
}

/* Several collectives in one call are one operation. */
static bool add_joined(struct making *making, uint32_t rank, uint32_t kernel, uint32_t group) {
    const struct gt_rank_summary *summary = making->job->ranks[rank].summary;
    uint32_t first = summary->kernels[kernel].first_carried, count = gt_rank_summary_carried_count(summary, kernel);
    const struct gt_rank_call *call = gt_rank_summary_call(summary, first);
    uint64_t in_bytes = count == 1 ? call->in_bytes : 0;
    for (uint32_t i = 0; i < count && count > 1; i++) {
        uint64_t bytes = gt_rank_summary_call(summary, first + i)->in_bytes;
        in_bytes += bytes == UINT64_MAX ? 0 : bytes;
    }
    struct gt_rank_item *item = add_carried(making, rank, kernel, first, group, in_bytes);
    return count == 1 ||
           add_made(making->job, item,
                    (struct gt_rank_made){.in_bytes = in_bytes, .out_bytes = call->out_bytes, .carried = first});
}

static bool add_kernel(struct making *making, uint32_t rank, uint32_t number) {
    struct gt_rank_job *job = making->job;
    const struct gt_rank_summary *summary = job->ranks[rank].summary;
    const struct gt_rank_kernel *kernel = &summary->kernels[number];
    const struct gt_rank_call *first = gt_rank_summary_call(summary, kernel->first_carried);
    uint32_t count = gt_rank_summary_carried_count(summary, number), messages = 0;
    bool is_one = false;
    for (uint32_t i = 0; i < count; i++)
        messages += is_message(gt_rank_summary_call(summary, kernel->first_carried + i));
    bool is_mixed = messages && messages < count;
    if (kernel->is_ambiguous || is_mixed || first->group == GT_RANK_NONE) {
        job->issues[kernel->is_ambiguous || is_mixed ? GT_RANK_ISSUE_COLLECTIVE_AMBIGUOUS_GROUP
                                                     : GT_RANK_ISSUE_COLLECTIVE_NO_METADATA]++;
        job->ranks[rank].unmatched++;
        return true;
    }
    uint32_t group = making->maps[rank].group_of[first->group];
    if (!messages)
        return add_joined(making, rank, number, group);
    if (job->groups[group].communicator != UINT64_MAX && !add_exchange(making, rank, number, group, &is_one))
        return false;
    for (uint32_t i = 0; !is_one && i < count; i++)
        add_message(making, rank, number, kernel->first_carried + i, group);
    return true;
}

/* A kernel that only has a name: the sizes of its collective are not known. */
static bool add_named(struct making *making, uint32_t rank, uint32_t number) {
    struct gt_rank_job *job = making->job;
    const struct gt_rank_kernel *kernel = &job->ranks[rank].summary->kernels[number];
    enum gt_comm_op op = (enum gt_comm_op)kernel->named_op;
    enum gt_comm_kind kind = gt_comms_op_kind(op);
    if (!job->options.match_names || kind == GT_COMM_KIND_OTHER || kind == GT_COMM_KIND_MESSAGE) {
        job->issues[GT_RANK_ISSUE_COLLECTIVE_NO_METADATA]++;
        return true;
    }
    struct gt_rank_item *item = add_item(making, rank, number, (uint32_t)job->group_count - 1, op);
    item->label = number_of(making, mixed(mixed(3, op), kernel->name));
    return true;
}

/* At most one for each collective or message of a kernel, and for each kernel without. */
static bool reserve_items(struct gt_rank_job *job) {
    size_t most = 0;
    for (size_t r = 0; r < job->rank_count; r++) {
        const struct gt_rank_summary *summary = job->ranks[r].summary;
        most += summary->carried_count;
        for (size_t k = 0; k < summary->kernels_count && job->options.match_names; k++)
            most += gt_rank_summary_carried_count(summary, k) == 0;
    }
    job->items = gt_mem_uninitialised(most, sizeof *job->items);
    return job->items != NULL;
}

void gt_rank_items_release(struct gt_rank_job *job) {
    gt_mem_free(job->items);
    gt_mem_free(job->made);
    job->items = NULL;
    job->made = NULL;
    job->item_count = job->made_count = job->made_capacity = 0;
}

bool gt_rank_items_make(struct gt_rank_job *job, const struct gt_rank_group_map *maps) {
    struct making making = {.job = job, .maps = maps};
    bool ok = reserve_items(job) && choose_peers(&making);
    for (uint32_t r = 0; ok && r < job->rank_count; r++) {
        const struct gt_rank_summary *summary = job->ranks[r].summary;
        for (uint32_t k = 0; ok && k < summary->kernels_count; k++)
            ok = gt_rank_summary_carried_count(summary, k) ? add_kernel(&making, r, k) : add_named(&making, r, k);
    }
    ok = ok && !making.labels.failed;
    gt_map_release(&making.labels);
    return ok;
}
