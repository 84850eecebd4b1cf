/* Turns what threads did into calls, ranges and the rest. XLA's profiler names calls after what they launch: these get
   the name of the call that launches such things. */
#include "decode/xla/xla_host.h"

#include <stdio.h>

enum { NAME_MAX_BYTES = 512 };

/* The call that launched what the event is named after. */
static gt_strid call_name(const struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    bool is_amd = rows->capture->is_amd;
    if (event->host.kind == GT_XLA_HOST_CALL)
        return gt_builder_string(rows->builder, event->host.text);
    struct gt_str name = is_amd ? GT_STR("hipLaunchKernel") : GT_STR("cuLaunchKernel");
    if (gt_xla_rows_has(event, GT_XLA_STAT_MEMCPY)) {
        bool is_async = gt_xla_names_number(event->texts[GT_XLA_STAT_MEMCPY], GT_STR("async")) != 0;
        name = is_amd     ? is_async ? GT_STR("hipMemcpyAsync") : GT_STR("hipMemcpy")
                   : is_async ? GT_STR("cuMemcpyAsync")
                          : GT_STR("cuMemcpy");
    } else if (gt_xla_rows_has(event, GT_XLA_STAT_MEMSET)) {
        bool is_async = gt_xla_names_number(event->texts[GT_XLA_STAT_MEMSET], GT_STR("async")) != 0;
        name = is_amd     ? is_async ? GT_STR("hipMemsetAsync") : GT_STR("hipMemset")
                   : is_async ? GT_STR("cuMemsetD8Async")
                          : GT_STR("cuMemsetD8");
    } else if (gt_xla_rows_has(event, GT_XLA_STAT_MEMORY)) {
        bool is_free = gt_str_find_nocase(event->name, GT_STR("free"));
        name = is_amd    ? is_free ? GT_STR("hipFree") : GT_STR("hipMalloc")
                  : is_free ? GT_STR("cuMemFree")
                         : GT_STR("cuMemAlloc");
    }
    return gt_builder_string(rows->builder, name);
}

static void add_call(struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    gt_builder_call(rows->builder,
                    &(struct gt_calls_row){
                        .start_ns = event->start_ns,
                        .end_ns = event->end_ns,
                        .correlation = gt_xla_rows_number(event, GT_XLA_STAT_CORRELATION, GT_NO_CORRELATION),
                        .name = call_name(rows, event),
                        .thread = gt_xla_rows_track(rows),
                    });
}

/* Steps are ranges with a number, which belongs to the name as in NVTX ranges of the same program. */
static gt_strid range_name(const struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    char text[NAME_MAX_BYTES];
    if (!gt_xla_rows_has(event, GT_XLA_STAT_STEP))
        return gt_xla_rows_name(rows, event);
    struct gt_str name = gt_str_cut(event->name, NAME_MAX_BYTES / 2);
    int length = snprintf(text, sizeof text, "%.*s#step_num=%lld#", (int)name.len, name.ptr,
                          (long long)event->numbers[GT_XLA_STAT_STEP]);
    return gt_builder_string(rows->builder, (struct gt_str){text, (size_t)length});
}

static void add_range(struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    bool is_mark = event->end_ns == event->start_ns && !gt_xla_rows_has(event, GT_XLA_STAT_STEP);
    gt_builder_range(rows->builder, &(struct gt_ranges_row){
                                        .start_ns = event->start_ns,
                                        .end_ns = event->end_ns,
                                        .name = range_name(rows, event),
                                        .thread = gt_xla_rows_track(rows),
                                        .end_thread = GT_NO_TRACK,
                                        .lane = GT_NO_TRACK,
                                        .kind = (uint8_t)(is_mark ? GT_RANGE_MARK : GT_RANGE_NESTED),
                                    });
}

static void add_python_call(struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    char text[NAME_MAX_BYTES];
    size_t length = gt_xla_names_python(event->name, text, sizeof text);
    gt_builder_python_call(rows->builder, &(struct gt_python_calls_row){
                                              .start_ns = event->start_ns,
                                              .end_ns = event->end_ns,
                                              .name = gt_builder_string(rows->builder, (struct gt_str){text, length}),
                                              .thread = gt_xla_rows_track(rows),
                                          });
}

static void add_total(struct gt_xla_rows *rows, const struct gt_xla_event *event, int64_t device) {
    struct gt_counter_tracks_row track = {
        .process = gt_xla_rows_process(rows),
        .device = device,
        .name = gt_builder_string(rows->builder, GT_STR("Total Allocated")),
        .series = gt_builder_string(rows->builder, event->texts[GT_XLA_STAT_ALLOCATOR]),
        .unit = gt_builder_string(rows->builder, GT_STR("bytes")),
        .kind = GT_COUNTER_STATE,
    };
    gt_builder_counter(rows->builder, gt_builder_counter_track(rows->builder, &track), event->start_ns,
                       (double)event->numbers[GT_XLA_STAT_ALLOCATED]);
}

/* XLA's allocators take blocks of memory that they have had from the driver since the beginning. */
static void add_memory_event(struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    bool is_free = event->host.kind == GT_XLA_HOST_DEALLOCATION;
    uint64_t bytes = gt_xla_rows_number(event, GT_XLA_STAT_BYTES, UINT64_MAX);
    if (!gt_xla_rows_has(event, GT_XLA_STAT_ALLOCATOR) || bytes > INT64_MAX) {
        gt_builder_skip(rows->builder);
        return;
    }
    int64_t device = gt_xla_names_allocator(event->texts[GT_XLA_STAT_ALLOCATOR]);
    if (gt_xla_rows_has(event, GT_XLA_STAT_ALLOCATED) && gt_xla_rows_reads(rows, GT_FACT_COUNTERS))
        add_total(rows, event, device);
    if (!gt_xla_rows_reads(rows, GT_FACT_MEMORY))
        return;
    gt_builder_memory_event(rows->builder,
                            &(struct gt_memory_events_row){
                                .time_ns = event->start_ns,
                                .bytes = is_free ? -(int64_t)bytes : (int64_t)bytes,
                                .address = gt_xla_rows_number(event, GT_XLA_STAT_ADDRESS, UINT64_MAX),
                                .correlation = GT_NO_CORRELATION,
                                .allocated_bytes = gt_xla_rows_number(event, GT_XLA_STAT_ALLOCATED, UINT64_MAX),
                                .reserved_bytes = UINT64_MAX,
                                .pool = UINT64_MAX,
                                .pool_bytes = UINT64_MAX,
                                .pool_used_bytes = UINT64_MAX,
                                .pool_kept_bytes = UINT64_MAX,
                                .device = device,
                                .stream = -1,
                                .process = gt_xla_rows_process(rows),
                                .thread = gt_xla_rows_track(rows),
                                .kind = (uint8_t)(device < 0 ? GT_MEMORY_PINNED : GT_MEMORY_DEVICE),
                                .operation = (uint8_t)(is_free ? GT_MEMORY_FREE : GT_MEMORY_ALLOCATE),
                                .source = GT_MEMORY_OF_FRAMEWORK,
                            });
}

void gt_xla_host_add_overhead(struct gt_xla_rows *rows, const struct gt_xla_event *event, bool is_driver_work) {
    uint32_t thread = rows->line->kind == GT_XLA_LINE_THREAD ? gt_xla_rows_track(rows) : GT_NO_TRACK;
    gt_strid name = gt_xla_rows_name(rows, event);
    if (is_driver_work)
        gt_builder_driver_work(rows->builder,
                               &(struct gt_driver_work_row){event->start_ns, event->end_ns, name, thread});
    else
        gt_builder_overhead(rows->builder, &(struct gt_overheads_row){event->start_ns, event->end_ns, name, thread});
}

/* What an event of a thread is read for. */
static uint32_t host_facts(const struct gt_xla_event *event) {
    if (gt_xla_rows_has(event, GT_XLA_STAT_CORRELATION))
        return GT_FACT_CALLS;
    switch (event->host.kind) {
    case GT_XLA_HOST_CALL:
        return GT_FACT_CALLS;
    case GT_XLA_HOST_PYTHON:
        return GT_FACT_STACKS;
    case GT_XLA_HOST_OVERHEAD:
    case GT_XLA_HOST_DRIVER_WORK:
        return GT_FACT_OVERHEADS;
    case GT_XLA_HOST_ALLOCATION:
    case GT_XLA_HOST_DEALLOCATION:
        return GT_FACT_MEMORY | GT_FACT_COUNTERS;
    default:
        return GT_FACT_RANGES;
    }
}

void gt_xla_host_add(struct gt_xla_rows *rows, const struct gt_xla_event *event) {
    uint32_t facts = host_facts(event);
    if (!gt_xla_rows_reads(rows, facts))
        gt_builder_skip(rows->builder);
    else if (facts == GT_FACT_CALLS)
        add_call(rows, event);
    else if (facts == GT_FACT_STACKS)
        add_python_call(rows, event);
    else if (facts == GT_FACT_OVERHEADS)
        gt_xla_host_add_overhead(rows, event, event->host.kind == GT_XLA_HOST_DRIVER_WORK);
    else if (facts == GT_FACT_RANGES)
        add_range(rows, event);
    else
        add_memory_event(rows, event);
}
