/* Sorts ranges into rows of a timeline: in come what ranges launched, or projections; out go spans row by row. */
#include "measure/timeline_ranges.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "measure/measure.h"
#include "measure/range_projected.h"
#include "measure/shared.h"

/* ---- single ranges, of either table ---- */

static size_t source_count(const struct gt_timeline_ranges *ranges) {
    const struct gt_store *store = ranges->view->store;
    return ranges->is_projected ? store->projections.count : store->ranges.count;
}

/* A projection cannot be cut to a part of its ops. */
static bool is_drawn(const struct gt_timeline_ranges *ranges, uint32_t row) {
    return ranges->is_projected ? ranges->view->is_whole : ranges->set->uses[row].ops > 0;
}

static struct gt_interval interval_of(const struct gt_timeline_ranges *ranges, uint32_t row) {
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

static int64_t untold_if_null(struct gt_cell cell) {
    return cell.type == GPUTIME_CELL_INT ? cell.integer : GT_TIMELINE_UNTOLD;
}

static void name_place(const struct gt_view *view, struct gt_timeline_range_row *row) {
    const struct gt_store *store = view->store;
    bool is_known = row->track != GT_NO_TRACK;
    uint32_t process = !is_known        ? GT_NO_TRACK
                       : row->is_stream ? store->lanes.process[row->track]
                                        : store->threads.process[row->track];
    row->pid = untold_if_null(gt_cell_pid(view, process));
    row->tid = row->is_stream ? GT_TIMELINE_UNTOLD : untold_if_null(gt_cell_tid(store, row->track));
}

struct gt_interval gt_timeline_ranges_interval(const struct gt_timeline_ranges *ranges, size_t span) {
    return interval_of(ranges, ranges->spans[span].value);
}

gt_strid gt_timeline_ranges_name(const struct gt_timeline_ranges *ranges, size_t span) {
    const struct gt_store *store = ranges->view->store;
    uint32_t row = ranges->spans[span].value;
    return ranges->is_projected ? store->projections.name[row] : store->ranges.name[row];
}

/* ---- rows ---- */

/* Makes a row for every place that has ranges; keys of the spans become row numbers. */
static bool find_rows(struct gt_timeline_ranges *ranges) {
    struct gt_map ids = {0};
    size_t capacity = 0;
    bool ok = true;
    for (size_t i = 0; i < ranges->span_count && ok; i++) {
        struct gt_timeline_range_row place = place_of(ranges, ranges->spans[i].value);
        uint32_t next = (uint32_t)ranges->row_count;
        uint32_t row = gt_map_put_if_new(&ids, (uint64_t)place.is_stream << 32 | place.track, place.level, next);
        if (row == next && ranges->row_count == capacity) {
            capacity = capacity ? capacity * 2 : 64;
            void *grown = gt_realloc(ranges->rows, capacity * sizeof *ranges->rows);
            ranges->rows = grown ? grown : ranges->rows;
            ok = grown != NULL;
        }
        ok = ok && !ids.failed;
        if (ok && row == next) {
            name_place(ranges->view, &place);
            ranges->rows[ranges->row_count++] = place;
        }
        ranges->spans[i].key = row;
    }
    gt_map_release(&ids);
    return ok;
}

/* Spans are in order of rows now. */
static void measure_rows(struct gt_timeline_ranges *ranges) {
    for (size_t i = 0; i < ranges->span_count;) {
        struct gt_timeline_range_row *row = &ranges->rows[ranges->spans[i].key];
        int64_t reached_ns = INT64_MIN;
        row->spans.first = i;
        for (; i < ranges->span_count && &ranges->rows[ranges->spans[i].key] == row; i++) {
            struct gt_interval span = gt_timeline_ranges_interval(ranges, i);
            int64_t from_ns = span.start_ns > reached_ns ? span.start_ns : reached_ns;
            if (span.end_ns > from_ns)
                row->busy_ns = gt_ns_add(row->busy_ns, gt_ns_between(from_ns, span.end_ns));
            reached_ns = span.end_ns > reached_ns ? span.end_ns : reached_ns;
        }
        row->spans.count = i - row->spans.first;
    }
}

static int by_busy(const void *a, const void *b) {
    const struct gt_timeline_range_row *x = a, *y = b;
    if (x->busy_ns != y->busy_ns)
        return x->busy_ns > y->busy_ns ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return (x->spans.first > y->spans.first) - (x->spans.first < y->spans.first);
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
        qsort(ranges->rows, ranges->row_count, sizeof *ranges->rows, by_busy);
        ranges->rows_left_out = ranges->row_count - most;
        ranges->row_count = most;
    }
    if (ranges->row_count)
        qsort(ranges->rows, ranges->row_count, sizeof *ranges->rows, by_place);
}

/* By row, start, longer first, place in the file: one stable sort for each, the last key first. */
static bool sort_spans(struct gt_timeline_ranges *ranges) {
    struct gt_radix_item *spans = ranges->spans;
    for (uint32_t row = 0; row < source_count(ranges); row++)
        if (is_drawn(ranges, row)) {
            struct gt_interval span = interval_of(ranges, row);
            spans[ranges->span_count++] =
                (struct gt_radix_item){~gt_radix_key(gt_ns_between(span.start_ns, span.end_ns)), row};
        }
    if (!gt_radix_sort(spans, ranges->span_count))
        return false;
    for (size_t i = 0; i < ranges->span_count; i++)
        spans[i].key = gt_radix_key(interval_of(ranges, spans[i].value).start_ns);
    return gt_radix_sort(spans, ranges->span_count) && find_rows(ranges) && gt_radix_sort(spans, ranges->span_count);
}

enum gt_status gt_timeline_ranges_init(struct gt_timeline_ranges *ranges, const struct gt_view *view, size_t most,
                                       struct gt_error *err) {
    *ranges = (struct gt_timeline_ranges){.view = view, .is_projected = gt_range_projected_applies(view)};
    if (!ranges->is_projected) {
        ranges->set = gt_shared_ranges(view, err);
        if (!ranges->set)
            return err->code;
    }
    ranges->spans = gt_alloc_array(source_count(ranges), sizeof *ranges->spans);
    if (!ranges->spans || !sort_spans(ranges)) {
        gt_timeline_ranges_release(ranges);
        return gt_fail_memory(err);
    }
    measure_rows(ranges);
    keep_rows(ranges, most);
    return GT_OK;
}

void gt_timeline_ranges_release(struct gt_timeline_ranges *ranges) {
    gt_free(ranges->spans);
    gt_free(ranges->rows);
    *ranges = (struct gt_timeline_ranges){0};
}
