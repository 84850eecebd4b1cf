/* A plain sqlite3_step loop over the kernel columns that gputime reads, on one connection or on several that share the
   rowids: sqlite_step THREADS FILE. Opened as favourably as SQLite allows. */
#include <inttypes.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_THREADS = 16 };

struct part {
    const char *path;
    int64_t first, last; /* rowids */
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

static void *step_through(void *context) {
    struct part *part = context;
    sqlite3 *db = open_database(part->path);
    sqlite3_stmt *rows;
    if (sqlite3_prepare_v2(db,
                           "SELECT start, end, deviceId, streamId, correlationId, globalPid, demangledName, shortName,"
                           " graphNodeId, graphId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid BETWEEN ? AND ?",
                           -1, &rows, NULL) != SQLITE_OK)
        exit(1);
    sqlite3_bind_int64(rows, 1, part->first);
    sqlite3_bind_int64(rows, 2, part->last);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        part->kernels++;
        part->kernel_ns += sqlite3_column_int64(rows, 1) - sqlite3_column_int64(rows, 0);
        for (int column = 2; column < 10; column++)
            part->other += sqlite3_column_int64(rows, column);
    }
    sqlite3_finalize(rows);
    sqlite3_close(db);
    return NULL;
}

static int64_t count_rows(const char *path) {
    sqlite3 *db = open_database(path);
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, "SELECT max(rowid) FROM CUPTI_ACTIVITY_KIND_KERNEL", -1, &statement, NULL) !=
            SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        exit(1);
    int64_t rows = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return rows;
}

int main(int argc, char **argv) {
    int threads = argc == 3 ? atoi(argv[1]) : 0;
    if (threads < 1 || threads > MAX_THREADS) {
        fprintf(stderr, "usage: sqlite_step THREADS FILE\n");
        return 2;
    }
    struct part parts[MAX_THREADS] = {0};
    pthread_t ids[MAX_THREADS];
    int64_t rows = count_rows(argv[2]);
    for (int i = 0; i < threads; i++) {
        parts[i] = (struct part){.path = argv[2], .first = rows * i / threads + 1, .last = rows * (i + 1) / threads};
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
