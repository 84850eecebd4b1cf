/* The table of collectives: by operation, group and type, of the whole trace and of a selection; time and bandwidth of
   their kernels. */
#include "measure_world.h"

struct message {
    int64_t start_ns, pid;
    const char *name, *domain;
    uint64_t bytes;
};

/* Ops of processes 50 and 51, the messages, and between them ranges without any. */
static void build(struct world *world, const struct message *messages, size_t count) {
    world_begin(world, 1);
    struct gt_builder *builder = &world->builder;
    for (int64_t pid = 50; pid < 52; pid++) {
        uint32_t process = gt_builder_process(builder, pid, GT_STR(""));
        struct gt_ops_row op = {.start_ns = 1000 * (pid - 49),
                                .end_ns = 1000 * (pid - 49) + 500,
                                .name = world_text(world, "k"),
                                .lane = gt_builder_lane(builder, process, pid - 50, 7)};
        assert_true(gt_builder_op(builder, &op));
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t process = gt_builder_process(builder, messages[i].pid, GT_STR(""));
        struct gt_ranges_row range = {.start_ns = messages[i].start_ns,
                                      .end_ns = messages[i].start_ns + 5,
                                      .name = world_text(world, messages[i].name),
                                      .domain = world_text(world, messages[i].domain),
                                      .thread = gt_builder_thread(builder, process, 1, GT_STR("")),
                                      .end_thread = GT_NO_TRACK,
                                      .lane = GT_NO_TRACK};
        gt_builder_range(builder, &range);
        struct gt_comms_row comm = GT_COMM_UNKNOWN;
        comm.in_bytes = messages[i].bytes;
        comm.range = 0;
        gt_builder_comm(builder, &comm);
        range.name = world_text(world, "without");
        gt_builder_range(builder, &range);
    }
    world_seal(world);
}

static void row_is(const struct gt_table *table, size_t row, const char *name, const char *domain, int64_t count,
                   int64_t bytes, int64_t min_bytes, int64_t max_bytes) {
    assert_text(table_text(table, row, "name"), name);
    assert_text(table_text(table, row, "domain"), domain);
    assert_int_equal(table_int(table, row, "count"), count);
    assert_int_equal(table_int(table, row, "bytes"), bytes);
    assert_int_equal(table_int(table, row, "min_bytes"), min_bytes);
    assert_int_equal(table_int(table, row, "max_bytes"), max_bytes);
    assert_near(table_real(table, row, "avg_bytes"), (double)bytes / (double)count);
    assert_true(table_is_null(table, row, "time_ns")); /* without kernels */
    assert_true(table_is_null(table, row, "busbw"));
}

static const struct message messages[] = {
    {1000, 50, "allReduce", "NCCL", 100}, {1100, 50, "allReduce", "OTHER", 5000},    {1200, 51, "allReduce", "NCCL", 0},
    {1900, 50, "bcast", "NCCL", 4000},    {2100, 51, "ncclAllReduce", "NCCL", 3900}, {2200, 51, "aaa", "NCCL", 4000},
};

static void messages_are_summed_by_name_and_domain(void **state) {
    (void)state;
    struct world world;
    build(&world, messages, 6);
    world_run(&world, "collectives");
    const struct gt_table *table = world_table(&world, "collectives");
    assert_int_equal(table->row_count, 4);
    row_is(table, 0, "all_reduce", "OTHER", 1, 5000, 5000, 5000);
    row_is(table, 1, "aaa", "NCCL", 1, 4000, 4000, 4000);
    row_is(table, 2, "all_reduce", "NCCL", 3, 4000, 0, 3900);
    row_is(table, 3, "broadcast", "NCCL", 1, 4000, 4000, 4000);
    world_end(&world);
}

static void a_selection_has_its_own(void **state) {
    (void)state;
    struct world world;
    build(&world, messages, 6);
    world.options.from = "100ns";
    world.options.to = "1us";
    world_run(&world, "collectives");
    const struct gt_table *table = world_table(&world, "collectives");
    assert_int_equal(table->row_count, 2); /* of process 50: only its op is in the window */
    row_is(table, 0, "all_reduce", "OTHER", 1, 5000, 5000, 5000);
    row_is(table, 1, "broadcast", "NCCL", 1, 4000, 4000, 4000);
    world.options = (struct asking){.process = "51"};
    world_run(&world, "collectives");
    table = world_table(&world, "collectives");
    assert_int_equal(table->row_count, 2);
    row_is(table, 0, "aaa", "NCCL", 1, 4000, 4000, 4000);
    row_is(table, 1, "all_reduce", "NCCL", 2, 3900, 0, 3900);
    world_end(&world);
}

static void sums_beyond_64_bits_stop_at_the_end(void **state) {
    (void)state;
    const struct message huge[] = {{1000, 50, "a", "", UINT64_MAX - 1}, {1001, 50, "a", "", UINT64_MAX - 1}};
    struct world world;
    build(&world, huge, 2);
    world_run(&world, "collectives");
    const struct gt_table *table = world_table(&world, "collectives");
    assert_int_equal(table_int(table, 0, "bytes"), INT64_MAX);
    assert_int_equal(table_int(table, 0, "max_bytes"), INT64_MAX);
    assert_near(table_real(table, 0, "avg_bytes") / 18446744073709551615.0, 1);
    world_end(&world);
}

static void without_messages_the_table_is_empty_and_not_shown(void **state) {
    (void)state;
    struct world world;
    build(&world, NULL, 0);
    world_run(&world, "collectives");
    const struct gt_table *table = world_table(&world, "collectives");
    assert_int_equal(table->row_count, 0);
    assert_null(table->empty);
    world_end(&world);
}

static const char *why_empty(const char *format, const char *kernel, const char *domain) {
    struct world world;
    world_begin(&world, 1);
    struct gt_builder *builder = &world.builder;
    uint32_t process = gt_builder_process(builder, 50, GT_STR(""));
    builder->store.meta.format = format;
    struct gt_ops_row op = {.start_ns = 5,
                            .end_ns = 9,
                            .name = world_text(&world, kernel),
                            .lane = gt_builder_lane(builder, process, 0, 7)};
    assert_true(gt_builder_op(builder, &op));
    gt_builder_range(builder, &(struct gt_ranges_row){.start_ns = 1,
                                                      .end_ns = 2,
                                                      .name = world_text(&world, "ncclAllReduce"),
                                                      .domain = world_text(&world, domain),
                                                      .thread = gt_builder_thread(builder, process, 1, GT_STR("")),
                                                      .end_thread = GT_NO_TRACK,
                                                      .lane = GT_NO_TRACK});
    world_seal(&world);
    world.store->asked |= GT_FACT_COMMS;
    world_run(&world, "collectives");
    const char *why = world_table(&world, "collectives")->empty; /* a constant */
    world_end(&world);
    return why;
}

static void an_empty_table_says_what_the_trace_lacks(void **state) {
    (void)state;
    const char *kernel = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";
    assert_null(why_empty("torch-json", "gemm", ""));
    assert_null(why_empty("nsys-sqlite", "gemm", "NCCL"));
    assert_non_null(strstr(why_empty("torch-json", kernel, ""), "no collective metadata"));
    assert_non_null(strstr(why_empty("nsys-rep", kernel, "NCCL"), "no collective metadata"));
    assert_non_null(strstr(why_empty("nsys-sqlite", kernel, ""), "no collective metadata"));
    assert_non_null(strstr(why_empty("nsys-sqlite", kernel, "NCCL"), "--include-blobs=true"));
}

/* ---- with kernels ---- */

#define RING "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
#define TREE "ncclDevKernel_AllReduce_Sum_bf16_TREE_LL(ncclDevKernelArgsStorage<4096ul>)"

static uint32_t add_group(struct world *world, const char *name, const char *description, int64_t size) {
    struct gt_comm_groups_row row = GT_COMM_GROUP_UNKNOWN;
    row.name = world_text(world, name);
    row.description = world_text(world, description);
    row.size = size;
    return gt_builder_comm_group(&world->builder, &row);
}

static uint32_t add_communicator(struct world *world, uint64_t communicator, int64_t size) {
    struct gt_comm_groups_row row = GT_COMM_GROUP_UNKNOWN;
    row.communicator = communicator;
    row.size = size;
    return gt_builder_comm_group(&world->builder, &row);
}

/* A kernel of process 50 and its launch, which is 2 ns long. */
static void add_kernel(struct world *world, int64_t launch_ns, int64_t length_ns, const char *name) {
    struct gt_builder *builder = &world->builder;
    uint32_t process = gt_builder_process(builder, 50, GT_STR(""));
    struct gt_ops_row op = {.start_ns = launch_ns + 10,
                            .end_ns = launch_ns + 10 + length_ns,
                            .correlation = (uint64_t)launch_ns,
                            .name = world_text(world, name),
                            .lane = gt_builder_lane(builder, process, 0, 7)};
    assert_true(gt_builder_op(builder, &op));
    gt_builder_call(builder, &(struct gt_calls_row){launch_ns, launch_ns + 2, (uint64_t)launch_ns,
                                                    world_text(world, "cudaLaunchKernel"),
                                                    gt_builder_thread(builder, process, 1, GT_STR(""))});
}

/* The record of the latest kernel. */
static void add_record(struct world *world, const char *name, const char *dtype, uint32_t group, uint64_t bytes) {
    struct gt_comms_row row = GT_COMM_UNKNOWN;
    row.name = world_text(world, name);
    row.dtype = world_text(world, dtype);
    row.in_bytes = row.out_bytes = bytes;
    row.group = group;
    row.op = 0;
    gt_builder_comm(&world->builder, &row);
}

static void add_call_of_nccl(struct world *world, int64_t start_ns, int64_t end_ns, const char *name, uint32_t group,
                             uint64_t bytes) {
    struct gt_builder *builder = &world->builder;
    uint32_t process = gt_builder_process(builder, 50, GT_STR(""));
    struct gt_comms_row row = GT_COMM_UNKNOWN;
    gt_builder_range(builder, &(struct gt_ranges_row){.start_ns = start_ns,
                                                      .end_ns = end_ns,
                                                      .name = world_text(world, name),
                                                      .domain = world_text(world, "NCCL"),
                                                      .thread = gt_builder_thread(builder, process, 1, GT_STR("")),
                                                      .end_thread = GT_NO_TRACK,
                                                      .lane = GT_NO_TRACK});
    row.in_bytes = bytes;
    row.group = group;
    row.range = 0;
    if (bytes != UINT64_MAX)
        gt_builder_comm(builder, &row);
}

static bool has_note_about_ranks(const struct world *world) {
    const struct gt_section *section = world->section;
    for (size_t i = 0; i < section->block_count; i++)
        if (section->blocks[i].kind == GT_BLOCK_NOTE &&
            gt_str_find_nocase(section->blocks[i].note, GT_STR("how many ranks their groups have")))
            return true;
    return false;
}

static void kernels_give_time_and_bandwidth(void **state) {
    (void)state;
    struct world world;
    world_begin(&world, 1);
    uint32_t tp = add_group(&world, "1", "tp", 4), dp = add_group(&world, "2", "dp", 2);
    uint32_t of_unknown_size = add_group(&world, "3", "", -1);
    add_kernel(&world, 1000, 100, RING);
    add_record(&world, "allreduce", "BFloat16", tp, 2000); /* 3000 on the bus in 100 ns */
    add_kernel(&world, 1200, 300, RING);
    add_record(&world, "allreduce_coalesced", "BFloat16", tp, 4000); /* 6000 in 300 ns */
    add_kernel(&world, 1600, 50, TREE);
    add_record(&world, "allreduce", "BFloat16", tp, 1000); /* another algorithm */
    add_kernel(&world, 1700, 60, RING);
    add_record(&world, "allreduce", "Float", tp, 900); /* another type */
    add_kernel(&world, 1800, 70, RING);
    add_record(&world, "allreduce", "BFloat16", dp, 800); /* another group */
    add_kernel(&world, 1900, 80, RING);
    add_record(&world, "allreduce", "BFloat16", of_unknown_size, 700);
    add_kernel(&world, 2000, 80, RING);
    add_record(&world, "barrier", "Byte", tp, 0);
    add_kernel(&world, 2100, 80, RING);
    add_record(&world, "broadcast", "", tp, UINT64_MAX);
    world_seal(&world);
    world_run(&world, "collectives");
    const struct gt_table *table = world_table(&world, "collectives");
    assert_int_equal(table->row_count, 7);
    assert_text(table_text(table, 0, "name"), "all_reduce");
    assert_true(table_is_null(table, 0, "domain"));
    assert_text(table_text(table, 0, "group"), "1");
    assert_true(table_is_null(table, 0, "communicator"));
    assert_text(table_text(table, 0, "description"), "tp");
    assert_text(table_text(table, 0, "dtype"), "BFloat16");
    assert_text(table_text(table, 0, "algorithm"), "Ring");
    assert_text(table_text(table, 0, "protocol"), "LL");
    assert_int_equal(table_int(table, 0, "size"), 4);
    assert_int_equal(table_int(table, 0, "count"), 2);
    assert_int_equal(table_int(table, 0, "bytes"), 6000);
    assert_int_equal(table_int(table, 0, "time_ns"), 400);
    assert_near(table_real(table, 0, "busbw"), 9000.0 / 400);
    assert_near(table_real(table, 0, "best_busbw"), 30);
    assert_text(table_text(table, 1, "algorithm"), "Tree");
    assert_text(table_text(table, 2, "dtype"), "Float");
    assert_text(table_text(table, 3, "group"), "2");
    assert_near(table_real(table, 3, "busbw"), 800.0 / 70);
    assert_text(table_text(table, 4, "group"), "3");
    assert_true(table_is_null(table, 4, "size"));
    assert_true(table_is_null(table, 4, "busbw"));
    assert_int_equal(table_int(table, 4, "time_ns"), 80);
    assert_text(table_text(table, 5, "name"), "barrier");
    assert_true(table_is_null(table, 5, "busbw")); /* it moves nothing */
    assert_int_equal(table_int(table, 5, "max_bytes"), 0);
    assert_text(table_text(table, 6, "name"), "broadcast");
    assert_true(table_is_null(table, 6, "bytes"));
    assert_true(table_is_null(table, 6, "avg_bytes"));
    assert_true(table_is_null(table, 6, "dtype"));
    assert_int_equal(table_int(table, 6, "count"), 1);
    assert_true(has_note_about_ranks(&world)); /* because of group 3 */
    world_end(&world);
}

static void kernels_of_a_group_call_count_once_for_each_row(void **state) {
    (void)state;
    struct world world;
    world_begin(&world, 1);
    uint32_t one = add_communicator(&world, 0x1234, 4), other = add_communicator(&world, UINT64_MAX - 1, 4);
    add_call_of_nccl(&world, 1000, 1001, "ncclGroupStart", one, UINT64_MAX);
    add_call_of_nccl(&world, 1010, 1011, "ncclSend", one, 3000);
    add_call_of_nccl(&world, 1020, 1021, "ncclSend", one, 5000);
    add_call_of_nccl(&world, 1030, 1031, "ncclRecv", one, 4000);
    add_call_of_nccl(&world, 1040, 1060, "ncclGroupEnd", one, UINT64_MAX);
    add_kernel(&world, 1045, 100, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)");
    add_call_of_nccl(&world, 1200, 1201, "ncclGroupStart", one, UINT64_MAX); /* two communicators: whose kernel? */
    add_call_of_nccl(&world, 1210, 1211, "ncclAllReduce", one, 1000);
    add_call_of_nccl(&world, 1220, 1221, "ncclAllReduce", other, 900);
    add_call_of_nccl(&world, 1230, 1250, "ncclGroupEnd", one, UINT64_MAX);
    add_kernel(&world, 1235, 100, RING);
    add_call_of_nccl(&world, 1400, 1401, "ncclGroupStart", one, UINT64_MAX); /* each kernel says whose it is */
    add_call_of_nccl(&world, 1410, 1411, "ncclBroadcast", one, 300);
    add_call_of_nccl(&world, 1420, 1421, "ncclAllReduce", one, 400);
    add_call_of_nccl(&world, 1430, 1450, "ncclGroupEnd", one, UINT64_MAX);
    add_kernel(&world, 1435, 10, "ncclDevKernel_Broadcast_RING_LL");
    add_kernel(&world, 1445, 20, RING);
    world_seal(&world);
    world_run(&world, "collectives");
    const struct gt_table *table = world_table(&world, "collectives");
    assert_int_equal(table->row_count, 6);
    assert_text(table_text(table, 0, "name"), "send");
    assert_text(table_text(table, 0, "communicator"), "0x0000000000001234");
    assert_true(table_is_null(table, 0, "group"));
    assert_text(table_text(table, 0, "domain"), "NCCL");
    assert_int_equal(table_int(table, 0, "count"), 2);
    assert_int_equal(table_int(table, 0, "time_ns"), 100);
    assert_near(table_real(table, 0, "busbw"), 80);
    assert_near(table_real(table, 0, "best_busbw"), 80);
    assert_text(table_text(table, 1, "name"), "recv");
    assert_int_equal(table_int(table, 1, "time_ns"), 100);
    assert_near(table_real(table, 1, "busbw"), 40);
    assert_true(table_is_null(table, 2, "time_ns"));
    assert_int_equal(table_int(table, 2, "bytes"), 1000);
    assert_true(table_is_null(table, 2, "algorithm"));
    assert_text(table_text(table, 3, "communicator"), "0xfffffffffffffffe");
    assert_true(table_is_null(table, 3, "busbw"));
    assert_text(table_text(table, 4, "name"), "all_reduce");
    assert_int_equal(table_int(table, 4, "time_ns"), 20);
    assert_near(table_real(table, 4, "busbw"), 30);
    assert_text(table_text(table, 5, "name"), "broadcast");
    assert_int_equal(table_int(table, 5, "time_ns"), 10);
    assert_false(has_note_about_ranks(&world));
    world_end(&world);
}

static void a_selection_has_the_collectives_of_its_kernels(void **state) {
    (void)state;
    struct world world;
    world_begin(&world, 1);
    uint32_t group = add_group(&world, "1", "tp", 4);
    add_kernel(&world, 1000, 100, RING);
    add_record(&world, "allreduce", "BFloat16", group, 2000);
    add_kernel(&world, 1200, 300, RING);
    add_record(&world, "allreduce", "BFloat16", group, 4000);
    world_seal(&world);
    world.options.to = "150ns";
    world_run(&world, "collectives");
    assert_int_equal(table_int(world_table(&world, "collectives"), 0, "bytes"), 2000);
    world.options = (struct asking){.from = "250ns"}; /* cuts the second kernel, which counts as a whole */
    world_run(&world, "collectives");
    const struct gt_table *table = world_table(&world, "collectives");
    assert_int_equal(table_int(table, 0, "count"), 1);
    assert_int_equal(table_int(table, 0, "time_ns"), 300);
    assert_near(table_real(table, 0, "busbw"), 20);
    world.options = (struct asking){.name = "gemm"};
    world_run(&world, "collectives");
    table = world_table(&world, "collectives");
    assert_int_equal(table->row_count, 0);
    assert_non_null(table->empty);
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_summed_by_name_and_domain),
        cmocka_unit_test(a_selection_has_its_own),
        cmocka_unit_test(sums_beyond_64_bits_stop_at_the_end),
        cmocka_unit_test(without_messages_the_table_is_empty_and_not_shown),
        cmocka_unit_test(an_empty_table_says_what_the_trace_lacks),
        cmocka_unit_test(kernels_give_time_and_bandwidth),
        cmocka_unit_test(kernels_of_a_group_call_count_once_for_each_row),
        cmocka_unit_test(a_selection_has_the_collectives_of_its_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
