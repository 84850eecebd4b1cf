/* The memory of a connection's queries: what is counted, and that medians end where there is no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "sql/sql_functions.h"
#include "sql/sql_host.h"
#include "sql/sql_memory.h"

static void bytes_are_counted(void **state) {
    struct gt_sql_memory *memory = gt_sql_memory_new(false);
    (void)state;

    assert_non_null(memory);
    assert_true(gt_sql_memory_take(memory, (size_t)GT_SQL_MEMORY_MOST - 100));
    assert_true(gt_sql_memory_take(memory, 100));
    assert_false(gt_sql_memory_is_over(memory));
    gt_sql_memory_give(memory, 50);
    assert_true(gt_sql_memory_take(memory, 50));
    assert_false(gt_sql_memory_was_over(memory));
    assert_false(gt_sql_memory_take(memory, 1));
    gt_sql_memory_give(memory, 1000); /* it stays over: the query ends */
    assert_true(gt_sql_memory_was_over(memory));
    assert_true(gt_sql_memory_is_over(memory));
    gt_sql_memory_release(memory);
}

static void any_number_of_bytes_may_be_asked_for(void **state) {
    struct gt_sql_memory *memory = gt_sql_memory_new(true);
    (void)state;

    assert_non_null(memory);
    assert_false(gt_sql_memory_take(memory, SIZE_MAX));
    gt_sql_memory_release(memory);
}

/* What others of the process had before is not the query's. */
static void memory_of_sqlite_counts_from_the_beginning(void **state) {
    enum { BYTES = 1 << 20 };
    void *before = sqlite3_malloc(BYTES);
    struct gt_sql_memory *memory = gt_sql_memory_new(true), *without = gt_sql_memory_new(false);
    (void)state;

    assert_non_null(before);
    assert_non_null(memory);
    assert_non_null(without);
    assert_true(gt_sql_memory_take(memory, (size_t)GT_SQL_MEMORY_MOST));
    assert_false(gt_sql_memory_is_over(memory));
    assert_true(gt_sql_memory_take(without, (size_t)GT_SQL_MEMORY_MOST));
    void *during = sqlite3_malloc(BYTES);
    assert_non_null(during);
    assert_true(gt_sql_memory_is_over(memory));
    assert_false(gt_sql_memory_is_over(without));
    sqlite3_free(during);
    sqlite3_free(before);
    gt_sql_memory_release(memory);
    gt_sql_memory_release(without);
}

/* A connection with the functions, and memory of which all but some bytes is taken. */
struct world {
    sqlite3 *db;
    struct gt_sql_memory *memory;
};

static struct world open_world(size_t left) {
    struct world world = {.memory = gt_sql_memory_new(false)};
    assert_non_null(world.memory);
    assert_int_equal(sqlite3_open(":memory:", &world.db), SQLITE_OK);
    assert_int_equal(gt_sql_functions_add(world.db, world.memory), SQLITE_OK);
    assert_true(gt_sql_memory_take(world.memory, (size_t)GT_SQL_MEMORY_MOST - left));
    return world;
}

/* SQLite lets go of it last. */
static void close_world(struct world *world) {
    gt_sql_memory_release(world->memory);
    assert_int_equal(sqlite3_close(world->db), SQLITE_OK);
}

#define VALUES(count) "with recursive t(x) as (select 1 union all select x + 1 from t where x < " #count ") "

static void medians_end_where_memory_does(void **state) {
    struct world world = open_world(100 * 1024);
    static const char *const large[] = {
        VALUES(20000) "select median(x) from t",
        VALUES(20000) "select percentile(x + 0.5, 90) from t",
        VALUES(5000) "select median(x), percentile(x, 10), percentile(x, 90) from t",
    };
    (void)state;

    assert_int_equal(sqlite3_exec(world.db, VALUES(5000) "select median(x) from t", NULL, NULL, NULL), SQLITE_OK);
    assert_false(gt_sql_memory_was_over(world.memory));
    for (size_t i = 0; i < GT_ARRAY_COUNT(large); i++) {
        assert_int_equal(sqlite3_exec(world.db, large[i], NULL, NULL, NULL), SQLITE_ERROR);
        assert_true(gt_sql_memory_was_over(world.memory));
        assert_true(gt_sql_memory_take(world.memory, 100 * 1024)); /* all of it came back */
        gt_sql_memory_give(world.memory, 100 * 1024);
    }
    close_world(&world);
}

/* Each group has its own values, one after the other. */
static void groups_give_their_memory_back(void **state) {
    struct world world = open_world(4096);
    (void)state;

    assert_int_equal(sqlite3_exec(world.db,
                                  VALUES(20000) "select max(m) from (select median(x) as m from t group by x / 100)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_false(gt_sql_memory_was_over(world.memory));
    close_world(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_counted),
        cmocka_unit_test(any_number_of_bytes_may_be_asked_for),
        cmocka_unit_test(memory_of_sqlite_counts_from_the_beginning),
        cmocka_unit_test(medians_end_where_memory_does),
        cmocka_unit_test(groups_give_their_memory_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
