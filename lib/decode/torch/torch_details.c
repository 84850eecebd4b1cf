/* What newer releases add to kernels and operators: what limits the blocks of a kernel, the node of its graph, the
   kernel that TorchInductor generated for an operator and the code that called it. */
#include "decode/torch/torch_details.h"
#include "base/mem.h"
#include "decode/torch/torch_args.h"
#include "decode/torch/torch_value.h"
#include "events/builder.h"

/* ---- launches ---- */

enum { ACTIVE, REGISTERS, SHARED, WARPS, BLOCKS, BARRIERS, BLOCK_REGISTERS, BLOCK_SHARED, NUMBERS, LIMITERS = NUMBERS };

static const struct gt_torch_args_key limit_keys[] = {
    {GT_STR("activeBlocksPerMultiprocessor"), ACTIVE},
    {GT_STR("blockLimitRegs"), REGISTERS},
    {GT_STR("blockLimitSharedMem"), SHARED},
    {GT_STR("blockLimitWarps"), WARPS},
    {GT_STR("blockLimitBlocks"), BLOCKS},
    {GT_STR("blockLimitBarriers"), BARRIERS},
    {GT_STR("allocatedRegistersPerBlock"), BLOCK_REGISTERS},
    {GT_STR("allocatedSharedMemPerBlock"), BLOCK_SHARED},
    {GT_STR("limitingFactors"), LIMITERS},
};

bool gt_torch_details_read_limits(struct gt_str object, struct gt_torch_limits *limits) {
    struct gt_launch_details_row row = GT_LAUNCH_DETAIL_UNKNOWN;
    uint32_t *const numbers[NUMBERS] = {
        [ACTIVE] = &row.active_blocks,
        [REGISTERS] = &row.limit_registers,
        [SHARED] = &row.limit_shared,
        [WARPS] = &row.limit_warps,
        [BLOCKS] = &row.limit_blocks,
        [BARRIERS] = &row.limit_barriers,
        [BLOCK_REGISTERS] = &row.allocated_registers,
        [BLOCK_SHARED] = &row.allocated_shared_bytes,
    };
    struct gt_torch_args args;
    gt_torch_args_read_object(&args, object, limit_keys, GT_ARRAY_COUNT(limit_keys));
    *limits = (struct gt_torch_limits){.row = row, .limiters = {.text = {{"", 0}, 0}}};
    bool is_whole = !args.is_damaged;
    for (unsigned i = 0; i < NUMBERS; i++) {
        uint64_t number;
        if (!gt_torch_args_has(&args, i))
            continue;
        if (gt_json_number_to_uint(&args.values[i], &number) == GT_JSON_NUMBER && number < UINT32_MAX)
            *numbers[i] = (uint32_t)number;
        else
            is_whole = false;
    }
    limits->row = row;
    if (gt_torch_args_has(&args, LIMITERS))
        limits->limiters = args.values[LIMITERS];
    limits->is_known = args.seen != 0;
    return is_whole;
}

void gt_torch_details_of_launch(const struct gt_torch_subject *at, const struct gt_json_value *object,
                                const struct gt_launch_details_row *others) {
    struct gt_torch_limits limits = {.row = *others};
    bool is_known =
        others->graph_node != UINT64_MAX || others->channel != UINT32_MAX || others->channel_type != UINT32_MAX;
    if (object && !object->is_string && object->text.raw.len && object->text.raw.ptr[0] == '{') {
        if (!gt_torch_details_read_limits(object->text.raw, &limits))
            gt_torch_subject_issue(at, GT_ISSUE_NUMBER_UNREADABLE);
        limits.row.graph_node = others->graph_node;
        limits.row.channel = others->channel;
        limits.row.channel_type = others->channel_type;
        if (limits.is_known)
            limits.row.limiters = gt_builder_string(at->sink->builder, gt_torch_subject_decode(at, &limits.limiters));
    }
    if (is_known || limits.is_known)
        gt_builder_launch_detail(at->sink->builder, &limits.row);
}

/* ---- operators ---- */

enum { NAME, FILE_NAME, HASH, BACKEND, KWARGS, GRID, STACK, MODULES, NUM_WARPS, NUM_STAGES };

static const struct gt_torch_args_key operator_keys[] = {
    {GT_STR("kernel_name"), NAME},       {GT_STR("kernel_file"), FILE_NAME},    {GT_STR("kernel_hash"), HASH},
    {GT_STR("kernel_backend"), BACKEND}, {GT_STR("kernel_kwargs"), KWARGS},     {GT_STR("grid"), GRID},
    {GT_STR("Call stack"), STACK},       {GT_STR("Module Hierarchy"), MODULES}, {GT_STR("num_warps"), NUM_WARPS},
    {GT_STR("num_stages"), NUM_STAGES},
};

bool gt_torch_details_has(const struct gt_torch_event *event) {
    struct gt_torch_args args;
    gt_torch_args_read(&args, event, operator_keys, GT_ARRAY_COUNT(operator_keys));
    return args.seen;
}

static uint32_t small_number(const struct gt_torch_subject *at, const struct gt_torch_args *args, unsigned field) {
    uint64_t number = gt_torch_args_uint(at, args, field);
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

void gt_torch_details_of_operator(const struct gt_torch_subject *at) {
    struct gt_torch_args args;
    gt_torch_args_take(&args, at, operator_keys, GT_ARRAY_COUNT(operator_keys));
    if (!args.seen)
        return;
    gt_builder_operator_detail(at->sink->builder, &(struct gt_operator_details_row){
                                                      .kernel_name = gt_torch_args_text(at, &args, NAME),
                                                      .kernel_file = gt_torch_args_text(at, &args, FILE_NAME),
                                                      .kernel_hash = gt_torch_args_text(at, &args, HASH),
                                                      .kernel_backend = gt_torch_args_text(at, &args, BACKEND),
                                                      .kernel_kwargs = gt_torch_args_text(at, &args, KWARGS),
                                                      .kernel_grid = gt_torch_args_text(at, &args, GRID),
                                                      .stack = gt_torch_args_text(at, &args, STACK),
                                                      .modules = gt_torch_args_text(at, &args, MODULES),
                                                      .num_warps = small_number(at, &args, NUM_WARPS),
                                                      .num_stages = small_number(at, &args, NUM_STAGES),
                                                  });
}
