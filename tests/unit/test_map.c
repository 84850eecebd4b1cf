/* The hash map, against a plain list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/map.h"
#include "random.h"

static void an_empty_map_has_nothing(void **state) {
    struct gt_map map;
    (void)state;

    gt_map_init(&map);
    assert_int_equal(gt_map_get(&map, 0, 0), GT_MAP_NONE);
    assert_true(gt_map_reserve(&map, 0));
    assert_int_equal(gt_map_get(&map, 0, 0), GT_MAP_NONE);
    gt_map_release(&map);
    assert_int_equal(gt_map_get(&map, 0, 0), GT_MAP_NONE);
}

static void keys_of_all_bits_are_kept_apart(void **state) {
    static const uint64_t keys[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, (uint64_t)1 << 63, (uint64_t)1 << 32};
    enum { COUNT = sizeof(keys) / sizeof(keys[0]) };
    struct gt_map map = {0};
    (void)state;

    for (uint32_t i = 0; i < COUNT * COUNT; i++)
        assert_int_equal(gt_map_put_if_new(&map, keys[i / COUNT], keys[i % COUNT], i), i);
    for (uint32_t i = 0; i < COUNT * COUNT; i++) {
        assert_int_equal(gt_map_get(&map, keys[i / COUNT], keys[i % COUNT]), i);
        assert_int_equal(gt_map_put_if_new(&map, keys[i / COUNT], keys[i % COUNT], 1000), i);
        gt_map_put(&map, keys[i / COUNT], keys[i % COUNT], i + 500);
        assert_int_equal(gt_map_get(&map, keys[i / COUNT], keys[i % COUNT]), i + 500);
    }
    assert_int_equal(map.count, COUNT * COUNT);
    assert_int_equal(gt_map_get(&map, 2, 2), GT_MAP_NONE);
    gt_map_release(&map);
}

struct entry {
    uint64_t hi, lo;
    uint32_t value;
};

static void random_puts_agree_with_a_list(void **state) {
    enum { ROUNDS = 4000 };
    static struct entry list[ROUNDS];
    size_t count = 0;
    struct gt_map map = {0};
    uint64_t seed = 3;
    (void)state;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint64_t hi = random_below(&seed, 20) << random_below(&seed, 60), lo = random_below(&seed, 100);
        size_t at = 0;
        while (at < count && !(list[at].hi == hi && list[at].lo == lo))
            at++;
        assert_int_equal(gt_map_get(&map, hi, lo), at < count ? list[at].value : GT_MAP_NONE);
        if (at == count)
            list[count++] = (struct entry){hi, lo, round};
        else if (round % 2)
            list[at].value = round;
        if (round % 2)
            gt_map_put(&map, hi, lo, round);
        else
            assert_int_equal(gt_map_put_if_new(&map, hi, lo, round), list[at].value);
    }
    assert_int_equal(map.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(gt_map_get(&map, list[i].hi, list[i].lo), list[i].value);
    gt_map_release(&map);
}

static void reserved_room_is_not_rehashed(void **state) {
    enum { COUNT = 100000 };
    struct gt_map map = {0};
    struct gt_map_slot *slots;
    (void)state;

    assert_true(gt_map_reserve(&map, COUNT));
    slots = map.slots;
    for (uint32_t i = 0; i < COUNT; i++)
        gt_map_put(&map, 4711, i, i);
    assert_ptr_equal(map.slots, slots);
    assert_in_range(map.slot_count, COUNT, COUNT * 3);
    gt_map_release(&map);
}

/* Full slots in a row, on average: counting, strided and shifted keys must all spread. */
static double mean_run_length(uint64_t hi_step, uint64_t lo_step) {
    enum { COUNT = 40000 };
    struct gt_map map = {0};
    size_t longest = 0, run = 0, runs = 0;

    for (uint32_t i = 0; i < COUNT; i++)
        gt_map_put(&map, i * hi_step, i * lo_step, i);
    assert_int_equal(map.count, COUNT);
    for (size_t i = 0; i < map.slot_count; i++) {
        if (map.slots[i].value != GT_MAP_NONE)
            run++;
        else {
            runs += run > 0;
            longest = run > longest ? run : longest;
            run = 0;
        }
    }
    gt_map_release(&map);
    assert_true(longest < 200);
    return runs ? (double)COUNT / (double)runs : COUNT;
}

static void regular_keys_spread(void **state) {
    (void)state;
    for (int shift = 0; shift < 48; shift++) {
        assert_true(mean_run_length(0, (uint64_t)1 << shift) < 8);
        assert_true(mean_run_length((uint64_t)1 << shift, 0) < 8);
        assert_true(mean_run_length((uint64_t)1 << shift, 1) < 8);
        assert_true(mean_run_length(1, 1000003u * ((uint64_t)1 << (shift / 2))) < 8);
    }
}

static void failure_sticks(void **state) {
    struct gt_map map = {0};
    (void)state;

    gt_map_put(&map, 1, 2, 3);
    assert_false(gt_map_reserve(&map, SIZE_MAX / 2));
    assert_true(map.failed);
    gt_map_put(&map, 5, 6, 7);
    assert_int_equal(gt_map_get(&map, 5, 6), GT_MAP_NONE);
    assert_int_equal(gt_map_get(&map, 1, 2), 3);
    assert_int_equal(gt_map_put_if_new(&map, 1, 2, 9), 3);
    assert_false(gt_map_reserve(&map, 1));
    gt_map_release(&map);
    assert_false(map.failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_has_nothing),      cmocka_unit_test(keys_of_all_bits_are_kept_apart),
        cmocka_unit_test(random_puts_agree_with_a_list), cmocka_unit_test(reserved_room_is_not_rehashed),
        cmocka_unit_test(regular_keys_spread),           cmocka_unit_test(failure_sticks),
    };
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
