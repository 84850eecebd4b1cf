/* Steps: which ranges are taken for steps, and which number each has. */
#include "small_trace.h"

enum { NONE = -1 };

static void names_give_steps_and_their_numbers(void **unused) {
    (void)unused;
    static const struct {
        const char *name;
        int64_t number;
    } cases[] = {
        {"ProfilerStep#7", 7},
        {"step 12", 12},
        {"Step_3", 3},
        {"STEP: 4", 4},
        {"global_step=15", 15},
        {"train step 6 (bs=4)", 6},
        {"[Executor] _forward_step 9: 0 ctx reqs, 4 gen reqs", 9},
        {"train#step_num=5#", 5},
        {"iteration 2", 2},
        {"Iter#8", 8},
        {":Train_step", 0},
        {"Train_step", 0},
        {"training_step", 0},
        {"execute_context_1(888)_generation_0(0)", 0},
        {"execute_32_context_0(sq0sk0)_generation_32(sq32sk2048)", 0},
        {"execute_context", NONE},
        {"execute_32_generation", NONE},
        {"execute__context_0", NONE},
        {"execute_3x_context_0", NONE},
        {"pre_execute_32_context_0", NONE},
        {"step[DECODE bs=4]", 0},
        {"test_step", 0},
        {"test_step_end", NONE},
        {"latest_step", NONE},
        {"CG_Single_Iteration", 0},
        {"single_iteration", 0},
        {"CG_Single_Iterations", NONE},
        {"unsingle_iteration", NONE},
        {"per_iteration", NONE},
        {"Step 30 to 40", 30},
        {"Iteration 30 to 40", 30},
        {"Step 30 to 40 of training", NONE},
        {"Step 40 to 30", NONE},
        {"Step 30 to", NONE},
        {"Step to 40", NONE},
        {"Step 30 total", NONE},
        {"Warm-up Step 3", NONE},
        {"warmup iteration 3", NONE},
        {"[warm up] step 3", NONE},
        {"Warmup Step 1 to 3", NONE},
        {"swarm step 3", 3},
        {"step 3 (warm cache)", 3},
        {"request 11", 11},
        {"step", 0},
        {"timestep 5", NONE},
        {"step 3 forward", NONE},
        {"step 3rd", NONE},
        {"step 99999999999999999999", NONE},
        {"Optimizer.step#AdamW.step", NONE},
        {"stepping", NONE},
        {"layer 3", NONE},
        {"", NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct small_trace trace;
        trace_begin(&trace);
        add_range(&trace, GT_RANGE_NESTED, 1, 1, 10, 20, cases[i].name);
        trace_end(&trace);
        if (trace.labels->step_count != (cases[i].number != NONE))
            fail_msg("'%s' gives %zu steps", cases[i].name, trace.labels->step_count);
        if (cases[i].number != NONE)
            assert_int_equal(trace.labels->steps[0].number, cases[i].number);
        trace_free(&trace);
    }
}

static void a_trace_has_the_clearest_kind_of_steps_only(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_range(&trace, GT_RANGE_NESTED, 1, 1, 0, 100, "request 1");
    add_range(&trace, GT_RANGE_NESTED, 1, 1, 10, 20, "iteration 5");
    add_range(&trace, GT_RANGE_NESTED, 1, 1, 30, 40, "iteration 6");
    add_range(&trace, GT_RANGE_NESTED, 1, 1, 11, 12, "Train_step");
    add_range(&trace, GT_RANGE_MARK, 1, 1, 11, 11, "step 4");
    trace_end(&trace);
    assert_int_equal(trace.labels->step_count, 2);
    assert_int_equal(trace.labels->steps[0].number, 5);
    assert_int_equal(trace.labels->steps[1].number, 6);
    trace_free(&trace);
}

/* Warm-up comes in no step, blocks of steps give way to steps, and every execution is one. */
static void other_ranges_of_a_program_with_steps(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_range(&trace, GT_RANGE_NESTED, 1, 1, 0, 10, "Warm-up Step 0");
    add_range(&trace, GT_RANGE_NESTED, 1, 1, 20, 60, "Step 0 to 2");
    add_range(&trace, GT_RANGE_NESTED, 1, 1, 20, 30, "Step 0");
    add_range(&trace, GT_RANGE_NESTED, 1, 1, 40, 50, "Step 1");
    trace_end(&trace);
    assert_int_equal(trace.labels->step_count, 2);
    assert_int_equal(trace.labels->steps[0].start_ns, 20);
    assert_int_equal(trace.labels->steps[0].end_ns, 30);
    trace_free(&trace);
    trace_begin(&trace);
    add_range(&trace, GT_RANGE_NESTED, 1, 1, 30, 40, "execute_32_context_0(0)_generation_32(9)");
    add_range(&trace, GT_RANGE_NESTED, 1, 1, 10, 20, "execute_888_context_1(888)_generation_0(0)");
    trace_end(&trace);
    assert_int_equal(trace.labels->step_count, 2);
    assert_int_equal(trace.labels->steps[1].number, 1);
    assert_int_equal(trace.labels->steps[1].start_ns, 30);
    trace_free(&trace);
}

static void steps_without_a_number_are_counted_in_order(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_range(&trace, GT_RANGE_NESTED, 1, 1, 50, 60, "train_step");
    add_range(&trace, GT_RANGE_NESTED, 1, 1, 10, 20, "Train_Step");
    add_range(&trace, GT_RANGE_NESTED, 1, 1, 30, 40, "train_step");
    trace_end(&trace);
    assert_int_equal(trace.labels->step_count, 3);
    for (int64_t i = 0; i < 3; i++) {
        assert_int_equal(trace.labels->steps[i].number, i);
        assert_int_equal(trace.labels->steps[i].start_ns, 10 + 20 * i);
    }
    trace_free(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_give_steps_and_their_numbers),
        cmocka_unit_test(a_trace_has_the_clearest_kind_of_steps_only),
        cmocka_unit_test(other_ranges_of_a_program_with_steps),
        cmocka_unit_test(steps_without_a_number_are_counted_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
