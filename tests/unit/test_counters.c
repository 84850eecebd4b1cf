/* Counters of a store: one run for each track, sorted by time, however builders came by the values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "events/builder.h"
#include "events/counter_track.h"
#include "events/store.h"

enum { TRACKS = 3, VALUES = 40000 }; /* more than a batch has */

static uint32_t track_of(struct gt_builder *builder, int64_t device) {
    return gt_builder_counter_track(builder, &(struct gt_counter_tracks_row){
                                                 .process = GT_NO_TRACK,
                                                 .device = device,
                                                 .name = gt_builder_string(builder, GT_STR("SMs Active")),
                                                 .unit = gt_builder_string(builder, GT_STR("%")),
                                                 .period_ns = 100,
                                                 .kind = GT_COUNTER_SAMPLED,
                                             });
}

static void begin(struct gt_builder *builder) {
    struct gt_error err = {0};
    assert_int_equal(gt_builder_init(builder, "test", &err), GT_OK);
}

/* The values of a chunk: its track is the place modulo TRACKS, its time the place, backwards on the last track. */
static void add_chunk(struct gt_builder *builder, uint64_t order, size_t first, size_t end, bool as_runs) {
    gt_builder_begin(builder, order);
    for (size_t i = first; i < end; i++) {
        size_t track = i % TRACKS;
        int64_t time_ns = track == TRACKS - 1 ? VALUES - (int64_t)i : (int64_t)i;
        int64_t *times_ns;
        double *values;
        uint32_t id = track_of(builder, (int64_t)track);
        if (!as_runs) {
            gt_builder_counter(builder, id, time_ns, (double)i);
        } else {
            assert_true(gt_builder_counter_run(builder, id, 1, &times_ns, &values));
            *times_ns = time_ns;
            *values = (double)i;
        }
    }
}

static void check(struct gt_builder *builders, size_t count) {
    struct gt_store *store;
    struct gt_error err = {0};
    assert_int_equal(gt_store_seal(builders, count, &store, &err), GT_OK);
    assert_int_equal(store->counters.count, VALUES);
    assert_int_equal(store->counter_tracks.count, TRACKS);
    assert_int_equal(store->counter_runs.count, TRACKS);
    assert_true(store->facts & GT_FACT_COUNTERS);
    size_t next = 0;
    for (size_t r = 0; r < TRACKS; r++) {
        assert_int_equal(store->counter_runs.track[r], r);
        assert_int_equal(store->counter_runs.first[r], next);
        size_t device = (size_t)store->counter_tracks.device[r];
        for (size_t i = 0; i < store->counter_runs.values[r]; i++, next++) {
            double value = store->counters.value[next];
            int64_t time_ns = device == TRACKS - 1 ? VALUES - (int64_t)value : (int64_t)value;
            assert_int_equal((size_t)value % TRACKS, device);
            assert_int_equal(store->counters.time_ns[next], time_ns);
            assert_true(i == 0 || store->counters.time_ns[next - 1] < time_ns);
        }
    }
    assert_int_equal(next, VALUES);
    gt_store_free(store);
}

static void one_builder(void **state) {
    (void)state;
    for (int as_runs = 0; as_runs < 2; as_runs++) {
        struct gt_builder builder;
        begin(&builder);
        add_chunk(&builder, 0, 0, VALUES, as_runs);
        check(&builder, 1);
    }
}

/* Whoever reads which chunk, the store is the same. */
static void several_builders(void **state) {
    (void)state;
    struct gt_builder builders[3];
    const size_t cuts[] = {0, 7, 9000, 9001, 25000, VALUES};
    for (size_t b = 0; b < 3; b++)
        begin(&builders[b]);
    for (size_t c = 0; c < 5; c++)
        add_chunk(&builders[(c * 2) % 3], c, cuts[c], cuts[c + 1], c % 2);
    check(builders, 3);
}

static void dropped_chunks_leave_nothing(void **state) {
    (void)state;
    struct gt_builder builder;
    begin(&builder);
    size_t dropped = gt_builder_begin(&builder, 0);
    gt_builder_counter(&builder, track_of(&builder, 0), 1, 2);
    add_chunk(&builder, 1, 0, VALUES, false);
    gt_builder_drop(&builder, dropped);
    check(&builder, 1);
}

/* ---- samples: metrics that share their times ---- */

enum { METRICS = 2, CHUNKS = 5, CHUNK = 7 };

/* Sample i of a metric is at time 10 * i and has the value 1000 * metric + i. */
static void add_samples(struct gt_builder *builder, uint64_t chunk) {
    gt_builder_begin(builder, chunk);
    int64_t *times_ns;
    uint32_t times = gt_builder_sample_times(builder, CHUNK, &times_ns);
    for (size_t i = 0; i < CHUNK; i++)
        times_ns[i] = 10 * (int64_t)(chunk * CHUNK + i);
    for (uint32_t metric = 0; metric < METRICS; metric++) {
        uint32_t *values = gt_builder_sample_run(builder, track_of(builder, metric), times, CHUNK);
        assert_non_null(values);
        for (size_t i = 0; i < CHUNK; i++)
            values[i] = 1000 * metric + (uint32_t)(chunk * CHUNK + i);
    }
}

static void check_samples(const struct gt_store *store) {
    const size_t all = CHUNKS * CHUNK;
    int64_t times_ns[CHUNKS * CHUNK + 1];
    double values[CHUNKS * CHUNK + 1];
    for (uint32_t track = 0; track < METRICS; track++) {
        double base = 1000 * (double)store->counter_tracks.device[track];
        assert_int_equal(gt_counter_track_count(store, track), all);
        for (size_t first = 0; first <= all; first++)
            for (size_t count = 0; count <= all + 1; count += 3) {
                size_t expected = all - first < count ? all - first : count;
                assert_int_equal(gt_counter_track_read(store, track, first, count, times_ns, values), expected);
                for (size_t i = 0; i < expected; i++) {
                    assert_int_equal(times_ns[i], 10 * (int64_t)(first + i));
                    assert_true(values[i] == base + (double)(first + i));
                }
            }
    }
    assert_int_equal(store->sample_times.count, all); /* shared */
    assert_int_equal(gt_counter_track_count(store, METRICS), 0);
    assert_int_equal(gt_counter_track_read(store, 0, 0, 3, NULL, NULL), 3);
}

static void samples_share_their_times(void **state) {
    (void)state;
    struct gt_builder builders[2];
    struct gt_store *store;
    struct gt_error err = {0};
    for (size_t count = 1; count <= 2; count++) {
        for (size_t b = 0; b < count; b++)
            begin(&builders[b]);
        for (size_t chunk = 0; chunk < CHUNKS; chunk++)
            add_samples(&builders[chunk % count], chunk);
        assert_int_equal(gt_store_seal(builders, count, &store, &err), GT_OK);
        assert_true(store->facts & GT_FACT_COUNTERS);
        check_samples(store);
        gt_store_free(store);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_builder),
        cmocka_unit_test(several_builders),
        cmocka_unit_test(dropped_chunks_leave_nothing),
        cmocka_unit_test(samples_share_their_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
