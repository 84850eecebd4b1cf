/* Categories: communication by words in kernel names, copies and graphs by kind. */
#include "small_trace.h"

static const char *category_of(enum gt_op_kind kind, const char *name, enum gt_class *time_class) {
    struct small_trace trace;
    trace_begin(&trace);
    add_kind(&trace, kind, 1, 0, 7, 0, 10, 1, name);
    trace_end(&trace);
    const char *key = trace.labels->categories[trace.labels->op_category[0]].key;
    *time_class = gt_labels_class(trace.labels, 0);
    trace_free(&trace);
    return key;
}

static void kinds_and_names(void **unused) {
    (void)unused;
    static const struct {
        enum gt_op_kind kind;
        const char *name, *key;
        enum gt_class time_class;
    } cases[] = {
        {GT_OP_KERNEL, "gemm", "compute", GT_CLASS_COMPUTE},
        {GT_OP_KERNEL, "", "compute", GT_CLASS_COMPUTE},
        {GT_OP_KERNEL, "ncclDevKernel_SendRecv(int)", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "void NCCL<int>()", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "rcclGenericKernel", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "mscclKernel", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "nvshmemi_put", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "deep_ep::intranode::dispatch<8>()", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "DeepEP_combine", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "void vllm::cross_device_reduce_1stage<half, 2>()", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "oneShotAllReduceKernel", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "multimem_all_reduce_kernel", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "AllGather_k", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "all_gather_k", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "ReduceScatter", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "reduce_scatter", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "moeAllToAll", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "all_to_all_v", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "triton_red_fused_all_reduce_mean_3", "compute", GT_CLASS_COMPUTE},
        {GT_OP_KERNEL, "Triton_poi_fused_allgather", "compute", GT_CLASS_COMPUTE},
        {GT_OP_KERNEL, "my_triton_all_reduce", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "triton", "compute", GT_CLASS_COMPUTE},
        {GT_OP_KERNEL, "reduce_kernel", "compute", GT_CLASS_COMPUTE},
        {GT_OP_MEMCPY, "Memcpy DtoD (Device -> Device)", "memcpy", GT_CLASS_MEMORY},
        {GT_OP_MEMCPY, "nccl copy", "memcpy", GT_CLASS_MEMORY},
        {GT_OP_MEMSET, "Memset (Device)", "memset", GT_CLASS_MEMORY},
        {GT_OP_GRAPH, "graph with nccl", "graph", GT_CLASS_COMPUTE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum gt_class time_class;
        const char *key = category_of(cases[i].kind, cases[i].name, &time_class);
        if (strcmp(key, cases[i].key) != 0 || time_class != cases[i].time_class)
            fail_msg("'%s' is %s, not %s", cases[i].name, key, cases[i].key);
    }
}

/* The same name under two kinds: what is known of the kernel must not spill over. */
static void kind_comes_before_name(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_kind(&trace, GT_OP_KERNEL, 1, 0, 7, 0, 1, 1, "nccl");
    add_kind(&trace, GT_OP_MEMSET, 1, 0, 7, 1, 2, 2, "nccl");
    add_kind(&trace, GT_OP_KERNEL, 1, 0, 7, 2, 3, 3, "nccl");
    add_kind(&trace, GT_OP_KERNEL, 1, 0, 7, 3, 4, 4, "gemm");
    trace_end(&trace);
    assert_int_equal(gt_labels_class(trace.labels, 0), GT_CLASS_COMM);
    assert_int_equal(gt_labels_class(trace.labels, 1), GT_CLASS_MEMORY);
    assert_int_equal(gt_labels_class(trace.labels, 2), GT_CLASS_COMM);
    assert_int_equal(gt_labels_class(trace.labels, 3), GT_CLASS_COMPUTE);
    assert_string_equal(gt_categories[0].key, "compute");
    trace_free(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kinds_and_names), cmocka_unit_test(kind_comes_before_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
