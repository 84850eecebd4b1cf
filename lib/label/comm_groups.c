/* Groups of ranks: in come rows of comm_groups as traces describe them, out go the groups that collectives use. What a
   row says about its members is a list, which may be cut short, or a first rank and a stride, or nothing; then the
   configuration of the job may know the group by its name. */
#include "label/comm_groups.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/radix.h"
#include "events/comms.h"

/* Members in one form for equal ones: evenly spaced ranks are never a list. */
struct members {
    bool is_known;
    int64_t size, first, stride;
    const int64_t *list; /* NULL: first + i * stride */
    uint32_t content;    /* equal members have equal numbers */
    int64_t own_place;   /* found once for each list, not for each group that has it */
};

/* A list as written, read once for all rows that have it. */
struct reading {
    enum gt_comm_list state; /* END: it is whole */
    struct members members;  /* if it is, and has any */
};

struct resolver {
    const struct gt_store *store;
    const struct gt_comm_groups *rows;
    struct gt_comm_labels *comms;
    struct gt_arena *arena;    /* of the labels */
    struct gt_strtab contents; /* bytes of members: lists, or spacings, which no list has as many bytes as */
    struct gt_map reading_of;  /* by string: index into readings */
    struct reading *readings;
    size_t reading_count, reading_capacity;
    struct gt_map config_of;  /* by name: row of the configuration with its members */
    struct gt_map purpose_of; /* by name: row of the configuration with its description */
    struct gt_map by_members; /* (name, content) -> group */
    struct gt_map by_size;    /* (name, size or ANY_SIZE) -> the first group of this name */
    struct gt_map by_number;  /* communicator -> group */
    uint8_t *states;          /* by row: enum row_state */
    uint32_t *group_of;       /* by row */
    size_t group_capacity;
    uint64_t unreadable;
    bool failed;
};

#define ANY_SIZE UINT64_MAX

enum row_state { UNUSED, USED, KNOWN /* its own words say who is in it */ };

/* ---- lists ---- */

static uint32_t content_of_spacing(struct resolver *resolver, const struct members *members) {
    char bytes[3 * sizeof(int64_t) + 1] = {'s'};
    memcpy(bytes + 1, &members->first, sizeof members->first);
    memcpy(bytes + 1 + sizeof(int64_t), &members->stride, sizeof members->stride);
    memcpy(bytes + 1 + 2 * sizeof(int64_t), &members->size, sizeof members->size);
    return gt_strtab_intern(&resolver->contents, (struct gt_str){bytes, sizeof bytes});
}

static int64_t own_place(const struct resolver *resolver, const struct members *members) {
    const struct gt_comm_group group = {
        .size = members->size, .first_rank = members->first, .stride = members->stride, .rank_list = members->list};
    return gt_comms_place(&group, resolver->store->meta.rank);
}

static struct members spaced(struct resolver *resolver, int64_t first, int64_t stride, int64_t size) {
    struct members members = {.is_known = true, .size = size, .first = first, .stride = size == 1 ? 1 : stride};
    members.content = content_of_spacing(resolver, &members);
    members.own_place = own_place(resolver, &members);
    return members;
}

/* No rank twice. false as well when memory is short, which is recorded. */
static bool all_differ(struct resolver *resolver, const int64_t *list, size_t count) {
    struct gt_radix_item *items = gt_mem_array(count, sizeof *items);
    bool differ = items != NULL;
    for (size_t i = 0; i < count && items; i++)
        items[i].key = (uint64_t)list[i];
    if (!items || !gt_radix_sort(items, count))
        resolver->failed = true;
    for (size_t i = 1; i < count && items; i++)
        differ &= items[i].key != items[i - 1].key;
    gt_mem_free(items);
    return differ;
}

static struct members listed(struct resolver *resolver, const int64_t *list, size_t count) {
    int64_t stride = count > 1 ? list[1] - list[0] : 1;
    size_t even = 1;
    while (even < count && stride && list[even] - list[even - 1] == stride)
        even++;
    if (even == count)
        return spaced(resolver, list[0], stride, (int64_t)count);
    if (!all_differ(resolver, list, count))
        return (struct members){0};
    int64_t *kept = gt_arena_array(resolver->arena, count, sizeof *kept);
    if (!kept)
        return (struct members){0};
    memcpy(kept, list, count * sizeof *kept);
    struct gt_str bytes = {(const char *)kept, count * sizeof *kept};
    struct members members = {.is_known = true,
                              .size = (int64_t)count,
                              .list = kept,
                              .content = gt_strtab_intern_borrowed(&resolver->contents, bytes)};
    members.own_place = own_place(resolver, &members);
    return members;
}

/* A number takes two bytes of the text or more, but for the last. */
static struct reading read_list(struct resolver *resolver, struct gt_str text) {
    struct reading reading = {.state = GT_COMM_LIST_BROKEN};
    int64_t number, *list = gt_mem_uninitialised(text.len / 2 + 1, sizeof *list);
    size_t count = 0;
    resolver->failed |= !list;
    while (list && (reading.state = gt_comms_next_number(&text, &number)) == GT_COMM_LIST_NUMBER && number >= 0)
        list[count++] = number;
    if (reading.state == GT_COMM_LIST_NUMBER) /* a negative one */
        reading.state = GT_COMM_LIST_BROKEN;
    if (reading.state == GT_COMM_LIST_END && count) {
        reading.members = listed(resolver, list, count);
        reading.state = reading.members.is_known ? GT_COMM_LIST_END : GT_COMM_LIST_BROKEN;
    }
    gt_mem_free(list);
    return reading;
}

static struct reading reading_of(struct resolver *resolver, gt_strid text) {
    uint32_t index = gt_map_get(&resolver->reading_of, 0, text);
    if (index != GT_MAP_NONE)
        return resolver->readings[index];
    struct reading *readings =
        gt_mem_room(resolver->readings, resolver->reading_count, &resolver->reading_capacity, sizeof *readings);
    if (!readings) {
        resolver->failed = true;
        return (struct reading){.state = GT_COMM_LIST_BROKEN};
    }
    resolver->readings = readings;
    readings[resolver->reading_count] = read_list(resolver, gt_store_string(resolver->store, text));
    gt_map_put(&resolver->reading_of, 0, text, (uint32_t)resolver->reading_count);
    return readings[resolver->reading_count++];
}

/* ---- members of a row ---- */

/* As PyTorch has it: a stride below 0 means that the ranks are not evenly spaced, and one rank alone has stride 0. */
static struct members by_stride(struct resolver *resolver, uint32_t row, bool *is_odd) {
    int64_t first = resolver->rows->first_rank[row], stride = resolver->rows->stride[row];
    int64_t size = resolver->rows->size[row], last;
    if (first < 0 || stride < 0 || size <= 0)
        return (struct members){0};
    bool is_bad = (stride == 0 && size > 1) || __builtin_mul_overflow(size - 1, stride, &last) ||
                  __builtin_add_overflow(last, first, &last);
    *is_odd |= is_bad;
    if (is_bad)
        return (struct members){0};
    return spaced(resolver, first, stride, size);
}

/* PyTorch leaves the list of a group of all ranks empty. */
static bool is_everybody(const struct resolver *resolver, uint32_t row) {
    int64_t size = resolver->rows->size[row];
    return resolver->rows->source[row] == GT_GROUP_OF_CONFIG && size > 0 && size == resolver->store->meta.world_size;
}

/* What the row itself says, in a list. */
static struct members by_list(struct resolver *resolver, uint32_t row, bool *is_odd) {
    struct reading reading = reading_of(resolver, resolver->rows->ranks[row]);
    int64_t size = resolver->rows->size[row];
    if (reading.state == GT_COMM_LIST_END && !reading.members.is_known)
        return is_everybody(resolver, row) ? spaced(resolver, 0, 1, size) : (struct members){0};
    bool is_whole = reading.members.is_known && (size <= 0 || size == reading.members.size);
    *is_odd |= !is_whole && reading.state != GT_COMM_LIST_CUT;
    return is_whole ? reading.members : (struct members){0};
}

static struct members by_config(struct resolver *resolver, uint32_t row) {
    bool is_odd = false;
    uint32_t config = gt_map_get(&resolver->config_of, 0, resolver->rows->name[row]);
    struct members members = {0};
    if (config != GT_MAP_NONE)
        members = by_list(resolver, config, &is_odd);
    int64_t size = resolver->rows->size[row];
    members.is_known &= size <= 0 || size == members.size;
    return members;
}

static struct members members_of(struct resolver *resolver, uint32_t row) {
    bool is_odd = false;
    struct members members = by_list(resolver, row, &is_odd);
    if (!members.is_known)
        members = by_config(resolver, row);
    if (!members.is_known)
        members = by_stride(resolver, row, &is_odd);
    resolver->unreadable += is_odd;
    return members;
}

/* ---- groups ---- */

static uint32_t new_group(struct resolver *resolver) {
    struct gt_comm_labels *comms = resolver->comms;
    struct gt_comm_group *groups =
        gt_arena_room(resolver->arena, comms->groups, comms->group_count, &resolver->group_capacity, sizeof *groups);
    if (!groups)
        return GT_NO_ROW; /* recorded in the arena */
    comms->groups = groups;
    groups[comms->group_count] = (struct gt_comm_group){.communicator = UINT64_MAX, .size = -1, .own_place = -1};
    return (uint32_t)comms->group_count++;
}

/* The first row that knows something stays. */
static void describe(struct resolver *resolver, uint32_t number, uint32_t row, const struct members *members) {
    const struct gt_comm_groups *rows = resolver->rows;
    resolver->group_of[row] = number;
    if (number == GT_NO_ROW)
        return;
    struct gt_comm_group *group = &resolver->comms->groups[number];
    group->communicator = rows->communicator[row];
    group->name = group->name == GT_STRID_EMPTY ? rows->name[row] : group->name;
    group->description = group->description == GT_STRID_EMPTY ? rows->description[row] : group->description;
    if (members->is_known && !gt_comms_has_members(group)) {
        group->size = members->size;
        group->first_rank = members->first;
        group->stride = members->stride;
        group->rank_list = members->list;
        group->own_place = members->own_place;
    }
    group->size = group->size <= 0 && rows->size[row] > 0 ? rows->size[row] : group->size;
}

static uint32_t find_or_make(struct resolver *resolver, struct gt_map *map, uint64_t hi, uint64_t lo) {
    uint32_t number = gt_map_get(map, hi, lo);
    if (number != GT_MAP_NONE)
        return number;
    number = new_group(resolver);
    if (number != GT_NO_ROW)
        gt_map_put(map, hi, lo, number);
    return number;
}

static void remember_size(struct resolver *resolver, uint32_t row, uint32_t number) {
    gt_strid name = resolver->rows->name[row];
    if (number == GT_NO_ROW)
        return;
    int64_t size = resolver->comms->groups[number].size;
    if (size > 0)
        gt_map_put_if_new(&resolver->by_size, name, (uint64_t)size, number);
    gt_map_put_if_new(&resolver->by_size, name, ANY_SIZE, number);
}

static bool has_communicator(const struct resolver *resolver, uint32_t row) {
    return resolver->rows->communicator[row] != UINT64_MAX;
}

/* Groups that differ in what their rows themselves say: in communicator, or in name and members. */
static void number_known(struct resolver *resolver, uint32_t row) {
    struct members members = members_of(resolver, row);
    if (has_communicator(resolver, row)) {
        describe(resolver, find_or_make(resolver, &resolver->by_number, 0, resolver->rows->communicator[row]), row,
                 &members);
    } else if (members.is_known) {
        gt_strid name = resolver->rows->name[row];
        describe(resolver, find_or_make(resolver, &resolver->by_members, name, members.content), row, &members);
        remember_size(resolver, row, resolver->group_of[row]);
    } else {
        return;
    }
    resolver->states[row] = KNOWN;
}

/* The others belong to the first group of their name and size. */
static void number_unknown(struct resolver *resolver, uint32_t row) {
    const struct members none = {0};
    int64_t size = resolver->rows->size[row];
    describe(
        resolver,
        find_or_make(resolver, &resolver->by_size, resolver->rows->name[row], size > 0 ? (uint64_t)size : ANY_SIZE),
        row, &none);
    remember_size(resolver, row, resolver->group_of[row]);
}

/* The size of a communicator may be known only where it was made, which is no collective. */
static void complete_size(struct resolver *resolver, uint32_t row) {
    const struct members none = {0};
    uint32_t number = gt_map_get(&resolver->by_number, 0, resolver->rows->communicator[row]);
    if (number != GT_MAP_NONE)
        describe(resolver, number, row, &none);
}

/* The configuration may describe a group that its records only name. It knows no communicators. */
static void complete_descriptions(struct resolver *resolver) {
    for (size_t i = 0; i < resolver->comms->group_count; i++) {
        struct gt_comm_group *group = &resolver->comms->groups[i];
        uint32_t config = gt_map_get(&resolver->purpose_of, 0, group->name);
        if (group->description == GT_STRID_EMPTY && group->communicator == UINT64_MAX && config != GT_MAP_NONE)
            group->description = resolver->rows->description[config];
    }
}

static void read_config(struct resolver *resolver) {
    const struct gt_comm_groups *rows = resolver->rows;
    bool is_odd = false;
    for (uint32_t row = 0; row < rows->count; row++) {
        if (rows->source[row] != GT_GROUP_OF_CONFIG)
            continue;
        if (by_list(resolver, row, &is_odd).is_known)
            gt_map_put_if_new(&resolver->config_of, 0, rows->name[row], row);
        if (rows->name[row] != GT_STRID_EMPTY && rows->description[row] != GT_STRID_EMPTY)
            gt_map_put_if_new(&resolver->purpose_of, 0, rows->name[row], row);
    }
}

static void number_groups(struct resolver *resolver) {
    const struct gt_comm_groups *rows = resolver->rows;
    read_config(resolver);
    for (uint32_t row = 0; row < rows->count; row++)
        if (resolver->states[row] == USED)
            number_known(resolver, row);
    for (int has_size = 1; has_size >= 0; has_size--)
        for (uint32_t row = 0; row < rows->count; row++)
            if (resolver->states[row] == USED && (rows->size[row] > 0) == has_size)
                number_unknown(resolver, row);
    for (uint32_t row = 0; row < rows->count; row++)
        if (resolver->states[row] == UNUSED && has_communicator(resolver, row))
            complete_size(resolver, row);
    complete_descriptions(resolver);
}

/* ---- collectives ---- */

static void mark_used(struct resolver *resolver, uint32_t record) {
    uint32_t row = record == GT_NO_ROW ? GT_NO_TRACK : resolver->store->comms.group[record];
    if (row != GT_NO_TRACK)
        resolver->states[row] = USED;
}

/* The record that says itself who takes part; else the first that says anything. */
static uint32_t group_of(const struct resolver *resolver, const struct gt_collective *collective) {
    const uint32_t *row_of = resolver->store->comms.group;
    uint32_t row = row_of[collective->record];
    uint32_t more = collective->more == GT_NO_ROW ? GT_NO_TRACK : row_of[collective->more];
    if (row == GT_NO_TRACK || (more != GT_NO_TRACK && resolver->states[row] != KNOWN))
        row = more;
    return row == GT_NO_TRACK ? GT_NO_ROW : resolver->group_of[row];
}

static bool resolver_init(struct resolver *resolver, const struct gt_store *store, struct gt_labels *labels) {
    *resolver = (struct resolver){
        .store = store, .rows = &store->comm_groups, .comms = &labels->comms, .arena = &labels->arenas[GT_PASS_COMMS]};
    resolver->states = gt_mem_array(store->comm_groups.count, sizeof *resolver->states);
    resolver->group_of = gt_mem_array(store->comm_groups.count, sizeof *resolver->group_of);
    return gt_strtab_init(&resolver->contents) && resolver->states && resolver->group_of;
}

static bool resolver_ok(const struct resolver *resolver) {
    return !resolver->failed && !resolver->contents.failed && !resolver->reading_of.failed &&
           !resolver->config_of.failed && !resolver->purpose_of.failed && !resolver->by_members.failed &&
           !resolver->by_size.failed && !resolver->by_number.failed && !gt_arena_failed(resolver->arena);
}

static void resolver_release(struct resolver *resolver) {
    gt_strtab_release(&resolver->contents);
    gt_map_release(&resolver->reading_of);
    gt_map_release(&resolver->config_of);
    gt_map_release(&resolver->purpose_of);
    gt_map_release(&resolver->by_members);
    gt_map_release(&resolver->by_size);
    gt_map_release(&resolver->by_number);
    gt_mem_free(resolver->readings);
    gt_mem_free(resolver->states);
    gt_mem_free(resolver->group_of);
}

enum gt_status gt_comm_groups_resolve(const struct gt_store *store, struct gt_labels *labels, struct gt_error *err) {
    struct resolver resolver;
    struct gt_comm_labels *comms = &labels->comms;
    bool ok = resolver_init(&resolver, store, labels);
    for (size_t i = 0; ok && i < comms->collective_count; i++) {
        mark_used(&resolver, comms->collectives[i].record);
        mark_used(&resolver, comms->collectives[i].more);
    }
    if (ok)
        number_groups(&resolver);
    for (size_t i = 0; ok && i < comms->collective_count; i++)
        comms->collectives[i].group = group_of(&resolver, &comms->collectives[i]);
    labels->issues[GT_ISSUE_GROUP_MEMBERS_UNREADABLE] = resolver.unreadable;
    ok = ok && resolver_ok(&resolver);
    resolver_release(&resolver);
    return ok ? GT_OK : gt_fail_memory(err);
}
