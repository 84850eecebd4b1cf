/* Parts of steps and their accounts against a pass over all ops for each part, whatever the number of threads. Linked
   with short_slices.c, so that small traces are cut. */
#include "base/mem.h"
#include "base/threads.h"
#include "measure/results/results.h"
#include "measure_world.h"

enum { SEEDS = 40, PROCESSES = 3, STEPS = 9, OPS = 14 };

/* Processes launch on devices of others, too, and a step's ops may come after those of the next one. */
static void put_step(struct world *world, uint32_t process, uint32_t thread, int64_t number, int64_t *at) {
    static const uint8_t kinds[] = {GT_OP_KERNEL, GT_OP_KERNEL, GT_OP_KERNEL, GT_OP_MEMCPY};
    static const char *const names[] = {"gemm", "ncclDevKernel_AllReduce", "relu"};
    struct gt_builder *builder = &world->builder;
    uint64_t *random = &world->random;
    int64_t start = *at;
    char name[32];
    for (uint64_t i = 0, count = random_below(random, OPS); i < count; i++, *at += 4) {
        uint64_t id = (uint64_t)*at * PROCESSES + process + 1;
        int64_t begin = *at + 2 + (int64_t)random_below(random, 80);
        uint32_t lane = gt_builder_lane(builder, process, (int64_t)random_below(random, PROCESSES), 7);
        gt_builder_call(builder,
                        &(struct gt_calls_row){*at, *at + 2, id, world_text(world, "cudaLaunchKernel"), thread});
        gt_builder_op(builder, &(struct gt_ops_row){.start_ns = begin,
                                                    .end_ns = begin + (int64_t)random_below(random, 20),
                                                    .correlation = id,
                                                    .name = world_text(world, names[random_below(random, 3)]),
                                                    .lane = lane,
                                                    .kind = kinds[random_below(random, 4)]});
    }
    *at += (int64_t)random_below(random, 10) ? 2 : 90;
    snprintf(name, sizeof name, "step %d", (int)number);
    gt_builder_range(builder, &(struct gt_ranges_row){.start_ns = start,
                                                      .end_ns = *at,
                                                      .name = world_text(world, name),
                                                      .thread = thread,
                                                      .end_thread = GT_NO_TRACK,
                                                      .lane = GT_NO_TRACK,
                                                      .kind = GT_RANGE_NESTED});
    *at += 1;
}

static void begin_trace(struct world *world, uint64_t seed) {
    uint32_t processes[PROCESSES], threads[PROCESSES];
    int64_t at[PROCESSES];
    world_begin(world, seed);
    for (uint32_t p = 0; p < PROCESSES; p++) {
        processes[p] = gt_builder_process(&world->builder, 10 + p, GT_STR(""));
        threads[p] = gt_builder_thread(&world->builder, processes[p], 10 + p, GT_STR(""));
        at[p] = WORLD_START;
    }
    for (int64_t step = 0; step < STEPS; step++)
        for (uint32_t p = 0; p < PROCESSES; p++)
            put_step(world, processes[p], threads[p], step, &at[p]);
    world_seal(world);
}

/* false: the device has no op of the step. */
static bool part_of(const struct gt_view *view, uint32_t step, uint32_t device, struct gt_step_part *part,
                    struct gt_account *account) {
    const struct gt_view_device *of = &view->devices[device];
    struct gt_account_sweep sweep;
    gt_account_sweep_init(&sweep);
    *part = (struct gt_step_part){.step = step, .device = device};
    for (size_t i = of->first; i < of->first + of->count; i++) {
        if (view->labels->op_step[view->row[i]] != step)
            continue;
        part->start_ns = part->ops++ ? part->start_ns : view->start_ns[i];
        part->end_ns = part->ops == 1 || view->end_ns[i] > part->end_ns ? view->end_ns[i] : part->end_ns;
        gt_account_sweep_take(&sweep, view, i, i + 1);
    }
    *account = gt_account_sweep_close(&sweep, part->start_ns, part->end_ns);
    return part->ops;
}

static void assert_part(const struct gt_step_part *found, const struct gt_step_part *expected) {
    assert_int_equal(found->step, expected->step);
    assert_int_equal(found->device, expected->device);
    assert_int_equal(found->ops, expected->ops);
    assert_int_equal(found->start_ns, expected->start_ns);
    assert_int_equal(found->end_ns, expected->end_ns);
}

struct steady {
    size_t count, devices;
    int64_t start_ns;
    bool has[PROCESSES];
};

static void count_steady(const struct gt_step_set *set, const struct gt_step_part *part, struct steady *steady) {
    if (set->states[part->step] == GT_STEP_WARM_UP)
        return;
    steady->start_ns = part->start_ns < steady->start_ns ? part->start_ns : steady->start_ns;
    steady->count++;
    steady->devices += !steady->has[part->device];
    steady->has[part->device] = true;
}

static void check(const struct gt_view *view) {
    struct gt_error err = {0};
    const struct gt_step_set *set = gt_results_steps(view, &err);
    const struct gt_step_accounts *accounts = gt_results_step_accounts(view, &err);
    struct steady steady = {.start_ns = INT64_MAX};
    size_t next = 0;
    assert_non_null(set);
    assert_non_null(accounts);
    for (uint32_t step = 0; step < view->labels->step_count; step++) {
        size_t first = next;
        for (uint32_t device = 0; device < view->device_count; device++) {
            struct gt_step_part expected;
            struct gt_account account;
            if (!part_of(view, step, device, &expected, &account))
                continue;
            assert_true(next < set->count);
            assert_part(&set->parts[next], &expected);
            assert_memory_equal(&accounts->of_part[next++], &account, sizeof account);
            count_steady(set, &expected, &steady);
        }
        if (next == first) {
            struct gt_account none = {0};
            assert_true(next < set->count);
            assert_part(&set->parts[next], &(struct gt_step_part){.step = step, .device = GT_NO_TRACK});
            assert_memory_equal(&accounts->of_part[next++], &none, sizeof none);
        }
    }
    assert_int_equal(next, set->count);
    assert_int_equal(set->steady.count, steady.count);
    assert_int_equal(set->steady.devices, steady.devices);
    assert_int_equal(set->steady.start_ns, steady.start_ns);
}

static void parts_are_those_of_a_plain_pass(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world world;
        begin_trace(&world, seed);
        for (int64_t threads = 1; threads <= 5; threads += 2) {
            struct gt_error err = {0};
            struct gt_view *view;
            world.options.threads = threads;
            assert_int_equal(gt_view_new(world.store, world.labels, ask(&world.options, &world.asked), &view, &err),
                             GT_OK);
            assert_int_equal(view->labels->step_count, PROCESSES * STEPS);
            check(view);
            gt_view_free(view);
        }
        world_end(&world);
    }
}

/* Lengths that no number of 64 bits has are as long as it can be, and as far from each other as that says. */
static void steps_of_all_time_are_equally_long(void **state) {
    struct world world;
    struct gt_error err = {0};
    struct gt_view *view;
    (void)state;
    world_begin(&world, 1);
    uint32_t process = gt_builder_process(&world.builder, 10, GT_STR(""));
    for (int64_t tid = 0; tid < 3; tid++) {
        char name[32];
        snprintf(name, sizeof name, "step %d", (int)tid);
        gt_builder_range(&world.builder,
                         &(struct gt_ranges_row){.start_ns = INT64_MIN + tid,
                                                 .end_ns = INT64_MAX,
                                                 .name = world_text(&world, name),
                                                 .thread = gt_builder_thread(&world.builder, process, tid, GT_STR("")),
                                                 .end_thread = GT_NO_TRACK,
                                                 .lane = GT_NO_TRACK,
                                                 .kind = GT_RANGE_NESTED});
    }
    world_seal(&world);
    assert_int_equal(gt_view_new(world.store, world.labels, ask(&world.options, &world.asked), &view, &err), GT_OK);
    assert_int_equal(view->labels->step_count, 3);
    const struct gt_step_set *set = gt_results_steps(view, &err);
    assert_non_null(set);
    assert_true(set->median_ns == 0x1p63 && set->mad_ns == 0);
    gt_view_free(view);
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_are_those_of_a_plain_pass),
                                       cmocka_unit_test(steps_of_all_time_are_equally_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
