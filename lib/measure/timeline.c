/* The timeline of a page: in come the ops, gaps and ranges of a view, out goes a block with a bounded number of items,
   however many those are. Linear except the sorting of names and ranges. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "events/selection.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "measure/results/tiles.h"
#include "measure/results/timeline_names.h"
#include "measure/results/timeline_ranges.h"

/* What a page has room for, over all its inputs: at 8 to 17 bytes an item the whole stays below 3.2 MB. */
enum { OP_ITEMS = 100000, GAP_ITEMS = 30000, RANGE_ITEMS = 30000, NAME_BYTES = 500000 };
/* Of one input: more streams or nested ranges than anyone looks through. */
enum { OP_ROWS = 512, GAP_ROWS = 512, RANGE_ROWS = 96 };

struct drawing {
    const struct gt_view *view;
    struct gt_section *section;
    struct gt_timeline *timeline;
    struct gt_timeline_names names;
    const struct gt_idle *idle;
    struct gt_timeline_ranges ranges;
    struct gt_span_row *span_rows; /* by row of the timeline */
};

/* The part of one input. */
static size_t share_of(const struct drawing *drawing, size_t all) {
    size_t part = all / drawing->section->report->input_count;
    return part > GT_TILES_ROW_LEAST ? part : GT_TILES_ROW_LEAST;
}

static size_t rows_for(size_t item_count, size_t most) {
    size_t rows = item_count / GT_TILES_ROW_LEAST;
    return rows < most ? rows : most;
}

/* ---- spans: ops, gaps and ranges by number ---- */

static void read_ops(const void *data, size_t first, size_t count, struct gt_span *out) {
    const struct gt_view *view = ((const struct drawing *)data)->view;
    for (size_t i = 0; i < count; i++) {
        uint32_t position = view->lane_order[first + i];
        out[i] = (struct gt_span){view->start_ns[position], view->end_ns[position], view->category[position]};
    }
}

static uint32_t op_name(void *data, size_t index) {
    struct drawing *drawing = data;
    const struct gt_view *view = drawing->view;
    uint32_t position = view->lane_order[index];
    gt_strid name = gt_view_op_name_id(view, position);
    return gt_timeline_names_add(&drawing->names, GT_TIMELINE_OPS, name, gt_view_name_text(view, name),
                                 view->labels->categories[view->category[position]].key);
}

static void read_gaps(const void *data, size_t first, size_t count, struct gt_span *out) {
    const struct gt_idle_gap *gaps = ((const struct drawing *)data)->idle->gaps + first;
    for (size_t i = 0; i < count; i++)
        out[i] = (struct gt_span){gaps[i].start_ns, gaps[i].end_ns, gaps[i].cause};
}

static uint32_t gap_name(void *data, size_t index) {
    struct drawing *drawing = data;
    uint8_t cause = drawing->idle->gaps[index].cause;
    return gt_timeline_names_add(&drawing->names, GT_TIMELINE_GAPS, cause, gt_str_of(gt_idle_cause_names[cause]), NULL);
}

static void read_ranges(const void *data, size_t first, size_t count, struct gt_span *out) {
    gt_timeline_ranges_read(&((const struct drawing *)data)->ranges, first, count, out);
}

static uint32_t range_name(void *data, size_t index) {
    struct drawing *drawing = data;
    gt_strid name = gt_timeline_ranges_name(&drawing->ranges, index);
    return gt_timeline_names_add(&drawing->names, GT_TIMELINE_RANGES, name, gt_store_string(drawing->view->store, name),
                                 NULL);
}

/* ---- rows ---- */

static const struct gt_timeline_row unknown_row = {.device = GT_TIMELINE_UNKNOWN,
                                                   .pid = GT_TIMELINE_UNKNOWN,
                                                   .stream = GT_TIMELINE_UNKNOWN,
                                                   .tid = GT_TIMELINE_UNKNOWN,
                                                   .level = GT_TIMELINE_UNKNOWN};

static int64_t unknown_if_null(struct gt_cell cell) {
    return cell.type == GPUTIME_CELL_INT ? cell.integer : GT_TIMELINE_UNKNOWN;
}

static void add_row(struct drawing *drawing, const struct gt_timeline_row *row, struct gt_span_row spans) {
    struct gt_timeline *timeline = drawing->timeline;
    drawing->span_rows[timeline->row_count] = spans;
    timeline->rows[timeline->row_count] = *row;
    timeline->rows[timeline->row_count].lane = (uint32_t)timeline->row_count;
    timeline->row_count++;
}

/* Gives the rows from the first one on, all of one kind, their items. */
static bool fill_rows(struct drawing *drawing, const struct gt_spans *spans, size_t first_row, size_t most) {
    struct gt_timeline *timeline = drawing->timeline;
    size_t item_count;
    int64_t grain_ns = gt_tiles_choose_grain(spans, drawing->span_rows + first_row, timeline->row_count - first_row,
                                             most, &item_count);
    struct gt_timeline_item *items = gt_arena_array(&drawing->section->report->arena, item_count, sizeof *items);
    if (!items && item_count)
        return false;
    for (size_t r = first_row; r < timeline->row_count; r++) {
        struct gt_timeline_row *row = &timeline->rows[r];
        row->grain_ns = grain_ns;
        row->count = drawing->span_rows[r].count;
        row->items = items;
        row->item_count = gt_tiles_make(spans, drawing->span_rows[r], grain_ns, items);
        for (size_t i = 0; items && i < row->item_count; i++)
            row->busy_ns = gt_ns_add(row->busy_ns, items[i].busy_ns);
        items += row->item_count;
    }
    return !drawing->names.failed;
}

/* ---- streams ---- */

struct lane_busy {
    int64_t busy_ns;
    size_t lane;
};

static int by_busy(const void *a, const void *b) {
    const struct lane_busy *x = a, *y = b;
    if (x->busy_ns != y->busy_ns)
        return x->busy_ns > y->busy_ns ? -1 : 1;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

static int by_lane(const void *a, const void *b) {
    const struct lane_busy *x = a, *y = b;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

/* The busiest streams, in the order of the view. */
static size_t choose_lanes(const struct gt_view *view, struct lane_busy *lanes, size_t most) {
    bool is_crowded = view->lane_count > most;
    for (size_t i = 0; i < view->lane_count; i++)
        lanes[i] = (struct lane_busy){is_crowded ? gt_view_lane_busy_ns(view, &view->lanes[i]) : 0, i};
    if (!is_crowded)
        return view->lane_count;
    qsort(lanes, view->lane_count, sizeof *lanes, by_busy);
    qsort(lanes, most, sizeof *lanes, by_lane);
    return most;
}

static void add_lane(struct drawing *drawing, const struct gt_view_lane *lane) {
    const struct gt_store *store = drawing->view->store;
    struct gt_timeline_row row = unknown_row;
    row.kind = GT_TIMELINE_OPS;
    row.device = store->devices.id[store->lanes.device[lane->lane]];
    row.pid = unknown_if_null(gt_measure_pid_cell(drawing->view, store->lanes.process[lane->lane]));
    row.stream = store->lanes.stream[lane->lane];
    add_row(drawing, &row, (struct gt_span_row){lane->first, lane->count});
}

static bool draw_ops(struct drawing *drawing) {
    const struct gt_view *view = drawing->view;
    const struct gt_spans spans = {drawing, read_ops, op_name, view->store->origin_ns};
    size_t most = share_of(drawing, OP_ITEMS), first_row = drawing->timeline->row_count;
    struct lane_busy *lanes = gt_mem_array(view->lane_count, sizeof *lanes);
    if (!lanes)
        return false;
    size_t count = choose_lanes(view, lanes, rows_for(most, OP_ROWS));
    for (size_t i = 0; i < count; i++)
        add_lane(drawing, &view->lanes[lanes[i].lane]);
    drawing->timeline->rows_left_out[GT_TIMELINE_OPS] = view->lane_count - count;
    gt_mem_free(lanes);
    return fill_rows(drawing, &spans, first_row, most);
}

/* ---- gaps ---- */

static enum gt_status draw_gaps(struct drawing *drawing, struct gt_error *err) {
    const struct gt_view *view = drawing->view;
    struct gt_timeline *timeline = drawing->timeline;
    const struct gt_spans spans = {drawing, read_gaps, gap_name, view->store->origin_ns};
    size_t most = share_of(drawing, GAP_ITEMS), first_row = timeline->row_count;
    drawing->idle = gt_results_idle(view, err);
    if (!drawing->idle)
        return err->code;
    for (size_t d = 0; d < drawing->idle->device_count; d++) {
        const struct gt_idle_device *device = &drawing->idle->devices[d];
        if (device->count == 0)
            continue;
        struct gt_timeline_row row = unknown_row;
        row.kind = GT_TIMELINE_GAPS;
        row.device = view->devices[d].id;
        if (timeline->row_count - first_row < rows_for(most, GAP_ROWS))
            add_row(drawing, &row, (struct gt_span_row){device->first, device->count});
        else
            timeline->rows_left_out[GT_TIMELINE_GAPS]++;
    }
    return fill_rows(drawing, &spans, first_row, most) ? GT_OK : gt_fail_memory(err);
}

/* ---- ranges ---- */

static void add_range_row(struct drawing *drawing, const struct gt_timeline_range_row *from) {
    const struct gt_store *store = drawing->view->store;
    struct gt_timeline_row row = unknown_row;
    row.kind = GT_TIMELINE_RANGES;
    row.level = from->level;
    row.pid = from->pid;
    row.tid = from->tid;
    if (from->is_stream && from->track != GT_NO_TRACK) {
        row.device = store->devices.id[store->lanes.device[from->track]];
        row.stream = store->lanes.stream[from->track];
    }
    add_row(drawing, &row, from->spans);
}

static bool draw_ranges(struct drawing *drawing) {
    const struct gt_spans spans = {drawing, read_ranges, range_name, drawing->view->store->origin_ns};
    for (size_t i = 0; i < drawing->ranges.row_count; i++)
        add_range_row(drawing, &drawing->ranges.rows[i]);
    drawing->timeline->rows_left_out[GT_TIMELINE_RANGES] = drawing->ranges.rows_left_out;
    return fill_rows(drawing, &spans, 0, share_of(drawing, RANGE_ITEMS));
}

/* ---- the whole ---- */

static void set_bounds(struct drawing *drawing) {
    const struct gt_view *view = drawing->view;
    int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
    for (size_t d = 0; d < view->device_count; d++) {
        start_ns = view->devices[d].span_start_ns < start_ns ? view->devices[d].span_start_ns : start_ns;
        end_ns = view->devices[d].span_end_ns > end_ns ? view->devices[d].span_end_ns : end_ns;
    }
    drawing->timeline->start_ns = drawing->timeline->first_ns = gt_ns_between(view->store->origin_ns, start_ns);
    drawing->timeline->end_ns = drawing->timeline->last_ns = gt_ns_between(view->store->origin_ns, end_ns);
}

/* The page adds --from and --to itself to the command that shows more of a part. */
static void set_options(struct drawing *drawing) {
    struct gt_selection_term given[GT_SELECTION_TERMS_MAX];
    struct gt_arena *arena = &drawing->section->report->arena;
    size_t count = gt_selection_list(&drawing->view->request->selection, arena, given);
    for (size_t i = 0; i < count; i++)
        if (strcmp(given[i].name, "from") != 0 && strcmp(given[i].name, "to") != 0)
            drawing->timeline->options[drawing->timeline->option_count++] =
                (struct gt_timeline_option){given[i].name, gt_arena_copy(arena, gt_str_of(given[i].value)).ptr};
}

static enum gt_status draw(struct drawing *drawing, struct gt_error *err) {
    const struct gt_view *view = drawing->view;
    struct gt_arena *arena = &drawing->section->report->arena;
    size_t range_rows = rows_for(share_of(drawing, RANGE_ITEMS), RANGE_ROWS);
    enum gt_status status = gt_timeline_ranges_init(&drawing->ranges, view, range_rows, err);
    if (status != GT_OK)
        return status;
    size_t row_capacity = drawing->ranges.row_count + view->device_count + view->lane_count;
    drawing->timeline->rows = gt_arena_array(arena, row_capacity, sizeof *drawing->timeline->rows);
    drawing->span_rows = gt_mem_array(row_capacity, sizeof *drawing->span_rows);
    if (!drawing->timeline->rows || !drawing->span_rows || !draw_ranges(drawing))
        return gt_fail_memory(err);
    status = draw_gaps(drawing, err);
    if (status != GT_OK)
        return status;
    if (!draw_ops(drawing) ||
        !gt_timeline_names_settle(&drawing->names, drawing->timeline, arena, share_of(drawing, NAME_BYTES)))
        return gt_fail_memory(err);
    set_bounds(drawing);
    set_options(drawing);
    return GT_OK;
}

enum gt_status gt_timeline_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    if (view->device_count == 0)
        return GT_OK;
    struct drawing drawing = {.view = view, .section = section, .timeline = gt_section_timeline(section)};
    enum gt_status status = draw(&drawing, err);
    gt_timeline_ranges_release(&drawing.ranges);
    gt_timeline_names_release(&drawing.names);
    gt_mem_free(drawing.span_rows);
    return status;
}
