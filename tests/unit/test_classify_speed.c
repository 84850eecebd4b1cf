/* 10,000 different names get their categories in under 50 ms, by whichever rules: names are matched, events are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <time.h>

#include "events/builder.h"
#include "label/label.h"
#include "label/rules.h"

enum { NAMES = 10000, OPS_OF_A_NAME = 10, TRIES = 7, MOST_MS = 50 };

/* Sanitizers and builds for debugging have other speeds. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define IS_TIMED 0
#else
#define IS_TIMED 1
#endif

static struct gt_store *store;

static int make_store(void **state) {
    static const char *const formats[] = {
        ("void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, "
         "at::native::Functor%zu>, std::array<char*, 3>>(int, T1, T2)"),
        "nvjet_sm90_tst_%zux128_64x4_1x2_h_bz_coopA_TNT",
        "triton_poi_fused_add_mul_sigmoid_%zu",
        "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_%zux2_tn_align8>(T1::Params)",
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<%zuul>)",
        "a_kernel_that_no_rule_knows_%zu<int, float>(int*)",
        "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT%zux16x64_MI16x16x1_SN_LDSB0_AFC1_AFEM1_ASEM1_CLR0_CADS0",
    };
    struct gt_builder builder;
    struct gt_error err = {0};
    (void)state;
    if (gt_builder_init(&builder, "test", &err) != GT_OK)
        return -1;
    gt_builder_begin(&builder, 0);
    uint32_t lane = gt_builder_lane(&builder, GT_NO_TRACK, 0, 7);
    for (size_t i = 0; i < (size_t)NAMES * OPS_OF_A_NAME; i++) {
        char name[512];
        size_t number = i % NAMES;
        snprintf(name, sizeof name, formats[number % (sizeof formats / sizeof *formats)], number);
        struct gt_ops_row op = {.start_ns = (int64_t)i * 10,
                                .end_ns = (int64_t)i * 10 + 5,
                                .name = gt_builder_string(&builder, gt_str_of(name)),
                                .lane = lane,
                                .kind = GT_OP_KERNEL};
        gt_builder_op(&builder, &op);
    }
    return gt_store_seal(&builder, 1, &store, &err) == GT_OK ? 0 : -1;
}

static int free_store(void **state) {
    (void)state;
    gt_store_free(store);
    return 0;
}

/* Of this process alone, so that other work of the machine does not count. */
static double cpu_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Rules of an engine, those of a map, or the built-in ones. */
static void measure(const char *engine, const char *model, const struct gt_class_key *keys, size_t key_count) {
    struct gt_rules_request request = {.engine = engine, .model = model};
    double best_ms = 1e9;
    for (int i = 0; i < TRIES; i++) {
        struct gt_rules *rules;
        struct gt_labels *labels;
        struct gt_error err = {0};
        double begin_ms = cpu_ms();
        assert_int_equal(keys ? gt_rules_new_map(keys, key_count, &rules, &err) : gt_rules_new(&request, &rules, &err),
                         GT_OK);
        assert_int_equal(gt_label_new_by_rules(store, rules, 1, &labels, &err), GT_OK);
        double ms = cpu_ms() - begin_ms;
        best_ms = ms < best_ms ? ms : best_ms;
        gt_label_free(labels);
        gt_rules_free(rules);
    }
    if (IS_TIMED && best_ms >= MOST_MS)
        fail_msg("%s: %.1f ms", model ? model : keys ? "map" : "built-in", best_ms);
}

static void builtin_rules(void **state) {
    (void)state;
    measure(NULL, NULL, NULL, 0);
}

static void engines(void **state) {
    (void)state;
    measure("vllm", "llama", NULL, 0);
    measure("sglang", "ds", NULL, 0);
    measure("vllm", "gpt-oss", NULL, 0);
}

/* As long as maps get: a key or two for each kind of kernel. */
static void maps(void **state) {
    static const struct gt_class_key keys[] = {
        {"gemm_e4m3", "fp8_gemm"}, {"gemm_e5m2", "fp8_gemm"},  {"xmma_gemm", "gemm"},    {"s16816gemm", "gemm"},
        {"nvjet", "gemm"},         {"cijk_", "gemm"},          {"ln_", "layernorm"},     {"rmsnorm", "layernorm"},
        {"softmax", "softmax"},    {"gelu", "gelu"},           {"fusion", "fusion"},     {"convert", "convert"},
        {"_fmha_", "attention"},   {"flash_", "attention"},    {"sdpa", "attention"},    {"paged", "attention"},
        {"reduce", "reduce"},      {"cast_transpose", "cast"}, {"transpose_", "cast"},   {"catarray", "copy"},
        {"rotary", "rope"},        {"dropout", "dropout"},     {"multi_tensor", "adam"}, {"adam", "adam"},
        {"embedding", "index"},    {"gather", "index"},        {"scatter", "index"},     {"topk", "sort"},
        {"radixsort", "sort"},     {"convolution", "conv"},    {"fprop", "conv"},        {"elementwise", "eltwise"},
    };
    (void)state;
    measure(NULL, NULL, keys, sizeof keys / sizeof *keys);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builtin_rules),
        cmocka_unit_test(engines),
        cmocka_unit_test(maps),
    };
    return cmocka_run_group_tests_name("classify_speed", tests, make_store, free_store);
}
