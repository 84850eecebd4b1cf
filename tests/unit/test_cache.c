/* The cache: what is saved comes back cell by cell, and what is changed, broken or wrong in any way does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "events/cache.h"

static char folder[] = "/tmp/gputime-cache-XXXXXX";
static char trace[64], second[64], cache[64], file[512];

static int make_folder(void **state) {
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    if (!mkdtemp(folder))
        return -1;
    snprintf(trace, sizeof(trace), "%s/trace.json", folder);
    snprintf(second, sizeof(second), "%s/second.json", folder);
    snprintf(cache, sizeof(cache), "%s/deep/cache", folder);
    return setenv("GPUTIME_CACHE", cache, 1);
}

static int remove_folder(void **state) {
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
static void write_trace(const char *path, const char *text, size_t size, time_t age) {
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(text, 1, size, stream), size);
    fclose(stream);
    struct timespec times[2] = {{time(NULL) - age, 0}, {time(NULL) - age, 5}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Each test begins with an old trace and an empty cache. */
static int begin(void **state) {
    (void)state;
    uint64_t removed;
    write_trace(trace, "some trace", 10, 100);
    setenv("GPUTIME_CACHE", cache, 1);
    return gt_cache_clear(&removed, NULL) == GT_OK ? 0 : -1;
}

static struct gt_cache_key key_of(const char *path) {
    struct gt_cache_key key;
    gt_cache_key_init(&key, &path, 1);
    return key;
}

static void save(const struct gt_store *store) {
    const char *path = trace;
    struct gt_cache_key key = key_of(trace);
    assert_true(key.is_usable);
    gt_cache_save(&key, &path, 1, store);
}

static struct gt_store *load(void) {
    struct gt_cache_key key = key_of(trace);
    struct gt_store *store = NULL;
    assert_true(gt_cache_load(&key, &store) == (store != NULL));
    return store;
}

static uint64_t files_in_cache(void) {
    struct gt_cache_summary summary;
    assert_int_equal(gt_cache_describe(&summary, NULL), GT_OK);
    return summary.files;
}

/* Every file in the cache's folder, temporaries included. */
static size_t names_in_folder(void) {
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

static uint32_t draw(uint32_t below) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

static gt_strid draw_string(struct gt_builder *builder) {
    char text[40];
    int size = snprintf(text, sizeof(text), "kernel<%u>", draw(50));
    return gt_builder_string(builder, (struct gt_str){text, (size_t)size});
}

static void add_rows(struct gt_builder *builder, size_t rows) {
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
        gt_builder_graph_op(builder, &(struct gt_graph_ops_row){.graph = (uint32_t)i});
        gt_builder_range_category(builder, &(struct gt_range_categories_row){.name = name});
        gt_builder_range_text(builder, &(struct gt_range_texts_row){.key = name, .text = draw_string(builder)});
    }
    gt_builder_group(builder,
                     &(struct gt_groups_row){5, 100, 10, 30, 20.5, -1, draw_string(builder), draw_string(builder), 1});
    gt_builder_projection(builder, &(struct gt_projections_row){.start_ns = 5, .end_ns = 6, .thread = GT_NO_TRACK});
    gt_builder_projection_group(builder, &(struct gt_projection_groups_row){.instances = 2, .median_ns = 2.5});
}

static struct gt_store *make_store(size_t rows) {
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

static void assert_equal_stores(struct gt_store *a, struct gt_store *b) {
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

/* ---- tests ---- */

static void test_round_trip(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 7, 1000, 60000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct gt_store *store = make_store(sizes[i]);
        save(store);
        struct gt_store *back = load();
        assert_non_null(back);
        assert_non_null(back->mapping);
        assert_equal_stores(store, back);
        assert_int_equal(files_in_cache(), 1);
        gt_store_free(back);
        gt_store_free(store);
    }
    struct stat info;
    assert_int_equal(stat(cache, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0700);
}

/* A store from the cache can itself be saved again. */
static void test_saved_twice(void **state) {
    (void)state;
    struct gt_store *store = make_store(50);
    save(store);
    struct gt_store *back = load();
    uint64_t removed;
    assert_int_equal(gt_cache_clear(&removed, NULL), GT_OK);
    assert_int_equal(removed, 1);
    assert_null(load());
    save(back); /* its mapping lives on without the name */
    struct gt_store *again = load();
    assert_non_null(again);
    assert_equal_stores(store, again);
    gt_store_free(again);
    gt_store_free(back);
    gt_store_free(store);
}

static void read_file(char **bytes, size_t *size) {
    assert_int_equal(names_in_folder(), 1);
    FILE *stream = fopen(file, "rb");
    assert_non_null(stream);
    *bytes = malloc(1 << 20);
    *size = fread(*bytes, 1, 1 << 20, stream);
    fclose(stream);
}

static void write_file(const char *bytes, size_t size) {
    FILE *stream = fopen(file, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    fclose(stream);
}

/* One byte changed: a miss or an equal store, and a file found broken is gone. */
static void assert_survives(struct gt_store *store) {
    struct gt_store *back = load();
    if (back) {
        assert_equal_stores(store, back);
        gt_store_free(back);
    } else {
        assert_true(access(file, F_OK) < 0);
    }
}

static void test_every_byte_broken(void **state) {
    (void)state;
    struct gt_store *store = make_store(5);
    save(store);
    char *bytes;
    size_t size;
    read_file(&bytes, &size);
    for (size_t at = 0; at < size; at++) {
        char right = bytes[at];
        bytes[at] = (char)(right ^ (1 << at % 8));
        write_file(bytes, size);
        assert_null(load());
        assert_true(access(file, F_OK) < 0);
        bytes[at] = (char)~right;
        write_file(bytes, size);
        assert_survives(store);
        bytes[at] = right;
    }
    write_file(bytes, size);
    assert_survives(store);
    assert_int_equal(access(file, F_OK), 0);
    gt_store_free(store);
    free(bytes);
}

static void test_cut_and_longer_files(void **state) {
    (void)state;
    struct gt_store *store = make_store(3);
    save(store);
    char *bytes;
    size_t size;
    read_file(&bytes, &size);
    for (size_t cut = 0; cut < size; cut += 1 + cut / 64) {
        write_file(bytes, cut);
        assert_null(load());
        assert_true(access(file, F_OK) < 0);
    }
    write_file(bytes, size);
    assert_int_equal(truncate(file, (off_t)size + 64), 0);
    assert_null(load());
    gt_store_free(store);
    free(bytes);
}

/* Files that are whole, but whose values would lead an analysis astray. */
static void assert_refused(struct gt_store *store) {
    save(store);
    assert_int_equal(files_in_cache(), 1);
    assert_null(load());
    assert_int_equal(files_in_cache(), 0);
    gt_store_free(store);
}

#define assert_value_refused(column, value)                                                                            \
    do {                                                                                                               \
        struct gt_store *changed = make_store(9);                                                                      \
        changed->column = (value);                                                                                     \
        assert_refused(changed);                                                                                       \
    } while (0)

static void test_wrong_values(void **state) {
    (void)state;
    assert_value_refused(ops.lane[3], 3);
    assert_value_refused(ops.lane[8], GT_NO_TRACK);
    assert_value_refused(ops.name[0], 1000);
    assert_value_refused(ops.name[0], UINT32_MAX);
    assert_value_refused(ops.kind[2], GT_OP_GRAPH + 1);
    assert_value_refused(ops.flags[2], 2);
    assert_value_refused(ops.end_ns[1], changed->ops.start_ns[1] - 1);
    assert_value_refused(calls.thread[0], 1);
    assert_value_refused(ranges.domain[0], 1000);
    assert_value_refused(ranges.end_thread[0], 77);
    assert_value_refused(ranges.kind[0], GT_RANGE_GPU + 1);
    assert_value_refused(copies.op[0], 9);
    assert_value_refused(copies.dst[0], GT_MEMORY_MANAGED + 1);
    assert_value_refused(groups.kind[0], 100);
    assert_value_refused(projections.kind[0], GT_RANGE_GPU + 1);
    assert_value_refused(projections.thread[0], 77);
    assert_value_refused(projection_groups.kind[0], GT_RANGE_GPU + 1);
    assert_value_refused(projection_groups.name[0], 1000);
    assert_value_refused(threads.process[0], 2);
    assert_value_refused(lanes.device[0], GT_NO_TRACK);
    assert_value_refused(lanes.process[0], 2);
    assert_value_refused(meta.producer, 1000);
    assert_value_refused(strings.strings[2], changed->strings.strings[1]); /* the same string twice */
    assert_value_refused(strings.strings[2].len, 0);
}

static void test_unknown_tracks_are_kept(void **state) {
    (void)state;
    struct gt_store *store = make_store(4);
    store->calls.thread[0] = GT_NO_TRACK;
    store->threads.process[0] = GT_NO_TRACK;
    save(store);
    struct gt_store *back = load();
    assert_non_null(back);
    assert_equal_stores(store, back);
    gt_store_free(back);
    gt_store_free(store);
}

static void test_changed_trace_is_a_miss(void **state) {
    (void)state;
    char *large = calloc(1, 1000000);
    struct gt_store *store = make_store(4);
    write_trace(trace, large, 1000000, 100);
    save(store);
    struct gt_store *back = load();
    assert_non_null(back);
    gt_store_free(back);

    static const size_t places[] = {0, 4095, 999999};
    for (size_t i = 0; i < 3; i++) { /* the same size and time of change; the kernel still knows */
        large[places[i]] ^= 1;
        write_trace(trace, large, 1000000, 100);
        assert_null(load());
        large[places[i]] ^= 1;
    }
    write_trace(trace, large, 1000000, 101);
    assert_null(load());
    save(store); /* replaces the copy of what the trace was */
    assert_int_equal(names_in_folder(), 1);
    assert_non_null(back = load());
    gt_store_free(back);
    gt_store_free(store);
    free(large);
}

static void test_what_is_never_kept(void **state) {
    (void)state;
    struct gt_cache_key key = key_of(trace);
    assert_true(key.is_usable);
    assert_false(key_of("-").is_usable);
    assert_false(key_of("/dev/null").is_usable);
    assert_false(key_of(folder).is_usable);
    assert_false(key_of("/no/such/file").is_usable);
    write_trace(trace, "young", 5, 0);
    assert_false(key_of(trace).is_usable);
    write_trace(trace, "from the future", 15, -1000);
    assert_false(key_of(trace).is_usable);

    /* Changed between reading and saving. */
    write_trace(trace, "some trace", 10, 100);
    struct gt_store *store = make_store(4);
    const char *path = trace;
    key = key_of(trace);
    write_trace(trace, "SOME TRACE", 10, 50);
    gt_cache_save(&key, &path, 1, store);
    assert_int_equal(names_in_folder(), 0);
    gt_store_free(store);
}

static void test_several_paths(void **state) {
    (void)state;
    write_trace(second, "second", 6, 100);
    const char *both[] = {trace, second}, *swapped[] = {second, trace}, *link_path = file;
    struct gt_cache_key key, other;
    gt_cache_key_init(&key, both, 2);
    gt_cache_key_init(&other, swapped, 2);
    assert_true(key.is_usable && other.is_usable);
    assert_true(memcmp(key.place, other.place, sizeof(key.place)) != 0);
    struct gt_store *store = make_store(4), *back = NULL;
    gt_cache_save(&key, both, 2, store);
    assert_false(gt_cache_load(&other, &back));
    assert_null(load());
    assert_true(gt_cache_load(&key, &back));
    gt_store_free(back);

    /* A link to a trace is that trace. */
    save(store);
    snprintf(file, sizeof(file), "%s/link", folder);
    assert_int_equal(symlink("trace.json", file), 0);
    key = key_of(link_path);
    assert_true(gt_cache_load(&key, &back));
    assert_equal_stores(store, back);
    unlink(file);
    gt_store_free(back);
    gt_store_free(store);
}

static void make_sparse(const char *digits, off_t size, time_t age) {
    snprintf(file, sizeof(file), "%s/%s%s.columns", cache, digits, "0000000000000000000000000000");
    int fd = open(file, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(ftruncate(fd, size), 0);
    struct timespec times[2] = {{time(NULL) - age, 0}, {time(NULL) - age, 0}};
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static bool is_there(const char *digits) {
    snprintf(file, sizeof(file), "%s/%s%s.columns", cache, digits, "0000000000000000000000000000");
    return access(file, F_OK) == 0;
}

static void test_oldest_make_room(void **state) {
    (void)state;
    struct gt_store *store = make_store(4);
    save(store);
    make_sparse("aaaa", (off_t)2 << 30, 300);
    make_sparse("bbbb", (off_t)2 << 30, 100);
    make_sparse("cccc", (off_t)2 << 30, 200);
    char stale[128], foreign[128];
    snprintf(stale, sizeof(stale), "%s/tmp-0123456789abcdef.columns", cache);
    snprintf(foreign, sizeof(foreign), "%s/notes.columns", cache);
    write_trace(stale, "left by a killed process", 24, 10000);
    write_trace(foreign, "not ours", 8, 10000);
    assert_int_equal(files_in_cache(), 4);
    save(store);
    assert_false(is_there("aaaa"));
    assert_true(is_there("bbbb"));
    assert_true(is_there("cccc"));
    assert_int_equal(access(stale, F_OK), -1);
    assert_int_equal(access(foreign, F_OK), 0);

    /* What was used lately stays, whenever it was made. */
    struct timespec old[2] = {{time(NULL) - 5000, 0}, {time(NULL) - 5000, 0}};
    names_in_folder();
    make_sparse("aaaa", (off_t)2 << 30, 300);
    struct gt_cache_key key = key_of(trace);
    char name[128];
    snprintf(name, sizeof(name), "%s/%016llx%016llx.columns", cache, (unsigned long long)key.place[0],
             (unsigned long long)key.place[1]);
    assert_int_equal(utimensat(AT_FDCWD, name, old, 0), 0);
    struct gt_store *back = load();
    gt_store_free(back);
    struct stat info;
    assert_int_equal(stat(name, &info), 0);
    assert_true(info.st_mtim.tv_sec > time(NULL) - 100);

    struct gt_cache_summary summary;
    assert_int_equal(gt_cache_describe(&summary, NULL), GT_OK);
    assert_string_equal(summary.folder, cache);
    assert_int_equal(summary.files, 4);
    assert_int_equal(summary.size_bytes, ((uint64_t)6 << 30) + (uint64_t)info.st_size);
    uint64_t removed;
    assert_int_equal(gt_cache_clear(&removed, NULL), GT_OK);
    assert_int_equal(removed, 4);
    assert_int_equal(access(foreign, F_OK), 0);
    unlink(foreign);
    gt_store_free(store);
}

static void test_full_disk_leaves_nothing(void **state) {
    (void)state;
    struct gt_store *store = make_store(5000);
    struct rlimit old, tight;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    for (rlim_t limit = 0; limit < 300000; limit = limit * 3 + 50) {
        tight = old;
        tight.rlim_cur = limit;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
        save(store);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(names_in_folder(), 0);
    }
    gt_store_free(store);
}

static void test_places(void **state) {
    (void)state;
    struct gt_cache_summary summary;
    struct gt_error err = {0};
    uint64_t removed;
    struct gt_store *store = make_store(1);
    setenv("GPUTIME_CACHE", "/proc/no/such/place", 1);
    save(store);
    assert_null(load());
    assert_int_equal(gt_cache_describe(&summary, &err), GT_OK);
    assert_int_equal(summary.files, 0);
    assert_int_equal(gt_cache_clear(&removed, &err), GT_OK);

    const char *home = getenv("HOME");
    char *saved_home = home ? strdup(home) : NULL;
    unsetenv("GPUTIME_CACHE");
    setenv("XDG_CACHE_HOME", "/some/where", 1);
    assert_int_equal(gt_cache_describe(&summary, &err), GT_OK);
    assert_string_equal(summary.folder, "/some/where/gputime");
    setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
    setenv("HOME", "/home/someone", 1);
    assert_int_equal(gt_cache_describe(&summary, &err), GT_OK);
    assert_string_equal(summary.folder, "/home/someone/.cache/gputime");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    save(store);
    assert_null(load());
    assert_int_equal(gt_cache_describe(&summary, &err), GT_ERR);
    assert_string_equal(err.message, "there is no place for a cache; set GPUTIME_CACHE to a folder");
    if (saved_home)
        setenv("HOME", saved_home, 1);
    free(saved_home);
    gt_store_free(store);
}

struct contest {
    struct gt_cache_key key;
    struct gt_store *store;
    size_t hits;
    bool is_wrong;
};

static void *save_and_load(void *context) {
    struct contest *contest = context;
    const char *path = trace;
    for (int i = 0; i < 200; i++) {
        struct gt_store *back = NULL;
        gt_cache_save(&contest->key, &path, 1, contest->store);
        if (!gt_cache_load(&contest->key, &back))
            continue;
        contest->hits++;
        if (back->ops.count != contest->store->ops.count ||
            memcmp(back->ops.lane, contest->store->ops.lane, back->ops.count * sizeof(uint32_t)) != 0)
            contest->is_wrong = true;
        gt_store_free(back);
    }
    return NULL;
}

static void test_concurrent_writers(void **state) {
    (void)state;
    pthread_t threads[4];
    struct contest contests[4];
    struct gt_store *store = make_store(300);
    for (size_t i = 0; i < 4; i++) {
        contests[i] = (struct contest){.key = key_of(trace), .store = store};
        assert_int_equal(pthread_create(&threads[i], NULL, save_and_load, &contests[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(contests[i].hits, 200);
        assert_false(contests[i].is_wrong);
    }
    assert_int_equal(names_in_folder(), 1);
    gt_store_free(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_round_trip, begin),
        cmocka_unit_test_setup(test_saved_twice, begin),
        cmocka_unit_test_setup(test_every_byte_broken, begin),
        cmocka_unit_test_setup(test_cut_and_longer_files, begin),
        cmocka_unit_test_setup(test_wrong_values, begin),
        cmocka_unit_test_setup(test_unknown_tracks_are_kept, begin),
        cmocka_unit_test_setup(test_changed_trace_is_a_miss, begin),
        cmocka_unit_test_setup(test_what_is_never_kept, begin),
        cmocka_unit_test_setup(test_several_paths, begin),
        cmocka_unit_test_setup(test_oldest_make_room, begin),
        cmocka_unit_test_setup(test_full_disk_leaves_nothing, begin),
        cmocka_unit_test_setup(test_places, begin),
        cmocka_unit_test_setup(test_concurrent_writers, begin),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
