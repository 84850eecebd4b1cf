/* Copies what labels know about collectives: in comes a view, out go kernels by start with what each carries. */
#include "ranks/rank_carried.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "events/comms.h"

struct taking {
    const struct gt_view *view;
    const struct gt_rank_windows *windows;
    struct gt_rank_summary *summary;
    struct gt_map texts;    /* by string: index into kept */
    struct gt_map splits;   /* by string: index into lists */
    struct gt_strtab calls; /* as bytes: one more than their numbers */
    bool has_comms_ids, has_sequences;
    bool *processes;    /* of the view */
    uint32_t *group_of; /* by group of the labels: number in the summary; GT_RANK_NONE: not there yet */
    struct list *lists;
    size_t list_count, list_capacity;
    struct gt_rank_text *kept;
    size_t kept_count, kept_capacity;
};

/* A list of numbers in the summary. */
struct list {
    uint32_t first, count;
};

/* ---- texts and lists, each once ---- */

static struct gt_rank_text text_of(struct taking *taking, gt_strid id) {
    uint32_t index = gt_map_get(&taking->texts, 0, id);
    if (index != GT_MAP_NONE)
        return taking->kept[index];
    struct gt_rank_text *kept = gt_mem_room(taking->kept, taking->kept_count, &taking->kept_capacity, sizeof *kept);
    if (!kept) {
        taking->summary->failed = true;
        return (struct gt_rank_text){0};
    }
    taking->kept = kept;
    kept[taking->kept_count] = gt_rank_summary_put_text(taking->summary, gt_store_string(taking->view->store, id));
    gt_map_put(&taking->texts, 0, id, (uint32_t)taking->kept_count);
    return kept[taking->kept_count++];
}

static struct list read_list(struct gt_rank_summary *summary, struct gt_str text) {
    struct list list = {(uint32_t)summary->numbers_count, 0};
    int64_t number;
    enum gt_comm_list state;
    while ((state = gt_comms_next_number(&text, &number)) == GT_COMM_LIST_NUMBER && number >= 0)
        *gt_rank_summary_add_numbers(summary) = number;
    if (state != GT_COMM_LIST_END) /* cut short, or not to be trusted */
        summary->numbers_count = list.first;
    list.count = (uint32_t)(summary->numbers_count - list.first);
    return list;
}

static struct list list_of(struct taking *taking, gt_strid id) {
    uint32_t index = gt_map_get(&taking->splits, 0, id);
    if (index != GT_MAP_NONE)
        return taking->lists[index];
    struct list *lists = gt_mem_room(taking->lists, taking->list_count, &taking->list_capacity, sizeof *lists);
    if (!lists) {
        taking->summary->failed = true;
        return (struct list){0};
    }
    taking->lists = lists;
    lists[taking->list_count] = read_list(taking->summary, gt_store_string(taking->view->store, id));
    gt_map_put(&taking->splits, 0, id, (uint32_t)taking->list_count);
    return lists[taking->list_count++];
}

/* ---- groups ---- */

/* Making a communicator says which place in it the process has. -1: that was before the trace began. */
static int64_t find_place(const struct taking *taking, uint64_t communicator) {
    const struct gt_store *store = taking->view->store;
    const struct gt_comms *comms = &store->comms;
    for (size_t i = 0; i < comms->count && communicator != UINT64_MAX; i++) {
        uint32_t range = comms->range[i], thread = range == GT_NO_ROW ? GT_NO_TRACK : store->ranges.thread[range];
        uint32_t process = thread == GT_NO_TRACK ? GT_NO_TRACK : store->threads.process[thread];
        if (comms->rank[i] >= 0 && comms->group[i] != GT_NO_TRACK && process != GT_NO_TRACK &&
            store->comm_groups.communicator[comms->group[i]] == communicator && taking->processes[process])
            return comms->rank[i];
    }
    return -1;
}

/* Members are listed only where the trace lists them: a first rank and a stride may mean any number of ranks. */
static uint32_t add_group(struct taking *taking, const struct gt_comm_group *group) {
    struct gt_rank_summary *summary = taking->summary;
    uint32_t first = (uint32_t)summary->numbers_count, count = 0;
    if (group->rank_list) {
        count = (uint32_t)group->size;
        for (int64_t place = 0; place < group->size && !summary->failed; place++)
            *gt_rank_summary_add_numbers(summary) = group->rank_list[place];
    }
    struct gt_rank_text name = text_of(taking, group->name), description = text_of(taking, group->description);
    struct gt_rank_group *added = gt_rank_summary_add_groups(summary);
    *added = (struct gt_rank_group){.communicator = group->communicator,
                                    .own_place = find_place(taking, group->communicator),
                                    .name = name,
                                    .description = description,
                                    .size = group->size,
                                    .first_rank = group->first_rank,
                                    .stride = group->rank_list ? 0 : group->stride,
                                    .first_member = first,
                                    .member_count = count};
    return (uint32_t)summary->groups_count - 1;
}

static uint32_t group_of(struct taking *taking, uint32_t group) {
    if (group == GT_NO_ROW)
        return GT_RANK_NONE;
    if (taking->group_of[group] == GT_RANK_NONE)
        taking->group_of[group] = add_group(taking, &taking->view->labels->comms.groups[group]);
    return taking->group_of[group];
}

/* ---- collectives ---- */

/* Most calls are those of the step before. */
static uint32_t number_of(struct taking *taking, const struct gt_rank_call *call) {
    struct gt_rank_summary *summary = taking->summary;
    gt_strid id = gt_strtab_intern(&taking->calls, (struct gt_str){(const char *)call, sizeof *call});
    if (id > summary->calls_count)
        *gt_rank_summary_add_calls(summary) = *call;
    return id ? id - 1 : 0;
}

static void add_carried(struct taking *taking, const struct gt_collective *collective) {
    struct gt_comms_row row = gt_comms_merged(taking->view->store, collective);
    enum gt_comm_op op = (enum gt_comm_op)collective->op;
    uint32_t group = group_of(taking, collective->group);
    struct gt_rank_text dtype = text_of(taking, row.dtype);
    struct list in = {0}, out = {0};
    if (op == GT_COMM_all_to_all) {
        in = list_of(taking, row.in_splits);
        out = list_of(taking, row.out_splits);
    }
    int64_t written = op == GT_COMM_send ? row.dst_rank : row.src_rank;
    const struct gt_rank_call call = {.in_bytes = row.in_bytes,
                                      .out_bytes = row.out_bytes,
                                      .peer = written != INT64_MIN ? written : row.peer,
                                      .root = row.root,
                                      .dtype = dtype,
                                      .group = group,
                                      .in_splits = in.count ? in.first : 0,
                                      .out_splits = out.count ? out.first : 0,
                                      .in_count = in.count,
                                      .out_count = out.count,
                                      .op = op};
    *gt_rank_summary_add_carried(taking->summary) = number_of(taking, &call);
    *gt_rank_summary_add_comms_ids(taking->summary) = row.comms_id;
    *gt_rank_summary_add_sequences(taking->summary) = row.sequence;
    taking->has_comms_ids |= row.comms_id != UINT64_MAX;
    taking->has_sequences |= row.sequence != INT64_MIN;
}

/* Whether nobody knows which kernel of a group call is for which collective. */
static bool is_ambiguous(const struct gt_comm_labels *comms, const struct gt_comm_launch *launch) {
    if (launch->count < 2)
        return false;
    for (uint32_t i = 1; i < launch->count; i++)
        if (comms->collectives[launch->first + i].group != comms->collectives[launch->first].group)
            return true;
    return launch->op_count > 1;
}

static enum gt_comm_op named_op(const struct gt_labels *labels, gt_strid name) {
    const struct gt_name_reason *reason = labels->name_reason[name];
    return reason && reason->collective ? gt_comms_op_of_name(gt_str_of(reason->collective)) : GT_COMM_OTHER;
}

/* The same on all ranks for equal texts. */
static uint32_t hash_of(struct gt_str text) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.ptr[i]) * 16777619u;
    return hash;
}

static void add_kernel(struct taking *taking, uint32_t position) {
    const struct gt_view *view = taking->view;
    struct gt_rank_summary *summary = taking->summary;
    const struct gt_comm_labels *comms = &view->labels->comms;
    const struct gt_comm_launch *launch = gt_comms_of_op(view->labels, view->row[position]);
    struct gt_rank_kernel kernel = {.start_ns = view->start_ns[position],
                                    .end_ns = view->end_ns[position],
                                    .step = taking->windows->step_of[position],
                                    .first_carried = (uint32_t)summary->carried_count,
                                    .name = hash_of(gt_view_op_name(view, position)),
                                    .named_op = (uint8_t)named_op(view->labels, view->name[position])};
    kernel.is_ambiguous = launch && is_ambiguous(comms, launch);
    for (uint32_t i = 0; launch && i < launch->count; i++)
        add_carried(taking, &comms->collectives[launch->first + i]);
    *gt_rank_summary_add_kernels(summary) = kernel;
}

/* ---- in order ---- */

static int by_start_and_row(const void *a, const void *b, void *context) {
    const struct gt_view *view = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (view->start_ns[x] != view->start_ns[y])
        return view->start_ns[x] < view->start_ns[y] ? -1 : 1;
    return (view->row[x] > view->row[y]) - (view->row[x] < view->row[y]);
}

static void take_kernels(struct taking *taking) {
    const struct gt_view *view = taking->view;
    size_t count = 0, filled = 0;
    for (size_t i = 0; i < view->op_count; i++)
        count += gt_view_op_class(view, i) == GT_CLASS_COMM;
    uint32_t *positions = gt_mem_uninitialised(count, sizeof *positions);
    for (uint32_t i = 0; positions && i < view->op_count; i++)
        if (gt_view_op_class(view, i) == GT_CLASS_COMM)
            positions[filled++] = i;
    if (positions && count)
        qsort_r(positions, count, sizeof *positions, by_start_and_row, (void *)(uintptr_t)view);
    for (size_t i = 0; positions && i < count; i++)
        add_kernel(taking, positions[i]);
    taking->summary->failed |= !positions;
    gt_mem_free(positions);
}

void gt_rank_carried_take(const struct gt_view *view, const struct gt_rank_windows *windows,
                          struct gt_rank_summary *summary) {
    struct taking taking = {.view = view, .windows = windows, .summary = summary};
    size_t group_count = view->labels->comms.group_count;
    bool has_calls = gt_strtab_init(&taking.calls);
    taking.group_of = gt_mem_uninitialised(group_count, sizeof *taking.group_of);
    taking.processes = gt_view_processes(view);
    if (taking.group_of && has_calls && taking.processes) {
        memset(taking.group_of, 0xFF, group_count * sizeof *taking.group_of);
        take_kernels(&taking);
    }
    if (!taking.has_comms_ids)
        summary->comms_ids_count = 0;
    if (!taking.has_sequences)
        summary->sequences_count = 0;
    summary->failed |= !taking.group_of || !taking.processes || !has_calls || taking.texts.failed ||
                       taking.splits.failed || taking.calls.failed;
    if (has_calls)
        gt_strtab_release(&taking.calls);
    summary->head.ambiguous = view->labels->issues[GT_ISSUE_COLLECTIVE_AMBIGUOUS_GROUP];
    gt_map_release(&taking.texts);
    gt_map_release(&taking.splits);
    gt_mem_free(taking.group_of);
    gt_mem_free(taking.processes);
    gt_mem_free(taking.lists);
    gt_mem_free(taking.kept);
}
