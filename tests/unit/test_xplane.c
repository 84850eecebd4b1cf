/* The decoder of XLA's profiles: cut at every byte, read in pieces of any size by any number of threads, with fields
   that nobody wrote, and names taken apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../fuzz/same_store.h"
#include "base/source.h"
#include "decode/proto/proto.h"
#include "decode/xla/xla_names.h"
#include "decode/xla/xla_scopes.h"
#include "decode/xla/xplane.h"

static const char small[] = "tests/fuzz/seeds/fuzz_xla/small.xplane.pb";
enum { USUAL_BYTES = 512 << 10, MAX_BYTES = 1 << 16 };

static size_t load(const char *path, char bytes[MAX_BYTES]) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, MAX_BYTES, file);
    fclose(file);
    return size;
}

static struct gt_store *decode_path(const char *path, size_t threads, size_t piece_bytes, struct gt_error *err) {
    const struct gt_decode_options options = {.threads = threads, .facts = GT_FACTS_ALL};
    struct gt_source *source;
    struct gt_store *store = NULL;
    if (gt_source_open(path, &source, err) != GT_OK)
        return NULL;
    enum gt_status status = gt_xplane_decode_sized(source, &options, piece_bytes, &store, err);
    gt_source_close(source);
    assert_int_equal(status == GT_OK, store != NULL);
    return store;
}

static struct gt_store *decode_bytes(const char *bytes, size_t size, size_t threads, size_t piece_bytes,
                                     struct gt_error *err) {
    char path[64];
    int fd = memfd_create("input", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct gt_store *store = decode_path(path, threads, piece_bytes, err);
    close(fd);
    return store;
}

/* Between two messages of the file nothing says that one is missing. */
static bool is_between_planes(const char *bytes, size_t size) {
    struct gt_proto fields = gt_proto_of((struct gt_str){bytes, size});
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field))
        ;
    return !fields.is_damaged;
}

static void every_cut_is_counted(void **state) {
    (void)state;
    char bytes[MAX_BYTES + GT_PROTO_PADDING] = {0};
    size_t size = load(small, bytes), between = 0, most_ops = 0;
    for (size_t cut = 1; cut <= size; cut++) {
        struct gt_error err = {0};
        char head[MAX_BYTES + GT_PROTO_PADDING] = {0};
        memcpy(head, bytes, cut);
        struct gt_store *store = decode_bytes(head, cut, 1, USUAL_BYTES, &err);
        assert_non_null(store);
        bool is_between = is_between_planes(head, cut);
        between += is_between;
        assert_int_equal(gt_store_issue(store, GT_ISSUE_INPUT_CUT, GT_FACTS_ALL).count, !is_between);
        /* What is no op is known by its stats, whose names come after all events. */
        assert_true(store->ops.count <= 7);
        most_ops = store->ops.count > most_ops ? store->ops.count : most_ops;
        assert_true(cut < size || store->ops.count == 6);
        gt_store_free(store);
    }
    assert_int_equal(between, 6);
    assert_int_equal(most_ops, 7);
}

static void pieces_and_threads_change_nothing(void **state) {
    (void)state;
    const size_t pieces[] = {1, 40, 200, 1000};
    struct gt_error err = {0};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct gt_store *one = decode_path(small, 1, pieces[i], &err);
        for (size_t threads = 2; threads <= 4; threads++) {
            struct gt_store *other = decode_path(small, threads, pieces[i], &err);
            fuzz_same_store(other, one);
            gt_store_free(other);
        }
        struct gt_store *whole = decode_path(small, 1, USUAL_BYTES, &err);
        fuzz_same_store(one, whole);
        gt_store_free(whole);
        gt_store_free(one);
    }
}

static void any_byte_may_be_wrong(void **state) {
    (void)state;
    char bytes[MAX_BYTES];
    size_t size = load(small, bytes);
    for (size_t i = 0; i < size; i++) {
        struct gt_error err = {0};
        char before = bytes[i];
        bytes[i] = (char)(before ^ (i % 3 == 0 ? 0x80 : i % 3 == 1 ? 0x07 : 0x55));
        struct gt_store *one = decode_bytes(bytes, size, 1, 100, &err),
                        *three = decode_bytes(bytes, size, 3, 100, &err);
        assert_true(one || err.message[0]);
        fuzz_same_store(three, one);
        gt_store_free(one);
        gt_store_free(three);
        bytes[i] = before;
    }
}

static void sniffs_by_content(void **state) {
    (void)state;
    char bytes[MAX_BYTES];
    size_t size = load(small, bytes);
    assert_int_equal(gt_xplane_sniff((struct gt_str){bytes, size}, "x"), 95);
    for (size_t cut = 0; cut < 10; cut++)
        assert_int_equal(gt_xplane_sniff((struct gt_str){bytes, cut}, "x.xplane.pb"), 0);
    /* A packet of another trace of protobufs, and a plane with a number. */
    assert_int_equal(gt_xplane_sniff(GT_STR("\x0a\x08\x12\x06packet"), "x"), 0);
    assert_int_equal(gt_xplane_sniff(GT_STR("\x0a\x0d\x08\x05\x12\x09/host:CPU"), "x"), 95);
}

static void names(void **state) {
    (void)state;
    int64_t device;
    assert_int_equal(gt_xla_names_plane(GT_STR("/device:GPU:12"), &device), GT_XLA_PLANE_GPU);
    assert_int_equal(device, 12);
    assert_int_equal(gt_xla_names_plane(GT_STR("/device:GPU:"), &device), GT_XLA_PLANE_OTHER);
    assert_int_equal(gt_xla_names_plane(GT_STR("/device:TPU:0"), &device), GT_XLA_PLANE_OTHER);
    struct gt_xla_line line = gt_xla_names_line(GT_XLA_PLANE_GPU, 3, GT_STR("Stream #14(Memset,Compute)"), 99);
    assert_true(line.kind == GT_XLA_LINE_STREAM && line.number == 14 && line.device == 3);
    line = gt_xla_names_line(GT_XLA_PLANE_GPU, 3, GT_STR("Stream"), 99);
    assert_int_equal(line.kind, GT_XLA_LINE_OTHER);
    line = gt_xla_names_line(GT_XLA_PLANE_HOST, -1, GT_STR("python3"), 6788493983348170904);
    assert_true(line.kind == GT_XLA_LINE_THREAD && line.number == 2505580696);
    assert_int_equal(gt_xla_names_host(GT_STR("custom")).kind, GT_XLA_HOST_RANGE);
    assert_int_equal(gt_xla_names_host(GT_STR("cudaLaunchKernel")).kind, GT_XLA_HOST_CALL);
    assert_true(gt_str_eq(gt_xla_names_host(GT_STR("cuGraphLaunch (CudaGraph:5)")).text, GT_STR("cuGraphLaunch")));
    assert_int_equal(gt_xla_names_number(GT_STR("size:4 dest:0"), GT_STR("dest")), 0);
    assert_true(gt_xla_names_number(GT_STR("size:x"), GT_STR("size")) == UINT64_MAX);
    assert_true(gt_xla_names_number(GT_STR("resize:4"), GT_STR("size")) == UINT64_MAX);
    assert_int_equal(gt_xla_scopes_of(GT_STR("alone")).len, 0);
    assert_true(gt_str_eq(gt_xla_scopes_of(GT_STR("a/b/c")), GT_STR("a/b")));
    assert_true(gt_str_eq(gt_xla_scopes_of(GT_STR("jit(f)")), GT_STR("jit(f)")));
    assert_true(gt_str_eq(gt_xla_scopes_of(GT_STR("jit(f)/jvp(layer0)")), GT_STR("jit(f)/jvp(layer0)")));
}

static void python_names(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"$train.py:41 log", "train.py(41): log"},
        {"$builtins len", "<built-in function len>"},
        {"$numpy asarray", "<built-in function numpy.asarray>"},
        {"$a:7", "a(7): "},
        {"$", "<built-in function .>"},
    };
    char text[64], tiny[8];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        size_t length = gt_xla_names_python(gt_str_of(pairs[i][0]), text, sizeof text);
        assert_string_equal(text, pairs[i][1]);
        assert_int_equal(length, strlen(text));
    }
    assert_int_equal(gt_xla_names_python(GT_STR("$train.py:41 log"), tiny, sizeof tiny), sizeof tiny - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut_is_counted),
        cmocka_unit_test(pieces_and_threads_change_nothing),
        cmocka_unit_test(any_byte_may_be_wrong),
        cmocka_unit_test(sniffs_by_content),
        cmocka_unit_test(names),
        cmocka_unit_test(python_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
