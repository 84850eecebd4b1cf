/* Finds out what a trace is of, from its format, the names of its devices and kernels. */
#include "measure/findings/context.h"

#include <string.h>

#include "base/mem.h"

#define HAS_ANY(text, ...)                                                                                             \
    gt_str_has_any_nocase(text, (const char *const[]){__VA_ARGS__},                                                    \
                          GT_ARRAY_COUNT(((const char *const[]){__VA_ARGS__})))

static bool is_of_rocm(const struct gt_store *store) {
    return gt_str_starts(gt_store_format(store), GT_STR("roc"));
}

/* Whose devices they are, by words in their names; where they have none, by how calls begin. The first that fits. */
static const struct {
    uint32_t context;
    const char *devices[5], *calls[3];
} vendors[] = {
    {GT_CONTEXT_NVIDIA, {"NVIDIA", "Tesla", "GeForce"}, {NULL}},
    {GT_CONTEXT_AMD, {"AMD", "Instinct", "Radeon", "gfx"}, {"hip"}},
    {GT_CONTEXT_HABANA, {"Gaudi", "Habana", "HPU"}, {"synLaunch", "synEvent"}},
    {GT_CONTEXT_INTEL, {"Intel", "XPU"}, {"urEnqueue", "piEnqueue", "zeCommand"}},
    {GT_CONTEXT_ASCEND, {"Ascend", "NPU"}, {"aclrt", "aclnn"}},
    {GT_CONTEXT_VENDOR, {"MTIA", "MUSA", "MLU", "PRIVATEUSE1"}, {"musa"}},
};

static bool has_word(struct gt_str name, const char *const *words, size_t count) {
    for (size_t i = 0; i < count && words[i]; i++)
        if (gt_str_find_nocase(name, gt_str_of(words[i])))
            return true;
    return false;
}

static bool begins_with(struct gt_str name, const char *const *words, size_t count) {
    for (size_t i = 0; i < count && words[i]; i++)
        if (gt_str_starts(name, gt_str_of(words[i])))
            return true;
    return false;
}

/* 0: the name says nothing. */
static uint32_t vendor_of(struct gt_str name, bool is_call) {
    for (size_t i = 0; i < GT_ARRAY_COUNT(vendors); i++)
        if (is_call ? begins_with(name, vendors[i].calls, GT_ARRAY_COUNT(vendors[i].calls))
                    : has_word(name, vendors[i].devices, GT_ARRAY_COUNT(vendors[i].devices)))
            return vendors[i].context;
    return 0;
}

static uint32_t find_vendor(const struct gt_store *store) {
    uint32_t vendor = is_of_rocm(store) ? GT_CONTEXT_AMD : 0;
    for (size_t i = 0; i < store->devices.count && !vendor; i++)
        vendor = vendor_of(gt_store_string(store, store->devices.name[i]), false);
    for (size_t i = 0; i < store->calls.count && i < 1000 && !vendor; i++)
        vendor = vendor_of(gt_store_string(store, store->calls.name[i]), true);
    if (!vendor)
        vendor = gt_store_issue(store, GT_ISSUE_OTHER_ACCELERATOR, GT_FACT_OPS).count ? GT_CONTEXT_VENDOR
                                                                                      : GT_CONTEXT_NVIDIA;
    return vendor | (vendor & (GT_CONTEXT_NVIDIA | GT_CONTEXT_AMD) ? GT_CONTEXT_CUDA : GT_CONTEXT_NO_CUDA);
}

enum { TORCH_NAME = 1, JAX_NAME = 2, COMPILED_NAME = 4, ENGINE_NAME = 8 };

/* What the name of a kernel says beyond what is known. Where PyTorch is known, JAX is of no interest. */
static unsigned name_says(struct gt_str name, unsigned known) {
    unsigned says = 0;
    if (!(known & TORCH_NAME) && HAS_ANY(name, "at::native", "c10::", "torch"))
        says |= TORCH_NAME;
    if (!((known | says) & (TORCH_NAME | JAX_NAME)) && HAS_ANY(name, "xla", "input_reduce_fusion", "loop_fusion"))
        says |= JAX_NAME;
    if (gt_str_starts(name, GT_STR("triton_")))
        says |= COMPILED_NAME;
    if (HAS_ANY(name, "vllm::", "sglang", "sgl_kernel", "tensorrt_llm"))
        says |= ENGINE_NAME;
    return says;
}

/* known: what need not be looked for. */
static unsigned names_say(const struct gt_store *store, const struct gt_named_set *kernels, unsigned known) {
    unsigned says = known;
    for (size_t i = 0; i < kernels->count; i++)
        says |= name_says(gt_store_string(store, kernels->items[i].full_name), says);
    return says;
}

/* Whether any op of the store is part of a graph, of the view or not. Most traces have none, so many are looked at at
   once. */
static bool may_have_nodes(const struct gt_ops *ops) {
    enum { BLOCK = 4096 };
    uint8_t flags = 0;
    for (size_t i = 0; i < ops->count && !(flags & GT_OP_IN_GRAPH);)
        for (size_t end = ops->count - i < BLOCK ? ops->count : i + BLOCK; i < end; i++)
            flags |= ops->flags[i];
    return flags & GT_OP_IN_GRAPH;
}

static bool has_graphs(const struct gt_view *view) {
    if (view->op_count && memchr(view->kind, GT_OP_GRAPH, view->op_count))
        return true;
    if (!may_have_nodes(&view->store->ops))
        return false;
    for (size_t i = 0; i < view->op_count; i++)
        if (view->store->ops.flags[gt_view_any_op_row(view, i)] & GT_OP_IN_GRAPH)
            return true;
    return false;
}

uint32_t gt_context_of(const struct gt_view *view, const struct gt_named_set *kernels) {
    struct gt_str format = gt_store_format(view->store);
    bool is_kineto = gt_str_eq(format, GT_STR("torch-json"));
    bool is_xla = gt_str_eq(format, GT_STR("xplane")) || gt_str_eq(format, GT_STR("xla-json"));
    unsigned says = names_say(view->store, kernels, is_kineto ? TORCH_NAME : is_xla ? JAX_NAME : 0);
    bool is_jax = is_xla || ((says & JAX_NAME) && !(says & TORCH_NAME)), is_torch = !is_jax && (says & TORCH_NAME);
    uint32_t context = find_vendor(view->store);
    context |= is_torch ? GT_CONTEXT_TORCH : is_jax ? GT_CONTEXT_JAX : GT_CONTEXT_PLAIN;
    context |= is_jax || (says & COMPILED_NAME) ? GT_CONTEXT_COMPILED : GT_CONTEXT_EAGER;
    context |= has_graphs(view) ? GT_CONTEXT_GRAPHS : GT_CONTEXT_NO_GRAPHS;
    context |= says & ENGINE_NAME ? GT_CONTEXT_ENGINE : GT_CONTEXT_NO_ENGINE;
    if (is_of_rocm(view->store))
        return context | GT_CONTEXT_ROCPROF;
    return context | (is_kineto ? GT_CONTEXT_KINETO : is_xla ? GT_CONTEXT_XLA : GT_CONTEXT_NSYS);
}
