/* Bursts of kernels: as one look at each kernel finds them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "measure/results/bursts.h"
#include "random.h"

enum { OPS_MOST = 300, PAUSE = GT_BURSTS_PAUSE_NS };

struct ops {
    struct gt_view view;
    struct gt_view_device device;
    int64_t start_ns[OPS_MOST], end_ns[OPS_MOST], longest_ns;
    uint8_t kind[OPS_MOST];
};

/* Kernels and copies close together, apart, and across pauses. */
static void make_ops(struct ops *ops, uint64_t *random) {
    int64_t at_ns = 0, spread_ns = random_between(random, 1, 2 * PAUSE);
    size_t count = (size_t)random_below(random, OPS_MOST);
    ops->longest_ns = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_long = random_below(random, 20) == 0;
        int64_t length_ns = random_between(random, 0, is_long ? 5 * (int64_t)PAUSE : 1000);
        at_ns += random_below(random, 10) == 0 ? PAUSE - 2 + random_between(random, 0, 4)
                                               : random_between(random, 0, spread_ns / 20);
        ops->kind[i] = random_below(random, 4) ? GT_OP_KERNEL : GT_OP_MEMCPY;
        ops->start_ns[i] = at_ns;
        ops->end_ns[i] = at_ns + length_ns;
        if (ops->kind[i] == GT_OP_KERNEL && length_ns > ops->longest_ns)
            ops->longest_ns = length_ns;
    }
    ops->device = (struct gt_view_device){.count = count};
    ops->view = (struct gt_view){.op_count = count,
                                 .start_ns = ops->start_ns,
                                 .end_ns = ops->end_ns,
                                 .kind = ops->kind,
                                 .device_count = 1,
                                 .devices = &ops->device};
}

static void find_naively(const struct ops *ops, struct gt_bursts *bursts) {
    struct gt_burst burst = {.device = GT_NO_TRACK};
    for (size_t i = 0; i < ops->view.op_count; i++) {
        if (ops->kind[i] != GT_OP_KERNEL)
            continue;
        if (burst.device == GT_NO_TRACK || ops->start_ns[i] - burst.end_ns >= PAUSE) {
            assert_true(gt_bursts_end(bursts, &burst));
            burst = (struct gt_burst){0, 0, ops->start_ns[i], ops->end_ns[i]};
        }
        burst.end_ns = ops->end_ns[i] > burst.end_ns ? ops->end_ns[i] : burst.end_ns;
    }
    assert_true(gt_bursts_end(bursts, &burst));
}

static void test_as_naively(void **state) {
    uint64_t random = 1;
    (void)state;
    for (int round = 0; round < 2000; round++) {
        static struct ops ops;
        struct gt_bursts found = {0}, expected = {0};
        make_ops(&ops, &random);
        find_naively(&ops, &expected);
        assert_true(gt_bursts_of_device(&ops.view, 0, ops.longest_ns, &found));
        assert_int_equal(found.count, expected.count);
        for (size_t i = 0; i < found.count; i++) {
            assert_int_equal(found.items[i].start_ns, expected.items[i].start_ns);
            assert_int_equal(found.items[i].end_ns, expected.items[i].end_ns);
        }
        gt_mem_free(found.items);
        gt_mem_free(expected.items);
    }
}

/* The length of the second does not fit: it is known to be long, not how long. */
static void test_length_that_does_not_fit(void **state) {
    static const int64_t start_ns[] = {INT64_MIN, INT64_MIN + 1, INT64_MIN + 6, 2 * (int64_t)PAUSE};
    static const int64_t end_ns[] = {INT64_MIN + 5, INT64_MAX, 1, 3 * (int64_t)PAUSE};
    static struct ops ops;
    struct gt_bursts found = {0};
    size_t count = sizeof start_ns / sizeof *start_ns;
    (void)state;
    memcpy(ops.start_ns, start_ns, sizeof start_ns);
    memcpy(ops.end_ns, end_ns, sizeof end_ns);
    memset(ops.kind, GT_OP_KERNEL, count);
    ops.device = (struct gt_view_device){.count = count};
    ops.view = (struct gt_view){
        .op_count = count, .start_ns = ops.start_ns, .end_ns = ops.end_ns, .kind = ops.kind, .device_count = 1};
    ops.view.devices = &ops.device;
    assert_true(gt_bursts_of_device(&ops.view, 0, INT64_MAX, &found));
    assert_int_equal(found.count, 1);
    assert_int_equal(found.items[0].end_ns, INT64_MAX);
    gt_mem_free(found.items);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_naively),
                                       cmocka_unit_test(test_length_that_does_not_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
