/* A cache in a private directory for tests, and stores with a row of everything to keep in it. */
#ifndef TESTS_UNIT_CACHE_WORLD_H
#define TESTS_UNIT_CACHE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "events/builder.h"
#include "events/cache.h"

static char folder[] = "/tmp/gputime-cache-XXXXXX";
static char trace[64], second[64], cache[64], file[512];

static inline int make_folder(void **state) {
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    if (!mkdtemp(folder))
        return -1;
    snprintf(trace, sizeof(trace), "%s/trace.json", folder);
    snprintf(second, sizeof(second), "%s/second.json", folder);
    snprintf(cache, sizeof(cache), "%s/deep/cache", folder);
    return setenv("GPUTIME_CACHE", cache, 1);
}

static inline int remove_folder(void **state) {
    (void)state;
    char deep[64];
    uint64_t removed;
    gt_cache_clear(&removed, NULL);
    rmdir(cache);
    snprintf(deep, sizeof(deep), "%s/deep", folder);
    rmdir(deep);
    unlink(trace);
    unlink(second);
    return rmdir(folder);
}

/* A file of these bytes whose last change was `age` seconds ago. */
static inline void write_trace(const char *path, const char *text, size_t size, time_t age) {
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(text, 1, size, stream), size);
    fclose(stream);
    struct timespec times[2] = {{time(NULL) - age, 0}, {time(NULL) - age, 5}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Each test begins with an old trace and an empty cache. */
static inline int begin(void **state) {
    (void)state;
    uint64_t removed;
    write_trace(trace, "some trace", 10, 100);
    setenv("GPUTIME_CACHE", cache, 1);
    return gt_cache_clear(&removed, NULL) == GT_OK ? 0 : -1;
}

static inline struct gt_cache_key key_of(const char *path) {
    struct gt_cache_key key;
    gt_cache_key_init(&key, &path, 1);
    return key;
}

static inline void save(const struct gt_store *store) {
    const char *path = trace;
    struct gt_cache_key key = key_of(trace);
    assert_true(key.is_usable);
    gt_cache_save(&key, &path, 1, store);
}

static inline struct gt_store *load(void) {
    struct gt_cache_key key = key_of(trace);
    struct gt_store *store = NULL;
    assert_true(gt_cache_load(&key, 0, &store, &(uint32_t){0}) == (store != NULL));
    return store;
}

static inline uint64_t files_in_cache(void) {
    struct gt_cache_summary summary;
    assert_int_equal(gt_cache_describe(&summary, NULL), GT_OK);
    return summary.files;
}

/* Every file in the cache's folder, temporaries included. */
static inline size_t names_in_folder(void) {
    DIR *dir = opendir(cache);
    size_t count = 0;
    struct dirent *item;
    while (dir && (item = readdir(dir)))
        if (item->d_name[0] != '.') {
            snprintf(file, sizeof(file), "%s/%s", cache, item->d_name);
            count++;
        }
    if (dir)
        closedir(dir);
    return count;
}

/* ---- stores ---- */

static uint32_t seed = 1;

static inline uint32_t draw(uint32_t below) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

static inline gt_strid draw_string(struct gt_builder *builder) {
    char text[40];
    int size = snprintf(text, sizeof(text), "kernel<%u>", draw(50));
    return gt_builder_string(builder, (struct gt_str){text, (size_t)size});
}

static inline void add_rows(struct gt_builder *builder, size_t rows) {
    uint32_t process = gt_builder_process(builder, 4711, GT_STR(""));
    uint32_t labelled = gt_builder_process(builder, -1, GT_STR("Spans"));
    uint32_t thread = gt_builder_thread(builder, process, 12, GT_STR("")), lane[3];
    lane[0] = gt_builder_lane(builder, process, 0, 7);
    lane[1] = gt_builder_lane(builder, labelled, 1, 20);
    lane[2] = gt_builder_lane(builder, GT_NO_TRACK, 1, 20);
    gt_builder_name_process(builder, process, GT_STR("python"));
    gt_builder_name_device(builder, 0, GT_STR("a GPU"));
    for (size_t i = 0; i < rows; i++) {
        int64_t start = (int64_t)draw(1000000) - 1000, end = start + draw(1000);
        gt_strid name = draw_string(builder);
        gt_builder_op(builder, &(struct gt_ops_row){start, end, draw(3) ? draw(100) : GT_NO_CORRELATION, name,
                                                    lane[draw(3)], (uint8_t)draw(4), (uint8_t)draw(2)});
        if (draw(3) == 0)
            gt_builder_copy(builder, &(struct gt_copies_row){.bytes = (uint64_t)draw(1000) << 40, .src = 1, .dst = 5});
        gt_builder_call(builder, &(struct gt_calls_row){start - 5, end - 5, i, name, thread});
        gt_builder_range(builder, &(struct gt_ranges_row){start, end, name, GT_STRID_EMPTY, thread, GT_NO_TRACK,
                                                          GT_NO_TRACK, GT_RANGE_MARK});
        gt_builder_cpu_op(builder, &(struct gt_cpu_ops_row){start, end, draw_string(builder), thread});
        gt_builder_overhead(builder, &(struct gt_overheads_row){start, end, name, GT_NO_TRACK});
        gt_builder_driver_work(builder, &(struct gt_driver_work_row){start, end, name, GT_NO_TRACK});
        gt_builder_kernel_config(builder, &(struct gt_kernel_configs_row){.grid_x = (uint32_t)i});
        gt_builder_operator_args(builder, &(struct gt_operator_args_row){.dims = name});
        gt_builder_call_arg(builder, &(struct gt_call_args_row){.position = (int64_t)i,
                                                                .name = name,
                                                                .call = i % 2 ? GT_NO_ROW : 0,
                                                                .range = i % 2 ? 0 : GT_NO_ROW});
        gt_builder_graph_op(builder, &(struct gt_graph_ops_row){.graph = (uint32_t)i});
        gt_builder_range_category(builder, &(struct gt_range_categories_row){.name = name});
        gt_builder_range_text(builder, &(struct gt_range_texts_row){.key = name, .text = draw_string(builder)});
    }
    for (uint32_t i = 0; i < 3; i++) {
        struct gt_counter_tracks_row track = {.process = process, .device = i, .name = draw_string(builder)};
        for (int64_t time_ns = 0; time_ns < 3; time_ns++)
            gt_builder_counter(builder, gt_builder_counter_track(builder, &track), time_ns, i);
    }
    struct gt_comms_row comm = GT_COMM_UNKNOWN; /* of a range; no group, kernel and operator */
    comm.range = 0;
    gt_builder_comm(builder, &comm);
    gt_builder_group(builder,
                     &(struct gt_groups_row){5, 100, 10, 30, 20.5, -1, draw_string(builder), draw_string(builder), 1});
    gt_builder_projection(builder, &(struct gt_projections_row){.start_ns = 5, .end_ns = 6, .thread = GT_NO_TRACK});
    gt_builder_projection_group(builder, &(struct gt_projection_groups_row){.instances = 2, .median_ns = 2.5});
}

static inline struct gt_store *make_store(size_t rows) {
    struct gt_builder builder;
    struct gt_store *store;
    assert_int_equal(gt_builder_init(&builder, "torch-json", NULL), GT_OK);
    gt_builder_begin(&builder, 0);
    if (rows)
        add_rows(&builder, rows);
    gt_builder_issue(&builder, GT_ISSUE_OP_OVERLAP, 3, 12345);
    gt_builder_skip(&builder);
    builder.store.meta.base_ns = 1700000000000000000;
    builder.store.meta.rank = 3;
    builder.store.meta.producer = gt_builder_string(&builder, GT_STR("a profiler\0with a NUL"));
    assert_int_equal(gt_store_seal(&builder, 1, &store, NULL), GT_OK);
    return store;
}

static inline void assert_equal_stores(struct gt_store *a, struct gt_store *b) {
    for (int t = 0; t < GT_TABLE_COUNT; t++)
        assert_int_equal(*gt_store_row_count(a, (enum gt_table_id)t), *gt_store_row_count(b, (enum gt_table_id)t));
    for (size_t i = 0; i < gt_column_count; i++) {
        size_t size = *gt_store_row_count(a, gt_column_infos[i].table) * gt_column_infos[i].elem_bytes;
        const void *of_a = *gt_store_column(a, &gt_column_infos[i]), *of_b = *gt_store_column(b, &gt_column_infos[i]);
        assert_true(size == 0 || memcmp(of_a, of_b, size) == 0);
        assert_int_equal((uintptr_t)of_b % 64, 0);
    }
    assert_int_equal(a->strings.count, b->strings.count);
    for (gt_strid i = 0; i < a->strings.count; i++) {
        struct gt_str text = gt_store_string(a, i);
        assert_true(gt_str_eq(text, gt_store_string(b, i)));
        assert_int_equal(gt_strtab_find(&b->strings, text), i);
        assert_int_equal(gt_store_string(b, i).ptr[text.len], '\0');
    }
    assert_string_equal(a->meta.format, b->meta.format);
    assert_int_equal(a->meta.base_ns, b->meta.base_ns);
    assert_int_equal(a->meta.rank, b->meta.rank);
    assert_int_equal(a->meta.world_size, b->meta.world_size);
    assert_int_equal(a->meta.duration_ns, b->meta.duration_ns);
    assert_int_equal(a->meta.producer, b->meta.producer);
    assert_true(memcmp(a->issues, b->issues, sizeof(a->issues)) == 0);
    assert_int_equal(a->facts, b->facts);
    assert_int_equal(a->origin_ns, b->origin_ns);
    assert_int_equal(a->skipped_events, b->skipped_events);
}

#endif
