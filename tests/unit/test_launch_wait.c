/* What threads did in spans of their time: covers, calls and code against a look at every nanosecond. */
#include "measure_world.h"

#include "events/builder.h"
#include "measure/results/launch_wait.h"

enum { SEEDS = 300, MOST = 64, THREADS = 3, ROUNDS = 2, END = 150, ROWS = 80 };

/* What was reported about each span. */
struct reported {
    bool is_most[MOST];
    gt_strid name[MOST];
    size_t count[MOST];
};

static void note(void *context, uint32_t wait, const struct gt_cover_part *part) {
    struct reported *reported = context;
    reported->is_most[wait] = part->is_most;
    reported->name[wait] = part->name;
    reported->count[wait]++;
}

/* Spans of a few threads, twice from the beginning, as devices have them; some overlap the one before. */
struct random_spans {
    struct gt_cover_spans set;
};

/* Where those of each thread are, and whether they come one by one. */
static void find_threads(struct gt_cover_spans *set) {
    for (size_t i = 0; i < set->count; i++) {
        struct gt_cover_thread *thread = &set->threads[set->items[i].thread];
        thread->first = thread->end ? thread->first : i;
        thread->end = i + 1;
    }
    for (struct gt_cover_thread *thread = set->threads; thread < set->threads + set->thread_count; thread++) {
        thread->is_one_by_one = true;
        for (size_t i = thread->first + 1; i < thread->end; i++)
            thread->is_one_by_one &= set->items[i].time.start_ns >= set->items[i - 1].time.end_ns;
    }
}

static void make_spans(struct random_spans *it, uint64_t *random) {
    assert_true(gt_launch_wait_init(&it->set, MOST, THREADS));
    int rounds = random_below(random, 2) ? ROUNDS : 1;
    const int64_t back = random_below(random, 2) ? -3 : 0;
    it->set.count = 0;
    for (int round = 0; round < rounds; round++) {
        int64_t now = 0;
        while (now < END - 20 && it->set.count < MOST) {
            int64_t start = now + random_between(random, random_below(random, 8) || now < 3 ? 0 : back, 9);
            int64_t end = start + random_between(random, 1, 12);
            uint32_t thread = (uint32_t)random_below(random, THREADS), gap = (uint32_t)it->set.count;
            it->set.items[it->set.count++] = (struct gt_cover_span){{start, end}, thread, gap};
            now = end;
        }
    }
    find_threads(&it->set);
}

/* ---- covers ---- */

enum { MANY = 400 };

/* Intervals of a few threads, one after the other, and long spans: with sums and without. */
static void check_cover(uint64_t seed) {
    uint64_t random = seed;
    int64_t starts[MANY], ends[MANY], now[THREADS] = {0};
    uint32_t threads[MANY];
    gt_strid names[MANY];
    struct gt_cover_spans set;
    for (uint32_t i = 0; i < MANY; i++) {
        threads[i] = (uint32_t)random_below(&random, THREADS);
        starts[i] = now[threads[i]] + random_between(&random, 0, 4);
        now[threads[i]] = ends[i] = starts[i] + random_between(&random, 1, 6);
        names[i] = i + 1;
    }
    const struct gt_cover_table tables[2] = {{MANY, starts, ends, threads, names, NULL, NULL}, {0}};
    struct gt_cover cover, summed;
    assert_true(gt_launch_wait_init(&set, MOST, THREADS));
    for (size_t n = 0; n < MOST; n++) {
        uint32_t thread = random_below(&random, 2) ? 2 : 0;
        int64_t start = random_between(&random, -5, now[thread] + 5);
        int64_t end = start + random_between(&random, 1, n % 2 ? 20 : now[thread]);
        set.items[n] = (struct gt_cover_span){{start, end}, thread, 0};
    }
    find_threads(&set);
    assert_true(gt_cover_init(&cover, tables, &set, true, seed % 4 + 1));
    assert_true(gt_cover_init(&summed, tables, &set, false, seed % 4 + 1));
    size_t hints[THREADS] = {0}, other_hints[THREADS] = {0};
    for (size_t n = 0; n < MOST; n++) {
        uint32_t thread = set.items[n].thread;
        struct gt_interval span = set.items[n].time;
        int64_t covered = 0, largest = 0;
        gt_strid name = GT_STRID_EMPTY;
        for (size_t i = 0; i < MANY; i++) {
            int64_t from = starts[i] > span.start_ns ? starts[i] : span.start_ns;
            int64_t part = (ends[i] < span.end_ns ? ends[i] : span.end_ns) - from;
            covered += threads[i] == thread && part > 0 ? part : 0;
            if (threads[i] == thread && part > largest) {
                largest = part;
                name = names[i];
            }
        }
        struct gt_cover_part part = gt_cover_of(&cover, &set.items[n], &hints[thread]);
        assert_int_equal(part.is_most, covered > (span.end_ns - span.start_ns) / 2);
        assert_int_equal(part.name, name);
        assert_int_equal(gt_cover_of(&summed, &set.items[n], &other_hints[thread]).is_most, part.is_most);
    }
    gt_cover_release(&cover);
    gt_cover_release(&summed);
    gt_launch_wait_release(&set);
}

static void test_covers(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        check_cover(seed);
}

/* From the first instant to the last: lengths exceed 63 bits, what is inside does not get lost. */
static void test_extreme_times(void **state) {
    (void)state;
    const int64_t starts[] = {INT64_MIN, 0}, ends[] = {-10, 10};
    const uint32_t threads[] = {0, 0};
    const gt_strid names[] = {1, 2};
    const struct gt_cover_table tables[2] = {{2, starts, ends, threads, names, NULL, NULL}, {0}};
    struct gt_cover_span spans[] = {{{INT64_MIN, INT64_MAX}, 0, 0}, {{-20, 5}, 0, 1}};
    struct gt_cover_thread thread = {0, GT_ARRAY_COUNT(spans), false};
    const struct gt_cover_spans set = {spans, GT_ARRAY_COUNT(spans), &thread, 1};
    struct gt_cover cover;
    size_t hint = 0;
    assert_true(gt_cover_init(&cover, tables, &set, true, 1));
    for (size_t i = 0; i < GT_ARRAY_COUNT(spans); i++) {
        struct gt_cover_part part = gt_cover_of(&cover, &spans[i], &hint);
        assert_true(part.is_most && part.name == 1);
    }
    gt_cover_release(&cover);
}

/* Of two that start together the longer one is the outermost, though another slice has it and no later span asks for
   what it has more. */
static void test_starts_together(void **state) {
    enum { PAIR = 19, LAST = 40 };
    int64_t starts[LAST], ends[LAST];
    uint32_t threads[LAST] = {0};
    gt_strid names[LAST];
    (void)state;
    for (uint32_t i = 0; i < LAST; i++) {
        starts[i] = -1000 + 10 * (int64_t)(i > PAIR ? i - 1 : i);
        ends[i] = starts[i] + (i == PAIR + 1 ? 9 : 6);
        names[i] = i + 1;
    }
    const struct gt_cover_table tables[2] = {{LAST, starts, ends, threads, names, NULL, NULL}, {0}};
    struct gt_cover_span spans[] = {{{starts[PAIR] + 1, starts[PAIR] + 5}, 0, 0}, {{2000, 3000}, 0, 1}};
    struct gt_cover_thread thread = {0, GT_ARRAY_COUNT(spans), true};
    const struct gt_cover_spans set = {spans, GT_ARRAY_COUNT(spans), &thread, 1};
    for (size_t count = 1; count <= 3; count++) {
        struct gt_cover cover;
        size_t hint = 0;
        assert_true(gt_cover_init(&cover, tables, &set, true, count));
        struct gt_cover_part part = gt_cover_of(&cover, &spans[0], &hint);
        assert_true(part.is_most);
        assert_int_equal(part.name, names[PAIR + 1]);
        assert_false(gt_cover_of(&cover, &spans[1], &hint).is_most);
        gt_cover_release(&cover);
    }
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

static bool is_mostly_covered(const struct rows *rows, const struct gt_interval *span, uint32_t thread, gt_strid name) {
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

static void note_calls(void *context, uint32_t wait, const struct gt_cover_part *part) {
    note(&((struct reported_calls *)context)->calls, wait, part);
}

static void note_waits(void *context, uint32_t wait, const struct gt_cover_part *part) {
    note(&((struct reported_calls *)context)->waits, wait, part);
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
    const struct gt_request request = {.threads = (int64_t)(seed % 4) + 1};
    const struct gt_view view = {
        .store = world.store, .labels = world.labels, .request = &request, .slots = gt_view_slots_new()};
    assert_non_null(view.slots);
    assert_true(gt_launch_wait_calls(&view, &it.set, false, note_calls, &reported));
    assert_true(gt_launch_wait_calls(&view, &it.set, true, note_waits, &reported));
    for (size_t s = 0; s < it.set.count; s++) {
        const struct gt_interval *span = &it.set.items[s].time;
        uint32_t thread = it.set.items[s].thread;
        assert_true(reported.calls.count[s] == 1 && reported.waits.count[s] == 1);
        assert_int_equal(reported.calls.is_most[s], is_mostly_covered(&rows, span, thread, GT_STRID_EMPTY));
        assert_int_equal(reported.waits.is_most[s], is_mostly_covered(&rows, span, thread, wait));
    }
    gt_view_slots_free(view.slots);
    gt_launch_wait_release(&it.set);
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
static gt_strid largest_code(const struct rows *rows, const struct gt_interval *span, uint32_t thread) {
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
    const struct gt_request request = {.threads = (int64_t)(seed % 4) + 1};
    const struct gt_view view = {.store = world.store, .labels = world.labels, .request = &request};
    assert_int_equal(world.labels->step_count, 0);
    assert_true(gt_launch_wait_code(&view, &it.set, note, &reported));
    for (size_t s = 0; s < it.set.count; s++) {
        const struct gt_interval *span = &it.set.items[s].time;
        uint32_t thread = it.set.items[s].thread;
        assert_int_equal(reported.count[s], 1);
        assert_int_equal(reported.is_most[s], is_mostly_covered(&rows, span, thread, GT_STRID_EMPTY));
        assert_int_equal(reported.name[s], largest_code(&rows, span, thread));
    }
    gt_launch_wait_release(&it.set);
    world_end(&world);
}

static void test_code(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        check_code(seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_covers), cmocka_unit_test(test_extreme_times), cmocka_unit_test(test_starts_together),
        cmocka_unit_test(test_calls),  cmocka_unit_test(test_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
