/* The compute kernels of a job, with names as they stand in real traces. */
#ifndef BENCH_JOBS_KERNELS_H
#define BENCH_JOBS_KERNELS_H

#include <stdint.h>

struct kernel_row {
    const char *name, *operator_name, *outer_operator; /* the outer one: NULL, or what calls the operator */
    uint32_t grid[3], block;
    const char *fixed; /* args that are the same at every launch */
};

#define GEMM_ARGS                                                                                                      \
    "\"registers per thread\": 168,      \"shared memory\": 213188,      \"blocks per SM\": 1.000000,      "           \
    "\"warps per SM\": 12.000000"
#define POINT_ARGS                                                                                                     \
    "\"registers per thread\": 32,      \"shared memory\": 0,      \"blocks per SM\": 15.515152,      "                \
    "\"warps per SM\": 62.060606"
#define FLASH_ARGS                                                                                                     \
    "\"registers per thread\": 255,      \"shared memory\": 81920,      \"blocks per SM\": 2.000000,      "            \
    "\"warps per SM\": 8.000000"

#define GELU                                                                                                           \
    "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() "       \
    "const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}"

enum { KERNEL_GEMM = 0, KERNEL_POINT = 2, KERNEL_ATTENTION = 3, KERNEL_ADAM = 8, KERNEL_SPIN = 9 };

/* A block takes the first eight in turn. */
static const struct kernel_row kernel_rows[] = {
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "aten::mm", "aten::matmul", {2, 66, 1}, 384, GEMM_ARGS},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopB_TNN", "aten::mm", "aten::linear", {2, 66, 1}, 384, GEMM_ARGS},
    {"void at::native::vectorized_elementwise_kernel<8, " GELU ", std::array<char*, 2ul> >(int, " GELU
     ", std::array<char*, 2ul>)",
     "aten::gelu",
     0,
     {4096, 1, 1},
     128,
     POINT_ARGS},
    {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "
     "cutlass::bfloat16_t, Flash_kernel_traits<128, 128, 64, 4, cutlass::bfloat16_t> >, false, true, false, false, "
     "true, true, false, false>(pytorch_flash::Flash_fwd_params)",
     "aten::_flash_attention_forward",
     "aten::scaled_dot_product_attention",
     {16, 4, 16},
     128,
     FLASH_ARGS},
    {"nvjet_sm90_tst_64x256_64x4_2x1_v_bz_NNN", "aten::mm", "aten::matmul", {4, 32, 1}, 384, GEMM_ARGS},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, true>(int, float, "
     "c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)",
     "aten::native_layer_norm",
     "aten::layer_norm",
     {2048, 1, 1},
     128,
     POINT_ARGS},
    {"triton_poi_fused_add_mul_silu_3", "triton_poi_fused_add_mul_silu_3", 0, {2048, 1, 1}, 256, POINT_ARGS},
    {"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
     "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}::operator()() "
     "const::{lambda(c10::BFloat16)#1}>(at::TensorIteratorBase&, at::native::direct_copy_kernel_cuda("
     "at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}::operator()() const::{lambda("
     "c10::BFloat16)#1} const&)::{lambda(int)#1}>(int)",
     "aten::copy_",
     0,
     {8192, 1, 1},
     128,
     POINT_ARGS},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
     "FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, "
     "(at::native::ADAM_MODE)1, false>, float const*, double, double, double, double, double, bool>(at::native::"
     "(anonymous namespace)::FusedOptimizerTensorListMetadata<4>)",
     "aten::_fused_adamw_",
     "Optimizer.step#AdamW.step",
     {320, 1, 1},
     512,
     POINT_ARGS},
    {"void validate_batch_kernel<float>(float const*, unsigned char*, long)",
     "aten::isfinite",
     0,
     {1024, 1, 1},
     256,
     POINT_ARGS},
};

#endif
