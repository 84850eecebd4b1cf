/* What the CPU did when memory was allocated or freed: memory events come in, the call, the operator and the range
   around each go out. A framework records the thread of an event; the driver's are known by the correlation of their
   call. */
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "label/enclose.h"
#include "label/label.h"

static uint32_t *new_rows(struct gt_labels *labels, size_t count) {
    uint32_t *rows = gt_arena_array(&labels->arenas[GT_PASS_MEMORY], count, sizeof *rows);
    if (rows)
        memset(rows, 0xff, count * sizeof *rows);
    return rows;
}

/* The first call of each (process, correlation) that some event has. */
static bool find_calls(const struct gt_store *store, uint32_t *call_of) {
    const struct gt_memory_events *events = &store->memory_events;
    const struct gt_calls *calls = &store->calls;
    struct gt_map wanted = {0}, found = {0};
    for (uint32_t i = 0; i < events->count; i++)
        if (events->correlation[i] != UINT64_MAX)
            gt_map_put_if_new(&wanted, events->process[i], events->correlation[i], 1);
    for (uint32_t i = 0; i < calls->count && wanted.count; i++) {
        uint32_t process = gt_labels_call_process(store, i);
        if (gt_map_get(&wanted, process, calls->correlation[i]) != GT_MAP_NONE)
            gt_map_put_if_new(&found, process, calls->correlation[i], i);
    }
    for (uint32_t i = 0; i < events->count && found.count; i++)
        if (events->correlation[i] != UINT64_MAX)
            call_of[i] = gt_map_get(&found, events->process[i], events->correlation[i]);
    bool is_done = !wanted.failed && !found.failed;
    gt_map_release(&wanted);
    gt_map_release(&found);
    return is_done;
}
_Static_assert(GT_MAP_NONE == GT_NO_ROW, "a call that is not found is no row");

/* Where on which thread each event was: its call, else its own moment. Returns how many have a place. */
static size_t list_events(const struct gt_store *store, const uint32_t *call_of, struct gt_enclose_span *spans) {
    const struct gt_memory_events *events = &store->memory_events;
    const struct gt_calls *calls = &store->calls;
    size_t count = 0;
    for (uint32_t i = 0; i < events->count; i++) {
        uint32_t call = call_of[i];
        if (call != GT_NO_ROW && calls->thread[call] != GT_NO_TRACK)
            spans[count++] =
                (struct gt_enclose_span){calls->start_ns[call], calls->end_ns[call], calls->thread[call], i};
        else if (events->thread[i] != GT_NO_TRACK && events->time_ns[i] != GT_NO_TIME)
            spans[count++] = (struct gt_enclose_span){events->time_ns[i], events->time_ns[i], events->thread[i], i};
    }
    return count;
}

/* Operators that others call to get memory. */
static bool only_allocates(struct gt_str name) {
    static const struct gt_str starts[] = {GT_STR("aten::empty"), GT_STR("aten::new_empty"), GT_STR("aten::resize")};
    for (size_t i = 0; i < GT_ARRAY_COUNT(starts); i++)
        if (gt_str_starts(name, starts[i]))
            return true;
    return false;
}

static size_t list_operators(const struct gt_store *store, struct gt_enclose_span *spans, bool has_allocating) {
    const struct gt_cpu_ops *ops = &store->cpu_ops;
    size_t count = 0;
    for (uint32_t i = 0; i < ops->count; i++)
        if (ops->thread[i] != GT_NO_TRACK && (has_allocating || !only_allocates(gt_store_string(store, ops->name[i]))))
            spans[count++] = (struct gt_enclose_span){ops->start_ns[i], ops->end_ns[i], ops->thread[i], i};
    return count;
}

/* Those that began and ended on one thread. */
static size_t list_ranges(const struct gt_store *store, struct gt_enclose_span *spans) {
    const struct gt_ranges *ranges = &store->ranges;
    size_t count = 0;
    for (uint32_t i = 0; i < ranges->count; i++)
        if (ranges->thread[i] != GT_NO_TRACK && ranges->end_thread[i] == GT_NO_TRACK &&
            ranges->kind[i] != GT_RANGE_MARK)
            spans[count++] = (struct gt_enclose_span){ranges->start_ns[i], ranges->end_ns[i], ranges->thread[i], i};
    return count;
}

static void note(void *context, uint32_t event, uint32_t row) {
    uint32_t *rows = context;
    rows[event] = row;
}

static enum gt_status run(const struct gt_store *store, struct gt_labels *labels, struct gt_label_scratch *scratch,
                          struct gt_error *err) {
    (void)scratch;
    size_t count = store->memory_events.count;
    size_t most = store->cpu_ops.count > store->ranges.count ? store->cpu_ops.count : store->ranges.count;
    labels->memory_call = new_rows(labels, count);
    labels->memory_cpu_op = new_rows(labels, count);
    labels->memory_range = new_rows(labels, count);
    labels->memory_owner = new_rows(labels, count);
    if (gt_arena_failed(&labels->arenas[GT_PASS_MEMORY]))
        return gt_fail_memory(err);
    if (!count)
        return GT_OK;
    struct gt_enclose_span *events = gt_mem_array(count, sizeof *events), *around = gt_mem_array(most, sizeof *around);
    bool is_done = events && around && find_calls(store, labels->memory_call);
    size_t placed = is_done ? list_events(store, labels->memory_call, events) : 0;
    is_done = is_done &&
              gt_enclose(around, list_operators(store, around, true), events, placed, note, labels->memory_cpu_op) &&
              gt_enclose(around, list_operators(store, around, false), events, placed, note, labels->memory_owner) &&
              gt_enclose(around, list_ranges(store, around), events, placed, note, labels->memory_range);
    for (size_t i = 0; i < count && is_done; i++)
        if (labels->memory_owner[i] == GT_NO_ROW)
            labels->memory_owner[i] = labels->memory_cpu_op[i];
    gt_mem_free(events);
    gt_mem_free(around);
    return is_done ? GT_OK : gt_fail_memory(err);
}

const struct gt_label_pass gt_label_pass_memory = {
    .key = "memory", .title = "call, operator and range of memory events", .round = GT_LABEL_FIRST, .run = run};
