/* Which job the inputs of a reading are of: files with several ranks, of which some are copies. */
#include "job_parts.h"

#include <string.h>

#include "events/trace_rank.h"
#include "small_trace.h"

enum { INPUTS = 3 };

struct reading {
    struct gt_rank_summary summaries[INPUTS][2];
    struct gt_job_ranks ranks[INPUTS];
    struct gputime_job job;
};

static void add(struct reading *reading, uint32_t input, int64_t rank, int64_t first_ns) {
    struct gt_job_ranks *ranks = &reading->ranks[input];
    ranks->summaries = reading->summaries[input];
    ranks->is_read = true;
    ranks->summaries[ranks->count++].head = (struct gt_rank_head){.rank = rank,
                                                                  .world_size = 2,
                                                                  .first_ns = first_ns,
                                                                  .last_ns = first_ns + 100,
                                                                  .base_ns = 1000,
                                                                  .ops = 1,
                                                                  .source = GT_RANK_OF_TRACE,
                                                                  .input_number = input};
    reading->job.rank_count = ++reading->job.summary_count;
}

static void test_a_copy_in_a_file_of_several(void **state) {
    static const char *const paths[INPUTS] = {"runs/a/x.sqlite", "runs/b/y.sqlite", "runs/c/y.sqlite"};
    static char folder[] = "runs";
    struct gputime_input inputs[INPUTS] = {0};
    struct reading reading = {.job = {.inputs = reading.ranks, .input_count = INPUTS, .folder = folder}};
    struct gt_error err = {0};
    struct gt_arena arena = {0};
    struct gt_str notes[4];
    (void)state;
    for (size_t i = 0; i < INPUTS; i++)
        inputs[i] = (struct gputime_input){.paths = &paths[i], .path_count = 1};
    add(&reading, 0, 1, 50);
    add(&reading, 1, 0, 0);
    add(&reading, 1, 1, 50); /* the same as that of the first file */
    add(&reading, 2, 0, 0);  /* has nothing else */
    assert_int_equal(gt_job_parts_find(&reading.job, inputs, false, &err), GT_OK);
    assert_int_equal(reading.job.part_of[0], 0);
    assert_int_equal(reading.job.part_of[1], 0);
    assert_int_equal(reading.job.part_of[2], GT_RANK_NONE);
    assert_int_equal(gt_job_parts_copies(&reading.job, notes, 4, &arena), 2);
    assert_string_equal(notes[0].ptr, "Left out: 'b/y.sqlite' has the same events as 'a/x.sqlite', rank 1.");
    assert_string_equal(notes[1].ptr, "Left out: 'c/y.sqlite' has the same events as 'b/y.sqlite', rank 0.");
    gt_arena_release(&arena);
    gt_job_parts_release(&reading.job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_copy_in_a_file_of_several)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
