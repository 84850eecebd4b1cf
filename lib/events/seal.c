/* Sealing: builders of several threads become one const store, in file order, whoever read which chunk. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"
#include "events/store.h"

/* A segment and where its rows are. */
struct piece {
    struct gt_builder *builder;
    size_t builder_index;
    struct gt_segment *segment;
    size_t place[GT_TABLE_COUNT]; /* its first row in the merged store */
};

/* From a builder's own numbers to the merged store's, for everything a column can refer to. */
struct renumbering {
    uint32_t *maps[GT_REFERS_OP]; /* by enum gt_refers; NULL for PLAIN */
};

struct merge {
    struct piece *pieces;
    size_t piece_count;
    struct renumbering *renumberings; /* by builder */
    struct gt_builder target;         /* its track maps find tracks that several builders know */
};

static int by_order(const void *a, const void *b) {
    const struct piece *x = a, *y = b;
    if (x->segment->order != y->segment->order)
        return x->segment->order < y->segment->order ? -1 : 1;
    if (x->builder_index != y->builder_index)
        return x->builder_index < y->builder_index ? -1 : 1;
    return (x->segment > y->segment) - (x->segment < y->segment);
}

static bool collect_pieces(struct merge *merge, struct gt_builder *builders, size_t count) {
    size_t total = 0;
    for (size_t b = 0; b < count; b++)
        total += builders[b].segment_count;
    merge->pieces = gt_alloc_array(total + 1, sizeof *merge->pieces);
    if (!merge->pieces)
        return false;
    for (size_t b = 0; b < count; b++)
        for (size_t s = 0; s < builders[b].segment_count; s++)
            merge->pieces[merge->piece_count++] =
                (struct piece){.builder = &builders[b], .builder_index = b, .segment = &builders[b].segments[s]};
    qsort(merge->pieces, merge->piece_count, sizeof *merge->pieces, by_order);
    return true;
}

static bool make_renumberings(struct merge *merge, struct gt_builder *builders, size_t count) {
    merge->renumberings = gt_alloc_array(count, sizeof *merge->renumberings);
    if (!merge->renumberings)
        return false;
    for (size_t b = 0; b < count; b++) {
        const struct gt_store *store = &builders[b].store;
        const size_t sizes[GT_REFERS_OP] = {
            [GT_REFERS_STRING] = store->strings.count, [GT_REFERS_PROCESS] = store->processes.count,
            [GT_REFERS_THREAD] = store->threads.count, [GT_REFERS_DEVICE] = store->devices.count,
            [GT_REFERS_LANE] = store->lanes.count,
        };
        for (int r = GT_REFERS_STRING; r < GT_REFERS_OP; r++) {
            merge->renumberings[b].maps[r] = gt_alloc_array(sizes[r] + 1, sizeof(uint32_t));
            if (!merge->renumberings[b].maps[r])
                return false;
        }
    }
    return true;
}

static uint32_t renumber(const struct renumbering *numbers, enum gt_refers refers, uint32_t value) {
    return value == GT_NO_TRACK ? value : numbers->maps[refers][value];
}

/* The first name that any builder knows for a track stays. */
static void keep_name(gt_strid *name, gt_strid candidate) {
    if (*name == GT_STRID_EMPTY)
        *name = candidate;
}

static void merge_processes(struct merge *merge, const struct piece *piece) {
    const struct renumbering *numbers = &merge->renumberings[piece->builder_index];
    const struct gt_store *from = &piece->builder->store;
    for (size_t i = piece->segment->begin[GT_TABLE_processes]; i < piece->segment->end[GT_TABLE_processes]; i++) {
        struct gt_str label = gt_store_string(from, from->processes.label[i]);
        uint32_t id = gt_builder_process(&merge->target, from->processes.pid[i], label);
        if (merge->target.failed)
            return;
        numbers->maps[GT_REFERS_PROCESS][i] = id;
        keep_name(&merge->target.store.processes.name[id],
                  renumber(numbers, GT_REFERS_STRING, from->processes.name[i]));
    }
}

static void merge_threads(struct merge *merge, const struct piece *piece) {
    const struct renumbering *numbers = &merge->renumberings[piece->builder_index];
    const struct gt_store *from = &piece->builder->store;
    for (size_t i = piece->segment->begin[GT_TABLE_threads]; i < piece->segment->end[GT_TABLE_threads]; i++) {
        struct gt_str label = gt_store_string(from, from->threads.label[i]);
        uint32_t process = renumber(numbers, GT_REFERS_PROCESS, from->threads.process[i]);
        uint32_t id = gt_builder_thread(&merge->target, process, from->threads.tid[i], label);
        if (merge->target.failed)
            return;
        numbers->maps[GT_REFERS_THREAD][i] = id;
        keep_name(&merge->target.store.threads.name[id], renumber(numbers, GT_REFERS_STRING, from->threads.name[i]));
    }
}

static void merge_devices(struct merge *merge, const struct piece *piece) {
    const struct renumbering *numbers = &merge->renumberings[piece->builder_index];
    const struct gt_devices *from = &piece->builder->store.devices;
    struct gt_devices *into = &merge->target.store.devices;
    for (size_t i = piece->segment->begin[GT_TABLE_devices]; i < piece->segment->end[GT_TABLE_devices]; i++) {
        uint32_t id = gt_builder_device(&merge->target, from->id[i]);
        if (merge->target.failed)
            return;
        numbers->maps[GT_REFERS_DEVICE][i] = id;
        keep_name(&into->name[id], renumber(numbers, GT_REFERS_STRING, from->name[i]));
        if (into->memory_bytes[id] == 0)
            into->memory_bytes[id] = from->memory_bytes[i];
        if (into->multiprocessors[id] == 0)
            into->multiprocessors[id] = from->multiprocessors[i];
    }
}

static void merge_lanes(struct merge *merge, const struct piece *piece) {
    const struct renumbering *numbers = &merge->renumberings[piece->builder_index];
    const struct gt_store *from = &piece->builder->store;
    for (size_t i = piece->segment->begin[GT_TABLE_lanes]; i < piece->segment->end[GT_TABLE_lanes]; i++) {
        uint32_t process = renumber(numbers, GT_REFERS_PROCESS, from->lanes.process[i]);
        int64_t device = from->devices.id[from->lanes.device[i]];
        numbers->maps[GT_REFERS_LANE][i] = gt_builder_lane(&merge->target, process, device, from->lanes.stream[i]);
    }
}

/* Strings and tracks, in order of first appearance in the file. Dropped segments count too: a later segment of the
   same builder may use what they brought. */
static bool merge_tracks(struct merge *merge) {
    for (size_t p = 0; p < merge->piece_count; p++) {
        const struct piece *piece = &merge->pieces[p];
        uint32_t *strings = merge->renumberings[piece->builder_index].maps[GT_REFERS_STRING];
        for (size_t i = piece->segment->string_begin; i < piece->segment->string_end; i++)
            strings[i] = gt_builder_string(&merge->target, gt_strtab_get(&piece->builder->store.strings, (gt_strid)i));
    }
    for (size_t p = 0; p < merge->piece_count && !merge->target.failed; p++) {
        merge_processes(merge, &merge->pieces[p]);
        merge_threads(merge, &merge->pieces[p]);
        merge_devices(merge, &merge->pieces[p]);
        merge_lanes(merge, &merge->pieces[p]);
    }
    return !merge->target.failed && !merge->target.store.strings.failed;
}

static bool is_track_table(enum gt_table_id table) {
    return table == GT_TABLE_processes || table == GT_TABLE_threads || table == GT_TABLE_devices ||
           table == GT_TABLE_lanes;
}

/* One column of one segment, to the row where the segment's rows of that table begin in the merged store. */
static void copy_column(struct gt_store *into, const struct piece *piece, const struct gt_column_info *info,
                        const struct renumbering *numbers) {
    size_t first = piece->segment->begin[info->table];
    size_t count = piece->segment->end[info->table] - first;
    const char *from = (const char *)*gt_store_column(&piece->builder->store, info) + first * info->elem_bytes;
    char *to = (char *)*gt_store_column(into, info) + piece->place[info->table] * info->elem_bytes;
    if (info->refers == GT_REFERS_PLAIN) {
        memcpy(to, from, count * info->elem_bytes);
        return;
    }
    const uint32_t *old = (const uint32_t *)(const void *)from;
    uint32_t *new = (uint32_t *)(void *)to;
    if (info->refers == GT_REFERS_OP || info->refers == GT_REFERS_RANGE) {
        /* Rows move from the builder's place to the merged one; what refers to them moves along. */
        enum gt_table_id table = info->refers == GT_REFERS_OP ? GT_TABLE_ops : GT_TABLE_ranges;
        uint32_t shift = (uint32_t)(piece->place[table] - piece->segment->begin[table]);
        for (size_t i = 0; i < count; i++)
            new[i] = old[i] + shift;
        return;
    }
    for (size_t i = 0; i < count; i++)
        new[i] = renumber(numbers, info->refers, old[i]);
}

/* Where each segment's rows go, table by table; makes room for them. */
static bool place_rows(struct merge *merge) {
    struct gt_store *into = &merge->target.store;
    for (int t = 0; t < GT_TABLE_COUNT; t++) {
        if (is_track_table((enum gt_table_id)t))
            continue;
        size_t *rows = gt_store_row_count(into, (enum gt_table_id)t);
        for (size_t p = 0; p < merge->piece_count; p++) {
            struct piece *piece = &merge->pieces[p];
            piece->place[t] = *rows;
            *rows += piece->segment->dropped ? 0 : piece->segment->end[t] - piece->segment->begin[t];
        }
        if (*rows && !gt_store_table_reserve(into, (enum gt_table_id)t, *rows))
            return false;
    }
    return true;
}

/* Copying, shared by several threads: each takes the next column that nobody has. */
struct copying {
    struct merge *merge;
    struct gt_builder *builders;
    size_t builder_count;
    atomic_size_t next_column;
};

/* Each builder's column is given back once it is copied: a thread holds both copies of one column at most. */
static void copy_columns(void *context, size_t thread) {
    (void)thread;
    struct copying *copying = context;
    struct merge *merge = copying->merge;
    size_t c;
    while ((c = atomic_fetch_add(&copying->next_column, 1)) < gt_column_count) {
        const struct gt_column_info *info = &gt_column_infos[c];
        if (is_track_table(info->table))
            continue;
        for (size_t p = 0; p < merge->piece_count; p++) {
            const struct piece *piece = &merge->pieces[p];
            if (!piece->segment->dropped && piece->segment->end[info->table] > piece->segment->begin[info->table])
                copy_column(&merge->target.store, piece, info, &merge->renumberings[piece->builder_index]);
        }
        for (size_t b = 0; b < copying->builder_count; b++)
            gt_store_column_free(&copying->builders[b].store, info);
    }
}

/* As many threads as filled builders: one of those belongs to the caller, who waited. */
static bool copy_rows(struct merge *merge, struct gt_builder *builders, size_t count) {
    if (!place_rows(merge))
        return false;
    struct copying copying = {.merge = merge, .builders = builders, .builder_count = count};
    atomic_init(&copying.next_column, 0);
    gt_threads_run(count > 2 ? count - 1 : 1, copy_columns, &copying);
    return true;
}

static void merge_meta(struct gt_meta *into, const struct gt_meta *from, gt_strid producer) {
    if (!into->base_ns)
        into->base_ns = from->base_ns;
    if (into->rank < 0)
        into->rank = from->rank;
    if (into->world_size < 0)
        into->world_size = from->world_size;
    if (into->duration_ns < 0)
        into->duration_ns = from->duration_ns;
    if (into->producer == GT_STRID_EMPTY)
        into->producer = producer;
}

static enum gt_status merge_builders(struct merge *merge, struct gt_builder *builders, size_t count,
                                     struct gt_error *err) {
    if (gt_builder_init(&merge->target, builders[0].store.meta.format, err) != GT_OK)
        return GT_ERR;
    gt_builder_begin(&merge->target, 0);
    if (!make_renumberings(merge, builders, count) || !merge_tracks(merge) || !copy_rows(merge, builders, count))
        return gt_fail_memory(err);
    for (size_t b = 0; b < count; b++)
        merge_meta(&merge->target.store.meta, &builders[b].store.meta,
                   renumber(&merge->renumberings[b], GT_REFERS_STRING, builders[b].store.meta.producer));
    return GT_OK;
}

static void sum_issues(struct gt_store *store, const struct merge *merge) {
    for (int k = 0; k < GT_ISSUE_COUNT; k++)
        store->issues[k] = (struct gt_issue){.first_offset = GT_NO_OFFSET};
    for (size_t p = 0; p < merge->piece_count; p++) {
        const struct gt_segment *segment = merge->pieces[p].segment;
        if (segment->dropped)
            continue;
        store->skipped_events += segment->skipped_events;
        for (int k = 0; k < GT_ISSUE_COUNT; k++) {
            gt_issue_add(&store->issues[k], segment->issues[k].count);
            if (segment->issues[k].first_offset < store->issues[k].first_offset)
                store->issues[k].first_offset = segment->issues[k].first_offset;
        }
    }
}

static void find_facts(struct gt_store *store) {
    if (store->ops.count)
        store->facts |= GT_FACT_OPS;
    if (store->calls.count)
        store->facts |= GT_FACT_CALLS;
    for (size_t i = 0; i < store->ops.count; i++) {
        if (i == 0 || store->ops.start_ns[i] < store->origin_ns)
            store->origin_ns = store->ops.start_ns[i];
        if (store->ops.correlation[i] != GT_NO_CORRELATION)
            store->facts |= GT_FACT_CORRELATION;
    }
    /* Without ops, the first of a projected range is the first that is known. */
    for (size_t i = 0; i < store->projections.count && store->ops.count == 0; i++)
        if (i == 0 || store->projections.start_ns[i] < store->origin_ns)
            store->origin_ns = store->projections.start_ns[i];
    for (size_t i = 0; i < store->ranges.count && !(store->facts & GT_FACT_RANGES); i++)
        if (store->ranges.thread[i] != GT_NO_TRACK)
            store->facts |= GT_FACT_RANGES;
    if (store->cpu_ops.count)
        store->facts |= GT_FACT_CPU_OPS;
    if (store->groups.count)
        store->facts |= GT_FACT_GROUPS;
    if (store->copies.count)
        store->facts |= GT_FACT_BYTES;
    if (store->projections.count || store->projection_groups.count)
        store->facts |= GT_FACT_PROJECTIONS;
}

/* One builder that dropped nothing already is the store: its columns move without a copy. */
static bool is_in_order(const struct merge *merge, size_t builder_count) {
    for (size_t p = 0; p < merge->piece_count; p++)
        if (merge->pieces[p].segment->dropped || (p && merge->pieces[p].segment < merge->pieces[p - 1].segment))
            return false;
    return builder_count == 1;
}

enum gt_status gt_store_seal(struct gt_builder *builders, size_t count, struct gt_store **out, struct gt_error *err) {
    enum gt_status status = GT_OK;
    struct merge merge = {0};
    struct gt_store *store = gt_alloc_array(1, sizeof *store);
    bool failed = !store || !collect_pieces(&merge, builders, count);
    for (size_t b = 0; b < count; b++) {
        gt_builder_end(&builders[b]);
        failed = failed || builders[b].failed || builders[b].store.strings.failed || builders[b].process_ids.failed ||
                 builders[b].thread_ids.failed || builders[b].device_ids.failed || builders[b].lane_ids.failed;
    }
    if (failed) {
        status = gt_fail_memory(err);
    } else if (is_in_order(&merge, count)) {
        *store = builders[0].store;
        memset(&builders[0].store, 0, sizeof builders[0].store);
    } else {
        status = merge_builders(&merge, builders, count, err);
        *store = merge.target.store;
        memset(&merge.target.store, 0, sizeof merge.target.store);
    }
    if (store && status == GT_OK) {
        sum_issues(store, &merge);
        find_facts(store);
        *out = store;
    } else {
        gt_store_free(store);
        *out = NULL;
    }
    for (size_t b = 0; b < count; b++)
        for (int r = 0; merge.renumberings && r < GT_REFERS_OP; r++)
            gt_free(merge.renumberings[b].maps[r]);
    gt_free(merge.renumberings);
    gt_free(merge.pieces);
    gt_builder_release(&merge.target);
    for (size_t b = 0; b < count; b++)
        gt_builder_release(&builders[b]);
    return status;
}
