/* The cache: what is saved comes back cell by cell, what has changed does not, and room is made by age. */
#include "cache_world.h"

#include <pthread.h>
#include <sys/resource.h>

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
    assert_false(gt_cache_load(&other, 0, &back, &(uint32_t){0}));
    assert_null(load());
    assert_true(gt_cache_load(&key, 0, &back, &(uint32_t){0}));
    gt_store_free(back);

    /* A link to a trace is that trace. */
    save(store);
    snprintf(file, sizeof(file), "%s/link", folder);
    assert_int_equal(symlink("trace.json", file), 0);
    key = key_of(link_path);
    assert_true(gt_cache_load(&key, 0, &back, &(uint32_t){0}));
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
    assert_string_equal(err.message, "no directory for the cache; set GPUTIME_CACHE");
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
        if (!gt_cache_load(&contest->key, 0, &back, &(uint32_t){0}))
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
