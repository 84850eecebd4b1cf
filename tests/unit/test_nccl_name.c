/* Names of collectives and of their kernels: which operation they mean, and how it communicates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "events/comms.h"
#include "label/nccl_name.h"

static void operations_have_one_name_each(void **state) {
    (void)state;
    static const struct {
        const char *name;
        enum gt_comm_op op;
    } cases[] = {
        {"allreduce", GT_COMM_all_reduce},
        {"ncclAllReduce", GT_COMM_all_reduce},
        {"nccl:all_reduce", GT_COMM_all_reduce},
        {"allreduce_coalesced", GT_COMM_all_reduce},
        {"_allgather_base", GT_COMM_all_gather},
        {"all_gather_into_tensor_coalesced", GT_COMM_all_gather},
        {"ALLGATHER", GT_COMM_all_gather},
        {"_reduce_scatter_base", GT_COMM_reduce_scatter},
        {"reduce_scatter_tensor_coalesced", GT_COMM_reduce_scatter},
        {"ncclReduceScatter", GT_COMM_reduce_scatter},
        {"all_to_allv", GT_COMM_all_to_all},
        {"all_to_all_single", GT_COMM_all_to_all},
        {"alltoall_base", GT_COMM_all_to_all},
        {"ncclAlltoAll", GT_COMM_all_to_all},
        {"broadcast", GT_COMM_broadcast},
        {"ncclBcast", GT_COMM_broadcast},
        {"ncclReduce", GT_COMM_reduce},
        {"gather", GT_COMM_gather},
        {"scatter", GT_COMM_scatter},
        {"barrier", GT_COMM_barrier},
        {"send", GT_COMM_send},
        {"ncclRecv", GT_COMM_recv},
        {"recvAnySource", GT_COMM_recv},
        {"wait", GT_COMM_OTHER},
        {"", GT_COMM_OTHER},
        {"nccl", GT_COMM_OTHER},
        {"ncclCommInitRank", GT_COMM_OTHER},
        {"_base_base", GT_COMM_OTHER},
        {"allreduceallreduceallreduceallreduceallreduceallreduceallreduceallreduce", GT_COMM_OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (gt_comms_op_of_name(gt_str_of(cases[i].name)) != cases[i].op)
            fail_msg("'%s' is something else", cases[i].name);
    assert_string_equal(gt_comms_op_key(GT_COMM_reduce_scatter), "reduce_scatter");
    assert_null(gt_comms_op_key(GT_COMM_OTHER));
    assert_int_equal(gt_comms_op_kind(GT_COMM_barrier), GT_COMM_KIND_SYNC);
    assert_int_equal(gt_comms_op_kind(GT_COMM_scatter), GT_COMM_KIND_DIRECTED);
    assert_int_equal(gt_comms_op_kind(GT_COMM_recv), GT_COMM_KIND_MESSAGE);
}

static void names_of_kernels_say_how_they_communicate(void **state) {
    (void)state;
    static const struct {
        const char *name, *algorithm, *protocol;
    } cases[] = {
        {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "Ring", "LL"},
        {"ncclDevKernel_AllReduce_Sum_f32_TREE_LL128", "Tree", "LL128"},
        {"ncclDevKernel_AllReduce_Sum_f32_COLLNET_DIRECT_SIMPLE", "CollnetDirect", "Simple"},
        {"ncclDevKernel_AllReduce_Sum_f32_NVLS_TREE_SIMPLE", "NVLSTree", "Simple"},
        {"ncclDevKernel_AllGather_NVLS_SIMPLE", "NVLS", "Simple"},
        {"ncclDevKernel_ReduceScatter_Sum_f16_PAT_SIMPLE", "PAT", "Simple"},
        {"ncclKernel_AllReduce_RING_LL_Sum_float", "Ring", "LL"},
        {"ncclKernel_AllGather_COLLNET_CHAIN_SIMPLE_Sum_int8_t", "CollnetChain", "Simple"},
        {"ncclAllReduceRingLLKernel_sum_f32", "Ring", "LL"},
        {"ncclAllReduceTreeLL128Kernel_sum_f16", "Tree", "LL128"},
        {"ncclAllReduceRingSimpleKernel_sum_f16", "Ring", "Simple"},
        {"ncclDevKernel_SendRecv", NULL, NULL},
        {"ncclDevKernel_Generic", NULL, NULL},
        {"ncclDevKernel_Generic_4", NULL, NULL},
        {"ncclSymkDevKernel_AllReduce_AGxLL_R_sum_f32", NULL, NULL},
        {"void cross_device_reduce_RING_LL", NULL, NULL},
        {"nccl", NULL, NULL},
        {"Kernel", NULL, NULL},
        {"", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *algorithm, *protocol;
        gt_nccl_name_read(gt_str_of(cases[i].name), &algorithm, &protocol);
        if (!algorithm != !cases[i].algorithm || (algorithm && strcmp(algorithm, cases[i].algorithm) != 0))
            fail_msg("%s has algorithm %s", cases[i].name, algorithm ? algorithm : "none");
        if (!protocol != !cases[i].protocol || (protocol && strcmp(protocol, cases[i].protocol) != 0))
            fail_msg("%s has protocol %s", cases[i].name, protocol ? protocol : "none");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_have_one_name_each),
        cmocka_unit_test(names_of_kernels_say_how_they_communicate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
