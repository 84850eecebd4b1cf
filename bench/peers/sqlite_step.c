/* Plain sqlite3_step loops over the columns that gputime reads of an Nsight export, on one connection or on several
   that share the rowids: sqlite_step THREADS FILE [all]. Kernels alone, or all tables of ops, calls and ranges that the
   file has. Opened as favourably as SQLite allows. */
#include <inttypes.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 64 };

struct table {
    const char *name;
    const char *columns; /* the first two are start and end */
    bool is_kernels;
};

static const struct table tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     "start, end, deviceId, streamId, correlationId, globalPid, demangledName, shortName, graphNodeId, graphId", true},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     "start, end, deviceId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind, graphNodeId", false},
    {"CUPTI_ACTIVITY_KIND_MEMSET",
     "start, end, deviceId, streamId, correlationId, globalPid, bytes, memKind, graphNodeId", false},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, correlationId, globalTid, nameId", false},
    {"NVTX_EVENTS", "start, end, eventType, category, text, globalTid, endGlobalTid, textId, domainId", false},
};

struct part {
    const char *path;
    int index, count; /* which share of the rows, of how many */
    size_t table_count;
    uint64_t kernels;
    int64_t kernel_ns, other;
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

/* -1: there is no such table. */
static int64_t last_rowid(sqlite3 *db, const char *table) {
    char text[256];
    sqlite3_stmt *statement;
    snprintf(text, sizeof text, "SELECT max(rowid) FROM %s", table);
    if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) != SQLITE_OK)
        return -1;
    int64_t last = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
    sqlite3_finalize(statement);
    return last;
}

static void step_rows(struct part *part, const struct table *table, sqlite3_stmt *rows) {
    int columns = sqlite3_column_count(rows);
    uint64_t count = 0;
    int64_t total_ns = 0;
    while (sqlite3_step(rows) == SQLITE_ROW) {
        count++;
        total_ns += sqlite3_column_int64(rows, 1) - sqlite3_column_int64(rows, 0);
        for (int column = 2; column < columns; column++)
            part->other += sqlite3_column_int64(rows, column);
    }
    if (table->is_kernels) {
        part->kernels += count;
        part->kernel_ns += total_ns;
    } else {
        part->other += total_ns;
    }
}

static void step_table(struct part *part, sqlite3 *db, const struct table *table) {
    char text[512];
    sqlite3_stmt *rows;
    int64_t last = last_rowid(db, table->name);
    if (last < 0)
        return;
    snprintf(text, sizeof text, "SELECT %s FROM %s WHERE rowid BETWEEN ? AND ?", table->columns, table->name);
    if (sqlite3_prepare_v2(db, text, -1, &rows, NULL) != SQLITE_OK) {
        fprintf(stderr, "sqlite_step: %s: %s\n", table->name, sqlite3_errmsg(db));
        exit(1);
    }
    sqlite3_bind_int64(rows, 1, last * part->index / part->count + 1);
    sqlite3_bind_int64(rows, 2, last * (part->index + 1) / part->count);
    step_rows(part, table, rows);
    sqlite3_finalize(rows);
}

static void *step_through(void *context) {
    struct part *part = context;
    sqlite3 *db = open_database(part->path);
    for (size_t i = 0; i < part->table_count; i++)
        step_table(part, db, &tables[i]);
    sqlite3_close(db);
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc >= 3 ? atoi(argv[1]) : 0;
    bool is_all = argc == 4 && strcmp(argv[3], "all") == 0;
    if (threads < 1 || threads > MAX_THREADS || argc > 4 || (argc == 4 && !is_all)) {
        fprintf(stderr, "usage: sqlite_step THREADS FILE [all]\n");
        return 2;
    }
    struct part parts[MAX_THREADS] = {0};
    pthread_t ids[MAX_THREADS];
    for (int i = 0; i < threads; i++) {
        parts[i] = (struct part){
            .path = argv[2], .index = i, .count = threads, .table_count = is_all ? sizeof tables / sizeof *tables : 1};
        if (pthread_create(&ids[i], NULL, step_through, &parts[i]) != 0)
            return 1;
    }
    uint64_t kernels = 0;
    int64_t kernel_ns = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        kernels += parts[i].kernels;
        kernel_ns += parts[i].kernel_ns;
    }
    printf("kernels %" PRIu64 " kernel_ns %" PRId64 "\n", kernels, kernel_ns);
    return 0;
}
