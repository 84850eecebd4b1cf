/* Reports by way of nsys, which a script replaces: threads do not wait for each other, and neither a process nor a
   directory remains. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "decode/nsys/nsys_export.h"

enum { THREADS = 3, OPENS = 10, LIMIT_S = 100 };

static char folder[] = "/tmp/gputime-export-XXXXXX";
static char command[64], database[64], temporary[64];

static bool make_database(void) {
    const char *sql = "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
                      "INSERT INTO StringIds VALUES(1, 'gemm');"
                      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, demangledName);"
                      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(10, 20, 0, 7, 1);";
    sqlite3 *connection = NULL;
    bool ok = sqlite3_open(database, &connection) == SQLITE_OK &&
              sqlite3_exec(connection, sql, NULL, NULL, NULL) == SQLITE_OK;
    return sqlite3_close(connection) == SQLITE_OK && ok;
}

/* The script takes different times, so that the threads are at different places. */
static int begin(void **state) {
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(command, sizeof command, "%s/nsys", folder);
    snprintf(database, sizeof database, "%s/a.sqlite", folder);
    snprintf(temporary, sizeof temporary, "%s/temporary", folder);
    FILE *script = fopen(command, "w");
    if (!script || !make_database())
        return -1;
    fprintf(script, "#!/bin/sh\nsleep 0.0$(($$ %% 7))\ncp %s $5\n", database);
    if (fclose(script) != 0 || chmod(command, 0700) != 0 || mkdir(temporary, 0700) != 0)
        return -1;
    return setenv("TMPDIR", temporary, 1);
}

static int end(void **state) {
    (void)state;
    unlink(command);
    unlink(database);
    rmdir(temporary);
    return rmdir(folder);
}

static bool opens_one(void) {
    const struct gt_decode_options options = {.threads = 1, .nsys_command = command};
    struct gt_error error = {0};
    struct gt_store *store = NULL;
    bool ok = gt_nsys_export_decode("/dev/null", "report", &options, &store, &error) == GT_OK && store->ops.count == 1;
    gt_store_free(store);
    return ok;
}

static void *open_often(void *opened) {
    for (int i = 0; i < OPENS; i++)
        *(int *)opened += opens_one();
    return NULL;
}

static void threads_do_not_wait_for_each_other(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    int opened[THREADS] = {0};
    alarm(LIMIT_S);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_often, &opened[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(opened[i], OPENS);
    }
    alarm(0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(rmdir(temporary), 0); /* which is empty */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_wait_for_each_other),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
