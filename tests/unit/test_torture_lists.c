/* Lists that are interned while memory runs short: all ids are right, or the table says that it failed. */
#include "faults.h"

#include "lists_world.h"

static struct lists_world world;

/* The same text has the same id everywhere, and the table has it. */
static void check(const struct gt_strtab *tab, const char *what) {
    for (size_t l = 0; l < LIST_COUNT; l++)
        for (size_t i = 0; i < world.lists[l].count; i++)
            if (!gt_str_eq(gt_strtab_get(tab, world.ids[l][i]), world.texts[l][i]) ||
                gt_strtab_find(tab, world.texts[l][i]) != world.ids[l][i])
                fail_msg("%s: text %zu of list %zu has id %u", what, i, l, world.ids[l][i]);
}

static void intern(const void *context, const char *what) {
    struct gt_strtab tab;
    (void)context;
    if (!gt_strtab_init(&tab))
        return;
    gt_strtab_lists_intern(&tab, world.lists, LIST_COUNT, 4);
    if (!tab.failed)
        check(&tab, what);
    else if (system_state.fault != FAULT_FROM_THERE) /* after one fault there is room for them, one by one */
        fail_msg("%s: failed, although all calls but one succeed", what);
    gt_strtab_release(&tab);
}

/* Few different texts: one by one, too, they take few calls. */
static void every_call_fails(void **state) {
    (void)state;
    lists_world_fill(&world, 1, 60);
    torture(intern, NULL, "lists");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(every_call_fails, switch_faults_off)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    print_faults();
    return failed;
}
