/* Slices: begins and ends of all tracks come in, in any order; rows of the store go out, track by track. */
#include "base/mem.h"
#include "base/radix.h"
#include "decode/proto/pftrace_reading.h"

struct matching {
    struct gt_pftrace_reading *reading;
    uint32_t track;
    const struct gt_pftrace_event *events; /* of the track */
    uint32_t *open;                        /* events that began, the innermost last */
    size_t open_count, open_capacity;
};

/* ---- rows ---- */

struct slice {
    const struct gt_pftrace_event *begin;
    const struct gt_pftrace_details *details;
    int64_t end_ns;
    uint32_t track;
};

static bool is_call_name(struct gt_str name) {
    return name.len > 2 && ((name.ptr[0] == 'c' && name.ptr[1] == 'u') || gt_str_starts(name, GT_STR("hip")));
}

/* Of a slice without a category: GPU work is on a device and a stream, calls have a correlation. */
static enum gt_pftrace_kind guess_kind(const struct gt_pftrace_reading *reading, const struct slice *slice) {
    struct gt_str name = gt_store_string(&reading->builder->store, slice->begin->name);
    if (slice->details->device != INT64_MIN && slice->details->stream != INT64_MIN)
        return gt_str_starts_nocase(name, GT_STR("memcpy"))   ? GT_PF_MEMCPY
               : gt_str_starts_nocase(name, GT_STR("memset")) ? GT_PF_MEMSET
                                                              : GT_PF_KERNEL;
    if (slice->begin->correlation != GT_NO_CORRELATION && is_call_name(name))
        return GT_PF_CALL;
    return GT_PF_RANGE;
}

static int64_t first_known(int64_t a, int64_t b, int64_t c) {
    return a != INT64_MIN ? a : b != INT64_MIN ? b : c;
}

static void add_op(struct gt_pftrace_reading *reading, const struct slice *slice, enum gt_op_kind kind) {
    const struct gt_pftrace_track *track = &reading->tracks[slice->track];
    const struct gt_store *store = &reading->builder->store;
    struct gt_str name = gt_store_string(store, track->is_thread ? track->thread_name : track->name);
    int64_t device = first_known(slice->details->device, track->gpu, INT64_MIN);
    int64_t stream = first_known(slice->details->stream, slice->details->queue,
                                 gt_pftrace_reading_number_in(name, GT_STR("stream ")));
    if (!(reading->facts & GT_FACT_OPS))
        return;
    if (device < 0)
        gt_builder_issue_of(reading->builder, GT_ISSUE_OP_WITHOUT_DEVICE, GT_FACT_OPS, 1, GT_NO_OFFSET);
    uint32_t lane = gt_builder_lane(reading->builder, GT_NO_TRACK, device < 0 ? 0 : device, stream < 0 ? 0 : stream);
    struct gt_ops_row row = {.start_ns = slice->begin->time_ns,
                             .end_ns = slice->end_ns,
                             .correlation = slice->begin->correlation,
                             .name = slice->begin->name,
                             .lane = lane,
                             .kind = (uint8_t)kind};
    if (lane != GT_NO_TRACK && gt_builder_op(reading->builder, &row))
        gt_pftrace_reading_op_details(reading, slice->details);
}

/* rocprofv3 names threads in arguments; gputime those of ranges that are not on the track of a thread. */
static uint32_t thread_of(struct gt_pftrace_reading *reading, const struct slice *slice, int64_t tid) {
    uint32_t track = slice->track;
    if (tid == INT64_MIN || reading->tracks[track].is_thread)
        return gt_pftrace_reading_thread(reading, track);
    uint32_t process = gt_pftrace_reading_process(reading, track);
    if (process == GT_NO_TRACK)
        process = gt_builder_process(reading->builder, -1, GT_STR("trace"));
    return gt_builder_thread(reading->builder, process, tid, GT_STR(""));
}

static void add_range(struct gt_pftrace_reading *reading, const struct slice *slice, enum gt_range_kind kind) {
    bool is_gpu = kind == GT_RANGE_GPU, is_free = kind == GT_RANGE_START_END;
    int64_t tid = slice->details->tid, end_tid = slice->details->end_tid;
    if (!(reading->facts & GT_FACT_RANGES))
        return;
    uint32_t thread = is_gpu || (is_free && tid == INT64_MIN) ? GT_NO_TRACK : thread_of(reading, slice, tid);
    gt_builder_range(
        reading->builder,
        &(struct gt_ranges_row){.start_ns = slice->begin->time_ns,
                                .end_ns = slice->end_ns,
                                .name = slice->begin->name,
                                .domain = slice->details->domain,
                                .thread = thread,
                                .end_thread = end_tid == INT64_MIN ? GT_NO_TRACK : thread_of(reading, slice, end_tid),
                                .lane = is_gpu ? gt_pftrace_reading_lane(reading, slice->track) : GT_NO_TRACK,
                                .kind = (uint8_t)kind});
}

/* What a thread did, but for ranges. */
static void add_work(struct gt_pftrace_reading *reading, const struct slice *slice, enum gt_pftrace_kind kind) {
    static const uint32_t facts[] = {[GT_PF_CALL] = GT_FACT_CALLS,
                                     [GT_PF_OPERATOR] = GT_FACT_CPU_OPS,
                                     [GT_PF_PYTHON] = GT_FACT_STACKS,
                                     [GT_PF_OVERHEAD] = GT_FACT_OVERHEADS,
                                     [GT_PF_DRIVER_WORK] = GT_FACT_OVERHEADS};
    struct gt_builder *builder = reading->builder;
    int64_t start_ns = slice->begin->time_ns, end_ns = slice->end_ns;
    gt_strid name = slice->begin->name;
    if (!(reading->facts & facts[kind]))
        return;
    uint32_t thread = thread_of(reading, slice, slice->details->tid);
    if (kind == GT_PF_CALL)
        gt_builder_call(builder, &(struct gt_calls_row){start_ns, end_ns, slice->begin->correlation, name, thread});
    else if (kind == GT_PF_OPERATOR)
        gt_builder_cpu_op(builder, &(struct gt_cpu_ops_row){start_ns, end_ns, name, thread});
    else if (kind == GT_PF_PYTHON)
        gt_builder_python_call(builder, &(struct gt_python_calls_row){start_ns, end_ns, name, thread});
    else if (kind == GT_PF_OVERHEAD)
        gt_builder_overhead(builder, &(struct gt_overheads_row){start_ns, end_ns, name, thread});
    else
        gt_builder_driver_work(builder, &(struct gt_driver_work_row){start_ns, end_ns, name, thread});
}

static const struct gt_pftrace_details *details_of(const struct gt_pftrace_reading *reading,
                                                   const struct gt_pftrace_event *event) {
    if (event->details == GT_PFTRACE_NONE)
        return &gt_pftrace_no_details;
    return (const void *)(reading->details + event->details * reading->details_bytes);
}

static void add_slice(const struct matching *it, const struct gt_pftrace_event *begin, int64_t end_ns) {
    struct gt_pftrace_reading *reading = it->reading;
    struct slice slice = {begin, details_of(reading, begin), end_ns, it->track};
    enum gt_pftrace_kind kind = (enum gt_pftrace_kind)begin->kind;
    if (kind == GT_PF_UNKNOWN)
        kind = guess_kind(reading, &slice);
    if (begin->type == GT_PF_INSTANT)
        kind = kind == GT_PF_RANGE || kind == GT_PF_MARK ? GT_PF_MARK : GT_PF_OTHER;
    switch (kind) {
    case GT_PF_KERNEL:
        add_op(reading, &slice, GT_OP_KERNEL);
        break;
    case GT_PF_MEMCPY:
        add_op(reading, &slice, GT_OP_MEMCPY);
        break;
    case GT_PF_MEMSET:
        add_op(reading, &slice, GT_OP_MEMSET);
        break;
    case GT_PF_RANGE:
        add_range(reading, &slice, GT_RANGE_NESTED);
        break;
    case GT_PF_GPU_RANGE:
        add_range(reading, &slice, GT_RANGE_GPU);
        break;
    case GT_PF_START_END:
        add_range(reading, &slice, GT_RANGE_START_END);
        break;
    case GT_PF_MARK:
        add_range(reading, &slice, GT_RANGE_MARK);
        break;
    case GT_PF_GAP:
    case GT_PF_STEP: /* gputime finds both anew; of others they are ranges */
        if (!reading->is_of_gputime)
            add_range(reading, &slice, GT_RANGE_NESTED);
        break;
    case GT_PF_UNKNOWN:
    case GT_PF_OTHER:
        gt_builder_skip(reading->builder);
        break;
    default:
        add_work(reading, &slice, kind);
    }
}

/* ---- matching ---- */

static bool begin_slice(struct matching *it, uint32_t event) {
    uint32_t *open = gt_mem_room(it->open, it->open_count, &it->open_capacity, sizeof *open);
    if (!open)
        return false;
    it->open = open;
    open[it->open_count++] = event;
    return true;
}

/* An end without a begin is of what began before the trace. */
static void end_slice(struct matching *it, int64_t end_ns) {
    if (!it->open_count) {
        gt_builder_skip(it->reading->builder);
        return;
    }
    add_slice(it, &it->events[it->open[--it->open_count]], end_ns);
}

/* Ends of slices, among the numbers of events. */
#define IS_END ((uint32_t)1 << 31)

static bool is_end(const struct matching *it, uint32_t value) {
    return value & IS_END || it->events[value].type == GT_PF_END;
}

/* Events of one moment that were not written in order: what began before ends first. */
static bool take_moment(struct matching *it, int64_t now_ns, const struct gt_radix_item *items, size_t count) {
    const struct gt_pftrace_event *events = it->events;
    size_t ends = 0;
    for (size_t i = 0; i < count; i++)
        ends += is_end(it, items[i].value);
    for (; ends && it->open_count && events[it->open[it->open_count - 1]].time_ns < now_ns; ends--)
        end_slice(it, now_ns);
    for (size_t i = 0; i < count; i++) {
        uint32_t value = items[i].value;
        if (is_end(it, value))
            continue;
        if (events[value].type == GT_PF_INSTANT)
            add_slice(it, &events[value], now_ns);
        else if (!begin_slice(it, value))
            return false;
    }
    for (; ends; ends--)
        end_slice(it, now_ns);
    return true;
}

/* What was matched before the first event out of order is matched anew. */
static size_t list_moments(const struct matching *it, uint32_t count, struct gt_radix_item *items) {
    size_t listed = 0;
    for (uint32_t i = 0; i < count; i++) {
        items[listed++] = (struct gt_radix_item){gt_radix_key(it->events[i].time_ns), i};
        if (it->events[i].type == GT_PF_SLICE)
            items[listed++] = (struct gt_radix_item){gt_radix_key(it->events[i].end_ns), i | IS_END};
    }
    return listed;
}

static bool match_unsorted(struct matching *it, uint32_t count) {
    struct gt_radix_item *items = gt_mem_uninitialised(2 * (size_t)count, sizeof *items);
    size_t listed = items ? list_moments(it, count, items) : 0;
    bool is_done = items && gt_radix_sort(items, listed);
    for (size_t first = 0, end; is_done && first < listed; first = end) {
        for (end = first + 1; end < listed && items[end].key == items[first].key;)
            end++;
        int64_t now_ns = (int64_t)(items[first].key ^ gt_radix_key(0));
        is_done = take_moment(it, now_ns, items + first, end - first);
    }
    gt_mem_free(items);
    if (it->open_count)
        gt_builder_issue_of(it->reading->builder, GT_ISSUE_RANGE_OPEN, GT_FACT_RANGES, it->open_count, GT_NO_OFFSET);
    while (it->open_count)
        end_slice(it, it->reading->last_ns);
    return is_done;
}

/* Slices in the order of their begins, like those of most profilers. */
static void take_matched(const struct matching *it, uint32_t count) {
    uint64_t open = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct gt_pftrace_event *event = &it->events[i];
        if (event->type == GT_PF_END) {
            gt_builder_skip(it->reading->builder);
            continue;
        }
        open += event->type == GT_PF_BEGIN;
        add_slice(it, event,
                  event->type == GT_PF_SLICE   ? event->end_ns
                  : event->type == GT_PF_BEGIN ? it->reading->last_ns
                                               : event->time_ns);
    }
    if (open)
        gt_builder_issue_of(it->reading->builder, GT_ISSUE_RANGE_OPEN, GT_FACT_RANGES, open, GT_NO_OFFSET);
}

static bool match_track(struct matching *it, uint32_t number) {
    const struct gt_pftrace_track *track = &it->reading->tracks[number];
    it->track = number;
    it->events = track->events;
    if (track->is_unsorted)
        return match_unsorted(it, track->event_count);
    take_matched(it, track->event_count);
    return true;
}

/* Ops of one call have one number; without calls that name their ops, numbers say nothing. */
static void correlate_ops(struct gt_pftrace_reading *reading) {
    struct gt_ops *ops = &reading->builder->store.ops;
    for (size_t i = 0; i < ops->count && !reading->has_submissions; i++)
        ops->correlation[i] = GT_NO_CORRELATION;
    for (size_t i = 0; i < ops->count && reading->submitted.count; i++) {
        uint32_t first = gt_map_get(&reading->submitted, 0, ops->correlation[i]);
        ops->correlation[i] = first == GT_MAP_NONE ? ops->correlation[i] : first;
    }
}

bool gt_pftrace_reading_match(struct gt_pftrace_reading *reading) {
    struct matching it = {.reading = reading};
    bool is_done = true;
    correlate_ops(reading);
    for (uint32_t i = 0; is_done && i < reading->track_count; i++) {
        is_done = match_track(&it, i);
        gt_mem_free(reading->tracks[i].events); /* rows take their place */
        reading->tracks[i].events = NULL;
    }
    gt_mem_free(it.open);
    return is_done;
}
