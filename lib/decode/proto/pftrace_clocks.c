/* Clocks: snapshots of several at one moment come in; the time of the trace at a time of any of them goes out. */
#include "base/ns.h"
#include "decode/proto/pftrace_fields.h"
#include "decode/proto/pftrace_reading.h"

static struct gt_pftrace_clock *find_clock(struct gt_pftrace_clock *clocks, size_t count, uint32_t id) {
    for (size_t i = 0; i < count; i++)
        if (clocks[i].id == id)
            return &clocks[i];
    return NULL;
}

static void keep_clock(struct gt_pftrace_clock *clocks, size_t *count, const struct gt_pftrace_clock *clock) {
    struct gt_pftrace_clock *known = find_clock(clocks, *count, clock->id);
    if (known)
        *known = *clock;
    else if (*count < GT_PFTRACE_CLOCKS)
        clocks[(*count)++] = *clock;
}

static uint64_t time_in(struct gt_str snapshot, uint32_t id) {
    struct gt_proto message = gt_proto_of(snapshot);
    struct gt_proto_field field;
    while (gt_proto_next(&message, &field))
        if (field.tag == GT_PROTO_BYTES(1) && gt_proto_find_value(field.bytes, GT_PROTO_VARINT(1), 0) == id)
            return gt_proto_find_value(field.bytes, GT_PROTO_VARINT(2), 0);
    return 0;
}

/* Numbers from 64 on are a sequence's own. */
void gt_pftrace_reading_snapshot(struct gt_pftrace_reading *reading, struct gt_pftrace_sequence *sequence,
                                 struct gt_str snapshot) {
    enum { FIRST_OWN = 64 };
    uint64_t trace_ns = time_in(snapshot, PF_CLOCK_TRACE), real_ns = time_in(snapshot, PF_CLOCK_REALTIME);
    int64_t *base_ns = &reading->builder->store.meta.base_ns;
    struct gt_proto message = gt_proto_of(snapshot);
    struct gt_proto_field field;
    if (trace_ns && real_ns && !*base_ns)
        *base_ns = gt_ns_between((int64_t)trace_ns, (int64_t)real_ns);
    while (gt_proto_next(&message, &field)) {
        if (field.tag != GT_PROTO_BYTES(1))
            continue;
        uint64_t multiplier = gt_proto_find_value(field.bytes, GT_PROTO_VARINT(4), 1);
        struct gt_pftrace_clock clock = {.id = (uint32_t)gt_proto_find_value(field.bytes, GT_PROTO_VARINT(1), 0),
                                         .is_incremental = gt_proto_find_value(field.bytes, GT_PROTO_VARINT(3), 0),
                                         .multiplier = multiplier && multiplier <= 1000000000 ? multiplier : 1,
                                         .from = (int64_t)gt_proto_find_value(field.bytes, GT_PROTO_VARINT(2), 0),
                                         .trace_ns = (int64_t)trace_ns};
        clock.now = clock.from;
        if (clock.id >= FIRST_OWN)
            keep_clock(sequence->clocks, &sequence->clock_count, &clock);
        else if (clock.id != PF_CLOCK_TRACE && trace_ns)
            keep_clock(reading->clocks, &reading->clock_count, &clock);
    }
}

struct gt_pftrace_clock *gt_pftrace_reading_clock(struct gt_pftrace_reading *reading,
                                                  struct gt_pftrace_sequence *sequence, uint32_t id) {
    if (!id || id == PF_CLOCK_TRACE)
        return NULL;
    struct gt_pftrace_clock *clock = find_clock(sequence->clocks, sequence->clock_count, id);
    return clock ? clock : find_clock(reading->clocks, reading->clock_count, id);
}

int64_t gt_pftrace_reading_legacy_time(struct gt_pftrace_reading *reading, int64_t time_ns) {
    const struct gt_pftrace_clock *clock = find_clock(reading->clocks, reading->clock_count, PF_CLOCK_MONOTONIC);
    return clock ? gt_pftrace_reading_sum(clock->trace_ns, (uint64_t)time_ns - (uint64_t)clock->from) : time_ns;
}
