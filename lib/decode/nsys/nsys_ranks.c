/* Ranks of processes: what reports record about them comes in, ranks of the builders' processes go out. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "decode/nsys/nsys.h"

/* The value of KEY in "KEY=value", or nothing. */
static struct gt_str value_of(struct gt_str entry, struct gt_str key) {
    if (!gt_str_starts(entry, key) || entry.len <= key.len || entry.ptr[key.len] != '=')
        return (struct gt_str){NULL, 0};
    return (struct gt_str){entry.ptr + key.len + 1, entry.len - key.len - 1};
}

/* The first of these keys that the environment has with a sensible number; *key: its place. */
static int64_t find_number(struct gt_str environment, const struct gt_str *keys, size_t count, size_t *key) {
    for (size_t k = 0; k < count; k++) {
        for (struct gt_str rest = environment; rest.len;) {
            struct gt_str entry = {rest.ptr, strnlen(rest.ptr, rest.len)};
            struct gt_str value = value_of(entry, keys[k]);
            int64_t number;
            if (value.ptr && gt_num_parse_int(value, &number) && number >= 0) {
                *key = k;
                return number;
            }
            size_t used = entry.len < rest.len ? entry.len + 1 : entry.len;
            rest = (struct gt_str){rest.ptr + used, rest.len - used};
        }
    }
    return -1;
}

void gt_nsys_environment_rank(struct gt_str environment, struct gt_nsys_rank *rank) {
    static const struct gt_str ranks[] = {GT_STR("RANK"), GT_STR("SLURM_PROCID"), GT_STR("OMPI_COMM_WORLD_RANK"),
                                          GT_STR("PMI_RANK")};
    static const struct gt_str sizes[] = {GT_STR("WORLD_SIZE"), GT_STR("SLURM_NTASKS"), GT_STR("OMPI_COMM_WORLD_SIZE"),
                                          GT_STR("PMI_SIZE")};
    static const enum gt_rank_source sources[] = {GT_RANK_OF_ENVIRONMENT, GT_RANK_OF_SLURM, GT_RANK_OF_OPEN_MPI,
                                                  GT_RANK_OF_PMI};
    size_t key = 0, size_key;
    rank->rank = find_number(environment, ranks, sizeof ranks / sizeof *ranks, &key);
    rank->world_size = find_number(environment, sizes, sizeof sizes / sizeof *sizes, &size_key);
    rank->source = sources[key];
}

/* The key (gt_nsys_process_key) of the only process with GPU work; -1: there are several, or none. */
static int64_t only_user(const struct gt_nsys_sink *sinks, size_t count) {
    int64_t only = -1;
    for (size_t s = 0; s < count; s++) {
        const struct gt_store *store = &sinks[s].builder->store;
        for (size_t i = 0; i < store->lanes.count; i++) {
            uint32_t process = store->lanes.process[i];
            int64_t key = process < store->processes.count ? store->processes.pid[process] : -1;
            if (key < 0 || (only >= 0 && only != key))
                return -1;
            only = key;
        }
    }
    return only;
}

static void set_rank(struct gt_nsys_sink *sinks, size_t count, int64_t key, const struct gt_nsys_rank *rank) {
    /* The largest communicator need not have all ranks; and not every export has sizes of MPI's. */
    bool knows_all = gt_store_is_environment(rank->source);
    for (size_t s = 0; s < count; s++) {
        uint32_t process = gt_map_get(&sinks[s].builder->process_ids, GT_STRID_EMPTY, (uint64_t)key);
        if (process != GT_MAP_NONE)
            gt_builder_rank(sinks[s].builder, process, rank->rank, knows_all ? rank->world_size : -1, rank->source);
    }
}

/* ---- communicators of NCCL ---- */

/* The initialization of a communicator gives the process a rank. */
void gt_nsys_add_comm_rank(struct gt_nsys_sink *sink, uint64_t global_tid, const struct gt_nsys_comm *comm) {
    const struct gt_ranges *ranges = &sink->builder->store.ranges;
    if (comm->rank < 0 || comm->ranks > INT64_MAX || (uint64_t)comm->rank >= comm->ranks || global_tid == GT_NSYS_NO_ID)
        return;
    struct gt_nsys_comm_rank *grown =
        gt_mem_room(sink->comm_ranks, sink->comm_rank_count, &sink->comm_rank_capacity, sizeof *grown);
    if (!grown) {
        sink->builder->failed = true;
        return;
    }
    sink->comm_ranks = grown;
    sink->comm_ranks[sink->comm_rank_count++] = (struct gt_nsys_comm_rank){
        gt_nsys_global_pid(global_tid), comm->rank, (int64_t)comm->ranks, ranges->start_ns[ranges->count - 1]};
}

/* The largest communicator first, then the one that was there first: of ranks of one source, the first one given stays.
   The order of the file does not matter, since an export has another. */
static int by_size(const void *a, const void *b) {
    const struct gt_nsys_comm_rank *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static bool finish_comm_ranks(struct gt_nsys_sink *sinks, size_t count) {
    size_t total = 0, next = 0;
    for (size_t s = 0; s < count; s++)
        total += sinks[s].comm_rank_count;
    if (total == 0)
        return true;
    struct gt_nsys_comm_rank *all = gt_mem_array(total, sizeof *all);
    if (!all)
        return false;
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < sinks[s].comm_rank_count; i++)
            all[next++] = sinks[s].comm_ranks[i];
    qsort(all, total, sizeof *all, by_size);
    for (size_t i = 0; i < total; i++)
        set_rank(sinks, count, gt_nsys_process_key(all[i].global_pid),
                 &(struct gt_nsys_rank){all[i].global_pid, all[i].rank, all[i].size, GT_RANK_OF_NCCL});
    gt_mem_free(all);
    return true;
}

bool gt_nsys_finish_ranks(struct gt_nsys_sink *sinks, size_t count, const struct gt_nsys_capture *capture) {
    int64_t only = only_user(sinks, count);
    for (size_t i = 0; i < capture->rank_count; i++) {
        const struct gt_nsys_rank *rank = &capture->ranks[i];
        bool is_of_process = rank->global_pid != GT_NSYS_NO_ID;
        int64_t key = is_of_process ? gt_nsys_process_key(rank->global_pid) : only;
        bool is_environment = gt_store_is_environment(rank->source);
        if (key >= 0 && (!is_environment || key == only))
            set_rank(sinks, count, key, rank);
    }
    return finish_comm_ranks(sinks, count);
}
