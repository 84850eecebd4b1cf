/* What names of kernels and ranges say: element-wise, products, softmax, optimizers. */
#include "measure/findings/traits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "measure/findings/updates.h"

static const struct {
    const char *name, *short_name;
    unsigned traits;
} kernels[] = {
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> "
     ">(int)",
     "vectorized_elementwise_kernel", GT_TRAIT_ELEMENTWISE},
    {"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)>(int)",
     "unrolled_elementwise_kernel", GT_TRAIT_ELEMENTWISE | GT_TRAIT_MOVE},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, std::array<char*, 1ul> >(int)",
     "vectorized_elementwise_kernel", GT_TRAIT_ELEMENTWISE | GT_TRAIT_MOVE},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::addcdiv_cuda_kernel(...)>(int)",
     "vectorized_elementwise_kernel", GT_TRAIT_ELEMENTWISE | GT_TRAIT_UPDATE},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::attention_gate<float> >(int)",
     "vectorized_elementwise_kernel", GT_TRAIT_ELEMENTWISE},
    {"void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<int> >(int)",
     "index_elementwise_kernel", 0},
    {"void elementwise_kernel_with_index<int, arange_cuda_out(...)>(int)", "elementwise_kernel_with_index", 0},
    {"triton_poi_fused_add_mul_elementwise_0", "triton_poi_fused_add_mul_elementwise_0", GT_TRAIT_BETWEEN},
    {"triton_per_fused__softmax_add_1", "triton_per_fused__softmax_add_1", GT_TRAIT_SOFTMAX},
    {"triton_red_fused__log_softmax_2", "triton_red_fused__log_softmax_2", 0},
    {"void softmax_warp_forward<float, float, float, 11, false, false>(int)", "softmax_warp_forward", GT_TRAIT_SOFTMAX},
    {"void cunn_SoftMaxForward<4, float, float, float, SoftMaxForwardEpilogue>(int)", "cunn_SoftMaxForward",
     GT_TRAIT_SOFTMAX},
    {"void cunn_SoftMaxForward<4, float, float, float, LogSoftMaxForwardEpilogue>(int)", "cunn_SoftMaxForward", 0},
    {"void soft_max_f32<true, 32, 32, float>(float const*, float*)", "soft_max_f32", GT_TRAIT_SOFTMAX},
    {"void flash::flash_fwd_kernel<Softmax<4>, gemm<8> >(int)", "flash_fwd_kernel", 0},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT",
     GT_TRAIT_PRODUCT},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, float>(int)", "splitKreduce_kernel", GT_TRAIT_BETWEEN},
    {"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_32x3_nt_align4>(int)", "Kernel2",
     GT_TRAIT_PRODUCT | GT_TRAIT_TENSOR},
    {"void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nt_align1>(int)", "Kernel2",
     GT_TRAIT_PRODUCT | GT_TRAIT_ORDINARY},
    {"maxwell_fp16_sgemm_fp16_128x32_nt", "maxwell_fp16_sgemm_fp16_128x32_nt",
     GT_TRAIT_PRODUCT | GT_TRAIT_ORDINARY | GT_TRAIT_HALF},
    {"volta_scudnn_128x64_relu_interior_nn_v1", "volta_scudnn_128x64_relu_interior_nn_v1",
     GT_TRAIT_ORDINARY | GT_TRAIT_CONVOLUTION},
    {"sm80_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16", "sm80_xmma_fprop",
     GT_TRAIT_PRODUCT | GT_TRAIT_TENSOR},
    {"void nchwToNhwcKernel<__nv_bfloat16, __nv_bfloat16, float, false, true>(int)", "nchwToNhwcKernel",
     GT_TRAIT_LAYOUT},
    {"batched_transpose_32x32_half", "batched_transpose_32x32_half", GT_TRAIT_LAYOUT},
    {"Cijk_Ailk_Bljk_SB_MT64x64x8_SN_1LDSB0", "Cijk_Ailk_Bljk_SB_MT64x64x8_SN_1LDSB0",
     GT_TRAIT_PRODUCT | GT_TRAIT_ORDINARY},
    {"Cijk_Ailk_Bljk_SB_MT64x64x8_MI16x16x4x1_SN", "Cijk_Ailk_Bljk_SB_MT64x64x8_MI16x16x4x1_SN", GT_TRAIT_PRODUCT},
    {"Cijk_Alik_Bljk_HHS_BH_MT128x64x16", "Cijk_Alik_Bljk_HHS_BH_MT128x64x16", GT_TRAIT_PRODUCT},
    {"saxpy(float*)", "saxpy", 0},
    {"", "", 0},
};

static void names_of_kernels(void **state) {
    (void)state;
    for (size_t i = 0; i < GT_ARRAY_COUNT(kernels); i++) {
        unsigned traits = gt_traits_of(gt_str_of(kernels[i].name), gt_str_of(kernels[i].short_name));
        if (traits != kernels[i].traits)
            fail_msg("'%s': %#x, not %#x", kernels[i].name, traits, kernels[i].traits);
    }
}

static unsigned tensors_of(const char *name, unsigned traits) {
    return gt_traits_tensors_of(gt_str_of(name), traits);
}

static void tensors_of_kernels(void **state) {
    (void)state;
    assert_int_equal(tensors_of("kernel<float, std::array<char*, 4ul> >(int)", 0), 4);
    assert_int_equal(tensors_of("kernel<float, at::detail::Array<char*, 2> >(int)", 0), 2);
    assert_int_equal(tensors_of("kernel<float>(int)", 0), 3);
    assert_int_equal(tensors_of("kernel<float>(int)", GT_TRAIT_MOVE), 2);
    assert_int_equal(tensors_of("kernel<std::array<char*, ", GT_TRAIT_MOVE), 2); /* cut */
    assert_int_equal(tensors_of("kernel<std::array<char*, 0ul", 0), 3);
}

static void names_of_ranges(void **state) {
    static const char *const steps[] = {
        "Optimizer.step#Adam.step", "optimizer", "AdamW", "optim_step", "opt.step", "update"};
    static const char *const others[] = {
        "", "Optimizer.zero_grad#Adam.zero_grad", "train (adam)", "forward", "step", "update_cache", "ProfilerStep#3"};
    (void)state;
    for (size_t i = 0; i < GT_ARRAY_COUNT(steps); i++)
        assert_true(gt_updates_is_step_name(gt_str_of(steps[i])));
    for (size_t i = 0; i < GT_ARRAY_COUNT(others); i++)
        assert_false(gt_updates_is_step_name(gt_str_of(others[i])));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_kernels),
        cmocka_unit_test(tensors_of_kernels),
        cmocka_unit_test(names_of_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
