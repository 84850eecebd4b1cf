/* Context: whose GPU it is, which framework runs on it and what wrote the trace, so that advice fits. */
#ifndef GT_MEASURE_FINDINGS_CONTEXT_H
#define GT_MEASURE_FINDINGS_CONTEXT_H

#include "measure/results/named.h"

/* Bits. Of each group exactly one is set. */
enum gt_context {
    GT_CONTEXT_NVIDIA = 1 << 0,
    GT_CONTEXT_AMD = 1 << 1,
    GT_CONTEXT_INTEL = 1 << 15,
    GT_CONTEXT_HABANA = 1 << 16, /* Intel's Gaudi */
    GT_CONTEXT_ASCEND = 1 << 17, /* Huawei's NPUs */
    GT_CONTEXT_VENDOR = 1 << 18, /* any other: MTIA, MUSA ... */

    GT_CONTEXT_CUDA = 1 << 19, /* NVIDIA or AMD: PyTorch calls both cuda */
    GT_CONTEXT_NO_CUDA = 1 << 20,

    GT_CONTEXT_TORCH = 1 << 2,
    GT_CONTEXT_JAX = 1 << 3,
    GT_CONTEXT_PLAIN = 1 << 4, /* neither: CUDA or HIP programs, TensorRT and others */

    GT_CONTEXT_COMPILED = 1 << 5, /* kernels of Inductor, XLA or another compiler run */
    GT_CONTEXT_EAGER = 1 << 6,

    GT_CONTEXT_GRAPHS = 1 << 7, /* some work is launched by CUDA or HIP graphs */
    GT_CONTEXT_NO_GRAPHS = 1 << 8,

    GT_CONTEXT_NSYS = 1 << 9,     /* Nsight Systems wrote it */
    GT_CONTEXT_KINETO = 1 << 10,  /* PyTorch's profiler did */
    GT_CONTEXT_XLA = 1 << 13,     /* XLA's did (jax.profiler) */
    GT_CONTEXT_ROCPROF = 1 << 14, /* ROCm's did (rocprofv3) */

    GT_CONTEXT_ENGINE = 1 << 11, /* an inference engine launches: vLLM, SGLang, TensorRT-LLM */
    GT_CONTEXT_NO_ENGINE = 1 << 12,
};

/* The kernels are those of the view. */
uint32_t gt_context_of(const struct gt_view *view, const struct gt_named_set *kernels);

#endif
