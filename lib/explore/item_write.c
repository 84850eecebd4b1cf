/* Writes lines and links of an item. */
#include "explore/item_write.h"

#include <math.h>
#include <stdio.h>

#include "base/num.h"
#include "write/escape.h"

static void begin_line(struct gt_item *item, const char *key, const char *title) {
    gt_out_printf(item->out, "%s\n  {\"key\": \"%s\", \"title\": \"%s\", \"value\": ", item->line_count++ ? "," : "",
                  key, title);
}

static void end_line(struct gt_item *item, const char *unit) {
    gt_out_printf(item->out, ", \"unit\": \"%s\"}", unit);
}

void gt_item_write_text(struct gt_item *item, const char *key, const char *title, struct gt_str value) {
    if (value.len == 0)
        return;
    begin_line(item, key, title);
    gt_escape_json(item->out, value);
    end_line(item, "");
}

void gt_item_write_int(struct gt_item *item, const char *key, const char *title, int64_t value, const char *unit) {
    char buf[GT_NUM_MAX];
    begin_line(item, key, title);
    gt_out_write(item->out, buf, gt_num_format_int(buf, value));
    end_line(item, unit);
}

void gt_item_write_real(struct gt_item *item, const char *key, const char *title, double value, const char *unit) {
    char buf[GT_NUM_MAX];
    if (!isfinite(value))
        return;
    begin_line(item, key, title);
    gt_out_write(item->out, buf, gt_num_format_real(buf, value));
    end_line(item, unit);
}

void gt_item_write_dims(struct gt_item *item, const char *key, const char *title, uint32_t x, uint32_t y, uint32_t z) {
    char text[64];
    if (x == UINT32_MAX)
        return;
    int length = snprintf(text, sizeof text, "%u x %u x %u", x, y == UINT32_MAX ? 1 : y, z == UINT32_MAX ? 1 : z);
    gt_item_write_text(item, key, title, (struct gt_str){text, (size_t)length});
}

void gt_item_write_place(struct gt_item *item, const char *kind, struct gt_model_place place) {
    enum gt_timeline_kind of = item->explore->lanes[place.lane].row.kind;
    struct gt_interval times = gt_model_times(item->explore, of, place.span);
    gt_strid id;
    gt_out_printf(item->out, "%s\n  {\"kind\": \"%s\", \"lane\": %u, \"start_ns\": %jd, \"end_ns\": %jd, \"name\": ",
                  item->link_count++ ? "," : "", kind, place.lane, (intmax_t)times.start_ns, (intmax_t)times.end_ns);
    gt_escape_json(item->out, gt_model_name(item->explore, of, place.span, &id));
    gt_out_char(item->out, '}');
}
