/* Track events: begins, ends and moments are kept until they can be matched; values of counters go to the store. */
#include "base/mem.h"
#include "decode/proto/pftrace_fields.h"
#include "decode/proto/pftrace_reading.h"

/* The fields that nearly all events have, and nearly all of them nothing else. */
struct usual {
    uint64_t type, track, name_iid, category_iid;
    bool has_track;
};

/* The fields of an event, which come in any order. */
struct event {
    struct usual usual;
    uint64_t correlation;                            /* GT_NO_CORRELATION */
    struct gt_str name, category, submitted, legacy; /* ptr NULL: there is none */
    bool has_delta, has_absolute;
    bool has_counter, has_real, has_annotations, has_details;
    /* What follows is set where one of these says so. */
    uint64_t counter, delta_us, absolute_us;
    double real;
    struct gt_pftrace_details details; /* of annotations */
};

static uint32_t track_of(struct gt_pftrace_reading *reading, struct gt_pftrace_sequence *sequence, uint64_t uuid) {
    if (sequence->last_track == GT_PFTRACE_NONE || sequence->last_uuid != uuid) {
        sequence->last_track = gt_pftrace_reading_track(reading, uuid);
        sequence->last_uuid = uuid;
    }
    return sequence->last_track;
}

/* ---- fields ---- */

/* One by one: for so many bytes compilers take an instruction that needs long to start. */
static inline void begin_event(struct event *event, const struct usual *usual) {
    event->usual = *usual;
    event->correlation = GT_NO_CORRELATION;
    event->name.ptr = event->category.ptr = event->submitted.ptr = event->legacy.ptr = NULL;
    event->has_delta = event->has_absolute = false;
    event->has_counter = event->has_real = event->has_annotations = event->has_details = false;
    event->absolute_us = 0;
}

static void take_annotation(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                            struct event *event, struct gt_str annotation) {
    if (!event->has_annotations)
        memcpy(&event->details, &gt_pftrace_no_details, reading->details_bytes);
    event->has_annotations = true;
    event->has_details |= gt_pftrace_reading_annotation(reading, sequence, annotation, &event->details);
}

static uint64_t first_packed(struct gt_str bytes) {
    struct gt_proto message = gt_proto_of(bytes);
    uint64_t value = 0;
    return gt_proto_varint(&message, &value) ? value : 0;
}

/* The first of them counts. */
static void take_category(struct event *event, uint64_t iid) {
    if (!event->usual.category_iid)
        event->usual.category_iid = iid;
}

static void take_field(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                       struct event *event, const struct gt_proto_field *field) {
    switch (field->tag) {
    case PF_EVENT_TYPE:
        event->usual.type = field->value;
        break;
    case PF_EVENT_NAME_IID:
        event->usual.name_iid = field->value;
        break;
    case PF_EVENT_CATEGORY_IID:
        take_category(event, field->value);
        break;
    case PF_EVENT_CATEGORY_IIDS:
        take_category(event, first_packed(field->bytes));
        break;
    case PF_EVENT_TRACK:
        event->usual.track = field->value;
        event->usual.has_track = true;
        break;
    case PF_EVENT_ANNOTATION:
        take_annotation(reading, sequence, event, field->bytes);
        break;
    case PF_EVENT_CATEGORY:
        event->category = event->category.ptr ? event->category : field->bytes;
        break;
    case PF_EVENT_NAME:
        event->name = field->bytes;
        break;
    case PF_EVENT_COUNTER:
        event->counter = field->value;
        event->has_counter = true;
        break;
    case PF_EVENT_DOUBLE_COUNTER:
        memcpy(&event->real, &field->value, sizeof event->real);
        event->has_real = true;
        break;
    case PF_EVENT_CORRELATION_ID: /* of a call that launched nothing: apart from the numbers of ops */
        event->correlation = field->value ^ UINT64_C(1) << 62;
        break;
    case PF_EVENT_CORRELATION:
        event->submitted = field->bytes;
        break;
    case PF_EVENT_DELTA_US:
        event->delta_us = field->value;
        event->has_delta = true;
        break;
    case PF_EVENT_ABSOLUTE_US:
        event->absolute_us = field->value;
        event->has_absolute = true;
        break;
    case PF_EVENT_LEGACY:
        event->legacy = field->bytes;
        break;
    default:
        break;
    }
}

/* The numbers that most events begin with, by their tags: gives the first other field, or one that is damaged. */
static inline __attribute__((always_inline)) const unsigned char *
take_usual(struct usual *event, const unsigned char *p, const unsigned char *end) {
    while (p < end) {
        struct gt_proto_number number = gt_proto_read(p + 1, end);
        if (!number.p)
            return p;
        switch (*p) {
        case PF_EVENT_TYPE:
            event->type = number.value;
            break;
        case PF_EVENT_NAME_IID:
            event->name_iid = number.value;
            break;
        case PF_EVENT_CATEGORY_IID:
            event->category_iid = event->category_iid ? event->category_iid : number.value;
            break;
        case PF_EVENT_TRACK:
            event->track = number.value;
            event->has_track = true;
            break;
        default:
            return p;
        }
        p = number.p;
    }
    return p;
}

/* The ops that a call submitted have its first one's number. */
static void take_submissions(struct gt_pftrace_reading *reading, struct event *event) {
    struct gt_proto message = gt_proto_of(event->submitted);
    struct gt_proto_field field;
    event->correlation = GT_NO_CORRELATION;
    while (gt_proto_next(&message, &field)) {
        if (field.tag != GT_PROTO_VARINT(1))
            continue;
        if (event->correlation == GT_NO_CORRELATION)
            event->correlation = field.value;
        else if (event->correlation < UINT32_MAX)
            gt_map_put(&reading->submitted, 0, field.value, (uint32_t)event->correlation);
        reading->has_submissions = true;
    }
}

/* ---- what becomes of it ---- */

static void add_counter(struct gt_pftrace_reading *reading, uint32_t track, const struct event *event,
                        int64_t time_ns) {
    if (!(reading->facts & (GT_FACT_COUNTERS | GT_FACT_METRICS)) || (!event->has_counter && !event->has_real))
        return;
    uint32_t row = gt_pftrace_reading_counter(reading, track);
    if (row != GT_NO_TRACK)
        gt_builder_counter(reading->builder, row, time_ns,
                           event->has_real ? event->real : (double)(int64_t)event->counter);
}

static gt_strid named(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence, uint64_t iid) {
    uint32_t name = iid ? gt_pftrace_reading_name(reading, sequence, PF_EVENT_NAMES, iid) : GT_PFTRACE_NONE;
    return name != GT_PFTRACE_NONE ? name : gt_builder_string(reading->builder, GT_LOST_NAME);
}

static uint8_t kind_named(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                          uint64_t iid) {
    uint32_t kind = iid ? gt_pftrace_reading_name(reading, sequence, PF_EVENT_CATEGORIES, iid) : GT_PFTRACE_NONE;
    return kind == GT_PFTRACE_NONE ? GT_PF_UNKNOWN : (uint8_t)kind;
}

static uint32_t keep_details(struct gt_pftrace_reading *reading, const struct event *event) {
    if (!event->has_details)
        return GT_PFTRACE_NONE;
    unsigned char *details =
        gt_mem_room(reading->details, reading->details_count, &reading->details_capacity, reading->details_bytes);
    if (!details || reading->details_count == GT_PFTRACE_NONE) {
        reading->failed = true;
        return GT_PFTRACE_NONE;
    }
    reading->details = details;
    memcpy(details + reading->details_count * reading->details_bytes, &event->details, reading->details_bytes);
    return (uint32_t)reading->details_count++;
}

/* Little at first: some traces have a track for every few slices. */
static bool grow_events(struct gt_pftrace_track *track) {
    enum { FIRST = 4 };
    uint32_t capacity = track->event_capacity ? 2 * track->event_capacity : FIRST; /* 2^31 at most: it is doubled */
    struct gt_pftrace_event *events =
        capacity > track->event_capacity ? gt_mem_realloc(track->events, capacity * sizeof *events) : NULL;
    if (!events)
        return false;
    track->events = events;
    track->event_capacity = capacity;
    return true;
}

/* Ends the innermost slice of a track whose events come in order. false: there is none. */
static bool close_slice(struct gt_pftrace_track *track, int64_t time_ns) {
    if (track->open == GT_PFTRACE_NONE || track->is_unsorted)
        return false;
    struct gt_pftrace_event *event = &track->events[track->open];
    track->open = (uint32_t)event->end_ns;
    event->end_ns = time_ns;
    event->type = GT_PF_SLICE;
    return true;
}

/* The caller fills in what the event has beyond an end. Not passed as a whole: a copy would wait for what was just
   written. NULL: nothing is to be filled in, or there is no memory. */
static inline struct gt_pftrace_event *keep_event(struct gt_pftrace_reading *reading, uint32_t number, int64_t time_ns,
                                                  uint64_t type) {
    struct gt_pftrace_track *track = &reading->tracks[number];
    track->is_unsorted |= time_ns < track->last_ns;
    track->last_ns = time_ns;
    if (type == GT_PF_END && close_slice(track, time_ns))
        return NULL;
    if (track->event_count == track->event_capacity && !grow_events(track)) {
        reading->failed = true;
        return NULL;
    }
    struct gt_pftrace_event *event = &track->events[track->event_count];
    event->time_ns = time_ns;
    event->type = (uint8_t)type;
    if (type == GT_PF_BEGIN) {
        event->end_ns = track->open;
        track->open = track->event_count;
    }
    track->event_count++;
    return type == GT_PF_END ? NULL : event;
}

static void fill_event(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                       struct event *event, struct gt_pftrace_event *kept) {
    const struct usual *usual = &event->usual;
    if (event->submitted.ptr)
        take_submissions(reading, event);
    else if (event->has_details && event->details.correlation != GT_NO_CORRELATION)
        event->correlation = event->details.correlation;
    kept->correlation = event->correlation;
    kept->name = event->name.ptr && !usual->name_iid ? gt_builder_string(reading->builder, event->name)
                                                     : named(reading, sequence, usual->name_iid);
    kept->kind = event->category.ptr && !usual->category_iid ? (uint8_t)gt_pftrace_reading_kind_of(event->category)
                                                             : kind_named(reading, sequence, usual->category_iid);
    kept->details = keep_details(reading, event);
}

/* ---- old writers ---- */

/* The time of an event that has one of its own, in microseconds: since the event before, or since the clock's zero.
   Sums wrap like those of the writer. GT_NO_TIME: nothing says when that was. */
static int64_t own_time(struct gt_pftrace_reading *reading, struct gt_pftrace_sequence *sequence,
                        const struct event *event) {
    if (!event->has_delta)
        return gt_pftrace_reading_legacy_time(reading, (int64_t)(event->absolute_us * 1000));
    sequence->legacy_ns += event->delta_us * 1000;
    return sequence->has_legacy_time ? gt_pftrace_reading_legacy_time(reading, (int64_t)sequence->legacy_ns)
                                     : GT_NO_TIME;
}

/* What they have instead of a type; the length of a complete event is given back, UINT64_MAX: it is none. */
static uint64_t take_legacy(struct event *event) {
    uint64_t phase = gt_proto_find_value(event->legacy, PF_LEGACY_PHASE, 0);
    if (!event->usual.name_iid)
        event->usual.name_iid = gt_proto_find_value(event->legacy, PF_LEGACY_NAME_IID, 0);
    if (!event->usual.type)
        event->usual.type = phase == 'B' || phase == 'X' ? GT_PF_BEGIN : phase == 'E' ? GT_PF_END : 0;
    return phase == 'X' ? gt_proto_find_value(event->legacy, PF_LEGACY_DURATION_US, 0) * 1000 : UINT64_MAX;
}

/* ---- the event ---- */

static void count_damage(struct gt_pftrace_reading *reading) {
    gt_builder_issue(reading->builder, GT_ISSUE_EVENT_DAMAGED, 1, reading->offset);
}

/* The track of an event that is kept; GT_PFTRACE_NONE: it is not. */
static inline uint32_t place_of(struct gt_pftrace_reading *reading, struct gt_pftrace_sequence *sequence,
                                const struct usual *event, int64_t time_ns) {
    uint64_t uuid = event->has_track ? event->track : sequence->track ? sequence->track : sequence->thread_uuid;
    if (time_ns == GT_NO_TIME) {
        count_damage(reading);
        return GT_PFTRACE_NONE;
    }
    uint32_t track = track_of(reading, sequence, uuid);
    if (track == GT_PFTRACE_NONE || event->type < GT_PF_BEGIN || event->type > GT_PF_COUNTER)
        return GT_PFTRACE_NONE;
    reading->last_ns = time_ns > reading->last_ns ? time_ns : reading->last_ns;
    return track;
}

static void keep_usual(struct gt_pftrace_reading *reading, struct gt_pftrace_sequence *sequence,
                       const struct usual *event, int64_t time_ns) {
    uint32_t track = place_of(reading, sequence, event, time_ns);
    if (track == GT_PFTRACE_NONE || event->type == GT_PF_COUNTER)
        return;
    struct gt_pftrace_event *kept = keep_event(reading, track, time_ns, event->type);
    if (!kept)
        return;
    kept->correlation = GT_NO_CORRELATION;
    kept->name = named(reading, sequence, event->name_iid);
    kept->kind = kind_named(reading, sequence, event->category_iid);
    kept->details = GT_PFTRACE_NONE;
}

static void keep_other(struct gt_pftrace_reading *reading, struct gt_pftrace_sequence *sequence, struct event *event,
                       int64_t time_ns) {
    uint64_t length_ns = event->legacy.ptr ? take_legacy(event) : UINT64_MAX; /* UINT64_MAX: an end follows */
    if (event->has_delta || event->has_absolute)
        time_ns = own_time(reading, sequence, event);
    uint32_t track = place_of(reading, sequence, &event->usual, time_ns);
    if (track == GT_PFTRACE_NONE)
        return;
    if (event->usual.type == GT_PF_COUNTER) {
        add_counter(reading, track, event, time_ns);
        return;
    }
    struct gt_pftrace_event *kept = keep_event(reading, track, time_ns, event->usual.type);
    if (kept)
        fill_event(reading, sequence, event, kept);
    if (length_ns != UINT64_MAX) {
        int64_t end_ns = (int64_t)((uint64_t)time_ns + length_ns);
        keep_event(reading, track, end_ns, GT_PF_END);
        reading->last_ns = end_ns > reading->last_ns ? end_ns : reading->last_ns;
    }
}

/* The rest of an event, which has more than the usual fields. */
static void read_other(struct gt_pftrace_reading *reading, struct gt_pftrace_sequence *sequence,
                       const struct usual *usual, struct gt_proto message, int64_t time_ns) {
    struct gt_proto_field field;
    struct event event;
    begin_event(&event, usual);
    while ((message.p = take_usual(&event.usual, message.p, message.end)) < message.end &&
           gt_proto_next(&message, &field))
        take_field(reading, sequence, &event, &field);
    if (message.is_damaged)
        count_damage(reading);
    else
        keep_other(reading, sequence, &event, time_ns);
}

void gt_pftrace_reading_event(struct gt_pftrace_reading *reading, struct gt_pftrace_sequence *sequence,
                              struct gt_str bytes, int64_t time_ns) {
    struct gt_proto message = gt_proto_of(bytes);
    struct usual usual = {0};
    if (!reading->needs_events && reading->is_of_gputime)
        return;
    message.p = take_usual(&usual, message.p, message.end);
    if (message.p == message.end)
        keep_usual(reading, sequence, &usual, time_ns);
    else
        read_other(reading, sequence, &usual, message, time_ns);
}
