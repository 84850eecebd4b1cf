/* Torture of jobs: every call for memory fails in turn while a trace is reduced and its ranks are analysed. */
#include "faults.h"
#include "rank_world.h"
#include "ranks/rank_apart.h"
#include "ranks/rank_report.h"

static void expect_lack(enum gt_status status, const struct gt_error *err, const char *what) {
    if (status != GT_ERR || !err->message[0] || system_state.fault == FAULT_NONE)
        fail_msg("%s: status %d, message '%s'", what, (int)status, err->message);
}

static void run_reducing(const void *context, const char *what) {
    const struct rank_world *world = context;
    const struct gt_rank_reduce_input input = {.store = world->trace.store,
                                               .labels = world->trace.labels,
                                               .path = "made.json",
                                               .name = GT_STR("made.json"),
                                               .threads = 1};
    struct gt_rank_summary *summaries;
    size_t count;
    struct gt_error err = {0};
    enum gt_status status = gt_rank_reduce(&input, &summaries, &count, &err);
    if (status != GT_OK)
        expect_lack(status, &err, what);
    else
        assert_int_equal(count, 2);
    gt_rank_reduce_free(summaries, count);
}

static void run_analysing(const void *context, const char *what) {
    const struct rank_world *world = context;
    struct gt_rank_summary *list[2] = {&world->summaries[0], &world->summaries[1]};
    const struct gt_rank_job_options options = {.threads = 1, .match_names = true, .keeps_exposed = true};
    struct gt_rank_job job;
    struct gt_error err = {0};
    enum gt_status status = gt_rank_job_analyse(&job, list, 2, &options, &err);
    if (status != GT_OK)
        expect_lack(status, &err, what);
    else
        assert_int_equal(job.exposed_wait_ns, 1000);
    gt_rank_job_release(&job);
}

/* Both of them twice, in two runs. */
static void run_dividing(const void *context, const char *what) {
    const struct rank_world *world = context;
    const struct gt_str names[4] = {GT_STR("a"), GT_STR("a"), GT_STR("b"), GT_STR("b")};
    struct gt_rank_summary all[4], *list[4];
    struct gt_rank_apart apart;
    (void)what;
    for (size_t i = 0; i < 4; i++) {
        list[i] = &all[i];
        all[i] = world->summaries[i % 2];
        all[i].head.source = GT_RANK_OF_TRACE;
        all[i].head.rank = (int64_t)i % 2;
        all[i].head.input_number = (uint32_t)i;
        all[i].head.first_ns += (int64_t)i;
    }
    if (gt_rank_apart_init(&apart, list, names, 4))
        assert_true(apart.job_count == 2 && apart.job_of[1] == 0 && apart.job_of[2] == 1);
    else
        assert_int_not_equal(system_state.fault, FAULT_NONE);
    gt_rank_apart_release(&apart);
}

static void run_reporting(const void *context, const char *what) {
    const struct gt_rank_job *job = context;
    struct gt_error err = {0};
    struct gt_report *report = gt_report_new("ranks", 1);
    if (!report)
        return;
    const struct gt_rank_report_options options = {.has_findings = true};
    if (gt_rank_report_add(job, &report->sections[0], &options, &err) != GT_OK)
        expect_lack(err.code, &err, what);
    enum gt_status status = gt_report_status(report, &err);
    if (status != GT_OK)
        expect_lack(status, &err, what);
    gt_report_free(report);
}

static void test_jobs(void **state) {
    struct rank_world world;
    struct gt_rank_job job;
    (void)state;
    world_make(&world);
    world.summaries[0].head.host = gt_rank_summary_put_text(&world.summaries[0], GT_STR("node0"));
    world.summaries[1].head.host = gt_rank_summary_put_text(&world.summaries[1], GT_STR("node1"));
    torture(run_reducing, &world, "reducing");
    torture(run_analysing, &world, "analysing");
    torture(run_dividing, &world, "dividing");
    world_analyse(&world, &job);
    torture(run_reporting, &job, "reporting");
    gt_rank_job_release(&job);
    world_free(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_jobs, switch_faults_off)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    print_faults();
    return failed;
}
