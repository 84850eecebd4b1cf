/* The events in the public interface: every table of columns.def with the labels of its rows, and the tables of the
 * labels, as lists of constant arrays. Only steps, categories and collectives, which are few, are copied. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "events/comms.h"
#include "internal.h"

/* ---- fields ---- */

/* What a column's values are rows of; NULL: plain values. */
static const char *referred_table(const struct gt_column_info *info) {
    static const char *const names[] = {
#define GT_TABLE(table, columns) #table,
#define GT_COLUMN(table, type, name, refers)
#include "events/columns.def"
#undef GT_TABLE
#undef GT_COLUMN
    };
    if (!gt_store_column_refers(info))
        return NULL;
    enum gt_table_id table = gt_store_table_referred(info->refers);
    return table == GT_TABLE_COUNT ? "strings" : names[table];
}

_Static_assert((int)GT_ELEMENT_U8 == (int)GPUTIME_FIELD_U8 && (int)GT_ELEMENT_F64 == (int)GPUTIME_FIELD_F64,
               "values must match the header");

static bool ends_in(const char *text, const char *end) {
    size_t text_bytes = strlen(text), end_bytes = strlen(end);
    return text_bytes >= end_bytes && strcmp(text + text_bytes - end_bytes, end) == 0;
}

static const char *unit_of(const char *key) {
    return ends_in(key, "_ns") ? "ns" : ends_in(key, "bytes") ? "bytes" : "";
}

static void add_field(struct gputime_rows *rows, struct gt_arena *arena, struct gputime_field field) {
    struct gputime_field *fields =
        gt_arena_room(arena, rows->fields, rows->field_count, &rows->field_capacity, sizeof *fields);
    if (!fields)
        return; /* recorded in the arena */
    field.unit = unit_of(field.key);
    rows->fields = fields;
    rows->fields[rows->field_count++] = field;
}

static struct gputime_field field_of_column(const struct gt_column_info *info, const void *data) {
    return (struct gputime_field){
        .key = info->name,
        .type = (enum gputime_field_type)info->element,
        .null = gt_store_column_null(info),
        .refers_to = referred_table(info),
        .choices = gt_store_choices(info->refers),
        .data = data,
    };
}

/* ---- labels ---- */

/* A label that refers to another row, if there is one. */
static void add_label(struct gputime_rows *rows, struct gt_arena *arena, const char *key, const char *refers_to,
                      const uint32_t *data) {
    add_field(rows, arena,
              (struct gputime_field){.key = key,
                                     .type = GPUTIME_FIELD_U32,
                                     .null = refers_to ? GPUTIME_NULL_MAX : GPUTIME_NULL_NEVER,
                                     .refers_to = refers_to,
                                     .data = data});
}

static void add_number(struct gputime_rows *rows, struct gt_arena *arena, const char *key, enum gputime_field_type type,
                       enum gputime_null null, const void *data) {
    add_field(rows, arena, (struct gputime_field){.key = key, .type = type, .null = null, .data = data});
}

static void add_string(struct gputime_rows *rows, struct gt_arena *arena, const char *key, const gt_strid *data) {
    add_field(rows, arena,
              (struct gputime_field){.key = key, .type = GPUTIME_FIELD_U32, .refers_to = "strings", .data = data});
}

static void add_category(struct gputime_rows *rows, struct gt_arena *arena, const uint8_t *data) {
    add_field(
        rows, arena,
        (struct gputime_field){.key = "category", .type = GPUTIME_FIELD_U8, .refers_to = "categories", .data = data});
}

/* The first collective of each op. Only where collectives were asked for: others would pay for an empty column. */
static void add_op_collectives(struct gputime_rows *rows, struct gt_arena *arena, const struct gt_labels *labels) {
    uint32_t *collective = gt_arena_uninitialised(arena, rows->count, sizeof *collective);
    bool has_any = labels->comms.op_launch != NULL;
    if (collective && !has_any)
        memset(collective, 0xff, rows->count * sizeof *collective); /* GT_NO_ROW */
    for (uint32_t op = 0; collective && has_any && op < rows->count; op++) {
        const struct gt_comm_launch *launch = gt_comms_of_op(labels, op);
        collective[op] = launch ? launch->first : GT_NO_ROW;
    }
    add_label(rows, arena, "collective", "collectives", collective);
}

static void add_labels(struct gputime_rows *rows, struct gt_arena *arena, enum gt_table_id table,
                       const struct gt_labels *labels) {
    if (table == GT_TABLE_ops) {
        add_category(rows, arena, labels->op_category);
        add_label(rows, arena, "call", "calls", labels->op_call);
        add_label(rows, arena, "range", "ranges", labels->op_range);
        add_label(rows, arena, "step", "steps", labels->op_step);
        if (rows->reading->store->asked & GT_FACT_COMMS)
            add_op_collectives(rows, arena, labels);
    } else if (table == GT_TABLE_ranges) {
        add_label(rows, arena, "parent", "ranges", labels->range_parent);
        add_label(rows, arena, "level", NULL, labels->range_level);
    } else if (table == GT_TABLE_memory_events) {
        add_label(rows, arena, "call", "calls", labels->memory_call);
        add_label(rows, arena, "cpu_op", "cpu_ops", labels->memory_cpu_op);
        add_label(rows, arena, "range", "ranges", labels->memory_range);
    } else if (table == GT_TABLE_groups) {
        add_category(rows, arena, labels->group_category);
    }
}

/* ---- tables of labels ---- */

static void add_steps(struct gputime_rows *rows, struct gt_arena *arena, const struct gt_labels *labels) {
    size_t count = labels->step_count;
    int64_t *number = gt_arena_uninitialised(arena, count, sizeof *number),
            *start = gt_arena_uninitialised(arena, count, sizeof *start),
            *end = gt_arena_uninitialised(arena, count, sizeof *end);
    uint32_t *process = gt_arena_uninitialised(arena, count, sizeof *process),
             *range = gt_arena_uninitialised(arena, count, sizeof *range);
    if (gt_arena_failed(arena))
        return;
    for (size_t i = 0; i < count; i++) {
        number[i] = labels->steps[i].number;
        start[i] = labels->steps[i].start_ns;
        end[i] = labels->steps[i].end_ns;
        process[i] = labels->steps[i].process;
        range[i] = labels->steps[i].range;
    }
    *rows = (struct gputime_rows){.key = "steps", .reading = rows->reading, .count = count};
    add_field(rows, arena, (struct gputime_field){.key = "start_ns", .type = GPUTIME_FIELD_I64, .data = start});
    add_field(rows, arena, (struct gputime_field){.key = "end_ns", .type = GPUTIME_FIELD_I64, .data = end});
    add_field(rows, arena, (struct gputime_field){.key = "number", .type = GPUTIME_FIELD_I64, .data = number});
    add_label(rows, arena, "process", "processes", process);
    add_label(rows, arena, "range", "ranges", range);
}

static void add_categories(struct gputime_rows *rows, struct gt_arena *arena, const struct gt_labels *labels) {
    size_t count = labels->category_count;
    const char **key = gt_arena_array(arena, count, sizeof *key), **title = gt_arena_array(arena, count, sizeof *title);
    uint8_t *kind = gt_arena_array(arena, count, sizeof *kind);
    if (gt_arena_failed(arena))
        return;
    for (size_t i = 0; i < count; i++) {
        key[i] = labels->categories[i].key;
        title[i] = labels->categories[i].title;
        kind[i] = (uint8_t)labels->categories[i].time_class;
    }
    *rows = (struct gputime_rows){.key = "categories", .reading = rows->reading, .count = count};
    add_field(rows, arena, (struct gputime_field){.key = "key", .type = GPUTIME_FIELD_TEXT, .data = key});
    add_field(rows, arena, (struct gputime_field){.key = "title", .type = GPUTIME_FIELD_TEXT, .data = title});
    add_field(rows, arena,
              (struct gputime_field){
                  .key = "time", .type = GPUTIME_FIELD_U8, .choices = "compute|communication|memory", .data = kind});
}

/* Of the records of a collective: what they say together. */
static const struct {
    const char *key;
    size_t offset;
} record_fields[] = {
#define FIELD(name)                                                                                                    \
    { #name, offsetof(struct gt_comms_row, name) }
    FIELD(in_bytes), FIELD(out_bytes), FIELD(comms_id),  FIELD(sequence),   FIELD(src_rank),
    FIELD(dst_rank), FIELD(rank),      FIELD(root),      FIELD(peer),       FIELD(name),
    FIELD(dtype),    FIELD(reduction), FIELD(in_splits), FIELD(out_splits),
#undef FIELD
};

static const struct gt_column_info *record_column(const char *key) {
    const struct gt_column_info *info = gt_column_infos;
    while (info->table != GT_TABLE_comms || strcmp(info->name, key) != 0)
        info++;
    return info;
}

static void add_record_fields(struct gputime_rows *rows, struct gt_arena *arena, const struct gt_comms_row *merged) {
    for (size_t f = 0; f < sizeof record_fields / sizeof *record_fields; f++) {
        const struct gt_column_info *info = record_column(record_fields[f].key);
        char *data = gt_arena_array(arena, rows->count, info->elem_bytes);
        for (size_t i = 0; data && i < rows->count; i++)
            memcpy(data + i * info->elem_bytes, (const char *)&merged[i] + record_fields[f].offset, info->elem_bytes);
        add_field(rows, arena, field_of_column(info, data));
    }
}

#define GT_COMM_OP(key, kind) "|" #key
static const char operations[] = "other"
#include "events/comm_ops.def"
    ;
#undef GT_COMM_OP

/* false: memory was short. */
static bool add_collectives(struct gputime_rows *rows, struct gt_arena *arena, const struct gt_store *store,
                            const struct gt_labels *labels) {
    const struct gt_comm_labels *comms = &labels->comms;
    size_t count = comms->collective_count;
    *rows = (struct gputime_rows){.key = "collectives", .reading = rows->reading, .count = count};
    uint8_t *operation = gt_arena_array(arena, count, sizeof *operation);
    uint32_t *launch = gt_arena_array(arena, count, sizeof *launch),
             *group = gt_arena_array(arena, count, sizeof *group),
             *record = gt_arena_array(arena, count, sizeof *record), *more = gt_arena_array(arena, count, sizeof *more);
    struct gt_comms_row *merged = gt_mem_array(count, sizeof *merged);
    if (!merged || gt_arena_failed(arena)) {
        gt_mem_free(merged);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct gt_collective *collective = &comms->collectives[i];
        operation[i] = collective->op;
        launch[i] = collective->launch;
        group[i] = collective->group;
        record[i] = collective->record;
        more[i] = collective->more;
        merged[i] = gt_comms_merged(store, collective);
    }
    add_field(
        rows, arena,
        (struct gputime_field){.key = "operation", .type = GPUTIME_FIELD_U8, .choices = operations, .data = operation});
    add_label(rows, arena, "launch", NULL, launch);
    add_label(rows, arena, "group", "collective_groups", group);
    add_label(rows, arena, "record", "comms", record);
    add_label(rows, arena, "more", "comms", more);
    add_record_fields(rows, arena, merged);
    gt_mem_free(merged);
    return true;
}

/* Ranks of a group that has a list of them: "0,1,4"; else "". NULL: memory was short. */
static const char *text_of_ranks(const struct gt_comm_group *group, struct gt_arena *arena) {
    enum { RANK_MAX_BYTES = sizeof "-9223372036854775808," };
    if (!group->rank_list)
        return "";
    size_t count = (size_t)group->size, used = 0;
    char *text = gt_arena_array(arena, count, RANK_MAX_BYTES);
    for (size_t i = 0; text && i < count; i++)
        used += (size_t)sprintf(text + used, "%s%lld", i ? "," : "", (long long)group->rank_list[i]);
    return text;
}

static void add_collective_groups(struct gputime_rows *rows, struct gt_arena *arena, const struct gt_labels *labels) {
    size_t count = labels->comms.group_count;
    *rows = (struct gputime_rows){.key = "collective_groups", .reading = rows->reading, .count = count};
    int64_t *size = gt_arena_array(arena, count, sizeof *size), *first = gt_arena_array(arena, count, sizeof *first),
            *stride = gt_arena_array(arena, count, sizeof *stride);
    uint64_t *communicator = gt_arena_array(arena, count, sizeof *communicator);
    gt_strid *name = gt_arena_array(arena, count, sizeof *name), *about = gt_arena_array(arena, count, sizeof *about);
    const char **ranks = gt_arena_array(arena, count, sizeof *ranks);
    if (gt_arena_failed(arena))
        return;
    for (size_t i = 0; i < count; i++) {
        const struct gt_comm_group *group = &labels->comms.groups[i];
        bool is_regular = !group->rank_list && group->stride;
        size[i] = group->size;
        first[i] = is_regular ? group->first_rank : INT64_MIN;
        stride[i] = is_regular ? group->stride : INT64_MIN;
        communicator[i] = group->communicator;
        name[i] = group->name;
        about[i] = group->description;
        ranks[i] = text_of_ranks(group, arena);
    }
    add_number(rows, arena, "size", GPUTIME_FIELD_I64, GPUTIME_NULL_NEGATIVE, size);
    add_number(rows, arena, "first_rank", GPUTIME_FIELD_I64, GPUTIME_NULL_MIN, first);
    add_number(rows, arena, "stride", GPUTIME_FIELD_I64, GPUTIME_NULL_MIN, stride);
    add_number(rows, arena, "communicator", GPUTIME_FIELD_U64, GPUTIME_NULL_MAX, communicator);
    add_string(rows, arena, "name", name);
    add_string(rows, arena, "description", about);
    add_field(rows, arena, (struct gputime_field){.key = "ranks", .type = GPUTIME_FIELD_TEXT, .data = ranks});
}

/* false: memory was short. */
static bool list_rows(struct gputime_rows *all, const struct gt_reading *reading, struct gt_arena *arena) {
    for (size_t i = 0; i < GT_ROW_KINDS; i++)
        all[i].reading = reading;
    for (size_t i = 0; i < gt_column_count; i++) {
        const struct gt_column_info *info = &gt_column_infos[i];
        struct gputime_rows *rows = &all[info->table];
        rows->key = info->table_name;
        rows->count = *gt_store_row_count(reading->store, info->table);
        add_field(rows, arena, field_of_column(info, *gt_store_column(reading->store, info)));
    }
    for (int table = 0; table < GT_TABLE_COUNT; table++)
        add_labels(&all[table], arena, (enum gt_table_id)table, reading->labels);
    add_steps(&all[GT_TABLE_COUNT], arena, reading->labels);
    add_categories(&all[GT_TABLE_COUNT + 1], arena, reading->labels);
    bool ok = add_collectives(&all[GT_TABLE_COUNT + 2], arena, reading->store, reading->labels);
    add_collective_groups(&all[GT_TABLE_COUNT + 3], arena, reading->labels);
    return ok && !gt_arena_failed(arena);
}

static void make_rows(struct gt_reading *reading) {
    struct gputime_rows *all = gt_arena_array(&reading->arena, GT_ROW_KINDS, sizeof *all);
    if (all && list_rows(all, reading, &reading->arena))
        reading->rows = all;
    else
        gt_arena_release(&reading->arena); /* who asks again may have more luck */
}

const struct gputime_rows *gt_internal_rows(const struct gputime_trace *trace) {
    /* What is constant otherwise. */
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&trace->rows_lock;
    struct gt_reading *reading = (struct gt_reading *)(uintptr_t)trace->shown;
    pthread_mutex_lock(lock);
    if (!reading->rows)
        make_rows(reading);
    const struct gputime_rows *rows = reading->rows;
    pthread_mutex_unlock(lock);
    return rows;
}
