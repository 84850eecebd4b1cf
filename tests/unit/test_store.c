/* The event store: sealing gives the same rows however chunks were spread over builders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "events/builder.h"
#include "events/store.h"

enum { CHUNKS = 40, ROWS_PER_CHUNK = 25 };

static uint64_t state;
static uint32_t random_below(uint32_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

/* The rows of a chunk depend on its number alone. */
static void fill_chunk(struct gt_builder *builder, uint64_t chunk) {
    state = chunk * 977 + 5;
    for (int i = 0; i < ROWS_PER_CHUNK; i++) {
        char text[32];
        snprintf(text, sizeof text, "kernel_%u", random_below(60));
        uint32_t process = gt_builder_process(builder, 100 + random_below(3), GT_STR(""));
        int64_t start = (int64_t)random_below(1000000);
        struct gt_ops_row op = {
            .start_ns = start,
            .end_ns = start + random_below(50),
            .correlation = random_below(1000),
            .name = gt_builder_string(builder, gt_str_of(text)),
            .lane = gt_builder_lane(builder, process, random_below(4), random_below(5)),
            .kind = random_below(4) ? GT_OP_KERNEL : GT_OP_MEMCPY,
        };
        gt_builder_op(builder, &op);
        if (op.kind == GT_OP_MEMCPY)
            gt_builder_copy(builder, &(struct gt_copies_row){.bytes = random_below(4096)});
        uint32_t thread = gt_builder_thread(builder, process, random_below(6), GT_STR(""));
        gt_builder_name_thread(builder, thread, gt_str_of(text));
        gt_builder_call(
            builder, &(struct gt_calls_row){.start_ns = start, .end_ns = start + 5, .name = op.name, .thread = thread});
        if (random_below(7) == 0)
            gt_builder_issue(builder, GT_ISSUE_TEXT_REPAIRED, 1, chunk * 1000 + (uint64_t)i);
        if (random_below(5) == 0)
            gt_builder_skip(builder);
    }
}

static struct gt_store *build(size_t builder_count, uint64_t seed, bool with_dropped) {
    struct gt_builder builders[4];
    struct gt_error err = {0};
    for (size_t b = 0; b < builder_count; b++)
        assert_int_equal(gt_builder_init(&builders[b], "test", &err), GT_OK);
    uint64_t choice = seed;
    for (uint64_t chunk = 0; chunk < CHUNKS; chunk++) {
        choice = choice * 6364136223846793005u + 1;
        struct gt_builder *builder = &builders[(choice >> 40) % builder_count];
        if (with_dropped && chunk % 5 == 3) {
            size_t segment = gt_builder_begin(builder, chunk);
            fill_chunk(builder, chunk + 1000);
            gt_builder_drop(builder, segment);
        }
        gt_builder_begin(builder, chunk);
        fill_chunk(builder, chunk);
    }
    struct gt_store *store = NULL;
    assert_int_equal(gt_store_seal(builders, builder_count, &store, &err), GT_OK);
    return store;
}

static void assert_same_text(const struct gt_store *a, gt_strid x, const struct gt_store *b, gt_strid y) {
    assert_true(gt_str_eq(gt_store_string(a, x), gt_store_string(b, y)));
}

static void assert_same_rows(struct gt_store *a, struct gt_store *b) {
    assert_int_equal(a->ops.count, b->ops.count);
    assert_int_equal(a->calls.count, b->calls.count);
    assert_int_equal(a->copies.count, b->copies.count);
    for (size_t i = 0; i < a->ops.count; i++) {
        assert_int_equal(a->ops.start_ns[i], b->ops.start_ns[i]);
        assert_int_equal(a->ops.end_ns[i], b->ops.end_ns[i]);
        assert_int_equal(a->ops.correlation[i], b->ops.correlation[i]);
        assert_int_equal(a->ops.kind[i], b->ops.kind[i]);
        assert_same_text(a, a->ops.name[i], b, b->ops.name[i]);
        uint32_t x = a->ops.lane[i], y = b->ops.lane[i];
        assert_int_equal(a->lanes.stream[x], b->lanes.stream[y]);
        assert_int_equal(a->devices.id[a->lanes.device[x]], b->devices.id[b->lanes.device[y]]);
        assert_int_equal(a->processes.pid[a->lanes.process[x]], b->processes.pid[b->lanes.process[y]]);
    }
    for (size_t i = 0; i < a->calls.count; i++) {
        uint32_t x = a->calls.thread[i], y = b->calls.thread[i];
        assert_int_equal(a->calls.start_ns[i], b->calls.start_ns[i]);
        assert_same_text(a, a->calls.name[i], b, b->calls.name[i]);
        assert_int_equal(a->threads.tid[x], b->threads.tid[y]);
        assert_same_text(a, a->threads.name[x], b, b->threads.name[y]);
    }
    for (size_t i = 0; i < a->copies.count; i++) {
        assert_int_equal(a->copies.op[i], b->copies.op[i]);
        assert_int_equal(a->copies.bytes[i], b->copies.bytes[i]);
        assert_int_equal(a->ops.kind[a->copies.op[i]], GT_OP_MEMCPY);
    }
    assert_int_equal(a->skipped_events, b->skipped_events);
    assert_int_equal(a->origin_ns, b->origin_ns);
    assert_int_equal(a->facts, b->facts);
    for (int k = 0; k < GT_ISSUE_COUNT; k++) {
        assert_int_equal(gt_store_issue(a, (enum gt_issue_id)k, GT_FACTS_ALL).count,
                         gt_store_issue(b, (enum gt_issue_id)k, GT_FACTS_ALL).count);
        assert_int_equal(gt_store_issue(a, (enum gt_issue_id)k, GT_FACTS_ALL).first_offset,
                         gt_store_issue(b, (enum gt_issue_id)k, GT_FACTS_ALL).first_offset);
    }
}

static void sealing_ignores_how_chunks_were_spread(void **unused) {
    (void)unused;
    struct gt_store *one = build(1, 1, false);
    assert_int_equal(one->ops.count, CHUNKS * ROWS_PER_CHUNK);
    for (uint64_t seed = 1; seed < 8; seed++)
        for (size_t builders = 1; builders <= 4; builders++)
            for (int dropped = 0; dropped < 2; dropped++) {
                struct gt_store *other = build(builders, seed, dropped);
                assert_same_rows(one, other);
                /* Ids too, as long as no dropped chunk brought new names. */
                for (size_t i = 0; !dropped && i < one->ops.count; i++)
                    assert_int_equal(one->ops.name[i], other->ops.name[i]);
                gt_store_free(other);
            }
    gt_store_free(one);
}

static void ops_that_end_before_they_start_are_counted_and_left_out(void **unused) {
    (void)unused;
    struct gt_builder builder;
    struct gt_error err = {0};
    gt_builder_init(&builder, "test", &err);
    gt_builder_begin(&builder, 0);
    uint32_t lane = gt_builder_lane(&builder, GT_NO_TRACK, 0, 7);
    assert_false(gt_builder_op(&builder, &(struct gt_ops_row){.start_ns = 10, .end_ns = 9, .lane = lane}));
    assert_true(gt_builder_op(&builder, &(struct gt_ops_row){.start_ns = 10, .end_ns = 10, .lane = lane}));
    gt_builder_call(&builder, &(struct gt_calls_row){.start_ns = 5, .end_ns = 1});
    struct gt_store *store = NULL;
    assert_int_equal(gt_store_seal(&builder, 1, &store, &err), GT_OK);
    assert_int_equal(store->ops.count, 1);
    assert_int_equal(gt_store_issue(store, GT_ISSUE_OP_NEGATIVE, GT_FACTS_ALL).count, 1);
    assert_int_equal(store->calls.end_ns[0], 5);
    assert_int_equal(gt_store_issue(store, GT_ISSUE_CALL_NEGATIVE, GT_FACTS_ALL).count, 1);
    gt_store_free(store);
}

/* One row for each problem and set of facts, however many segments and events had it; dropped segments do not count. */
static void problems_belong_to_facts(void **unused) {
    (void)unused;
    enum { SEGMENTS = 20, EVENTS = 1000, DROPPED = 7 };
    struct gt_builder builders[2];
    struct gt_error err = {0};
    for (size_t b = 0; b < 2; b++)
        gt_builder_init(&builders[b], "test", &err);
    for (uint64_t order = 0; order < SEGMENTS; order++) {
        struct gt_builder *builder = &builders[order % 2];
        size_t segment = gt_builder_begin(builder, order);
        for (uint64_t i = 0; i < EVENTS; i++) {
            gt_builder_issue_of(builder, GT_ISSUE_EVENT_DAMAGED, GT_FACT_CALLS, 1, 5000 - order);
            gt_builder_issue_of(builder, GT_ISSUE_EVENT_DAMAGED, GT_FACT_OPS | GT_FACT_BYTES, 2, GT_NO_OFFSET);
        }
        gt_builder_issue_of(builder, GT_ISSUE_EVENT_DAMAGED, 0, 1, 9000); /* of the file */
        gt_builder_issue_of(builder, GT_ISSUE_TEXT_REPAIRED, GT_FACT_CALLS, UINT64_MAX, GT_NO_OFFSET);
        assert_true(builder->store.fact_issues.count <= (order / 2 + 1) * 3);
        if (order == DROPPED)
            gt_builder_drop(builder, segment);
    }
    struct gt_store *store = NULL;
    assert_int_equal(gt_store_seal(builders, 2, &store, &err), GT_OK);
    assert_int_equal(store->fact_issues.count, 3);
    struct gt_issue calls = gt_store_issue(store, GT_ISSUE_EVENT_DAMAGED, GT_FACT_CALLS | GT_FACT_RANGES);
    assert_int_equal(calls.count, (SEGMENTS - 1) * (EVENTS + 1));
    assert_int_equal(calls.first_offset, 5000 - (SEGMENTS - 1));
    struct gt_issue copies = gt_store_issue(store, GT_ISSUE_EVENT_DAMAGED, GT_FACT_BYTES);
    assert_int_equal(copies.count, (SEGMENTS - 1) * (2 * EVENTS + 1));
    assert_int_equal(copies.first_offset, 9000);
    assert_int_equal(gt_store_issue(store, GT_ISSUE_EVENT_DAMAGED, GT_FACT_RANGES).count, SEGMENTS - 1);
    assert_int_equal(gt_store_issue(store, GT_ISSUE_TEXT_REPAIRED, GT_FACTS_ALL).count, INT64_MAX);
    assert_int_equal(gt_store_loss(store, GT_FACT_RANGES), GT_ISSUE_EVENT_DAMAGED);
    gt_store_free(store);
}

static void an_empty_store_seals(void **unused) {
    (void)unused;
    struct gt_builder builders[2];
    struct gt_error err = {0};
    gt_builder_init(&builders[0], "test", &err);
    gt_builder_init(&builders[1], "test", &err);
    struct gt_store *store = NULL;
    assert_int_equal(gt_store_seal(builders, 2, &store, &err), GT_OK);
    assert_int_equal(store->ops.count, 0);
    assert_int_equal(store->facts, 0);
    gt_store_free(store);
}

static void chunks_of_one_builder_come_out_in_their_order(void **unused) {
    (void)unused;
    struct gt_builder builder;
    struct gt_error err = {0};
    gt_builder_init(&builder, "test", &err);
    for (uint64_t order = 3; order-- > 0;) {
        gt_builder_begin(&builder, order);
        gt_builder_call(&builder, &(struct gt_calls_row){.start_ns = (int64_t)order, .end_ns = 10});
    }
    struct gt_store *store = NULL;
    assert_int_equal(gt_store_seal(&builder, 1, &store, &err), GT_OK);
    assert_int_equal(store->calls.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(store->calls.start_ns[i], i);
    gt_store_free(store);
}

/* A decoder may learn a name when the rows that have it are long written. */
static void rows_may_have_names_that_came_after_them(void **unused) {
    (void)unused;
    struct gt_builder builders[2];
    struct gt_error err = {0};
    for (size_t b = 0; b < 2; b++)
        gt_builder_init(&builders[b], "test", &err);
    gt_builder_begin(&builders[0], 0);
    gt_builder_call(&builders[0], &(struct gt_calls_row){.end_ns = 1});
    gt_builder_begin(&builders[1], 1);
    gt_builder_call(&builders[1],
                    &(struct gt_calls_row){.end_ns = 2, .name = gt_builder_string(&builders[1], GT_STR("second"))});
    gt_builder_begin(&builders[0], 2);
    builders[0].store.calls.name[0] = gt_builder_string(&builders[0], GT_STR("first"));
    struct gt_store *store = NULL;
    assert_int_equal(gt_store_seal(builders, 2, &store, &err), GT_OK);
    assert_int_equal(store->calls.count, 2);
    assert_true(gt_str_eq(gt_store_string(store, store->calls.name[0]), GT_STR("first")));
    assert_true(gt_str_eq(gt_store_string(store, store->calls.name[1]), GT_STR("second")));
    gt_store_free(store);
}

static void kinds_are_counted_in_arrays_of_any_length(void **unused) {
    enum { MOST = 700 };
    uint8_t kinds[MOST];
    uint64_t expected[MOST + 1] = {0};
    (void)unused;
    state = 11;
    for (size_t i = 0; i < MOST; i++) {
        kinds[i] = (uint8_t)(i < 300 ? GT_OP_KERNEL : random_below(3));
        expected[i + 1] = expected[i] + (kinds[i] == GT_OP_KERNEL);
    }
    for (size_t count = 0; count <= MOST; count++)
        assert_int_equal(gt_store_count_kind(kinds, count, GT_OP_KERNEL), expected[count]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_may_have_names_that_came_after_them),
        cmocka_unit_test(sealing_ignores_how_chunks_were_spread),
        cmocka_unit_test(ops_that_end_before_they_start_are_counted_and_left_out),
        cmocka_unit_test(chunks_of_one_builder_come_out_in_their_order),
        cmocka_unit_test(problems_belong_to_facts),
        cmocka_unit_test(an_empty_store_seals),
        cmocka_unit_test(kinds_are_counted_in_arrays_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
