/* Sealing: builders of several threads become one const store, in file order, no matter who read which chunk. */
#include "events/seal.h"
#include "events/seal_facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strtab_lists.h"
#include "base/threads.h"
#include "events/builder.h"

static int by_order(const void *a, const void *b) {
    const struct gt_piece *x = a, *y = b;
    if (x->segment->order != y->segment->order)
        return x->segment->order < y->segment->order ? -1 : 1;
    if (x->builder_index != y->builder_index)
        return x->builder_index < y->builder_index ? -1 : 1;
    return (x->segment > y->segment) - (x->segment < y->segment);
}

static bool collect_pieces(struct gt_merge *merge, struct gt_builder *builders, size_t count) {
    size_t total = 0;
    for (size_t b = 0; b < count; b++)
        total += builders[b].segment_count;
    merge->pieces = gt_mem_array(total + 1, sizeof *merge->pieces);
    if (!merge->pieces)
        return false;
    for (size_t b = 0; b < count; b++)
        for (size_t s = 0; s < builders[b].segment_count; s++)
            merge->pieces[merge->piece_count++] =
                (struct gt_piece){.builder = &builders[b], .builder_index = b, .segment = &builders[b].segments[s]};
    qsort(merge->pieces, merge->piece_count, sizeof *merge->pieces, by_order);
    return true;
}

/* How many of something that columns refer to a store has. */
static size_t number_count(struct gt_store *store, enum gt_refers refers) {
    enum gt_table_id table = gt_store_table_referred(refers);
    return table == GT_TABLE_COUNT ? store->strings.count : *gt_store_row_count(store, table);
}

static bool make_renumberings(struct gt_merge *merge, struct gt_builder *builders, size_t count) {
    merge->renumberings = gt_mem_array(count, sizeof *merge->renumberings);
    if (!merge->renumberings)
        return false;
    for (size_t b = 0; b < count; b++) {
        for (int r = GT_REFERS_STRING; r < GT_REFERS_OP; r++) {
            merge->renumberings[b].maps[r] =
                gt_mem_array(number_count(&builders[b].store, (enum gt_refers)r) + 1, sizeof(uint32_t));
            if (!merge->renumberings[b].maps[r])
                return false;
        }
    }
    return true;
}

/* The first name that any builder knows for a track stays. */
static void keep_name(gt_strid *name, gt_strid candidate) {
    if (*name == GT_STRID_EMPTY)
        *name = candidate;
}

static void keep_rank(struct gt_processes *into, uint32_t id, const struct gt_processes *from, size_t i) {
    if (into->world_size[id] < from->world_size[i])
        into->world_size[id] = from->world_size[i];
    if (into->rank[id] >= 0 && (from->rank[i] < 0 || into->rank_source[id] <= from->rank_source[i]))
        return;
    into->rank[id] = from->rank[i];
    into->rank_source[id] = from->rank_source[i];
}

static void merge_processes(struct gt_merge *merge, const struct gt_piece *piece) {
    const struct gt_renumbering *numbers = &merge->renumberings[piece->builder_index];
    const struct gt_store *from = &piece->builder->store;
    for (size_t i = piece->segment->begin[GT_TABLE_processes]; i < piece->segment->end[GT_TABLE_processes]; i++) {
        struct gt_str label = gt_store_string(from, from->processes.label[i]);
        uint32_t id = gt_builder_process(&merge->target, from->processes.pid[i], label);
        if (merge->target.failed)
            return;
        numbers->maps[GT_REFERS_PROCESS][i] = id;
        keep_name(&merge->target.store.processes.name[id],
                  gt_seal_renumber(numbers, GT_REFERS_STRING, from->processes.name[i]));
        keep_name(&merge->target.store.processes.host[id],
                  gt_seal_renumber(numbers, GT_REFERS_STRING, from->processes.host[i]));
        keep_rank(&merge->target.store.processes, id, &from->processes, i);
    }
}

static void merge_threads(struct gt_merge *merge, const struct gt_piece *piece) {
    const struct gt_renumbering *numbers = &merge->renumberings[piece->builder_index];
    const struct gt_store *from = &piece->builder->store;
    for (size_t i = piece->segment->begin[GT_TABLE_threads]; i < piece->segment->end[GT_TABLE_threads]; i++) {
        struct gt_str label = gt_store_string(from, from->threads.label[i]);
        uint32_t process = gt_seal_renumber(numbers, GT_REFERS_PROCESS, from->threads.process[i]);
        uint32_t id = gt_builder_thread(&merge->target, process, from->threads.tid[i], label);
        if (merge->target.failed)
            return;
        numbers->maps[GT_REFERS_THREAD][i] = id;
        keep_name(&merge->target.store.threads.name[id],
                  gt_seal_renumber(numbers, GT_REFERS_STRING, from->threads.name[i]));
    }
}

/* The first value other than 0 that any builder knows for a column of a device stays. */
static void keep_device_value(struct gt_merge *merge, const struct gt_piece *piece, const struct gt_column_info *info,
                              uint32_t id, size_t row) {
    static const char unknown[sizeof(uint64_t)];
    const struct gt_renumbering *numbers = &merge->renumberings[piece->builder_index];
    size_t bytes = info->elem_bytes;
    char *into = (char *)*gt_store_column(&merge->target.store, info) + id * bytes;
    const char *from = (const char *)*gt_store_column(&piece->builder->store, info) + row * bytes;
    if (memcmp(into, unknown, bytes) != 0)
        return;
    if (info->refers != GT_REFERS_STRING) {
        memcpy(into, from, bytes);
        return;
    }
    gt_strid text = gt_seal_renumber(numbers, GT_REFERS_STRING, *(const gt_strid *)(const void *)from);
    memcpy(into, &text, sizeof text);
}

static void merge_devices(struct gt_merge *merge, const struct gt_piece *piece) {
    const struct gt_renumbering *numbers = &merge->renumberings[piece->builder_index];
    const struct gt_devices *from = &piece->builder->store.devices;
    for (size_t i = piece->segment->begin[GT_TABLE_devices]; i < piece->segment->end[GT_TABLE_devices]; i++) {
        uint32_t id = gt_builder_device(&merge->target, from->id[i]);
        if (merge->target.failed)
            return;
        numbers->maps[GT_REFERS_DEVICE][i] = id;
        for (size_t c = 0; c < gt_column_count; c++) {
            const struct gt_column_info *info = &gt_column_infos[c];
            if (info->table == GT_TABLE_devices && info->offset != offsetof(struct gt_devices, id))
                keep_device_value(merge, piece, info, id, i);
        }
    }
}

static void merge_lanes(struct gt_merge *merge, const struct gt_piece *piece) {
    const struct gt_renumbering *numbers = &merge->renumberings[piece->builder_index];
    const struct gt_store *from = &piece->builder->store;
    for (size_t i = piece->segment->begin[GT_TABLE_lanes]; i < piece->segment->end[GT_TABLE_lanes]; i++) {
        uint32_t process = gt_seal_renumber(numbers, GT_REFERS_PROCESS, from->lanes.process[i]);
        int64_t device = from->devices.id[from->lanes.device[i]];
        numbers->maps[GT_REFERS_LANE][i] = gt_builder_lane(&merge->target, process, device, from->lanes.stream[i]);
    }
}

static void merge_counter_tracks(struct gt_merge *merge, const struct gt_piece *piece) {
    const struct gt_renumbering *numbers = &merge->renumberings[piece->builder_index];
    const struct gt_counter_tracks *from = &piece->builder->store.counter_tracks;
    size_t end = piece->segment->end[GT_TABLE_counter_tracks];
    for (size_t i = piece->segment->begin[GT_TABLE_counter_tracks]; i < end; i++)
        numbers->maps[GT_REFERS_COUNTER_TRACK][i] = gt_builder_counter_track(
            &merge->target, &(struct gt_counter_tracks_row){
                                .process = gt_seal_renumber(numbers, GT_REFERS_PROCESS, from->process[i]),
                                .device = from->device[i],
                                .name = gt_seal_renumber(numbers, GT_REFERS_STRING, from->name[i]),
                                .series = gt_seal_renumber(numbers, GT_REFERS_STRING, from->series[i]),
                                .unit = gt_seal_renumber(numbers, GT_REFERS_STRING, from->unit[i]),
                                .period_ns = from->period_ns[i],
                                .kind = from->kind[i],
                            });
}

static void merge_comm_groups(struct gt_merge *merge, const struct gt_piece *piece) {
    const struct gt_renumbering *numbers = &merge->renumberings[piece->builder_index];
    const struct gt_comm_groups *from = &piece->builder->store.comm_groups;
    size_t end = piece->segment->end[GT_TABLE_comm_groups];
    for (size_t i = piece->segment->begin[GT_TABLE_comm_groups]; i < end; i++)
        numbers->maps[GT_REFERS_COMM_GROUP][i] = gt_builder_comm_group(
            &merge->target, &(struct gt_comm_groups_row){
                                .communicator = from->communicator[i],
                                .size = from->size[i],
                                .first_rank = from->first_rank[i],
                                .stride = from->stride[i],
                                .name = gt_seal_renumber(numbers, GT_REFERS_STRING, from->name[i]),
                                .description = gt_seal_renumber(numbers, GT_REFERS_STRING, from->description[i]),
                                .ranks = gt_seal_renumber(numbers, GT_REFERS_STRING, from->ranks[i]),
                                .source = from->source[i],
                            });
}

static bool merge_strings(struct gt_merge *merge, size_t threads) {
    struct gt_strtab_list *lists = gt_mem_array(merge->piece_count, sizeof *lists);
    size_t count = 0;
    for (size_t p = 0; p < merge->piece_count && lists; p++) {
        const struct gt_piece *piece = &merge->pieces[p];
        size_t begin = piece->segment->string_begin, end = piece->segment->string_end;
        if (piece->segment->forgotten || begin >= end)
            continue;
        lists[count] = (struct gt_strtab_list){
            .texts = piece->builder->store.strings.strings + begin,
            .count = end - begin,
            .ids = merge->renumberings[piece->builder_index].maps[GT_REFERS_STRING] + begin,
        };
        count++;
    }
    if (lists)
        gt_strtab_lists_intern(&merge->target.store.strings, lists, count, threads);
    bool is_ok = lists;
    gt_mem_free(lists);
    return is_ok;
}

/* Strings and tracks, in order of first appearance in the file. Dropped segments count too unless they are forgotten: a
   later segment of the same builder may use what they brought. */
static bool merge_tracks(struct gt_merge *merge, size_t threads) {
    if (!merge_strings(merge, threads))
        return false;
    for (size_t p = 0; p < merge->piece_count && !merge->target.failed; p++) {
        if (merge->pieces[p].segment->forgotten)
            continue;
        merge_processes(merge, &merge->pieces[p]);
        merge_threads(merge, &merge->pieces[p]);
        merge_devices(merge, &merge->pieces[p]);
        merge_lanes(merge, &merge->pieces[p]);
        merge_counter_tracks(merge, &merge->pieces[p]);
        merge_comm_groups(merge, &merge->pieces[p]);
    }
    return !merge->target.failed && !merge->target.store.strings.failed;
}

/* What the first builders brought mostly keeps its number. */
static void find_same_numbers(struct gt_merge *merge, struct gt_builder *builders, size_t count) {
    for (size_t b = 0; b < count; b++) {
        struct gt_renumbering *numbers = &merge->renumberings[b];
        for (int r = GT_REFERS_STRING; r < GT_REFERS_OP; r++) {
            size_t end = number_count(&builders[b].store, (enum gt_refers)r), same = 0;
            while (same < end && numbers->maps[r][same] == same)
                same++;
            numbers->same_below[r] = same;
        }
    }
}

static void merge_meta(struct gt_meta *into, const struct gt_meta *from, const struct gt_renumbering *numbers) {
    if (!into->base_ns)
        into->base_ns = from->base_ns;
    if (into->rank < 0)
        into->rank = from->rank;
    if (into->world_size < 0)
        into->world_size = from->world_size;
    if (into->duration_ns < 0)
        into->duration_ns = from->duration_ns;
    into->read_rows += from->read_rows;
    into->read_bytes += from->read_bytes;
    into->announced |= from->announced;
    keep_name(&into->origin, gt_seal_renumber(numbers, GT_REFERS_STRING, from->origin));
    keep_name(&into->producer, gt_seal_renumber(numbers, GT_REFERS_STRING, from->producer));
    keep_name(&into->host, gt_seal_renumber(numbers, GT_REFERS_STRING, from->host));
}

static enum gt_status merge_builders(struct gt_merge *merge, struct gt_builder *builders, size_t count,
                                     struct gt_error *err) {
    if (gt_builder_init(&merge->target, builders[0].store.meta.format, err) != GT_OK)
        return GT_ERR;
    gt_builder_begin(&merge->target, 0);
    if (!make_renumberings(merge, builders, count) || !merge_tracks(merge, count))
        return gt_fail_memory(err);
    find_same_numbers(merge, builders, count);
    if (!gt_seal_merge_rows(merge, builders, count))
        return gt_fail_memory(err);
    for (size_t b = 0; b < count; b++)
        merge_meta(&merge->target.store.meta, &builders[b].store.meta, &merge->renumberings[b]);
    return GT_OK;
}

static void sum_issues(struct gt_store *store, const struct gt_merge *merge) {
    for (int k = 0; k < GT_ISSUE_COUNT; k++)
        store->issues[k] = (struct gt_issue){.first_offset = GT_NO_OFFSET};
    for (size_t p = 0; p < merge->piece_count; p++) {
        const struct gt_segment *segment = merge->pieces[p].segment;
        if (segment->dropped)
            continue;
        store->skipped_events += segment->skipped_events;
        for (int k = 0; k < GT_ISSUE_COUNT; k++)
            gt_store_issue_join(&store->issues[k], &segment->issues[k]);
    }
}

/* Rows of segments become one row for each problem and set of facts, in the order of both: how the file was cut into
   segments does not show. There are few different ones, so inserting each into those before it takes little. */
static void join_fact_issues(struct gt_fact_issues *rows) {
    size_t joined = 0;
    for (size_t i = 0; i < rows->count; i++) {
        struct gt_issue issue = {rows->times[i], rows->first_offset[i]};
        uint32_t facts = rows->facts[i];
        uint8_t id = rows->issue[i];
        size_t at = joined;
        while (at && (rows->issue[at - 1] > id || (rows->issue[at - 1] == id && rows->facts[at - 1] > facts)))
            at--;
        if (at && rows->issue[at - 1] == id && rows->facts[at - 1] == facts) {
            at--;
            gt_store_issue_join(&issue, &(struct gt_issue){rows->times[at], rows->first_offset[at]});
        } else {
            size_t after = joined - at;
            memmove(rows->times + at + 1, rows->times + at, after * sizeof *rows->times);
            memmove(rows->first_offset + at + 1, rows->first_offset + at, after * sizeof *rows->first_offset);
            memmove(rows->facts + at + 1, rows->facts + at, after * sizeof *rows->facts);
            memmove(rows->issue + at + 1, rows->issue + at, after * sizeof *rows->issue);
            joined++;
        }
        rows->times[at] = issue.count;
        rows->first_offset[at] = issue.first_offset;
        rows->facts[at] = facts;
        rows->issue[at] = id;
    }
    rows->count = joined;
}

/* One builder that dropped nothing already is the store: its columns move without a copy. */
static bool is_in_order(const struct gt_merge *merge, const struct gt_builder *builders, size_t builder_count) {
    for (size_t p = 0; p < merge->piece_count; p++)
        if (merge->pieces[p].segment->dropped || (p && merge->pieces[p].segment < merge->pieces[p - 1].segment))
            return false;
    return builder_count == 1 && !builders[0].has_twins;
}

static void release_builder(void *context, size_t index) {
    gt_builder_release((struct gt_builder *)context + index);
}

enum gt_status gt_store_seal(struct gt_builder *builders, size_t count, struct gt_store **out, struct gt_error *err) {
    enum gt_status status = GT_OK;
    struct gt_merge merge = {0};
    struct gt_store *store = gt_mem_array(1, sizeof *store);
    bool failed = !store || !collect_pieces(&merge, builders, count);
    for (size_t b = 0; b < count; b++) {
        gt_builder_end(&builders[b]);
        failed = failed || builders[b].failed || builders[b].store.strings.failed || builders[b].process_ids.failed ||
                 builders[b].thread_ids.failed || builders[b].device_ids.failed || builders[b].lane_ids.failed ||
                 builders[b].counter_keys.failed || builders[b].group_keys.failed;
    }
    if (failed) {
        status = gt_fail_memory(err);
    } else if (is_in_order(&merge, builders, count)) {
        *store = builders[0].store;
        memset(&builders[0].store, 0, sizeof builders[0].store);
    } else {
        status = merge_builders(&merge, builders, count, err);
        *store = merge.target.store;
        memset(&merge.target.store, 0, sizeof merge.target.store);
    }
    if (store && status == GT_OK && !gt_seal_group_counters(store))
        status = gt_fail_memory(err);
    if (store && status == GT_OK) {
        sum_issues(store, &merge);
        join_fact_issues(&store->fact_issues);
        gt_seal_facts_find(store, count);
        *out = store;
    } else {
        gt_store_free(store);
        *out = NULL;
    }
    for (size_t b = 0; b < count; b++)
        for (int r = 0; merge.renumberings && r < GT_REFERS_OP; r++)
            gt_mem_free(merge.renumberings[b].maps[r]);
    gt_mem_free(merge.renumberings);
    gt_mem_free(merge.pieces);
    gt_builder_release(&merge.target);
    gt_threads_deal(count, count, release_builder, builders); /* giving memory back takes its time, too */
    return status;
}
