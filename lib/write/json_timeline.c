/* Timelines as JSON: columns of small integers, since a page carries a hundred thousand items. */
#include "write/json_timeline.h"

#include <string.h>

#include "base/num.h"
#include "write/escape.h"

static void write_int(struct gt_out *out, int64_t value) {
    char buf[GT_NUM_MAX];
    gt_out_write(out, buf, gt_num_format_int(buf, value));
}

static void write_int_member(struct gt_out *out, const char *key, int64_t value) {
    gt_out_printf(out, "\"%s\": ", key);
    if (value == GT_TIMELINE_UNTOLD)
        gt_out_text(out, "null");
    else
        write_int(out, value);
    gt_out_text(out, ", ");
}

/* ---- items, column by column ---- */

static int64_t start_column(const struct gt_timeline_item *item, int64_t before_ns) {
    return item->start_ns - before_ns;
}

static int64_t length_column(const struct gt_timeline_item *item, int64_t before_ns) {
    (void)before_ns;
    return item->end_ns - item->start_ns;
}

static int64_t name_column(const struct gt_timeline_item *item, int64_t before_ns) {
    (void)before_ns;
    return item->name;
}

static void write_column(struct gt_out *out, const struct gt_timeline_row *row, const char *key,
                         int64_t (*value)(const struct gt_timeline_item *item, int64_t before_ns)) {
    int64_t before_ns = 0;
    gt_out_printf(out, ",\n       \"%s\": [", key);
    for (size_t i = 0; i < row->item_count; i++) {
        if (i)
            gt_out_char(out, ',');
        write_int(out, value(&row->items[i], before_ns));
        before_ns = row->items[i].end_ns;
    }
    gt_out_char(out, ']');
}

/* Only what is not the single, uncovered item that most are: number, count and busy time of each. */
static void write_joined(struct gt_out *out, const struct gt_timeline_row *row) {
    size_t last = 0;
    const char *separator = "";
    gt_out_text(out, ",\n       \"joined\": [");
    for (size_t i = 0; i < row->item_count; i++) {
        const struct gt_timeline_item *item = &row->items[i];
        if (item->count == 1 && item->busy_ns == item->end_ns - item->start_ns)
            continue;
        gt_out_text(out, separator);
        write_int(out, (int64_t)(i - last));
        gt_out_char(out, ',');
        write_int(out, item->count);
        gt_out_char(out, ',');
        write_int(out, item->busy_ns);
        separator = ",";
        last = i;
    }
    gt_out_char(out, ']');
}

static void write_row(struct gt_out *out, const struct gt_timeline_row *row) {
    static const char *const kinds[GT_TIMELINE_KIND_COUNT] = {
        [GT_TIMELINE_RANGES] = "ranges", [GT_TIMELINE_GAPS] = "gaps", [GT_TIMELINE_OPS] = "ops"};
    gt_out_printf(out, "{\"kind\": \"%s\", ", kinds[row->kind]);
    write_int_member(out, "device", row->device);
    write_int_member(out, "pid", row->pid);
    write_int_member(out, "stream", row->stream);
    write_int_member(out, "tid", row->tid);
    write_int_member(out, "level", row->level);
    write_int_member(out, "count", (int64_t)row->count);
    write_int_member(out, "busy_ns", row->busy_ns);
    gt_out_text(out, "\"grain_ns\": ");
    write_int(out, row->grain_ns);
    write_column(out, row, "start", start_column);
    write_column(out, row, "length", length_column);
    write_column(out, row, "name", name_column);
    write_joined(out, row);
    gt_out_char(out, '}');
}

/* ---- names ---- */

static void write_names(struct gt_out *out, const struct gt_timeline *timeline) {
    gt_out_text(out, ",\n     \"names\": [");
    for (size_t i = 0; i < timeline->name_count; i++) {
        gt_out_text(out, i ? ",\n       " : "\n       ");
        gt_json_string(out, timeline->names[i].text);
    }
    gt_out_text(out, "],\n     \"categories\": [");
    for (size_t i = 0; i < timeline->name_count; i++) {
        const char *category = timeline->names[i].category;
        if (i)
            gt_out_char(out, ',');
        if (category)
            gt_json_string(out, gt_str_of(category));
        else
            gt_out_text(out, "null");
    }
    gt_out_char(out, ']');
}

static void write_options(struct gt_out *out, const struct gt_timeline *timeline) {
    gt_out_text(out, ",\n     \"options\": [");
    for (size_t i = 0; i < timeline->option_count; i++) {
        gt_out_printf(out, "%s{\"name\": \"%s\", \"value\": ", i ? ", " : "", timeline->options[i].name);
        gt_json_string(out, gt_str_of(timeline->options[i].value));
        gt_out_char(out, '}');
    }
    gt_out_char(out, ']');
}

/* ---- the whole ---- */

static void write_timeline(struct gt_out *out, const struct gt_section *section, const struct gt_timeline *timeline) {
    gt_out_text(out, "{\"input\": ");
    gt_json_string(out, section->input.label);
    gt_out_text(out, ", ");
    write_int_member(out, "start_ns", timeline->start_ns);
    write_int_member(out, "end_ns", timeline->end_ns);
    gt_out_printf(out, "\"rows_left_out\": {\"ranges\": %ju, \"gaps\": %ju, \"ops\": %ju}",
                  (uintmax_t)timeline->rows_left_out[GT_TIMELINE_RANGES],
                  (uintmax_t)timeline->rows_left_out[GT_TIMELINE_GAPS],
                  (uintmax_t)timeline->rows_left_out[GT_TIMELINE_OPS]);
    write_options(out, timeline);
    write_names(out, timeline);
    gt_out_text(out, ",\n     \"rows\": [");
    for (size_t r = 0; r < timeline->row_count; r++) {
        gt_out_text(out, r ? ",\n      " : "\n      ");
        write_row(out, &timeline->rows[r]);
    }
    gt_out_text(out, timeline->row_count ? "\n     ]}" : "]}");
}

void gt_json_timelines(struct gt_out *out, const struct gt_report *report) {
    const char *separator = "  \"timelines\": [\n    ";
    for (size_t s = 0; s < report->section_count; s++) {
        const struct gt_section *section = &report->sections[s];
        for (size_t b = 0; b < section->block_count; b++) {
            if (section->blocks[b].kind != GT_BLOCK_TIMELINE)
                continue;
            gt_out_text(out, separator);
            write_timeline(out, section, section->blocks[b].timeline);
            separator = ",\n    ";
        }
    }
    if (separator[0] == ',')
        gt_out_text(out, "\n  ],\n");
}
