/* Plain sqlite3_step loops over the columns of a rocpd database that gputime reads for kernels, copies, calls and what
   joins them: rocpd_step FILE. Opened as favourably as SQLite allows; joins nothing. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *table, *columns;
} tables[] = {
    {"rocpd_event", "id, stack_id, parent_stack_id, correlation_id, category_id, extdata"},
    {"rocpd_kernel_dispatch",
     "start, end, pid, tid, event_id, stream_id, queue_id, agent_id, kernel_id, graph_exec_id"},
    {"rocpd_memory_copy",
     "start, end, pid, tid, event_id, stream_id, queue_id, name_id, dst_agent_id, src_agent_id, size"},
    {"rocpd_region", "start, end, pid, tid, event_id, name_id"},
};

static sqlite3 *open_database(const char *path) {
    char uri[4096];
    sqlite3 *db;
    snprintf(uri, sizeof uri, "file:%s?immutable=1", path);
    if (sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        exit(1);
    sqlite3_exec(db, "PRAGMA mmap_size=17179869184", NULL, NULL, NULL);
    return db;
}

/* The first table whose name is the word and a suffix with the id of a process. */
static void find_table(sqlite3 *db, const char *word, char *name, size_t room) {
    sqlite3_stmt *list;
    if (sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB ?1 || '_[0-9]*'", -1,
                           &list, NULL) != SQLITE_OK)
        exit(1);
    sqlite3_bind_text(list, 1, word, -1, SQLITE_STATIC);
    if (sqlite3_step(list) != SQLITE_ROW)
        exit(1);
    snprintf(name, room, "%s", (const char *)sqlite3_column_text(list, 0));
    sqlite3_finalize(list);
}

static uint64_t step_through(sqlite3 *db, const char *word, const char *columns, int64_t *sum) {
    char name[256], sql[1024];
    sqlite3_stmt *rows;
    uint64_t count = 0;
    find_table(db, word, name, sizeof name);
    snprintf(sql, sizeof sql, "SELECT %s FROM \"%s\"", columns, name);
    if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) != SQLITE_OK)
        exit(1);
    int column_count = sqlite3_column_count(rows);
    for (; sqlite3_step(rows) == SQLITE_ROW; count++)
        for (int column = 0; column < column_count; column++)
            *sum += sqlite3_column_type(rows, column) == SQLITE_TEXT ? sqlite3_column_bytes(rows, column)
                                                                     : sqlite3_column_int64(rows, column);
    sqlite3_finalize(rows);
    return count;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: rocpd_step FILE\n");
        return 2;
    }
    sqlite3 *db = open_database(argv[1]);
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        printf("%s %" PRIu64 "\n", tables[i].table, step_through(db, tables[i].table, tables[i].columns, &sum));
    printf("sum %" PRId64 "\n", sum);
    sqlite3_close(db);
    return 0;
}
