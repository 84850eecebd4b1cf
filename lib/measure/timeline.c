/* The timeline of a page: in come the ops, gaps, ranges and what CPU threads did of a view, out goes a block with a
   bounded number of items, however many those are. Linear except the sorting of names and spans. */
#include <stdatomic.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "events/selection.h"
#include "measure/results/curves.h"
#include "measure/results/gpu_lanes.h"
#include "measure/results/host_lanes.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "measure/results/timeline_names.h"
#include "measure/results/timeline_ranges.h"

/* What a page has room for, over all its inputs: at 8 to 17 bytes an item the whole stays below 3.2 MB. Rows are those
   of one input: more streams or nested ranges than anyone looks through. */
static const struct room {
    size_t items, rows;
} rooms[GT_TIMELINE_KIND_COUNT] = {
    [GT_TIMELINE_STEPS] = {2000, 16},       [GT_TIMELINE_COUNTERS] = {4000, 32},    [GT_TIMELINE_GAPS] = {24000, 512},
    [GT_TIMELINE_OPS] = {80000, 512},       [GT_TIMELINE_COLLECTIVES] = {6000, 64}, [GT_TIMELINE_RANGES] = {16000, 96},
    [GT_TIMELINE_HOST_RANGES] = {8000, 64}, [GT_TIMELINE_OPERATORS] = {8000, 64},   [GT_TIMELINE_PYTHON] = {8000, 96},
    [GT_TIMELINE_CALLS] = {8000, 64},
};
enum { NAME_BYTES = 500000 };

struct drawing;

/* The spans of one kind. */
struct source {
    struct drawing *drawing;
    enum gt_timeline_kind kind;
};

struct drawing {
    const struct gt_view *view;
    struct gt_section *section;
    struct gt_timeline *timeline;
    struct gt_timeline_names names;
    const struct gt_idle *idle;
    struct gt_timeline_ranges ranges;
    struct gt_lane_set sets[GT_TIMELINE_KIND_COUNT]; /* of the kinds that have one */
    struct gt_curves curves;
    struct gt_lane_list list;
    struct source sources[GT_TIMELINE_KIND_COUNT];
    size_t threads;
    atomic_bool failed; /* memory was short */
};

/* The part of one input. */
static size_t share_of(const struct drawing *drawing, size_t all) {
    size_t part = all / drawing->section->report->input_count;
    return part > GT_TILES_ROW_LEAST ? part : GT_TILES_ROW_LEAST;
}

static size_t rows_for(const struct drawing *drawing, enum gt_timeline_kind kind) {
    size_t rows = share_of(drawing, rooms[kind].items) / GT_TILES_ROW_LEAST;
    return rows < rooms[kind].rows ? rows : rooms[kind].rows;
}

/* ---- spans and their names, by number ---- */

static void read_ops(const struct gt_view *view, size_t first, size_t count, struct gt_span *out) {
    for (size_t i = 0; i < count; i++) {
        uint32_t position = view->lane_order[first + i];
        out[i] = (struct gt_span){view->start_ns[position], view->end_ns[position], view->category[position]};
    }
}

static void read_gaps(const struct gt_idle *idle, size_t first, size_t count, struct gt_span *out) {
    for (size_t i = 0; i < count; i++)
        out[i] = (struct gt_span){gt_idle_gap_start_ns(idle, first + i), gt_idle_gap_end_ns(idle, first + i),
                                  (uint8_t)gt_idle_gap_cause(idle, first + i)};
}

static void read_spans(const void *data, size_t first, size_t count, struct gt_span *out) {
    const struct source *source = data;
    const struct drawing *drawing = source->drawing;
    if (source->kind == GT_TIMELINE_OPS)
        read_ops(drawing->view, first, count, out);
    else if (source->kind == GT_TIMELINE_GAPS)
        read_gaps(drawing->idle, first, count, out);
    else if (source->kind == GT_TIMELINE_RANGES)
        gt_timeline_ranges_read(&drawing->ranges, first, count, out);
    else
        gt_lane_set_read(&drawing->sets[source->kind], first, count, out);
}

static struct gt_spans spans_of(struct drawing *drawing, enum gt_timeline_kind kind) {
    return (struct gt_spans){&drawing->sources[kind], read_spans, drawing->view->store->origin_ns};
}

static const char *category_of(const struct gt_view *view, uint8_t category) {
    return view->labels->categories[category].key;
}

static uint32_t name_span(const struct source *source, size_t index) {
    struct drawing *drawing = source->drawing;
    const struct gt_view *view = drawing->view;
    const struct gt_lane_set *set = &drawing->sets[source->kind];
    const char *category = NULL;
    gt_strid name;
    if (source->kind == GT_TIMELINE_OPS) {
        uint32_t position = view->lane_order[index];
        name = gt_view_op_name_id(view, position);
        return gt_timeline_names_add(&drawing->names, source->kind, name, gt_view_name_text(view, name),
                                     category_of(view, view->category[position]));
    }
    if (source->kind == GT_TIMELINE_GAPS) {
        enum gt_idle_cause cause = gt_idle_gap_cause(drawing->idle, index);
        return gt_timeline_names_add(&drawing->names, source->kind, cause, gt_str_of(gt_idle_cause_names[cause]), NULL);
    }
    if (source->kind == GT_TIMELINE_COLLECTIVES)
        category = category_of(view, view->labels->op_category[gt_lane_set_row(set, index)]);
    name = source->kind == GT_TIMELINE_RANGES ? gt_timeline_ranges_name(&drawing->ranges, index)
                                              : set->name[set->ids[index]];
    return gt_timeline_names_add(&drawing->names, source->kind, name, gt_store_string(view->store, name), category);
}

/* ---- gaps and ranges ---- */

static enum gt_status list_gaps(struct drawing *drawing, struct gt_lane_list *list, struct gt_error *err) {
    const struct gt_view *view = drawing->view;
    drawing->idle = gt_results_idle(view, err);
    if (!drawing->idle)
        return err->code;
    for (size_t d = 0; d < drawing->idle->device_count; d++) {
        const struct gt_idle_device *device = &drawing->idle->devices[d];
        struct gt_timeline_row row = gt_lane_list_row(GT_TIMELINE_GAPS);
        row.device = view->devices[d].id;
        if (device->count)
            gt_lane_list_add(list, &row, (struct gt_span_row){device->first, device->count}, view->devices[d].device);
    }
    return GT_OK;
}

static enum gt_status list_ranges(struct drawing *drawing, struct gt_lane_list *list, struct gt_error *err) {
    size_t most = rows_for(drawing, GT_TIMELINE_RANGES);
    enum gt_status status = gt_timeline_ranges_init(&drawing->ranges, drawing->view, most, err);
    if (status != GT_OK)
        return status;
    for (size_t i = 0; i < drawing->ranges.row_count; i++) {
        const struct gt_timeline_range_row *from = &drawing->ranges.rows[i];
        struct gt_timeline_row row = gt_timeline_ranges_row(&drawing->ranges, from);
        gt_lane_list_add(list, &row, from->spans, from->track);
    }
    list->left_out[GT_TIMELINE_RANGES] = drawing->ranges.rows_left_out;
    return GT_OK;
}

/* ---- all lanes ---- */

/* Lanes in the order of the parts, which are made at the same time. */
enum part {
    PART_RANGES,
    PART_GAPS,
    PART_CURVES,
    PART_STREAMS,
    PART_STEPS,
    PART_COLLECTIVES,
    PART_HOST,
    PART_COUNT = PART_HOST + GT_TIMELINE_CALLS - GT_TIMELINE_HOST_RANGES + 1,
};

struct listing {
    struct drawing *drawing;
    struct gt_arena arenas[PART_COUNT];
    struct gt_lane_list lists[PART_COUNT];
    enum gt_status statuses[PART_COUNT];
    struct gt_error errs[PART_COUNT];
};

static bool list_others(struct listing *listing, size_t part) {
    struct drawing *drawing = listing->drawing;
    const struct gt_view *view = drawing->view;
    struct gt_lane_list *list = &listing->lists[part];
    if (part == PART_STREAMS)
        return gt_gpu_lanes_streams(view, rows_for(drawing, GT_TIMELINE_OPS), list);
    if (part == PART_STEPS)
        return gt_gpu_lanes_steps(view, &drawing->sets[GT_TIMELINE_STEPS], list);
    if (part == PART_COLLECTIVES)
        return gt_gpu_lanes_collectives(view, &listing->arenas[part], &drawing->sets[GT_TIMELINE_COLLECTIVES], list);
    enum gt_timeline_kind kind = (enum gt_timeline_kind)(GT_TIMELINE_HOST_RANGES + part - PART_HOST);
    return gt_host_lanes_make(view, kind, drawing->threads, &drawing->sets[kind], list);
}

static void list_part(void *context, size_t part) {
    struct listing *listing = context;
    struct drawing *drawing = listing->drawing;
    struct gt_lane_list *list = &listing->lists[part];
    struct gt_error *err = &listing->errs[part];
    if (part == PART_RANGES)
        listing->statuses[part] = list_ranges(drawing, list, err);
    else if (part == PART_GAPS)
        listing->statuses[part] = list_gaps(drawing, list, err);
    else if (part == PART_CURVES)
        listing->statuses[part] = gt_curves_make(&drawing->curves, drawing->view, &listing->arenas[part], list, err);
    else
        listing->statuses[part] = list_others(listing, part) ? GT_OK : gt_fail_memory(err);
}

/* The error is that of the first part that has one. */
static enum gt_status join_parts(struct drawing *drawing, struct listing *listing, struct gt_error *err) {
    enum gt_status status = GT_OK;
    for (size_t part = 0; part < PART_COUNT; part++) {
        if (listing->statuses[part] != GT_OK && status == GT_OK) {
            status = listing->statuses[part];
            *err = listing->errs[part];
        }
        gt_arena_take(&drawing->section->report->arena, &listing->arenas[part]);
        gt_lane_list_join(&drawing->list, &listing->lists[part]);
    }
    return status;
}

static enum gt_status list_lanes(struct drawing *drawing, struct gt_error *err) {
    struct listing *listing = gt_mem_array(1, sizeof *listing); /* too large for a small stack */
    if (!listing)
        return gt_fail_memory(err);
    listing->drawing = drawing;
    gt_threads_deal(drawing->threads, PART_COUNT, list_part, listing);
    enum gt_status status = join_parts(drawing, listing, err);
    gt_mem_free(listing);
    if (status != GT_OK)
        return status;
    bool ok = true;
    for (enum gt_timeline_kind kind = 0; kind < GT_TIMELINE_KIND_COUNT && ok; kind++)
        ok = gt_lane_list_limit(&drawing->list, kind, rows_for(drawing, kind));
    return ok && gt_lane_list_sort(&drawing->list) ? GT_OK : gt_fail_memory(err);
}

/* ---- items ---- */

/* How many items each row of a kind has, and how fine they are. */
static bool count_items(struct drawing *drawing, enum gt_timeline_kind kind) {
    struct gt_timeline *timeline = drawing->timeline;
    struct gt_span_row *span_rows = gt_mem_array(timeline->row_count, sizeof *span_rows);
    size_t *counts = gt_mem_array(timeline->row_count, sizeof *counts), rows = 0;
    int64_t grain_ns = 0;
    for (size_t r = 0; r < timeline->row_count && span_rows; r++)
        if (timeline->rows[r].kind == kind)
            span_rows[rows++] = drawing->list.lanes[r].spans;
    const struct gt_spans spans = spans_of(drawing, kind);
    bool ok = span_rows && counts &&
              gt_tiles_choose_grain(&spans, span_rows, rows, share_of(drawing, rooms[kind].items), drawing->threads,
                                    &grain_ns, counts);
    for (size_t r = timeline->row_count; r-- > 0 && ok;)
        if (timeline->rows[r].kind == kind) {
            timeline->rows[r].grain_ns = grain_ns;
            timeline->rows[r].item_count = counts[--rows];
        }
    gt_mem_free(span_rows);
    gt_mem_free(counts);
    return ok;
}

static void count_kind(void *context, size_t kind) {
    struct drawing *drawing = context;
    if (kind != GT_TIMELINE_COUNTERS && !count_items(drawing, (enum gt_timeline_kind)kind))
        drawing->failed = true;
}

static void fill_row(void *context, size_t index) {
    struct drawing *drawing = context;
    struct gt_timeline_row *row = &drawing->timeline->rows[index];
    if (row->kind == GT_TIMELINE_COUNTERS)
        return;
    const struct gt_spans spans = spans_of(drawing, row->kind);
    gt_tiles_make(&spans, drawing->list.lanes[index].spans, row->grain_ns, row->items);
    for (size_t i = 0; i < row->item_count; i++)
        row->busy_ns = gt_ns_add(row->busy_ns, row->items[i].busy_ns);
}

/* Numbers of names come in the order of kinds and rows. */
static void name_items(struct drawing *drawing) {
    struct gt_timeline *timeline = drawing->timeline;
    for (enum gt_timeline_kind kind = 0; kind < GT_TIMELINE_KIND_COUNT; kind++)
        for (size_t r = 0; r < timeline->row_count; r++)
            for (size_t i = 0; i < timeline->rows[r].item_count && timeline->rows[r].kind == kind; i++) {
                struct gt_timeline_item *item = &timeline->rows[r].items[i];
                item->name = name_span(&drawing->sources[kind], item->name);
            }
}

/* Gives all rows but curves their items: what is made of spans on threads, and what is shared one after the other. */
static bool fill_rows(struct drawing *drawing) {
    struct gt_timeline *timeline = drawing->timeline;
    gt_threads_parts(drawing->threads, GT_TIMELINE_KIND_COUNT, count_kind, drawing);
    if (drawing->failed)
        return false;
    for (size_t r = 0; r < timeline->row_count; r++) {
        struct gt_timeline_row *row = &timeline->rows[r];
        row->items = gt_arena_array(&drawing->section->report->arena, row->item_count, sizeof *row->items);
        if (!row->items)
            return false;
    }
    gt_threads_parts(drawing->threads, timeline->row_count, fill_row, drawing);
    name_items(drawing);
    return !drawing->names.failed;
}

/* Each curve has the same part of the room. */
static bool fill_curves(struct drawing *drawing) {
    struct gt_timeline *timeline = drawing->timeline;
    struct gt_arena *arena = &drawing->section->report->arena;
    size_t curves = 0;
    for (size_t r = 0; r < timeline->row_count; r++)
        curves += timeline->rows[r].kind == GT_TIMELINE_COUNTERS;
    size_t most = curves ? share_of(drawing, rooms[GT_TIMELINE_COUNTERS].items) / curves : 0;
    int64_t grain_ns = 1;
    while (most && grain_ns < gt_ns_between(timeline->start_ns, timeline->end_ns) / (int64_t)most)
        grain_ns *= 2;
    for (size_t r = 0; r < timeline->row_count; r++) {
        struct gt_timeline_row *row = &timeline->rows[r];
        struct gt_curve_points points = {0};
        if (row->kind != GT_TIMELINE_COUNTERS)
            continue;
        row->grain_ns = gt_curve_window(&drawing->curves.items[drawing->list.lanes[r].spans.first], timeline->start_ns,
                                        gt_ns_add(timeline->end_ns, 1), most, grain_ns, &points);
        row->points = gt_arena_array(arena, points.count, sizeof *row->points);
        for (size_t i = 0; i < points.count && row->points; i++)
            row->points[i] = points.items[i];
        bool ok = !points.failed && (row->points || points.count == 0);
        row->point_count = row->count = points.count;
        gt_mem_free(points.items);
        if (!ok)
            return false;
    }
    return true;
}

static bool fill(struct drawing *drawing) {
    struct gt_timeline *timeline = drawing->timeline;
    struct gt_lane_list *list = &drawing->list;
    timeline->rows = gt_arena_array(&drawing->section->report->arena, list->count, sizeof *timeline->rows);
    if (!timeline->rows)
        return false;
    for (; timeline->row_count < list->count; timeline->row_count++)
        timeline->rows[timeline->row_count] = list->lanes[timeline->row_count].row;
    for (enum gt_timeline_kind kind = 0; kind < GT_TIMELINE_KIND_COUNT; kind++) {
        timeline->rows_left_out[kind] = list->left_out[kind];
        drawing->sources[kind] = (struct source){drawing, kind};
    }
    return fill_rows(drawing) && fill_curves(drawing);
}

/* ---- the whole ---- */

static void set_bounds(struct drawing *drawing) {
    const struct gt_view *view = drawing->view;
    int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
    for (size_t d = 0; d < view->device_count; d++) {
        start_ns = view->devices[d].span_start_ns < start_ns ? view->devices[d].span_start_ns : start_ns;
        end_ns = view->devices[d].span_end_ns > end_ns ? view->devices[d].span_end_ns : end_ns;
    }
    drawing->timeline->start_ns = gt_ns_between(view->store->origin_ns, start_ns);
    drawing->timeline->end_ns = gt_ns_between(view->store->origin_ns, end_ns);
}

static void set_extent(struct gt_timeline *timeline) {
    timeline->first_ns = timeline->start_ns;
    timeline->last_ns = timeline->end_ns;
    for (size_t r = 0; r < timeline->row_count; r++)
        for (size_t i = 0; i < timeline->rows[r].item_count; i++) {
            const struct gt_timeline_item *item = &timeline->rows[r].items[i];
            timeline->first_ns = item->start_ns < timeline->first_ns ? item->start_ns : timeline->first_ns;
            timeline->last_ns = item->end_ns > timeline->last_ns ? item->end_ns : timeline->last_ns;
        }
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
    set_bounds(drawing);
    enum gt_status status = list_lanes(drawing, err);
    if (status != GT_OK)
        return status;
    if (!fill(drawing) ||
        !gt_timeline_names_settle(&drawing->names, drawing->timeline, &drawing->section->report->arena,
                                  GT_TIMELINE_NAMES_LONGEST, share_of(drawing, NAME_BYTES)))
        return gt_fail_memory(err);
    set_extent(drawing->timeline);
    set_options(drawing);
    return GT_OK;
}

enum gt_status gt_timeline_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    if (view->device_count == 0)
        return GT_OK;
    struct drawing drawing = {.view = view,
                              .section = section,
                              .timeline = gt_section_timeline(section),
                              .threads = gt_threads_count(view->request->threads)};
    enum gt_status status = draw(&drawing, err);
    gt_timeline_ranges_release(&drawing.ranges);
    gt_timeline_names_release(&drawing.names);
    gt_lane_list_release(&drawing.list);
    gt_curves_release(&drawing.curves);
    for (size_t k = 0; k < GT_TIMELINE_KIND_COUNT; k++)
        gt_lane_set_release(&drawing.sets[k]);
    return status;
}
