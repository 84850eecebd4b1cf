/* Copies the rows of comm_logs into a summary: what is the same for many rows is there once. */
#include "ranks/logged_reduce.h"

#include "base/map.h"
#include "base/mem.h"
#include "events/comms.h"

struct copying {
    const struct gt_store *store;
    struct gt_rank_summary *summary;
    struct gt_map lanes;       /* by (group and nodes, rank) */
    struct gt_map texts;       /* by string: place in kept */
    struct gt_rank_text *kept; /* by place; of the summary's own array while it is filled */
    size_t kept_count, kept_capacity;
};

static struct gt_rank_text text_of(struct copying *copying, gt_strid id) {
    uint32_t index = gt_map_get(&copying->texts, 0, id);
    if (index != GT_MAP_NONE)
        return copying->kept[index];
    struct gt_rank_text *kept = gt_mem_room(copying->kept, copying->kept_count, &copying->kept_capacity, sizeof *kept);
    if (!kept) {
        copying->summary->failed = true;
        return (struct gt_rank_text){0};
    }
    copying->kept = kept;
    kept[copying->kept_count] = gt_rank_summary_put_text(copying->summary, gt_store_string(copying->store, id));
    gt_map_put(&copying->texts, 0, id, (uint32_t)copying->kept_count);
    return kept[copying->kept_count++];
}

/* Groups that differ only in how often something is said about them are told apart here and joined by their number
   when they are summed. */
static uint32_t lane_of(struct copying *copying, size_t row) {
    const struct gt_comm_logs *logs = &copying->store->comm_logs;
    const struct gt_comm_groups *groups = &copying->store->comm_groups;
    struct gt_rank_summary *summary = copying->summary;
    uint32_t group = logs->group[row];
    uint64_t key = (uint64_t)group << 32 | (uint32_t)logs->nodes[row];
    uint32_t next = (uint32_t)summary->log_lanes_count;
    uint32_t lane = gt_map_put_if_new(&copying->lanes, key, (uint64_t)logs->rank[row], next);
    if (copying->lanes.failed || lane != next)
        return copying->lanes.failed ? 0 : lane;
    bool is_known = group != GT_NO_TRACK;
    struct gt_rank_text name = is_known ? text_of(copying, groups->name[group]) : (struct gt_rank_text){0};
    *gt_rank_summary_add_log_lanes(summary) =
        (struct gt_rank_log_lane){.communicator = is_known ? groups->communicator[group] : UINT64_MAX,
                                  .place = logs->rank[row],
                                  .size = is_known ? groups->size[group] : -1,
                                  .nodes = logs->nodes[row],
                                  .name = name};
    return lane;
}

void gt_logged_reduce(const struct gt_store *store, struct gt_rank_summary *summary) {
    const struct gt_comm_logs *logs = &store->comm_logs;
    struct copying copying = {.store = store, .summary = summary};
    for (size_t i = 0; i < logs->count && !summary->failed; i++) {
        uint32_t lane = lane_of(&copying, i);
        struct gt_rank_text name = text_of(&copying, logs->name[i]), timing = text_of(&copying, logs->timing[i]);
        *gt_rank_summary_add_logs(summary) =
            (struct gt_rank_log){.sequence = logs->sequence[i],
                                 .length_ns = logs->length_ns[i],
                                 .peer = logs->peer[i],
                                 .bytes = logs->bytes[i],
                                 .algbw = logs->algbw[i],
                                 .busbw = logs->busbw[i],
                                 .name = name,
                                 .timing = timing,
                                 .lane = lane,
                                 .op = gt_comms_op_of_name(gt_store_string(store, logs->name[i]))};
        summary->failed |= copying.lanes.failed || copying.texts.failed;
    }
    gt_map_release(&copying.lanes);
    gt_map_release(&copying.texts);
    gt_mem_free(copying.kept);
}
