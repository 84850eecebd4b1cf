/* Summaries as bytes: written and read back they say the same; damaged ones are refused or harmless. */
#include <stdlib.h>

#include "base/mem.h"
#include "rank_world.h"
#include "ranks/rank_pack.h"

static unsigned char *packed(const struct gt_rank_summary *summary, size_t *size) {
    *size = gt_rank_pack_size(summary);
    unsigned char *bytes = malloc(*size);
    assert_non_null(bytes);
    gt_rank_pack_write(summary, bytes);
    return bytes;
}

static void what_is_read_back_is_what_was_written(void **state) {
    struct rank_world world;
    (void)state;
    world_make(&world);
    for (size_t r = 0; r < world.count; r++) {
        struct gt_rank_summary again = {0};
        struct gt_error err = {0};
        size_t size, size_again;
        unsigned char *bytes = packed(&world.summaries[r], &size);
        assert_int_equal(gt_rank_pack_read(&again, bytes, size, &err), GT_OK);
        unsigned char *bytes_again = packed(&again, &size_again);
        assert_int_equal(size, size_again);
        assert_memory_equal(bytes, bytes_again, size);
        free(bytes);
        free(bytes_again);
        gt_rank_summary_release(&again);
    }
    world_free(&world);
}

static void summaries_that_were_sent_give_the_same_job(void **state) {
    struct rank_world world;
    struct gt_rank_job job;
    struct gt_error err = {0};
    (void)state;
    world_make(&world);
    for (size_t r = 0; r < world.count; r++) {
        size_t size;
        unsigned char *bytes = packed(&world.summaries[r], &size);
        gt_rank_summary_release(&world.summaries[r]);
        assert_int_equal(gt_rank_pack_read(&world.summaries[r], bytes, size, &err), GT_OK);
        free(bytes);
    }
    world_analyse(&world, &job);
    assert_int_equal(job.collective_count, 2);
    assert_int_equal(job.exposed_wait_ns, 1000);
    gt_rank_job_release(&job);
    world_free(&world);
}

/* Sums of many long kernels are as large as a number can be. */
static void the_largest_sum_is_accepted(void **state) {
    struct rank_world world;
    struct gt_rank_summary again = {0};
    struct gt_error err = {0};
    size_t size;
    (void)state;
    world_make(&world);
    world.summaries[0].work[0].total_ns = INT64_MAX;
    unsigned char *bytes = packed(&world.summaries[0], &size);
    assert_int_equal(gt_rank_pack_read(&again, bytes, size, &err), GT_OK);
    assert_true(again.work[0].total_ns == INT64_MAX);
    free(bytes);
    gt_rank_summary_release(&again);
    world_free(&world);
}

static void cut_bytes_are_refused(void **state) {
    struct rank_world world;
    size_t size;
    (void)state;
    world_make(&world);
    unsigned char *bytes = packed(&world.summaries[0], &size);
    for (size_t cut = 0; cut < size; cut++) {
        struct gt_rank_summary again = {0};
        struct gt_error err = {0};
        assert_int_equal(gt_rank_pack_read(&again, bytes, cut, &err), GT_ERR);
        gt_rank_summary_release(&again);
    }
    free(bytes);
    world_free(&world);
}

/* Whatever is accepted can be analysed together with the other rank. */
static void damaged_bytes_do_no_harm(void **state) {
    static const unsigned char masks[] = {0x01, 0x80, 0xFF};
    struct rank_world world;
    size_t size;
    (void)state;
    world_make(&world);
    unsigned char *bytes = packed(&world.summaries[0], &size);
    for (size_t at = 0; at < size; at++)
        for (size_t m = 0; m < sizeof masks; m++) {
            struct gt_rank_summary again = {0};
            struct gt_error err = {0};
            bytes[at] ^= masks[m];
            if (gt_rank_pack_read(&again, bytes, size, &err) == GT_OK) {
                struct gt_rank_summary *list[2] = {&again, &world.summaries[1]};
                const struct gt_rank_job_options options = {.threads = 1};
                struct gt_rank_job job;
                assert_int_equal(gt_rank_job_analyse(&job, list, 2, &options, &err), GT_OK);
                gt_rank_job_release(&job);
            }
            bytes[at] ^= masks[m];
            gt_rank_summary_release(&again);
        }
    free(bytes);
    world_free(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_back_is_what_was_written),
        cmocka_unit_test(summaries_that_were_sent_give_the_same_job),
        cmocka_unit_test(the_largest_sum_is_accepted),
        cmocka_unit_test(cut_bytes_are_refused),
        cmocka_unit_test(damaged_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
