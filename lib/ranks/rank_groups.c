/* Finds the groups of a job: groups as each trace describes them come in, one for all ranks goes out. */
#include "ranks/rank_groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ranks/rank_items.h"

struct grouping {
    struct gt_rank_job *job;
    struct gt_strtab keys; /* bytes that differ for different groups; number 0 is unused */
    size_t capacity;
    struct gt_rank_group_map *maps; /* by rank */
    size_t spare_members;           /* how many more members may be listed that no trace lists */
    uint32_t *last_user;            /* by group: the last rank that uses it, plus one */
    size_t *user_count;
};

/* ---- how groups differ ---- */

/* Groups that are listed, and those with a first rank and a stride: the same list never comes both ways. */
static gt_strid key_of(struct grouping *grouping, const struct gt_rank_summary *summary,
                       const struct gt_rank_group *group) {
    struct gt_str name = gt_rank_summary_text(summary, group->name);
    bool is_named = group->communicator == UINT64_MAX;
    bool is_spaced = is_named && group->stride != 0;
    const int64_t spacing[] = {group->first_rank, group->stride, group->size};
    size_t list_bytes = is_spaced ? sizeof spacing : is_named ? group->member_count * sizeof(int64_t) : 0;
    size_t bytes = 1 + sizeof group->communicator + name.len + 1 + list_bytes, at = 0;
    char *key = gt_mem_alloc(bytes);
    if (!key)
        return GT_STRID_EMPTY;
    key[at++] = is_spaced ? 's' : is_named ? 'n' : 'c';
    memcpy(key + at, &group->communicator, sizeof group->communicator);
    at += sizeof group->communicator;
    if (is_named && name.len)
        memcpy(key + at, name.ptr, name.len);
    at += is_named ? name.len : 0;
    key[at++] = '\0';
    if (list_bytes)
        memcpy(key + at, is_spaced ? spacing : summary->numbers + group->first_member, list_bytes);
    gt_strid id = gt_strtab_intern(&grouping->keys, (struct gt_str){key, at + list_bytes});
    gt_mem_free(key);
    return id;
}

/* Members of a group with a first rank and a stride; NULL: nobody would list so many, or memory is short. */
static const int64_t *new_members(struct grouping *grouping, const struct gt_rank_group *group) {
    if ((uint64_t)group->size > grouping->spare_members)
        return NULL;
    int64_t *members = gt_arena_array(&grouping->job->arena, (size_t)group->size, sizeof *members);
    for (int64_t place = 0; members && place < group->size; place++)
        members[place] = group->first_rank + place * group->stride;
    grouping->spare_members -= (size_t)group->size;
    return members;
}

static bool add_group(struct grouping *grouping, const struct gt_rank_summary *summary,
                      const struct gt_rank_group *group) {
    struct gt_rank_job *job = grouping->job;
    struct gt_rank_set_group *groups =
        gt_arena_room(&job->arena, job->groups, job->group_count, &grouping->capacity, sizeof *groups);
    if (!groups)
        return false;
    job->groups = groups;
    bool is_named = group->communicator == UINT64_MAX;
    const int64_t *listed = group->member_count ? summary->numbers + group->first_member : NULL;
    const int64_t *members = !is_named ? NULL : group->stride ? new_members(grouping, group) : listed;
    groups[job->group_count++] = (struct gt_rank_set_group){
        .communicator = group->communicator,
        .name = gt_rank_summary_text(summary, group->name),
        .description = gt_rank_summary_text(summary, group->description),
        .members = members,
        .member_count = !members        ? 0
                        : group->stride ? (size_t)group->size
                                        : group->member_count,
        .size = group->size,
        .first_mismatch = -1,
        .busbw_p50 = 0,
    };
    return true;
}

/* The numbers of a rank's groups in the job. */
static bool map_groups(struct grouping *grouping, size_t rank) {
    struct gt_rank_job *job = grouping->job;
    const struct gt_rank_summary *summary = job->ranks[rank].summary;
    uint32_t *map = gt_mem_array(summary->groups_count, sizeof *map);
    grouping->maps[rank].group_of = map;
    for (size_t g = 0; map && g < summary->groups_count; g++) {
        size_t before = grouping->keys.count;
        gt_strid key = key_of(grouping, summary, &summary->groups[g]);
        if (key == GT_STRID_EMPTY || grouping->keys.failed)
            return false;
        if (grouping->keys.count > before && !add_group(grouping, summary, &summary->groups[g]))
            return false;
        map[g] = (uint32_t)key - 1;
    }
    return map != NULL;
}

/* ---- members ---- */

/* Calls `use` for every group that a rank's kernels name, once for each rank, by rank. */
static void each_user(struct grouping *grouping, void (*use)(struct grouping *, uint32_t group, uint32_t rank)) {
    struct gt_rank_job *job = grouping->job;
    memset(grouping->last_user, 0, job->group_count * sizeof *grouping->last_user);
    for (uint32_t r = 0; r < job->rank_count; r++) {
        const struct gt_rank_summary *summary = job->ranks[r].summary;
        for (size_t i = 0; i < summary->carried_count; i++) {
            uint32_t own = gt_rank_summary_call(summary, i)->group;
            uint32_t group = own == GT_RANK_NONE ? GT_RANK_NONE : grouping->maps[r].group_of[own];
            if (group == GT_RANK_NONE || grouping->last_user[group] == r + 1)
                continue;
            grouping->last_user[group] = r + 1;
            use(grouping, group, r);
        }
    }
}

static void count_user(struct grouping *grouping, uint32_t group, uint32_t rank) {
    (void)rank;
    grouping->user_count[group]++;
}

static void list_user(struct grouping *grouping, uint32_t group, uint32_t rank) {
    struct gt_rank_set_group *it = &grouping->job->groups[group];
    if (grouping->user_count[group] == 0) /* its members are known */
        return;
    ((int64_t *)(uintptr_t)it->members)[it->member_count++] = grouping->job->ranks[rank].number;
}

/* Where nobody says who is in a group, those who use it are. */
static bool find_members(struct grouping *grouping) {
    struct gt_rank_job *job = grouping->job;
    grouping->last_user = gt_mem_array(job->group_count, sizeof *grouping->last_user);
    grouping->user_count = gt_mem_array(job->group_count, sizeof *grouping->user_count);
    if (!grouping->last_user || !grouping->user_count)
        return false;
    each_user(grouping, count_user);
    for (size_t g = 0; g < job->group_count; g++) {
        struct gt_rank_set_group *group = &job->groups[g];
        if (group->members)
            grouping->user_count[g] = 0;
        else
            group->members = gt_arena_array(&job->arena, grouping->user_count[g], sizeof(int64_t));
        if (!group->members)
            return false;
    }
    each_user(grouping, list_user);
    for (size_t g = 0; g < job->group_count; g++) {
        struct gt_rank_set_group *group = &job->groups[g];
        bool is_known = group->communicator == UINT64_MAX && group->size > 0;
        group->size =
            is_known && (size_t)group->size >= group->member_count ? group->size : (int64_t)group->member_count;
        for (size_t i = 0; i < group->member_count; i++)
            group->present += gt_rank_job_find(job, group->members[i]) != GT_RANK_NONE;
    }
    return true;
}

/* ---- numbers ---- */

static int by_list(const struct gt_rank_set_group *x, const struct gt_rank_set_group *y) {
    for (size_t i = 0; i < x->member_count && i < y->member_count; i++)
        if (x->members[i] != y->members[i])
            return x->members[i] < y->members[i] ? -1 : 1;
    return (x->member_count > y->member_count) - (x->member_count < y->member_count);
}

/* Communicators by their decimal text. */
static int by_name(const void *a, const void *b, void *context) {
    const struct gt_rank_set_group *groups = context;
    const struct gt_rank_set_group *x = &groups[*(const uint32_t *)a], *y = &groups[*(const uint32_t *)b];
    char texts[2][32];
    struct gt_str names[2] = {x->name, y->name};
    const struct gt_rank_set_group *both[2] = {x, y};
    for (size_t i = 0; i < 2; i++)
        if (both[i]->communicator != UINT64_MAX) {
            snprintf(texts[i], sizeof texts[i], "%" PRIu64, both[i]->communicator);
            names[i] = gt_str_of(texts[i]);
        }
    int order = gt_str_cmp(names[0], names[1]);
    order = order ? order : by_list(x, y);
    return order ? order : (x > y) - (x < y);
}

static bool number_groups(struct grouping *grouping) {
    struct gt_rank_job *job = grouping->job;
    uint32_t *order = gt_mem_array(job->group_count, sizeof *order);
    uint32_t *number_of = gt_mem_array(job->group_count, sizeof *number_of);
    struct gt_rank_set_group *sorted = gt_arena_array(&job->arena, job->group_count + 1, sizeof *sorted);
    bool ok = order && number_of && sorted;
    for (uint32_t g = 0; ok && g < job->group_count; g++)
        order[g] = g;
    if (ok && job->group_count)
        qsort_r(order, job->group_count, sizeof *order, by_name, job->groups);
    for (uint32_t g = 0; ok && g < job->group_count; g++) {
        sorted[g] = job->groups[order[g]];
        number_of[order[g]] = g;
    }
    for (size_t r = 0; ok && r < job->rank_count; r++)
        for (size_t g = 0; g < job->ranks[r].summary->groups_count; g++)
            grouping->maps[r].group_of[g] = number_of[grouping->maps[r].group_of[g]];
    if (ok)
        job->groups = sorted;
    gt_mem_free(order);
    gt_mem_free(number_of);
    return ok;
}

/* All kernels that only have a name. There is room for one more. */
static bool add_named_group(struct gt_rank_job *job) {
    int64_t *members = gt_arena_array(&job->arena, job->rank_count, sizeof *members);
    if (!members)
        return false;
    for (size_t r = 0; r < job->rank_count; r++)
        members[r] = job->ranks[r].number;
    job->groups[job->group_count++] = (struct gt_rank_set_group){.communicator = UINT64_MAX,
                                                                 .name = GT_STR("kernel names"),
                                                                 .members = members,
                                                                 .member_count = job->rank_count,
                                                                 .size = (int64_t)job->rank_count,
                                                                 .present = job->rank_count,
                                                                 .is_of_names = true,
                                                                 .first_mismatch = -1};
    return true;
}

/* In a real job every rank has collectives in each of its groups, so few groups have more members than this. */
static size_t most_members(const struct gt_rank_job *job) {
    enum { FEW = 1 << 20, PER_COLLECTIVE = 64 };
    size_t count = FEW;
    for (size_t r = 0; r < job->rank_count; r++)
        count += PER_COLLECTIVE * job->ranks[r].summary->carried_count;
    return count;
}

bool gt_rank_groups_make(struct gt_rank_job *job) {
    struct grouping grouping = {
        .job = job, .spare_members = most_members(job), .maps = gt_mem_array(job->rank_count, sizeof *grouping.maps)};
    bool has_keys = gt_strtab_init(&grouping.keys);
    bool ok = has_keys && grouping.maps;
    for (size_t r = 0; ok && r < job->rank_count; r++)
        ok = map_groups(&grouping, r);
    ok = ok && find_members(&grouping) && number_groups(&grouping);
    ok = ok && (!job->options.match_names || add_named_group(job));
    ok = ok && gt_rank_items_make(job, grouping.maps);
    for (size_t r = 0; grouping.maps && r < job->rank_count; r++)
        gt_mem_free(grouping.maps[r].group_of);
    gt_mem_free(grouping.maps);
    gt_mem_free(grouping.last_user);
    gt_mem_free(grouping.user_count);
    if (has_keys)
        gt_strtab_release(&grouping.keys);
    return ok;
}
