/* Sorts ranges into rows of a timeline: in come what ranges launched, or projections; out go spans row by row. */
#include "measure/results/timeline_ranges.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/ns.h"
#include "base/spans.h"
#include "measure/results/lane_list.h"
#include "measure/results/measure.h"
#include "measure/results/range_projected.h"
#include "measure/results/results.h"

/* ---- single ranges, of either table ---- */

static size_t source_count(const struct gt_timeline_ranges *ranges) {
    const struct gt_store *store = ranges->view->store;
    return ranges->is_projected ? store->projections.count : store->ranges.count;
}

/* A projection cannot be cut to a part of its ops. */
static bool is_drawn(const struct gt_timeline_ranges *ranges, uint32_t row) {
    return ranges->is_projected ? ranges->view->is_whole : ranges->set->uses[row].ops > 0;
}

static struct gt_interval interval_of(const void *context, uint32_t row) {
    const struct gt_timeline_ranges *ranges = context;
    const struct gt_store *store = ranges->view->store;
    if (!ranges->is_projected)
        return (struct gt_interval){ranges->set->uses[row].start_ns, ranges->set->uses[row].end_ns};
    /* Nothing is drawn in front of the first op. */
    int64_t start_ns = store->projections.start_ns[row], end_ns = store->projections.end_ns[row];
    return (struct gt_interval){start_ns > store->origin_ns ? start_ns : store->origin_ns,
                                end_ns > store->origin_ns ? end_ns : store->origin_ns};
}

static struct gt_timeline_range_row place_of(const struct gt_timeline_ranges *ranges, uint32_t row) {
    const struct gt_store *store = ranges->view->store;
    if (ranges->is_projected)
        return (struct gt_timeline_range_row){.track = store->projections.thread[row],
                                              .level = store->projections.level[row]};
    bool is_stream = store->ranges.thread[row] == GT_NO_TRACK;
    return (struct gt_timeline_range_row){.track = is_stream ? store->ranges.lane[row] : store->ranges.thread[row],
                                          .is_stream = is_stream,
                                          .level = ranges->view->labels->range_level[row]};
}

static int64_t unknown_if_null(struct gt_cell cell) {
    return cell.type == GPUTIME_CELL_INT ? cell.integer : GT_TIMELINE_UNKNOWN;
}

static void name_place(const struct gt_view *view, struct gt_timeline_range_row *row) {
    const struct gt_store *store = view->store;
    bool is_known = row->track != GT_NO_TRACK;
    uint32_t process = !is_known        ? GT_NO_TRACK
                       : row->is_stream ? store->lanes.process[row->track]
                                        : store->threads.process[row->track];
    row->pid = unknown_if_null(gt_measure_pid_cell(view, process));
    row->tid = row->is_stream ? GT_TIMELINE_UNKNOWN : unknown_if_null(gt_range_set_tid_cell(store, row->track));
}

struct gt_timeline_row gt_timeline_ranges_row(const struct gt_timeline_ranges *ranges,
                                              const struct gt_timeline_range_row *from) {
    const struct gt_store *store = ranges->view->store;
    struct gt_timeline_row row = gt_lane_list_row(GT_TIMELINE_RANGES);
    if (from->track != GT_NO_TRACK && !from->is_stream)
        row = gt_lane_list_thread_row(store, GT_TIMELINE_RANGES, from->track, from->level);
    row.level = from->level;
    row.pid = from->pid;
    row.tid = from->tid;
    if (from->is_stream && from->track != GT_NO_TRACK) {
        row.device = store->devices.id[store->lanes.device[from->track]];
        row.stream = store->lanes.stream[from->track];
    }
    return row;
}

void gt_timeline_ranges_read(const struct gt_timeline_ranges *ranges, size_t first, size_t count, struct gt_span *out) {
    for (size_t i = 0; i < count; i++) {
        struct gt_interval span = interval_of(ranges, ranges->spans[first + i]);
        out[i] = (struct gt_span){span.start_ns, span.end_ns, 0};
    }
}

gt_strid gt_timeline_ranges_name(const struct gt_timeline_ranges *ranges, size_t span) {
    const struct gt_store *store = ranges->view->store;
    uint32_t row = ranges->spans[span];
    return ranges->is_projected ? store->projections.name[row] : store->ranges.name[row];
}

/* ---- rows ---- */

/* Sorting spans into rows: rows of the store are walked in order, once to count and once to place them. */
struct sorting {
    struct gt_timeline_ranges *ranges;
    struct gt_map ids; /* of places */
    size_t row_capacity;
    uint32_t *row_of; /* by row of the store: its row of the timeline; GT_NO_ROW where it is not drawn */
};

static struct gt_timeline_range_row *find_row(struct sorting *sorting, uint32_t source) {
    struct gt_timeline_ranges *ranges = sorting->ranges;
    struct gt_timeline_range_row place = place_of(ranges, source);
    uint32_t next = (uint32_t)ranges->row_count;
    uint32_t row = gt_map_put_if_new(&sorting->ids, (uint64_t)place.is_stream << 32 | place.track, place.level, next);
    if (sorting->ids.failed)
        return NULL;
    if (row != next)
        return &ranges->rows[row];
    void *grown = gt_mem_room(ranges->rows, ranges->row_count, &sorting->row_capacity, sizeof *ranges->rows);
    if (!grown)
        return NULL;
    ranges->rows = grown;
    name_place(ranges->view, &place);
    ranges->rows[ranges->row_count++] = place;
    return &ranges->rows[row];
}

static bool is_after(struct gt_interval span, struct gt_interval previous) {
    return span.start_ns != previous.start_ns ? span.start_ns > previous.start_ns : span.end_ns <= previous.end_ns;
}

static bool count_spans(struct sorting *sorting) {
    struct gt_timeline_ranges *ranges = sorting->ranges;
    for (uint32_t source = 0; source < source_count(ranges); source++) {
        sorting->row_of[source] = GT_NO_ROW;
        if (!is_drawn(ranges, source))
            continue;
        struct gt_timeline_range_row *row = find_row(sorting, source);
        if (!row)
            return false;
        struct gt_interval span = interval_of(ranges, source);
        row->is_unsorted |= row->spans.count && !is_after(span, row->previous);
        row->previous = span;
        row->spans.count++;
        sorting->row_of[source] = (uint32_t)(row - ranges->rows);
    }
    return true;
}

static bool place_spans(struct sorting *sorting) {
    struct gt_timeline_ranges *ranges = sorting->ranges;
    size_t span_count = 0;
    for (size_t r = 0; r < ranges->row_count; r++) {
        ranges->rows[r].spans.first = span_count;
        span_count += ranges->rows[r].spans.count;
        ranges->rows[r].spans.count = 0;
    }
    ranges->spans = gt_mem_alloc(span_count * sizeof *ranges->spans);
    for (uint32_t source = 0; source < source_count(ranges) && ranges->spans; source++)
        if (sorting->row_of[source] != GT_NO_ROW) {
            struct gt_span_row *row = &ranges->rows[sorting->row_of[source]].spans;
            ranges->spans[row->first + row->count++] = source;
        }
    return ranges->spans != NULL;
}

/* Programs mostly put their ranges onto the GPU in the order in which they write them down. */
static bool sort_spans(struct gt_timeline_ranges *ranges) {
    struct sorting sorting = {.ranges = ranges};
    sorting.row_of = gt_mem_alloc(source_count(ranges) * sizeof *sorting.row_of);
    bool ok = sorting.row_of && count_spans(&sorting) && place_spans(&sorting);
    gt_map_release(&sorting.ids);
    gt_mem_free(sorting.row_of);
    for (size_t r = 0; r < ranges->row_count && ok; r++)
        if (ranges->rows[r].is_unsorted)
            ok = gt_spans_sort_by(ranges->spans + ranges->rows[r].spans.first, ranges->rows[r].spans.count, interval_of,
                                  ranges);
    return ok;
}

static void measure_row(const struct gt_timeline_ranges *ranges, struct gt_timeline_range_row *row) {
    int64_t reached_ns = INT64_MIN;
    for (size_t i = row->spans.first; i < row->spans.first + row->spans.count; i++) {
        struct gt_interval span = interval_of(ranges, ranges->spans[i]);
        int64_t from_ns = span.start_ns > reached_ns ? span.start_ns : reached_ns;
        if (span.end_ns > from_ns)
            row->busy_ns = gt_ns_add(row->busy_ns, gt_ns_between(from_ns, span.end_ns));
        reached_ns = span.end_ns > reached_ns ? span.end_ns : reached_ns;
    }
}

/* Between rows like each other, the one that begins first. */
static int by_busy(const void *a, const void *b, void *context) {
    const struct gt_timeline_range_row *x = a, *y = b;
    const struct gt_timeline_ranges *ranges = context;
    if (x->busy_ns != y->busy_ns)
        return x->busy_ns > y->busy_ns ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    uint32_t x_source = ranges->spans[x->spans.first], y_source = ranges->spans[y->spans.first];
    struct gt_interval x_span = interval_of(ranges, x_source), y_span = interval_of(ranges, y_source);
    if (x_span.start_ns != y_span.start_ns)
        return x_span.start_ns < y_span.start_ns ? -1 : 1;
    if (x_span.end_ns != y_span.end_ns)
        return x_span.end_ns > y_span.end_ns ? -1 : 1;
    return (x_source > y_source) - (x_source < y_source);
}

static int by_place(const void *a, const void *b) {
    const struct gt_timeline_range_row *x = a, *y = b;
    if (x->is_stream != y->is_stream)
        return x->is_stream ? 1 : -1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    return (x->level > y->level) - (x->level < y->level);
}

static void keep_rows(struct gt_timeline_ranges *ranges, size_t most) {
    if (ranges->row_count > most) {
        for (size_t r = 0; r < ranges->row_count; r++)
            measure_row(ranges, &ranges->rows[r]);
        qsort_r(ranges->rows, ranges->row_count, sizeof *ranges->rows, by_busy, ranges);
        ranges->rows_left_out = ranges->row_count - most;
        ranges->row_count = most;
    }
    if (ranges->row_count)
        qsort(ranges->rows, ranges->row_count, sizeof *ranges->rows, by_place);
}

enum gt_status gt_timeline_ranges_init(struct gt_timeline_ranges *ranges, const struct gt_view *view, size_t most,
                                       struct gt_error *err) {
    *ranges = (struct gt_timeline_ranges){.view = view, .is_projected = gt_range_projected_applies(view)};
    if (!ranges->is_projected) {
        ranges->set = gt_results_ranges(view, err);
        if (!ranges->set)
            return err->code;
    }
    if (!sort_spans(ranges)) {
        gt_timeline_ranges_release(ranges);
        return gt_fail_memory(err);
    }
    keep_rows(ranges, most);
    return GT_OK;
}

void gt_timeline_ranges_release(struct gt_timeline_ranges *ranges) {
    gt_mem_free(ranges->spans);
    gt_mem_free(ranges->rows);
    *ranges = (struct gt_timeline_ranges){0};
}
