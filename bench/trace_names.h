/* Names as they stand in real traces, made up at random: kernels, operators and Python functions. */
#ifndef BENCH_TRACE_NAMES_H
#define BENCH_TRACE_NAMES_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

enum { NAME_BYTES = 1024 };

enum kernel_kind { KIND_ELEMENTWISE, KIND_GEMM, KIND_COLLECTIVE, KIND_TRITON, KIND_ATTENTION };

static uint64_t random_state;

static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t next_random(void) {
    return mix(random_state += 0x9e3779b97f4a7c15u);
}

static uint32_t below(uint32_t limit) {
    return (uint32_t)(((next_random() >> 32) * limit) >> 32);
}

#define PICK(array) ((array)[below(sizeof(array) / sizeof *(array))])

static const char *const functions[] = {"add",     "mul",   "sub",  "div",  "gelu", "silu",  "relu",
                                        "sigmoid", "tanh",  "copy", "fill", "pow",  "rsqrt", "exp",
                                        "where",   "clamp", "neg",  "sqrt", "log",  "cos"};
static const char *const types[] = {"float", "c10::BFloat16", "c10::Half", "double", "int", "long"};

static void print_name(char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print_name(char *name, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, NAME_BYTES, format, arguments);
    va_end(arguments);
}

static enum kernel_kind name_elementwise(char *name) {
    const char *type = PICK(types), *function = PICK(functions);
    uint32_t outer = 1 + below(3), inner = 1 + below(9), inputs = 2 + below(3);
    char lambda[256];
    snprintf(lambda, sizeof lambda,
             "at::native::%s_kernel_cuda(at::TensorIteratorBase&)::{lambda()#%u}::operator()() "
             "const::{lambda()#%u}::operator()() const::{lambda(%s)#1}",
             function, outer, inner, type);
    print_name(name,
               "void at::native::vectorized_elementwise_kernel<%u, %s, at::detail::Array<char*, %u> >(int, %s, "
               "at::detail::Array<char*, %u>)",
               2u << below(3), lambda, inputs, lambda, inputs);
    return KIND_ELEMENTWISE;
}

static enum kernel_kind name_gemm(char *name) {
    print_name(name, "sm%u_xmma_gemm_%s_f32_%s_tilesize%ux%ux%u_stage%u_warpsize%ux%ux1_tensor16x8x16_kernel",
               80 + 10 * below(2), below(2) ? "bf16bf16_bf16f32" : "f16f16_f16f32", below(2) ? "tn_n" : "nn_n",
               32u << below(4), 32u << below(4), 16u << below(3), 1 + below(6), 1 + below(4), 1 + below(4));
    return KIND_GEMM;
}

static enum kernel_kind name_cutlass(char *name) {
    char shape[128];
    snprintf(shape, sizeof shape, "cutlass_80_tensorop_%s_s16816gemm_relu_%s_%ux%u_32x%u_%s_align8",
             below(2) ? "bf16" : "f16", below(2) ? "bf16" : "f16", 64u << below(3), 64u << below(3), 3 + below(4),
             below(2) ? "tn" : "nn");
    print_name(name, "void cutlass::Kernel2<%s>(%s::Params)", shape, shape);
    return KIND_GEMM;
}

static enum kernel_kind name_triton(char *name) {
    static const char *const passes[] = {"poi", "red", "per"};
    print_name(name, "triton_%s_fused_%s_%s_%s_%u", PICK(passes), PICK(functions), PICK(functions),
               below(2) ? "native_layer_norm" : "_to_copy", below(500));
    return KIND_TRITON;
}

static enum kernel_kind name_attention(char *name) {
    uint32_t head = 32u << below(3), rows = 64u << below(2);
    print_name(name,
               "void pytorch_flash::flash_%s_kernel<Flash_fwd_kernel_traits<%u, %u, 64, 4, false, false, "
               "cutlass::bfloat16_t, Flash_kernel_traits<%u, %u, 64, 4, cutlass::bfloat16_t> >, %s, %s, false, false, "
               "%s, true, false>(pytorch_flash::Flash_fwd_params)",
               below(2) ? "fwd" : "bwd_dq_dk_dv_loop_seqk_parallel", head, rows, head, rows,
               below(2) ? "true" : "false", below(2) ? "true" : "false", below(2) ? "true" : "false");
    return KIND_ATTENTION;
}

static enum kernel_kind name_reduction(char *name) {
    static const char *const operations[] = {"SumOps", "MeanOps", "MaxOps", "NormTwoOps", "ArgMaxOps"};
    const char *type = PICK(types), *result = PICK(types);
    char operation[192];
    snprintf(operation, sizeof operation,
             "at::native::ReduceOp<%s, at::native::%s<%s, float, float, float>, unsigned int, %s, 4>", type,
             PICK(operations), type, result);
    print_name(name, "void at::native::reduce_kernel<%u, %u, %s >(%s)", 128u << below(3), 1 + below(4), operation,
               operation);
    return KIND_ELEMENTWISE;
}

static enum kernel_kind name_kernel(uint32_t index, char *name) {
    static const char *const collectives[] = {"AllReduce_Sum_bf16_RING_LL", "AllGather_RING_LL",
                                              "ReduceScatter_Sum_bf16_RING_LL"};
    static enum kernel_kind (*const kinds[20])(char *) = {
        name_elementwise, name_elementwise, name_elementwise, name_elementwise, name_elementwise,
        name_elementwise, name_elementwise, name_gemm,        name_gemm,        name_gemm,
        name_cutlass,     name_cutlass,     name_triton,      name_triton,      name_triton,
        name_triton,      name_attention,   name_attention,   name_reduction,   name_reduction};
    if (index >= sizeof collectives / sizeof *collectives)
        return PICK(kinds)(name);
    print_name(name, "ncclDevKernel_%s(ncclDevKernelArgsStorage<4096ul>)", collectives[index]);
    return KIND_COLLECTIVE;
}

static const char *const operator_names[] = {"aten::empty_strided",
                                             "aten::to",
                                             "aten::_to_copy",
                                             "aten::linear",
                                             "aten::addmm",
                                             "aten::mm",
                                             "aten::matmul",
                                             "aten::transpose",
                                             "aten::as_strided",
                                             "aten::t",
                                             "aten::add",
                                             "aten::mul",
                                             "aten::native_layer_norm",
                                             "aten::layer_norm",
                                             "aten::gelu",
                                             "aten::scaled_dot_product_attention",
                                             "aten::_flash_attention_forward",
                                             "aten::view",
                                             "aten::reshape",
                                             "aten::select",
                                             "aten::slice",
                                             "aten::copy_",
                                             "aten::detach",
                                             "aten::sum",
                                             "aten::cat",
                                             "aten::empty",
                                             "autograd::engine::evaluate_function: AddmmBackward0",
                                             "AddmmBackward0",
                                             "autograd::engine::evaluate_function: MulBackward0",
                                             "MulBackward0",
                                             "aten::_foreach_add_",
                                             "aten::_fused_adamw_",
                                             "aten::embedding",
                                             "torch::autograd::AccumulateGrad"};

static const char *const python_names[] = {"torch/nn/modules/module.py(1532): _call_impl",
                                           "torch/nn/modules/module.py(1541): _wrapped_call_impl",
                                           "nn.Module: Linear_",
                                           "torch/nn/modules/linear.py(116): forward",
                                           "nn.Module: LayerNorm_",
                                           "torch/_tensor.py(945): __torch_function__",
                                           "torch/nn/functional.py(2546): layer_norm",
                                           "<built-in function linear>",
                                           "transformers/models/llama/modeling_llama.py(412): forward",
                                           "torch/utils/_contextlib.py(115): decorate_context",
                                           "torch/autograd/grad_mode.py(184): __enter__",
                                           "torch/optim/adamw.py(188): step",
                                           "threading.py(1045): _bootstrap_inner"};

#endif
