/* Phases by common names: letters that a pattern needs must never rule out a name that fits it. */
#include "measure/results/phase_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/pattern.h"

static const char *const names[] = {
    "dataloader",
    "Optimizer.step#Adam.step",
    "adam",
    "Adam update",
    "optim step",
    "optim_step",
    "optimizer.step",
    "OptimStep",
    "bwd",
    "layer_BWD_3",
    "transpose(jvp(f))",
    "jvp(f)",
    "sample",
    "Sampler",
    "top_sample",
    "_sample_tokens",
    "execute_context_1(888)_generation_0(0)",
    "execute_9_context_1(5)",
    "execute_9_context_0(0)_generation_4",
    "execute_new_3",
    "execute_new_0",
    "_forward_step 7: 1 ctx reqs, 0 gen reqs",
    "step: 0 ctx reqs, 4 gen reqs",
    "decode",
    "DECODE 7",
    "decoder",
    "decoder decode",
    "fwd",
    "fwd_pass",
    "all2all",
    "nothing of that kind",
    "",
    "7",
};

/* The first pattern that fits, each asked. */
static uint32_t find_slowly(const struct gt_phase_map *map, struct gt_str name) {
    for (size_t i = 0; i < map->pattern_count; i++)
        if (gt_pattern_matches(map->patterns[i].pattern, name))
            return map->patterns[i].phase;
    return GT_NO_PHASE;
}

static void letters_rule_out_nothing_that_fits(void **state) {
    struct gt_phase_map map;
    struct gt_error err;
    (void)state;

    assert_int_equal(gt_phase_map_init(&map, NULL, &err), GT_OK);
    for (size_t i = 0; i < GT_ARRAY_COUNT(names); i++)
        assert_int_equal(gt_phase_map_find(&map, gt_str_of(names[i])), find_slowly(&map, gt_str_of(names[i])));
    gt_phase_map_release(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(letters_rule_out_nothing_that_fits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
