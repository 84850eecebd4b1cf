/* Small random traces for the tests of measure/: a store is built, labelled and viewed, analyses run over it, and their
   tables are read by key. Times are few, so tests can look at every single nanosecond. */
#ifndef TESTS_UNIT_MEASURE_WORLD_H
#define TESTS_UNIT_MEASURE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "asking.h"
#include "events/builder.h"
#include "events/view.h"
#include "label/label.h"
#include "measure/analysis.h"
#include "random.h"
#include "report/report.h"

enum { WORLD_START = 1000, WORLD_LENGTH = 260, WORLD_END = WORLD_START + 2 * WORLD_LENGTH };

struct world {
    struct gt_builder builder;
    struct gt_store *store;
    struct gt_labels *labels;
    struct asking options;
    struct asked asked; /* what the view reads, from options */
    struct gt_view *view;
    struct gt_report *report;
    struct gt_section *section;
    uint64_t random;
};

static inline gt_strid world_text(struct world *world, const char *text) {
    return gt_builder_string(&world->builder, gt_str_of(text));
}

static inline void world_begin(struct world *world, uint64_t seed) {
    struct gt_error err = {0};
    memset(world, 0, sizeof *world);
    world->random = seed;
    assert_int_equal(gt_builder_init(&world->builder, "test", &err), GT_OK);
    gt_builder_begin(&world->builder, 0);
}

static inline void world_seal(struct world *world) {
    struct gt_error err = {0};
    assert_int_equal(gt_store_seal(&world->builder, 1, &world->store, &err), GT_OK);
    assert_int_equal(gt_label_new(world->store, &world->labels, &err), GT_OK);
}

/* Views with world->options and runs one analysis into a fresh report. */
static inline enum gt_status world_try(struct world *world, const char *key, struct gt_error *err) {
    gt_report_free(world->report);
    gt_view_free(world->view);
    world->report = NULL;
    world->view = NULL;
    assert_int_equal(gt_view_new(world->store, world->labels, ask(&world->options, &world->asked), &world->view, err),
                     GT_OK);
    world->report = gt_report_new("test", 1);
    assert_non_null(world->report);
    world->section = &world->report->sections[0];
    const struct gt_analysis *analysis = gt_analysis_find(key);
    assert_non_null(analysis);
    return analysis->run(world->view, world->section, err);
}

static inline void world_run(struct world *world, const char *key) {
    struct gt_error err = {0};
    assert_int_equal(world_try(world, key, &err), GT_OK);
    assert_false(gt_arena_failed(&world->report->arena));
}

static inline void world_end(struct world *world) {
    gt_report_free(world->report);
    gt_view_free(world->view);
    gt_label_free(world->labels);
    gt_store_free(world->store);
}

/* ---- reading tables ---- */

static inline struct gt_table *world_table(const struct world *world, const char *key) {
    struct gt_table *table = gt_section_find(world->section, key);
    assert_non_null(table);
    return table;
}

static inline struct gt_cell table_cell(const struct gt_table *table, size_t row, const char *column) {
    size_t index = gt_table_column(table, column);
    assert_true(index != SIZE_MAX);
    assert_true(row < table->row_count);
    return table->cells[row * table->column_count + index];
}

static inline int64_t table_int(const struct gt_table *table, size_t row, const char *column) {
    struct gt_cell cell = table_cell(table, row, column);
    assert_int_equal(cell.type, GPUTIME_CELL_INT);
    return cell.integer;
}

static inline double table_real(const struct gt_table *table, size_t row, const char *column) {
    struct gt_cell cell = table_cell(table, row, column);
    if (cell.type == GPUTIME_CELL_INT)
        return (double)cell.integer;
    assert_int_equal(cell.type, GPUTIME_CELL_REAL);
    return cell.real;
}

static inline struct gt_str table_text(const struct gt_table *table, size_t row, const char *column) {
    struct gt_cell cell = table_cell(table, row, column);
    assert_int_equal(cell.type, GPUTIME_CELL_TEXT);
    return (struct gt_str){cell.text, cell.text_bytes};
}

static inline bool table_is_null(const struct gt_table *table, size_t row, const char *column) {
    return table_cell(table, row, column).type == GPUTIME_CELL_NULL;
}

static inline void assert_text(struct gt_str actual, const char *expected) {
    assert_int_equal(actual.len, strlen(expected));
    assert_memory_equal(actual.ptr, expected, actual.len);
}

static inline void assert_near(double actual, double expected) {
    double distance = actual > expected ? actual - expected : expected - actual;
    double size = expected > 0 ? expected : -expected;
    assert_true(distance <= 1e-9 * (size > 1 ? size : 1));
}

/* Fails if there is no such fact. */
static inline struct gt_cell world_fact(const struct world *world, const char *key) {
    for (size_t b = 0; b < world->section->block_count; b++)
        for (size_t f = 0; f < world->section->blocks[b].fact_count; f++)
            if (strcmp(world->section->blocks[b].facts[f].key, key) == 0)
                return world->section->blocks[b].facts[f].value;
    fail_msg("no fact '%s'", key);
    return gt_cell_null();
}

static inline uint64_t world_issue(const struct world *world, const char *id) {
    for (size_t i = 0; i < world->section->issue_count; i++)
        if (strcmp(world->section->issues[i].id, id) == 0)
            return world->section->issues[i].count;
    return 0;
}

/* ---- a random trace ---- */

static const char *const world_kernels[] = {"void gemm<int, 4>(float*)", "void gemm<long, 8>(float*)", "relu",
                                            "ncclDevKernel_AllReduce", "softmax(int)"};
static const char *const world_calls[] = {"cudaLaunchKernel_v7000", "cuLaunchKernelEx", "cudaMemcpyAsync"};
static const char *const world_blocking[] = {"cudaStreamSynchronize", "cudaMemcpy_ptds", "cudaMalloc"};

static inline int64_t world_time(struct world *world) {
    return WORLD_START + (int64_t)random_below(&world->random, WORLD_LENGTH);
}

static inline void world_add_op(struct world *world, uint32_t process, uint64_t correlation) {
    uint64_t *random = &world->random;
    struct gt_builder *builder = &world->builder;
    bool is_memory = random_below(random, 4) == 0;
    int64_t start = world_time(world);
    int64_t device = (int64_t)random_below(random, 2), stream = 7 + (int64_t)random_below(random, 3);
    uint32_t owner = random_below(random, 3) ? process : GT_NO_TRACK;
    const char *name = is_memory ? "Memcpy HtoD" : world_kernels[random_below(random, 5)];
    struct gt_ops_row op = {
        .start_ns = start,
        .end_ns = start + (random_below(random, 6) ? (int64_t)random_below(random, 14) : 0),
        .correlation = correlation,
        .name = world_text(world, name),
        .lane = gt_builder_lane(builder, owner, device, stream),
        .kind = is_memory ? GT_OP_MEMCPY : GT_OP_KERNEL,
    };
    assert_true(gt_builder_op(builder, &op));
    if (is_memory && random_below(random, 2))
        gt_builder_copy(builder, &(struct gt_copies_row){.bytes = random_below(random, 5000)});
}

static inline void world_add_call(struct world *world, const char *name, uint32_t thread, uint64_t correlation) {
    int64_t start = world_time(world);
    gt_builder_call(&world->builder, &(struct gt_calls_row){
                                         .start_ns = start,
                                         .end_ns = start + (int64_t)random_below(&world->random, 25),
                                         .correlation = correlation,
                                         .name = world_text(world, name),
                                         .thread = thread,
                                     });
}

/* Ops on two devices and three streams of two processes, launched by two threads each; with blocking calls, ranges,
   operators and steps around. */
static inline void world_random(struct world *world, uint64_t seed) {
    world_begin(world, seed);
    uint64_t *random = &world->random;
    struct gt_builder *builder = &world->builder;
    uint64_t op_count = 1 + random_below(random, 40);
    for (uint64_t i = 0; i < op_count; i++) {
        uint32_t process = gt_builder_process(builder, 50 + (int64_t)random_below(random, 2), GT_STR(""));
        uint32_t thread = gt_builder_thread(builder, process, (int64_t)random_below(random, 2), GT_STR(""));
        bool has_call = random_below(random, 6) != 0;
        world_add_op(world, process, has_call ? i : GT_NO_CORRELATION);
        if (has_call)
            world_add_call(world, world_calls[random_below(random, 3)], thread, i);
        if (random_below(random, 3) == 0)
            world_add_call(world, world_blocking[random_below(random, 3)], thread, GT_NO_CORRELATION);
        int64_t start = world_time(world);
        if (random_below(random, 4) == 0)
            gt_builder_cpu_op(builder, &(struct gt_cpu_ops_row){start, start + (int64_t)random_below(random, 30),
                                                                world_text(world, "aten::mm"), thread});
        if (random_below(random, 8) == 0)
            gt_builder_range(builder, &(struct gt_ranges_row){.start_ns = start,
                                                              .end_ns = start + (int64_t)random_below(random, 60),
                                                              .name = world_text(world, "forward"),
                                                              .thread = thread,
                                                              .end_thread = GT_NO_TRACK,
                                                              .lane = GT_NO_TRACK});
    }
    uint32_t process = gt_builder_process(builder, 50, GT_STR(""));
    uint32_t thread = gt_builder_thread(builder, process, 0, GT_STR(""));
    for (int64_t k = 0; k < 3; k++) {
        char name[32];
        snprintf(name, sizeof name, "ProfilerStep#%d", (int)k + 4);
        gt_builder_range(builder, &(struct gt_ranges_row){.start_ns = WORLD_START + k * 90,
                                                          .end_ns = WORLD_START + k * 90 + 80 + k,
                                                          .name = world_text(world, name),
                                                          .thread = thread,
                                                          .end_thread = GT_NO_TRACK,
                                                          .lane = GT_NO_TRACK});
    }
    world_seal(world);
}

/* ---- looking at it plainly ---- */

/* An op as the selection leaves it. */
struct plain_op {
    uint32_t row;
    int64_t start, end, device, stream;
    uint32_t lane;
    enum gt_class class;
};

struct plain_ops {
    struct plain_op items[64];
    size_t count;
};

static int plain_order(const void *a, const void *b) {
    const struct plain_op *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static inline int64_t world_last_end(const struct world *world) {
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < world->store->ops.count; i++)
        last = world->store->ops.end_ns[i] > last ? world->store->ops.end_ns[i] : last;
    return last;
}

/* The ops between two times, clipped, in the order that decides ties. A window to the end of the trace has the ops of
   no length there too. */
static inline struct plain_ops plain_ops_between(const struct world *world, int64_t from, int64_t to) {
    const struct gt_ops *ops = &world->store->ops;
    struct plain_ops plain = {.count = 0};
    for (uint32_t row = 0; row < ops->count; row++) {
        int64_t start = ops->start_ns[row], end = ops->end_ns[row];
        if ((start >= to && to != world_last_end(world)) || (end <= from && start < from))
            continue;
        assert_true(plain.count < 64);
        plain.items[plain.count++] = (struct plain_op){
            .row = row,
            .start = start,
            .end = end,
            .device = world->store->devices.id[world->store->lanes.device[ops->lane[row]]],
            .stream = world->store->lanes.stream[ops->lane[row]],
            .lane = ops->lane[row],
            .class = world->labels->categories[world->labels->op_category[row]].time_class,
        };
    }
    qsort(plain.items, plain.count, sizeof *plain.items, plain_order);
    for (size_t i = 0; i < plain.count; i++) { /* only now: the order is that of the trace */
        plain.items[i].start = plain.items[i].start < from ? from : plain.items[i].start;
        plain.items[i].end = plain.items[i].end > to ? to : plain.items[i].end;
    }
    return plain;
}

static inline struct plain_ops plain_all(const struct world *world) {
    return plain_ops_between(world, INT64_MIN, INT64_MAX);
}

static inline bool plain_runs(const struct plain_op *op, int64_t now) {
    return op->start <= now && now < op->end;
}

static inline struct gt_str plain_name(const struct world *world, const struct plain_op *op) {
    return gt_store_string(world->store, world->store->ops.name[op->row]);
}

/* ---- plain sums ---- */

static inline int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Linear interpolation at q * (n - 1) of sorted values. */
static inline double quantile(const int64_t *values, size_t count, double q) {
    double place = q * (double)(count - 1);
    size_t low = (size_t)place, high = low + 1 < count ? low + 1 : low;
    return (double)values[low] + (place - (double)low) * ((double)values[high] - (double)values[low]);
}

static inline bool is_kernel(const struct world *world, uint32_t row) {
    return world->store->ops.kind[row] == GT_OP_KERNEL;
}

static inline int64_t op_ns(const struct world *world, uint32_t row) {
    return world->store->ops.end_ns[row] - world->store->ops.start_ns[row];
}

static inline struct gt_str op_name(const struct world *world, uint32_t row) {
    struct gt_str full = gt_store_string(world->store, world->store->ops.name[row]);
    return world->options.names == GPUTIME_NAMES_SHORT ? gt_label_simplify_name(full) : full;
}

/* Durations of the kernels (or memory ops) with that name, sorted. */
static inline size_t durations(const struct world *world, struct gt_str name, bool kernels, int64_t *values) {
    size_t count = 0;
    for (uint32_t row = 0; row < world->store->ops.count; row++)
        if (is_kernel(world, row) == kernels && gt_str_eq(op_name(world, row), name))
            values[count++] = op_ns(world, row);
    qsort(values, count, sizeof *values, by_value);
    return count;
}

#endif
