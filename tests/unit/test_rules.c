/* Rules of users: regular expressions, maps of substrings and built-in engines; errors in a file are reported. */
#include "small_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "label/rules.h"

static const char *file_of(const char *text) {
    static char path[] = "/tmp/test_classify_XXXXXX";
    strcpy(path + strlen(path) - 6, "XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

static enum gt_status rules_of(const char *text, const char *suffix, bool is_map, struct gt_rules **rules,
                               struct gt_error *err) {
    char names[128];
    const char *path = file_of(text), *engine = NULL, *model = NULL;
    snprintf(names, sizeof names, "%s", suffix);
    if (*suffix) {
        char *comma = strrchr(names, ',');
        model = comma + 1;
        *comma = '\0';
        engine = *names ? names + 1 : NULL;
    }
    *err = (struct gt_error){0};
    struct gt_rules_request request = {.path = is_map ? NULL : path, .engine = engine, .model = model};
    request.map = is_map ? path : NULL;
    enum gt_status status = gt_rules_new(&request, rules, err);
    unlink(path);
    return status;
}

static void label_with(struct small_trace *trace, const struct gt_rules *rules) {
    struct gt_error err = {0};
    assert_int_equal(gt_store_seal(&trace->builder, 1, &trace->store, &err), GT_OK);
    assert_int_equal(gt_label_new_by_rules(trace->store, rules, 1, &trace->labels, &err), GT_OK);
}

static void assert_op(const struct small_trace *trace, uint32_t op, const char *key, enum gt_class time_class) {
    assert_string_equal(trace->labels->categories[trace->labels->op_category[op]].key, key);
    assert_int_equal(class_of(trace->labels, op), time_class);
}

/* The category is the user's, the kind of time is not. */
static void user_rules_leave_the_accounting_alone(void **unused) {
    (void)unused;
    struct gt_rules *rules;
    struct gt_error err;
    assert_int_equal(
        rules_of("{\"e\": {\"m\": {\n// first match wins\n\"ge+mm\": \"product\", \"gemm|nccl\": \"rest\",\n"
                 "\"CUDA mem\": \"moves\",}}}",
                 ",e,m", false, &rules, &err),
        GT_OK);
    struct small_trace trace;
    trace_begin(&trace);
    add_op(&trace, 1, 0, 7, 0, 1, 1, "sgemm");
    add_op(&trace, 1, 0, 7, 1, 2, 2, "ncclAllReduce");
    add_op(&trace, 1, 0, 7, 2, 3, 3, "nccl_gemm");
    add_kind(&trace, GT_OP_MEMCPY, 1, 0, 7, 3, 4, 4, "Memcpy HtoD (Pinned -> Device)");
    add_kind(&trace, GT_OP_MEMSET, 1, 0, 7, 4, 5, 5, "Memset (Device)");
    add_op(&trace, 1, 0, 7, 5, 6, 6, "GEMM");
    label_with(&trace, rules);
    assert_op(&trace, 0, "product", GT_CLASS_COMPUTE);
    assert_op(&trace, 1, "rest", GT_CLASS_COMM);
    assert_op(&trace, 2, "product", GT_CLASS_COMM);
    assert_op(&trace, 3, "moves", GT_CLASS_MEMORY);
    assert_op(&trace, 4, "moves", GT_CLASS_MEMORY);
    assert_op(&trace, 5, "misc", GT_CLASS_COMPUTE);
    const struct gt_name_reason *reason = trace.labels->name_reason[trace.store->ops.name[1]];
    assert_string_equal(reason->source, "e/m");
    assert_int_equal(reason->rule, 2);
    assert_string_equal(reason->collective, "all_reduce");
    trace_free(&trace);
    gt_rules_free(rules);
}

static void maps_of_substrings(void **unused) {
    (void)unused;
    static const char *const maps[] = {
        "{\"Attn\": [\"FLASH\", \"fmha\"], \"mm\": [\"gemm\"], \"moe\": [\"moe_gemm\"]}",
        "{\"kernel_to_class_map\": {\"flash\": \"Attn\", \"gemm\": \"mm\", \"moe_gemm\": \"moe\"}, \"inputs\": []}",
    };
    for (size_t m = 0; m < 2; m++) {
        struct gt_rules *rules;
        struct gt_error err;
        assert_int_equal(rules_of(maps[m], "", true, &rules, &err), GT_OK);
        struct small_trace trace;
        trace_begin(&trace);
        add_op(&trace, 1, 0, 7, 0, 1, 1, "Flash_gemm");
        add_op(&trace, 1, 0, 7, 1, 2, 2, "fused_moe_gemm"); /* the longer of two that contain each other */
        add_op(&trace, 1, 0, 7, 2, 3, 3, "ncclGemm");
        add_op(&trace, 1, 0, 7, 3, 4, 4, "norm");
        add_kind(&trace, GT_OP_MEMSET, 1, 0, 7, 4, 5, 5, "gemm");
        label_with(&trace, rules);
        assert_op(&trace, 0, "Attn", GT_CLASS_COMPUTE);
        assert_op(&trace, 1, "moe", GT_CLASS_COMPUTE);
        assert_op(&trace, 2, "nccl", GT_CLASS_COMM);
        assert_op(&trace, 3, "others", GT_CLASS_COMPUTE);
        assert_op(&trace, 4, "memset", GT_CLASS_MEMORY);
        trace_free(&trace);
        gt_rules_free(rules);
    }
}

/* A repeated key keeps its place and takes the last value, as Python reads it. */
static void maps_in_memory(void **unused) {
    (void)unused;
    static const struct gt_class_key keys[] = {
        {"gemm", "Gemm"}, {"soft", "S"}, {"FP8_gemm", "FP8"}, {"softmax", "S"}, {"x", "Gemm"}};
    static const char *const classes[] = {"others", "Gemm", "S", "FP8"};
    struct gt_rules *rules;
    struct gt_error err = {0};
    assert_int_equal(gt_rules_new_map(keys, 5, &rules, &err), GT_OK);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(gt_rules_class(rules, i), classes[i]);
    assert_null(gt_rules_class(rules, 4));
    struct gt_rules_answer answer = gt_rules_ask(rules, GT_STR("a_Fp8_Gemm"));
    assert_string_equal(answer.category, "FP8");
    assert_int_equal(answer.rule, 3);
    assert_string_equal(answer.pattern.ptr, "FP8_gemm");
    assert_string_equal(answer.shorter.ptr, "gemm");
    answer = gt_rules_ask(rules, GT_STR("softgemm"));
    assert_string_equal(answer.category, "Gemm");
    assert_int_equal(answer.shorter.len, 0);
    answer = gt_rules_ask(rules, GT_STR("nothing"));
    assert_string_equal(answer.category, "others");
    assert_int_equal(answer.rule, 0);
    assert_int_equal(answer.pattern.len + answer.shorter.len, 0);
    gt_rules_free(rules);
    assert_int_equal(gt_rules_new_map(&(struct gt_class_key){"", "Gemm"}, 1, &rules, &err), GT_ERR_USAGE);
    assert_null(rules);
}

static void repeated_rules(void **unused) {
    (void)unused;
    struct gt_rules *rules;
    struct gt_error err;
    assert_int_equal(rules_of("{\"a\": \"first\", \"b\": \"second\", \"a\": \"third\"}", "", false, &rules, &err),
                     GT_OK);
    assert_string_equal(gt_rules_ask(rules, GT_STR("xab")).category, "third");
    assert_int_equal(gt_rules_ask(rules, GT_STR("xab")).rule, 1);
    assert_string_equal(gt_rules_ask(rules, GT_STR("b")).category, "second");
    gt_rules_free(rules);
}

static void builtin_engines(void **unused) {
    (void)unused;
    static const struct gt_rules_request engines[] = {
        {.engine = "vllm", .model = "llama"},   {.engine = "vllm", .model = "ds"},
        {.engine = "vllm", .model = "gpt-oss"}, {.engine = "sglang", .model = "llama"},
        {.engine = "sglang", .model = "ds"},    {.engine = "sglang", .model = "gpt-oss"},
    };
    static const struct {
        const char *name, *category;
    } cases[] = {
        {"nvjet_sm90_tst_128x128_64x6_1x2_h_bz_NTT", "gemm"},
        {"fused_moe_kernel", "moe_gemm"},
        {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(int)", "nccl_and_custom_ar"},
        {"void fastertransformer::generalRmsNorm<__half2, false>(int)", "norm"},
        {"void flash::flash_fwd_kernel<int>(int)", "attn"},
        {"void vllm::rotary_embedding_kernel<c10::BFloat16, true>(int)", "misc"},
        {"void vllm::act_and_mul_kernel<c10::BFloat16>(int)", "activation"},
        {"[CUDA memcpy Host-to-Device]", "non-gpu-H_D_memops"},
        {"void vllm::moe::topkGatingSoftmax<8>(int)", "moe"},
        {"triton_poi_fused_mul_sigmoid_1", "moe"},
        {"void at::native::elementwise_kernel<128, 2>(int)", "elementwise"},
        {"void at::native::reduce_kernel<512, 1>(int)", "reduce"},
        {"whatever", "misc"},
    };
    for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
        struct gt_rules *rules;
        struct gt_error err = {0};
        if (gt_rules_new(&engines[e], &rules, &err) != GT_OK)
            fail_msg("%s", err.message);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const char *category = gt_rules_ask(rules, gt_str_of(cases[i].name)).category;
            if (strcmp(category, cases[i].category) != 0)
                fail_msg("%s,%s: '%s' is %s, not %s", engines[e].engine, engines[e].model, cases[i].name, category,
                         cases[i].category);
        }
        gt_rules_free(rules);
    }
}

static void bad_rules(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *suffix;
        bool is_map;
        const char *message[3];
    } cases[] = {
        {"{\"e\": {\"m\": {\n \"a\": \"x\",\n \"gemm(\": \"y\"}}}",
         ",e,m",
         false,
         {"engine 'e', model 'm', line 3, column 2", "bad pattern 'gemm('", "offset 5"}},
        {"{\"e\": {\"m\": {\"a\": 3}}}", ",e,m", false, {"line 1", "the category of 'a' must be a string", ""}},
        {"{\"e\": {\"m\": {}, \"n\": {}}}", ",e,x", false, {"no model 'x' of engine 'e'", "e: m, n", ""}},
        {"{\"e\": {\"m\": {}, \"n\": {}}}", "", false, {"several models", "e: m, n", ""}},
        {"{\"e\": {\"m\": 1}}",
         ",e,m",
         false,
         {"line 1, column 8", "a model must be an object of rules, not a number", ""}},
        {"[1]", "", false, {"rules must be an object", "not an array", ""}},
        {"{\"a\": ", "", false, {"line 1, column 7", "expected a value", "found the end of the file"}},
        {"{\"a\": {\"b\": 1}}", "", true, {"line 1, column 2", "a class with a list of substrings", "not an object"}},
        {"{\"a\": [1]}", "", true, {"a substring must be a string, not a number", "", ""}},
        {"{\"a\": [\"\"]}", "", true, {"category 'a' has an empty pattern", "", ""}},
        {"{}", ",e", false, {"both the engine and the model", "", ""}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gt_rules *rules;
        struct gt_error err;
        assert_int_not_equal(rules_of(cases[i].text, cases[i].suffix, cases[i].is_map, &rules, &err), GT_OK);
        assert_null(rules);
        for (size_t m = 0; m < 3; m++)
            if (!strstr(err.message, cases[i].message[m]))
                fail_msg("'%s' lacks '%s'", err.message, cases[i].message[m]);
    }
    struct gt_rules *rules;
    struct gt_error err = {0};
    struct gt_rules_request both = {.engine = "vllm", .model = "llama", .map = "map.json"};
    struct gt_rules_request unknown = {.engine = "vllm", .model = "nothing"};
    struct gt_rules_request absent = {.path = "/nowhere/at/all.json"}, none = {0};
    assert_int_equal(gt_rules_new(&both, &rules, &err), GT_ERR_USAGE);
    assert_int_equal(gt_rules_new(&unknown, &rules, &err), GT_ERR_USAGE);
    assert_non_null(strstr(err.message, "vllm: llama, ds, gpt-oss; sglang: llama, ds, gpt-oss"));
    assert_int_equal(gt_rules_new(&absent, &rules, &err), GT_ERR);
    assert_int_equal(gt_rules_new(&none, &rules, &err), GT_OK);
    assert_null(rules);
}

int main(void) {
    unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", "/nonexistent", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(user_rules_leave_the_accounting_alone),
        cmocka_unit_test(maps_of_substrings),
        cmocka_unit_test(maps_in_memory),
        cmocka_unit_test(repeated_rules),
        cmocka_unit_test(builtin_engines),
        cmocka_unit_test(bad_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
