/* Frames against the store, the labels and the results of analyses that they show, over random traces. */
#include "frame/frame.h"

#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/results.h"
#include "measure_world.h"

static struct gt_frames *frames_of(const struct world *world) {
    struct gt_frame_trace trace = {.store = world->store,
                                   .labels = world->labels,
                                   .rank = {.rank = -1, .world_size = -1},
                                   .path = GT_STR("random")};
    struct gt_frames *frames = gt_frame_new(&trace);
    assert_non_null(frames);
    return frames;
}

static struct gt_frame_values column(struct gt_frames *frames, const char *frame, const char *key) {
    struct gt_error err = {0};
    struct gt_frame_values values;
    size_t number = gt_frame_find(gt_str_of(frame)), place = gt_frame_find_column(number, gt_str_of(key));
    assert_true(number != SIZE_MAX && place != SIZE_MAX);
    assert_int_equal(gt_frame_values(frames, number, place, &values, &err), GT_OK);
    return values;
}

/* ---- descriptions ---- */

static void is_complete(void **state) {
    (void)state;
    for (size_t f = 0; f < gt_frame_count(); f++) {
        assert_int_equal(gt_frame_find(gt_str_of(gt_frame_key(f))), f);
        assert_true(strlen(gt_frame_help(f)) > 0);
        assert_true((gt_frame_row_facts(f) & gt_frame_facts(f)) == gt_frame_facts(f));
        for (size_t c = 0; c < gt_frame_column_count(f); c++) {
            struct gt_frame_column about = gt_frame_column(f, c);
            assert_int_equal(gt_frame_find_column(f, gt_str_of(about.key)), c);
            assert_true(strlen(about.help) > 0 && about.help[strlen(about.help) - 1] != '.');
            assert_true(about.type != GPUTIME_FIELD_TEXT);
            assert_true((about.facts & gt_frame_facts(f)) == gt_frame_facts(f));
            assert_true(!about.is_text || about.type == GPUTIME_FIELD_U8 || about.type == GPUTIME_FIELD_U32);
            if (about.refers_to)
                assert_true(about.type == GPUTIME_FIELD_U32 && gt_frame_find(gt_str_of(about.refers_to)) != SIZE_MAX);
        }
    }
    assert_int_equal(gt_frame_find(GT_STR("nothing")), SIZE_MAX);
    assert_int_equal(gt_frame_find_column(0, GT_STR("nothing")), SIZE_MAX);
}

/* ---- values ---- */

/* Every column can be made, has as many values as the frame has rows, and refers to nothing that is not there. */
static void check_column(struct gt_frames *frames, size_t f, size_t c) {
    struct gt_error err = {0};
    struct gt_frame_values values, again;
    struct gt_frame_column about = gt_frame_column(f, c);
    size_t rows, referred = 0;
    assert_int_equal(gt_frame_rows(frames, f, &rows, &err), GT_OK);
    assert_int_equal(gt_frame_values(frames, f, c, &values, &err), GT_OK);
    assert_int_equal(gt_frame_values(frames, f, c, &again, &err), GT_OK);
    assert_ptr_equal(values.data, again.data);
    assert_int_equal(values.count, rows);
    assert_true(about.is_text == (values.texts != NULL) || rows == 0);
    if (about.refers_to)
        assert_int_equal(gt_frame_rows(frames, gt_frame_find(gt_str_of(about.refers_to)), &referred, &err), GT_OK);
    for (size_t i = 0; i < rows; i++) {
        if (gt_frame_is_null(&values, i))
            continue;
        if (about.is_text)
            assert_true((size_t)gt_frame_int(&values, i) < values.text_count);
        if (about.refers_to)
            assert_true((size_t)gt_frame_int(&values, i) < referred);
    }
}

static void check_ops(struct gt_frames *frames, const struct world *world) {
    const struct gt_store *store = world->store;
    const struct gt_labels *labels = world->labels;
    struct gt_frame_values start = column(frames, "ops", "start_ns"), length = column(frames, "ops", "dur_ns"),
                           name = column(frames, "ops", "name"), call = column(frames, "ops", "call_start_ns"),
                           range = column(frames, "ops", "range"), step = column(frames, "ops", "step");
    assert_ptr_equal(name.data, store->ops.name);
    for (size_t i = 0; i < store->ops.count; i++) {
        uint32_t row = labels->op_call[i], at = labels->op_range[i], number = labels->op_step[i];
        assert_int_equal(gt_frame_int(&start, i), gt_ns_between(store->origin_ns, store->ops.start_ns[i]));
        assert_int_equal(gt_frame_int(&length, i), gt_ns_between(store->ops.start_ns[i], store->ops.end_ns[i]));
        assert_int_equal(gt_frame_is_null(&call, i), row == GT_NO_ROW);
        if (row != GT_NO_ROW)
            assert_int_equal(gt_frame_int(&call, i), gt_ns_between(store->origin_ns, store->calls.start_ns[row]));
        assert_int_equal(gt_frame_is_null(&range, i), at == GT_NO_ROW);
        if (at != GT_NO_ROW)
            assert_true(gt_str_eq(gt_frame_text(&range, i), gt_store_string(store, store->ranges.name[at])));
        assert_int_equal(gt_frame_is_null(&step, i), number == GT_NO_ROW);
        if (number != GT_NO_ROW)
            assert_int_equal(gt_frame_int(&step, i), labels->steps[number].number);
    }
}

/* Time charged to ops is what the account of each GPU has: compute, and of the others what is exposed. */
static void check_wall(struct gt_frames *frames, const struct world *world) {
    const struct gt_view *view = world->view;
    struct gt_frame_values wall = column(frames, "ops", "wall_ns"), class = column(frames, "ops", "class");
    for (size_t d = 0; d < view->device_count; d++) {
        uint64_t category_ns[UINT8_MAX + 1] = {0};
        struct gt_account account = gt_account_of_device(view, &view->devices[d], category_ns);
        int64_t sum_ns[3] = {0};
        for (size_t i = 0; i < view->devices[d].count; i++) {
            uint32_t row = view->row[view->devices[d].first + i];
            sum_ns[gt_frame_int(&class, row)] += gt_frame_int(&wall, row);
        }
        assert_int_equal(sum_ns[GT_CLASS_COMPUTE], account.ns[GT_AMOUNT_COMPUTE]);
        assert_int_equal(sum_ns[GT_CLASS_COMM], account.ns[GT_AMOUNT_EXPOSED_COMM]);
        assert_int_equal(sum_ns[GT_CLASS_MEMORY], account.ns[GT_AMOUNT_EXPOSED_MEMORY]);
    }
}

/* Gaps by cause, and those that ops ended, are what the analysis of idle time sums. */
static void check_gaps(struct gt_frames *frames, const struct world *world) {
    struct gt_error err = {0};
    const struct gt_idle *idle = gt_results_idle(world->view, &err);
    assert_non_null(idle);
    struct gt_frame_values device = column(frames, "gaps", "device"), cause = column(frames, "gaps", "cause"),
                           length = column(frames, "gaps", "gap_ns"), before = column(frames, "ops", "gap_ns"),
                           queued = column(frames, "ops", "gap_queued_ns");
    __int128 all_ns = 0, before_ops_ns = 0;
    for (size_t d = 0; d < idle->device_count; d++) {
        struct gt_idle_sum sums[GT_IDLE_CAUSE_COUNT];
        gt_idle_sum_causes(idle, d, sums);
        __int128 by_cause[GT_IDLE_CAUSE_COUNT] = {0};
        for (size_t i = 0; i < length.count; i++)
            if (gt_frame_int(&device, i) == world->view->devices[d].id)
                by_cause[gt_frame_int(&cause, i)] += gt_frame_int(&length, i);
        for (size_t c = 0; c < GT_IDLE_CAUSE_COUNT; c++)
            assert_true(by_cause[c] == sums[c].gaps.sum);
        all_ns += idle->devices[d].total_ns;
    }
    for (size_t i = 0; i < before.count; i++)
        if (!gt_frame_is_null(&before, i))
            before_ops_ns += gt_frame_int(&before, i) + gt_frame_int(&queued, i);
    assert_true(before_ops_ns == all_ns);
}

static void shows_what_analyses_say(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world world;
        world_random(&world, seed);
        world_run(&world, "gaps");
        struct gt_frames *frames = frames_of(&world);
        for (size_t f = 0; f < gt_frame_count(); f++)
            for (size_t c = 0; c < gt_frame_column_count(f); c++)
                check_column(frames, f, c);
        check_ops(frames, &world);
        check_wall(frames, &world);
        check_gaps(frames, &world);
        gt_frame_free(frames);
        world_end(&world);
    }
}

/* ---- order ---- */

static int compare(const struct gt_frame_values *values, size_t a, size_t b) {
    bool null_a = gt_frame_is_null(values, a), null_b = gt_frame_is_null(values, b);
    if (null_a || null_b)
        return null_b - null_a;
    if (values->texts)
        return gt_str_cmp(gt_frame_text(values, a), gt_frame_text(values, b));
    double x = gt_frame_real(values, a), y = gt_frame_real(values, b);
    return (x > y) - (x < y);
}

static void check_order(struct gt_frames *frames, const char *first, const char *second) {
    struct gt_error err = {0};
    struct gt_frame_values values[2] = {column(frames, "ops", first), column(frames, "ops", second)};
    size_t columns[2] = {gt_frame_find_column(0, gt_str_of(first)), gt_frame_find_column(0, gt_str_of(second))};
    uint32_t *order;
    assert_int_equal(gt_frame_sort(frames, 0, columns, 2, &order, &err), GT_OK);
    for (size_t i = 1; i < values[0].count; i++) {
        size_t a = order ? order[i - 1] : i - 1, b = order ? order[i] : i;
        int by_first = compare(&values[0], a, b), by_second = compare(&values[1], a, b);
        assert_true(by_first < 0 || (by_first == 0 && (by_second < 0 || (by_second == 0 && a < b))));
    }
    gt_mem_free(order);
}

static void sorts_rows(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world world;
        world_random(&world, seed);
        world_run(&world, "gaps");
        struct gt_frames *frames = frames_of(&world);
        check_order(frames, "name", "start_ns");
        check_order(frames, "range", "device");
        check_order(frames, "queue_ns", "category");
        gt_frame_free(frames);
        world_end(&world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_complete),
        cmocka_unit_test(shows_what_analyses_say),
        cmocka_unit_test(sorts_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
