/* Timelines as JSON, with the items of a row packed into a string, since a page carries a hundred thousand of them. */
#include "write/json_timeline.h"

#include <math.h>
#include <string.h>

#include "base/ns.h"
#include "base/num.h"
#include "write/escape.h"

static void write_int(struct gt_out *out, int64_t value) {
    char buf[GT_NUM_MAX];
    gt_out_write(out, buf, gt_num_format_int(buf, value));
}

static void write_int_member(struct gt_out *out, const char *key, int64_t value) {
    gt_out_printf(out, "\"%s\": ", key);
    if (value == GT_TIMELINE_UNKNOWN)
        gt_out_text(out, "null");
    else
        write_int(out, value);
    gt_out_text(out, ", ");
}

/* ---- items: numbers of a variable number of bytes, in base64 ---- */

/* Bytes on their way out, three at a time. */
struct packing {
    struct gt_out *out;
    uint8_t bytes[3];
    size_t count;
};

static void flush(struct packing *packing) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *bytes = packing->bytes;
    const char text[4] = {digits[bytes[0] >> 2], digits[(bytes[0] & 3) << 4 | bytes[1] >> 4],
                          packing->count > 1 ? digits[(bytes[1] & 15) << 2 | bytes[2] >> 6] : '=',
                          packing->count > 2 ? digits[bytes[2] & 63] : '='};
    gt_out_write(packing->out, text, sizeof text);
    *packing = (struct packing){.out = packing->out};
}

static void pack_byte(struct packing *packing, uint8_t byte) {
    packing->bytes[packing->count++] = byte;
    if (packing->count == sizeof packing->bytes)
        flush(packing);
}

/* Seven bits a byte, the lowest first; the eighth bit says that more follow. */
static void pack(struct packing *packing, uint64_t value) {
    for (; value >= 128; value >>= 7)
        pack_byte(packing, (uint8_t)(value | 128));
    pack_byte(packing, (uint8_t)value);
}

/* The sign in the lowest bit, so that small numbers are short. */
static uint64_t zigzag(int64_t value) {
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

/* The start as the distance from the end before; that a single, uncovered item represents one and is busy throughout
   goes without saying. */
static void write_items(struct gt_out *out, const struct gt_timeline_row *row) {
    struct packing packing = {.out = out};
    int64_t before_ns = 0;
    gt_out_text(out, ", \"items\": \"");
    for (size_t i = 0; i < row->item_count; i++) {
        const struct gt_timeline_item *item = &row->items[i];
        int64_t length_ns = gt_ns_between(item->start_ns, item->end_ns);
        bool is_plain = item->count == 1 && item->busy_ns == length_ns;
        pack(&packing, zigzag(gt_ns_between(before_ns, item->start_ns)));
        pack(&packing, (uint64_t)length_ns);
        pack(&packing, (uint64_t)item->name << 1 | !is_plain);
        if (!is_plain) {
            pack(&packing, item->count);
            pack(&packing, (uint64_t)(length_ns - item->busy_ns));
        }
        before_ns = item->end_ns;
    }
    if (packing.count)
        flush(&packing);
    gt_out_char(out, '"');
}

/* ---- points ---- */

static void write_real(struct gt_out *out, double value) {
    char buf[GT_NUM_MAX];
    if (isfinite(value))
        gt_out_write(out, buf, gt_num_format_real(buf, value));
    else
        gt_out_text(out, "null");
}

static void write_points(struct gt_out *out, const struct gt_timeline_row *row) {
    char number[GT_NUM_MAX];
    gt_out_text(out, ", \"low\": ");
    write_real(out, row->low);
    gt_out_text(out, ", \"high\": ");
    write_real(out, row->high);
    gt_out_text(out, ", \"points\": [");
    for (size_t i = 0; i < row->point_count; i++) {
        if (i)
            gt_out_char(out, ',');
        gt_out_write(out, number, gt_num_format_int(number, row->points[i].time_ns));
        gt_out_char(out, ',');
        write_real(out, row->points[i].low);
        gt_out_char(out, ',');
        write_real(out, row->points[i].high);
    }
    gt_out_char(out, ']');
}

/* ---- rows ---- */

static const char *const kinds[GT_TIMELINE_KIND_COUNT] = {
    [GT_TIMELINE_STEPS] = "steps",
    [GT_TIMELINE_COUNTERS] = "counters",
    [GT_TIMELINE_GAPS] = "gaps",
    [GT_TIMELINE_OPS] = "ops",
    [GT_TIMELINE_COLLECTIVES] = "collectives",
    [GT_TIMELINE_RANGES] = "ranges",
    [GT_TIMELINE_HOST_RANGES] = "host_ranges",
    [GT_TIMELINE_OPERATORS] = "operators",
    [GT_TIMELINE_PYTHON] = "python",
    [GT_TIMELINE_CALLS] = "calls",
};

const char *gt_json_timeline_kind(enum gt_timeline_kind kind) {
    return kinds[kind];
}

static void write_text_member(struct gt_out *out, const char *key, struct gt_str text) {
    if (text.len == 0)
        return;
    gt_out_printf(out, "\"%s\": ", key);
    gt_escape_json(out, text);
    gt_out_text(out, ", ");
}

static void write_row(struct gt_out *out, const struct gt_timeline_row *row) {
    gt_out_printf(out, "{\"kind\": \"%s\", ", kinds[row->kind]);
    write_int_member(out, "lane", row->lane);
    write_int_member(out, "device", row->device);
    write_int_member(out, "pid", row->pid);
    write_int_member(out, "stream", row->stream);
    write_int_member(out, "tid", row->tid);
    write_int_member(out, "level", row->level);
    write_text_member(out, "title", row->title);
    write_text_member(out, "unit", row->unit);
    write_text_member(out, "thread", row->thread);
    write_text_member(out, "group", row->group);
    write_int_member(out, "count", (int64_t)row->count);
    write_int_member(out, "busy_ns", row->busy_ns);
    if (row->is_cut)
        gt_out_text(out, "\"cut\": true, ");
    gt_out_text(out, "\"grain_ns\": ");
    write_int(out, row->grain_ns);
    if (row->kind == GT_TIMELINE_COUNTERS)
        write_points(out, row);
    write_items(out, row);
    gt_out_char(out, '}');
}

/* ---- names ---- */

static void write_names(struct gt_out *out, const struct gt_timeline *timeline) {
    gt_out_text(out, ",\n     \"names\": [");
    for (size_t i = 0; i < timeline->name_count; i++) {
        gt_out_text(out, i ? ",\n       " : "\n       ");
        gt_escape_json(out, timeline->names[i].text);
    }
    gt_out_text(out, "],\n     \"categories\": [");
    for (size_t i = 0; i < timeline->name_count; i++) {
        const char *category = timeline->names[i].category;
        if (i)
            gt_out_char(out, ',');
        if (category)
            gt_escape_json(out, gt_str_of(category));
        else
            gt_out_text(out, "null");
    }
    gt_out_char(out, ']');
}

static void write_options(struct gt_out *out, const struct gt_timeline *timeline) {
    gt_out_text(out, ",\n     \"options\": [");
    for (size_t i = 0; i < timeline->option_count; i++) {
        gt_out_printf(out, "%s{\"name\": \"%s\", \"value\": ", i ? ", " : "", timeline->options[i].name);
        gt_escape_json(out, gt_str_of(timeline->options[i].value));
        gt_out_char(out, '}');
    }
    gt_out_char(out, ']');
}

/* ---- the whole ---- */

void gt_json_timeline_write(struct gt_out *out, struct gt_str input, const struct gt_timeline *timeline) {
    gt_out_text(out, "{\"input\": ");
    gt_escape_json(out, input);
    gt_out_text(out, ", ");
    write_int_member(out, "start_ns", timeline->start_ns);
    write_int_member(out, "end_ns", timeline->end_ns);
    write_int_member(out, "first_ns", timeline->first_ns);
    write_int_member(out, "last_ns", timeline->last_ns);
    gt_out_text(out, "\"rows_left_out\": {");
    for (size_t k = 0; k < GT_TIMELINE_KIND_COUNT; k++)
        gt_out_printf(out, "%s\"%s\": %ju", k ? ", " : "", kinds[k], (uintmax_t)timeline->rows_left_out[k]);
    gt_out_char(out, '}');
    write_options(out, timeline);
    write_names(out, timeline);
    gt_out_text(out, ",\n     \"rows\": [");
    for (size_t r = 0; r < timeline->row_count; r++) {
        gt_out_text(out, r ? ",\n      " : "\n      ");
        write_row(out, &timeline->rows[r]);
    }
    gt_out_text(out, timeline->row_count ? "\n     ]}" : "]}");
}

void gt_json_timeline_write_all(struct gt_out *out, const struct gt_report *report, enum gt_audience audience) {
    const char *separator = "  \"timelines\": [\n    ";
    for (size_t s = 0; s < report->section_count; s++) {
        const struct gt_section *section = &report->sections[s];
        for (size_t b = 0; b < section->block_count; b++) {
            if (section->blocks[b].kind != GT_BLOCK_TIMELINE || !(section->blocks[b].audience & audience))
                continue;
            gt_out_text(out, separator);
            gt_json_timeline_write(out, section->input.label, section->blocks[b].timeline);
            separator = ",\n    ";
        }
    }
    if (separator[0] == ',')
        gt_out_text(out, "\n  ],\n");
}
