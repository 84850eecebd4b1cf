/* Packets: bytes of one come in, its sequence's state is updated, and its payload goes to those who know it. */
#include "base/mem.h"
#include "decode/proto/pftrace_fields.h"
#include "decode/proto/pftrace_reading.h"

/* The fields of a packet, which come in any order. */
struct packet {
    uint64_t timestamp, flags;
    uint32_t sequence, clock, machine;
    bool has_timestamp, has_clock, is_cleared, is_dropped;
    bool is_rare; /* more than one event: what follows is set */
    struct gt_str event, stage;
    struct gt_str interned, defaults, snapshot, descriptor, info, attributes, thread, process;
};

/* ---- sequences ---- */

static struct gt_pftrace_sequence *sequence_of(struct gt_pftrace_reading *reading, uint32_t id) {
    if (reading->sequence_count && reading->last_id == id)
        return &reading->sequences[reading->last_sequence];
    uint32_t found = gt_map_get(&reading->sequence_ids, 0, id);
    if (found == GT_MAP_NONE) {
        struct gt_pftrace_sequence *sequences =
            gt_mem_room(reading->sequences, reading->sequence_count, &reading->sequence_capacity, sizeof *sequences);
        if (!sequences) {
            reading->failed = true;
            return NULL;
        }
        reading->sequences = sequences;
        sequences[reading->sequence_count] =
            (struct gt_pftrace_sequence){.names = ++reading->states, .last_track = GT_PFTRACE_NONE};
        found = (uint32_t)reading->sequence_count++;
        gt_map_put(&reading->sequence_ids, 0, id, found);
        reading->failed |= reading->sequence_ids.failed;
    }
    reading->last_id = id;
    reading->last_sequence = found;
    return &reading->sequences[found];
}

static void clear(struct gt_pftrace_reading *reading, struct gt_pftrace_sequence *sequence) {
    *sequence = (struct gt_pftrace_sequence){.names = ++reading->states,
                                             .is_valid = true,
                                             .last_track = GT_PFTRACE_NONE,
                                             .legacy_ns = sequence->legacy_ns,
                                             .thread_uuid = sequence->thread_uuid,
                                             .has_legacy_time = sequence->has_legacy_time};
}

static void read_defaults(struct gt_pftrace_sequence *sequence, struct gt_str defaults) {
    struct gt_str events = gt_proto_find_bytes(defaults, GT_PROTO_BYTES(11));
    sequence->clock = (uint32_t)gt_proto_find_value(defaults, GT_PROTO_VARINT(58), sequence->clock);
    sequence->track = gt_proto_find_value(events, GT_PROTO_VARINT(11), sequence->track);
}

static int64_t time_of(struct gt_pftrace_reading *reading, struct gt_pftrace_sequence *sequence,
                       const struct packet *packet) {
    return gt_pftrace_reading_time(
        gt_pftrace_reading_clock(reading, sequence, packet->has_clock ? packet->clock : sequence->clock),
        packet->timestamp);
}

/* ---- attributes ---- */

/* What gputime met when it read the trace that this one was made of. Problems of its rows are found anew. */
static void take_issue(struct gt_pftrace_reading *reading, struct gt_str id, uint64_t count) {
    for (int i = 0; i < GT_ISSUE_COUNT; i++)
        if (gt_str_eq(id, gt_str_of(gt_issue_infos[i].id)) && i != GT_ISSUE_OP_ZERO_LENGTH && count < INT64_MAX)
            gt_builder_issue_of(reading->builder, (enum gt_issue_id)i, gt_issue_infos[i].facts, count, GT_NO_OFFSET);
}

/* Processes have the hosts of their machines; the trace has one only if all are the same. */
static void take_host(struct gt_pftrace_reading *reading, gt_strid host, uint32_t machine) {
    struct gt_meta *meta = &reading->builder->store.meta;
    meta->host = !reading->has_hosts || meta->host == host ? host : GT_STRID_EMPTY;
    reading->has_hosts = true;
    gt_map_put(&reading->origins, GT_PF_ORIGIN_HOST, machine, host);
}

static void read_attributes(struct gt_pftrace_reading *reading, struct gt_str attributes, uint32_t machine) {
    struct gt_proto message = gt_proto_of(attributes);
    struct gt_proto_field field;
    struct gt_meta *meta = &reading->builder->store.meta;
    while (gt_proto_next(&message, &field)) {
        struct gt_str key = gt_proto_find_bytes(field.bytes, GT_PROTO_BYTES(1));
        struct gt_str text = gt_proto_find_bytes(field.bytes, GT_PROTO_BYTES(3));
        uint64_t number = gt_proto_find_value(field.bytes, GT_PROTO_VARINT(2), UINT64_MAX);
        if (!key.ptr)
            continue; /* an attribute of no name */
        reading->is_of_gputime |= gt_str_eq(key, GT_STR("gputime.version"));
        if (gt_str_eq(key, GT_STR("gputime.format")) && text.ptr)
            meta->origin = gt_builder_string(reading->builder, text);
        else if (gt_str_eq(key, GT_STR("gputime.producer")) && text.ptr)
            meta->producer = gt_builder_string(reading->builder, text);
        else if (gt_str_eq(key, GT_STR("gputime.host")) && text.ptr)
            take_host(reading, gt_builder_string(reading->builder, text), machine);
        else if (gt_str_eq(key, GT_STR("gputime.rank")) && number <= INT32_MAX)
            gt_pftrace_reading_machine(reading, machine, (uint32_t)(meta->rank = (int64_t)number));
        else if (gt_str_take_start(&key, GT_STR("gputime.issue.")))
            take_issue(reading, key, number);
        else if (gt_str_eq(key, GT_STR("gputime.world_size")) && number <= INT32_MAX)
            gt_map_put(&reading->origins, GT_PF_ORIGIN_WORLD, machine, (uint32_t)(meta->world_size = (int64_t)number));
    }
}

/* ---- the packet ---- */

/* All that few packets have. */
static void take_rare(struct gt_pftrace_reading *reading, struct packet *packet, const struct gt_proto_field *field) {
    switch (field->tag) {
    case PF_PACKET_INTERNED:
        packet->interned = field->bytes;
        break;
    case PF_PACKET_DEFAULTS:
        packet->defaults = field->bytes;
        break;
    case PF_PACKET_CLOCK_SNAPSHOT:
        packet->snapshot = field->bytes;
        break;
    case PF_PACKET_TRACK_DESCRIPTOR:
        packet->descriptor = field->bytes;
        break;
    case PF_PACKET_STATE_CLEARED:
        packet->is_cleared = field->value;
        break;
    case PF_PACKET_DROPPED:
        packet->is_dropped = field->value;
        break;
    case PF_PACKET_ATTRIBUTES:
        packet->attributes = field->bytes;
        break;
    case PF_PACKET_GPU_INFO:
        packet->info = field->bytes;
        break;
    case PF_PACKET_COMPRESSED:
    case PF_PACKET_ZSTD: /* such a packet has nothing else */
        gt_pftrace_reading_packed(reading, field->bytes, field->tag == PF_PACKET_ZSTD);
        break;
    case PF_PACKET_THREAD:
        packet->thread = field->bytes;
        break;
    case PF_PACKET_PROCESS:
        packet->process = field->bytes;
        break;
    default:
        break;
    }
}

/* One by one: for so many bytes compilers take an instruction that needs long to start. */
static inline void begin_packet(struct packet *packet) {
    packet->timestamp = packet->flags = 0;
    packet->sequence = packet->clock = packet->machine = 0;
    packet->has_timestamp = packet->has_clock = packet->is_cleared = packet->is_dropped = packet->is_rare = false;
    packet->event.ptr = packet->stage.ptr = NULL;
}

static void begin_rare(struct packet *packet) {
    const struct gt_str none = {NULL, 0};
    packet->interned = packet->defaults = packet->snapshot = packet->descriptor = packet->info = packet->attributes =
        packet->thread = packet->process = none;
    packet->is_rare = true;
}

static inline __attribute__((always_inline)) void take_field(struct gt_pftrace_reading *reading, struct packet *packet,
                                                             const struct gt_proto_field *field) {
    switch (field->tag) {
    case PF_PACKET_TIMESTAMP:
        packet->timestamp = field->value;
        packet->has_timestamp = true;
        break;
    case PF_PACKET_SEQUENCE:
        packet->sequence = (uint32_t)field->value;
        break;
    case PF_PACKET_FLAGS:
        packet->flags = field->value;
        break;
    case PF_PACKET_TRACK_EVENT:
        packet->event = field->bytes;
        break;
    case PF_PACKET_STAGE:
        packet->stage = field->bytes;
        break;
    case PF_PACKET_CLOCK:
        packet->clock = (uint32_t)field->value;
        packet->has_clock = true;
        break;
    case PF_PACKET_MACHINE:
        packet->machine = (uint32_t)field->value;
        break;
    default:
        if (!packet->is_rare)
            begin_rare(packet);
        take_rare(reading, packet, field);
    }
}

/* A writer whose packets were lost says so. Until it states its names anew, its events cannot be understood. */
static void update_state(struct gt_pftrace_reading *reading, struct gt_pftrace_sequence *sequence,
                         const struct packet *packet) {
    if (packet->is_rare && packet->is_dropped) {
        gt_builder_issue(reading->builder, GT_ISSUE_EVENTS_DROPPED, 1, reading->offset);
        sequence->is_valid = sequence->has_legacy_time = false;
    }
    if (packet->is_cleared || packet->flags & PF_FLAG_CLEARED)
        clear(reading, sequence);
    if (!packet->is_rare)
        return;
    if (packet->defaults.ptr)
        read_defaults(sequence, packet->defaults);
    if (packet->snapshot.ptr)
        gt_pftrace_reading_snapshot(reading, sequence, packet->snapshot);
    if (packet->interned.ptr)
        gt_pftrace_reading_intern(reading, sequence, packet->interned);
    if (packet->thread.ptr) {
        sequence->thread_uuid = gt_pftrace_reading_own_thread(reading, packet->thread, packet->machine);
        sequence->legacy_ns = gt_proto_find_value(packet->thread, PF_THREAD_TIME_US, 0) * 1000;
        sequence->has_legacy_time = true;
    }
}

/* What packets say about the trace. */
static void take_descriptions(struct gt_pftrace_reading *reading, const struct packet *packet) {
    if (packet->descriptor.ptr)
        gt_pftrace_reading_describe(reading, packet->descriptor, packet->machine);
    if (packet->process.ptr)
        gt_pftrace_reading_own_process(reading, packet->process, packet->machine);
    if (packet->info.ptr)
        gt_pftrace_reading_gpus(reading, packet->info);
    if (packet->attributes.ptr)
        read_attributes(reading, packet->attributes, packet->machine);
}

static void take_payload(struct gt_pftrace_reading *reading, struct gt_pftrace_sequence *sequence,
                         const struct packet *packet) {
    bool is_lost = packet->flags & PF_FLAG_NEEDS_STATE && !sequence->is_valid;
    if (is_lost || (!packet->has_timestamp && !packet->event.ptr)) {
        gt_builder_issue(reading->builder, is_lost ? GT_ISSUE_EVENTS_DROPPED : GT_ISSUE_EVENT_DAMAGED, 1,
                         reading->offset);
        return;
    }
    int64_t time_ns = packet->has_timestamp ? time_of(reading, sequence, packet) : GT_NO_TIME;
    if (packet->event.ptr)
        gt_pftrace_reading_event(reading, sequence, packet->event, time_ns);
    else
        gt_pftrace_reading_stage(reading, sequence, packet->stage, time_ns, packet->machine);
}

enum { STAGE_LOW = (PF_PACKET_STAGE & 0x7f) | 0x80, STAGE_HIGH = PF_PACKET_STAGE >> 7 }; /* bytes of its tag */

/* The fields that most packets begin with, by the bytes of their tags: p is after them then, at the first other field
   or at one that is damaged, which take_field() sees. */
static inline __attribute__((always_inline)) const unsigned char *
take_usual(struct packet *packet, const unsigned char *p, const unsigned char *end) {
    while (p < end) {
        struct gt_str *bytes = &packet->event;
        const unsigned char *after_tag = p + 1;
        struct gt_proto_number number;
        switch (*p) {
        case PF_PACKET_TIMESTAMP:
            if (!(number = gt_proto_read(after_tag, end)).p)
                return p;
            packet->timestamp = number.value;
            packet->has_timestamp = true;
            break;
        case PF_PACKET_SEQUENCE:
            if (!(number = gt_proto_read(after_tag, end)).p)
                return p;
            packet->sequence = (uint32_t)number.value;
            break;
        case PF_PACKET_FLAGS:
            if (!(number = gt_proto_read(after_tag, end)).p)
                return p;
            packet->flags = number.value;
            break;
        case STAGE_LOW: /* so many bytes after the end may be read */
            if (after_tag[0] != STAGE_HIGH)
                return p;
            bytes = &packet->stage;
            after_tag++; /* fall through */
        case PF_PACKET_TRACK_EVENT:
            number = gt_proto_read(after_tag, end);
            if (!number.p || number.value > (size_t)(end - number.p))
                return p;
            *bytes = (struct gt_str){(const char *)number.p, (size_t)number.value};
            number.p += number.value;
            break;
        default:
            return p;
        }
        p = number.p;
    }
    return p;
}

/* Keeps the fields that the next packets of the sequence will have, too: those before the time. */
static void remember_head(struct gt_pftrace_reading *reading, struct gt_pftrace_sequence *sequence,
                          const struct packet *packet, struct gt_str bytes) {
    struct gt_pftrace_head *head = &reading->head;
    struct gt_proto message = gt_proto_of(bytes);
    struct gt_proto_field field;
    const unsigned char *begin = message.p, *end = message.p;
    bool is_usable = !packet->is_rare && !(packet->flags & PF_FLAG_CLEARED) &&
                     (sequence->is_valid || !(packet->flags & PF_FLAG_NEEDS_STATE));
    head->length = 0;
    if (!is_usable || !bytes.len || *begin != PF_PACKET_SEQUENCE)
        return;
    while (gt_proto_next(&message, &field) && (size_t)(message.p - begin) <= sizeof head->bytes &&
           (field.tag == PF_PACKET_SEQUENCE || field.tag == PF_PACKET_FLAGS || field.tag == PF_PACKET_MACHINE))
        end = message.p;
    struct gt_str known = {bytes.ptr, (size_t)(end - begin)};
    if (!known.len || gt_proto_find_value(known, PF_PACKET_SEQUENCE, 0) != packet->sequence)
        return;
    head->length = known.len;
    head->mask = UINT64_MAX >> (64 - 8 * head->length);
    memcpy(&head->bytes, begin, sizeof head->bytes);
    head->bytes = le64toh(head->bytes) & head->mask;
    head->sequence = sequence;
    head->clock = gt_pftrace_reading_clock(reading, sequence, sequence->clock);
    head->machine = (uint32_t)gt_proto_find_value(known, PF_PACKET_MACHINE, 0);
}

/* A packet that begins like the one before and has a time and a payload, like nearly all. false: it is another one, of
   which nothing has been done. */
static inline bool take_alike(struct gt_pftrace_reading *reading, struct gt_str bytes) {
    const struct gt_pftrace_head *head = &reading->head;
    const unsigned char *p = (const unsigned char *)bytes.ptr, *end = p + bytes.len;
    uint64_t word;
    if (!head->length || bytes.len <= head->length)
        return false;
    memcpy(&word, p, sizeof word); /* so many bytes after the end may be read */
    if ((le64toh(word) & head->mask) != head->bytes || p[head->length] != PF_PACKET_TIMESTAMP)
        return false;
    struct gt_proto_number time = gt_proto_read(p + head->length + 1, end);
    if (!time.p || time.p >= end)
        return false;
    bool is_event = *time.p == PF_PACKET_TRACK_EVENT;
    if (!is_event && (time.p[0] != STAGE_LOW || time.p[1] != STAGE_HIGH))
        return false;
    struct gt_proto_number length = gt_proto_read(time.p + (is_event ? 1 : 2), end);
    if (!length.p || length.value != (size_t)(end - length.p))
        return false;
    struct gt_str payload = {(const char *)length.p, (size_t)length.value};
    int64_t time_ns = gt_pftrace_reading_time(head->clock, time.value);
    if (is_event)
        gt_pftrace_reading_event(reading, head->sequence, payload, time_ns);
    else
        gt_pftrace_reading_stage(reading, head->sequence, payload, time_ns, head->machine);
    return true;
}

static void read_packet(struct gt_pftrace_reading *reading, struct gt_str bytes) {
    struct gt_proto message = gt_proto_of(bytes);
    struct gt_proto_field field;
    struct packet packet;
    begin_packet(&packet);
    reading->head.length = 0;
    while ((message.p = take_usual(&packet, message.p, message.end)) < message.end && gt_proto_next(&message, &field))
        take_field(reading, &packet, &field);
    if (message.is_damaged) {
        gt_builder_issue(reading->builder, GT_ISSUE_EVENT_DAMAGED, 1, reading->offset);
        return;
    }
    struct gt_pftrace_sequence *sequence = sequence_of(reading, packet.sequence);
    if (!sequence)
        return;
    if (packet.is_rare || packet.flags & PF_FLAG_CLEARED)
        update_state(reading, sequence, &packet);
    if (packet.is_rare)
        reading->last_place.names = 0;
    if (packet.event.ptr || packet.stage.ptr)
        take_payload(reading, sequence, &packet);
    if (packet.is_rare) {
        take_descriptions(reading, &packet);
        reading->last_place.names = 0;
    }
    remember_head(reading, sequence, &packet, bytes);
}

void gt_pftrace_reading_packet(struct gt_pftrace_reading *reading, struct gt_str bytes) {
    if (!take_alike(reading, bytes))
        read_packet(reading, bytes);
}
