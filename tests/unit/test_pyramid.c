/* Pyramids: for any window and grain they give the items that all spans of the lane, joined one by one, give. */
#include "explore/pyramid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/ns.h"
#include "random.h"

enum { SPANS_MAX = 40000 };

struct row {
    struct gt_span *spans;
    size_t count;
};

static void read_row(const void *data, size_t first, size_t count, struct gt_span *out) {
    const struct row *row = data;
    assert_true(first + count <= row->count);
    for (size_t i = 0; i < count; i++)
        out[i] = row->spans[first + i];
}

static int by_start(const void *a, const void *b) {
    const struct gt_span *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

/* Bursts and pauses, mostly short spans with some long ones; in some rows none overlap. */
static struct row random_row(uint64_t *random, size_t count, int64_t zero_ns) {
    struct row row = {malloc((count + 1) * sizeof(struct gt_span)), count};
    int64_t now = zero_ns - (int64_t)random_below(random, 500);
    bool overlap = random_below(random, 2);
    uint64_t longest = UINT64_C(1) << random_below(random, 12), pause = UINT64_C(1) << random_below(random, 14);
    size_t categories = 1 + random_below(random, 5);
    for (size_t i = 0; i < count; i++) {
        uint64_t length = random_below(random, longest);
        if (random_below(random, 200) == 0)
            length *= 50;
        now += (int64_t)random_below(random, random_below(random, 50) ? 3 : pause);
        row.spans[i] = (struct gt_span){now, now + (int64_t)length, (uint8_t)random_below(random, categories)};
        if (!overlap)
            now += (int64_t)length;
    }
    qsort(row.spans, count, sizeof *row.spans, by_start);
    return row;
}

static bool touches(const struct gt_timeline_item *item, int64_t from_ns, int64_t to_ns) {
    return item->start_ns < to_ns && (item->end_ns > from_ns || item->start_ns >= from_ns);
}

/* Which of the items that begin early are left out is the pyramid's choice: the first ones. */
static void check_window(const struct gt_pyramid *pyramid, const struct gt_spans *spans,
                         const struct gt_pyramid_window *window, struct gt_timeline_item *all) {
    struct gt_pyramid_items items = {0};
    bool is_cut;
    const struct row *row = spans->data;
    int64_t grain_ns = gt_pyramid_window(pyramid, spans, window, &items, &is_cut);
    size_t inside = 0, touching = 0, checked = items.count;
    for (size_t i = 0; i < row->count; i++) {
        int64_t start_ns = gt_ns_between(spans->zero_ns, row->spans[i].start_ns);
        inside += start_ns >= window->from_ns && start_ns < window->to_ns;
    }
    assert_int_equal(grain_ns, inside <= window->most ? 0 : window->grain_ns);
    size_t count = gt_tiles_make(spans, (struct gt_span_row){0, row->count}, grain_ns, all);
    for (size_t i = 0; i < count; i++)
        touching += touches(&all[i], window->from_ns, window->to_ns);
    assert_true(items.count == touching || (is_cut && items.count < touching));
    for (size_t i = count; i-- > 0;) {
        if (!touches(&all[i], window->from_ns, window->to_ns) || checked == 0)
            continue;
        const struct gt_timeline_item *item = &items.items[--checked];
        assert_int_equal(item->start_ns, all[i].start_ns);
        assert_int_equal(item->end_ns, all[i].end_ns);
        assert_int_equal(item->busy_ns, all[i].busy_ns);
        assert_int_equal(item->count, all[i].count);
        assert_int_equal(item->name, all[i].name);
    }
    assert_int_equal(checked, 0);
    gt_mem_free(items.items);
}

static void windows_show_what_all_spans_give(void **unused) {
    (void)unused;
    uint64_t random = 3;
    struct gt_timeline_item *all = malloc(SPANS_MAX * sizeof *all);
    size_t sizes[] = {0, 1, 63, 64, 65, 1000, 1024, 1025, 5000, SPANS_MAX};
    for (int turn = 0; turn < 60; turn++) {
        int64_t zero_ns = (int64_t)random_below(&random, 100000) - 1000;
        struct row row = random_row(&random, sizes[turn % 10], zero_ns);
        struct gt_spans spans = {&row, read_row, zero_ns};
        struct gt_pyramid pyramid;
        assert_true(gt_pyramid_init(&pyramid, &spans, (struct gt_span_row){0, row.count}));
        int64_t room_ns = row.count ? pyramid.end_ns - pyramid.start_ns + 1 : 1;
        for (int i = 0; i < 25; i++) {
            int64_t from_ns = pyramid.start_ns - 20 + (int64_t)random_below(&random, (uint64_t)room_ns + 40);
            int64_t length_ns = 1 + (int64_t)random_below(&random, (uint64_t)room_ns >> random_below(&random, 16) | 1);
            struct gt_pyramid_window window = {from_ns, from_ns + length_ns, random_below(&random, 100),
                                               (int64_t)1 << random_below(&random, 22)};
            check_window(&pyramid, &spans, &window, all);
        }
        gt_pyramid_release(&pyramid);
        free(row.spans);
    }
    free(all);
}

static void sums_are_those_of_the_spans(void **unused) {
    (void)unused;
    uint64_t random = 5;
    for (int turn = 0; turn < 20; turn++) {
        struct row row = random_row(&random, 1 + random_below(&random, 3000), 0);
        struct gt_spans spans = {&row, read_row, 0};
        struct gt_pyramid pyramid;
        int64_t reached_ns = INT64_MIN, busy_ns = 0, longest_ns = 0;
        assert_true(gt_pyramid_init(&pyramid, &spans, (struct gt_span_row){0, row.count}));
        for (size_t i = 0; i < row.count; i++) {
            const struct gt_span *span = &row.spans[i];
            int64_t from_ns = span->start_ns > reached_ns ? span->start_ns : reached_ns;
            busy_ns += span->end_ns > from_ns ? span->end_ns - from_ns : 0;
            reached_ns = span->end_ns > reached_ns ? span->end_ns : reached_ns;
            longest_ns = span->end_ns - span->start_ns > longest_ns ? span->end_ns - span->start_ns : longest_ns;
        }
        assert_int_equal(pyramid.busy_ns, busy_ns);
        assert_int_equal(pyramid.end_ns, reached_ns);
        assert_int_equal(pyramid.longest_ns, longest_ns);
        gt_pyramid_release(&pyramid);
        free(row.spans);
    }
}

/* Times at the ends of the range, and all spans at one instant: few items, and no overflow. */
static void damaged_times_are_bounded(void **unused) {
    (void)unused;
    enum { COUNT = 3000 };
    static const int64_t edges[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    uint64_t random = 9;
    for (int turn = 0; turn < 40; turn++) {
        struct row row = {malloc(COUNT * sizeof(struct gt_span)), COUNT};
        for (size_t i = 0; i < COUNT; i++) {
            int64_t a = edges[random_below(&random, 7)], b = turn % 2 ? a : edges[random_below(&random, 7)];
            row.spans[i] = (struct gt_span){a < b ? a : b, a < b ? b : a, 0};
        }
        qsort(row.spans, COUNT, sizeof *row.spans, by_start);
        struct gt_spans spans = {&row, read_row, edges[turn % 7]};
        struct gt_pyramid pyramid;
        assert_true(gt_pyramid_init(&pyramid, &spans, (struct gt_span_row){0, COUNT}));
        for (int shift = 0; shift < 63; shift += 6) {
            struct gt_pyramid_items items = {0};
            bool is_cut;
            struct gt_pyramid_window window = {INT64_MIN, INT64_MAX, 50, (int64_t)1 << shift};
            gt_pyramid_window(&pyramid, &spans, &window, &items, &is_cut);
            assert_true(items.count > 0 && items.count <= COUNT);
            gt_mem_free(items.items);
        }
        gt_pyramid_release(&pyramid);
        free(row.spans);
    }
}

/* Every span reaches the end: a late window lists only as many as were asked for, and says so. */
static void what_reaches_in_is_bounded(void **unused) {
    (void)unused;
    enum { COUNT = 20000 };
    struct row row = {malloc(COUNT * sizeof(struct gt_span)), COUNT};
    for (int64_t i = 0; i < COUNT; i++)
        row.spans[i] = (struct gt_span){10 * i, 1000000, 0};
    struct gt_spans spans = {&row, read_row, 0};
    struct gt_pyramid pyramid;
    struct gt_pyramid_items items = {0};
    bool is_cut;
    assert_true(gt_pyramid_init(&pyramid, &spans, (struct gt_span_row){0, COUNT}));
    gt_pyramid_window(&pyramid, &spans, &(struct gt_pyramid_window){900000, 900100, 100, 1}, &items, &is_cut);
    assert_int_equal(items.count, 100);
    assert_true(is_cut);
    assert_int_equal(items.items[99].start_ns, 10 * (COUNT - 1));
    gt_mem_free(items.items);
    gt_pyramid_release(&pyramid);
    free(row.spans);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_show_what_all_spans_give),
        cmocka_unit_test(sums_are_those_of_the_spans),
        cmocka_unit_test(damaged_times_are_bounded),
        cmocka_unit_test(what_reaches_in_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
