/* Who talks to whom in Nsight exports: payloads of NCCL's ranges, ranks of processes, the machine and its GPUs. */
#include "nsys_export.h"

/* ---- payloads ---- */

#define PAYLOADS                                                                                                       \
    STRINGS "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, "  \
            "domainId INTEGER, binaryData TEXT);"                                                                      \
            "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER, schemaId INTEGER, idx INTEGER, flags "        \
            "INTEGER, type INTEGER, name TEXT, offset INTEGER);"                                                       \
            "CREATE TABLE NVTX_PAYLOAD_ENUMS (domainId INTEGER, schemaId INTEGER, name TEXT, size INTEGER);"           \
            "CREATE TABLE NVTX_PAYLOAD_ENUM_ENTRIES (domainId INTEGER, schemaId INTEGER, idx INTEGER, name TEXT, "     \
            "value INTEGER);"                                                                                          \
            "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, 7, 0, NULL, 18, 'NCCL communicator ID', NULL),"        \
            " (1, 7, 1, NULL, 22, 'Message size [bytes]', 8), (1, 7, 2, NULL, 300, 'Reduction operation', 16),"        \
            " (1, 8, 0, NULL, 18, 'NCCL communicator ID', NULL), (1, 8, 1, NULL, 5, 'No. of ranks', 8),"               \
            " (1, 8, 2, NULL, 5, 'Rank', 12);"                                                                         \
            "INSERT INTO NVTX_PAYLOAD_ENUMS VALUES (1, 300, NULL, 4);"                                                 \
            "INSERT INTO NVTX_PAYLOAD_ENUM_ENTRIES VALUES (1, 300, 0, 'Sum', NULL), (1, 300, 1, 'Product', 1);"

/* Numbers of 8 and 4 bytes as payloads hold them. */
#define U64(low)                             #low "00000000000000"
#define U32(low)                             #low "000000"
#define HEADER(domain, schema, size, offset) U64(domain) U64(schema) U64(size) U64(offset)
#define REDUCE(size, operation)              "FBABA5A81B03574A" U64(size) U32(operation)

static void test_payloads(void **state) {
    (void)state;
    struct gt_store *store = decode_in_ways(
        PAYLOADS
        "INSERT INTO NVTX_EVENTS VALUES"
        " (1, 2, 59, 'ncclAllReduce', tid(42, 7), 1, x'" HEADER(01, 07, 14, 20)
            REDUCE(40, 00) "'),"
                           /* The offset may be that of the end; the payload comes last all the same. */
                           " (3, 4, 59, 'ncclReduceScatter', tid(42, 7), 1, x'" HEADER(01, 07, 14, 34)
                               REDUCE(50, 01) "'),"
                                              " (5, 6, 59, 'ncclCommInitRank', tid(42, 7), 1, x'" HEADER(01, 08, 10, 20)
                                                  U64(09) U32(04)
                                                      U32(03) "'),"
                                                              " (7, 8, 59, 'without', tid(42, 7), 1, NULL),"
                                                              " (8, 9, 59, 'of others', tid(42, 7), 1, x'" HEADER(
                                                                  01, 63, 00,
                                                                  20) "'),"
                                                                      " (1, NULL, 75, 'NCCL', tid(42, 7), 1, x'" HEADER(
                                                                          01, 07, 14, 20) REDUCE(40, 00) "')",
        GT_FACT_COMMS);
    const struct gt_comms *comms = &store->comms;
    assert_int_equal(store->ranges.count, 5);
    assert_int_equal(comms->count, 3);
    assert_int_equal(comms->range[0], 0);
    assert_text(store, comms->name[0], "ncclAllReduce");
    assert_text(store, comms->reduction[0], "Sum");
    assert_int_equal(comms->in_bytes[0], 64);
    assert_true(store->comm_groups.communicator[comms->group[0]] == UINT64_C(5356753699108924411));
    assert_text(store, comms->reduction[1], "Product");
    assert_int_equal(comms->in_bytes[1], 80);
    assert_int_equal(comms->group[1], comms->group[0]);
    assert_int_equal(comms->range[2], 2);
    assert_int_equal(comms->rank[2], 3);
    assert_int_equal(store->comm_groups.size[comms->group[2]], 4);
    assert_text(store, comms->reduction[2], "");
    assert_int_equal(issue(store, GT_ISSUE_PAYLOAD_UNREADABLE), 0);
    assert_int_equal(store->processes.rank[0], 3);
    assert_int_equal(store->processes.world_size[0], -1); /* there may be larger communicators */
    assert_int_equal(store->processes.rank_source[0], GT_RANK_OF_NCCL);
    gt_store_free(store);
}

#define INIT(start, thread, size, rank)                                                                                \
    "INSERT INTO NVTX_EVENTS VALUES (" start ", 99, 59, 'ncclCommInitRank', " thread ", 1, x'" HEADER(01, 08, 10, 20)  \
        U64(09) U32(size) U32(rank) "');"

/* The largest communicator of a process, and of several the first one by time. */
static void test_communicators(void **state) {
    (void)state;
    struct gt_store *store =
        decode_in_ways(PAYLOADS INIT("1", "tid(42, 7)", 02, 01) INIT("5", "tid(42, 7)", 08, 06)
                           INIT("3", "tid(42, 8)", 08, 05) INIT("2", "tid(43, 7)", 04, 04) INIT("2", "NULL", 10, 04),
                       GT_FACT_COMMS);
    assert_int_equal(store->processes.count, 2);
    assert_int_equal(store->processes.pid[0], 42);
    assert_int_equal(store->processes.rank[0], 5);
    assert_int_equal(store->processes.rank[1], -1); /* beyond the size */
    gt_store_free(store);
}

static void test_short_payloads(void **state) {
    (void)state;
    struct gt_store *store = decode_in_ways(
        PAYLOADS
        "INSERT INTO NVTX_EVENTS VALUES"
        " (1, 2, 59, 'no header', tid(42, 7), 1, x'0102'), (1, 2, 59, 'nothing', tid(42, 7), 1, x''),"
        " (1, 2, 59, 'empty', tid(42, 7), 1, x'" HEADER(
            01, 07, 14, 20) "'),"
                            " (1, 2, 59, 'half', tid(42, 7), 1, x'" HEADER(
                                01, 07, 14, 20) "FBABA5A81B03574A'),"
                                                " (1, 2, 59, 'absurd', tid(42, 7), 1, x'" HEADER(01, 07, FF, FF)
                                                    REDUCE(40, 00) "'),"
                                                                   " (1, 2, 59, 'shorter', tid(42, 7), 1, x'" HEADER(
                                                                       01, 07, 08, 20) REDUCE(40, 00) "')",
        GT_FACT_COMMS);
    assert_int_equal(store->ranges.count, 6);
    assert_int_equal(issue(store, GT_ISSUE_PAYLOAD_UNREADABLE), 5);
    assert_int_equal(store->comms.count, 3);
    assert_int_equal(store->comms.range[0], 3);
    assert_true(store->comms.in_bytes[0] == UINT64_MAX);
    assert_int_equal(store->comms.range[1], 4);
    assert_int_equal(store->comms.in_bytes[1], 64);
    assert_int_equal(store->comms.range[2], 5);
    gt_store_free(store);
    store = decode(PAYLOADS "INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'no header', tid(42, 7), 1, x'0102')");
    assert_int_equal(issue(store, GT_ISSUE_PAYLOAD_UNREADABLE), 0); /* nobody asked */
    gt_store_free(store);
}

/* ---- ranks ---- */

#define USER              STRINGS KERNELS ONE_KERNEL
#define ENVIRONMENT(more) "'PATH=/bin' || char(0) || 'HOME=/root' || char(0) || " more

static void assert_rank(const char *sql, int64_t rank, int64_t world_size, enum gt_rank_source source) {
    struct gt_store *store = decode_in_ways(sql, GT_FACT_OPS);
    assert_int_equal(store->processes.count, 1);
    assert_int_equal(store->processes.rank[0], rank);
    assert_int_equal(store->processes.world_size[0], world_size);
    assert_int_equal(store->processes.rank_source[0], source);
    /* Nothing else of an environment gets into the store. */
    for (gt_strid i = 0; i < store->strings.count; i++)
        assert_null(strstr(gt_store_string(store, i).ptr, "PATH"));
    gt_store_free(store);
}

static void test_ranks(void **state) {
    (void)state;
    assert_rank(USER "INSERT INTO StringIds VALUES (20, " ENVIRONMENT("'RANK=3' || char(0) || 'WORLD_SIZE=8'") ")", 3,
                8, GT_RANK_OF_ENVIRONMENT);
    assert_rank(USER "INSERT INTO StringIds VALUES (20, " ENVIRONMENT("'RANK=3'") "), (21, " ENVIRONMENT(
                    "'TERM=x'") "), (22, " ENVIRONMENT("'RANK=3' || char(0) || 'X=1'") ")",
                3, -1, GT_RANK_OF_ENVIRONMENT);
    /* Which of them is the process's nobody knows. */
    assert_rank(USER
                "INSERT INTO StringIds VALUES (20, " ENVIRONMENT("'RANK=3'") "), (21, " ENVIRONMENT("'RANK=4'") ")",
                -1, -1, GT_RANK_UNKNOWN);
    assert_rank(USER "INSERT INTO StringIds VALUES (20, " ENVIRONMENT("'PMIX_RANK=3'") ")", -1, -1, GT_RANK_UNKNOWN);
    /* Texts that merely have the word. */
    assert_rank(USER "INSERT INTO StringIds VALUES (20, 'RANK=3'), (21, 'a' || char(0) || 'RANK=3'),"
                     " (22, 'RANK=3' || char(0) || 'and a text'), (23, ''), (24, char(0)), (25, '=' || char(0) || '=')",
                -1, -1, GT_RANK_UNKNOWN);
    assert_rank(USER "CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER);"
                     "INSERT INTO MPI_RANKS VALUES (tid(42, 9), 1), (tid(43, 9), 2), (NULL, 5), (tid(42, 9), -1);"
                     "INSERT INTO StringIds VALUES (20, " ENVIRONMENT("'RANK=3'") ")",
                1, -1, GT_RANK_OF_MPI);
}

#define SYSTEM                                                                                                         \
    USER "CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, "    \
         "value TEXT);"                                                                                                \
         "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'x', 'Hostname', 619, 'node7'), (1, 'x', 'CpuCores', 1, '16')"

static void test_system(void **state) {
    (void)state;
    struct gt_store *store = decode_in_ways(SYSTEM, GT_FACT_OPS);
    assert_text(store, store->meta.host, "node7");
    gt_store_free(store);
    assert_rank(SYSTEM ", (1, 'x', 'DeviceEnvironment', 610, 'PATH=/bin;SLURM_PROCID=5;SLURM_NTASKS=16')", 5, 16,
                GT_RANK_OF_SLURM);
    assert_rank(SYSTEM ", (1, 'x', 'Other', 610, 'PATH=/bin;RANK=5'); INSERT INTO StringIds VALUES (20, " ENVIRONMENT(
                    "'RANK=3'") ")",
                3, -1, GT_RANK_OF_ENVIRONMENT);
    assert_rank(SYSTEM ", (1, 'x', 'DeviceEnvironment', 610, NULL)", -1, -1, GT_RANK_UNKNOWN);
}

static void test_gpus(void **state) {
    (void)state;
    struct gt_store *store = decode_in_ways(
        USER "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 1, 1, 0, 7, 1, pid(42), 1, 2, 3, 8, NULL);"
             "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, l2CacheSize INTEGER, totalMemory INTEGER, "
             "memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, uuid TEXT, maxShmemPerSm INTEGER, "
             "maxRegistersPerSm INTEGER, maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER, computeMajor INTEGER, "
             "computeMinor INTEGER);"
             "INSERT INTO TARGET_INFO_GPU VALUES (0, 'H200', 62914560, 150000000000, 4814304000000, 1980000000, 132, "
             "'1-2-3', 233472, 65536, 64, 32, 9, 0), (1, 'odd', -1, -1, -1, NULL, 4294967296, NULL, -2, 'x', NULL, 32,"
             " 9, 1)",
        GT_FACT_OPS);
    const struct gt_devices *devices = &store->devices;
    assert_int_equal(devices->count, 2);
    assert_text(store, devices->uuid[0], "1-2-3");
    assert_int_equal(devices->l2_bytes[0], 62914560);
    assert_int_equal(devices->memory_bytes[0], 150000000000);
    assert_int_equal(devices->bandwidth[0], 4814304000000);
    assert_int_equal(devices->clock_hz[0], 1980000000);
    assert_int_equal(devices->multiprocessors[0], 132);
    assert_int_equal(devices->max_shared_bytes[0], 233472);
    assert_int_equal(devices->max_registers[0], 65536);
    assert_int_equal(devices->max_warps[0], 64);
    assert_int_equal(devices->max_blocks[0], 32);
    assert_int_equal(devices->compute_major[0], 9);
    assert_int_equal(devices->compute_minor[1], 1);
    assert_int_equal(devices->max_blocks[1], 32);
    assert_int_equal(devices->l2_bytes[1] + devices->memory_bytes[1] + devices->bandwidth[1] + devices->clock_hz[1], 0);
    assert_int_equal(devices->multiprocessors[1] + devices->max_shared_bytes[1] + devices->max_registers[1], 0);
    gt_store_free(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_payloads), cmocka_unit_test(test_communicators), cmocka_unit_test(test_short_payloads),
        cmocka_unit_test(test_ranks),    cmocka_unit_test(test_system),        cmocka_unit_test(test_gpus),
    };
    return cmocka_run_group_tests_name("nsys_sqlite_ranks", tests, world_begin, world_end);
}
