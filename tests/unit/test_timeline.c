/* Timelines: that items are few whatever the spans are, and that counts and busy times are exact whatever the grain is.
 */
#include "base/intervals.h"
#include "events/builder.h"
#include "measure/results/measure.h"
#include "measure/results/tiles.h"
#include "measure_world.h"

/* ---- items of one row ---- */

enum { SPANS = 400, ROWS = 4 };

struct row {
    struct gt_interval spans[SPANS];
    uint8_t categories[SPANS];
    size_t count;
};

static void read_row(const void *data, size_t first, size_t count, struct gt_span *out) {
    const struct row *row = data;
    for (size_t i = first; i < first + count; i++)
        *out++ = (struct gt_span){row->spans[i].start_ns, row->spans[i].end_ns, row->categories[i]};
}

static int by_start(const void *a, const void *b) {
    const struct gt_interval *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

static struct gt_spans random_row(struct row *row, uint64_t *random, size_t count, int64_t zero_ns, uint64_t room_ns,
                                  uint64_t longest_ns) {
    row->count = count;
    for (size_t i = 0; i < count; i++) {
        row->spans[i].start_ns = zero_ns + (int64_t)random_below(random, room_ns);
        row->spans[i].end_ns = row->spans[i].start_ns + (int64_t)random_below(random, longest_ns);
        row->categories[i] = (uint8_t)random_below(random, 3);
    }
    qsort(row->spans, count, sizeof *row->spans, by_start);
    return (struct gt_spans){row, read_row, zero_ns};
}

static int64_t naive_busy_ns(const struct row *row) {
    int64_t busy_ns = 0, reached_ns = INT64_MIN;
    for (size_t i = 0; i < row->count; i++) {
        int64_t from_ns = row->spans[i].start_ns > reached_ns ? row->spans[i].start_ns : reached_ns;
        busy_ns += row->spans[i].end_ns > from_ns ? row->spans[i].end_ns - from_ns : 0;
        reached_ns = row->spans[i].end_ns > reached_ns ? row->spans[i].end_ns : reached_ns;
    }
    return busy_ns;
}

/* Every item holds a run of spans; its name is that of the longest span of the category with most busy time. */
static void check_item(const struct row *row, const struct gt_timeline_item *item, size_t first, int64_t zero_ns,
                       int64_t *reached_ns) {
    int64_t busy_ns[3] = {0}, end_ns = INT64_MIN;
    assert_int_equal(item->start_ns, row->spans[first].start_ns - zero_ns);
    for (size_t i = first; i < first + item->count; i++) {
        int64_t from_ns = row->spans[i].start_ns > *reached_ns ? row->spans[i].start_ns : *reached_ns;
        busy_ns[row->categories[i]] += row->spans[i].end_ns > from_ns ? row->spans[i].end_ns - from_ns : 0;
        *reached_ns = row->spans[i].end_ns > *reached_ns ? row->spans[i].end_ns : *reached_ns;
        end_ns = row->spans[i].end_ns > end_ns ? row->spans[i].end_ns : end_ns;
    }
    assert_int_equal(item->end_ns, end_ns - zero_ns);
    assert_int_equal(item->busy_ns, busy_ns[0] + busy_ns[1] + busy_ns[2]);
    uint8_t category = row->categories[item->name];
    for (size_t c = 0; c < 3; c++)
        assert_true(busy_ns[category] >= busy_ns[c]);
    for (size_t i = first; i < first + item->count; i++)
        assert_true(row->categories[i] != category ||
                    row->spans[i].end_ns - row->spans[i].start_ns <=
                        row->spans[item->name].end_ns - row->spans[item->name].start_ns);
}

static void items_are_exact_at_any_grain(void **unused) {
    (void)unused;
    uint64_t random = 7;
    for (int turn = 0; turn < 300; turn++) {
        struct row row;
        struct gt_timeline_item items[SPANS];
        int64_t zero_ns = turn % 3 ? 5000 : -700;
        struct gt_spans spans = random_row(&row, &random, random_below(&random, SPANS), zero_ns, 4000,
                                           1 + random_below(&random, turn % 2 ? 20 : 900));
        for (int64_t grain_ns = 0; grain_ns <= 8192; grain_ns = grain_ns ? grain_ns * 2 : 1) {
            size_t count = gt_tiles_make(&spans, (struct gt_span_row){0, row.count}, grain_ns, items);
            size_t first = 0;
            int64_t busy_ns = 0, reached_ns = INT64_MIN;
            for (size_t i = 0; i < count; first += items[i++].count) {
                check_item(&row, &items[i], first, zero_ns, &reached_ns);
                busy_ns += items[i].busy_ns;
            }
            assert_int_equal(first, row.count);
            assert_int_equal(busy_ns, naive_busy_ns(&row));
            if (grain_ns == 0)
                assert_int_equal(count, row.count);
            else
                assert_true(count <= 2 * (4000 / (size_t)grain_ns + 1));
        }
    }
}

/* Of rows of one list of spans. Gives how many items they have together. */
static size_t choose_grain(const struct gt_spans *spans, const struct gt_span_row *rows, size_t row_count, size_t most,
                           size_t threads, int64_t *grain_ns) {
    struct gt_timeline_item items[SPANS];
    size_t counts[ROWS], sum = 0;
    assert_true(gt_tiles_choose_grain(spans, rows, row_count, most, threads, grain_ns, counts));
    for (size_t r = 0; r < row_count; r++) {
        assert_int_equal(gt_tiles_make(spans, rows[r], *grain_ns, items), counts[r]);
        sum += counts[r];
    }
    return sum;
}

static void the_grain_is_the_smallest_that_fits(void **unused) {
    (void)unused;
    uint64_t random = 11;
    struct row row;
    struct gt_timeline_item items[SPANS];
    int64_t grain_ns;
    struct gt_spans spans = random_row(&row, &random, SPANS, 0, 100000, 30);
    struct gt_span_row rows[ROWS] = {{0, SPANS / 2}, {SPANS / 2, 0}, {SPANS / 2, SPANS / 2 - 20}, {SPANS - 20, 20}};
    assert_int_equal(choose_grain(&spans, rows, ROWS, SPANS, 1, &grain_ns), SPANS);
    assert_int_equal(grain_ns, 0);
    for (size_t most = ROWS * GT_TILES_ROW_LEAST; most < SPANS; most += 7) {
        size_t count = choose_grain(&spans, rows, ROWS, most, 1 + most % 3, &grain_ns);
        size_t finer = 0;
        assert_true(grain_ns > 0 && count <= most);
        for (size_t r = 0; r < ROWS && grain_ns > 1; r++)
            finer += gt_tiles_make(&spans, rows[r], grain_ns / 2, items);
        assert_true(grain_ns == 1 || finer > most);
    }
}

/* Times as far apart as they can be, all at once, and one inside the other. */
static void damaged_times_are_few_items(void **unused) {
    (void)unused;
    struct row row = {.count = SPANS};
    struct gt_spans spans = {&row, read_row, INT64_MIN};
    int64_t grain_ns;
    for (size_t i = 0; i < SPANS; i++)
        row.spans[i] = (struct gt_interval){i < SPANS / 2 ? INT64_MIN : INT64_MAX - 10, INT64_MAX - 5};
    struct gt_span_row all = {0, SPANS};
    assert_true(choose_grain(&spans, &all, 1, GT_TILES_ROW_LEAST, 1, &grain_ns) <= GT_TILES_ROW_LEAST);
    for (size_t i = 0; i < SPANS; i++)
        row.spans[i] = (struct gt_interval){(int64_t)i, 1000000};
    spans.zero_ns = 0;
    assert_true(choose_grain(&spans, &all, 1, GT_TILES_ROW_LEAST, 1, &grain_ns) <= GT_TILES_ROW_LEAST);
}

/* ---- the analysis ---- */

static const struct gt_timeline *world_timeline(const struct world *world) {
    for (size_t b = 0; b < world->section->block_count; b++)
        if (world->section->blocks[b].kind == GT_BLOCK_TIMELINE)
            return world->section->blocks[b].timeline;
    return NULL;
}

static int64_t cell_or_unknown(struct gt_cell cell) {
    return cell.type == GPUTIME_CELL_INT ? cell.integer : GT_TIMELINE_UNKNOWN;
}

static void check_streams(struct world *world, const struct gt_timeline *timeline) {
    struct gt_error err = {0};
    assert_int_equal(gt_streams_run(world->view, world->section, &err), GT_OK);
    const struct gt_table *streams = world_table(world, "streams");
    size_t rows = 0;
    for (size_t r = 0; r < timeline->row_count; r++) {
        const struct gt_timeline_row *row = &timeline->rows[r];
        if (row->kind != GT_TIMELINE_OPS)
            continue;
        size_t found = 0;
        for (size_t s = 0; s < streams->row_count; s++) {
            if (table_int(streams, s, "device") != row->device || table_int(streams, s, "stream") != row->stream ||
                cell_or_unknown(table_cell(streams, s, "pid")) != row->pid)
                continue;
            assert_int_equal(table_int(streams, s, "count"), row->count);
            assert_int_equal(table_int(streams, s, "busy_ns"), row->busy_ns);
            found++;
        }
        assert_int_equal(found, 1);
        rows++;
    }
    assert_int_equal(rows, streams->row_count);
}

static void check_gaps(struct world *world, const struct gt_timeline *timeline) {
    struct gt_error err = {0};
    assert_int_equal(gt_gaps_run(world->view, world->section, &err), GT_OK);
    const struct gt_table *gaps = world_table(world, "gaps");
    size_t items = 0;
    for (size_t r = 0; r < timeline->row_count; r++) {
        const struct gt_timeline_row *row = &timeline->rows[r];
        for (size_t i = 0; row->kind == GT_TIMELINE_GAPS && i < row->item_count; i++, items++) {
            bool found = false;
            for (size_t g = 0; g < gaps->row_count && !found; g++)
                found = table_int(gaps, g, "device") == row->device &&
                        table_int(gaps, g, "start_ns") == row->items[i].start_ns &&
                        table_int(gaps, g, "end_ns") == row->items[i].end_ns &&
                        gt_str_eq(table_text(gaps, g, "cause"), timeline->names[row->items[i].name].text);
            assert_true(found);
        }
    }
    assert_int_equal(items, gaps->row_count);
}

static void check_ranges(struct world *world, const struct gt_timeline *timeline) {
    struct gt_error err = {0};
    assert_int_equal(gt_range_instances_run(world->view, world->section, &err), GT_OK);
    const struct gt_table *ranges = world_table(world, "range_instances");
    size_t items = 0, used = 0;
    for (size_t i = 0; i < ranges->row_count; i++)
        used += table_int(ranges, i, "ops") > 0;
    for (size_t r = 0; r < timeline->row_count; r++) {
        const struct gt_timeline_row *row = &timeline->rows[r];
        for (size_t i = 0; row->kind == GT_TIMELINE_RANGES && i < row->item_count; i++, items++) {
            bool found = false;
            for (size_t k = 0; k < ranges->row_count && !found; k++)
                found = table_int(ranges, k, "ops") > 0 && table_int(ranges, k, "level") == row->level &&
                        table_int(ranges, k, "start_ns") == row->items[i].start_ns &&
                        table_int(ranges, k, "projected_ns") == row->items[i].end_ns - row->items[i].start_ns &&
                        gt_str_eq(table_text(ranges, k, "name"), timeline->names[row->items[i].name].text);
            assert_true(found);
            assert_true(i == 0 || row->items[i - 1].start_ns <= row->items[i].start_ns);
        }
    }
    assert_int_equal(items, used);
}

static void timelines_agree_with_the_tables(void **unused) {
    (void)unused;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world world;
        world_random(&world, seed);
        if (seed % 4 == 0) {
            world.options.from = "30ns";
            world.options.to = "120ns";
        }
        world_run(&world, "timeline");
        const struct gt_timeline *timeline = world_timeline(&world);
        if (!timeline) {
            assert_int_equal(world.view->device_count, 0);
            world_end(&world);
            continue;
        }
        assert_int_equal(timeline->option_count, 0);
        check_streams(&world, timeline);
        check_gaps(&world, timeline);
        check_ranges(&world, timeline);
        world_end(&world);
    }
}

/* More ops and names than a page takes. */
static void long_traces_are_bounded(void **unused) {
    (void)unused;
    enum { OPS = 400000 };
    struct world world;
    world_begin(&world, 1);
    char name[1024];
    memset(name, 'n', sizeof name);
    for (int64_t i = 0; i < OPS; i++) {
        int length = snprintf(name, sizeof name, "kernel %d ", (int)(i % 50000));
        name[length] = 'n';
        struct gt_ops_row op = {.start_ns = 100 * i,
                                .end_ns = 100 * i + 60,
                                .correlation = GT_NO_CORRELATION,
                                .name = gt_builder_string(&world.builder, (struct gt_str){name, 600}),
                                .lane = gt_builder_lane(&world.builder, GT_NO_TRACK, 0, i % 1000)};
        assert_true(gt_builder_op(&world.builder, &op));
    }
    world_seal(&world);
    world.options.device = "0";
    world_run(&world, "timeline");
    const struct gt_timeline *timeline = world_timeline(&world);
    size_t items = 0, name_bytes = 0, ops = 0;
    for (size_t r = 0; r < timeline->row_count; r++) {
        items += timeline->rows[r].item_count;
        ops += timeline->rows[r].kind == GT_TIMELINE_OPS;
    }
    for (size_t i = 0; i < timeline->name_count; i++)
        name_bytes += timeline->names[i].text.len;
    assert_true(items > 50000 && items <= 130000);
    assert_true(name_bytes > 400000 && name_bytes < 600000);
    assert_int_equal(ops + timeline->rows_left_out[GT_TIMELINE_OPS], 1000);
    assert_int_equal(timeline->option_count, 1);
    assert_string_equal(timeline->options[0].name, "device");
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_exact_at_any_grain), cmocka_unit_test(the_grain_is_the_smallest_that_fits),
        cmocka_unit_test(damaged_times_are_few_items),  cmocka_unit_test(timelines_agree_with_the_tables),
        cmocka_unit_test(long_traces_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
