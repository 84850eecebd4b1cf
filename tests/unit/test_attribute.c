/* Ranges of ops: against a plain search through all ranges, on random traces and on shapes that are easy to get wrong.
 */
#include <stdlib.h>

#include "random.h"
#include "small_trace.h"

/* ---- the plain way ---- */

static bool is_on_track(const struct gt_store *store, uint32_t range, uint32_t thread, uint32_t lane) {
    const struct gt_ranges *ranges = &store->ranges;
    if (ranges->kind[range] == GT_RANGE_MARK || ranges->end_thread[range] != GT_NO_TRACK)
        return false;
    if (thread != GT_NO_TRACK)
        return ranges->kind[range] != GT_RANGE_GPU && ranges->thread[range] == thread;
    return ranges->kind[range] == GT_RANGE_GPU && ranges->lane[range] == lane;
}

/* Whether a is further inside than b: later start, then earlier end, then later row. */
static bool is_inner(const struct gt_ranges *ranges, uint32_t a, uint32_t b) {
    if (ranges->start_ns[a] != ranges->start_ns[b])
        return ranges->start_ns[a] > ranges->start_ns[b];
    if (ranges->end_ns[a] != ranges->end_ns[b])
        return ranges->end_ns[a] < ranges->end_ns[b];
    return a > b;
}

/* The innermost range around [start, end] of those further out than `below` (GT_NO_ROW: of all). */
static uint32_t plain_around(const struct gt_store *store, uint32_t thread, uint32_t lane, int64_t start_ns,
                             int64_t end_ns, uint32_t below) {
    const struct gt_ranges *ranges = &store->ranges;
    uint32_t best = GT_NO_ROW;
    for (uint32_t range = 0; range < ranges->count; range++) {
        if (!is_on_track(store, range, thread, lane) || ranges->start_ns[range] > start_ns ||
            ranges->end_ns[range] < end_ns || (below != GT_NO_ROW && !is_inner(ranges, below, range)))
            continue;
        if (best == GT_NO_ROW || is_inner(ranges, range, best))
            best = range;
    }
    return best;
}

static void assert_op(const struct small_trace *trace, uint32_t op) {
    const struct gt_store *store = trace->store;
    uint32_t call = trace->labels->op_call[op], thread = GT_NO_TRACK, lane = store->ops.lane[op];
    int64_t start_ns = store->ops.start_ns[op], end_ns = store->ops.end_ns[op];
    if (call != GT_NO_ROW) {
        thread = store->calls.thread[call];
        start_ns = store->calls.start_ns[call];
        end_ns = store->calls.end_ns[call];
        lane = GT_NO_TRACK;
    }
    int64_t reach_ns = gt_labels_op_reach(trace->labels, store, op);
    uint32_t range = trace->labels->op_range[op], expected = GT_NO_ROW;
    do {
        expected = plain_around(store, thread, lane, start_ns, end_ns, expected);
        if (range != expected)
            fail_msg("op %u has range %u where %u belongs", op, range, expected);
        if (range != GT_NO_ROW)
            range = gt_labels_next_range(trace->labels, store, range, reach_ns);
    } while (expected != GT_NO_ROW);
}

static void assert_tree(const struct small_trace *trace) {
    const struct gt_ranges *ranges = &trace->store->ranges;
    for (uint32_t range = 0; range < ranges->count; range++) {
        bool is_gpu = ranges->kind[range] == GT_RANGE_GPU;
        uint32_t thread = is_gpu ? GT_NO_TRACK : ranges->thread[range];
        uint32_t parent = GT_NO_ROW;
        if (is_on_track(trace->store, range, thread, ranges->lane[range]))
            parent = plain_around(trace->store, thread, ranges->lane[range], ranges->start_ns[range],
                                  ranges->end_ns[range], range);
        assert_int_equal(trace->labels->range_parent[range], parent);
        uint32_t level = parent == GT_NO_ROW ? 0 : trace->labels->range_level[parent] + 1;
        assert_int_equal(trace->labels->range_level[range], level);
    }
}

static void assert_all(const struct small_trace *trace) {
    for (uint32_t op = 0; op < trace->store->ops.count; op++)
        assert_op(trace, op);
    assert_tree(trace);
}

/* ---- random traces ---- */

struct mix {
    uint64_t range_count, op_count;
    int64_t length_ns;   /* of the trace: short ones have many equal times */
    int64_t longest_ns;  /* range */
    uint64_t odd_share;  /* one in so many ranges is a mark, ends elsewhere or is on the GPU; 0: none */
    bool has_many_calls; /* else one in three ops has no launch call */
};

static void add_random_range(struct small_trace *trace, uint64_t *random, const struct mix *mix) {
    struct gt_builder *builder = &trace->builder;
    int64_t start_ns = random_between(random, 0, mix->length_ns);
    uint32_t process = process_of(trace, 10);
    struct gt_ranges_row row = {
        .start_ns = start_ns,
        .end_ns = start_ns + random_between(random, 0, mix->longest_ns),
        .name = gt_builder_string(builder, GT_STR("r")),
        .thread = gt_builder_thread(builder, process, random_between(random, 1, 3), GT_STR("")),
        .end_thread = GT_NO_TRACK,
        .lane = GT_NO_TRACK,
        .kind = random_below(random, 2) ? GT_RANGE_NESTED : GT_RANGE_START_END,
    };
    if (mix->odd_share && random_below(random, mix->odd_share) == 0) {
        uint64_t odd = random_below(random, 3);
        if (odd == 0) {
            row.kind = GT_RANGE_MARK;
        } else if (odd == 1) {
            row.end_thread = gt_builder_thread(builder, process, 9, GT_STR(""));
        } else {
            row.kind = GT_RANGE_GPU;
            row.thread = GT_NO_TRACK;
            row.lane = gt_builder_lane(builder, GT_NO_TRACK, 0, random_between(random, 7, 8));
        }
    }
    gt_builder_range(builder, &row);
}

static void make_random(struct small_trace *trace, uint64_t *random, const struct mix *mix) {
    trace_begin(trace);
    for (uint64_t i = 0; i < mix->range_count; i++)
        add_random_range(trace, random, mix);
    for (uint64_t id = 1; id <= mix->op_count; id++) {
        int64_t start_ns = random_between(random, 0, mix->length_ns);
        if (mix->has_many_calls || random_below(random, 3))
            add_call(trace, 10, random_between(random, 1, 3), start_ns,
                     start_ns + random_between(random, 0, mix->longest_ns / 4), id);
        for (uint64_t node = random_below(random, 3); node < 3; node++) /* an op, or several of one graph */
            add_op(trace, NO_PID, 0, random_between(random, 7, 8), start_ns + random_between(random, 0, 9),
                   start_ns + random_between(random, 9, 12 + mix->longest_ns / 4), id, "k");
    }
    trace_end(trace);
}

static void random_traces(void **unused) {
    (void)unused;
    uint64_t random = 1;
    for (int run = 0; run < 3000; run++) {
        struct mix mix = {
            .range_count = random_below(&random, 40),
            .op_count = random_below(&random, 20),
            .length_ns = random_between(&random, 1, 120),
            .longest_ns = random_between(&random, 0, 80),
            .odd_share = random_below(&random, 2) * 4,
            .has_many_calls = random_below(&random, 2) != 0,
        };
        struct small_trace trace;
        make_random(&trace, &random, &mix);
        assert_all(&trace);
        trace_free(&trace);
    }
}

/* ---- shapes ---- */

static void touching_counts_as_enclosing(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_range(&trace, GT_RANGE_NESTED, 10, 1, 0, 100, "outer");  /* 0 */
    add_range(&trace, GT_RANGE_NESTED, 10, 1, 10, 50, "before"); /* 1 */
    add_range(&trace, GT_RANGE_NESTED, 10, 1, 50, 90, "after");  /* 2 */
    add_call(&trace, 10, 1, 10, 50, 1);                          /* fills range 1 */
    add_call(&trace, 10, 1, 50, 50, 2);                          /* at the border: both reach it, 2 began later */
    add_call(&trace, 10, 1, 49, 51, 3);                          /* across the border */
    add_call(&trace, 10, 1, 95, 101, 4);                         /* longer than everything */
    for (uint64_t id = 1; id <= 4; id++)
        add_op(&trace, 10, 0, 7, 200, 210, id, "k");
    trace_end(&trace);
    assert_int_equal(trace.labels->op_range[0], 1);
    assert_int_equal(trace.labels->op_range[1], 2);
    assert_int_equal(gt_labels_next_range(trace.labels, trace.store, 2, 50), 1);
    assert_int_equal(gt_labels_next_range(trace.labels, trace.store, 2, 51), 0);
    assert_int_equal(trace.labels->op_range[2], 0);
    assert_int_equal(trace.labels->op_range[3], GT_NO_ROW);
    assert_all(&trace);
    trace_free(&trace);
}

static void equal_ranges_nest_by_row(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    for (int i = 0; i < 3; i++)
        add_range(&trace, GT_RANGE_NESTED, 10, 1, 5, 9, "twin");
    add_call(&trace, 10, 1, 6, 7, 1);
    add_op(&trace, 10, 0, 7, 8, 9, 1, "k");
    trace_end(&trace);
    assert_int_equal(trace.labels->op_range[0], 2);
    assert_int_equal(trace.labels->range_parent[2], 1);
    assert_int_equal(trace.labels->range_parent[1], 0);
    assert_int_equal(trace.labels->range_level[2], 2);
    assert_all(&trace);
    trace_free(&trace);
}

/* A GPU-side annotation holds only what has no launch call, and only on its own stream. */
static void the_gpu_side_replaces_lost_calls(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_range(&trace, GT_RANGE_GPU, NO_PID, 7, 100, 200, "forward"); /* 0, on stream 7 */
    add_call(&trace, 10, 1, 50, 51, 1);
    add_op(&trace, NO_PID, 0, 7, 110, 120, 1, "has a call outside all ranges");
    add_op(&trace, NO_PID, 0, 7, 120, 200, 2, "inside");
    add_op(&trace, NO_PID, 0, 7, 190, 201, 3, "across the end");
    add_op(&trace, NO_PID, 0, 8, 120, 130, 4, "on another stream");
    trace_end(&trace);
    assert_int_equal(trace.labels->op_range[0], GT_NO_ROW);
    assert_int_equal(trace.labels->op_range[1], 0);
    assert_int_equal(trace.labels->op_range[2], GT_NO_ROW);
    assert_int_equal(trace.labels->op_range[3], GT_NO_ROW);
    trace_free(&trace);
}

static void extreme_times(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_range(&trace, GT_RANGE_NESTED, 10, 1, INT64_MIN, INT64_MAX, "all");
    add_range(&trace, GT_RANGE_NESTED, 10, 1, INT64_MAX, INT64_MAX, "end");
    add_call(&trace, 10, 1, INT64_MAX, INT64_MAX, 1);
    add_call(&trace, 10, 1, INT64_MIN, INT64_MIN, 2);
    add_op(&trace, 10, 0, 7, INT64_MAX, INT64_MAX, 1, "k");
    add_op(&trace, 10, 0, 7, INT64_MIN, INT64_MAX, 2, "k");
    trace_end(&trace);
    assert_int_equal(trace.labels->op_range[0], 1);
    assert_int_equal(trace.labels->op_range[1], 0);
    assert_all(&trace);
    trace_free(&trace);
}

/* Ranges in a deep stack that end one by one inside long calls: to climb it step by step for every call would take
   longer than anyone waits. */
static void deep_stacks_are_climbed_fast(void **unused) {
    (void)unused;
    enum { DEPTH = 300000 };
    struct small_trace trace;
    trace_begin(&trace);
    for (int64_t i = 0; i < DEPTH; i++)
        add_range(&trace, GT_RANGE_START_END, 10, 1, i, 3 * DEPTH - i, "r");
    for (int64_t i = 0; i < DEPTH; i++)
        add_call(&trace, 10, 1, DEPTH + i % 7, 3 * DEPTH - i % 11, (uint64_t)i + 1);
    for (int64_t i = 0; i < DEPTH; i++)
        add_op(&trace, 10, 0, 7, 4 * DEPTH, 4 * DEPTH + 1, (uint64_t)i + 1, "k");
    trace_end(&trace);
    for (int64_t i = 0; i < DEPTH; i++)
        assert_int_equal(trace.labels->op_range[i], i % 11);
    assert_int_equal(trace.labels->range_level[DEPTH - 1], DEPTH - 1);
    trace_free(&trace);
}

/* Long enough that trees grow a piece of the file at a time; the last range of a thread is out of order. */
static void threads_take_turns(void **unused) {
    (void)unused;
    enum { THREADS = 3, PER_THREAD = 20000, PER_TREE = 4, LAST = THREADS * PER_THREAD };
    struct small_trace trace;
    trace_begin(&trace);
    for (int64_t i = 0; i < LAST; i++) {
        int64_t place = i / THREADS, is_root = place % PER_TREE == 0;
        int64_t end_ns = 40 * (is_root ? place + PER_TREE : place) + (is_root ? -1 : 30);
        add_range(&trace, GT_RANGE_NESTED, 10, 1 + i % THREADS, 40 * place, end_ns, "r");
    }
    add_range(&trace, GT_RANGE_NESTED, 10, THREADS, 0, 40 * PER_THREAD, "r");
    trace_end(&trace);
    for (uint32_t i = 0; i < LAST; i++) {
        uint32_t depth = i / THREADS % PER_TREE, root = i - depth * THREADS;
        uint32_t above = i % THREADS == THREADS - 1 ? LAST : GT_NO_ROW;
        assert_int_equal(trace.labels->range_parent[i], depth ? root : above);
        assert_int_equal(trace.labels->range_level[i], (depth != 0) + (above == LAST));
    }
    assert_int_equal(trace.labels->range_parent[LAST], GT_NO_ROW);
    trace_free(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_traces),
        cmocka_unit_test(touching_counts_as_enclosing),
        cmocka_unit_test(equal_ranges_nest_by_row),
        cmocka_unit_test(the_gpu_side_replaces_lost_calls),
        cmocka_unit_test(extreme_times),
        cmocka_unit_test(deep_stacks_are_climbed_fast),
        cmocka_unit_test(threads_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
