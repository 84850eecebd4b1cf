/* Collectives of ops: which records belong to which kernels, as one record each; bytes on the bus. */
#include <math.h>

#include "events/comms.h"
#include "small_trace.h"

#define KERNEL "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

/* ---- making traces ---- */

static gt_strid text(struct small_trace *trace, const char *words) {
    return gt_builder_string(&trace->builder, gt_str_of(words));
}

/* A kernel of process 10 and its launch, which is 2 ns long. */
static void add_kernel(struct small_trace *trace, int64_t tid, int64_t launch_ns, uint64_t correlation,
                       const char *name) {
    add_op(trace, 10, 0, 7, launch_ns + 5, launch_ns + 105, correlation, name);
    add_call(trace, 10, tid, launch_ns, launch_ns + 2, correlation);
}

static struct gt_comms_row record_of(struct small_trace *trace, const char *name, uint64_t bytes, uint64_t external) {
    struct gt_comms_row row = GT_COMM_UNKNOWN;
    row.name = text(trace, name);
    row.in_bytes = bytes;
    row.external = external;
    return row;
}

static void add_kernel_record(struct small_trace *trace, const char *name, uint64_t bytes, uint64_t external) {
    struct gt_comms_row row = record_of(trace, name, bytes, external);
    row.op = 0;
    gt_builder_comm(&trace->builder, &row);
}

static void add_operator_record(struct small_trace *trace, int64_t pid, int64_t tid, int64_t start_ns, int64_t end_ns,
                                const char *name, uint64_t bytes, uint64_t external) {
    struct gt_comms_row row = record_of(trace, name, bytes, external);
    uint32_t thread = gt_builder_thread(&trace->builder, process_of(trace, pid), tid, GT_STR(""));
    gt_builder_cpu_op(&trace->builder,
                      &(struct gt_cpu_ops_row){start_ns, end_ns, text(trace, "record_param_comms"), thread});
    row.cpu_op = 0;
    row.rank = 3;
    gt_builder_comm(&trace->builder, &row);
}

/* A call of NCCL on a thread of process 10, with a record unless it only groups. */
static void add_nccl(struct small_trace *trace, int64_t tid, int64_t start_ns, int64_t end_ns, const char *name,
                     uint64_t bytes) {
    add_range(trace, GT_RANGE_NESTED, 10, tid, start_ns, end_ns, name);
    struct gt_comms_row row = record_of(trace, "", bytes, UINT64_MAX);
    row.range = 0;
    if (bytes != UINT64_MAX)
        gt_builder_comm(&trace->builder, &row);
}

static void add_group_start(struct small_trace *trace, int64_t tid, int64_t start_ns) {
    add_nccl(trace, tid, start_ns, start_ns + 1, "ncclGroupStart", UINT64_MAX);
}

static void add_group_end(struct small_trace *trace, int64_t tid, int64_t start_ns) {
    add_nccl(trace, tid, start_ns, start_ns + 10, "ncclGroupEnd", UINT64_MAX);
}

/* ---- asking ---- */

static const struct gt_comm_labels *comms_of(const struct small_trace *trace) {
    return &trace->labels->comms;
}

static struct gt_comms_row merged(const struct small_trace *trace, size_t collective) {
    assert_true(collective < comms_of(trace)->collective_count);
    return gt_comms_merged(trace->store, &comms_of(trace)->collectives[collective]);
}

/* The collectives of an op, by their bytes, must be these. */
static void op_carries(const struct small_trace *trace, uint32_t op, const uint64_t *bytes, size_t count) {
    const struct gt_comm_launch *launch = gt_comms_of_op(trace->labels, op);
    if (!launch) {
        assert_int_equal(count, 0);
        return;
    }
    assert_int_equal(launch->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(merged(trace, launch->first + i).in_bytes, bytes[i]);
        assert_ptr_equal(&comms_of(trace)->launches[comms_of(trace)->collectives[launch->first + i].launch], launch);
    }
    bool is_listed = false;
    for (uint32_t i = 0; i < launch->op_count; i++)
        is_listed |= comms_of(trace)->ops[launch->first_op + i] == op;
    assert_true(is_listed);
}
#define CARRIES(trace, op, ...)                                                                                        \
    op_carries(trace, op, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
#define CARRIES_NOTHING(trace, op) op_carries(trace, op, NULL, 0)

/* ---- Kineto ---- */

static void without_records_there_is_nothing(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    add_kernel(&trace, 1, 0, 1, KERNEL);
    trace_end(&trace);
    assert_int_equal(comms_of(&trace)->collective_count, 0);
    assert_null(comms_of(&trace)->op_launch);
    CARRIES_NOTHING(&trace, 0);
    trace_free(&trace);
}

static void the_kernels_record_comes_first_and_the_operators_completes_it(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    add_kernel(&trace, 1, 100, 1, KERNEL);
    add_kernel_record(&trace, "allreduce", 4096, 77);
    add_kernel(&trace, 1, 300, 2, KERNEL);
    add_kernel_record(&trace, "", UINT64_MAX, 78); /* knows no more than the id */
    add_operator_record(&trace, 10, 1, 900, 910, "broadcast", 1, 77);
    add_operator_record(&trace, 10, 1, 920, 930, "broadcast", 512, 78);
    add_operator_record(&trace, 10, 1, 940, 950, "wait", 0, 79); /* no collective */
    add_operator_record(&trace, 10, 1, 960, 970, "allgather", 64, 80);
    trace_end(&trace);
    assert_int_equal(comms_of(&trace)->collective_count, 3);
    CARRIES(&trace, 0, 4096);
    CARRIES(&trace, 1, 512);
    struct gt_comms_row row = merged(&trace, 0);
    assert_int_equal(row.rank, 3);
    assert_int_equal(row.op, 0);
    assert_int_equal(row.cpu_op, 0);
    assert_int_equal(comms_of(&trace)->collectives[0].op, GT_COMM_all_reduce);
    assert_int_equal(comms_of(&trace)->collectives[1].op, GT_COMM_broadcast);
    assert_int_equal(comms_of(&trace)->collectives[2].op, GT_COMM_all_gather); /* without a kernel */
    assert_int_equal(comms_of(&trace)->launches[2].op_count, 0);
    trace_free(&trace);
}

static void the_rank_of_kineto_is_the_own_place_the_root_or_the_peer(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t rank, root, peer;
    } cases[] = {
        {"allreduce", 3, INT64_MIN, INT64_MIN},     {"_allgather_base", 3, INT64_MIN, INT64_MIN},
        {"all_to_allv", 3, INT64_MIN, INT64_MIN},   {"barrier", 3, INT64_MIN, INT64_MIN},
        {"broadcast", INT64_MIN, 3, INT64_MIN},     {"reduce", INT64_MIN, 3, INT64_MIN},
        {"gather", INT64_MIN, 3, INT64_MIN},        {"scatter", INT64_MIN, 3, INT64_MIN},
        {"send", INT64_MIN, INT64_MIN, 3},          {"recvAnySource", INT64_MIN, INT64_MIN, 3},
        {"something new", 3, INT64_MIN, INT64_MIN},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    struct small_trace trace;
    trace_begin(&trace);
    for (uint64_t i = 0; i < CASES; i++) { /* the name is on the kernel, the rank on the operator */
        add_kernel(&trace, 1, 100 * (int64_t)i, i, KERNEL);
        add_kernel_record(&trace, cases[i].name, 4096, i);
        add_operator_record(&trace, 10, 1, 100 * (int64_t)i, 100 * (int64_t)i + 1, "", UINT64_MAX, i);
    }
    trace_end(&trace);
    assert_int_equal(comms_of(&trace)->collective_count, CASES);
    for (size_t i = 0; i < CASES; i++) {
        struct gt_comms_row row = merged(&trace, i);
        assert_int_equal(row.rank, cases[i].rank);
        assert_int_equal(row.root, cases[i].root);
        assert_int_equal(row.peer, cases[i].peer);
    }
    trace_free(&trace);
}

static void the_ranks_of_nccl_are_what_they_are_called(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    add_range(&trace, GT_RANGE_NESTED, 10, 1, 100, 200, "ncclBroadcast");
    struct gt_comms_row record = record_of(&trace, "", 64, UINT64_MAX);
    record.range = 0;
    record.rank = 1;
    record.root = 2;
    gt_builder_comm(&trace.builder, &record);
    trace_end(&trace);
    assert_int_equal(merged(&trace, 0).rank, 1);
    assert_int_equal(merged(&trace, 0).root, 2);
    trace_free(&trace);
}

static void a_missing_operator_leaves_the_kernels_record(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    add_kernel(&trace, 1, 100, 1, KERNEL);
    add_kernel_record(&trace, "_allgather_base", 4096, 77);
    add_kernel(&trace, 1, 300, 2, KERNEL);
    add_kernel_record(&trace, "", UINT64_MAX, 78); /* and nobody knows more: no collective */
    trace_end(&trace);
    CARRIES(&trace, 0, 4096);
    CARRIES_NOTHING(&trace, 1);
    assert_int_equal(comms_of(&trace)->collectives[0].more, GT_NO_ROW);
    assert_int_equal(merged(&trace, 0).rank, INT64_MIN);
    trace_free(&trace);
}

static void kernels_with_one_id_are_one_collective(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    for (uint64_t i = 0; i < 3; i++) {
        add_kernel(&trace, 1, 100 * (int64_t)i, i, "ncclDevKernel_SendRecv");
        add_kernel_record(&trace, "all_to_allv", 4096, i < 2 ? 77 : 78);
    }
    trace_end(&trace);
    assert_int_equal(comms_of(&trace)->collective_count, 2);
    assert_int_equal(comms_of(&trace)->launches[0].op_count, 2);
    CARRIES(&trace, 0, 4096);
    CARRIES(&trace, 1, 4096);
    assert_ptr_equal(gt_comms_of_op(trace.labels, 0), gt_comms_of_op(trace.labels, 1));
    assert_ptr_not_equal(gt_comms_of_op(trace.labels, 0), gt_comms_of_op(trace.labels, 2));
    assert_int_equal(trace.labels->issues[GT_ISSUE_COLLECTIVE_AMBIGUOUS_GROUP], 0);
    trace_free(&trace);
}

static void ids_are_unique_in_a_process_only(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    for (int64_t pid = 10; pid < 12; pid++) {
        add_op(&trace, pid, pid, 7, 100, 200, 1, KERNEL);
        add_kernel_record(&trace, "allreduce", UINT64_MAX, 77);
    }
    for (int64_t pid = 10; pid < 12; pid++)
        add_operator_record(&trace, pid, 1, 0, 50, "allreduce", (uint64_t)pid, 77);
    trace_end(&trace);
    CARRIES(&trace, 0, 10);
    CARRIES(&trace, 1, 11);
    trace_free(&trace);
}

static void a_kernel_of_an_unknown_process_belongs_to_the_only_one(void **state) {
    (void)state;
    for (int64_t others = 0; others < 2; others++) {
        struct small_trace trace;
        trace_begin(&trace);
        add_op(&trace, NO_PID, 0, 7, 100, 200, GT_NO_CORRELATION, KERNEL);
        add_kernel_record(&trace, "allreduce", UINT64_MAX, 77);
        add_operator_record(&trace, 10, 1, 0, 50, "allreduce", 5, 77);
        if (others)
            add_operator_record(&trace, 11, 1, 0, 50, "allreduce", 6, 77);
        trace_end(&trace);
        CARRIES(&trace, 0, others ? UINT64_MAX : 5);
        trace_free(&trace);
    }
}

static void older_kineto_has_records_on_operators_alone(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    add_operator_record(&trace, 10, 1, 100, 200, "allreduce", 1, 5);
    add_operator_record(&trace, 10, 1, 120, 140, "allgather", 2, 6); /* inside the other */
    add_operator_record(&trace, 10, 1, 122, 130, "wait", 0, 7);
    add_kernel(&trace, 1, 125, 1, KERNEL); /* in the inner one */
    add_kernel(&trace, 1, 150, 2, KERNEL);
    add_kernel(&trace, 1, 199, 3, KERNEL); /* ends after it */
    add_kernel(&trace, 2, 150, 4, KERNEL); /* on another thread */
    add_kernel(&trace, 1, 160, 5, "gemm"); /* no communication */
    trace_end(&trace);
    CARRIES(&trace, 0, 2);
    CARRIES(&trace, 1, 1);
    CARRIES_NOTHING(&trace, 2);
    CARRIES_NOTHING(&trace, 3);
    CARRIES_NOTHING(&trace, 4);
    trace_free(&trace);
}

/* ---- Nsight ---- */

static void a_kernel_belongs_to_the_call_around_its_launch(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    add_range(&trace, GT_RANGE_NESTED, 10, 1, 0, 1000, "step");
    add_nccl(&trace, 1, 100, 200, "ncclAllReduce", 1);
    add_range(&trace, GT_RANGE_START_END, 10, 1, 110, 300, "user"); /* overlaps the call */
    add_nccl(&trace, 1, 400, 500, "ncclBroadcast", 2);
    add_nccl(&trace, 1, 600, 650, "ncclCommInitRank", UINT64_MAX); /* without a size: no collective */
    add_kernel(&trace, 1, 120, 1, KERNEL);
    add_kernel(&trace, 1, 420, 2, KERNEL);
    add_kernel(&trace, 1, 550, 3, KERNEL);
    add_kernel(&trace, 2, 420, 4, KERNEL);
    trace_end(&trace);
    assert_int_equal(comms_of(&trace)->collective_count, 2);
    CARRIES(&trace, 0, 1);
    CARRIES(&trace, 1, 2);
    CARRIES_NOTHING(&trace, 2);
    CARRIES_NOTHING(&trace, 3);
    assert_int_equal(comms_of(&trace)->collectives[1].op, GT_COMM_broadcast); /* by the name of its range */
    trace_free(&trace);
}

static void the_last_end_launches_the_group(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    add_group_start(&trace, 1, 100);
    add_nccl(&trace, 1, 110, 115, "ncclSend", 1);
    add_group_start(&trace, 1, 120); /* a group in the group */
    add_nccl(&trace, 1, 130, 135, "ncclRecv", 2);
    add_group_end(&trace, 1, 140);
    add_nccl(&trace, 2, 145, 149, "ncclSend", 9); /* of another thread */
    add_nccl(&trace, 1, 150, 155, "ncclSend", 3);
    add_group_end(&trace, 1, 160);
    add_nccl(&trace, 1, 200, 220, "ncclAllReduce", 4); /* after it */
    add_kernel(&trace, 1, 162, 1, "ncclDevKernel_SendRecv");
    add_kernel(&trace, 1, 202, 2, KERNEL);
    trace_end(&trace);
    CARRIES(&trace, 0, 1, 2, 3);
    CARRIES(&trace, 1, 4);
    assert_int_equal(comms_of(&trace)->launch_count, 3);
    assert_int_equal(trace.labels->issues[GT_ISSUE_COLLECTIVE_AMBIGUOUS_GROUP], 0);
    trace_free(&trace);
}

static void all_kernels_of_a_group_carry_all_of_it(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    add_group_start(&trace, 1, 100);
    add_nccl(&trace, 1, 110, 115, "ncclAllReduce", 1);
    add_nccl(&trace, 1, 120, 125, "ncclAllReduce", 2);
    add_group_end(&trace, 1, 160);
    add_kernel(&trace, 1, 162, 1, KERNEL);
    add_kernel(&trace, 1, 166, 2, KERNEL);
    trace_end(&trace);
    CARRIES(&trace, 0, 1, 2);
    CARRIES(&trace, 1, 1, 2);
    assert_int_equal(comms_of(&trace)->launch_count, 1);
    assert_int_equal(trace.labels->issues[GT_ISSUE_COLLECTIVE_AMBIGUOUS_GROUP], 1);
    trace_free(&trace);
}

static void groups_that_lost_a_call_end_where_kernels_are_launched(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    add_group_end(&trace, 1, 10);   /* its start was before the capture */
    add_group_start(&trace, 1, 30); /* its end is lost */
    add_nccl(&trace, 1, 40, 45, "ncclSend", 1);
    add_nccl(&trace, 1, 50, 60, "ncclAllReduce", 2); /* launches: there is no group any more */
    add_nccl(&trace, 1, 70, 80, "ncclAllReduce", 3);
    add_group_start(&trace, 1, 100); /* lost as well */
    add_group_start(&trace, 1, 105);
    add_nccl(&trace, 1, 110, 115, "ncclRecv", 4);
    add_group_end(&trace, 1, 120);
    add_nccl(&trace, 1, 140, 150, "ncclAllReduce", 5);
    add_kernel(&trace, 1, 12, 1, KERNEL);
    add_kernel(&trace, 1, 52, 2, KERNEL);
    add_kernel(&trace, 1, 72, 3, KERNEL);
    add_kernel(&trace, 1, 122, 4, KERNEL);
    add_kernel(&trace, 1, 142, 5, KERNEL);
    trace_end(&trace);
    CARRIES_NOTHING(&trace, 0);
    CARRIES(&trace, 1, 2);
    CARRIES(&trace, 2, 3);
    CARRIES(&trace, 3, 4);
    CARRIES(&trace, 4, 5);
    assert_int_equal(comms_of(&trace)->collective_count, 5);
    trace_free(&trace);
}

static void many_kernels_and_collectives_of_one_group_take_no_more_than_themselves(void **state) {
    (void)state;
    enum { MANY = 20000 };
    struct small_trace trace;
    trace_begin(&trace);
    add_group_start(&trace, 1, 0);
    for (int64_t i = 0; i < MANY; i++)
        add_nccl(&trace, 1, 10 + i, 11 + i, "ncclSend", 1);
    add_nccl(&trace, 1, 10 + MANY, 1000 * (int64_t)MANY, "ncclGroupEnd", UINT64_MAX);
    for (int64_t i = 0; i < MANY; i++)
        add_kernel(&trace, 1, 20 + MANY + i, (uint64_t)i, KERNEL);
    trace_end(&trace);
    assert_int_equal(comms_of(&trace)->launch_count, 1);
    assert_int_equal(comms_of(&trace)->launches[0].count, MANY);
    assert_int_equal(comms_of(&trace)->launches[0].op_count, MANY);
    assert_true(trace.labels->arenas[GT_PASS_COMMS].total_bytes < 100 * MANY);
    trace_free(&trace);
}

/* ---- names of kernels ---- */

static void a_reason_has_what_the_name_of_the_kernel_says(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    add_kernel(&trace, 1, 0, 1, KERNEL);
    add_kernel(&trace, 1, 10, 2, "ncclDevKernel_AllReduce_Sum_f32_TREE_LL(ncclDevKernelArgsStorage<4096ul>)");
    trace_end(&trace);
    const struct gt_name_reason *ring = trace.labels->name_reason[trace.store->ops.name[0]];
    const struct gt_name_reason *tree = trace.labels->name_reason[trace.store->ops.name[1]];
    assert_string_equal(ring->algorithm, "Ring");
    assert_string_equal(tree->algorithm, "Tree");
    assert_string_equal(tree->collective, "all_reduce");
    trace_free(&trace);
}

/* ---- bytes on the bus ---- */

static void bandwidth_counts_the_bytes_of_the_busiest_link(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    gt_strid even = text(&trace, "[]"), sent = text(&trace, "[10, 20, 30, 40]"), received = text(&trace, "[5,5,5,5]"),
             cut = text(&trace, "[10, 20, ...]");
    trace_end(&trace);
    struct gt_comm_group group = {.size = 4, .first_rank = 4, .stride = 2, .own_place = 1};
    struct gt_comms_row kineto = GT_COMM_UNKNOWN, nccl = GT_COMM_UNKNOWN, none = GT_COMM_UNKNOWN;
    kineto.op = nccl.range = 0;
    kineto.in_bytes = 1000;
    kineto.out_bytes = 4000;
    nccl.in_bytes = 1000;
    static const struct {
        enum gt_comm_op op;
        double kineto, nccl;
    } cases[] = {
        {GT_COMM_all_reduce, 1500, 1500}, {GT_COMM_all_gather, 3000, 3000}, {GT_COMM_reduce_scatter, 750, 3000},
        {GT_COMM_all_to_all, 3000, 3000}, {GT_COMM_gather, 3000, 3000},     {GT_COMM_scatter, 12000, 3000},
        {GT_COMM_broadcast, 1000, 1000},  {GT_COMM_reduce, 1000, 1000},     {GT_COMM_send, 1000, 1000},
        {GT_COMM_recv, 1000, 1000},       {GT_COMM_barrier, 1000, 1000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum gt_comm_op op = cases[i].op;
        assert_true(fabs(gt_comms_bus_bytes(trace.store, &kineto, op, &group) - cases[i].kineto) < 1e-9);
        assert_true(fabs(gt_comms_bus_bytes(trace.store, &nccl, op, &group) - cases[i].nccl) < 1e-9);
        assert_true(isnan(gt_comms_bus_bytes(trace.store, &none, op, &group)));
        bool needs_size = op < GT_COMM_broadcast || op == GT_COMM_gather || op == GT_COMM_scatter;
        assert_int_equal(isnan(gt_comms_bus_bytes(trace.store, &nccl, op, NULL)) != 0, needs_size);
    }
    assert_true(isnan(gt_comms_bus_bytes(trace.store, &kineto, GT_COMM_OTHER, &group)));
    /* Of unequal parts what is sent to others or comes from them, whichever is more. */
    kineto.in_splits = sent;
    kineto.out_splits = received;
    kineto.out_bytes = 200;
    assert_true(fabs(gt_comms_bus_bytes(trace.store, &kineto, GT_COMM_all_to_all, &group) - 800) < 1e-9);
    group.own_place = -1;
    assert_true(fabs(gt_comms_bus_bytes(trace.store, &kineto, GT_COMM_all_to_all, &group) - 750) < 1e-9);
    kineto.rank = 3; /* its own place */
    assert_true(fabs(gt_comms_bus_bytes(trace.store, &kineto, GT_COMM_all_to_all, &group) - 600) < 1e-9);
    kineto.in_splits = cut;
    assert_true(fabs(gt_comms_bus_bytes(trace.store, &kineto, GT_COMM_all_to_all, &group) - 750) < 1e-9);
    kineto.in_splits = kineto.out_splits = even;
    assert_true(fabs(gt_comms_bus_bytes(trace.store, &kineto, GT_COMM_all_to_all, &group) - 750) < 1e-9);
    assert_int_equal(gt_comms_bytes(&kineto, GT_COMM_all_reduce), 1000);
    assert_int_equal(gt_comms_bytes(&kineto, GT_COMM_reduce_scatter), 200);
    assert_int_equal(gt_comms_bytes(&nccl, GT_COMM_reduce_scatter), 1000);
    assert_true(gt_comms_bytes(&none, GT_COMM_send) == UINT64_MAX);
    trace_free(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_records_there_is_nothing),
        cmocka_unit_test(the_kernels_record_comes_first_and_the_operators_completes_it),
        cmocka_unit_test(the_rank_of_kineto_is_the_own_place_the_root_or_the_peer),
        cmocka_unit_test(the_ranks_of_nccl_are_what_they_are_called),
        cmocka_unit_test(a_missing_operator_leaves_the_kernels_record),
        cmocka_unit_test(kernels_with_one_id_are_one_collective),
        cmocka_unit_test(ids_are_unique_in_a_process_only),
        cmocka_unit_test(a_kernel_of_an_unknown_process_belongs_to_the_only_one),
        cmocka_unit_test(older_kineto_has_records_on_operators_alone),
        cmocka_unit_test(a_kernel_belongs_to_the_call_around_its_launch),
        cmocka_unit_test(the_last_end_launches_the_group),
        cmocka_unit_test(all_kernels_of_a_group_carry_all_of_it),
        cmocka_unit_test(groups_that_lost_a_call_end_where_kernels_are_launched),
        cmocka_unit_test(many_kernels_and_collectives_of_one_group_take_no_more_than_themselves),
        cmocka_unit_test(a_reason_has_what_the_name_of_the_kernel_says),
        cmocka_unit_test(bandwidth_counts_the_bytes_of_the_busiest_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
