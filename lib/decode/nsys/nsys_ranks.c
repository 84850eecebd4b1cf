/* Ranks of processes: what reports record about them comes in, ranks of the builders' processes go out. */
#include <string.h>

#include "base/num.h"
#include "decode/nsys/nsys.h"

/* The value of KEY in "KEY=value", or nothing. */
static struct gt_str value_of(struct gt_str entry, struct gt_str key) {
    if (!gt_str_starts(entry, key) || entry.len <= key.len || entry.ptr[key.len] != '=')
        return (struct gt_str){NULL, 0};
    return (struct gt_str){entry.ptr + key.len + 1, entry.len - key.len - 1};
}

/* The first of these keys that the environment has with a sensible number. */
static int64_t find_number(struct gt_str environment, const struct gt_str *keys, size_t count) {
    for (size_t k = 0; k < count; k++) {
        for (struct gt_str rest = environment; rest.len;) {
            struct gt_str entry = {rest.ptr, strnlen(rest.ptr, rest.len)};
            struct gt_str value = value_of(entry, keys[k]);
            int64_t number;
            if (value.ptr && gt_num_parse_int(value, &number) && number >= 0)
                return number;
            size_t used = entry.len < rest.len ? entry.len + 1 : entry.len;
            rest = (struct gt_str){rest.ptr + used, rest.len - used};
        }
    }
    return -1;
}

void gt_nsys_environment_rank(struct gt_str environment, int64_t *rank, int64_t *world_size) {
    static const struct gt_str ranks[] = {GT_STR("RANK"), GT_STR("SLURM_PROCID"), GT_STR("OMPI_COMM_WORLD_RANK"),
                                          GT_STR("PMI_RANK"), GT_STR("PMIX_RANK")};
    static const struct gt_str sizes[] = {GT_STR("WORLD_SIZE"), GT_STR("SLURM_NTASKS"), GT_STR("OMPI_COMM_WORLD_SIZE"),
                                          GT_STR("PMI_SIZE")};
    *rank = find_number(environment, ranks, sizeof ranks / sizeof *ranks);
    *world_size = find_number(environment, sizes, sizeof sizes / sizeof *sizes);
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

static void set_rank(const struct gt_nsys_sink *sink, int64_t key, const struct gt_nsys_rank *rank) {
    uint32_t process = gt_map_get(&sink->builder->process_ids, GT_STRID_EMPTY, (uint64_t)key);
    /* How many ranks a communicator has is known of its group; it need not be all. */
    int64_t world_size = rank->source == GT_RANK_OF_NCCL ? -1 : rank->world_size;
    if (process != GT_MAP_NONE)
        gt_builder_rank(sink->builder, process, rank->rank, world_size, rank->source);
}

void gt_nsys_finish_ranks(struct gt_nsys_sink *sinks, size_t count, const struct gt_nsys_capture *capture) {
    int64_t only = only_user(sinks, count);
    for (size_t i = 0; i < capture->rank_count; i++) {
        const struct gt_nsys_rank *rank = &capture->ranks[i];
        bool is_of_process = rank->global_pid != GT_NSYS_NO_ID;
        int64_t key = is_of_process ? gt_nsys_process_key(rank->global_pid) : only;
        bool is_environment = rank->source == GT_RANK_OF_ENVIRONMENT;
        if (key < 0 || (is_environment && key != only))
            continue;
        for (size_t s = 0; s < count; s++)
            set_rank(&sinks[s], key, rank);
    }
}
