/* Rewrites the texts, numbers of processes and threads, and times of a store in place. */
#include "redact/redact_store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "events/comms.h"
#include "redact/redact_names.h"
#include "redact/redact_texts.h"

/* What becomes of the texts of a column. */
enum role {
    EMPTY,  /* nothing is left */
    KERNEL, /* names that stay unless they hold a path or names are hashes */
    RANGE,
    CALL,     /* without arguments */
    VALUES,   /* lists of numbers and types */
    COMM,     /* a collective that is known by this name; else as a range */
    FUNCTION, /* of Python: the file is a hash */
    TERM,     /* a word of a vendor's: plain texts stay */
    TABLE,    /* of an Nsight export; others are hashes */
    NUMBERED, /* "process 1" of what is known by text alone */
    DIGITS,   /* which no output shows: whether two are the same is all that counts */
    ROLE_COUNT
};

/* All that may stay. A column that is not here has no texts any more. */
static const struct {
    const char *table, *column;
    enum role role;
} kept[] = {
    {"ops", "name", KERNEL},
    {"calls", "name", CALL},
    {"ranges", "name", RANGE},
    {"ranges", "domain", RANGE},
    {"cpu_ops", "name", RANGE},
    {"overheads", "name", CALL},
    {"driver_work", "name", CALL},
    {"host_calls", "name", CALL},
    {"host_calls", "domain", TERM},
    {"range_categories", "name", RANGE},
    {"range_texts", "key", RANGE},
    {"comms", "name", COMM},
    {"comms", "dtype", VALUES},
    {"comms", "reduction", VALUES},
    {"comms", "in_splits", VALUES},
    {"comms", "out_splits", VALUES},
    {"comm_logs", "name", COMM},
    {"comm_logs", "timing", TERM},
    {"operator_args", "dims", VALUES},
    {"operator_args", "types", VALUES},
    {"operator_args", "strides", VALUES},
    {"operator_args", "inputs", VALUES},
    {"call_args", "name", CALL},
    {"operator_details", "kernel_name", KERNEL},
    {"operator_details", "kernel_backend", TERM},
    {"operator_details", "kernel_grid", VALUES},
    {"launch_details", "limiters", TERM},
    {"memory_events", "name", KERNEL},
    {"python_calls", "name", FUNCTION},
    {"groups", "name", KERNEL},
    {"groups", "printed", KERNEL},
    {"projections", "name", RANGE},
    {"projections", "domain", RANGE},
    {"projection_groups", "name", RANGE},
    {"projection_groups", "domain", RANGE},
    {"source_columns", "table", TABLE},
    {"source_columns", "role", TERM},
    {"processes", "label", NUMBERED},
    {"processes", "host", DIGITS},
    {"threads", "label", NUMBERED},
    {"devices", "name", TERM},
    {"devices", "uuid", DIGITS},
    {"counter_tracks", "name", RANGE},
    {"counter_tracks", "series", RANGE},
    {"counter_tracks", "unit", TERM},
    {"comm_groups", "name", RANGE},
    {"comm_groups", "description", RANGE},
    {"comm_groups", "ranks", VALUES},
};

struct redaction {
    struct gt_store *store;
    struct gt_strtab strings; /* the new ones */
    struct gt_redact_names names;
    struct gt_arena arena;
    gt_strid *texts[ROLE_COUNT]; /* by old id: the new one, UINT32_MAX: not made yet */
};

/* ---- texts ---- */

static enum role role_of(const struct gt_column_info *column) {
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strcmp(kept[i].table, column->table_name) == 0 && strcmp(kept[i].column, column->name) == 0)
            return kept[i].role;
    return EMPTY;
}

static struct gt_str hide_function(struct redaction *redaction, struct gt_str text) {
    size_t file = gt_redact_texts_file(text);
    struct gt_str rest = {text.ptr + file, text.len - file};
    bool has_path = gt_redact_names_has_path(rest);
    if (!file || redaction->names.hides_all || has_path)
        return gt_redact_names_hash(&redaction->names, GT_REDACT_RANGE, text);
    struct gt_str hash = gt_redact_names_hash(&redaction->names, GT_REDACT_RANGE, (struct gt_str){text.ptr, file});
    return gt_arena_printf(&redaction->arena, "%.*s%.*s", (int)hash.len, hash.ptr, (int)rest.len, rest.ptr);
}

static struct gt_str clean(struct redaction *redaction, enum role role, struct gt_str text) {
    switch (role) {
    case KERNEL:
        return gt_redact_names_hide(&redaction->names, GT_REDACT_KERNEL, text);
    case RANGE:
        return gt_redact_names_hide(&redaction->names, GT_REDACT_RANGE, text);
    case CALL:
        return gt_redact_names_hide(&redaction->names, GT_REDACT_CALL, text);
    case VALUES:
        return gt_redact_texts_values(text, &redaction->arena);
    case COMM:
        return gt_comms_op_of_name(text) != GT_COMM_OTHER
                   ? text
                   : gt_redact_names_hide(&redaction->names, GT_REDACT_RANGE, text);
    case FUNCTION:
        return hide_function(redaction, text);
    case TERM:
        return gt_redact_names_is_plain(text) ? text : gt_redact_names_hash(&redaction->names, GT_REDACT_RANGE, text);
    case TABLE:
        return gt_redact_allowed_table_find(text) ? text
                                                  : gt_redact_names_hash(&redaction->names, GT_REDACT_RANGE, text);
    case DIGITS:
        return gt_redact_names_digits(&redaction->names, text);
    case EMPTY:
    case NUMBERED:
    case ROLE_COUNT:
        break;
    }
    return (struct gt_str){"", 0};
}

static gt_strid new_text(struct redaction *redaction, enum role role, gt_strid old) {
    if (role == EMPTY || old == GT_STRID_EMPTY || old >= redaction->store->strings.count)
        return GT_STRID_EMPTY;
    gt_strid *known = &redaction->texts[role][old];
    if (*known == UINT32_MAX)
        *known = gt_strtab_intern(&redaction->strings, clean(redaction, role, gt_store_string(redaction->store, old)));
    return *known;
}

static gt_strid number_text(struct redaction *redaction, const struct gt_column_info *column, gt_strid old,
                            size_t row) {
    if (old == GT_STRID_EMPTY)
        return old;
    bool is_process = column->table == GT_TABLE_processes;
    return gt_strtab_intern(&redaction->strings,
                            gt_arena_printf(&redaction->arena, "%s %zu", is_process ? "process" : "thread", row + 1));
}

/* Copies and memsets are named by the profiler, in words that are known. NULL: the table has no ops. */
static const uint8_t *kinds_of(const struct gt_store *store, enum gt_table_id table) {
    return table == GT_TABLE_ops ? store->ops.kind : table == GT_TABLE_groups ? store->groups.kind : NULL;
}

static void rewrite_texts(struct redaction *redaction, const struct gt_column_info *column) {
    gt_strid *ids = *gt_store_column(redaction->store, column);
    size_t count = *gt_store_row_count(redaction->store, column->table);
    enum role role = role_of(column);
    const uint8_t *kinds = kinds_of(redaction->store, column->table);
    for (size_t i = 0; i < count; i++)
        ids[i] = kinds && !gt_store_kind_is_kernel(kinds[i]) ? new_text(redaction, VALUES, ids[i])
                 : role == NUMBERED                          ? number_text(redaction, column, ids[i], i)
                                                             : new_text(redaction, role, ids[i]);
}

static bool init(struct redaction *redaction, struct gt_store *store, bool hides_names) {
    *redaction = (struct redaction){.store = store};
    bool is_done = gt_strtab_init(&redaction->strings);
    is_done = gt_redact_names_init(&redaction->names, hides_names) && is_done;
    for (int role = 0; role < ROLE_COUNT; role++) {
        size_t count = store->strings.count + 1;
        redaction->texts[role] = gt_mem_uninitialised(count, sizeof(gt_strid));
        is_done = is_done && redaction->texts[role];
        if (redaction->texts[role])
            memset(redaction->texts[role], 0xFF, count * sizeof(gt_strid));
    }
    return is_done;
}

static void release(struct redaction *redaction) {
    for (int role = 0; role < ROLE_COUNT; role++)
        gt_mem_free(redaction->texts[role]);
    gt_redact_names_release(&redaction->names);
    gt_arena_release(&redaction->arena);
    gt_strtab_release(&redaction->strings);
}

static void rewrite_all_texts(struct redaction *redaction) {
    struct gt_store *store = redaction->store;
    for (size_t c = 0; c < gt_column_count; c++)
        if (gt_column_infos[c].refers == GT_REFERS_STRING)
            rewrite_texts(redaction, &gt_column_infos[c]);
    store->meta.origin = new_text(redaction, TERM, store->meta.origin);
    store->meta.producer = new_text(redaction, TERM, store->meta.producer);
    store->meta.hidden_host = new_text(redaction, DIGITS, store->meta.host);
    store->meta.host = GT_STRID_EMPTY;
    struct gt_strtab old = store->strings;
    store->strings = redaction->strings;
    redaction->strings = old;
}

/* ---- numbers ---- */

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The place of a number among the sorted ones, from 1; 0 and negative ones stay. */
static int64_t place_of(const int64_t *numbers, size_t count, int64_t number) {
    size_t low = 0, high = count;
    if (number <= 0)
        return number;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return (int64_t)low + 1;
}

/* Small numbers in the order of the old, the same for a process and its main thread. */
static bool renumber(struct gt_store *store) {
    size_t most = store->processes.count + store->threads.count, count = 0, kept_count = 0;
    int64_t *numbers = gt_mem_array(most + 1, sizeof *numbers);
    if (!numbers)
        return false;
    for (size_t i = 0; i < store->processes.count; i++)
        numbers[count++] = store->processes.pid[i];
    for (size_t i = 0; i < store->threads.count; i++)
        numbers[count++] = store->threads.tid[i];
    qsort(numbers, count, sizeof *numbers, by_number);
    for (size_t i = 0; i < count; i++)
        if (numbers[i] > 0 && (!kept_count || numbers[kept_count - 1] != numbers[i]))
            numbers[kept_count++] = numbers[i];
    for (size_t i = 0; i < store->processes.count; i++)
        store->processes.pid[i] = place_of(numbers, kept_count, store->processes.pid[i]);
    for (size_t i = 0; i < store->threads.count; i++)
        store->threads.tid[i] = place_of(numbers, kept_count, store->threads.tid[i]);
    for (size_t i = 0; i < store->operator_args.count; i++) /* only whether there is one counts */
        if (store->operator_args.forward_thread[i] > 0)
            store->operator_args.forward_thread[i] = 1;
    gt_mem_free(numbers);
    return true;
}

static bool is_moment(const struct gt_column_info *column) {
    static const char *const names[] = {"start_ns", "end_ns", "time_ns", "range_start_ns", "range_end_ns"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(column->name, names[i]) == 0)
            return true;
    return false;
}

/* Addresses say how a process was laid out; equal ones stay equal within 2^64. */
static void shift_addresses(struct gt_store *store) {
    uint64_t lowest = UINT64_MAX;
    for (size_t i = 0; i < store->memory_events.count; i++)
        if (store->memory_events.address[i] && store->memory_events.address[i] < lowest)
            lowest = store->memory_events.address[i];
    for (size_t i = 0; i < store->memory_events.count; i++)
        if (store->memory_events.address[i] && store->memory_events.address[i] != UINT64_MAX)
            store->memory_events.address[i] -= lowest - 1;
    for (size_t i = 0; i < store->memory_events.count; i++)
        if (store->memory_events.pool[i] && store->memory_events.pool[i] != UINT64_MAX)
            store->memory_events.pool[i] -= lowest - 1;
}

/* The first op is at 0. */
static void shift_times(struct gt_store *store) {
    for (size_t c = 0; c < gt_column_count; c++) {
        const struct gt_column_info *column = &gt_column_infos[c];
        if (!is_moment(column))
            continue;
        int64_t *times = *gt_store_column(store, column);
        for (size_t i = 0; i < *gt_store_row_count(store, column->table); i++)
            if (times[i] != GT_NO_TIME)
                times[i] = gt_ns_between(store->origin_ns, times[i]);
    }
    store->origin_ns = store->meta.base_ns = 0;
}

enum gt_status gt_redact_store(struct gt_store *store, bool hides_names, struct gt_error *err) {
    struct redaction redaction;
    bool is_done = init(&redaction, store, hides_names);
    if (is_done)
        rewrite_all_texts(&redaction);
    is_done = is_done && !store->strings.failed && !gt_arena_failed(&redaction.arena) &&
              !redaction.names.digits.failed && renumber(store);
    if (is_done) {
        shift_times(store);
        shift_addresses(store);
    }
    release(&redaction);
    return is_done ? GT_OK : gt_fail_memory(err);
}
