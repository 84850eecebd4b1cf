/* Memory: heap blocks, pages and arenas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/huge.h"
#include "base/mem.h"
#include "random.h"

static void heap_blocks_refuse_what_overflows(void **state) {
    void *block;
    (void)state;

    assert_null(gt_mem_array(SIZE_MAX / 2, 3));
    assert_null(gt_mem_alloc(SIZE_MAX));
    block = gt_mem_alloc(0);
    assert_non_null(block);
    block = gt_mem_realloc(block, 0);
    assert_non_null(block);
    assert_null(gt_mem_realloc(block, SIZE_MAX));
    gt_mem_free(block);
    gt_mem_free(NULL);
}

static void heap_arrays_are_zeroed(void **state) {
    unsigned char *bytes = gt_mem_array(1000, 3);
    (void)state;

    assert_non_null(bytes);
    for (size_t i = 0; i < 3000; i++)
        assert_int_equal(bytes[i], 0);
    gt_mem_free(bytes);
}

static void pages_keep_bytes_and_grow_with_zeros(void **state) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 3 * page + 17, grown = 200 * page + 1;
    unsigned char *bytes = gt_mem_pages_alloc(size);
    (void)state;

    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(bytes[i], 0);
        bytes[i] = (unsigned char)(i * 7);
    }
    bytes = gt_mem_pages_resize(bytes, size, grown);
    assert_non_null(bytes);
    for (size_t i = 0; i < grown; i++)
        assert_int_equal(bytes[i], i < size ? (unsigned char)(i * 7) : 0);
    gt_mem_pages_free(bytes, grown);
}

static void pages_that_shrink_and_grow_are_zero_after_their_end(void **state) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *bytes = gt_mem_pages_resize(NULL, 0, 2 * page);
    (void)state;

    assert_non_null(bytes);
    memset(bytes, 0xff, 2 * page);
    bytes = gt_mem_pages_resize(bytes, 2 * page, 100);
    assert_non_null(bytes);
    bytes = gt_mem_pages_resize(bytes, 100, 4 * page);
    assert_non_null(bytes);
    for (size_t i = 0; i < 4 * page; i++)
        assert_int_equal(bytes[i], i < 100 ? 0xff : 0);
    gt_mem_pages_free(bytes, 4 * page);
}

/* From the heap to pages, to pages that huge ones fit in, and back. */
static void pages_of_every_size_keep_their_bytes(void **state) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), mega = (size_t)1 << 20;
    const size_t sizes[] = {1,        page,      page + 1, mega,     9 * mega, 20 * mega + 5,
                            7 * mega, 64 * mega, page,     3 * page, 10,       0};
    unsigned char *bytes = gt_mem_pages_alloc(sizes[0]);
    (void)state;

    assert_non_null(bytes);
    bytes[0] = 77;
    for (size_t i = 1; i < sizeof sizes / sizeof *sizes; i++) {
        bytes = gt_mem_pages_resize(bytes, sizes[i - 1], sizes[i]);
        assert_non_null(bytes);
        assert_true(sizes[i] == 0 || bytes[0] == 77);
        if (sizes[i] > sizes[i - 1]) /* what is new is zero, at its beginning and at its end */
            for (size_t k = 0; k < 2; k++)
                assert_int_equal(bytes[k ? sizes[i] - 1 : sizes[i - 1]], 0);
        if (sizes[i] > 1)
            bytes[sizes[i] - 1] = 99;
        if (sizes[i] >= 2 * GT_HUGE_LEAST_BYTES)
            assert_int_equal((uintptr_t)bytes % GT_HUGE_PAGE_BYTES, 0);
    }
    gt_mem_pages_free(bytes, 0);
}

static void free_huge_pages_are_counted(void **state) {
    static const char text[] =
        "Node 0, zone      DMA      0      0      0      0      0      0      0      0      1      1      3 \n"
        "Node 0, zone   Normal   2008   1141    487    734    289   3473   1232    768    257     76     69 \n";
    (void)state;

    /* Pieces of 512 and 1024 pages of 4 KiB; with 64 KiB all from 32 pages on. */
    assert_int_equal(gt_huge_free_bytes(text, 4096), ((1 + 76) * 512 + (3 + 69) * 1024) * (size_t)4096);
    assert_int_equal(gt_huge_free_bytes("Node 0, zone Normal 1 1 1 1 1 2 3\n", 65536),
                     (2 * 32 + 3 * 64) * (size_t)65536);
    assert_int_equal(gt_huge_free_bytes("", 4096), 0);
    assert_int_equal(gt_huge_free_bytes("zone", 4096), 0);
    assert_int_equal(gt_huge_free_bytes("no such file", 4096), 0);
    assert_int_equal(gt_huge_free_bytes("zone x 99999999999999999999999999 1 1 1 1 1 1 1 1 99999999999999999999", 4096),
                     0);
}

static void advice_about_a_block_keeps_it(void **state) {
    size_t count = (size_t)20 << 20;
    unsigned char *bytes = gt_mem_array(count, 1);
    (void)state;

    assert_non_null(bytes);
    for (size_t i = 0; i < count; i += 4096)
        assert_int_equal(bytes[i], 0);
    bytes[0] = 1, bytes[count - 1] = 2;
    gt_huge_advise(bytes + 100, count - 200);
    gt_huge_advise(NULL, count);
    bytes = gt_mem_realloc(bytes, 2 * count);
    assert_non_null(bytes);
    assert_true(bytes[0] == 1 && bytes[count - 1] == 2);
    gt_mem_free(bytes);
}

static void pages_refuse_what_overflows(void **state) {
    unsigned char *bytes = gt_mem_pages_alloc(0);
    (void)state;

    assert_null(gt_mem_pages_alloc(SIZE_MAX));
    assert_non_null(bytes);
    bytes[0] = 1;
    assert_null(gt_mem_pages_resize(bytes, 1, SIZE_MAX));
    assert_int_equal(bytes[0], 1);
    gt_mem_pages_free(bytes, 0);
    gt_mem_pages_free(NULL, 100);
}

/* Every piece is filled with its own byte and checked at the end: none may overlap another. */
static void arena_pieces_are_zeroed_aligned_and_apart(void **state) {
    enum { COUNT = 3000 };
    struct gt_arena arena = {0};
    unsigned char *pieces[COUNT];
    size_t sizes[COUNT];
    uint64_t seed = 1;
    (void)state;

    for (size_t i = 0; i < COUNT; i++) {
        sizes[i] = random_below(&seed, i % 100 == 0 ? 100000 : 300);
        if (i % 3 == 0)
            gt_arena_copy(&arena, GT_STR("odd"));
        pieces[i] = gt_arena_alloc(&arena, sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int)(i & 0xff), sizes[i]);
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(pieces[i][k], i & 0xff);
    assert_false(gt_arena_failed(&arena));
    gt_arena_release(&arena);
    assert_null(arena.head);
    assert_int_equal(arena.total_bytes, 0);
}

static void arena_wastes_little(void **state) {
    struct gt_arena arena = {0};
    (void)state;

    for (size_t i = 0; i < 100000; i++)
        gt_arena_copy(&arena, GT_STR("thirty-one bytes of kernel name"));
    assert_in_range(arena.total_bytes, 3200000, 4300000);
    gt_arena_release(&arena);
    gt_arena_alloc(&arena, 1);
    assert_in_range(arena.total_bytes, 1, 8192);
    gt_arena_release(&arena);
}

static void arena_failure_sticks(void **state) {
    struct gt_arena arena;
    struct gt_str text;
    (void)state;

    gt_arena_init(&arena);
    assert_non_null(gt_arena_alloc(&arena, 0));
    assert_null(gt_arena_array(&arena, SIZE_MAX / 4, 8));
    assert_true(gt_arena_failed(&arena));
    assert_null(gt_arena_alloc(&arena, 1));
    text = gt_arena_copy(&arena, GT_STR("lost"));
    assert_non_null(text.ptr);
    assert_int_equal(text.len, 0);
    text = gt_arena_printf(&arena, "%d", 42);
    assert_string_equal(text.ptr, "");
    gt_arena_release(&arena);

    assert_null(gt_arena_alloc(&arena, SIZE_MAX - 8));
    assert_true(gt_arena_failed(&arena));
    gt_arena_release(&arena);
}

static void arena_text_is_terminated(void **state) {
    struct gt_arena arena = {0};
    struct gt_str empty = gt_arena_copy(&arena, (struct gt_str){NULL, 0});
    struct gt_str bytes = gt_arena_copy(&arena, (struct gt_str){"a\0b", 3});
    struct gt_str small = gt_arena_printf(&arena, "%s-%d", "x", 7);
    (void)state;

    assert_string_equal(empty.ptr, "");
    assert_int_equal(bytes.len, 3);
    assert_memory_equal(bytes.ptr, "a\0b", 4);
    assert_string_equal(small.ptr, "x-7");
    for (int length = 250; length < 260; length++) {
        struct gt_str padded = gt_arena_printf(&arena, "%*d", length, 5);
        assert_int_equal(padded.len, length);
        assert_int_equal(strlen(padded.ptr), length);
        assert_int_equal(padded.ptr[length - 1], '5');
    }
    gt_arena_release(&arena);
}

static void an_arena_takes_the_memory_of_another(void **state) {
    struct gt_arena arena = {0}, other = {0}, none = {0};
    (void)state;

    gt_arena_take(&arena, &none);
    assert_null(arena.head);
    struct gt_str first = gt_arena_copy(&other, GT_STR("first"));
    assert_non_null(gt_arena_alloc(&other, 100000));
    gt_arena_take(&arena, &other); /* into an empty one */
    assert_null(other.head);
    struct gt_str own = gt_arena_copy(&arena, GT_STR("own"));
    struct gt_str second = gt_arena_copy(&other, GT_STR("second"));
    size_t total_bytes = arena.total_bytes + other.total_bytes;
    gt_arena_take(&arena, &other); /* after what is there */
    assert_int_equal(arena.total_bytes, total_bytes);
    assert_string_equal(first.ptr, "first");
    assert_string_equal(own.ptr, "own");
    assert_string_equal(second.ptr, "second");
    assert_null(gt_arena_alloc(&other, SIZE_MAX - 8));
    gt_arena_take(&arena, &other);
    assert_true(gt_arena_failed(&arena));
    assert_false(gt_arena_failed(&other));
    gt_arena_release(&arena);
}

static void a_reset_arena_gives_zeroed_memory_again(void **state) {
    struct gt_arena arena = {0};
    static const char zeros[20000];
    (void)state;

    gt_arena_reset(&arena);
    for (int round = 0; round < 3; round++) {
        char *small = gt_arena_alloc(&arena, 100), *large = gt_arena_alloc(&arena, sizeof(zeros));
        assert_memory_equal(small, zeros, 100);
        assert_memory_equal(large, zeros, sizeof(zeros));
        memset(small, 'x', 100);
        memset(large, 'x', sizeof(zeros));
        gt_arena_reset(&arena);
        assert_true(arena.total_bytes < sizeof(zeros)); /* large pieces are not kept */
    }
    gt_arena_release(&arena);
}

static void arrays_make_room_and_keep_what_they_hold(void **state) {
    struct gt_arena arena = {0};
    size_t *on_heap = NULL, *in_arena = NULL, heap_capacity = 0, arena_capacity = 0;
    (void)state;

    for (size_t i = 0; i < 1000; i++) {
        on_heap = gt_mem_room(on_heap, i, &heap_capacity, sizeof *on_heap);
        in_arena = gt_arena_room(&arena, in_arena, i, &arena_capacity, sizeof *in_arena);
        assert_true(on_heap && in_arena && heap_capacity > i && arena_capacity > i);
        on_heap[i] = in_arena[i] = i;
    }
    for (size_t i = 0; i < 1000; i++)
        assert_true(on_heap[i] == i && in_arena[i] == i);
    assert_ptr_equal(gt_arena_room(&arena, in_arena, 5, &arena_capacity, sizeof *in_arena), in_arena);
    heap_capacity = arena_capacity = SIZE_MAX / 8;
    assert_null(gt_mem_room(on_heap, heap_capacity, &heap_capacity, sizeof *on_heap));
    assert_null(gt_arena_room(&arena, in_arena, arena_capacity, &arena_capacity, sizeof *in_arena));
    assert_true(heap_capacity == SIZE_MAX / 8 && arena_capacity == SIZE_MAX / 8 && gt_arena_failed(&arena));
    assert_null(gt_arena_room(&arena, in_arena, 5, &arena_capacity, sizeof *in_arena));
    gt_mem_free(on_heap);
    gt_arena_release(&arena);
}

/* What is taken after a large array that is not zeroed still is. */
static void arrays_that_are_not_zeroed_lie_apart(void **state) {
    enum { LARGE = 2 << 20 };
    struct gt_arena arena = {0};
    unsigned char *garbage = gt_mem_alloc(LARGE), *large, *small;
    (void)state;

    assert_non_null(garbage);
    memset(garbage, 0xff, LARGE);
    gt_mem_free(garbage);
    for (int round = 0; round < 3; round++) {
        large = gt_arena_uninitialised(&arena, LARGE, 1);
        assert_non_null(large);
        memset(large, 0xee, LARGE);
        small = gt_arena_uninitialised(&arena, 10, 8);
        for (size_t i = 0; i < 80; i++)
            assert_int_equal(small[i], 0);
        memset(small, 0xdd, 80);
        for (size_t i = 0; i < LARGE; i++)
            assert_int_equal(large[i], 0xee);
    }
    assert_null(gt_arena_uninitialised(&arena, SIZE_MAX / 2, 3));
    assert_true(gt_arena_failed(&arena));
    assert_null(gt_arena_uninitialised(&arena, LARGE, 1));
    gt_arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap_blocks_refuse_what_overflows),
        cmocka_unit_test(heap_arrays_are_zeroed),
        cmocka_unit_test(pages_keep_bytes_and_grow_with_zeros),
        cmocka_unit_test(pages_that_shrink_and_grow_are_zero_after_their_end),
        cmocka_unit_test(pages_of_every_size_keep_their_bytes),
        cmocka_unit_test(free_huge_pages_are_counted),
        cmocka_unit_test(advice_about_a_block_keeps_it),
        cmocka_unit_test(pages_refuse_what_overflows),
        cmocka_unit_test(arena_pieces_are_zeroed_aligned_and_apart),
        cmocka_unit_test(arena_wastes_little),
        cmocka_unit_test(arena_failure_sticks),
        cmocka_unit_test(arena_text_is_terminated),
        cmocka_unit_test(an_arena_takes_the_memory_of_another),
        cmocka_unit_test(a_reset_arena_gives_zeroed_memory_again),
        cmocka_unit_test(arrays_make_room_and_keep_what_they_hold),
        cmocka_unit_test(arrays_that_are_not_zeroed_lie_apart),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
