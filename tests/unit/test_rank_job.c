/* A job of two ranks by hand: summaries of a trace, waits, blame and replay. */
#include "rank_world.h"
#include "ranks/rank_blame.h"
#include "ranks/rank_charges.h"
#include "ranks/rank_identity.h"
#include "ranks/rank_sums.h"
#include "ranks/rank_tiles.h"
#include "ranks/rank_verdict.h"

static void processes_of_a_trace_are_ranks(void **state) {
    struct rank_world world;
    (void)state;
    world_make(&world);
    assert_int_equal(world.count, 2);
    for (size_t r = 0; r < 2; r++) {
        const struct gt_rank_summary *summary = &world.summaries[r];
        assert_int_equal(summary->head.device, r);
        assert_int_equal(summary->head.first_ns, 1000);
        assert_int_equal(summary->head.last_ns, 5100);
        assert_int_equal(summary->kernels_count, 2);
        assert_int_equal(summary->work_count, 1);
        assert_int_equal(summary->work[0].count, 3);
        size_t last = summary->head.points - 1;
        int64_t ns[GT_PART_COUNT];
        gt_rank_sums_until(summary, last, ns);
        assert_int_equal(ns[GT_PART_COMPUTE], r ? 3100 : 2100);
        assert_int_equal(ns[GT_PART_TRANSFER], r ? 1000 : 2000);
        assert_int_equal(gt_rank_sums_time(summary, last), 5100);
    }
    world_free(&world);
}

static void the_rank_that_computes_longer_is_charged(void **state) {
    struct rank_world world;
    struct gt_rank_job job;
    (void)state;
    world_make(&world);
    world_analyse(&world, &job);
    assert_int_equal(job.collective_count, 2);
    assert_int_equal(job.collectives[1].wait_ns, 1000);
    assert_int_equal(job.collectives[1].transfer_ns, 500);
    assert_int_equal(job.collectives[1].delayer, 1);
    assert_int_equal(job.collectives[1].last_rank, 1);
    assert_int_equal(job.exposed_wait_ns, 1000);
    assert_int_equal(gt_rank_charges_sum(&job, 1, GT_PART_COMPUTE), 1000);
    assert_int_equal(job.charged_ns, 1000);
    assert_int_equal(job.replay_ns, 4100);
    assert_int_equal(job.recorded_ns, 4100);
    assert_int_equal(job.ideal_ns, 3100);
    gt_rank_job_release(&job);
    world_free(&world);
}

static void a_job_without_ranks_is_empty(void **state) {
    const struct gt_rank_job_options options = {.threads = 1};
    struct gt_rank_job job;
    struct gt_error err = {0};
    (void)state;
    assert_int_equal(gt_rank_job_analyse(&job, NULL, 0, &options, &err), GT_OK);
    assert_int_equal(job.collective_count, 0);
    assert_int_equal(job.verdict, GT_VERDICT_NONE);
    gt_rank_job_release(&job);
}

static void a_rank_of_the_environment_names_its_variable(void **state) {
    static const struct {
        enum gt_rank_source source;
        const char *name;
    } cases[] = {{GT_RANK_UNKNOWN, "order"},         {GT_RANK_OF_TRACE, "distributedInfo"},
                 {GT_RANK_OF_MPI, "MPI_RANKS"},      {GT_RANK_OF_ENVIRONMENT, "RANK"},
                 {GT_RANK_OF_SLURM, "SLURM_PROCID"}, {GT_RANK_OF_OPEN_MPI, "OMPI_COMM_WORLD_RANK"},
                 {GT_RANK_OF_PMI, "PMI_RANK"},       {GT_RANK_OF_NCCL, "NCCL init"},
                 {GT_RANK_OF_FILE_NAME, "file name"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gt_rank_summary summary = {.head.source = cases[i].source};
        assert_string_equal(gt_rank_identity_source(&summary), cases[i].name);
    }
}

static void shares_sum_to_the_amount(void **state) {
    const int64_t weights[] = {3, 0, 7, 7, 1};
    int64_t shares[5];
    (void)state;
    gt_rank_blame_divide(100, weights, 5, shares);
    const int64_t expected[] = {16, 0, 41, 38, 5}; /* what is left goes to the first of the largest */
    for (int i = 0; i < 5; i++)
        assert_int_equal(shares[i], expected[i]);
    gt_rank_blame_divide(INT64_MAX, weights, 5, shares);
    int64_t sum = 0;
    for (int i = 0; i < 5; i++)
        sum += shares[i];
    assert_true(sum == INT64_MAX);
}

static void chances_are_those_of_a_binomial_distribution(void **state) {
    (void)state;
    assert_float_equal(gt_rank_verdict_at_least(6, 6, 0.25), 0.000244140625, 1e-9);
    assert_float_equal(gt_rank_verdict_at_least(6, 2, 0.25), 0.466064453125, 1e-9);
    assert_float_equal(gt_rank_verdict_at_least(6, 0, 0.25), 1, 1e-12);
    assert_float_equal(gt_rank_verdict_at_least(3, 1, 1), 1, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_of_a_trace_are_ranks),
        cmocka_unit_test(the_rank_that_computes_longer_is_charged),
        cmocka_unit_test(a_job_without_ranks_is_empty),
        cmocka_unit_test(a_rank_of_the_environment_names_its_variable),
        cmocka_unit_test(shares_sum_to_the_amount),
        cmocka_unit_test(chances_are_those_of_a_binomial_distribution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
