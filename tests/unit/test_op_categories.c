/* Categories of ops: their kind comes before their name, and every answer has a reason. */
#include "small_trace.h"

#include "label/builtin.h"

static const char *category_of(enum gt_op_kind kind, const char *name, enum gt_class *time_class) {
    struct small_trace trace;
    trace_begin(&trace);
    add_kind(&trace, kind, 1, 0, 7, 0, 10, 1, name);
    trace_end(&trace);
    const char *key = trace.labels->categories[trace.labels->op_category[0]].key;
    *time_class = class_of(trace.labels, 0);
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
        {GT_OP_KERNEL, "sgemm", "gemm", GT_CLASS_COMPUTE},
        {GT_OP_KERNEL, "", "other", GT_CLASS_COMPUTE},
        {GT_OP_KERNEL, "ncclDevKernel_SendRecv(int)", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "void NCCL<int>()", "comm", GT_CLASS_COMM},
        {GT_OP_KERNEL, "triton_red_fused_all_reduce_mean_3", "reduction", GT_CLASS_COMPUTE},
        {GT_OP_KERNEL, "Triton_poi_fused_allgather", "elementwise", GT_CLASS_COMPUTE},
        {GT_OP_KERNEL, "my_triton_all_reduce", "comm", GT_CLASS_COMM},
        {GT_OP_MEMCPY, "Memcpy DtoD (Device -> Device)", "memcpy_d2d", GT_CLASS_MEMORY},
        {GT_OP_MEMCPY, "Memcpy HtoD (Pinned -> Device)", "memcpy_h2d", GT_CLASS_MEMORY},
        {GT_OP_MEMCPY, "Memcpy DtoH (Device -> Pageable)", "memcpy_d2h", GT_CLASS_MEMORY},
        {GT_OP_MEMCPY, "[CUDA memcpy Host-to-Device]", "memcpy_h2d", GT_CLASS_MEMORY},
        {GT_OP_MEMCPY, "[CUDA memcpy Device-to-Host]", "memcpy_d2h", GT_CLASS_MEMORY},
        {GT_OP_MEMCPY, "[CUDA memcpy Device-to-Device]", "memcpy_d2d", GT_CLASS_MEMORY},
        {GT_OP_MEMCPY, "[CUDA memcpy Peer-to-Peer]", "memcpy_p2p", GT_CLASS_MEMORY},
        {GT_OP_MEMCPY, "[CUDA memcpy Host-to-Array]", "memcpy_h2d", GT_CLASS_MEMORY},
        {GT_OP_MEMCPY, "[CUDA memcpy Array-to-Host]", "memcpy_d2h", GT_CLASS_MEMORY},
        {GT_OP_MEMCPY, "CopyDeviceToHost", "memcpy_d2h", GT_CLASS_MEMORY},
        {GT_OP_MEMCPY, "nccl copy", "memcpy", GT_CLASS_MEMORY},
        {GT_OP_MEMCPY, "[CUDA memcpy Host-to-Host]", "memcpy", GT_CLASS_MEMORY},
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
    add_kind(&trace, GT_OP_KERNEL, 1, 0, 7, 3, 4, 4, "sgemm");
    trace_end(&trace);
    assert_int_equal(class_of(trace.labels, 0), GT_CLASS_COMM);
    assert_int_equal(class_of(trace.labels, 1), GT_CLASS_MEMORY);
    assert_int_equal(class_of(trace.labels, 2), GT_CLASS_COMM);
    assert_int_equal(class_of(trace.labels, 3), GT_CLASS_COMPUTE);
    trace_free(&trace);
}

/* Two names with one simplified name: the rules must look at each in its own text. */
static void short_names_are_shared(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_op(&trace, 1, 0, 7, 0, 1, 1, "void a::rope<int>(int)");
    add_op(&trace, 1, 0, 7, 1, 2, 2, "void bb::cc::rope<float, float, float>(float)");
    trace_end(&trace);
    for (uint32_t op = 0; op < 2; op++)
        assert_string_equal(trace.labels->categories[trace.labels->op_category[op]].key, "rope");
    trace_free(&trace);
}

static void answers_have_reasons(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_op(&trace, 1, 0, 7, 0, 1, 1, "nvjet_sm90_tst");
    add_op(&trace, 1, 0, 7, 1, 2, 2, "nobody_knows");
    add_op(&trace, 1, 0, 7, 2, 3, 3, "ncclDevKernel_AllGather");
    trace_end(&trace);
    const gt_strid *names = trace.store->ops.name;
    const struct gt_name_reason *product = trace.labels->name_reason[names[0]];
    assert_string_equal(product->source, "builtin");
    assert_true(gt_str_eq(product->pattern, GT_STR("nvjet")));
    bool is_listed = false;
    for (size_t i = 0; i < gt_builtin_rule_count; i++)
        is_listed |= gt_builtin_rules[i].line == product->rule && strstr(gt_builtin_rules[i].patterns, "nvjet");
    assert_true(is_listed);
    assert_null(trace.labels->name_reason[names[1]]->source);
    assert_string_equal(trace.labels->name_reason[names[2]]->collective, "all_gather");
    trace_free(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_and_names),
        cmocka_unit_test(kind_comes_before_name),
        cmocka_unit_test(short_names_are_shared),
        cmocka_unit_test(answers_have_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
