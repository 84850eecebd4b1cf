/* Streams: for each stream its ops, busy time and the gaps between its ops. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"
#include "measure/results/stream_walk.h"
#include "report/row.h"

struct stream {
    size_t device; /* index into view->devices */
    size_t lane;   /* index into view->lanes */
    int64_t busy_ns, gap_ns;
    size_t gap_count;
};

static const struct gt_report_column columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"stream", "Stream", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"count", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"busy_ns", "Busy", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"busy_share", "Busy share", GT_UNIT_SHARE, "span of the GPU", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
    {"gap_count", "Gaps", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"gap_ns", "Gap time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
};

static void measure_streams(const struct gt_view *view, const struct gt_gap_bounds *bounds, struct stream *streams) {
    size_t device = 0;
    for (size_t i = 0; i < view->lane_count; i++) {
        /* Lanes and devices are both in the order of device ids. */
        while (view->devices[device].device != view->store->lanes.device[view->lanes[i].lane])
            device++;
        streams[i] =
            (struct stream){.device = device, .lane = i, .busy_ns = gt_view_lane_busy_ns(view, &view->lanes[i])};
    }
    struct gt_stream_gap gap;
    for (struct gt_stream_walk walk = {.view = view, .bounds = bounds}; gt_stream_walk_next(&walk, &gap);) {
        streams[gap.lane].gap_count++;
        streams[gap.lane].gap_ns = gt_ns_add(streams[gap.lane].gap_ns, gap.gap_ns);
    }
}

/* By device, the busiest first; equal ones stay in the order of processes and streams. */
static int by_busy(const void *a, const void *b) {
    const struct stream *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->busy_ns != y->busy_ns)
        return x->busy_ns > y->busy_ns ? -1 : 1;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

static void add_row(const struct gt_view *view, struct gt_table *table, const struct stream *stream) {
    const struct gt_view_device *device = &view->devices[stream->device];
    const struct gt_view_lane *lane = &view->lanes[stream->lane];
    struct gt_row row = gt_row_begin(table);
    gt_row_int(&row, "device", device->id);
    gt_row_cell(&row, "pid", gt_measure_pid_cell(view, view->store->lanes.process[lane->lane]));
    gt_row_int(&row, "stream", view->store->lanes.stream[lane->lane]);
    gt_row_count(&row, "count", lane->count);
    gt_row_int(&row, "busy_ns", stream->busy_ns);
    gt_row_share(&row, "busy_share", (double)stream->busy_ns,
                 (double)gt_ns_between(device->span_start_ns, device->span_end_ns));
    gt_row_count(&row, "gap_count", stream->gap_count);
    gt_row_int(&row, "gap_ns", stream->gap_ns);
    gt_row_end(&row);
}

enum gt_status gt_streams_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct gt_gap_bounds bounds;
    if (gt_stream_walk_read_bounds(&bounds, view, err) != GT_OK)
        return err->code;
    if (!gt_measure_table_is_wanted(view, "streams"))
        return GT_OK;
    struct stream *streams = gt_mem_array(view->lane_count, sizeof *streams);
    if (!streams)
        return gt_fail_memory(err);
    measure_streams(view, &bounds, streams);
    qsort(streams, view->lane_count, sizeof *streams, by_busy);
    struct gt_table *table = gt_section_table(section, "streams", "Streams", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 20;
    for (size_t i = 0; i < view->lane_count; i++)
        add_row(view, table, &streams[i]);
    gt_mem_free(streams);
    return GT_OK;
}
