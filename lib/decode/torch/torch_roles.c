/* What an event is for: one event of a kind and what is asked for come in, the role of all of its kind goes out. */
#include "decode/torch/torch_details.h"
#include "decode/torch/torch_facts.h"
#include "decode/torch/torch_halves.h"
#include "decode/torch/torch_layout.h"

#define BIT(field) (UINT32_C(1) << (field))

/* Events of all phases but X are left out unless somebody asks for them; then they take the long way. */
static bool is_left_out(const struct gt_torch_layout *layout, const struct gt_torch_event *event, char phase) {
    switch (phase) {
    case 'C':
        return !(layout->facts & GT_FACT_METRICS);
    case 'i':
    case 'I':
        return !(layout->facts & (GT_FACT_COUNTERS | GT_FACT_MEMORY));
    case 's':
    case 'f': /* the name may say what the category does not */
        return !(layout->facts & GT_FACT_FLOWS) || gt_torch_facts_is_launch_flow(event);
    case 'B':
    case 'E':
        return !(layout->facts & GT_FACT_OPS) || !gt_torch_halves_may_be(event);
    default:
        return true;
    }
}

/* Whether such events take the long way whenever they become rows. */
static bool is_for_portable(const struct gt_torch_layout *layout, const struct gt_torch_event *event) {
    switch (event->category) {
    case GT_TORCH_CAT_KERNEL:
        return layout->facts & GT_FACT_COMMS && gt_torch_facts_has_comm(event);
    case GT_TORCH_CAT_GPU_OP:
    case GT_TORCH_CAT_DEVICE_OP:
    case GT_TORCH_CAT_SYNC:
    case GT_TORCH_CAT_EVENT_RECORD:
        return true;
    case GT_TORCH_CAT_CPU_OP:
        return (layout->facts & GT_FACT_DETAILS && gt_torch_details_has(event)) || gt_torch_sink_is_step(event);
    default: /* a step is no row of its category, and has no track where nobody asks for ranges */
        return gt_torch_sink_is_step(event);
    }
}

static uint32_t gpu_side_fields(const struct gt_torch_event *event) {
    uint32_t fields = BIT(gt_torch_event_has(event, GT_TORCH_DEVICE) ? GT_TORCH_DEVICE : GT_TORCH_PID) |
                      BIT(gt_torch_event_has(event, GT_TORCH_STREAM) ? GT_TORCH_STREAM : GT_TORCH_TID);
    if (event->category != GT_TORCH_CAT_GPU_RANGE)
        fields |= BIT(GT_TORCH_CORRELATION) | BIT(GT_TORCH_GRAPH) | BIT(GT_TORCH_GRAPH_NODE);
    if (event->category == GT_TORCH_CAT_MEMCPY || event->category == GT_TORCH_CAT_MEMSET)
        fields |= BIT(GT_TORCH_BYTES);
    return fields;
}

static enum gt_torch_role cpu_side_role(const struct gt_torch_layout *layout, enum gt_torch_category category) {
    if (category == GT_TORCH_CAT_CPU_OP && layout->facts & GT_FACT_ARGUMENTS)
        return GT_TORCH_ROLE_ARGUMENTS;
    if (category == GT_TORCH_CAT_CPU_OP && layout->facts & GT_FACT_COMMS)
        return GT_TORCH_ROLE_CPU_OP_OR_COMM;
    return gt_torch_sink_may_be_step(category) ? GT_TORCH_ROLE_CPU_OP : GT_TORCH_ROLE_CPU_SIDE;
}

/* The role of a complete event that becomes a row; false: it takes the long way. */
static bool choose_row_role(const struct gt_torch_layout *layout, const struct gt_torch_event *event,
                            struct gt_torch_purpose *purpose) {
    if (is_for_portable(layout, event))
        return false;
    purpose->wanted = BIT(GT_TORCH_NAME) | BIT(GT_TORCH_TS) | BIT(GT_TORCH_DUR);
    switch (event->category) {
    case GT_TORCH_CAT_KERNEL:
    case GT_TORCH_CAT_MEMCPY:
    case GT_TORCH_CAT_MEMSET:
    case GT_TORCH_CAT_GPU_RANGE:
        purpose->role = event->category == GT_TORCH_CAT_KERNEL && layout->facts & GT_FACT_CONFIGS
                            ? GT_TORCH_ROLE_CONFIG
                            : GT_TORCH_ROLE_GPU_SIDE;
        purpose->wanted |= gpu_side_fields(event);
        break;
    default:
        purpose->role = cpu_side_role(layout, event->category);
        purpose->wanted |= BIT(GT_TORCH_PID) | BIT(GT_TORCH_TID);
        if (event->category == GT_TORCH_CAT_CALL)
            purpose->wanted |= BIT(GT_TORCH_CORRELATION);
    }
    purpose->reads_text = purpose->role == GT_TORCH_ROLE_ARGUMENTS || purpose->role == GT_TORCH_ROLE_CONFIG;
    if (purpose->reads_text)
        purpose->wanted |= GT_TORCH_TEXT_FIELDS | GT_TORCH_DETAIL_FIELDS;
    return true;
}

bool gt_torch_layout_choose_role(const struct gt_torch_layout *layout, const struct gt_torch_event *event,
                                 struct gt_torch_purpose *purpose) {
    const struct gt_str phase = event->values[GT_TORCH_PH].text.raw;
    if (!gt_torch_event_has(event, GT_TORCH_PH) || !event->values[GT_TORCH_PH].is_string || phase.len != 1 ||
        phase.ptr[0] == 'M')
        return false;
    *purpose = (struct gt_torch_purpose){GT_TORCH_ROLE_SKIP, 0, false};
    if (phase.ptr[0] != 'X')
        return is_left_out(layout, event, phase.ptr[0]);
    if (!gt_torch_event_has(event, GT_TORCH_CAT) && layout->facts & GT_FACT_OPS)
        return false; /* torch_untyped.h keeps it */
    if (event->category == GT_TORCH_CAT_OTHER && gt_torch_event_has(event, GT_TORCH_ARGS) &&
        layout->facts & GT_FACT_OPS)
        return false; /* its args may be those of a GPU's work */
    if (layout->taken >> event->category & 1)
        return choose_row_role(layout, event, purpose);
    if (gt_torch_sink_may_be_step(event->category) && layout->facts & GT_FACT_RANGES) {
        purpose->role = GT_TORCH_ROLE_SKIP_UNLESS_STEP;
        purpose->wanted = BIT(GT_TORCH_NAME);
    }
    return true;
}
