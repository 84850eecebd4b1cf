/* Reading ahead: the same bytes as from the source itself, its errors and its damage, and an early end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/readahead.h"
#include "random.h"

enum { SIZE = 9 * 1000 * 1000 + 7 }; /* more than the ring holds */

static char path[64];
static char *bytes;

static int write_packed(void **state) {
    (void)state;
    uint64_t random = 7;
    bytes = malloc(SIZE);
    assert_non_null(bytes);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)('a' + random_below(&random, 4));
    strcpy(path, "/tmp/gputime-readahead-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    gzFile file = gzdopen(fd, "wb1");
    assert_int_equal(gzwrite(file, bytes, SIZE), SIZE);
    assert_int_equal(gzclose(file), Z_OK);
    return 0;
}

static int remove_packed(void **state) {
    (void)state;
    unlink(path);
    free(bytes);
    return 0;
}

static struct gt_readahead *open_ahead(struct gt_source **source) {
    struct gt_readahead *ahead;
    assert_int_equal(gt_source_open(path, source, NULL), GT_OK);
    assert_int_equal(gt_readahead_open(*source, 2, &ahead, NULL), GT_OK);
    assert_non_null(ahead);
    return ahead;
}

static void gives_the_bytes_of_the_source(void **state) {
    (void)state;
    struct gt_source *source;
    struct gt_str head;
    struct gt_readahead *ahead;
    uint64_t random = 1;
    char *found = malloc(SIZE + 1);
    size_t total = 0, got = 1;
    assert_non_null(found);
    assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
    assert_int_equal(gt_source_peek(source, &head, NULL), GT_OK); /* what was peeked is not lost */
    assert_int_equal(gt_readahead_open(source, 2, &ahead, NULL), GT_OK);
    while (got > 0) {
        size_t size = 1 + random_below(&random, 3000000);
        size = size < SIZE + 1 - total ? size : SIZE + 1 - total;
        assert_int_equal(gt_readahead_read(ahead, found + total, size, &got, NULL), GT_OK);
        total += got;
        assert_true(got == size || total == SIZE);
    }
    assert_int_equal(total, SIZE);
    assert_memory_equal(found, bytes, SIZE);
    assert_int_equal(gt_readahead_read(ahead, found, 1, &got, NULL), GT_OK);
    assert_int_equal(got, 0);
    assert_null(gt_source_damage(source));
    gt_readahead_close(ahead);
    gt_source_close(source);
    free(found);
}

static void may_be_closed_at_any_time(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 3 << 20, 5 << 20};
    char *buf = malloc(5 << 20);
    assert_non_null(buf);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct gt_source *source;
        struct gt_readahead *ahead = open_ahead(&source);
        size_t got;
        assert_int_equal(gt_readahead_read(ahead, buf, sizes[i], &got, NULL), GT_OK);
        assert_int_equal(got, sizes[i]);
        gt_readahead_close(ahead);
        gt_source_close(source);
    }
    gt_readahead_close(NULL);
    free(buf);
}

static void damage_ends_it(void **state) {
    (void)state;
    struct gt_source *source;
    char *buf = malloc(SIZE);
    size_t got;
    assert_non_null(buf);
    assert_int_equal(truncate(path, 1000000), 0);
    struct gt_readahead *ahead = open_ahead(&source);
    assert_int_equal(gt_readahead_read(ahead, buf, SIZE, &got, NULL), GT_OK);
    assert_true(got > 1000000 && got < SIZE);
    assert_memory_equal(buf, bytes, got);
    assert_int_equal(gt_readahead_read(ahead, buf, SIZE, &got, NULL), GT_OK);
    assert_int_equal(got, 0);
    assert_string_equal(gt_source_damage(source), "gzip stream ends early");
    gt_readahead_close(ahead);
    gt_source_close(source);
    free(buf);
}

/* Standard input turns into a descriptor that is only for writing. */
static void errors_are_reported(void **state) {
    (void)state;
    struct gt_source *source;
    struct gt_readahead *ahead;
    struct gt_error error = {0};
    char buf[16];
    size_t got = 1;
    int pipes[2], standard_input = dup(STDIN_FILENO);
    assert_true(standard_input >= 0);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(write(pipes[1], "plain text", 10), 10);
    assert_true(dup2(pipes[0], STDIN_FILENO) >= 0);
    assert_int_equal(gt_source_open("-", &source, NULL), GT_OK); /* takes the ten bytes in */
    assert_true(dup2(pipes[1], STDIN_FILENO) >= 0);
    assert_int_equal(gt_readahead_open(source, 2, &ahead, NULL), GT_OK);
    enum gt_status status = gt_readahead_read(ahead, buf, sizeof buf, &got, &error);
    if (status == GT_OK) {
        assert_int_equal(got, 10);
        status = gt_readahead_read(ahead, buf, sizeof buf, &got, &error);
    }
    assert_int_equal(status, GT_ERR);
    assert_string_equal(error.message, "cannot read standard input: bad file descriptor");
    gt_readahead_close(ahead);
    gt_source_close(source);
    assert_true(dup2(standard_input, STDIN_FILENO) >= 0);
    close(pipes[0]);
    close(pipes[1]);
    close(standard_input);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_bytes_of_the_source),
        cmocka_unit_test(may_be_closed_at_any_time),
        cmocka_unit_test(errors_are_reported),
        cmocka_unit_test(damage_ends_it),
    };
    return cmocka_run_group_tests(tests, write_packed, remove_packed);
}
