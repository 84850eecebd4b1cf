/* Sources of every kind: plain files, pipes, standard input, and what is none; read by several threads. */
#include "source_world.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static void test_plain_sizes(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 65535, 65536, 65537, 262144, 262145, 1000003};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct bytes plain = make_plain(sizes[i], 1);
        write_file(plain.ptr, plain.size);
        assert_file_gives(plain, NULL, GT_PACKING_NONE);
        free(plain.ptr);
    }
}

struct feed {
    int fd;
    struct bytes bytes;
    size_t piece;
};

static void *feed_pipe(void *context) {
    struct feed *feed = context;
    for (size_t at = 0; at < feed->bytes.size;) {
        size_t left = feed->bytes.size - at;
        ssize_t n = write(feed->fd, feed->bytes.ptr + at, left < feed->piece ? left : feed->piece);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    close(feed->fd);
    return NULL;
}

/* The bytes arrive through a pipe in odd pieces; opened by name or as standard input. */
static void assert_pipe_gives(struct bytes sent, struct bytes expected, size_t piece, bool as_stdin, bool nonblocking) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    if (nonblocking)
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
    struct feed feed = {ends[1], sent, piece};
    char name[32] = "-";
    int saved = -1;
    if (as_stdin) {
        saved = dup(0);
        dup2(ends[0], 0);
    } else {
        snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
    }
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
    struct gt_source *source = open_source(name);
    assert_string_equal(gt_source_path(source), as_stdin ? "standard input" : name);
    uint64_t size, done, total;
    assert_false(gt_source_is_seekable(source, &size));
    struct gt_str head;
    assert_int_equal(gt_source_peek(source, &head, NULL), GT_OK);
    struct bytes got = read_all(source, 100000);
    assert_same(got, expected);
    assert_null(gt_source_damage(source));
    gt_source_progress(source, &done, &total);
    assert_int_equal(done, sent.size);
    assert_int_equal(total, 0);
    gt_source_close(source);
    pthread_join(thread, NULL);
    close(ends[0]);
    if (as_stdin) {
        dup2(saved, 0);
        close(saved);
    }
    free(got.ptr);
}

static void test_pipes(void **state) {
    (void)state;
    struct bytes plain = make_plain(150000, 11), gzip = pack_gzip(plain, 6), zstd = pack_zstd(plain, 3);
    struct bytes small = make_plain(2000, 12), small_gzip = pack_gzip(small, 6), small_zstd = pack_zstd(small, 3);
    for (int as_stdin = 0; as_stdin < 2; as_stdin++) {
        assert_pipe_gives(plain, plain, 4093, as_stdin, as_stdin);
        assert_pipe_gives(gzip, plain, 4093, as_stdin, as_stdin);
        assert_pipe_gives(zstd, plain, 4093, as_stdin, as_stdin);
        assert_pipe_gives(small, small, 1, as_stdin, false);
        assert_pipe_gives(small_gzip, small, 1, as_stdin, false);
        assert_pipe_gives(small_zstd, small, 1, as_stdin, as_stdin);
    }
    free(plain.ptr), free(gzip.ptr), free(zstd.ptr), free(small.ptr), free(small_gzip.ptr), free(small_zstd.ptr);
}

static void assert_open_fails(const char *name, const char *format) {
    char expected[256];
    snprintf(expected, sizeof(expected), format, name);
    struct gt_error err = {0};
    struct gt_source *source = (void *)1;
    assert_int_equal(gt_source_open(name, &source, &err), GT_ERR);
    assert_null(source);
    assert_string_equal(err.message, expected);
}

static void test_errors_name_the_file(void **state) {
    (void)state;
    assert_open_fails("no/such.json", "cannot read '%s': no such file or directory");
    assert_open_fails("", "cannot read '%s': no such file or directory");
    assert_open_fails(folder, "cannot read '%s': it is a directory");
    write_file("x", 1);
    if (geteuid() != 0) {
        chmod(path, 0);
        assert_open_fails(path, "cannot read '%s': permission denied");
        chmod(path, 0600);
    }
    char below[80];
    snprintf(below, sizeof(below), "%s/x", path);
    assert_open_fails(below, "cannot read '%s': not a directory");
    unlink(path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path) + 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_open_fails(path, "cannot read '%s': it is a socket");
    close(fd);
    unlink(path);
}

static void test_stdin_file_goes_on_where_it_stands(void **state) {
    (void)state;
    struct bytes plain = make_plain(10000, 13);
    write_file(plain.ptr, plain.size);
    int saved = dup(0), fd = open(path, O_RDONLY);
    dup2(fd, 0);
    close(fd);
    lseek(0, 1234, SEEK_SET);
    struct gt_source *source = open_source("-");
    uint64_t size;
    assert_true(gt_source_is_seekable(source, &size));
    assert_int_equal(size, 10000 - 1234);
    char byte;
    size_t got;
    assert_int_equal(gt_source_pread(source, &byte, 1, 10, &got, NULL), GT_OK);
    assert_int_equal(byte, (char)plain.ptr[1244]);
    struct bytes all = read_all(source, 999);
    assert_int_equal(all.size, size);
    assert_true(memcmp(all.ptr, plain.ptr + 1234, size) == 0);
    gt_source_close(source);
    dup2(saved, 0);
    close(saved);
    free(plain.ptr), free(all.ptr);
}

struct slice {
    const struct gt_source *source;
    struct bytes plain;
    size_t first;
    bool is_right;
};

static void *pread_slices(void *context) {
    struct slice *slice = context;
    unsigned char buf[5000];
    slice->is_right = true;
    for (size_t at = slice->first; at < slice->plain.size; at += 4 * 4999) {
        size_t got, wanted = slice->plain.size - at < sizeof(buf) ? slice->plain.size - at : sizeof(buf);
        if (gt_source_pread(slice->source, buf, sizeof(buf), at, &got, NULL) != GT_OK || got != wanted ||
            memcmp(buf, slice->plain.ptr + at, got) != 0)
            slice->is_right = false;
    }
    return NULL;
}

static void test_pread_from_threads_and_shrinking(void **state) {
    (void)state;
    struct bytes plain = make_plain(1000000, 14);
    write_file(plain.ptr, plain.size);
    struct gt_source *source = open_source(path);
    uint64_t size, done, total;
    assert_true(gt_source_is_seekable(source, &size));
    assert_int_equal(size, plain.size);
    pthread_t threads[4];
    struct slice slices[4];
    for (size_t i = 0; i < 4; i++) {
        slices[i] = (struct slice){source, plain, i * 4999, false};
        assert_int_equal(pthread_create(&threads[i], NULL, pread_slices, &slices[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(slices[i].is_right);
    }
    gt_source_progress(source, &done, &total);
    assert_int_equal(total, plain.size);
    assert_int_equal(done, plain.size);

    char buf[100];
    size_t got;
    assert_int_equal(truncate(path, 500050), 0);
    assert_int_equal(gt_source_pread(source, buf, 100, 500000, &got, NULL), GT_OK);
    assert_int_equal(got, 50);
    assert_int_equal(gt_source_pread(source, buf, 100, 900000, &got, NULL), GT_OK);
    assert_int_equal(got, 0);
    assert_int_equal(gt_source_pread(source, buf, 100, UINT64_MAX - 10, &got, NULL), GT_OK);
    assert_int_equal(got, 0);
    struct bytes all = read_all(source, 4096);
    assert_int_equal(all.size, 500050);
    gt_source_close(source);
    free(plain.ptr), free(all.ptr);
}

static void test_packed_and_odd_files_do_not_seek(void **state) {
    (void)state;
    uint64_t size;
    struct bytes plain = make_plain(1000, 15), packed = pack_gzip(plain, 6);
    write_file(packed.ptr, packed.size);
    struct gt_source *source = open_source(path);
    assert_false(gt_source_is_seekable(source, &size));
    gt_source_close(source);
    source = open_source("/proc/self/status"); /* a regular file of size 0 with bytes in it */
    assert_false(gt_source_is_seekable(source, &size));
    struct bytes all = read_all(source, 100);
    assert_true(all.size > 100);
    gt_source_close(source);
    source = open_source("/dev/null");
    size_t got;
    assert_int_equal(gt_source_read(source, &size, sizeof(size), &got, NULL), GT_OK);
    assert_int_equal(got, 0);
    gt_source_close(source);
    gt_source_close(NULL);
    free(plain.ptr), free(packed.ptr), free(all.ptr);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_sizes),
        cmocka_unit_test(test_pipes),
        cmocka_unit_test(test_errors_name_the_file),
        cmocka_unit_test(test_stdin_file_goes_on_where_it_stands),
        cmocka_unit_test(test_pread_from_threads_and_shrinking),
        cmocka_unit_test(test_packed_and_odd_files_do_not_seek),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
