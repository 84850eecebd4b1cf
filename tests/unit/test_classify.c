/* Categories of names: built-in rules on names of many stacks, and the accounting's own rule for communication. */
#include "random.h"
#include "small_trace.h"

#include <stdlib.h>

#include "label/builtin.h"

/* What serving engines, frameworks and libraries call their kernels. */
static const struct {
    const char *category, *name;
} known_names[] = {
    {"gemm", "nvjet_sm100_tss_32x64_64x16_4x2_2cta_h_bz_splitK_TNN"},
    {"gemm", "void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, float, false, float, float, float, "
             "true, false, false>(cublasLt::cublasSplitKParams<float>, float const*)"},
    {"gemm", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute_segment_k_off_"
             "kernel__5x_cublas"},
    {"gemm", "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn"},
    {"gemm", "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn"},
    {"gemm",
     "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, "
     "cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<4>>>>(T1::Params)"},
    {"moe_gemm",
     "void "
     "cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::GroupProblemShape<cute::tuple<int, "
     "int, int>>, cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90ArrayTmaGmma>>>(T1::Params)"},
    {"gemm", "Cijk_Alik_Bljk_HHS_BH_Bias_HAS_SAV_UserArgs_MT128x128x64_MI16x16x1_SN_K1"},
    {"gemm", "Custom_Cijk_Alik_Bljk_BBS_BH_MT256x256x64"},
    {"gemm",
     "void wvSplitK_hf_sml_<__half, 64, 2, 16, 8, 2, 1>(int, int, __half const*, __half const*, __half*, int, int)"},
    {"gemm", "_gemm_a8w8_blockscale_kernel"},
    {"gemm", "_gemm_afp4wfp4_kernel"},
    {"gemm", "_w8a8_block_fp8_matmul"},
    {"gemm", "void marlin::Marlin<__half, 256, 1, 8, 8, 4, -1>(int4 const*, int4 const*, int4*, int)"},
    {"gemm",
     "void gptq_marlin::Marlin<__nv_bfloat16, 1125899906843648l, 128, 1, 8, 4, true>(int4 const*, int4 const*)"},
    {"gemm",
     "void kgemm_4bit_inference_naive<__nv_bfloat16, 128, 16>(int, int, int, __nv_bfloat16*, unsigned char*, float*)"},
    {"gemm", "void deep_gemm::sm90_fp8_gemm_1d2d_impl<(cute::UMMA::Major)0, 0u, 7168u, 2048u, 1u, 64u, 128u, "
             "(deep_gemm::GemmType)0>(float*, int*)"},
    {"moe_gemm", "void deep_gemm::sm90_fp8_gemm_1d2d_impl<(cute::UMMA::Major)0, 0u, 7168u, 2048u, 8u, 64u, 128u, "
                 "(deep_gemm::GemmType)1>(float*, int*)"},
    {"gemm", "void "
             "ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<ck::tensor_layout::gemm::RowMajor>>(T1::"
             "Argument)"},
    {"gemm", "matmul_kernel"},
    {"gemm", "_matmul_kernel_persistent"},
    {"gemm", "triton_mm"},
    {"gemm", "triton_tem_fused_mm_4"},
    {"gemm", "triton_tem_fused_addmm_view_12"},
    {"gemm", "void mul_mat_vec_q<(ggml_type)12, 1, true, false>(void const*, void const*, float*, int)"},
    {"gemm", "void gemvNSP_kernel<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, 1, 32, 4, 1024>(float)"},
    {"gemm", "void dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensorStridedBatched<float const>>>(T1)"},
    {"gemm", "kernel_cutlass_kernel_flashinfergemmkernelsdense_blockscaled_gemm_"
             "sm100Sm100BlockScaledPersistentDenseGemmKernel_object_at__"},
    {"gemm", "__cublas$gemm"},
    {"gemm", "_bgmv_shrink_kernel"},
    {"gemm", "_lora_shrink_kernel"},
    {"moe_gemm", "fused_moe_kernel"},
    {"moe_gemm", "void MarlinMoE::MarlinMoE<__half, 256, 1, 8, 8, 4, true, 8>(int4 const*)"},
    {"moe_gemm", "aiter::fmoe_bf16_blockscaleFp8_g1u1_vs_silu_1tg_32x256"},
    {"moe_gemm", "_ZN5aiter50fmoe_bf16_blockscaleFp8_g1u1_vs_silutg_psx256E"},
    {"moe_gemm",
     "void ck::kernel_moe_gemm_2lds<ck::GridwiseMoeGemmBlockScale<ck::tensor_layout::gemm::RowMajor>>(T1::Argument)"},
    {"moe_gemm", "mfma_moe1_silu_mul_afp4_wfp4_bf16_t32x128"},
    {"moe_gemm", "bmm_E2m1_E2m1E2m1_Fp32_t128x8x512u2_s4_et128x8_m128x8x64_cga1x1x1_16dp256b_TN_transOut_schedS_bN_"
                 "ldgsts_tmaOpt_clmp_swiGlu_dynBatch_sm100a"},
    {"moe_gemm", "void tensorrt_llm::kernels::cutlass_kernels::moe_gemm<...>()"},
    {"moe_gemm", "_grouped_gemm_kernel"},
    {"moe", "void vllm::moe::topkGatingSoftmax<8, 128, 4, 16, 32, int>(float const*, bool const*, float*, int, int*, "
            "int*, int, int, int)"},
    {"moe", "void vllm::moe::moe_align_block_size_kernel<int>(int const*, int*, int*, int*, int, int, int)"},
    {"moe", "void tensorrt_llm::kernels::expandInputRowsKernel<__nv_bfloat16, __nv_bfloat16>(T1 const*, T2*)"},
    {"moe", "void tensorrt_llm::kernels::finalizeMoeRoutingKernel<__nv_bfloat16, __nv_bfloat16>(T1 const*)"},
    {"moe", "void moe_fused_gate_kernel_static<float, 8, 32, 8>(void*, void*, float*, int*)"},
    {"moe", "void ck_tile::kentry<1, ck_tile::MoeSortingKernel<ck_tile::MoeSortingProblem<int, float>>>(T1)"},
    {"moe", "aiter::opus_moe_sorting_entry"},
    {"moe", "_topk_forward"},
    {"moe", "void moe_sum_reduce_warp_per_token_vec_kernel<c10::BFloat16, 8>(c10::BFloat16 const*, c10::BFloat16*)"},
    {"moe", "permute_kernel_with_row_id_map"},
    {"attention", "void "
                  "cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
                  "CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>>, cute::tuple<cute::C<128>>, 128, "
                  "cutlass::bfloat16_t, float, cutlass::arch::Sm90>>>>(T1::Params)"},
    {"attention", "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, "
                  "cutlass::bfloat16_t>, true, false>(Flash_fwd_params)"},
    {"attention", "void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>, 4, 1, "
                  "true>(flash::Flash_fwd_params)"},
    {"attention",
     "void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128, 64, 128, 8>>(Flash_bwd_params)"},
    {"attention", "void flash_bwd_dot_do_o_kernel<true, Flash_bwd_kernel_traits<128>>(Flash_bwd_params)"},
    {"attention", "void flash::flash_fwd_mla_combine_kernel<cutlass::bfloat16_t, float, long, 512, 4>(T1)"},
    {"attention",
     "void flash_fwd_splitkv_mla_kernel<Flash_fwd_kernel_traits_mla<576, 64, 64, 8>>(Flash_fwd_mla_params)"},
    {"attention", "void vllm::paged_attention_v1_kernel<unsigned short, unsigned short, 128, 16, 128, "
                  "(vllm::Fp8KVCacheDataType)0, false>(float*)"},
    {"attention",
     "void paged_attention_ll4mi_QKV_mfma16_kernel<__hip_bfloat16, __hip_bfloat16, (vllm::Fp8KVCacheDataType)0>(T1)"},
    {"attention", "void vllm::merge_attn_states_kernel<__nv_bfloat16, 128u>(__nv_bfloat16*, float*)"},
    {"attention",
     "void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<(flashinfer::MaskMode)1, 128u, 2u>, "
     "flashinfer::PagedParams>(T2)"},
    {"attention",
     "void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0, 2u, 4u, 8u, 16u, 4u, 2u>(T1)"},
    {"attention",
     "void flashinfer::PersistentVariableLengthMergeStatesKernel<8u, 16u, 8u, 4u, float, __nv_bfloat16, int>(float*)"},
    {"attention",
     "void flashinfer::PrefillWithKVCacheKernel<flashinfer::CollectiveMainloop<flashinfer::AttentionKernelTraits<true, "
     "128>>>(T1)"},
    {"attention", "_fwd_kernel"},
    {"attention", "_fwd_kernel_stage1"},
    {"attention", "_fwd_grouped_kernel_stage1"},
    {"attention", "_fwd_kernel_stage2"},
    {"attention", "_attn_fwd"},
    {"attention", "attn_fwd"},
    {"attention", "bwd_kernel_dk_dv"},
    {"attention", "kernel_unified_attention_2d"},
    {"attention", "reduce_segments"},
    {"attention", "kernel_unified_attention_3d_num_query_heads_8_BLOCK_SIZE_16_SHUFFLED_KV_CACHE_0_IS_KV_FP8_1"},
    {"attention", "fmhaSm100fKernel_QkvE4m3OBfloat16H256PagedKvCausalP16VarSeqQ128Kv128PersistentContext"},
    {"attention", "fmha_v2_flash_attention_bf16_64_256_S_q_paged_kv_128_causal_tma_ws_sm90_kernel"},
    {"attention",
     "void tensorrt_llm::kernels::mmha::masked_multihead_attention_kernel<unsigned short, unsigned short, 128>(T1)"},
    {"attention", "kernel_mha"},
    {"attention", "aiter::fmha_fwd_hd128_bf16_causal_rtne_group"},
    {"attention", "aiter::mla_a8w8_qh16_qseqlen1_gqaratio16"},
    {"attention", "void kn_mla_reduce_v1_ps<MlaReduceKernelV1Traits<512, 16>>(MlaReduceKernelV1Params)"},
    {"attention", "void ck_tile::kentry<256, 2, "
                  "ck_tile::FmhaFwdKernel<ck_tile::BlockFmhaPipelineQRKSVSAsync<ck_tile::BlockFmhaPipelineProblem<"
                  "unsigned short>>>>(T1)"},
    {"attention",
     "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_cga1x1x1_kernel0_0"},
    {"attention", "fmha_cutlassB_bf16_aligned_64x64_k128_sm80(PyTorchMemEffAttention::AttentionBackwardKernel<cutlass::"
                  "arch::Sm80, cutlass::bfloat16_t, true, false, true, 64, 64, 128, false>::Params)"},
    {"attention", "triton_tem_fused_flex_attention_0"},
    {"attention", "void deep_gemm::sm90_fp8_paged_mqa_logits<1u, 64u, 128u, 64u>(unsigned int, unsigned long)"},
    {"attention", "void ggml_cuda_flash_attn_ext_vec_f16<128, 1, 1>(char const*, char const*)"},
    {"kv_cache",
     "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, (vllm::Fp8KVCacheDataType)0>(T1 const*)"},
    {"kv_cache",
     "void vllm::concat_and_cache_mla_kernel<__nv_bfloat16, __nv_bfloat16, (vllm::Fp8KVCacheDataType)0>(T1 const*)"},
    {"kv_cache", "set_mla_kv_buffer_kernel"},
    {"kv_cache", "void flashinfer::AppendPagedKVCacheKernel<128u, 2u, __nv_bfloat16, int>(T1)"},
    {"kv_cache", "void store_kvcache<256l, 1, false, unsigned long>(T1)"},
    {"ssm", "_causal_conv1d_fwd_kernel"},
    {"ssm", "void selective_scan_fwd_kernel<Selective_Scan_fwd_kernel_traits<128, 4, 1, true, true, true, true, "
            "c10::BFloat16, float>>(SSMParamsBase)"},
    {"ssm", "_selective_scan_update_kernel"},
    {"ssm", "chunk_gated_delta_rule_fwd_kernel_h_blockdim64"},
    {"ssm", "chunk_fwd_kernel_o"},
    {"ssm", "fused_sigmoid_gating_delta_rule_update_kernel"},
    {"ssm", "_chunk_scan_fwd_kernel"},
    {"ssm", "_state_passing_fwd_kernel"},
    {"norm", "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, c10::BFloat16*, c10::BFloat16 "
             "const*, float, int, int)"},
    {"norm", "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*)"},
    {"norm", "void "
             "transformer_engine::normalization::rmsnorm_fwd_tuned_kernel<transformer_engine::normalization::Kernel_"
             "traits<__nv_bfloat16>>(T1)"},
    {"norm", "void cuApplyLayerNorm<float, float, c10::BFloat16>(c10::BFloat16*, float*, float*)"},
    {"norm", "void ln_bwd_kernel<layer_norm::Kernel_traits<float, float, float, float, float, unsigned int, "
             "1024u>>(layer_norm::BwdParams)"},
    {"norm", "_layer_norm_fwd_1pass_kernel"},
    {"norm", "_gemma_fused_add_rmsnorm_kernel"},
    {"norm",
     "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>(int, float)"},
    {"norm", "void cudnn::bn_fw_inf_1C11_kernel_NCHW<float, float, true, 1>(float, float)"},
    {"norm", "MIOpenBatchNormFwdTrainSpatial"},
    {"norm", "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_3"},
    {"norm", "triton_per_fused_add_native_layer_norm_view_4"},
    {"norm", "rms_norm_f32"},
    {"norm", "void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<c10::BFloat16, float>(long)"},
    {"rope", "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*)"},
    {"rope", "void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheEnhancedKernel<true, 128u, 8u, 16u>(T1)"},
    {"rope", "_triton_mrope_forward_fused"},
    {"rope", "_fused_qk_rmsnorm_rope_gate_kernel"},
    {"rope", "void fused_rope_forward<float>(int, int, int, int)"},
    {"rope", "rope_norm<true, float>"},
    {"rope", "void kn_entry_2c_sbhd_cached_indirect_inplace<OpCachedFwd, 0, true>(T1)"},
    {"rope", "void tensorrt_llm::kernels::applyBiasRopeUpdateKVCacheV2<__nv_bfloat16, __nv_bfloat16>(T1)"},
    {"rope", "triton_poi_fused_add_cat_cos_mul_neg_sin_slice_7"},
    {"softmax", "void (anonymous namespace)::softmax_warp_forward<float, float, float, 11, false, false, 32>(float*, "
                "float const*, int, int, int, bool const*, int, bool)"},
    {"softmax",
     "void (anonymous namespace)::scaled_upper_triang_masked_softmax_warp_forward<__half, __half, float, 11>(T1)"},
    {"softmax", "triton_per_fused__softmax_2"},
    {"softmax", "soft_max_f32<true, 0, 0>"},
    {"activation",
     "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel<c10::BFloat16>, true>(T1*, T1 const*, int)"},
    {"activation", "void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, &silu>(T1)"},
    {"activation", "_swiglu_forward_kernel"},
    {"activation", "void at::native::vectorized_elementwise_kernel<4, "
                   "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#1}>(int)"},
    {"activation", "triton_poi_fused_mul_silu_3"},
    {"activation", "triton_poi_fused_addmm_gelu_5"},
    {"activation", "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
                   "namespace)::launch_clamp_scalar(at::TensorIteratorBase&)::relu>(int)"},
    {"elementwise", "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
                    "std::array<char*, 3ul> >(int)"},
    {"elementwise", "triton_poi_fused_add_mul_3"},
    {"elementwise",
     "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::(anonymous "
     "namespace)::where_kernel_impl(at::TensorIterator&)>>(int)"},
    {"elementwise", "void "
                    "thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__parallel_for::ParallelForAgent<thrust::"
                    "cuda_cub::__transform::unary_transform_f<int>>>(T1)"},
    {"elementwise", "loop_multiply_fusion"},
    {"elementwise", "fusion_12"},
    {"elementwise", "loop_convert_multiply_fusion_3"},
    {"elementwise", "loop_transpose_add_fusion"},
    {"copy", "loop_convert_fusion"},
    {"copy", "input_transpose_fusion_2"},
    {"copy", "input_concatenate_fusion"},
    {"copy", "pad_fusion"},
    {"copy", "wrapped_transpose_2"},
    {"reduction", "input_convert_reduce_fusion"},
    {"reduction", "input_add_reduce_fusion_3"},
    {"gemm", "gemm_fusion_dot_40"},
    {"gemm", "block_scaled_dot_fusion"},
    {"softmax", "triton_softmax_8_0"},
    {"random", "rng_get_and_update_state"},
    {"attention", "mha_forward_kernel"},
    {"attention", "__cudnn$fmhaSoftmax"},
    {"index", "input_scatter_fusion"},
    {"activation", "loop_tanh_multiply_fusion"},
    {"comm", "loop_all_reduce_fusion"},
    {"elementwise", "_UnaryElementWise"},
    {"elementwise", "generatedNativePointwise"},
    {"elementwise", "k_bin_bcast<&op_add, float, float, float>"},
    {"reduction", "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, "
                  "float, float, float>, unsigned int, float, 4, 4> >(T1)"},
    {"reduction", "input_reduce_fusion_7"},
    {"reduction", "triton_red_fused_sum_4"},
    {"reduction", "void cub::DeviceScanKernel<cub::AgentScanPolicy<128, 15, long>>(T1)"},
    {"reduction", "triton_spl_fused_cumsum_0"},
    {"quantize", "void vllm::scaled_fp8_quant_kernel<c10::BFloat16>(T1)"},
    {"quantize", "void per_token_group_quant_8bit_kernel<c10::BFloat16, c10::Float8_e4m3fn, true>(T1)"},
    {"quantize", "void vllm::cvt_fp16_to_fp4<__nv_bfloat16, false>(int, int)"},
    {"quantize", "_per_token_group_quant_fp8"},
    {"quantize", "void kDequantizeBlockwise<__nv_bfloat16, 512, 64, 8, 2>(float*, unsigned char*)"},
    {"quantize", "void transformer_engine::(anonymous namespace)::cast_transpose_optimized_kernel<__nv_bfloat16>(T1)"},
    {"quantize", "quantize_q8_1(float const*, void*, long)"},
    {"quantize", "kernel_cutlass_kernel_flashinferquantizationkernelsmxfp8_quantizeMXFP8QuantizeSwizzledKernel_object_"
                 "at__tensorptrbf16"},
    {"quantize", "triton_red_fused__to_copy_abs_clamp_cutlass_scaled_mm_max_mul_reciprocal_unsqueeze_1"},
    {"quantize", "aiter::dynamic_per_group_scaled_quant_kernel"},
    {"quantize", "void vllm::silu_mul_fp8_quant_deep_gemm_kernel<float>(float)"},
    {"quantize", "void fbgemm_gpu::(anonymous namespace)::_FP8rowwise_to_float_cuda_kernel<float>(int)"},
    {"index", "void fbgemm_gpu::permute_2D_data_kernel<false, int, int>(int, int)"},
    {"index",
     "void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long, unsigned int, 2, 2, -2, true>(T1)"},
    {"index",
     "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long, long, long, bool)"},
    {"index", "void at::native::index_elementwise_kernel<128, 4, "
              "at::native::gpu_index_kernel<at::native::index_put_kernel_impl<at::native::OpaqueType<2> >>>(T1)"},
    {"index", "void at::native::_scatter_gather_elementwise_kernel<128, 8, "
              "at::native::_cuda_scatter_gather_internal_kernel<false>>(T1)"},
    {"index", "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<float, float, long>(T1)"},
    {"index", "void k_get_rows<32, 1, &dequantize_q4_0>(T1)"},
    {"index", "loop_gather_fusion"},
    {"sort", "void at::native::mbtopk::computeBlockDigitCounts<float, unsigned int, unsigned int, 2>(T1)"},
    {"sort", "void at::native::radixSortKVInPlace<2, -1, 32, 32, float, long, unsigned int>(T1)"},
    {"sort", "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u, (cub::BlockScanAlgorithm)0>(T1)"},
    {"sort", "rejection_greedy_sample_kernel"},
    {"sort", "void vllm::apply_repetition_penalties_kernel<float>(T1)"},
    {"sort", "void at::native::bitonicSortKVInPlace<2, -1, 16, 16, float, long>(T1)"},
    {"sort", "void at::native::(anonymous namespace)::sampleMultinomialOnce<float, float>(T1)"},
    {"conv", "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize256x64x32_stage3_warpsize4x1x1_g1_"
             "tensor16x8x16_execute_kernel__5x_cudnn"},
    {"conv",
     "void "
     "cutlass__5x_cudnn::Kernel<cutlass_tensorop_f16_s16816fprop_optimized_f16_128x64_32x6_nhwc_align8>(T1::Params)"},
    {"conv", "void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, float, int>(T1)"},
    {"conv", "miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1"},
    {"conv", "void ck::kernel_grouped_conv_fwd_xdl_cshuffle_v3<ck::GridwiseGemm>(T1)"},
    {"conv", "turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1"},
    {"pool", "void at::native::(anonymous namespace)::max_pool_forward_nhwc<c10::Half, int>(T1)"},
    {"pool", "void at::native::(anonymous namespace)::upsample_nearest2d_out_frame<c10::Half, "
             "&at::native::nearest_neighbor_compute_source_index>(T1)"},
    {"pool", "void at::native::(anonymous namespace)::grid_sampler_2d_kernel<float, int>(T1)"},
    {"optimizer", "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
                  "namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::LpNormFunctor<float, "
                  "(at::native::NormType)1, float, 1, 1, 0>>(T1)"},
    {"optimizer",
     "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctorMaster<c10::BFloat16, float, float, int>>(T1)"},
    {"optimizer", "triton_for_fused_2"},
    {"optimizer", "void at::native::amp_update_scale_cuda_kernel(float*, int*)"},
    {"loss", "liger_cross_entropy_kernel"},
    {"loss", "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(T1)"},
    {"loss", "triton_red_fused__log_softmax_nll_loss_forward_3"},
    {"copy", "void at::native::(anonymous namespace)::CatArrayBatchedCopy_vectorized<at::native::(anonymous "
             "namespace)::OpaqueType<2u>, unsigned int, 3, 128, 1, 16, 8>(char*)"},
    {"copy", "void at::native::elementwise_kernel<128, 4, "
             "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)>>(int)"},
    {"copy", "triton_poi_fused_clone_2"},
    {"copy", "triton_poi_fused_cat_12"},
    {"copy", "void at::native::split_with_sizes_copy_out_contiguous_no_cast_kernel(char**)"},
    {"copy", "void at::native::(anonymous namespace)::chunk_cat_cuda_kernel<c10::BFloat16, float>(T1)"},
    {"copy", "cpy_f32_f16<&cpy_1_f32_f16>"},
    {"copy", "loop_transpose_fusion"},
    {"copy", "wrapped_concatenate"},
    {"random", "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4, "
               "at::native::templates::cuda::normal_and_transform<float>>(T1)"},
    {"random",
     "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned int, 1, 4, bool>(T1)"},
    {"random", "RngBitGenerator"},
    {"fill",
     "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, std::array<char*, 1ul> >(int)"},
    {"fill", "__amd_rocclr_fillBufferAligned"},
    {"fill", "void (anonymous namespace)::elementwise_kernel_with_index<int, at::native::arange_cuda_out(c10::Scalar "
             "const&)>(int)"},
    {"copy", "__amd_rocclr_copyBuffer"},
    {"fft", "void regular_fft_pow2<256u, EPT<4u>, 16u, 2u, (padding_t)1>(T1)"},
    {"fft", "void vector_fft<128u, EPT<16u>, 8u, 2u>(T1)"},
    {"linalg", "void getrf_pivot<float, float, 256>(T1)"},
    {"linalg", "void at::native::triu_tril_kernel<float, int, true, 1, false>(T1)"},
    {"linalg", "calcAllLowestResidualsGPU"},
    {"elementwise", "void fused_add_residual_kernel<float>(float*)"},
    {"query", "void probe_group_by_GPU2<128, 4>(int*, int*, int*)"},
    {"query", "void build_GPU2<128, 4>(int*, int*, int*, int)"},
    {"query", "void cudf::detail::compute_something<int>(int)"},
    {"autotune", "tiny(float *)"},
    {"autotune", "at::cuda::(anonymous namespace)::spin_kernel(long)"},
    {"other", "tinygrad_is_no_test"},
    {"prepare", "_prepare_inputs_kernel"},
    {"prepare", "create_flashinfer_kv_indices_triton"},
    {"prepare", "write_req_to_token_pool_triton"},
    {"prepare", "get_mla_metadata_kernel"},
    {"prepare", "compute_position_kernel"},
    {"prepare", "void flash::prepare_varlen_num_blocks_kernel<1, true>(int)"},
    {"comm", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
    {"comm", "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(RankData*)"},
    {"comm", "void flashinfer::trtllm_mnnvl_allreduce::twoshotAllreduceKernel<(unsigned char)4, __nv_bfloat16, true, "
             "float4>(T1)"},
    {"comm", "void deep_ep::internode_ll::dispatch<true, 7168>(void*)"},
    {"comm", "nvshmemi_transfer_put"},
    {"comm", "ncclDevKernel_Generic_1(ncclDevKernelArgs)"},
    {"comm", "void dpsk::ep::intranode::dispatch<8, 768>(int4*, float*, int*)"},
    {"comm", "dpsk::ep::barrier(int**, int)"},
    {"comm", "kuserbuffers_pushsend(int*, int*, int4*, int4*, int)"},
    {"comm", "void userbuffers_fp16_sum_inplace_gpu_rw_ag<8>(int, int, int, int, int, int, void**)"},
    {"comm", "void tensorrt_llm::kernels::moe_comm::moeA2ADispatchKernel<tensorrt_llm::kernels::moe_comm::WarpPolicy, "
             "8>(int const*)"},
    {"comm", "tensorrt_llm::kernels::moe_comm::moeA2APrepareCombineKernel(unsigned char*, unsigned char const*, int)"},
    {"comm", "void mori::moe::EpDispatchIntraNodeKernel<hip_bfloat16, false>(mori::moe::EpDispatchCombineArgs<"
             "hip_bfloat16>)"},
    {"comm", "EpCombineInterNodeV1Kernel_bf16"},
    {"comm", "rocshmem_put_signal_kernel"},
    {"comm", "void roc_shmem::barrier_all_kernel(int*)"},
    {"comm", "void a2a_kernels::a2a_dispatch_send_kernel<true, 16, 8, FixedTokenDim<7168>>(unsigned long)"},
    {"comm", "a2a_combine_recv_kernel"},
    {"comm", "void pplx::intranode_combine<__nv_bfloat16>(__nv_bfloat16*)"},
    {"comm", "c10d::symmetric_memory::barrier_kernel(unsigned int**, int, int, int, unsigned long)"},
    {"comm", "c10d::symmetric_memory::put_signal_kernel(unsigned int**, int, int, int, int, unsigned long)"},
    {"comm", "c10d::symmetric_memory::wait_signal_kernel(unsigned int**, int, int, int, int, unsigned long)"},
    {"comm", "void uccl::internode_ll::combine<true, 7168, 9>(void*, void*)"},
    {"comm", "hybrid_ep::device_sync_kernel<8>"},
    {"comm", "void hybrid_ep::dispatch_kernel<unsigned char, 8, 4>(T1)"},
    {"moe", "void dispatchKernel<4>(int*, int*)"},
    {"elementwise", "void ForEachPixelNaiveBy4<unsigned char, 1, GenericFunctor4<unsigned char>>(Image, NppiSize)"},
    {"elementwise", "cub::detail::for_each::static_kernel"},
    {"optimizer", "_foreach_add_kernel"},
    {"linalg", "void kmeans_assign<float>(float const*, float const*, int*)"},
    {"linalg", "kmeans_update_means(float*, int*, int)"},
    {"reduction", "mean_kernel"},
    {"fft", "void fft2d_r2c_32x32<float, false, 1u, false>(float2*, float const*, int)"},
    {"fft", "void fft2d_c2r_16x16<__half, false>(__half*, float2*)"},
    {"elementwise", "void <unnamed>::nvfuser_pointwise_f0_c1_r0_g0<Tensor<__bfloat, 2, 2>>(T1)"},
    {"elementwise", "nvfuser_none_f0_c0_r0_g3"},
    {"elementwise", "CudaCodeGen::kernel3"},
    {"reduction", "nvfuser_inner_persistent_f2_c1_r0_g1"},
    {"reduction", "nvfuser_reduction_f3_c1_r0_g0"},
    {"copy", "nvfuser_transpose_f4_c1_r0_g0"},
    {"gemm", "nvfuser_matmul_f5_c1_r0_g0"},
    {"attention", "sage_fwd_mxfp4"},
    {"attention", "_sage_fwd_mask"},
    {"attention", "void qk_int_sv_f8_attn_kernel<128u, 64u, 32u, 64u, 128u>(signed char*)"},
    {"other", "gnn_message_fwd"},
    {"index", "void dynamic_voxelize_kernel<float, int>(float const*, int*)"},
    {"index", "assign_point_to_voxel"},
    {"autotune", "void stream_executor::gpu::xla_fp_comparison<float>(float*, float*, float, unsigned long, int*)"},
    {"other", "my_very_own_thing"},
    {"other", "Kernel"},
    {"other", "main_kernel"},
};

static struct gt_builtin_answer answer_of(struct gt_builtin *builtin, const char *name) {
    struct gt_str full = gt_str_of(name);
    return gt_builtin_kernel(builtin, full, gt_label_simplify_name(full));
}

static void names_of_many_stacks(void **unused) {
    (void)unused;
    struct gt_builtin *builtin = gt_builtin_new();
    assert_non_null(builtin);
    for (size_t i = 0; i < sizeof known_names / sizeof *known_names; i++) {
        struct gt_builtin_answer answer = answer_of(builtin, known_names[i].name);
        const char *category = gt_categories[answer.category].key;
        if (strcmp(category, known_names[i].category) != 0)
            fail_msg("'%s' is %s by '%.*s', not %s", known_names[i].name, category, (int)answer.pattern.len,
                     answer.pattern.ptr, known_names[i].category);
    }
    gt_builtin_free(builtin);
}

static void collectives_have_names(void **unused) {
    (void)unused;
    static const struct {
        const char *name, *collective;
    } cases[] = {
        {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(int)", "all_reduce"},
        {"ncclKernel_AllGather_RING_LL_Sum_int8_t", "all_gather"},
        {"ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", "reduce_scatter"},
        {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "send_recv"},
        {"ncclDevKernel_Broadcast_RING_LL", "broadcast"},
        {"ncclDevKernel_Reduce_Sum_f32_RING_LL", "reduce"},
        {"void deep_ep::intranode::combine<__nv_bfloat16, 8>(int)", "all_to_all"},
        {"void vllm::cross_device_reduce_2stage<half, 8>()", "all_reduce"},
        {"void dpsk::ep::internode_ll::dispatch<7168>(int)", "all_to_all"},
        {"dpsk::ep::barrier(int)", NULL},
        {"moeA2ACombineKernel", "all_to_all"},
        {"mori::moe::EpCombineIntraNodeKernel", "all_to_all"},
        {"a2a_dispatch_recv_kernel", "all_to_all"},
        {"hybrid_ep::combine_kernel", "all_to_all"},
        {"hybrid_ep::device_sync_kernel<8>", NULL},
        {"void uccl::intranode::dispatch<8>(int)", "all_to_all"},
        {"kuserbuffers_pushrecv(int, int)", NULL},
        {"ncclDevKernel_Generic_1", NULL},
        {"gemm", NULL},
    };
    struct gt_builtin *builtin = gt_builtin_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *collective = answer_of(builtin, cases[i].name).collective;
        if (cases[i].collective)
            assert_string_equal(collective, cases[i].collective);
        else
            assert_null(collective);
    }
    gt_builtin_free(builtin);
}

/* docs/measures.md: the words of communication, unless the name begins with triton_. */
static bool is_communication(const char *name) {
    static const char *const words[] = {"nccl",
                                        "rccl",
                                        "msccl",
                                        "uccl",
                                        "nvshmem",
                                        "rocshmem",
                                        "roc_shmem",
                                        "deep_ep",
                                        "deepep",
                                        "dpsk::ep::",
                                        "hybrid_ep",
                                        "epdispatch",
                                        "epcombine",
                                        "moea2a",
                                        "a2a_dispatch",
                                        "a2a_combine",
                                        "pplx",
                                        "userbuffers",
                                        "symmetric_memory",
                                        "allreduce",
                                        "all_reduce",
                                        "allgather",
                                        "all_gather",
                                        "reducescatter",
                                        "reduce_scatter",
                                        "alltoall",
                                        "all_to_all",
                                        "cross_device_reduce"};
    bool found = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        found |= strcasestr(name, words[i]) != NULL;
    return found && strncasecmp(name, "triton_", 7) != 0;
}

/* Names stuck together from words that rules know, with and without those of communication. */
static void communication_is_what_the_accounting_says(void **unused) {
    (void)unused;
    static const char *const parts[] = {
        "triton_",
        "NCCL",
        "rccl",
        "msccl",
        "nvshmem",
        "Deep_EP",
        "deepep",
        "allReduce",
        "all_reduce",
        "gemm",
        "flash_fwd",
        "all_gather",
        "AllGather",
        "ReduceScatter",
        "reduce_scatter",
        "alltoall",
        "all_to_all",
        "moe",
        "cross_device_reduce",
        "_",
        "::",
        "<",
        "redzone",
        "kernel",
        "mamba",
        "Triton_poi_",
        "red",
        "void ",
        "sendrecv",
        "uccl",
        "rocshmem",
        "roc_shmem",
        "dpsk",
        "ep",
        "dispatch",
        "combine",
        "hybrid_",
        "moe",
        "a2a_",
        "A2A",
        "pplx",
        "userbuffers",
        "symmetric_memory",
    };
    struct gt_builtin *builtin = gt_builtin_new();
    size_t communication = 0;
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        char name[256] = "";
        uint64_t state = seed;
        for (uint64_t n = random_u64(&state) % 5 + 1; n > 0; n--)
            strcat(name, parts[random_u64(&state) % (sizeof parts / sizeof *parts)]);
        bool is_comm = answer_of(builtin, name).category == GT_CATEGORY_comm;
        communication += is_comm;
        if (is_comm != is_communication(name))
            fail_msg("'%s' is %s communication", name, is_comm ? "wrongly" : "not");
    }
    assert_in_range(communication, 5000, 18000);
    gt_builtin_free(builtin);
}

/* Any bytes are a name; rules look at all of a long one for communication. */
static void odd_names(void **unused) {
    (void)unused;
    struct gt_builtin *builtin = gt_builtin_new();
    assert_int_equal(answer_of(builtin, "").category, GT_CATEGORY_other);
    assert_int_equal(answer_of(builtin, "a").category, GT_CATEGORY_other);
    assert_int_equal(answer_of(builtin, "\xff\xfe<(").category, GT_CATEGORY_other);
    char *name = malloc(100000);
    memset(name, 'x', 99999);
    memcpy(name + 99990, "ncclK", 6);
    assert_int_equal(answer_of(builtin, name).category, GT_CATEGORY_comm);
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        uint64_t state = seed;
        size_t bytes = random_u64(&state) % 200;
        for (size_t i = 0; i < bytes; i++)
            name[i] = (char)random_u64(&state);
        struct gt_str full = {name, bytes};
        gt_builtin_kernel(builtin, full, gt_label_simplify_name(full));
    }
    free(name);
    gt_builtin_free(builtin);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_many_stacks),
        cmocka_unit_test(collectives_have_names),
        cmocka_unit_test(communication_is_what_the_accounting_says),
        cmocka_unit_test(odd_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
