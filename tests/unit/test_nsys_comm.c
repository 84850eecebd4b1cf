/* Payloads of NCCL's ranges: fields are found by the names of their entries, wherever schemas place them, and nothing
   is read outside of a payload. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/nsys/nsys_comm.h"

enum { ALL_REDUCE = 16777221, SEND = 16777225, INIT = 16777227, REDUCTIONS = 16777236 };

static void add_entry(struct gt_nsys_comm_schemas *schemas, uint64_t scope, uint64_t schema, const char *name,
                      uint64_t type, uint64_t offset) {
    gt_nsys_comm_add_entry(schemas, scope, schema,
                           &(struct gt_nsys_comm_entry){.name = gt_str_of(name), .type = type, .offset = offset});
}

static void add_nccl(struct gt_nsys_comm_schemas *schemas, uint64_t scope) {
    add_entry(schemas, scope, ALL_REDUCE, "NCCL communicator ID", 18, 0);
    add_entry(schemas, scope, ALL_REDUCE, "Message size [bytes]", 22, 8);
    add_entry(schemas, scope, ALL_REDUCE, "Reduction operation", REDUCTIONS, 16);
    add_entry(schemas, scope, SEND, "NCCL communicator ID", 18, 0);
    add_entry(schemas, scope, SEND, "Message size [bytes]", 22, 8);
    add_entry(schemas, scope, SEND, "Peer rank", 5, 16);
    add_entry(schemas, scope, INIT, "NCCL communicator ID", 18, 0);
    add_entry(schemas, scope, INIT, "No. of ranks", 5, 8);
    add_entry(schemas, scope, INIT, "Rank", 5, 12);
    add_entry(schemas, scope, INIT, "CUDA device", 5, 16);
    gt_nsys_comm_add_enum(schemas, scope, REDUCTIONS, 4);
    gt_nsys_comm_add_value(schemas, scope, REDUCTIONS, 0, GT_STR("Sum"));
    gt_nsys_comm_add_value(schemas, scope, REDUCTIONS, 4, GT_STR("Avg"));
}

static void test_nccl(void **state) {
    (void)state;
    struct gt_nsys_comm_schemas schemas = {0};
    struct gt_nsys_comm comm;
    add_nccl(&schemas, 1);
    add_nccl(&schemas, 1); /* as with several processes */
    assert_int_equal(gt_nsys_comm_read(&schemas, 1, ALL_REDUCE,
                                       GT_STR("\xfb\xab\xa5\xa8\x1b\x03\x57\x4a\0\0\x40\0\0\0\0\0\0\0\0\0\xfd\x7f\0\0"),
                                       &comm),
                     GT_NSYS_COMM_READ);
    assert_true(comm.communicator == UINT64_C(5356753699108924411));
    assert_true(comm.bytes == 4194304 && comm.ranks == GT_NSYS_NO_ID);
    assert_true(gt_str_eq(comm.reduction, GT_STR("Sum")));
    assert_true(comm.rank == INT64_MIN && comm.root == INT64_MIN && comm.peer == INT64_MIN);
    assert_int_equal(gt_nsys_comm_read(&schemas, 1, SEND,
                                       GT_STR("\1\0\0\0\0\0\0\x80\2\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0"), &comm),
                     GT_NSYS_COMM_READ);
    assert_true(comm.communicator == UINT64_C(0x8000000000000001) && comm.peer == -1);
    assert_int_equal(
        gt_nsys_comm_read(&schemas, 1, INIT, GT_STR("\1\0\0\0\0\0\0\0\4\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0"), &comm),
        GT_NSYS_COMM_READ);
    assert_true(comm.ranks == 4 && comm.rank == 3 && gt_nsys_comm_is_known(&comm));
    assert_int_equal(gt_nsys_comm_read(&schemas, 2, INIT, GT_STR(""), &comm), GT_NSYS_COMM_NONE); /* another domain */
    assert_false(schemas.has_failed);
    gt_nsys_comm_release(&schemas);
}

/* An unknown number of a reduction has no name; enumerations of other widths are read as they are. */
static void test_enums(void **state) {
    (void)state;
    struct gt_nsys_comm_schemas schemas = {0};
    struct gt_nsys_comm comm;
    add_entry(&schemas, 0, 1, "Reduction operation", 300, 1);
    add_entry(&schemas, 0, 1, "Message size [bytes]", 12, 0);
    gt_nsys_comm_add_value(&schemas, 0, 300, 200, GT_STR("Max"));
    assert_int_equal(gt_nsys_comm_read(&schemas, 0, 1, GT_STR("\x80\xc8"), &comm), GT_NSYS_COMM_READ);
    assert_true(comm.bytes == 128 && comm.reduction.len == 0); /* the width is not known */
    gt_nsys_comm_add_enum(&schemas, 0, 300, 1);
    assert_int_equal(gt_nsys_comm_read(&schemas, 0, 1, GT_STR("\x80\xc8"), &comm), GT_NSYS_COMM_READ);
    assert_true(gt_str_eq(comm.reduction, GT_STR("Max")));
    assert_int_equal(gt_nsys_comm_read(&schemas, 0, 1, GT_STR("\x80\xc9"), &comm), GT_NSYS_COMM_READ);
    assert_int_equal(comm.reduction.len, 0);
    gt_nsys_comm_add_enum(&schemas, 0, 300, UINT64_MAX);
    assert_int_equal(gt_nsys_comm_read(&schemas, 0, 1, GT_STR("\x80\xc9"), &comm), GT_NSYS_COMM_READ);
    assert_int_equal(comm.reduction.len, 0);
    gt_nsys_comm_release(&schemas);
}

static void test_short_payloads(void **state) {
    (void)state;
    struct gt_nsys_comm_schemas schemas = {0};
    struct gt_nsys_comm comm;
    static const char payload[20] = {7};
    add_nccl(&schemas, 1);
    add_entry(&schemas, 1, 5, "Message size [bytes]", 22, UINT64_MAX - 3);
    assert_int_equal(gt_nsys_comm_read(&schemas, 1, 5, (struct gt_str){payload, sizeof payload}, &comm),
                     GT_NSYS_COMM_SHORT);
    assert_false(gt_nsys_comm_is_known(&comm));
    for (size_t len = 0; len <= sizeof payload; len++) {
        enum gt_nsys_comm_outcome outcome = gt_nsys_comm_read(&schemas, 1, SEND, (struct gt_str){payload, len}, &comm);
        assert_int_equal(outcome, len < 20 ? GT_NSYS_COMM_SHORT : GT_NSYS_COMM_READ);
        assert_true(comm.communicator == (len < 8 ? GT_NSYS_NO_ID : 7));
        assert_true(comm.bytes == (len < 16 ? GT_NSYS_NO_ID : 0));
        assert_true(comm.peer == (len < 20 ? INT64_MIN : 0));
        assert_int_equal(gt_nsys_comm_is_known(&comm), len >= 8);
    }
    gt_nsys_comm_release(&schemas);
}

/* Schemas that say nothing certain are none. */
static void test_other_schemas(void **state) {
    (void)state;
    struct gt_nsys_comm_schemas schemas = {0};
    struct gt_nsys_comm comm;
    static const char payload[64];
    struct gt_str bytes = {payload, sizeof payload};
    add_entry(&schemas, 0, 1, "Rank", 5, 0); /* a word of others, too */
    assert_int_equal(gt_nsys_comm_read(&schemas, 0, 1, bytes, &comm), GT_NSYS_COMM_NONE);
    add_entry(&schemas, 0, 2, "Message size [bytes]", 22, 0);
    assert_int_equal(gt_nsys_comm_read(&schemas, 0, 2, bytes, &comm), GT_NSYS_COMM_READ);
    add_entry(&schemas, 0, 2, "Message size [bytes]", 22, 8); /* of another process, who can say which */
    assert_int_equal(gt_nsys_comm_read(&schemas, 0, 2, bytes, &comm), GT_NSYS_COMM_NONE);
    add_entry(&schemas, 0, 3, "Message size [bytes]", 22, 8);
    gt_nsys_comm_add_entry(&schemas, 0, 3,
                           &(struct gt_nsys_comm_entry){.name = GT_STR("list"), .type = 5, .flags = 32});
    assert_int_equal(gt_nsys_comm_read(&schemas, 0, 3, bytes, &comm), GT_NSYS_COMM_NONE);
    add_entry(&schemas, 0, 4, "Message size [bytes]", 19, 8); /* a float */
    assert_int_equal(gt_nsys_comm_read(&schemas, 0, 4, bytes, &comm), GT_NSYS_COMM_READ);
    assert_false(gt_nsys_comm_is_known(&comm));
    gt_nsys_comm_release(&schemas);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nccl),
        cmocka_unit_test(test_enums),
        cmocka_unit_test(test_short_payloads),
        cmocka_unit_test(test_other_schemas),
    };
    return cmocka_run_group_tests_name("nsys_comm", tests, NULL, NULL);
}
