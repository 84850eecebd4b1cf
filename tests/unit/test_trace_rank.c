/* Ranks of traces and processes: which source counts before which, and what names of files say. */
#include "events/trace_rank.h"

#include "base/mem.h"
#include "small_trace.h"

static void add_rank(struct small_trace *trace, int64_t pid, int64_t rank, int64_t world_size,
                     enum gt_rank_source source) {
    gt_builder_rank(&trace->builder, process_of(trace, pid), rank, world_size, source);
}

static void rank_is(struct small_trace *trace, const char *path, int64_t rank, int64_t world_size, const char *source) {
    struct gt_trace_rank found;
    struct gt_error err = {0};
    assert_int_equal(gt_trace_rank_find(trace->store, path, &found, &err), GT_OK);
    assert_int_equal(found.rank, rank);
    assert_int_equal(found.world_size, world_size);
    if (source)
        assert_string_equal(gt_trace_rank_source_key(found.source), source);
    else
        assert_null(gt_trace_rank_source_key(found.source));
}

static void digits_after_rank_are_one(void **state) {
    (void)state;
    static const struct {
        const char *path;
        int64_t rank;
    } cases[] = {
        {"ddp_rank3.json.gz", 3},
        {"run/rank0/trace_rank00012.json", 12},
        {"rank_7", 7},
        {"rank--8", 8},
        {"rank = 8", -1}, /* three characters between */
        {"RANK4.nsys-rep", 4},
        {"ranks_of_rank5", 5},
        {"rank", -1},
        {"rank3/trace.json", -1}, /* a folder is no file */
        {"trace3.json", -1},
        {"rank99999999999999999999", -1},
        {"rank_4_rank_5", 4},
        {"pagerank2.json", -1},
        {"crank1", -1},
        {"PageRank2", -1},
        {"pagerank2_rank7", 7},
        {"rankrank3", -1},
        {"0rank6", 6},
        {"\xc3\xa9rank1", -1},
        {"-", -1},
        {"", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (gt_trace_rank_of_name(cases[i].path) != cases[i].rank)
            fail_msg("'%s' has another rank", cases[i].path);
}

static void what_the_trace_says_comes_first(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    add_op(&trace, 10, 0, 7, 0, 5, 1, "gemm");
    add_rank(&trace, 10, 2, 16, GT_RANK_OF_MPI);
    trace.builder.store.meta.rank = 1;
    trace.builder.store.meta.world_size = 8;
    trace_end(&trace);
    rank_is(&trace, "rank5.json", 1, 16, "trace"); /* the largest size that is known */
    trace_free(&trace);
}

static void then_what_is_recorded_about_the_process(void **state) {
    (void)state;
    static const struct {
        enum gt_rank_source source;
        const char *key;
    } cases[] = {{GT_RANK_OF_MPI, "mpi"}, {GT_RANK_OF_ENVIRONMENT, "environment"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct small_trace trace;
        trace_begin(&trace);
        add_op(&trace, 10, 0, 7, 0, 5, 1, "gemm");
        add_rank(&trace, 10, 2, 4, cases[i].source);
        add_rank(&trace, 11, 3, -1, GT_RANK_OF_MPI); /* without GPU work */
        trace_end(&trace);
        rank_is(&trace, "rank5.json", 2, 4, cases[i].key);
        trace_free(&trace);
    }
}

/* The trace as a whole is described without collectives, which only some requests read; a process is not. */
static void communicators_are_of_processes(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    add_op(&trace, 10, 0, 7, 0, 5, 1, "gemm");
    add_rank(&trace, 10, 2, -1, GT_RANK_OF_NCCL);
    trace_end(&trace);
    struct gt_trace_rank rank = gt_trace_rank_of_process(trace.store, 0, true, "rank5.json");
    assert_int_equal(rank.rank, 2);
    assert_string_equal(gt_trace_rank_source_key(rank.source), "nccl");
    rank_is(&trace, "rank5.json", 5, -1, "file_name");
    trace_free(&trace);
}

static void then_the_name_of_the_file(void **state) {
    (void)state;
    struct small_trace trace;
    trace_begin(&trace);
    add_op(&trace, NO_PID, 0, 7, 0, 5, 1, "gemm"); /* its launch call says whose it is */
    add_call(&trace, 10, 1, 0, 1, 1);
    trace_end(&trace);
    rank_is(&trace, "a/rank5.json", 5, -1, "file_name");
    rank_is(&trace, "a/b.json", -1, -1, NULL);
    trace_free(&trace);
    trace_begin(&trace); /* nothing at all */
    trace_end(&trace);
    rank_is(&trace, "rank5.json", 5, -1, "file_name");
    trace_free(&trace);
}

static void several_processes_have_their_own(void **state) {
    (void)state;
    struct small_trace trace;
    struct gt_trace_rank rank;
    size_t count;
    trace_begin(&trace);
    for (int64_t pid = 10; pid < 14; pid++)
        add_op(&trace, pid == 11 ? NO_PID : pid, 0, 7, 0, 5, (uint64_t)pid, "gemm");
    add_call(&trace, 11, 1, 0, 1, 11);
    add_rank(&trace, 10, 4, 8, GT_RANK_OF_NCCL);
    add_rank(&trace, 11, 5, -1, GT_RANK_OF_MPI);
    add_rank(&trace, 12, 6, -1, GT_RANK_OF_ENVIRONMENT); /* may be that of the launcher */
    add_rank(&trace, 20, 7, -1, GT_RANK_OF_MPI);         /* without GPU work */
    trace_end(&trace);
    bool *works = gt_trace_rank_workers(trace.store, trace.labels, &count);
    assert_non_null(works);
    assert_int_equal(count, 4);
    static const int64_t expected[] = {4, 5, -1, -1};
    for (uint32_t process = 0; process < trace.store->processes.count; process++) {
        int64_t pid = trace.store->processes.pid[process];
        assert_int_equal(works[process], pid < 20);
        rank = gt_trace_rank_of_process(trace.store, process, false, "rank9.json");
        assert_int_equal(rank.rank, pid < 20 ? expected[pid - 10] : 7);
        assert_int_equal(rank.world_size, 8);
    }
    gt_mem_free(works);
    rank_is(&trace, "rank9.json", -1, 8, NULL); /* of the file as a whole */
    trace_free(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_after_rank_are_one),
        cmocka_unit_test(what_the_trace_says_comes_first),
        cmocka_unit_test(then_what_is_recorded_about_the_process),
        cmocka_unit_test(communicators_are_of_processes),
        cmocka_unit_test(then_the_name_of_the_file),
        cmocka_unit_test(several_processes_have_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
