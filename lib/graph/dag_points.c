/* Events that the trace describes: in come waits whose stream and recording are known, out go points on streams and the
   edges that join them. Points are in their streams by the start of their calls, ops by their launch. */
#include <stdlib.h>

#include "base/mem.h"
#include "graph/dag_build.h"

struct place {
    int64_t time_ns; /* start of the call */
    uint32_t stream, point;
    uint32_t recording; /* of a wait: the point of what it waits for; GT_DAG_NONE: this is a recording */
};

struct points {
    struct gt_dag_build *build;
    struct gt_map recordings; /* stream and row of the call */
    struct place *places;
    size_t count, capacity;
};

static uint32_t add_place(struct points *points, const struct place *place) {
    struct gt_dag_build *build = points->build;
    struct place *room = gt_mem_room(points->places, points->count, &points->capacity, sizeof *room);
    struct gt_dag_point *more =
        gt_mem_room(build->points, build->point_count, &build->point_capacity, sizeof *build->points);
    points->places = room ? room : points->places;
    build->points = more ? more : build->points;
    build->failed |= !room || !more;
    if (build->failed)
        return GT_DAG_NONE;
    uint32_t point = (uint32_t)build->point_count;
    build->points[build->point_count++] = (struct gt_dag_point){.stream = place->stream};
    points->places[points->count] = *place;
    points->places[points->count++].point = point;
    return point;
}

/* One point for a recording, however many wait for it. */
static uint32_t recording_point(struct points *points, const struct gt_dag_recording *recording) {
    struct place place = {.time_ns = recording->time_ns, .stream = recording->stream, .recording = GT_DAG_NONE};
    if (recording->call == GT_NO_ROW)
        return add_place(points, &place);
    uint32_t known = gt_map_get(&points->recordings, recording->stream, recording->call);
    if (known != GT_MAP_NONE)
        return known;
    uint32_t point = add_place(points, &place);
    gt_map_put(&points->recordings, recording->stream, recording->call, point);
    points->build->failed |= points->recordings.failed;
    return point;
}

static void add_wait(struct points *points, uint32_t row) {
    struct gt_dag_build *build = points->build;
    const struct gt_store *store = build->store;
    uint32_t process = gt_labels_call_process(store, row);
    uint32_t sync = gt_dag_build_sync_row(build, process, store->calls.correlation[row]);
    if (sync == GT_NO_ROW || store->syncs.stream[sync] < 0)
        return;
    uint32_t stream = gt_dag_build_stream(build, process, store->syncs.device[sync], store->syncs.stream[sync]);
    struct gt_dag_recording recording = gt_dag_build_recording(build, process, sync, store->calls.start_ns[row]);
    if (stream == GT_DAG_NONE || recording.stream == GT_DAG_NONE)
        return;
    uint32_t point = recording_point(points, &recording);
    if (!build->failed)
        add_place(points, &(struct place){.time_ns = store->calls.start_ns[row], .stream = stream, .recording = point});
}

/* By stream and time, recordings first. */
static int by_stream(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    bool x_waits = x->recording != GT_DAG_NONE, y_waits = y->recording != GT_DAG_NONE;
    if (x_waits != y_waits)
        return x_waits ? 1 : -1;
    return (x->point > y->point) - (x->point < y->point);
}

/* The same over all streams: what a point depends on comes first. */
static int by_time(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    bool x_waits = x->recording != GT_DAG_NONE, y_waits = y->recording != GT_DAG_NONE;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x_waits != y_waits)
        return x_waits ? 1 : -1;
    return (x->point > y->point) - (x->point < y->point);
}

/* What comes before a point on its stream, and the op that comes after the last wait. */
struct before {
    uint32_t op, wait;
    uint32_t next_op; /* GT_DAG_NONE: another wait comes first, or nothing */
};

/* Merges the points of a stream with its ops, whose launch times are made to rise; an op comes first if equal. */
static void merge_stream(const struct gt_dag_build *build, const struct place *places, size_t count,
                         struct before *before) {
    const struct gt_dag_stream *stream = &build->streams[places[0].stream];
    const uint32_t *ops = build->stream_ops + stream->first;
    int64_t launch_ns = INT64_MIN;
    uint32_t op = GT_DAG_NONE, wait = GT_DAG_NONE;
    size_t next = 0;
    for (size_t i = 0; i <= count; i++) {
        for (; next < stream->count; next++) {
            int64_t own_ns = build->op_launch_ns[ops[next]];
            int64_t risen_ns = own_ns > launch_ns ? own_ns : launch_ns;
            if (i < count && risen_ns > places[i].time_ns)
                break;
            launch_ns = risen_ns;
            op = ops[next];
            if (wait != GT_DAG_NONE)
                before[wait].next_op = op;
            wait = GT_DAG_NONE;
        }
        if (i == count)
            break;
        before[places[i].point] = (struct before){op, wait, GT_DAG_NONE};
        if (places[i].recording != GT_DAG_NONE)
            wait = places[i].point;
    }
}

static void depend(struct gt_dag_build *build, uint32_t from, int64_t end_ns, uint32_t point) {
    struct gt_dag_point *to = &build->points[point];
    if (!to->is_kept || end_ns > to->time_ns)
        to->time_ns = end_ns;
    to->is_kept = true;
    gt_dag_build_edge(build, &(struct gt_dag_raw_edge){
                                 .from = from, .to = gt_dag_build_point_id(build, point), .kind = GT_DAG_EVENT});
}

static void depend_on_point(struct gt_dag_build *build, uint32_t from, uint32_t point) {
    if (build->points[from].is_kept)
        depend(build, gt_dag_build_point_id(build, from), build->points[from].time_ns, point);
}

/* In order of time, so that what a point depends on has its time; a recording after the wait for it is a clock's
   error. */
static void join_points(struct points *points, const struct before *before, bool *is_done) {
    struct gt_dag_build *build = points->build;
    for (size_t i = 0; i < points->count; i++) {
        const struct place *place = &points->places[i];
        const struct before *own = &before[place->point];
        if (place->recording != GT_DAG_NONE && is_done[place->recording])
            depend_on_point(build, place->recording, place->point);
        else if (place->recording != GT_DAG_NONE)
            build->dag->contradicting_count++;
        if (own->wait != GT_DAG_NONE)
            depend_on_point(build, own->wait, place->point);
        if (own->op != GT_DAG_NONE)
            depend(build, own->op, build->store->ops.end_ns[own->op], place->point);
        is_done[place->point] = true;
        if (build->points[place->point].is_kept && own->next_op != GT_DAG_NONE)
            gt_dag_build_edge(build, &(struct gt_dag_raw_edge){.from = gt_dag_build_point_id(build, place->point),
                                                               .to = own->next_op,
                                                               .kind = GT_DAG_EVENT});
    }
}

static void join(struct points *points) {
    struct gt_dag_build *build = points->build;
    struct before *before = gt_mem_array(build->point_count, sizeof *before);
    bool *is_done = gt_mem_array(build->point_count, sizeof *is_done);
    build->failed |= !before || !is_done;
    if (!build->failed) {
        qsort(points->places, points->count, sizeof *points->places, by_stream);
        for (size_t first = 0, last; first < points->count; first = last) {
            for (last = first; last < points->count && points->places[last].stream == points->places[first].stream;)
                last++;
            merge_stream(build, points->places + first, last - first, before);
        }
        qsort(points->places, points->count, sizeof *points->places, by_time);
        join_points(points, before, is_done);
    }
    gt_mem_free(before);
    gt_mem_free(is_done);
}

bool gt_dag_build_points(struct gt_dag_build *build) {
    const struct gt_calls *calls = &build->store->calls;
    struct points points = {.build = build};
    for (uint32_t i = 0; i < calls->count && build->store->syncs.count && !build->failed; i++)
        if (build->call_names[calls->name[i]].detail == GT_DAG_WAIT_EVENT && calls->thread[i] != GT_NO_TRACK)
            add_wait(&points, i);
    if (points.count && !build->failed)
        join(&points);
    gt_map_release(&points.recordings);
    gt_mem_free(points.places);
    return !build->failed;
}
