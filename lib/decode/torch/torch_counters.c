/* Counters and memory: counter events, and the instants that PyTorch's allocators write. */
#include "base/mem.h"
#include "base/num.h"
#include "decode/json/json_member.h"
#include "decode/torch/torch_args.h"
#include "decode/torch/torch_facts.h"
#include "decode/torch/torch_value.h"
#include "events/builder.h"

/* The time of an event that is an instant; false: it has none, which is counted. */
static bool find_time(const struct gt_torch_subject *at, int64_t *time_ns) {
    int64_t end_ns;
    if (gt_torch_subject_times(at, time_ns, &end_ns))
        return true;
    gt_torch_subject_issue(at, GT_ISSUE_EVENT_DAMAGED);
    return false;
}

/* ---- counter events ---- */

/* Members of args that say where a counter is, not what it counts. */
static const struct gt_torch_args_key place_keys[] = {
    {GT_STR("device"), 0},
    {GT_STR("Device Id"), 0},
};

static bool is_place(struct gt_str key) {
    return gt_str_eq(key, place_keys[0].key) || gt_str_eq(key, place_keys[1].key);
}

int64_t gt_torch_facts_device_named(struct gt_str words) {
    int64_t device;
    if (!gt_str_take_start(&words, GT_STR("GPU ")))
        return -1;
    struct gt_str digits = {words.ptr, 0};
    while (digits.len < words.len && digits.ptr[digits.len] >= '0' && digits.ptr[digits.len] <= '9')
        digits.len++;
    struct gt_str rest = {words.ptr + digits.len, words.len - digits.len};
    bool is_device = !rest.len || gt_str_eq(rest, GT_STR(" Counters"));
    return is_device && gt_num_parse_int(digits, &device) ? device : -1;
}

/* The device: in the args, or in a process or counter such as "GPU 0 Counters". -1: a counter of the process, which may
   still turn out to be a GPU's. */
static int64_t counter_device(const struct gt_torch_subject *at) {
    struct gt_torch_args args;
    gt_torch_args_read(&args, at->event, place_keys, GT_ARRAY_COUNT(place_keys));
    int64_t device = gt_torch_args_int(at, &args, 0, -1);
    if (device < 0 && gt_torch_event_has(at->event, GT_TORCH_PID))
        device = gt_torch_facts_device_named(at->event->values[GT_TORCH_PID].text.raw);
    if (device < 0 && gt_torch_event_has(at->event, GT_TORCH_NAME))
        device = gt_torch_facts_device_named(at->event->values[GT_TORCH_NAME].text.raw);
    return device;
}

static bool is_of_hardware(const struct gt_torch_event *event) {
    return gt_torch_event_has(event, GT_TORCH_CAT) &&
           gt_str_eq(event->values[GT_TORCH_CAT].text.raw, GT_STR("hardware_counters"));
}

/* An event with several series has a counter for each. One named "value" or like the event says nothing new. The name
   is not repeated for each series: both are as long as the file likes. */
static gt_strid series_of(const struct gt_torch_subject *at, gt_strid name, const struct gt_json_value_text *key) {
    struct gt_builder *builder = at->sink->builder;
    struct gt_str series = gt_torch_subject_decode(at, &(struct gt_json_value){*key, true});
    bool is_new = !gt_str_eq(series, GT_STR("value")) && !gt_str_eq(series, gt_store_string(&builder->store, name));
    return is_new ? gt_builder_string(builder, series) : GT_STRID_EMPTY;
}

bool gt_torch_facts_take_counter(const struct gt_torch_subject *at) {
    struct gt_builder *builder = at->sink->builder;
    const struct gt_torch_event *event = at->event;
    struct gt_counter_tracks_row track = {.process = GT_NO_TRACK, .kind = GT_COUNTER_STATE};
    struct gt_json_member member;
    int64_t time_ns;
    bool has_values = false;
    if (event->args.len == 0)
        return false;
    if (!find_time(at, &time_ns))
        return true;
    track.device = counter_device(at);
    if (track.device < 0) {
        track.process = gt_torch_subject_process(at);
        track.device = is_of_hardware(event) ? GT_TORCH_DEVICE_OF_PROCESS : -1;
    }
    track.name = gt_torch_subject_name(at);
    const char *p = event->args.ptr + 1, *end = event->args.ptr + event->args.len;
    while (gt_json_member_next(&p, end, event->is_second_try, &member) == GT_JSON_OK) {
        double value;
        enum gt_json_number found =
            is_place(member.key.raw) ? GT_JSON_ABSENT : gt_json_number_to_real(&member.value, &value);
        if (found == GT_JSON_UNREADABLE)
            gt_torch_subject_issue(at, GT_ISSUE_NUMBER_UNREADABLE);
        if (found != GT_JSON_NUMBER)
            continue;
        track.series = series_of(at, track.name, &member.key);
        gt_builder_counter(builder, gt_builder_counter_track(builder, &track), time_ns, value);
        has_values = true;
    }
    return has_values;
}

/* ---- allocators ---- */

enum { ADDRESS, BYTES, DEVICE_TYPE, DEVICE_ID, ALLOCATED, RESERVED };

static const struct gt_torch_args_key memory_keys[] = {
    {GT_STR("Addr"), ADDRESS},
    {GT_STR("Bytes"), BYTES},
    {GT_STR("Device Type"), DEVICE_TYPE},
    {GT_STR("Device Id"), DEVICE_ID},
    {GT_STR("Total Allocated"), ALLOCATED},
    {GT_STR("Total Reserved"), RESERVED},
};

/* -1: memory of the host. Types are PyTorch's: 0 is the CPU, all others are devices. */
static int64_t memory_device(const struct gt_torch_subject *at, const struct gt_torch_args *args) {
    int64_t type = gt_torch_args_int(at, args, DEVICE_TYPE, -1), id = gt_torch_args_int(at, args, DEVICE_ID, -1);
    return type == 0 || id < 0 ? -1 : id;
}

static bool add_memory_event(const struct gt_torch_subject *at, const struct gt_torch_args *args, int64_t time_ns,
                             int64_t device) {
    int64_t bytes = gt_torch_args_int(at, args, BYTES, INT64_MIN);
    if (bytes == INT64_MIN)
        return false;
    uint32_t thread = gt_torch_subject_thread(at);
    const struct gt_threads *threads = &at->sink->builder->store.threads;
    gt_builder_memory_event(at->sink->builder,
                            &(struct gt_memory_events_row){
                                .time_ns = time_ns,
                                .bytes = bytes,
                                .address = gt_torch_args_uint(at, args, ADDRESS),
                                .correlation = GT_NO_CORRELATION,
                                .allocated_bytes = gt_torch_args_uint(at, args, ALLOCATED),
                                .reserved_bytes = gt_torch_args_uint(at, args, RESERVED),
                                .pool = UINT64_MAX,
                                .pool_bytes = UINT64_MAX,
                                .pool_used_bytes = UINT64_MAX,
                                .pool_kept_bytes = UINT64_MAX,
                                .device = device,
                                .stream = -1,
                                .process = thread < threads->count ? threads->process[thread] : GT_NO_TRACK,
                                .thread = thread,
                                .kind = (uint8_t)(device < 0 ? GT_MEMORY_UNKNOWN : GT_MEMORY_DEVICE),
                                .operation = (uint8_t)(bytes < 0 ? GT_MEMORY_FREE : GT_MEMORY_ALLOCATE),
                                .source = GT_MEMORY_OF_FRAMEWORK,
                            });
    return true;
}

/* What the allocators of a process hold, in use and in all. */
static bool add_totals(const struct gt_torch_subject *at, const struct gt_torch_args *args, int64_t time_ns,
                       int64_t device) {
    struct gt_builder *builder = at->sink->builder;
    bool has_values = false;
    for (unsigned field = ALLOCATED; field <= RESERVED; field++) {
        double value;
        if (!gt_torch_args_has(args, field) || gt_json_number_to_real(&args->values[field], &value) != GT_JSON_NUMBER)
            continue;
        struct gt_counter_tracks_row track = {
            .process = gt_torch_subject_process(at),
            .device = device,
            .name = gt_builder_string(builder, memory_keys[field].key),
            .unit = gt_builder_string(builder, GT_STR("bytes")),
            .kind = GT_COUNTER_STATE,
        };
        gt_builder_counter(builder, gt_builder_counter_track(builder, &track), time_ns, value);
        has_values = true;
    }
    return has_values;
}

bool gt_torch_facts_take_instant(const struct gt_torch_subject *at) {
    const struct gt_torch_event *event = at->event;
    struct gt_torch_args args;
    int64_t time_ns;
    if (!gt_torch_event_has(event, GT_TORCH_NAME) ||
        !gt_str_eq(event->values[GT_TORCH_NAME].text.raw, GT_STR("[memory]")))
        return false;
    if (!find_time(at, &time_ns))
        return true;
    gt_torch_args_take(&args, at, memory_keys, GT_ARRAY_COUNT(memory_keys));
    struct gt_torch_subject memory = gt_torch_subject_for(at, GT_FACT_MEMORY);
    int64_t device = memory_device(at, &args);
    bool has_rows = false;
    if (at->sink->facts & GT_FACT_MEMORY)
        has_rows |= add_memory_event(&memory, &args, time_ns, device);
    if (at->sink->facts & GT_FACT_COUNTERS)
        has_rows |= add_totals(at, &args, time_ns, device);
    return has_rows;
}
