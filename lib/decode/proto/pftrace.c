/* Decoder of Perfetto traces: reads packet after packet, then matches begins and ends. */
#include "decode/proto/pftrace.h"

#include <stddef.h>

#include "base/mem.h"
#include "decode/proto/pftrace_fields.h"
#include "decode/proto/pftrace_reading.h"

enum { READ_BYTES = 1 << 20, LONGEST_PACKET = 256 << 20, PACKET_TAG = GT_PROTO_BYTES(1) };

/* Facts that track events give. */
#define OF_EVENTS                                                                                                      \
    (GT_FACT_CALLS | GT_FACT_CORRELATION | GT_FACT_RANGES | GT_FACT_CPU_OPS | GT_FACT_OVERHEADS | GT_FACT_STACKS |     \
     GT_FACT_METRICS | GT_FACT_COUNTERS)

/* The part of the file that is in memory. */
struct window {
    unsigned char *bytes;
    size_t begin, end, capacity;
    bool is_last; /* nothing follows */
};

static enum gt_status read_more(struct window *window, struct gt_source *source, struct gt_error *err) {
    size_t left = window->end - window->begin, got;
    if (left && window->begin)
        memmove(window->bytes, window->bytes + window->begin, left);
    window->begin = 0;
    window->end = left;
    if (window->capacity - left < READ_BYTES) {
        size_t capacity = window->capacity ? 2 * window->capacity : 4 * (size_t)READ_BYTES;
        unsigned char *bytes = gt_mem_realloc(window->bytes, capacity + GT_PROTO_PADDING);
        if (!bytes)
            return gt_fail_memory(err);
        window->bytes = bytes;
        window->capacity = capacity;
    }
    enum gt_status status = gt_source_read(source, window->bytes + left, window->capacity - left, &got, err);
    window->end += status == GT_OK ? got : 0;
    window->is_last = got == 0;
    memset(window->bytes + window->end, 0, GT_PROTO_PADDING);
    return status;
}

enum step { STEP_PACKET, STEP_SKIPPED, STEP_MORE, STEP_DAMAGED };

/* The next packet in the window; what is no packet is skipped. */
static enum step next_packet(struct window *window, struct gt_str *packet, size_t *size) {
    enum { LONGEST_HEAD = 20 };
    if (window->begin == window->end) /* before the first bytes come, there is no room for them either */
        return STEP_MORE;
    const unsigned char *p = window->bytes + window->begin, *end = window->bytes + window->end;
    if (end - p >= 2 && p[0] == PACKET_TAG && p[1] < 0x80 && p[1] <= end - p - 2) { /* nearly all are short */
        *packet = (struct gt_str){(const char *)p + 2, p[1]};
        *size = 2 + (size_t)p[1];
        return STEP_PACKET;
    }
    struct gt_proto_number tag = gt_proto_read(p, end);
    struct gt_proto_number length = tag.p ? gt_proto_read(tag.p, end) : tag;
    bool is_short = end - p < LONGEST_HEAD;
    if (!length.p)
        return is_short ? STEP_MORE : STEP_DAMAGED;
    if ((tag.value & 7) != 2 || tag.value >> 3 == 0 || tag.value > UINT32_MAX || length.value > LONGEST_PACKET)
        return STEP_DAMAGED;
    if (length.value > (size_t)(end - length.p))
        return STEP_MORE;
    *packet = (struct gt_str){(const char *)length.p, (size_t)length.value};
    *size = (size_t)(length.p - p) + (size_t)length.value;
    return tag.value == PACKET_TAG ? STEP_PACKET : STEP_SKIPPED;
}

static void report_progress(const struct gt_decode_options *options, const struct gt_source *source) {
    uint64_t done_bytes, total_bytes;
    if (!options->progress)
        return;
    gt_source_progress(source, &done_bytes, &total_bytes);
    options->progress(options->progress_context, done_bytes, total_bytes);
}

static enum gt_status read_packets(struct gt_pftrace_reading *reading, struct window *window, struct gt_source *source,
                                   const struct gt_decode_options *options, struct gt_error *err) {
    for (;;) {
        struct gt_str packet;
        size_t size;
        enum step step = next_packet(window, &packet, &size);
        if (step == STEP_MORE && !window->is_last) {
            if (read_more(window, source, err) != GT_OK)
                return GT_ERR;
            report_progress(options, source);
            continue;
        }
        if (step == STEP_MORE || step == STEP_DAMAGED) {
            if (window->begin < window->end)
                gt_builder_issue(reading->builder, step == STEP_MORE ? GT_ISSUE_INPUT_CUT : GT_ISSUE_EVENT_DAMAGED, 1,
                                 reading->offset);
            return GT_OK;
        }
        if (step == STEP_PACKET)
            gt_pftrace_reading_packet(reading, packet);
        if (reading->failed || reading->names.failed || reading->submitted.failed || reading->machines.failed ||
            reading->origins.failed || reading->process_names.failed)
            return gt_fail_memory(err);
        window->begin += size;
        reading->offset += size;
    }
}

static void release(struct gt_pftrace_reading *reading) {
    gt_map_release(&reading->names);
    gt_map_release(&reading->sequence_ids);
    gt_map_release(&reading->track_ids);
    gt_map_release(&reading->submitted);
    gt_map_release(&reading->machines);
    gt_map_release(&reading->origins);
    gt_map_release(&reading->process_names);
    gt_mem_free(reading->sequences);
    for (size_t i = 0; i < reading->track_count; i++)
        gt_mem_free(reading->tracks[i].events);
    gt_mem_free(reading->tracks);
    gt_mem_free(reading->details);
    gt_mem_free(reading->specs);
    gt_pftrace_reading_packed_free(reading);
    gt_mem_free(reading);
}

static enum gt_status decode(struct gt_pftrace_reading *reading, struct gt_source *source,
                             const struct gt_decode_options *options, struct gt_error *err) {
    struct window window = {0};
    gt_builder_begin(reading->builder, 0);
    enum gt_status status = read_packets(reading, &window, source, options, err);
    gt_mem_free(window.bytes);
    if (status == GT_OK && !gt_pftrace_reading_match(reading))
        status = gt_fail_memory(err);
    if (reading->machines.count > 1) { /* whose processes have the ranks */
        gt_builder_issue(reading->builder, GT_ISSUE_RANKS_JOINED, reading->machines.count, GT_NO_OFFSET);
        reading->builder->store.meta.rank = -1;
    }
    if (status == GT_OK && gt_source_damage(source))
        gt_builder_issue(reading->builder, GT_ISSUE_PACKING_DAMAGED, 1, GT_NO_OFFSET);
    return status;
}

enum gt_status gt_pftrace_decode(struct gt_source *const *sources, size_t count,
                                 const struct gt_decode_options *options, struct gt_store **out, struct gt_error *err) {
    struct gt_builder builder;
    *out = NULL;
    if (count != 1)
        return gt_fail_usage(err, "'%s': a Perfetto trace is one file", gt_source_path(sources[0]));
    enum gt_status status = gt_builder_init(&builder, GT_PFTRACE_KEY, err);
    if (status != GT_OK)
        return status;
    struct gt_pftrace_reading *reading = gt_mem_array(1, sizeof *reading);
    status = reading ? GT_OK : gt_fail_memory(err);
    if (reading) {
        reading->builder = &builder;
        reading->facts = gt_decoder_facts(options);
        reading->details_bytes = reading->facts & GT_FACT_CONFIGS ? sizeof(struct gt_pftrace_details)
                                                                  : offsetof(struct gt_pftrace_details, config);
        reading->needs_events = reading->facts & OF_EVENTS;
        status = decode(reading, sources[0], options, err);
        release(reading);
    }
    if (status == GT_OK)
        status = gt_store_seal(&builder, 1, out, err);
    gt_builder_release(&builder);
    return status;
}

/* No magic number: a file of packets whose fields are those of packets. */
int gt_pftrace_sniff(struct gt_str head, const char *path) {
    enum { PACKETS_SEEN = 8 };
    struct gt_proto message = gt_proto_of(head), inner;
    struct gt_proto_field field;
    unsigned packets = 0;
    bool is_named = gt_str_find_nocase(gt_str_of(path), GT_STR(".pftrace")) ||
                    gt_str_find_nocase(gt_str_of(path), GT_STR("perfetto"));
    if (head.len < 2 || head.ptr[0] != PACKET_TAG)
        return 0;
    unsigned char *copy = gt_mem_alloc(head.len + GT_PROTO_PADDING); /* varints are read beyond the end */
    if (!copy)
        return 0;
    memcpy(copy, head.ptr, head.len);
    memset(copy + head.len, 0, GT_PROTO_PADDING);
    message = gt_proto_of((struct gt_str){(const char *)copy, head.len});
    bool is_packet = true;
    while (is_packet && packets < PACKETS_SEEN && gt_proto_next(&message, &field) && field.tag == PACKET_TAG) {
        inner = gt_proto_of(field.bytes);
        while (is_packet && gt_proto_next(&inner, &field))
            is_packet = field.tag >> 3 < 1000;
        is_packet = is_packet && !inner.is_damaged;
        packets += is_packet;
    }
    gt_mem_free(copy);
    /* A long first packet may not fit. */
    bool is_cut = message.is_damaged && packets == 0;
    return !is_packet ? 0 : packets >= 2 ? 60 : packets == 1 || (is_cut && is_named) ? 40 : 0;
}
