/* Makes an Nsight Systems SQLite export of any size: nsysgen [-k KERNELS] [-g GPUS] [-u NAMES] [-r SEED] [-K]
   OUT.sqlite. One process and thread for each GPU, as a machine would run them: every kernel starts after its launch
   call, calls lie in ranges of operators in layers in steps (one range for every five calls), and a step ends by
   waiting for the GPU. -K leaves calls and ranges out. The same options give the same bytes. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_GPUS = 64, CALL_NAMES = 4, RANGE_NAMES = 200, LEVELS = 3 };

/* Of operators, layers and steps: how many kernels one has. Each is a multiple of the one before. */
static const uint64_t kernels_per_range[LEVELS] = {7, 21, 210};

static const char schema[] =
    "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-200000;"
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);"
    "INSERT INTO META_DATA_EXPORT VALUES('EXPORT_SCHEMA_VERSION','3.20.1');"
    "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, totalMemory INTEGER,"
    " smCount INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,"
    " contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER,"
    " globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER,"
    " launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL,"
    " gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL,"
    " blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL,"
    " localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL,"
    " sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER, qmdBulkReleaseDone INTEGER,"
    " qmdPreexitDone INTEGER, qmdLastCtaDone INTEGER, graphId INTEGER, clusterX INTEGER, clusterY INTEGER,"
    " clusterZ INTEGER, clusterSchedulingPolicy INTEGER, maxPotentialClusterSize INTEGER, maxActiveClusters INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,"
    " eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL,"
    " returnValue INTEGER NOT NULL, callchainId INTEGER);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,"
    " category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER,"
    " domainId INTEGER);"
    "BEGIN;";

static sqlite3 *db;
static uint64_t random_state;

static void fail(const char *what) {
    fprintf(stderr, "nsysgen: %s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static uint32_t random_below(uint32_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(((random_state >> 33) * n) >> 31);
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail(sql);
    return statement;
}

static void insert(sqlite3_stmt *statement, const int64_t *values, int count) {
    for (int i = 0; i < count; i++)
        if (values[i] == INT64_MIN)
            sqlite3_bind_null(statement, i + 1);
        else
            sqlite3_bind_int64(statement, i + 1, values[i]);
    if (sqlite3_step(statement) != SQLITE_DONE)
        fail("insert");
    sqlite3_reset(statement);
}

static void insert_string(sqlite3_stmt *statement, int64_t id, const char *text) {
    sqlite3_bind_int64(statement, 1, id);
    sqlite3_bind_text(statement, 2, text, -1, SQLITE_TRANSIENT);
    if (sqlite3_step(statement) != SQLITE_DONE)
        fail("insert string");
    sqlite3_reset(statement);
}

/* Ids: calls from 1, ranges behind them, then two names for each kernel. */
static int64_t range_name(uint32_t i) {
    return 1 + CALL_NAMES + (int64_t)(i % RANGE_NAMES);
}
static int64_t kernel_name(uint32_t i) {
    return 1 + CALL_NAMES + RANGE_NAMES + 2 * (int64_t)i;
}

static void write_strings(uint32_t names) {
    static const char *const calls[CALL_NAMES] = {"cudaLaunchKernel_v7000", "cudaLaunchKernelExC_v11060",
                                                  "cuLaunchKernelEx", "cudaStreamSynchronize_v3020"};
    sqlite3_stmt *statement = prepare("INSERT INTO StringIds VALUES(?,?)");
    char text[300];
    for (int i = 0; i < CALL_NAMES; i++)
        insert_string(statement, 1 + i, calls[i]);
    for (uint32_t i = 0; i < RANGE_NAMES; i++) {
        static const char *const levels[LEVELS] = {"layer_%u.op", "layer_%u", "step %u"};
        snprintf(text, sizeof text, levels[i % LEVELS], i / LEVELS);
        insert_string(statement, range_name(i), text);
    }
    for (uint32_t i = 0; i < names; i++) {
        snprintf(text, sizeof text,
                 "void ns::elementwise_kernel<%u, ns::Functor%u<float>, ns::Array<char *, %u>>(int, T2, T3)",
                 2u << i % 3, i, 2 + i % 4);
        insert_string(statement, kernel_name(i), text);
        snprintf(text, sizeof text, "elementwise_kernel_%u", i);
        insert_string(statement, kernel_name(i) + 1, text);
    }
    sqlite3_finalize(statement);
}

struct gpu {
    int64_t cpu_ns, gpu_ns;       /* how far its thread and its stream are */
    int64_t range_starts[LEVELS]; /* of the open ranges */
};

#define GLOBAL_TID(gpu) ((int64_t)1 << 48 | (int64_t)(4000 + (gpu)) << 24 | (int64_t)(4000 + (gpu)))
#define GLOBAL_PID(gpu) (GLOBAL_TID(gpu) & ~(int64_t)0xFFFFFF)

#define NONE INT64_MIN

static sqlite3_stmt *kernel_rows, *call_rows, *range_rows;

static void write_kernel(int64_t start, int64_t end, uint32_t g, int64_t correlation, uint32_t name, uint64_t grid) {
    insert(kernel_rows,
           (int64_t[]){start,
                       end,
                       g,
                       1,
                       NONE,
                       7,
                       correlation,
                       GLOBAL_PID(g),
                       kernel_name(name),
                       kernel_name(name) + 1,
                       NONE,
                       0,
                       NONE,
                       16 + random_below(200),
                       1 + random_below(4000),
                       1,
                       1,
                       256,
                       1,
                       1,
                       0,
                       1024,
                       0,
                       232783872,
                       (int64_t)grid,
                       102400,
                       NONE,
                       0,
                       NONE,
                       NONE,
                       NONE,
                       NONE,
                       NONE,
                       NONE,
                       NONE,
                       NONE,
                       NONE,
                       NONE},
           38);
}

static void write_call(int64_t start, int64_t end, uint32_t g, int64_t correlation, int64_t name) {
    insert(call_rows, (int64_t[]){start, end, 0, GLOBAL_TID(g), correlation, name, 0, NONE}, 8);
}

static void open_ranges(struct gpu *gpu, uint64_t turn) {
    for (int level = 0; level < LEVELS; level++)
        if (turn % kernels_per_range[level] == 0)
            gpu->range_starts[level] = gpu->cpu_ns + 10 * (LEVELS - level);
}

/* The innermost first, as they end. A step waits for its kernels before. */
static void close_ranges(struct gpu *gpu, uint32_t g, uint64_t turn) {
    if (turn % kernels_per_range[LEVELS - 1] == kernels_per_range[LEVELS - 1] - 1) {
        int64_t end = gpu->gpu_ns + 1500 > gpu->cpu_ns + 3000 ? gpu->gpu_ns + 1500 : gpu->cpu_ns + 3000;
        write_call(gpu->cpu_ns + 500, end, g, (int64_t)1 << 32 | (int64_t)turn, CALL_NAMES);
        gpu->cpu_ns = end;
    }
    for (int level = 0; level < LEVELS; level++) {
        uint64_t size = kernels_per_range[level], number = turn / size % 10;
        if (turn % size == size - 1)
            insert(range_rows,
                   (int64_t[]){gpu->range_starts[level], gpu->cpu_ns + 100 + 10 * level, 59, NONE, NONE, NONE, NONE,
                               GLOBAL_TID(g), NONE, range_name((uint32_t)(LEVELS * number) + (uint32_t)level), 0},
                   11);
    }
    gpu->cpu_ns += 200;
}

static void write_events(uint64_t kernels, uint32_t gpus, uint32_t names, int with_calls) {
    struct gpu state[MAX_GPUS] = {0};
    kernel_rows = prepare("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
                          "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    call_rows = prepare("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?,?,?,?,?,?,?,?)");
    range_rows = prepare("INSERT INTO NVTX_EVENTS VALUES(?,?,?,?,?,?,?,?,?,?,?)");
    for (uint64_t i = 0; i < kernels; i++) {
        uint32_t g = (uint32_t)(i % gpus), name = random_below(names);
        uint64_t turn = i / gpus;
        struct gpu *gpu = &state[g];
        int64_t call_start = gpu->cpu_ns + 500 + random_below(1500), call_end = call_start + 2000 + random_below(3000);
        int64_t start = call_end + 1000 > gpu->gpu_ns ? call_end + 1000 : gpu->gpu_ns + 300;
        int64_t end = start + (random_below(20) ? 1000 + random_below(6000) : 20000 + random_below(60000));
        write_kernel(start, end, g, (int64_t)turn + 1, name, i + 1);
        open_ranges(gpu, turn);
        gpu->cpu_ns = call_end;
        gpu->gpu_ns = end;
        if (!with_calls)
            continue;
        write_call(call_start, call_end, g, (int64_t)turn + 1, 1 + name % (CALL_NAMES - 1));
        close_ranges(gpu, g, turn);
    }
    sqlite3_finalize(kernel_rows);
    sqlite3_finalize(call_rows);
    sqlite3_finalize(range_rows);
}

int main(int argc, char **argv) {
    uint64_t kernels = 1000000;
    uint32_t gpus = 8, names = 600;
    int with_calls = 1, option;
    random_state = 1;
    while ((option = getopt(argc, argv, "k:g:u:r:K")) != -1)
        switch (option) {
        case 'k':
            kernels = strtoull(optarg, NULL, 10);
            break;
        case 'g':
            gpus = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'u':
            names = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'r':
            random_state = strtoull(optarg, NULL, 10);
            break;
        case 'K':
            with_calls = 0;
            break;
        default:
            return 2;
        }
    if (optind != argc - 1 || gpus == 0 || gpus > MAX_GPUS || names == 0) {
        fprintf(stderr, "usage: nsysgen [-k KERNELS] [-g GPUS<=%d] [-u NAMES] [-r SEED] [-K] OUT.sqlite\n", MAX_GPUS);
        return 2;
    }
    unlink(argv[optind]);
    if (sqlite3_open(argv[optind], &db) != SQLITE_OK || sqlite3_exec(db, schema, NULL, NULL, NULL) != SQLITE_OK)
        fail(argv[optind]);
    write_strings(names);
    write_events(kernels, gpus, names, with_calls);
    if (sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        fail("commit");
    sqlite3_close(db);
    return 0;
}
