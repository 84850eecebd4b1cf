/* Simplified kernel names: every form that profilers write, and text that is no signature at all. */
#include <stdlib.h>

#include "base/mem.h"
#include "small_trace.h"

static void assert_simple(const char *full, const char *expected) {
    struct gt_str text = gt_str_of(full);
    struct gt_str name = gt_label_simplify_name(text);
    if (!gt_str_eq(name, gt_str_of(expected)))
        fail_msg("'%s' became '%.*s', not '%s'", full, (int)name.len, name.ptr, expected);
    assert_true(name.ptr >= text.ptr && name.ptr + name.len <= text.ptr + text.len);
}

static void signatures(void **unused) {
    (void)unused;
    static const struct {
        const char *full, *expected;
    } cases[] = {
        {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, std::array<char*, 1>>(int, "
         "at::native::FillFunctor<int>, std::array<char*, 1>)",
         "vectorized_elementwise_kernel"},
        {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous "
         "namespace)::OpaqueType<2u>, unsigned int, 4, 64, 64>(at::native::(anonymous namespace)::OpaqueType<2u>*)",
         "CatArrayBatchedCopy"},
        {"void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false>, true>(Flash_fwd_params)",
         "flash_fwd_splitkv_kernel"},
        {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
         "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"},
        {"add_one(const float *, float *, int)", "add_one"},
        {"tiny()", "tiny"},
        {"ns::f(int)", "f"},
        {"ns::f", "f"},
        {"void f", "f"},
        /* anonymous namespaces as Nsight writes them, lambdas in arguments */
        {"stream_executor::gpu::<unnamed>::DelayKernel(volatile int *)", "DelayKernel"},
        {"void <unnamed>::elementwise_kernel_with_index<int, at::native::arange_cuda_out(const c10::Scalar "
         "&)::[lambda() "
         "(instance 1)]::operator ()() const::[lambda(long) (instance 1)]>(T1, T2)",
         "elementwise_kernel_with_index"},
        {"void (anonymous namespace)::elementwise_kernel_with_index<int, "
         "at::native::arange_cuda_out(c10::Scalar const&)::{lambda()#1}::operator()() const::{lambda(long)#1}>(int)",
         "elementwise_kernel_with_index"},
        /* return types */
        {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, 7, cublasGemvParams<float const> >(float)",
         "kernel"},
        {"std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
         "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)",
         "fused_add_rms_norm_kernel"},
        {"unsigned long long const* ns::f<3>(int)", "f"},
        {"float *f(int)", "f"},
        {"decltype(auto) ns::f<int>(int)", "f"},
        {"std::pair<int, std::pair<int, int> > f<(1 > 0), 2>(int)", "f"},
        /* members, operators, lambdas */
        {"void ns::Class<int>::method<float>(int) const", "method"},
        {"void ns::Class::method(int) const &", "method"},
        {"void f<int>(int) noexcept", "f"},
        {"void ns::Functor<int>::operator()(int) const", "Functor"},
        {"void ns::Functor::operator ()<float>(int) const", "Functor"},
        {"void ns::operator<< <int>(std::ostream&)", "operator<<"},
        {"bool ns::operator<(int, int)", "operator<"},
        {"bool ns::operator-><int>(int)", "operator->"},
        {"void f<&ns::operator< >(int)", "f"},
        {"void f<ns::operator>(int, int)>(int)", "f"},
        {"void run(int)::{lambda(int)#1}::operator()(int) const", "run"},
        {"void ns::run<int>(int)::{lambda(int)#1}", "run"},
        {"void operatorial(int)", "operatorial"},
        {"void my_operator<int>(int)", "my_operator"},
        {"f[abi:cxx11](int)", "f"},
        /* wrappers */
        {"void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8>(cutlass_80_"
         "wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8::Params)",
         "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8"},
        {"void cutlass::Kernel<cutlass_80_simt_sgemm_128x32_8x5_tn_align1>(T1::Params)",
         "cutlass_80_simt_sgemm_128x32_8x5_tn_align1"},
        {"void cutlass_cudnn_infer::Kernel<ns::cutlass_tensorop_s1688>(ns::cutlass_tensorop_s1688::Params)",
         "cutlass_tensorop_s1688"},
        {"void cutlass::device_kernel<my_gemm >(my_gemm::Params)", "my_gemm"},
        {"void cutlass::device_kernel<flash::Fwd<int, 3> >(flash::Fwd<int, 3>::Params)", "device_kernel"},
        {"void cutlass::Kernel<a, b>(int)", "Kernel"},
        {"void cutlass::Kernel<128>(int)", "Kernel"},
        {"void mine::Kernel<float>(int)", "Kernel"},
        {"void fill<float>(int)", "fill"},
        {"void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<ck_tile::Pipeline<float>>>(T1)", "FmhaFwdKernel"},
        {"void ck_tile::kentry<1, ck_tile::MoeSortingKernel<int>, int>(int)", "MoeSortingKernel"},
        {"void ck_tile::kentry<1>(int)", "kentry"},
        {"void ck_tile::kentry<1, ck_tile::>(int)", "kentry"},
        {"void mine::kentry<1, ck_tile::Fwd<int>>(int)", "kentry"},
        /* copies of functions, AMD */
        {"void ns::f<int>(int) [clone .kd]", "f"},
        {"void ns::f<int>(int) [clone .isra.0] [clone .kd]", "f"},
        {"void ns::f<int>(int) (.isra.0)", "f"},
        {"attn_fwd.kd", "attn_fwd"},
        {"void f<void (...)>(int)", "f"},
        /* cut off */
        {"void at::native::elementwise_kernel<128, at::native::gpu_ker", "elementwise_kernel"},
        {"void at::native::(anonymous name", "void at::native::(anonymous name"},
        {"void f(int, std::pair<i", "f"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_simple(cases[i].full, cases[i].expected);
}

static void whole_names(void **unused) {
    (void)unused;
    static const char *const names[] = {
        "",
        " ",
        "triton_poi_fused_add_mul_3",
        "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT",
        "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT32x32x64",
        "_Z",
        "_ZN",
        "_ZTV6Vector",                        /* no function */
        "_ZN5aiter50fmoe_bf16_g1u1_vs_siluE", /* a length that is wrong */
        "_ZN2ns7kernel",                      /* cut off in its own name */
        "_Z99999999999999999999f",
        "_Zebra",
        "Memcpy DtoH (Device -> Pageable)",
        "Memcpy HtoD (Pinned -> Device)",
        "Memset (Device)",
        "[CUDA memcpy Host-to-Device]",
        "[CUDA memset]",
        "[CUDA Unified Memory memcpy HtoD]",
        "my favourite kernel",
        "fusion.123",
        "loop_add_fusion",
        "::",
        "(",
        "<>",
        ">>>",
        ".kd",
        "{lambda()#1}",
        "(anonymous namespace)::",
        "operator()",
        "operator",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_simple(names[i], names[i]);
}

static void mangled_names(void **unused) {
    (void)unused;
    static const struct {
        const char *full, *expected;
    } cases[] = {
        {"_Z4gemmPfS_i", "gemm"},
        {"_Z10build_GPU2ILi128ELi4EEvPiS0_S0_iii", "build_GPU2"},
        {"_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdI3intEEJEEEvDpT1_", "Rmsnorm2dFwd"},
        {"_ZN7ck_tile6kentryILi256ELi2ENS_13FmhaFwdKernelINS_8PipelineIfEEEEJS3_EEEvDpT1_", "FmhaFwdKernel"},
        {"_ZN7ck_tile6kentryILi1EfJEEEvDpT1_", "kentry"},
        {"_ZN4mine6kentryILi1ENS_3FwdEEEvT_", "kentry"},
        {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_",
         "vectorized_elementwise_kernel"},
        {"_ZN2at6native53_GLOBAL__N__00000000_11_Distributions_cu_00000000_00012kernel_of_itIfLi4EEEvT_",
         "kernel_of_it"},
        {"_ZN12_GLOBAL__N_120softmax_warp_forwardIfffLi11ELb0EEEvPT0_PKT_iii", "softmax_warp_forward"},
        {"_ZN2ns5ClassILin3EE6methodIfEEvT_", "method"},
        {"_ZNK2ns5ClassIA8_iE6methodEv", "method"},
        {"_ZN2ns5ClassILNS_4EnumE3EE6methodEv", "method"},
        {"_ZN2ns5ClassIXadL_ZNS_3fooEvEEE6methodEv", "method"},
        {"_ZN2ns5ClassIDF16_Dv4_fEC1Ev", "Class"},
        {"_ZN2ns7FunctorIiEclEi", "Functor"},
        {"_ZZN2ns3runIiEEvT_ENKUliE_clEi", "run"},
        {"_ZN2ns5ApplyIZNS_3runEvEUlvE0_E2goEv", "go"},
        {"_ZL6helperPf", "helper"},
        {"_ZSt4swapIiEvRT_S1_", "swap"},
        {"_ZN2ns1fB5cxx11Ei", "f"},
        {"_Z8attn_fwdPf.kd", "attn_fwd"},
        /* cut off */
        {"_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdE", "Rmsnorm2dFwd"},
        {"_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_4Pipe", "Rmsnorm2dFwd"},
        {"_ZN7ck_tile6kentryILi1ENS_12Rmsno", "kentry"},
        {"_ZN7ck_tile6kentryIL", "kentry"},
        /* wrappers */
        {"_ZN7cutlass7Kernel2I42cutlass_80_simt_sgemm_128x32_8x5_tn_align1EEvNT_6ParamsE",
         "cutlass_80_simt_sgemm_128x32_8x5_tn_align1"},
        {"_ZN7cutlass13device_kernelIN5flash3FwdIiEEEEvNT_6ParamsE", "device_kernel"},
        {"_ZN4mine6KernelI3abcEEvT_", "Kernel"},
        {"_ZN7cutlass7Kernel2I99abcE", "Kernel2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_simple(cases[i].full, cases[i].expected);
}

/* Any text after _Z: a part of it, in time that grows with it. */
static void hostile_mangled_names(void **unused) {
    (void)unused;
    static const char alphabet[] = "NIEJXLFZSTUDAPKlt_0123456789abC";
    uint64_t state = 7;
    for (int round = 0; round < 200000; round++) {
        size_t length = 2 + (size_t)(state >> 59);
        char *text = malloc(length); /* exact, so that reading past the end is noticed */
        memcpy(text, "_Z", 2);
        for (size_t i = 2; i < length; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            text[i] = alphabet[(state >> 40) % (sizeof alphabet - 1)];
        }
        state = state * 6364136223846793005u + 1442695040888963407u;
        struct gt_str name = gt_label_simplify_name((struct gt_str){text, length});
        assert_true(name.len > 0 && name.ptr >= text && name.ptr + name.len <= text + length);
        free(text);
    }
    static const char *const units[] = {"N", "I", "1a", "L", "Ul", "9", "NE", "1aI", "1aIE", "Z", "S_", "1aILi1"};
    size_t size = 1 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        memcpy(text, "_ZN", 3);
        for (size_t i = 3; i < size; i++)
            text[i] = units[u][(i - 3) % strlen(units[u])];
        struct gt_str name = gt_label_simplify_name((struct gt_str){text, size});
        assert_true(name.len > 0 && name.ptr >= text && name.ptr + name.len <= text + size);
    }
    free(text);
}

/* A name of a megabyte takes a moment, not minutes, whatever its brackets. */
static void hostile_nesting(void **unused) {
    (void)unused;
    static const char *const units[] = {
        "<", "(", "<(", "f<", "f<a::", "(a<b", "::", " ", "operator<", "{[", "<>", "a<)", "x ("};
    size_t size = 1 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        size_t unit = strlen(units[u]);
        for (size_t i = 0; i < size; i++)
            text[i] = units[u][i % unit];
        struct gt_str name = gt_label_simplify_name((struct gt_str){text, size});
        assert_true(name.len > 0 && name.ptr >= text && name.ptr + name.len <= text + size);
    }
    free(text);
}

/* Random strings of the characters that matter: a part of the input, never empty, and simplifying ends there. */
static void random_text(void **unused) {
    (void)unused;
    static const char alphabet[] = "ab:<>(){}[] *&.,#1~-";
    uint64_t state = 42;
    for (int round = 0; round < 200000; round++) {
        char *text = malloc(24); /* exact, so that reading past the end is noticed */
        size_t length = 0;
        state = state * 6364136223846793005u + 1442695040888963407u;
        for (uint64_t bits = state; length < (state >> 58) % 25; length++, bits = bits * 6364136223846793005u + 1)
            text[length] = alphabet[(bits >> 40) % (sizeof alphabet - 1)];
        char *exact = gt_mem_alloc(length);
        if (length)
            memcpy(exact, text, length);
        struct gt_str name = gt_label_simplify_name((struct gt_str){exact, length});
        assert_true((name.len > 0) == (length > 0));
        assert_true(name.ptr >= exact && name.ptr + name.len <= exact + length);
        gt_mem_free(exact);
        free(text);
    }
}

/* Only names of ops are simplified; equal results share an id. */
static void pass_over_a_store(void **unused) {
    (void)unused;
    struct small_trace trace;
    trace_begin(&trace);
    add_op(&trace, 1, 0, 7, 0, 10, 1, "void ns::f<int>(int)");
    add_op(&trace, 1, 0, 7, 10, 20, 2, "void ns::f<float>(float)");
    add_op(&trace, 1, 0, 7, 20, 30, 3, "g");
    add_op(&trace, 1, 0, 7, 30, 40, 4, "");
    add_range(&trace, GT_RANGE_NESTED, 1, 1, 0, 100, "ns::range(1)");
    trace_end(&trace);
    const struct gt_labels *labels = trace.labels;
    const gt_strid *names = trace.store->ops.name;
    assert_true(gt_str_eq(gt_labels_short_name(labels, names[0]), GT_STR("f")));
    assert_int_equal(labels->short_name[names[0]], labels->short_name[names[1]]);
    assert_true(gt_str_eq(gt_labels_short_name(labels, names[2]), GT_STR("g")));
    assert_true(gt_str_eq(gt_labels_short_name(labels, names[3]), GT_STR("")));
    assert_int_equal(labels->short_name[trace.store->ranges.name[0]], GT_STRID_EMPTY);
    assert_int_equal(labels->short_names.count, 3);
    trace_free(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signatures),        cmocka_unit_test(whole_names),
        cmocka_unit_test(mangled_names),     cmocka_unit_test(hostile_mangled_names),
        cmocka_unit_test(hostile_nesting),   cmocka_unit_test(random_text),
        cmocka_unit_test(pass_over_a_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
