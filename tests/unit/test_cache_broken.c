/* Files of the cache that are cut, longer, damaged in any byte or wrong in a value: none is loaded. */
#include "cache_world.h"

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
    assert_value_refused(copies.dst[0], GT_MEMORY_STATIC + 1);
    assert_value_refused(groups.kind[0], 100);
    assert_value_refused(projections.kind[0], GT_RANGE_GPU + 1);
    assert_value_refused(projections.thread[0], 77);
    assert_value_refused(projection_groups.kind[0], GT_RANGE_GPU + 1);
    assert_value_refused(projection_groups.name[0], 1000);
    assert_value_refused(comms.name[0], GT_NO_TRACK);
    assert_value_refused(comms.dtype[0], GT_NO_TRACK);
    assert_value_refused(comms.range[0], 9);
    assert_value_refused(comms.group[0], 0);
    assert_value_refused(counters.time_ns[4], changed->counters.time_ns[3] - 1);
    assert_value_refused(counter_runs.track[1], 0);
    assert_value_refused(counter_runs.track[2], 0);
    assert_value_refused(counter_runs.first[1], 4);
    assert_value_refused(counter_runs.values[2], 4);
    assert_value_refused(counter_tracks.series[0], GT_NO_TRACK);
    assert_value_refused(kernel_configs.op[0], 8);
    assert_value_refused(operator_args.cpu_op[8], 0);
    assert_value_refused(range_texts.range[8], 0);
    assert_value_refused(call_args.call[0], 10000);
    assert_value_refused(call_args.range[1], 10000);
    assert_value_refused(threads.process[0], 2);
    assert_value_refused(lanes.device[0], GT_NO_TRACK);
    assert_value_refused(lanes.process[0], 2);
    assert_value_refused(meta.producer, 1000);
    assert_value_refused(strings.strings[2], changed->strings.strings[1]); /* the same string twice */
    assert_value_refused(strings.strings[2].len, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_every_byte_broken, begin),
        cmocka_unit_test_setup(test_cut_and_longer_files, begin),
        cmocka_unit_test_setup(test_wrong_values, begin),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
