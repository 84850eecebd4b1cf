/* Counters of a store: one run for each track, sorted by time, however builders came by the values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "events/builder.h"
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_builder),
        cmocka_unit_test(several_builders),
        cmocka_unit_test(dropped_chunks_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
