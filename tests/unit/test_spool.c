/* Copies of inputs that only stream: the bytes are the same, can be read from any place, and leave no files. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/spool.h"

enum { SIZE = 3 << 20 };

static size_t entries_of(const char *path) {
    DIR *folder = opendir(path);
    size_t count = 0;
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2; /* . and .. */
}

static char *make_folder(char *path) {
    snprintf(path, 64, "/tmp/test-spool-XXXXXX");
    assert_non_null(mkdtemp(path));
    assert_int_equal(setenv("TMPDIR", path, 1), 0);
    return path;
}

static void packed_input_can_be_read_anywhere(void **state) {
    (void)state;
    char folder[64], packed[128], *bytes = malloc(SIZE), part[1000];
    make_folder(folder);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)(i * i >> 7);
    snprintf(packed, sizeof packed, "%s/input.gz", folder);
    gzFile file = gzopen(packed, "wb1");
    assert_int_equal(gzwrite(file, bytes, SIZE), SIZE);
    gzclose(file);
    struct gt_source *source;
    struct gt_spool *spool;
    struct gt_error err = {0};
    uint64_t size;
    size_t got;
    assert_int_equal(gt_source_open(packed, &source, &err), GT_OK);
    assert_int_equal(gt_spool_open(source, &spool, &err), GT_OK);
    assert_int_equal(entries_of(folder), 1); /* the input alone */
    assert_true(gt_source_is_seekable(gt_spool_source(spool), &size));
    assert_int_equal(size, SIZE);
    assert_int_equal(gt_source_pread(gt_spool_source(spool), part, sizeof part, SIZE - 500, &got, &err), GT_OK);
    assert_int_equal(got, 500);
    assert_memory_equal(part, bytes + SIZE - 500, 500);
    FILE *again = fopen(gt_spool_path(spool), "rb");
    assert_non_null(again);
    assert_int_equal(fread(part, 1, sizeof part, again), sizeof part);
    assert_memory_equal(part, bytes, sizeof part);
    fclose(again);
    gt_spool_close(spool);
    gt_source_close(source);
    unlink(packed);
    assert_int_equal(rmdir(folder), 0);
    free(bytes);
}

static void unwritable_places_are_reported(void **state) {
    (void)state;
    struct gt_source *source;
    struct gt_spool *spool;
    struct gt_error err = {0};
    setenv("TMPDIR", "/nowhere/at/all", 1);
    assert_int_equal(gt_source_open("/dev/null", &source, &err), GT_OK);
    assert_int_equal(gt_spool_open(source, &spool, &err), GT_ERR);
    assert_null(spool);
    assert_non_null(strstr(err.message, "cannot write a temporary file: no such file or directory; set TMPDIR"));
    gt_source_close(source);
    gt_spool_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_input_can_be_read_anywhere),
        cmocka_unit_test(unwritable_places_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
