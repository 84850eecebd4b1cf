/* Temporary files: named like their target afterwards, gone without it, and removed by one call from a handler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/out.h"
#include "base/temporary.h"
#include "gputime.h"

#include "folder_files.h"

static char folder[] = "/tmp/gputime-temporary-XXXXXX";
static char target[64];

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(target, sizeof(target), "%s/report.txt", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(target);
    return rmdir(folder); /* fails if a temporary was left */
}

static struct gt_temporary open_one(void) {
    struct gt_temporary temporary;
    int fd = gt_temporary_open(&temporary, target);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(access(temporary.path, F_OK), 0);
    return temporary;
}

static void test_rename_and_remove(void **state) {
    (void)state;
    struct gt_temporary first = open_one(), second = open_one(), none = {0};
    assert_string_not_equal(first.path, second.path);
    assert_int_equal(files_in(folder), 2);
    assert_int_equal(gt_temporary_rename(&first, target), 0);
    assert_null(first.path);
    assert_int_equal(access(target, F_OK), 0);
    gt_temporary_remove(&second);
    assert_null(second.path);
    gt_temporary_remove(&none);
    assert_int_equal(files_in(folder), 1);
    gt_temporary_remove_all(); /* what has its name is no temporary any more */
    assert_int_equal(files_in(folder), 1);
    unlink(target);
}

static void test_folder_that_is_not_there(void **state) {
    (void)state;
    struct gt_temporary temporary;
    assert_int_equal(gt_temporary_open(&temporary, "/no/such/folder/x"), -1);
    assert_int_equal(errno, ENOENT);
    assert_null(temporary.path);
}

static void test_remove_all(void **state) {
    (void)state;
    struct gt_temporary open[20]; /* more than are kept in mind */
    for (size_t i = 0; i < 20; i++)
        open[i] = open_one();
    errno = 77;
    gt_temporary_remove_all();
    assert_int_equal(errno, 77);
    assert_int_equal(files_in(folder), 4);
    assert_int_equal(gt_temporary_rename(&open[0], target), -1);
    assert_int_equal(errno, ENOENT);
    for (size_t i = 0; i < 20; i++)
        gt_temporary_remove(&open[i]);
    assert_int_equal(files_in(folder), 0);

    struct gt_temporary again = open_one(); /* the places are free again */
    gt_temporary_remove_all();
    assert_int_equal(files_in(folder), 0);
    gt_temporary_remove(&again);
}

static void test_an_output_that_was_removed_fails(void **state) {
    (void)state;
    struct gt_error err = {0};
    struct gt_out *out;
    assert_int_equal(gt_out_open(target, &out, &err), GT_OK);
    gt_out_text(out, "half of it");
    gputime_remove_unfinished();
    assert_int_equal(files_in(folder), 0);
    assert_int_equal(gt_out_commit(out, &err), GT_ERR);
    assert_non_null(strstr(err.message, target));
    gt_out_close(out);
    assert_int_equal(files_in(folder), 0);
}

static void *open_and_remove(void *unused) {
    (void)unused;
    for (int i = 0; i < 300; i++) {
        struct gt_temporary temporary;
        int fd = gt_temporary_open(&temporary, target);
        if (fd >= 0)
            close(fd);
        gt_temporary_remove(&temporary);
    }
    return NULL;
}

/* Names must not be freed while the other thread reads them: the sanitizers would see it. */
static void test_threads(void **state) {
    (void)state;
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_remove, NULL), 0);
    for (int i = 0; i < 1000; i++)
        gt_temporary_remove_all();
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(files_in(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rename_and_remove), cmocka_unit_test(test_folder_that_is_not_there),
        cmocka_unit_test(test_remove_all),        cmocka_unit_test(test_an_output_that_was_removed_fails),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
