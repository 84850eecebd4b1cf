/* One item with all that is known about it. */
#include "explore/item_lines.h"
#include "explore/item_links.h"
#include "write/escape.h"
#include "write/json_timeline.h"

static void write_head(struct gt_item *item, uint32_t nth, size_t count) {
    gt_strid id;
    const char *category = gt_model_category(item->explore, item->kind, item->span);
    gt_out_text(item->out, "{\"name\": ");
    gt_escape_json(item->out, gt_model_name(item->explore, item->kind, item->span, &id));
    gt_out_printf(item->out,
                  ", \"kind\": \"%s\", \"lane\": %u, \"start_ns\": %jd, \"end_ns\": %jd, \"nth\": %u, \"others\": %zu, "
                  "\"category\": ",
                  gt_json_timeline_kind(item->kind), item->lane, (intmax_t)item->times.start_ns,
                  (intmax_t)item->times.end_ns, nth, count - 1);
    if (category)
        gt_escape_json(item->out, gt_str_of(category));
    else
        gt_out_text(item->out, "null");
}

static enum gt_status write_item(struct gt_item *item, struct gt_error *err) {
    gt_out_text(item->out, ",\n \"lines\": [");
    enum gt_status status = gt_item_lines_write(item, err);
    gt_out_text(item->out, "],\n \"stack\": [");
    gt_item_links_write_stack(item);
    item->link_count = 0;
    gt_out_text(item->out, "],\n \"links\": [");
    gt_item_links_write(item);
    gt_out_text(item->out, "]}");
    return status;
}

enum gt_status gt_explore_item(const struct gt_explore *explore, const struct gt_explore_item *wanted,
                               struct gt_out *out, struct gt_error *err) {
    if (wanted->lane >= explore->lane_count)
        return gt_fail_usage(err, "no lane %u; the trace has %zu", wanted->lane, explore->lane_count);
    if (!explore->lanes[wanted->lane].spans)
        return gt_fail_usage(err, "lane %u is a counter, which has no items", wanted->lane);
    struct gt_item item = {
        .explore = explore, .out = out, .lane = wanted->lane, .kind = explore->lanes[wanted->lane].row.kind};
    size_t first, count = gt_model_find_times(explore, wanted->lane, wanted->start_ns, wanted->end_ns, &first);
    if (wanted->nth >= count)
        return gt_fail_usage(err, "no item with these times in lane %u", wanted->lane);
    item.span = first + wanted->nth;
    item.row = gt_model_row(explore, item.kind, item.span);
    item.times = gt_model_times(explore, item.kind, item.span);
    write_head(&item, wanted->nth, count);
    return write_item(&item, err);
}
