/* Memory in use: the allocations and deallocations of all threads come in, counters of what each process has on each
   GPU go out, and of the memory pools. Rows are summed in an order of their own, so that it does not matter which
   thread read what. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "decode/nsys/nsys.h"

/* An event of memory with all that its order depends on. */
struct change {
    int64_t process; /* key of the process (gt_nsys_process_key); INT64_MIN: not known */
    int64_t time_ns; /* GT_NO_TIME, which is before all others: before the capture */
    uint64_t correlation;
    uint64_t order; /* of its segment in the file */
    const struct gt_memory_events *rows;
    size_t row;
};

static struct change change_at(const struct gt_builder *builder, const struct gt_segment *segment, size_t row) {
    const struct gt_store *store = &builder->store;
    uint32_t process = store->memory_events.process[row];
    return (struct change){
        .process = process < store->processes.count ? store->processes.pid[process] : INT64_MIN,
        .time_ns = store->memory_events.time_ns[row],
        .correlation = store->memory_events.correlation[row],
        .order = segment->order,
        .rows = &store->memory_events,
        .row = row,
    };
}

/* Static variables are there all the time; pinned memory is the host's. */
static bool is_in_use(const struct change *change) {
    const struct gt_memory_events *rows = change->rows;
    uint8_t kind = rows->kind[change->row], operation = rows->operation[change->row];
    return (operation == GT_MEMORY_ALLOCATE || operation == GT_MEMORY_FREE) &&
           (kind == GT_MEMORY_DEVICE || kind == GT_MEMORY_ARRAY || kind == GT_MEMORY_MANAGED) &&
           rows->device[change->row] >= 0;
}

static bool is_of_pool(const struct change *change) {
    return change->rows->pool[change->row] != UINT64_MAX;
}

static int compare_signed(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}
static int compare_unsigned(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int by_time(const struct change *x, const struct change *y) {
    int order = compare_signed(x->time_ns, y->time_ns);
    order = order ? order : compare_unsigned(x->correlation, y->correlation);
    order = order ? order : compare_unsigned(x->order, y->order);
    return order ? order : compare_unsigned(x->row, y->row);
}

static int by_device(const void *a, const void *b) {
    const struct change *x = a, *y = b;
    int order = compare_signed(x->process, y->process);
    order = order ? order : compare_signed(x->rows->device[x->row], y->rows->device[y->row]);
    return order ? order : by_time(x, y);
}

static int by_pool(const void *a, const void *b) {
    const struct change *x = a, *y = b;
    int order = compare_signed(x->process, y->process);
    order = order ? order : compare_unsigned(x->rows->pool[x->row], y->rows->pool[y->row]);
    return order ? order : by_time(x, y);
}

/* What happened before the capture is there when it begins. Times may lie before that, too. */
static void set_first_times(struct change *changes, size_t count) {
    size_t first = 0;
    while (first < count && changes[first].time_ns == GT_NO_TIME)
        first++;
    int64_t start_ns = first < count && changes[first].time_ns < 0 ? changes[first].time_ns : 0;
    for (size_t i = 0; i < first; i++)
        changes[i].time_ns = start_ns;
}

static uint32_t track_of(struct gt_builder *builder, const struct change *change, const char *name) {
    struct gt_str none = {"", 0};
    return gt_builder_counter_track(
        builder,
        &(struct gt_counter_tracks_row){
            .process = change->process == INT64_MIN ? GT_NO_TRACK : gt_builder_process(builder, change->process, none),
            .device = change->rows->device[change->row],
            .name = gt_builder_string(builder, gt_str_of(name)),
            .unit = gt_builder_string(builder, GT_STR("bytes")),
            .kind = GT_COUNTER_STATE,
        });
}

/* Of several states at one time, the last counts. */
static bool is_last_of_time(const struct change *changes, size_t count, size_t i) {
    return i + 1 == count || changes[i + 1].time_ns != changes[i].time_ns;
}

static int64_t saturated_sum(int64_t a, int64_t b) {
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return b < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

/* Of one process on one GPU. */
static void add_use(struct gt_builder *builder, const struct change *changes, size_t count) {
    uint32_t track = track_of(builder, changes, "CUDA memory in use");
    int64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes = saturated_sum(bytes, changes[i].rows->bytes[changes[i].row]);
        if (is_last_of_time(changes, count, i))
            gt_builder_counter(builder, track, changes[i].time_ns, (double)bytes);
    }
}

/* One column of a pool's states; rows that lack it say nothing. */
static void add_pool_column(struct gt_builder *builder, const struct change *changes, size_t count, const char *what) {
    bool is_size = *what == 's';
    char name[64];
    uint32_t track = GT_NO_TRACK;
    uint64_t bytes = UINT64_MAX;
    snprintf(name, sizeof name, "memory pool 0x%" PRIx64 " %s", changes->rows->pool[changes->row], what);
    for (size_t i = 0; i < count; i++) {
        const struct gt_memory_events *rows = changes[i].rows;
        uint64_t next = (is_size ? rows->pool_bytes : rows->pool_used_bytes)[changes[i].row];
        bytes = next == UINT64_MAX ? bytes : next;
        if (bytes == UINT64_MAX || !is_last_of_time(changes, count, i))
            continue;
        if (track == GT_NO_TRACK)
            track = track_of(builder, changes, name);
        gt_builder_counter(builder, track, changes[i].time_ns, (double)bytes);
    }
}

static void add_pool(struct gt_builder *builder, const struct change *changes, size_t count) {
    add_pool_column(builder, changes, count, "size");
    add_pool_column(builder, changes, count, "used");
}

/* Sorts the events that a filter takes and hands on those of each group. false: memory is short. */
static bool add_groups(struct gt_nsys_sink *sinks, size_t count, size_t rows, bool (*is_taken)(const struct change *),
                       int (*order)(const void *, const void *), bool is_by_pool,
                       void (*add)(struct gt_builder *, const struct change *, size_t)) {
    struct change *changes = gt_mem_array(rows, sizeof *changes);
    size_t taken = 0;
    if (!changes)
        return false;
    for (size_t s = 0; s < count; s++) {
        const struct gt_builder *builder = sinks[s].builder;
        for (size_t i = 0; i < builder->segment_count; i++) {
            const struct gt_segment *segment = &builder->segments[i];
            size_t end = i + 1 < builder->segment_count ? segment->end[GT_TABLE_memory_events] : 0;
            for (size_t row = segment->begin[GT_TABLE_memory_events]; row < end && !segment->dropped; row++) {
                changes[taken] = change_at(builder, segment, row);
                taken += is_taken(&changes[taken]);
            }
        }
    }
    qsort(changes, taken, sizeof *changes, order);
    for (size_t first = 0, i = 1; i <= taken; i++) {
        struct change *a = &changes[first], *b = i < taken ? &changes[i] : NULL;
        bool is_same = b && a->process == b->process &&
                       (is_by_pool ? a->rows->pool[a->row] == b->rows->pool[b->row]
                                   : a->rows->device[a->row] == b->rows->device[b->row]);
        if (is_same)
            continue;
        set_first_times(a, i - first);
        add(sinks[0].builder, a, i - first);
        first = i;
    }
    gt_mem_free(changes);
    return true;
}

static void drop_events(struct gt_builder *builder) {
    builder->store.memory_events.count = 0;
    for (size_t i = 0; i < builder->segment_count; i++)
        builder->segments[i].begin[GT_TABLE_memory_events] = builder->segments[i].end[GT_TABLE_memory_events] = 0;
}

bool gt_nsys_finish_memory(struct gt_nsys_sink *sinks, size_t count) {
    size_t rows = 0;
    for (size_t s = 0; s < count; s++)
        rows += sinks[s].builder->store.memory_events.count;
    if (rows == 0)
        return true;
    bool is_done =
        !(sinks[0].facts & GT_FACT_COUNTERS) || (add_groups(sinks, count, rows, is_in_use, by_device, false, add_use) &&
                                                 add_groups(sinks, count, rows, is_of_pool, by_pool, true, add_pool));
    for (size_t s = 0; s < count && !(sinks[0].facts & GT_FACT_MEMORY); s++)
        drop_events(sinks[s].builder);
    return is_done;
}
