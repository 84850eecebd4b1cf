/* Torture of explorations: every allocation fails in turn, while lanes are made and while questions are answered. */
#include "explore_world.h"

#include "faults.h"

static void run_exploring(const void *context, const char *what) {
    struct gt_explore *explore = NULL;
    struct gt_error err = {0};
    struct gt_out *out = NULL;
    enum gt_status status = explore_world_new(context, 1, &explore, &err);
    if (status == GT_OK)
        status = gt_out_open_memory(&out, &err);
    if (status == GT_OK)
        status = explore_world_ask(explore, out, &err);
    if (status != GT_OK && (status != GT_ERR || !system_state.was_hit || !err.message[0]))
        fail_msg("%s: status %d, message '%s'", what, (int)status, err.message);
    gt_out_close(out);
    gt_explore_free(explore);
}

static void explorations_fail_cleanly(void **state) {
    (void)state;
    struct world world;
    explore_world_random(&world, 4);
    torture(run_exploring, &world, "exploring");
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(explorations_fail_cleanly, switch_faults_off)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    print_faults();
    return failed;
}
