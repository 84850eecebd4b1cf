/* Activities: what names mean, and how much of a gap they have. */
#include "waiting_world.h"

#include "measure/findings/activities.h"

static void measure(struct waiting *it, int64_t gap_ns, struct gt_activities *activities) {
    struct gt_error err = {0};
    waiting_seal(it, gap_ns);
    assert_int_equal(gt_activities_init(activities, it->world.view, &it->idle, INT64_MIN, &err), GT_OK);
}

/* The activity that the only gap is given to; GT_ACTIVITY_COUNT: none. */
static enum gt_activity activity_of_gap(struct waiting *it) {
    struct gt_activities activities;
    measure(it, 1000 * US, &activities);
    enum gt_activity found = GT_ACTIVITY_COUNT;
    for (int i = 0; i < GT_ACTIVITY_COUNT; i++)
        if (activities.of[i].gap_ns && activities.of[i].gap_ns[0] > 0)
            found = (enum gt_activity)i;
    gt_activities_release(&activities);
    waiting_end(it);
    return found;
}

static enum gt_activity code(const char *name) {
    struct waiting it;
    waiting_begin(&it);
    waiting_range(&it, name, GAP_START, GAP_START + 500 * US);
    return activity_of_gap(&it);
}

static enum gt_activity call(const char *name) {
    struct waiting it;
    waiting_begin(&it);
    waiting_call(&it, name, GAP_START, GAP_START + 400 * US, GT_NO_CORRELATION);
    return activity_of_gap(&it);
}

static void names_of_code(void **state) {
    (void)state;
    assert_int_equal(code("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"), GT_ACTIVITY_DATA_LOADING);
    assert_int_equal(code("trainNext_Batch"), GT_ACTIVITY_DATA_LOADING); /* a capital begins a word */
    assert_int_equal(code("get_batch"), GT_ACTIVITY_DATA_LOADING);
    assert_int_equal(code("forget_batch"), GT_ACTIVITY_COUNT);
    assert_int_equal(code("load_weights"), GT_ACTIVITY_COUNT);
    assert_int_equal(code("load"), GT_ACTIVITY_COUNT);
    assert_int_equal(code("nvidia.dali.pipeline"), GT_ACTIVITY_DATA_LOADING);
    assert_int_equal(code("vandalism"), GT_ACTIVITY_COUNT);
    assert_int_equal(code("_compile.compile_inner (dynamo_timed)"), GT_ACTIVITY_COMPILATION);
    assert_int_equal(code("TorchDynamo Cache Lookup"), GT_ACTIVITY_COUNT);
    assert_int_equal(code("cudaMalloc"), GT_ACTIVITY_COUNT); /* a call, not code */
    assert_int_equal(code("d"), GT_ACTIVITY_COUNT);
    assert_int_equal(code(""), GT_ACTIVITY_COUNT);
}

static void names_of_calls(void **state) {
    (void)state;
    assert_int_equal(call("cudaMalloc_v3020"), GT_ACTIVITY_ALLOCATION);
    assert_int_equal(call("cudaFree"), GT_ACTIVITY_ALLOCATION);
    assert_int_equal(call("cudaMallocAsync_v11020"), GT_ACTIVITY_COUNT);
    assert_int_equal(call("cudaMallocFromPoolAsync"), GT_ACTIVITY_COUNT);
    assert_int_equal(call("mycudaMalloc"), GT_ACTIVITY_COUNT); /* "^": at the beginning only */
    assert_int_equal(call("cuModuleLoadDataEx"), GT_ACTIVITY_COMPILATION);
    assert_int_equal(call("cudaLaunchKernel"), GT_ACTIVITY_COUNT);
}

static void words_that_people_know(void **state) {
    (void)state;
    assert_string_equal(gt_activities_words(GT_STR("inductor_codegen")), "torch.compile");
    assert_string_equal(gt_activities_words(GT_STR("cuModuleLoadData")), "module loading");
    assert_null(gt_activities_words(GT_STR("forward")));
}

static void nested_names_count_once_and_only_inside_the_gap(void **state) {
    (void)state;
    struct waiting it;
    struct gt_activities activities;
    waiting_begin(&it);
    waiting_range(&it, "dataload", GAP_START - 50 * US, GAP_START + 300 * US);
    waiting_operator(&it, "enumerate(DataLoader)", GAP_START, GAP_START + 200 * US);
    waiting_range(&it, "next_batch", GAP_START + 400 * US, GAP_START + 500 * US);
    waiting_call(&it, "cudaMalloc", GAP_START + 600 * US, GAP_START + 650 * US, GT_NO_CORRELATION);
    measure(&it, 1000 * US, &activities);
    const struct gt_activity_times *loading = &activities.of[GT_ACTIVITY_DATA_LOADING];
    assert_int_equal(loading->gap_ns[0], 400 * US);
    assert_int_equal(loading->loss_count, 2);
    assert_true(loading->thread_ns == 450 * US);
    assert_int_equal(loading->names.count, 2);
    assert_text(gt_store_string(it.world.store, loading->names.items[0].name), "dataload");
    assert_true(loading->names.items[0].ns == 350 * US);
    assert_int_equal(activities.of[GT_ACTIVITY_ALLOCATION].gap_ns[0], 50 * US);
    assert_null(activities.of[GT_ACTIVITY_COMPILATION].gap_ns);
    gt_activities_release(&activities);
    waiting_end(&it);
}

static void only_a_long_first_launch_loads_code(void **state) {
    (void)state;
    for (int64_t length_ns = 499 * US; length_ns <= 500 * US; length_ns += US) {
        struct waiting it;
        struct gt_activities activities;
        waiting_begin(&it);
        waiting_op(&it, "first", -400 * US, -400 * US + length_ns, GAP_START, GAP_START); /* not its first */
        waiting_op(&it, "new", -800 * US, -800 * US + length_ns, GAP_START, GAP_START);
        measure(&it, 1000 * US, &activities);
        assert_int_equal(activities.of[GT_ACTIVITY_COMPILATION].loss_count, length_ns == 500 * US);
        gt_activities_release(&activities);
        waiting_end(&it);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_code),
        cmocka_unit_test(names_of_calls),
        cmocka_unit_test(words_that_people_know),
        cmocka_unit_test(nested_names_count_once_and_only_inside_the_gap),
        cmocka_unit_test(only_a_long_first_launch_loads_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
