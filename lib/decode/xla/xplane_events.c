/* Takes events of an XSpace apart. Most of a file are stats, of which few are asked for: the others are passed over
   as soon as their number is known. */
#include "decode/xla/xplane_events.h"

#include <string.h>

#include "base/mem.h"

enum gt_status gt_xplane_events_init(struct gt_xplane_events *events, const struct gt_xplane_space *space,
                                     struct gt_builder *builder, const struct gt_xla_capture *capture, int64_t base_ns,
                                     struct gt_error *err) {
    *events = (struct gt_xplane_events){.space = space, .base_ns = base_ns};
    gt_xla_rows_init(&events->rows, builder, capture);
    events->names = gt_mem_array(space->plane_count, sizeof *events->names);
    return events->names ? GT_OK : gt_fail_memory(err);
}

void gt_xplane_events_release(struct gt_xplane_events *events) {
    for (size_t i = 0; events->names && i < events->space->plane_count; i++)
        gt_mem_free(events->names[i]);
    gt_mem_free(events->names);
    events->names = NULL;
    gt_xla_rows_release(&events->rows);
}

/* One piece while it is read. */
struct reading {
    struct gt_xplane_events *events;
    const struct gt_xplane_plane *plane;
    const struct gt_xplane_line *line;
    gt_strid *names;
    uint32_t wanted;     /* stats, by bits */
    bool passes_by[128]; /* stats whose words have these numbers are not asked for */
    bool is_counter;
    struct gt_xla_event event;
};

/* An event as the file has it. */
struct raw {
    uint64_t word;
    int64_t offset_ps, duration_ps;
    bool has_time, is_damaged;
};

static double real_of(uint64_t bits) {
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static void set_number(struct reading *reading, enum gt_xla_stat stat, uint64_t number) {
    reading->event.numbers[stat] = number;
    reading->event.seen |= UINT32_C(1) << stat;
}

static void set_text(struct reading *reading, enum gt_xla_stat stat, struct gt_str text) {
    reading->event.texts[stat] = text;
    reading->event.seen |= UINT32_C(1) << stat;
}

static void take_value(struct reading *reading, enum gt_xla_stat stat, const struct gt_proto_field *field) {
    const struct gt_xplane_words *words = &reading->plane->stats;
    bool is_text = GT_XLA_STAT_TEXTS >> stat & 1, is_real = stat == GT_XLA_STAT_OCCUPANCY;
    switch (field->tag) {
    case GT_PROTO_FIXED64(2):
        if (is_real) {
            reading->event.occupancy = real_of(field->value);
            reading->event.seen |= UINT32_C(1) << stat;
        }
        break;
    case GT_PROTO_VARINT(3):
    case GT_PROTO_VARINT(4):
        if (!is_text && !is_real)
            set_number(reading, stat, field->value);
        break;
    case GT_PROTO_BYTES(5):
        if (is_text)
            set_text(reading, stat, field->bytes);
        break;
    case GT_PROTO_VARINT(7):
        if (is_text)
            set_text(reading, stat, words->list[gt_xplane_space_word(words, field->value)].name);
        break;
    default:
        break;
    }
}

/* A stat as a message; the number of its word is its first field. */
static void take_stat(struct reading *reading, struct gt_str bytes) {
    const struct gt_xplane_words *words = &reading->plane->stats;
    struct gt_proto fields = gt_proto_of(bytes);
    struct gt_proto_field field;
    enum gt_xla_stat stat = GT_XLA_STAT_NONE;
    while (gt_proto_next(&fields, &field)) {
        if (field.tag == GT_PROTO_VARINT(1)) {
            stat = words->list[gt_xplane_space_word(words, field.value)].stat;
            if (!(reading->wanted >> stat & 1))
                return;
        } else {
            take_value(reading, stat, &field);
        }
    }
}

/* The value of a counter, whatever its stat is called. */
static void take_counter_stat(struct reading *reading, struct gt_str bytes) {
    struct gt_proto fields = gt_proto_of(bytes);
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field)) {
        if (field.tag != GT_PROTO_FIXED64(2) && field.tag != GT_PROTO_VARINT(3) && field.tag != GT_PROTO_VARINT(4))
            continue;
        double value = field.tag == GT_PROTO_FIXED64(2)  ? real_of(field.value)
                       : field.tag == GT_PROTO_VARINT(3) ? (double)field.value
                                                         : (double)(int64_t)field.value;
        if (value == value) { /* NaN says nothing */
            reading->event.value = value;
            reading->event.has_value = true;
        }
    }
}

/* Moves on after stats that nobody asks for. Most are, and most are short and have words with small numbers. */
static const unsigned char *pass_by(const struct reading *reading, const unsigned char *p, const unsigned char *end) {
    while (end - p >= 4 && p[0] == GT_PROTO_BYTES(4) && p[1] < 0x80 && p[1] >= 2 && p[1] <= end - p - 2 &&
           p[2] == GT_PROTO_VARINT(1) && p[3] < 0x80 && reading->passes_by[p[3]])
        p += 2 + p[1];
    return p;
}

static struct raw read_event(struct reading *reading, struct gt_str bytes) {
    struct raw raw = {0};
    struct gt_proto fields = gt_proto_of(bytes);
    struct gt_proto_field field;
    reading->event.seen = 0;
    reading->event.has_value = false;
    raw.has_time = true; /* an offset of 0 is not written */
    while (fields.p = pass_by(reading, fields.p, fields.end), gt_proto_next(&fields, &field)) {
        switch (field.tag) {
        case GT_PROTO_VARINT(1):
            raw.word = field.value;
            break;
        case GT_PROTO_VARINT(2):
            raw.offset_ps = (int64_t)field.value;
            break;
        case GT_PROTO_VARINT(3):
            raw.duration_ps = (int64_t)field.value;
            break;
        case GT_PROTO_VARINT(5): /* many events as one */
            raw.has_time = false;
            break;
        case GT_PROTO_BYTES(4):
            if (reading->is_counter)
                take_counter_stat(reading, field.bytes);
            else
                take_stat(reading, field.bytes);
            break;
        default:
            break;
        }
    }
    raw.is_damaged = fields.is_damaged;
    return raw;
}

static int64_t rounded_ns(int64_t ps) {
    int64_t ns = ps / 1000, rest = ps % 1000;
    return ns + (rest >= 500) - (rest <= -500);
}

/* false: they do not fit. */
static bool set_times(struct reading *reading, const struct raw *raw) {
    struct gt_xla_event *event = &reading->event;
    return !__builtin_add_overflow(reading->line->timestamp_ns, rounded_ns(raw->offset_ps), &event->start_ns) &&
           !__builtin_sub_overflow(event->start_ns, reading->events->base_ns, &event->start_ns) &&
           !__builtin_add_overflow(event->start_ns, rounded_ns(raw->duration_ps), &event->end_ns) &&
           event->start_ns != GT_NO_TIME;
}

static void take_event(struct reading *reading, struct gt_str bytes, uint64_t offset) {
    struct gt_builder *builder = reading->events->rows.builder;
    struct raw raw = read_event(reading, bytes);
    reading->events->event_count++;
    if (raw.is_damaged) {
        gt_builder_issue(builder, GT_ISSUE_EVENT_DAMAGED, 1, offset);
        return;
    }
    if (!raw.has_time) {
        gt_builder_skip(builder);
        return;
    }
    if (!set_times(reading, &raw)) {
        gt_builder_issue(builder, GT_ISSUE_EVENT_DAMAGED, 1, offset);
        return;
    }
    uint32_t index = gt_xplane_space_word(&reading->plane->events, raw.word);
    const struct gt_xplane_word *word = &reading->plane->events.list[index];
    reading->event.name = word->name;
    reading->event.host = word->host;
    reading->event.name_id = &reading->names[index];
    gt_xla_rows_add(&reading->events->rows, &reading->event, offset);
}

/* By word of a plane; NULL: memory was short. */
static gt_strid *names_of(struct gt_xplane_events *events, uint32_t plane) {
    if (!events->names[plane])
        events->names[plane] = gt_mem_array(events->space->planes[plane].events.count, sizeof **events->names);
    if (!events->names[plane])
        events->rows.builder->failed = true;
    return events->names[plane];
}

void gt_xplane_events_take(struct gt_xplane_events *events, size_t piece_number, struct gt_str bytes) {
    const struct gt_xplane_piece *piece = &events->space->pieces[piece_number];
    const struct gt_xplane_line *line = &events->space->lines[piece->line];
    struct reading reading = {
        .events = events,
        .plane = &events->space->planes[line->plane],
        .line = line,
        .names = names_of(events, line->plane),
        .is_counter = line->track.kind == GT_XLA_LINE_COUNTERS,
    };
    bool is_read;
    reading.wanted = gt_xla_rows_stats(events->rows.capture, &line->track, &is_read);
    for (size_t i = 0; i < GT_ARRAY_COUNT(reading.passes_by); i++) {
        enum gt_xla_stat stat = reading.plane->stats.list[gt_xplane_space_word(&reading.plane->stats, i)].stat;
        reading.passes_by[i] = !reading.is_counter && !(reading.wanted >> stat & 1);
    }
    struct gt_proto fields = gt_proto_of(bytes);
    struct gt_proto_field field;
    gt_xla_rows_begin(&events->rows, &line->track, piece_number);
    while (reading.names && gt_proto_next(&fields, &field)) {
        if (field.tag != GT_PROTO_BYTES(4))
            continue;
        if (is_read) {
            take_event(&reading, field.bytes, piece->span.offset + (uint64_t)(field.bytes.ptr - bytes.ptr));
        } else {
            events->event_count++;
            gt_builder_skip(events->rows.builder);
        }
    }
    if (fields.is_damaged)
        gt_builder_issue(events->rows.builder, GT_ISSUE_EVENT_DAMAGED, 1, piece->span.offset);
}
