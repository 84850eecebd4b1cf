/* `nsys stats` CSVs, read for certain facts: what nothing asks for is skipped row by row, launch configurations are
   there when they are asked for. */
#include "csv_world.h"

#define TRACE_COLUMNS "GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd"
#define TRACE                                                                                                          \
    "Start (ns),Duration (ns),CorrId," TRACE_COLUMNS ",StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),"        \
    "SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n"                                                                \
    "1000,16,5,2048,2,1,512,3,4,32,0.000,0.008,,,,,GPU (0),1,,7,f\n"                                                   \
    "2000,10,6,,,,,,,,,,4.194,3514.827,Pageable,Device,GPU (0),1,,7,[CUDA memcpy Host-to-Device]\n"                    \
    "3000,16,7,1,1,1,inf,1,1,,None,0.049,,,,,GPU (0),1,,7,g\n"
#define RANGE "one,10,5,8,9,PushPop,1,2,3,0,0,1,,:1\n"

static struct gt_store *decode_all(const struct gt_str *files, size_t count, uint32_t facts) {
    struct gt_error err = {0};
    struct gt_store *store = decode_asked(files, count, facts, &gt_csv_default_sizes, &err);
    struct gt_store *parts = decode_asked(files, count, facts, &tiny_sizes, &err);
    assert_non_null(store);
    assert_non_null(parts);
    assert_int_equal(store->kernel_configs.count, parts->kernel_configs.count);
    assert_int_equal(store->skipped_events, parts->skipped_events);
    assert_int_equal(store->projections.count, parts->projections.count);
    gt_store_free(parts);
    return store;
}

static void test_configs(void **state) {
    (void)state;
    struct gt_str file = GT_STR(TRACE);
    struct gt_store *store = decode_all(&file, 1, GT_FACT_CONFIGS);
    const struct gt_kernel_configs *configs = &store->kernel_configs;
    assert_int_equal(store->ops.count, 3);
    assert_int_equal(configs->count, 2);
    assert_int_equal(configs->op[0], 0);
    assert_int_equal(configs->op[1], 2);
    assert_int_equal(configs->grid_x[0], 2048);
    assert_int_equal(configs->grid_y[0], 2);
    assert_int_equal(configs->grid_z[0], 1);
    assert_int_equal(configs->block_x[0], 512);
    assert_int_equal(configs->block_y[0], 3);
    assert_int_equal(configs->block_z[0], 4);
    assert_int_equal(configs->registers[0], 32);
    assert_int_equal(configs->static_shared_bytes[0], 0);
    assert_int_equal(configs->dynamic_shared_bytes[0], 8192);
    assert_int_equal(configs->cluster_x[0], UINT32_MAX);
    assert_true(configs->shared_bytes[0] == UINT64_MAX && configs->local_bytes[0] == UINT64_MAX);
    /* What the second row lacks, or has unreadable. */
    assert_int_equal(configs->block_x[1], UINT32_MAX);
    assert_int_equal(configs->registers[1], UINT32_MAX);
    assert_true(configs->static_shared_bytes[1] == UINT64_MAX);
    assert_int_equal(configs->dynamic_shared_bytes[1], 49152);
    assert_int_equal(gt_store_issue(store, GT_ISSUE_NUMBER_UNREADABLE, GT_FACTS_ALL).count, 1);
    assert_true(store->facts & GT_FACT_CONFIGS);
    gt_store_free(store);
    store = decode_all(&file, 1, 0);
    assert_int_equal(store->kernel_configs.count, 0);
    assert_int_equal(gt_store_issue(store, GT_ISSUE_NUMBER_UNREADABLE, GT_FACTS_ALL).count, 0);
    gt_store_free(store);
    /* A table without such columns has none. */
    struct gt_str bare = GT_STR("Start (ns),Duration (ns),Device,Strm,Name\n1,2,GPU (0),7,f\n");
    store = decode_all(&bare, 1, GT_FACT_CONFIGS);
    assert_int_equal(store->ops.count, 1);
    assert_int_equal(store->kernel_configs.count, 0);
    gt_store_free(store);
}

static void test_left_out(void **state) {
    (void)state;
    struct gt_str files[] = {GT_STR(TRACE), GT_STR(RANGES RANGE RANGE), GT_STR(KERNELS)};
    struct gt_store *store = decode_all(files, 3, GT_FACT_OPS);
    assert_int_equal(store->ops.count, 3);
    assert_int_equal(store->copies.count, 0);
    assert_int_equal(store->projections.count, 0);
    assert_int_equal(store->groups.count, 0);
    assert_true(store->ops.correlation[0] == GT_NO_CORRELATION);
    assert_int_equal(store->skipped_events, 2); /* sums that ops say again are not even skipped */
    assert_int_equal(store->facts, GT_FACT_OPS);
    gt_store_free(store);
    /* A file that has nothing of what is asked for is no error. */
    store = decode_all(files + 1, 1, GT_FACT_OPS);
    assert_int_equal(store->facts, 0);
    gt_store_free(store);
    store = decode_all(files + 1, 1, GT_FACT_PROJECTIONS);
    assert_int_equal(store->projections.count, 2);
    gt_store_free(store);
    store = decode_all(files + 1, 1, GT_FACT_RANGES);
    assert_int_equal(store->projections.count, 2);
    gt_store_free(store);
    store = decode_all(files + 2, 1, GT_FACT_GROUPS);
    assert_int_equal(store->groups.count, 2);
    gt_store_free(store);
    /* Sums that ops say again do not count, whoever asks. */
    store = decode_all(files, 3, GT_FACT_GROUPS);
    assert_int_equal(store->groups.count, 0);
    gt_store_free(store);
}

/* Tables that follow each other without a line between, the first of which is skipped. */
static void test_end_of_skipped(void **state) {
    (void)state;
    struct gt_str file = GT_STR(RANGES RANGE TRACE), same = GT_STR(RANGES RANGE "cut,1\n" RANGES RANGE TRACE);
    struct gt_store *store = decode_all(&file, 1, GT_FACT_OPS);
    assert_int_equal(store->ops.count, 3);
    assert_int_equal(store->skipped_events, 1);
    gt_store_free(store);
    store = decode_all(&same, 1, GT_FACT_OPS);
    assert_int_equal(store->ops.count, 3);
    assert_int_equal(store->skipped_events, 1); /* the second table says nothing else */
    assert_int_equal(gt_store_issue(store, GT_ISSUE_EVENT_DAMAGED, GT_FACTS_ALL).count, 1);
    gt_store_free(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_configs),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_end_of_skipped),
    };
    return cmocka_run_group_tests_name("nsys_csv_asked", tests, NULL, NULL);
}
