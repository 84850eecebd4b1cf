/* Torture of collectives: every call for memory fails in turn while records are joined with kernels and summed up. */
#include "faults.h"
#include "measure_world.h"

/* A group call, records on kernels and operators, groups by list, stride and configuration. */
static void build(struct world *world) {
    static const char *const calls[] = {"ncclGroupStart", "ncclSend", "ncclRecv", "ncclGroupEnd", "ncclAllReduce"};
    world_begin(world, 1);
    struct gt_builder *builder = &world->builder;
    uint32_t process = gt_builder_process(builder, 50, GT_STR(""));
    uint32_t thread = gt_builder_thread(builder, process, 1, GT_STR(""));
    for (int64_t i = 0; i < 10; i++) {
        int64_t start_ns = 1000 + 100 * i;
        struct gt_comm_groups_row group = GT_COMM_GROUP_UNKNOWN;
        struct gt_comms_row row = GT_COMM_UNKNOWN;
        group.name = world_text(world, i % 2 ? "1" : "2");
        group.size = 3;
        group.source = i == 4 ? GT_GROUP_OF_CONFIG : GT_GROUP_OF_RECORD;
        group.ranks = world_text(world, i == 4 ? "[0, 1, 5]" : i == 6 ? "[0, 2, 3]" : "[0, ...]");
        group.communicator = i < 3 ? 7 : UINT64_MAX;
        group.first_rank = group.stride = i == 7 ? 1 : INT64_MIN;
        row.group = gt_builder_comm_group(builder, &group);
        row.in_bytes = 100;
        row.external = (uint64_t)i / 3;
        gt_builder_call(builder, &(struct gt_calls_row){start_ns + 10, start_ns + 20, (uint64_t)i,
                                                        world_text(world, "cudaLaunchKernel"), thread});
        struct gt_ops_row op = {.start_ns = start_ns + 30,
                                .end_ns = start_ns + 60,
                                .correlation = (uint64_t)i,
                                .name = world_text(world, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"),
                                .lane = gt_builder_lane(builder, process, 0, 7)};
        assert_true(gt_builder_op(builder, &op));
        gt_builder_range(builder, &(struct gt_ranges_row){.start_ns = start_ns,
                                                          .end_ns = start_ns + 50,
                                                          .name = world_text(world, calls[i % 5]),
                                                          .thread = thread,
                                                          .end_thread = GT_NO_TRACK,
                                                          .lane = GT_NO_TRACK});
        row.range = i < 5 && i % 5 % 3 ? 0 : GT_NO_ROW;
        row.op = row.range == GT_NO_ROW && i % 2 ? 0 : GT_NO_ROW;
        row.cpu_op = row.range == GT_NO_ROW && row.op == GT_NO_ROW ? 0 : GT_NO_ROW;
        if (row.range == GT_NO_ROW)
            row.name = world_text(world, "allreduce");
        gt_builder_cpu_op(builder, &(struct gt_cpu_ops_row){start_ns, start_ns + 50, world_text(world, "op"), thread});
        gt_builder_comm(builder, &row);
    }
    world_seal(world);
}

static void expect_lack(enum gt_status status, const struct gt_error *err, const char *what) {
    if (status != GT_ERR || !err->message[0] || system_state.fault == FAULT_NONE)
        fail_msg("%s: status %d, message '%s'", what, (int)status, err->message);
}

static void run_labelling(const void *context, const char *what) {
    const struct world *world = context;
    const struct gt_comm_labels *wanted = &world->labels->comms;
    struct gt_labels *labels;
    struct gt_error err = {0};
    enum gt_status status = gt_label_new(world->store, &labels, &err);
    if (status != GT_OK) {
        expect_lack(status, &err, what);
        assert_null(labels);
        return;
    }
    end_faults();
    assert_int_equal(labels->comms.group_count, wanted->group_count);
    assert_int_equal(labels->comms.launch_count, wanted->launch_count);
    assert_int_equal(labels->comms.collective_count, wanted->collective_count);
    assert_memory_equal(labels->comms.op_launch, wanted->op_launch, world->store->ops.count * sizeof(uint32_t));
    for (size_t i = 0; i < wanted->collective_count; i++)
        assert_int_equal(labels->comms.collectives[i].group, wanted->collectives[i].group);
    gt_label_free(labels);
}

static void run_measuring(const void *context, const char *what) {
    struct world world = *(const struct world *)context;
    struct gt_error err = {0};
    struct gt_report *report = gt_report_new("test", 1);
    enum gt_status status =
        report ? gt_analysis_find("collectives")->run(world.view, &report->sections[0], &err) : gt_fail_memory(&err);
    if (status == GT_OK)
        status = gt_report_status(report, &err);
    if (status != GT_OK)
        expect_lack(status, &err, what);
    else
        assert_int_equal(gt_section_find(&report->sections[0], "collectives")->row_count,
                         world_table(&world, "collectives")->row_count);
    gt_report_free(report);
}

static void joining_survives(void **state) {
    (void)state;
    struct world world;
    build(&world);
    assert_true(world.labels->comms.collective_count > 4 && world.labels->comms.group_count > 2);
    torture(run_labelling, &world, "labels");
    world_end(&world);
}

static void summing_survives(void **state) {
    (void)state;
    struct world world;
    build(&world);
    world_run(&world, "collectives");
    assert_true(world_table(&world, "collectives")->row_count > 2);
    torture(run_measuring, &world, "collectives");
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(joining_survives, switch_faults_off),
        cmocka_unit_test_setup(summing_survives, switch_faults_off),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    print_faults();
    return failed;
}
