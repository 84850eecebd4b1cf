/* Numbers and names as findings write them. */
#include "measure/findings/say.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "measure/results/calls.h"
#include "measure/results/measure.h"

/* In bytes, as sentences hold it; tables have all of it. */
enum { LONGEST_NAME = 64 }; /* fits "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__" */

const char *gt_say_ns(struct gt_evidence *evidence, double ns) {
    char text[GT_NUM_MAX];
    gt_num_format_duration(text, ns);
    return gt_arena_copy(evidence->arena, gt_str_of(text)).ptr;
}

const char *gt_say_share(struct gt_evidence *evidence, double part, double whole) {
    return gt_arena_printf(evidence->arena, "%.1f%%", whole > 0 ? 100 * part / whole : 0.0).ptr;
}

const char *gt_say_count(struct gt_evidence *evidence, size_t count) {
    char text[GT_NUM_MAX];
    gt_num_format_grouped(text, count > INT64_MAX ? INT64_MAX : (int64_t)count);
    return gt_arena_copy(evidence->arena, gt_str_of(text)).ptr;
}

const char *gt_say_counted(struct gt_evidence *evidence, size_t count, const char *noun) {
    size_t length = strlen(noun);
    /* gap, launch, copy */
    const char *plural = length && noun[length - 1] == 'h' ? "es" : length && noun[length - 1] == 'y' ? "ies" : "s";
    int stem = (int)(count != 1 && plural[0] == 'i' ? length - 1 : length);
    return gt_arena_printf(evidence->arena, "%s %.*s%s", gt_say_count(evidence, count), stem, noun,
                           count == 1 ? "" : plural)
        .ptr;
}

const char *gt_say_bytes(struct gt_evidence *evidence, uint64_t bytes) {
    char text[GT_NUM_MAX];
    gt_num_format_bytes(text, (double)bytes);
    return gt_arena_copy(evidence->arena, gt_str_of(text)).ptr;
}

const char *gt_say_quoted(struct gt_evidence *evidence, struct gt_str text) {
    struct gt_str kept = gt_str_cut(text, LONGEST_NAME);
    return gt_arena_printf(evidence->arena, "'%.*s%s'", (int)kept.len, kept.ptr, kept.len < text.len ? "..." : "").ptr;
}

struct gt_str gt_say_argument(struct gt_evidence *evidence, struct gt_str text) {
    static const char escaped[] = "'\\''";
    char *argument = gt_arena_array(evidence->arena, text.len + 1, sizeof escaped);
    size_t bytes = 0;
    if (!argument)
        return (struct gt_str){"", 0};
    argument[bytes++] = '\'';
    for (size_t i = 0; i < text.len; i++) {
        size_t added = text.ptr[i] == '\'' ? sizeof escaped - 1 : 1;
        memcpy(argument + bytes, added == 1 ? text.ptr + i : escaped, added);
        bytes += added;
    }
    argument[bytes++] = '\'';
    return (struct gt_str){argument, bytes};
}

bool gt_say_name_is_lost(struct gt_evidence *evidence, gt_strid name) {
    struct gt_str text = gt_store_string(evidence->view->store, name);
    return text.len == 0 || gt_str_eq(text, GT_LOST_NAME);
}

/* What vendors call their graphs and what profiles single kernels. */
static const struct {
    uint32_t context;
    const char *graph, *profiler;
} vendors[] = {
    {GT_CONTEXT_NVIDIA, "CUDA graph", "Nsight Compute"},
    {GT_CONTEXT_AMD, "HIP graph", "rocprofv3"},
    {GT_CONTEXT_INTEL, "SYCL graph", "VTune or unitrace"},
    {GT_CONTEXT_HABANA, "HPU graph", "Gaudi's profiler"},
    {GT_CONTEXT_ASCEND, "graph", "msprof"},
    {GT_CONTEXT_VENDOR, "graph", "the vendor's kernel profiler"},
};

static size_t vendor_of(const struct gt_evidence *evidence) {
    size_t vendor = 0;
    while (vendor + 1 < GT_ARRAY_COUNT(vendors) && !(evidence->context & vendors[vendor].context))
        vendor++;
    return vendor;
}

const char *gt_say_graph(const struct gt_evidence *evidence) {
    return vendors[vendor_of(evidence)].graph;
}

const char *gt_say_profiler(const struct gt_evidence *evidence) {
    return vendors[vendor_of(evidence)].profiler;
}

const char *gt_say_kernel(struct gt_evidence *evidence, gt_strid full_name) {
    if (gt_say_name_is_lost(evidence, full_name))
        return "an unnamed op";
    return gt_say_quoted(evidence, gt_labels_short_name(evidence->view->labels, full_name));
}

const char *gt_say_call(struct gt_evidence *evidence, gt_strid name) {
    if (gt_say_name_is_lost(evidence, name))
        return "an unnamed call";
    struct gt_str text = gt_call_plain_name(gt_store_string(evidence->view->store, name));
    struct gt_str kept = gt_str_cut(text, LONGEST_NAME);
    return gt_arena_printf(evidence->arena, "%.*s%s", (int)kept.len, kept.ptr, kept.len < text.len ? "..." : "").ptr;
}
