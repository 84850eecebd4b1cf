/* The items of lanes that touch a window. */
#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "explore/model.h"
#include "measure/results/timeline_names.h"
#include "write/json_timeline.h"

/* Pixels of all lanes together, so that an answer stays small: many lanes have a coarser grain. */
enum { PIXELS_MAX = 16384, WIDTH_USUAL = 1000, NAME_LONGEST = 4000, NAME_BYTES = 2000000 };

struct drawing {
    const struct gt_explore *explore;
    const struct gt_explore_window *window;
    struct gt_pyramid_window of_lane;
    struct gt_arena arena;
    struct gt_timeline timeline;
    struct gt_timeline_names names;
    struct gt_pyramid_items items; /* of all rows */
    struct gt_curve_points points; /* likewise */
};

static int64_t grain_of(int64_t length_ns, uint64_t width) {
    uint64_t least = ((uint64_t)length_ns + width - 1) / width, grain = 1;
    while (grain < least && grain < UINT64_C(1) << 62)
        grain <<= 1;
    return (int64_t)grain;
}

static size_t width_of(const struct gt_explore_window *window, size_t lane_count) {
    size_t width = window->width ? window->width : WIDTH_USUAL, most = PIXELS_MAX / (lane_count ? lane_count : 1);
    most = most > GT_TILES_ROW_LEAST ? most : GT_TILES_ROW_LEAST;
    return width < most ? width : most;
}

static uint32_t name_item(struct drawing *drawing, enum gt_timeline_kind kind, uint32_t span) {
    gt_strid id;
    struct gt_str text = gt_model_name(drawing->explore, kind, span, &id);
    return gt_timeline_names_add(&drawing->names, kind, id, text, gt_model_category(drawing->explore, kind, span));
}

static void draw_curve(struct drawing *drawing, const struct gt_model_lane *lane) {
    struct gt_timeline_row *row = &drawing->timeline.rows[drawing->timeline.row_count++];
    const struct gt_pyramid_window *window = &drawing->of_lane;
    size_t first = drawing->points.count;
    *row = lane->row;
    row->grain_ns =
        gt_curve_window(lane->curve, window->from_ns, window->to_ns, window->most, window->grain_ns, &drawing->points);
    row->point_count = row->count = drawing->points.count - first;
}

static void draw_lane(struct drawing *drawing, const struct gt_model_lane *lane) {
    struct gt_timeline_row *row = &drawing->timeline.rows[drawing->timeline.row_count++];
    struct gt_pyramid_items *items = &drawing->items;
    size_t first = items->count;
    *row = lane->row;
    row->count = 0;
    row->busy_ns = 0;
    row->grain_ns = gt_pyramid_window(&lane->pyramid, lane->spans, &drawing->of_lane, items, &row->is_cut);
    row->item_count = items->count - first;
    for (size_t i = first; i < items->count; i++) {
        row->count += items->items[i].count;
        row->busy_ns = gt_ns_add(row->busy_ns, items->items[i].busy_ns);
        items->items[i].name = name_item(drawing, lane->row.kind, items->items[i].name);
    }
}

static enum gt_status draw(struct drawing *drawing, size_t count, struct gt_error *err) {
    const struct gt_explore *explore = drawing->explore;
    const uint32_t *chosen = drawing->window->lanes;
    drawing->timeline.rows = gt_arena_array(&drawing->arena, count, sizeof *drawing->timeline.rows);
    if (!drawing->timeline.rows && count)
        return gt_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        size_t lane = chosen ? chosen[i] : i;
        if (lane >= explore->lane_count)
            return gt_fail_usage(err, "no lane %zu; the trace has %zu", lane, explore->lane_count);
        if (explore->lanes[lane].curve)
            draw_curve(drawing, &explore->lanes[lane]);
        else
            draw_lane(drawing, &explore->lanes[lane]);
    }
    size_t first_item = 0, first_point = 0;
    for (size_t r = 0; r < count; r++) {
        struct gt_timeline_row *row = &drawing->timeline.rows[r];
        row->items = row->item_count ? drawing->items.items + first_item : NULL;
        row->points = row->point_count ? drawing->points.items + first_point : NULL;
        first_item += row->item_count;
        first_point += row->point_count;
    }
    if (drawing->items.failed || drawing->points.failed ||
        !gt_timeline_names_settle(&drawing->names, &drawing->timeline, &drawing->arena, NAME_LONGEST, NAME_BYTES))
        return gt_fail_memory(err);
    return GT_OK;
}

enum gt_status gt_explore_window(const struct gt_explore *explore, const struct gt_explore_window *window,
                                 struct gt_out *out, struct gt_error *err) {
    size_t count = window->lanes ? window->lane_count : explore->lane_count;
    if (window->from_ns >= window->to_ns)
        return gt_fail_usage(err, "the window ends before it begins");
    if (count > explore->lane_count)
        return gt_fail_usage(err, "%zu lanes; the trace has %zu", count, explore->lane_count);
    size_t width = width_of(window, count);
    struct drawing drawing = {
        .explore = explore,
        .window = window,
        .of_lane = {window->from_ns, window->to_ns, width,
                    grain_of(gt_ns_between(window->from_ns, window->to_ns), width)},
        .timeline = {.start_ns = window->from_ns,
                     .end_ns = window->to_ns,
                     .first_ns = explore->first_ns,
                     .last_ns = explore->last_ns},
    };
    gt_arena_init(&drawing.arena);
    enum gt_status status = draw(&drawing, count, err);
    if (status == GT_OK)
        gt_json_timeline_write(out, explore->trace.label, &drawing.timeline);
    gt_timeline_names_release(&drawing.names);
    gt_mem_free(drawing.items.items);
    gt_mem_free(drawing.points.items);
    gt_arena_release(&drawing.arena);
    return status;
}
