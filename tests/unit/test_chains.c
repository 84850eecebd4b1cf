/* Chains: which call, range, operator and Python function an idle gap is named by. */
#include "waiting_world.h"

#include "measure/findings/chains.h"

static struct gt_chains chains;

/* The chain of the only gap. */
static const struct gt_chain *find(struct waiting *it, int64_t gap_ns) {
    struct gt_error err = {0};
    waiting_seal(it, gap_ns);
    assert_int_equal(gt_chains_init(&chains, it->world.view, &it->idle, &err), GT_OK);
    return &chains.items[0];
}

static void end(struct waiting *it) {
    gt_chains_release(&chains);
    waiting_end(it);
}

static void assert_name(const struct waiting *it, gt_strid name, const char *expected) {
    assert_text(gt_store_string(it->world.store, name), expected);
}

static void the_innermost_that_has_most_names_a_gap(void **state) {
    (void)state;
    struct waiting it;
    waiting_begin(&it);
    waiting_range(&it, "epoch", 0, 5000 * US);
    waiting_range(&it, "log_metrics", GAP_START + 100 * US, GAP_START + 700 * US);
    waiting_operator(&it, "aten::half", GAP_START + 200 * US, GAP_START + 690 * US); /* has less than half */
    const struct gt_chain *chain = find(&it, 1000 * US);
    assert_name(&it, chain->code, "log_metrics");
    assert_true(chain->is_range);
    assert_int_equal(chain->call, GT_STRID_EMPTY);
    end(&it);
}

static void exactly_half_is_not_most(void **state) {
    (void)state;
    struct waiting it;
    waiting_begin(&it);
    waiting_operator(&it, "aten::half", GAP_START, GAP_START + 500 * US);
    assert_int_equal(find(&it, 1000 * US)->code, GT_STRID_EMPTY);
    end(&it);
    waiting_begin(&it);
    waiting_operator(&it, "aten::most", GAP_START, GAP_START + 500 * US + 1);
    assert_name(&it, find(&it, 1000 * US)->code, "aten::most");
    end(&it);
}

static void steps_and_other_threads_name_nothing(void **state) {
    (void)state;
    struct waiting it;
    waiting_begin(&it);
    waiting_range(&it, "ProfilerStep#1", 0, 5000 * US);
    uint32_t launching = it.thread;
    it.thread = it.other_thread;
    waiting_range(&it, "elsewhere", 0, 5000 * US);
    it.thread = launching;
    assert_int_equal(find(&it, 1000 * US)->code, GT_STRID_EMPTY);
    end(&it);
}

static void calls_and_python_functions_have_names_of_their_own(void **state) {
    (void)state;
    struct waiting it;
    waiting_begin(&it);
    waiting_python(&it, "train.py(10): main", 0, 5000 * US);
    waiting_python(&it, "train.py(41): save", GAP_START, GAP_START + 900 * US);
    waiting_python(&it, "<built-in method sleep>", GAP_START, GAP_START + 900 * US);
    waiting_call(&it, "cudaFree", GAP_START + 10 * US, GAP_START + 800 * US, GT_NO_CORRELATION);
    const struct gt_chain *chain = find(&it, 1000 * US);
    assert_name(&it, chain->call, "cudaFree");
    assert_name(&it, chain->python, "train.py(41): save");
    assert_int_equal(chain->code, GT_STRID_EMPTY);
    end(&it);
}

static void functions_of_libraries_are_named_by_their_caller(void **state) {
    (void)state;
    struct waiting it;
    waiting_begin(&it);
    waiting_python(&it, "train.py(1): <module>", 0, 5000 * US);
    waiting_python(&it, "train.py(41): save", GAP_START, GAP_START + 900 * US);
    waiting_python(&it, "json/__init__.py(183): dumps", GAP_START, GAP_START + 890 * US);
    waiting_python(&it, "json/encoder.py(205): iterencode", GAP_START, GAP_START + 880 * US);
    const struct gt_chain *chain = find(&it, 1000 * US);
    assert_name(&it, chain->python, "train.py(41): save");
    assert_name(&it, chain->callee, "json/encoder.py(205): iterencode");
    end(&it);
    waiting_begin(&it);
    waiting_python(&it, "train.py(1): <module>", 0, 5000 * US);
    waiting_python(&it, "/opt/lib/python3.12/site-packages/x/y.py(7): f", GAP_START, GAP_START + 880 * US);
    chain = find(&it, 1000 * US);
    assert_name(&it, chain->python, "/opt/lib/python3.12/site-packages/x/y.py(7): f");
    assert_int_equal(chain->callee, GT_STRID_EMPTY);
    end(&it);
}

static void short_gaps_are_not_looked_at(void **state) {
    (void)state;
    struct waiting it;
    waiting_begin(&it);
    waiting_range(&it, "log_metrics", 0, 5000 * US);
    assert_int_equal(find(&it, 100 * US - 1)->code, GT_STRID_EMPTY);
    end(&it);
    waiting_begin(&it);
    waiting_range(&it, "log_metrics", 0, 5000 * US);
    assert_name(&it, find(&it, 100 * US)->code, "log_metrics");
    end(&it);
}

static void pieces_are_what_began_in_a_stall(void **state) {
    (void)state;
    struct waiting it;
    waiting_begin(&it);
    waiting_operator(&it, "aten::before", GAP_START - 2, GAP_START + 5);
    for (int64_t i = 0; i < 7; i++)
        waiting_operator(&it, "aten::view", GAP_START + i * US, GAP_START + i * US + 500);
    waiting_call(&it, "cudaGetDevice", GAP_START + 20 * US, GAP_START + 21 * US, GT_NO_CORRELATION);
    assert_int_equal(find(&it, 1000 * US)->pieces, 7 + 1 + 1); /* and the launch itself */
    end(&it);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_innermost_that_has_most_names_a_gap),
        cmocka_unit_test(exactly_half_is_not_most),
        cmocka_unit_test(steps_and_other_threads_name_nothing),
        cmocka_unit_test(calls_and_python_functions_have_names_of_their_own),
        cmocka_unit_test(functions_of_libraries_are_named_by_their_caller),
        cmocka_unit_test(short_gaps_are_not_looked_at),
        cmocka_unit_test(pieces_are_what_began_in_a_stall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
