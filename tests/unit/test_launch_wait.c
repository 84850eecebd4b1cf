/* What threads did in spans of their time: sweeps, calls and code against a look at every nanosecond. */
#include "measure_world.h"

#include "events/builder.h"
#include "measure/results/launch_wait.h"

enum { SEEDS = 300, MOST = 64, THREADS = 3, ROUNDS = 2, END = 150, ROWS = 40 };

/* What was reported about each span. */
struct reported {
    bool is_most[MOST];
    gt_strid name[MOST];
    size_t count[MOST];
};

static void note(void *context, uint32_t span, const struct gt_host_span_part *part) {
    struct reported *reported = context;
    reported->is_most[span] = part->is_most;
    reported->name[span] = part->name;
    reported->count[span]++;
}

/* Spans of a few threads, twice from the beginning, as devices have them; some overlap the one before. */
struct random_spans {
    struct gt_host_spans set;
    uint32_t thread[MOST];
};

static void make_spans(struct random_spans *it, uint64_t *random) {
    assert_true(gt_host_spans_init(&it->set, MOST, THREADS));
    int rounds = random_below(random, 2) ? ROUNDS : 1;
    for (int round = 0; round < rounds; round++) {
        int64_t now = 0;
        gt_host_spans_rewind(&it->set);
        while (now < END - 20 && it->set.count < MOST) {
            int64_t start = now + random_between(random, random_below(random, 8) || now < 3 ? 0 : -3, 9);
            int64_t end = start + random_between(random, 1, 12);
            uint32_t thread = (uint32_t)random_below(random, THREADS);
            it->thread[it->set.count] = thread;
            assert_true(gt_host_spans_add(&it->set, thread, start, end, (uint32_t)it->set.count));
            now = end;
        }
    }
}

/* ---- sweeps ---- */

/* Intervals one after the other; the first of the largest parts gives the name. */
static void check_sweep(uint64_t seed) {
    uint64_t random = seed;
    struct random_spans it;
    struct gt_host_spans_sweep sweep;
    struct reported reported = {0};
    const struct gt_host_spans_sweep how = {.wants_names = true, .report = note, .context = &reported};
    int64_t starts[THREADS][ROWS], ends[THREADS][ROWS];
    make_spans(&it, &random);
    assert_true(gt_host_spans_sweep_init(&sweep, &it.set, &how));
    for (uint32_t thread = 0; thread < THREADS; thread++)
        for (int64_t i = 0, now = 0; i < ROWS; i++) {
            starts[thread][i] = now + random_between(&random, 0, 4);
            now = ends[thread][i] = starts[thread][i] + random_between(&random, 1, 6);
            if (gt_host_spans_has(&it.set, thread))
                gt_host_spans_sweep_take(&sweep, thread, starts[thread][i], now, (gt_strid)i + 1);
        }
    gt_host_spans_sweep_finish(&sweep);
    for (size_t s = 0; s < it.set.count; s++) {
        const struct gt_host_span *span = &it.set.items[s];
        int64_t covered = 0, largest = 0;
        gt_strid name = GT_STRID_EMPTY;
        for (size_t i = 0; i < ROWS; i++) {
            int64_t part = 0, row_start = starts[it.thread[s]][i], row_end = ends[it.thread[s]][i];
            for (int64_t now = span->start_ns; now < span->end_ns; now++)
                part += row_start <= now && now < row_end;
            covered += part;
            if (part > largest) {
                largest = part;
                name = (gt_strid)i + 1;
            }
        }
        assert_int_equal(reported.count[s], 1);
        assert_int_equal(reported.is_most[s], 2 * covered > span->end_ns - span->start_ns);
        assert_int_equal(reported.name[s], name);
    }
    gt_host_spans_sweep_release(&sweep);
    gt_host_spans_release(&it.set);
}

static void test_sweeps(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        check_sweep(seed);
}

/* From the first instant to the last: lengths exceed 63 bits, what is inside does not get lost. */
static void test_extreme_times(void **state) {
    (void)state;
    struct gt_host_spans set;
    struct gt_host_spans_sweep sweep;
    struct reported reported = {0};
    const struct gt_host_spans_sweep how = {.wants_names = true, .report = note, .context = &reported};
    assert_true(gt_host_spans_init(&set, 2, 1));
    assert_true(gt_host_spans_add(&set, 0, INT64_MIN, INT64_MAX, 0));
    gt_host_spans_rewind(&set);
    assert_true(gt_host_spans_add(&set, 0, -20, 5, 1));
    assert_true(gt_host_spans_sweep_init(&sweep, &set, &how));
    gt_host_spans_sweep_take(&sweep, 0, INT64_MIN, -10, 1);
    gt_host_spans_sweep_take(&sweep, 0, 0, 10, 2);
    gt_host_spans_sweep_finish(&sweep);
    assert_true(reported.is_most[0] && reported.name[0] == 1);
    assert_true(reported.is_most[1] && reported.name[1] == 1);
    gt_host_spans_sweep_release(&sweep);
    gt_host_spans_release(&set);
}

/* ---- calls and code of a trace ---- */

/* Rows as they were added, for the look at every nanosecond. */
struct rows {
    int64_t start[ROWS], end[ROWS];
    uint32_t thread[ROWS];
    gt_strid name[ROWS];
    size_t count;
};

static void add_row(struct rows *rows, uint64_t *random, bool is_in_order, gt_strid name) {
    size_t i = rows->count++;
    rows->start[i] = is_in_order ? (int64_t)i * (END - 20) / ROWS : random_between(random, 0, END - 20);
    rows->end[i] = rows->start[i] + random_between(random, 0, 15);
    rows->thread[i] = (uint32_t)random_below(random, THREADS);
    rows->name[i] = name;
}

static bool is_covered(const struct rows *rows, uint32_t thread, int64_t now, gt_strid name) {
    for (size_t i = 0; i < rows->count; i++)
        if (rows->thread[i] == thread && rows->start[i] <= now && now < rows->end[i] &&
            (name == GT_STRID_EMPTY || rows->name[i] == name))
            return true;
    return false;
}

static bool is_mostly_covered(const struct rows *rows, const struct gt_host_span *span, uint32_t thread,
                              gt_strid name) {
    int64_t covered = 0;
    for (int64_t now = span->start_ns; now < span->end_ns; now++)
        covered += is_covered(rows, thread, now, name);
    return 2 * covered > span->end_ns - span->start_ns;
}

static void make_threads(struct world *world) {
    uint32_t process = gt_builder_process(&world->builder, 1, GT_STR(""));
    for (int64_t tid = 0; tid < THREADS; tid++)
        assert_int_equal(gt_builder_thread(&world->builder, process, tid, GT_STR("")), tid);
}

struct reported_calls {
    struct reported calls, waits;
};

static void note_calls(void *context, uint32_t span, const struct gt_host_span_part *part) {
    note(&((struct reported_calls *)context)->calls, span, part);
}

static void note_waits(void *context, uint32_t span, const struct gt_host_span_part *part) {
    note(&((struct reported_calls *)context)->waits, span, part);
}

/* Calls of odd seeds are in order, those of even ones are not. */
static void check_calls(uint64_t seed) {
    struct world world;
    struct random_spans it;
    struct rows rows = {0};
    struct reported_calls reported = {0};
    world_begin(&world, seed);
    make_threads(&world);
    gt_strid wait = world_text(&world, "cudaStreamSynchronize"), other = world_text(&world, "cudaMalloc");
    for (size_t i = 0; i < ROWS; i++) {
        add_row(&rows, &world.random, seed % 2, random_below(&world.random, 3) ? wait : other);
        gt_builder_call(&world.builder, &(struct gt_calls_row){rows.start[i], rows.end[i], GT_NO_CORRELATION,
                                                               rows.name[i], rows.thread[i]});
    }
    world_seal(&world);
    make_spans(&it, &world.random);
    const struct gt_view view = {.store = world.store, .labels = world.labels};
    assert_true(gt_launch_wait_calls(&view, &it.set, false, note_calls, &reported));
    assert_true(gt_launch_wait_calls(&view, &it.set, true, note_waits, &reported));
    for (size_t s = 0; s < it.set.count; s++) {
        const struct gt_host_span *span = &it.set.items[s];
        assert_true(reported.calls.count[s] >= 1 && reported.waits.count[s] >= 1);
        assert_int_equal(reported.calls.is_most[s], is_mostly_covered(&rows, span, it.thread[s], GT_STRID_EMPTY));
        assert_int_equal(reported.waits.is_most[s], is_mostly_covered(&rows, span, it.thread[s], wait));
    }
    gt_host_spans_release(&it.set);
    world_end(&world);
}

static void test_calls(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        check_calls(seed);
}

/* The row of a thread that comes after another in order of start, longer first, ranges before operators; ROWS: none.
   `taken` are those before it. */
static size_t next_row(const struct rows *rows, uint32_t thread, const bool *taken) {
    size_t best = ROWS;
    for (size_t i = 0; i < rows->count; i++) {
        if (taken[i] || rows->thread[i] != thread || rows->end[i] <= rows->start[i])
            continue;
        if (best == ROWS || rows->start[i] < rows->start[best] ||
            (rows->start[i] == rows->start[best] && rows->end[i] > rows->end[best]))
            best = i;
    }
    return best;
}

/* The name of the code with the largest part; what begins inside the code before it counts from the end of that. */
static gt_strid largest_code(const struct rows *rows, const struct gt_host_span *span, uint32_t thread) {
    bool taken[ROWS] = {0};
    int64_t reached = INT64_MIN, largest = 0;
    gt_strid name = GT_STRID_EMPTY;
    for (size_t i; (i = next_row(rows, thread, taken)) != ROWS; taken[i] = true) {
        int64_t part = 0;
        for (int64_t now = span->start_ns; now < span->end_ns; now++)
            part += now >= reached && rows->start[i] <= now && now < rows->end[i];
        reached = rows->end[i] > reached ? rows->end[i] : reached;
        if (part > largest) {
            largest = part;
            name = rows->name[i];
        }
    }
    return name;
}

/* Ranges come first in `rows`: more of them or fewer than operators, in order or not. */
static void check_code(uint64_t seed) {
    struct world world;
    struct random_spans it;
    struct rows rows = {0};
    struct reported reported = {0};
    size_t range_count = seed % 3 * (ROWS / 2);
    world_begin(&world, seed);
    make_threads(&world);
    for (size_t i = 0; i < ROWS; i++) {
        char text[16];
        snprintf(text, sizeof text, "code %zu", i);
        add_row(&rows, &world.random, seed % 2, world_text(&world, text));
        if (i < range_count)
            gt_builder_range(&world.builder, &(struct gt_ranges_row){.start_ns = rows.start[i],
                                                                     .end_ns = rows.end[i],
                                                                     .name = rows.name[i],
                                                                     .thread = rows.thread[i],
                                                                     .end_thread = GT_NO_TRACK,
                                                                     .lane = GT_NO_TRACK,
                                                                     .kind = GT_RANGE_NESTED});
        else
            gt_builder_cpu_op(&world.builder,
                              &(struct gt_cpu_ops_row){rows.start[i], rows.end[i], rows.name[i], rows.thread[i]});
    }
    world_seal(&world);
    make_spans(&it, &world.random);
    const struct gt_view view = {.store = world.store, .labels = world.labels};
    assert_int_equal(world.labels->step_count, 0);
    assert_true(gt_launch_wait_code(&view, &it.set, note, &reported));
    for (size_t s = 0; s < it.set.count; s++) {
        const struct gt_host_span *span = &it.set.items[s];
        assert_true(reported.count[s] >= 1);
        assert_int_equal(reported.is_most[s], is_mostly_covered(&rows, span, it.thread[s], GT_STRID_EMPTY));
        assert_int_equal(reported.name[s], largest_code(&rows, span, it.thread[s]));
    }
    gt_host_spans_release(&it.set);
    world_end(&world);
}

static void test_code(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        check_code(seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweeps),
        cmocka_unit_test(test_extreme_times),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
