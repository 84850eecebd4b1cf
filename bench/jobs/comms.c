/* What a trace says about communication: names, metadata of collectives, the groups of a rank. */
#include "comms.h"

#include <inttypes.h>

#define NCCL(name) "ncclDevKernel_" name "(ncclDevKernelArgsStorage<4096ul>)"

enum { SHOWN_ITEMS = 30 }; /* PyTorch cuts longer lists */

static const struct {
    const char *field, *operator_name, *annotation, *kernel;
} collective_rows[] = {
    [ALL_REDUCE] = {"allreduce", "c10d::allreduce_", "nccl:all_reduce", NCCL("AllReduce_Sum_bf16_RING_LL")},
    [ALL_GATHER] = {"_allgather_base", "c10d::_allgather_base_", "nccl:_all_gather_base", NCCL("AllGather_RING_LL")},
    [REDUCE_SCATTER] = {"_reduce_scatter_base", "c10d::_reduce_scatter_base_", "nccl:_reduce_scatter_base",
                        NCCL("ReduceScatter_Sum_bf16_RING_LL")},
    [ALL_TO_ALL] = {"all_to_allv", "c10d::alltoall_base_", "nccl:all_to_all", NCCL("SendRecv")},
    [BROADCAST] = {"broadcast", "c10d::broadcast_", "nccl:broadcast", NCCL("Broadcast_RING_LL")},
    [SEND] = {"send", "c10d::send", "nccl:send", NCCL("SendRecv")},
    [RECV] = {"recv", "c10d::recv_", "nccl:recv", NCCL("SendRecv")},
};

static const struct group *group_of(const struct job *job, const struct event *event) {
    return &job->groups[job->teams[event->team].group];
}

static uint32_t rank_of(const struct job *job, const struct event *event) {
    return layout_member(&job->teams[event->team], event->position);
}

static uint32_t position_in(const struct group *group, uint32_t rank) {
    return (rank - group->start) / group->stride;
}

static uint32_t peer_of(const struct job *job, const struct event *event) {
    return layout_member(&job->teams[event->team], 1 - event->position);
}

struct comms_names comms_names_of(const struct job *job, const struct event *event) {
    enum collective collective = event->op->collective;
    struct comms_names names = {collective_rows[collective].operator_name, collective_rows[collective].kernel, ""};
    if (collective == SEND || collective == RECV) {
        const struct group *group = group_of(job, event);
        snprintf(names.annotation, sizeof names.annotation, "%s %u%s%u", collective_rows[collective].annotation,
                 position_in(group, rank_of(job, event)), collective == SEND ? "->" : "<-",
                 position_in(group, peer_of(job, event)));
    } else {
        snprintf(names.annotation, sizeof names.annotation, "%s", collective_rows[collective].annotation);
    }
    return names;
}

/* ---- metadata ---- */

static uint64_t all_rows(const struct job *job, const struct team *team) {
    uint64_t rows = 0;
    for (uint32_t i = 0; i < team->size; i++)
        rows += transfer_rows(job, layout_member(team, i));
    return rows;
}

struct sizes {
    uint64_t in, out;
};

static struct sizes sizes_of(const struct job *job, const struct event *event) {
    const struct op *op = event->op;
    const struct group *group = group_of(job, event);
    uint64_t part = op->elements / group->size, sent, received;
    switch (op->collective) {
    case ALL_GATHER:
        return (struct sizes){part, part * group->size};
    case REDUCE_SCATTER:
        return (struct sizes){part * group->size, part};
    case ALL_TO_ALL:
        sent = all_rows(job, &job->teams[event->team]) * op->elements;
        received = transfer_rows(job, rank_of(job, event)) * group->size * op->elements;
        return op->is_combine ? (struct sizes){received, sent} : (struct sizes){sent, received};
    case ALL_REDUCE:
    case BROADCAST:
    case SEND:
    case RECV:
        break;
    }
    return (struct sizes){op->elements, op->elements};
}

/* Rows for each member: what it gets of this rank, or what each gives to this rank. */
static void put_splits(struct text *text, const struct job *job, const struct event *event, const char *key,
                       bool is_by_member) {
    const struct team *team = &job->teams[event->team];
    uint32_t rank = rank_of(job, event);
    text_put(text, key);
    text_put(text, "\"[");
    for (uint32_t i = 0; event->op->collective == ALL_TO_ALL && i < team->size; i++) {
        if (i == SHOWN_ITEMS) {
            text_put(text, ", ...");
            break;
        }
        text_member(text, i ? ", " : "", transfer_rows(job, is_by_member ? layout_member(team, i) : rank));
    }
    text_put(text, "]\"");
}

static void put_members(struct text *text, const struct group *group) {
    text_put(text, ", \"Process Group Ranks\": \"[");
    for (uint32_t i = 0; i < group->size; i++) {
        if (i == SHOWN_ITEMS) {
            text_put(text, ", ...");
            break;
        }
        text_member(text, i ? ", " : "", group->start + i * group->stride);
    }
    text_put(text, "]\"");
}

/* The id depends on the group's name and the number of the operation, as PyTorch's does. */
static void put_identity(struct text *text, const struct job *job, const struct event *event) {
    const struct team *team = &job->teams[event->team];
    if (job->options.has_seq)
        text_member(text, ", \"Seq\": ", event->sequence);
    if (job->options.has_comms_id)
        text_member(text, ", \"Comms Id\": ", draw_key(team->group, 18, team->is_channel, event->sequence));
}

void comms_put_fields(struct text *text, const struct job *job, const struct event *event) {
    const struct group *group = group_of(job, event);
    struct sizes sizes = sizes_of(job, event);
    enum collective collective = event->op->collective;
    text_string(text, ", \"Collective name\": ", collective_rows[collective].field);
    text_member(text, ", \"In msg nelems\": ", sizes.in);
    text_member(text, ", \"Out msg nelems\": ", sizes.out);
    text_member(text, ", \"Group size\": ", group->size);
    text_put(text, ", \"dtype\": \"BFloat16\"");
    put_splits(text, job, event, ", \"In split size\": ", !event->op->is_combine);
    put_splits(text, job, event, ", \"Out split size\": ", event->op->is_combine);
    text_string(text, ", \"Process Group Name\": ", group->name);
    text_string(text, ", \"Process Group Description\": ", group->desc);
    put_members(text, group);
    if (collective == SEND || collective == RECV) {
        uint32_t peer = peer_of(job, event);
        text_member(text, collective == SEND ? ", \"Dst Rank\": " : ", \"Src Rank\": ",
                    job->options.has_local_peers ? position_in(group, peer) : peer);
    }
    put_identity(text, job, event);
}

/* `Rank` is the root of a broadcast and the peer of a message, else the own position in the group. */
void comms_put_host_fields(struct text *text, const struct job *job, const struct event *event) {
    const struct group *group = group_of(job, event);
    enum collective collective = event->op->collective;
    uint32_t of_whom = collective == SEND || collective == RECV ? peer_of(job, event)
                       : collective == BROADCAST                ? group->start
                                                                : rank_of(job, event);
    text_member(text, ", \"Rank\": ", position_in(group, of_whom));
    text_member(text, ", \"Global rank start\": ", group->start);
    text_member(text, ", \"Global rank stride\": ", group->stride);
}

/* ---- the groups of a rank ---- */

static bool has_member(const struct group *group, uint32_t rank) {
    return rank >= group->start && (rank - group->start) % group->stride == 0 &&
           (rank - group->start) / group->stride < group->size;
}

static void put_group(struct text *text, const struct group *group) {
    text_string(text, "{\"pg_name\": ", group->name);
    text_string(text, ", \"pg_desc\": ", group->desc);
    text_member(text, ", \"backend_config\": \"cuda:nccl\", \"pg_size\": ", group->size);
    text_put(text, ", \"ranks\": [");
    for (uint32_t i = 0; i < group->size; i++)
        text_member(text, i ? ", " : "", group->start + i * group->stride);
    text_put(text, "]}");
}

void comms_put_distributed_info(struct text *text, const struct job *job, uint32_t rank) {
    bool is_first = true;
    text_member(text, "      \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": ", rank);
    text_member(text, ", \"world_size\": ", job->options.ranks);
    text_member(text, ", \"pg_count\": ", job->group_count);
    text_put(text, ", \"pg_config\": [");
    for (uint32_t i = 0; i < job->group_count; i++) {
        if (!has_member(&job->groups[i], rank))
            continue;
        text_put(text, is_first ? "" : ", ");
        put_group(text, &job->groups[i]);
        is_first = false;
    }
    text_put(text, "], \"nccl_version\": \"2.28.9\"},\n");
}

/* The first dimension of an expert's grid grows with the tokens it gets. */
uint64_t comms_scale_grid(const struct job *job, uint32_t rank, uint64_t width) {
    const struct team *team = &job->teams[job->team_of[rank * ROLES + ROLE_EP]];
    uint64_t scaled = width * transfer_rows(job, rank) * team->size / all_rows(job, team);
    return scaled ? scaled : 1;
}
