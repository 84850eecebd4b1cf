/* Render stages: GPU work as Perfetto has it comes in, ops go out. */
#include "decode/proto/pftrace_fields.h"
#include "decode/proto/pftrace_reading.h"

struct stage {
    uint64_t event_id, length_ns, context, queue_iid, stage_iid, name_iid, kernel_iid;
    int64_t queue_id, gpu;
    struct gt_str name, launch;
    bool has_gpu;
};

static void take_field(struct stage *stage, const struct gt_proto_field *field) {
    switch (field->tag) {
    case PF_STAGE_EVENT_ID:
        stage->event_id = field->value;
        break;
    case PF_STAGE_DURATION:
        stage->length_ns = field->value;
        break;
    case PF_STAGE_QUEUE_ID:
        stage->queue_id = (int64_t)field->value;
        break;
    case PF_STAGE_CONTEXT:
        stage->context = field->value;
        break;
    case PF_STAGE_GPU:
        stage->gpu = (int32_t)field->value;
        stage->has_gpu = true;
        break;
    case PF_STAGE_QUEUE_IID:
        stage->queue_iid = field->value;
        break;
    case PF_STAGE_STAGE_IID:
        stage->stage_iid = field->value;
        break;
    case PF_STAGE_NAME:
        stage->name = field->bytes;
        break;
    case PF_STAGE_KERNEL_IID:
        stage->kernel_iid = field->value;
        break;
    case PF_STAGE_NAME_IID:
        stage->name_iid = field->value;
        break;
    case PF_STAGE_LAUNCH:
        stage->launch = field->bytes;
        break;
    default:
        break;
    }
}

/* The numbers that most stages begin with, by the bytes of their tags: gives the first other field, or one that is
   damaged. */
static inline __attribute__((always_inline)) const unsigned char *
take_usual(struct stage *stage, const unsigned char *p, const unsigned char *end) {
    while (p < end) {
        struct gt_proto_number number = gt_proto_read(p + 1, end);
        if (!number.p)
            return p;
        switch (*p) {
        case PF_STAGE_EVENT_ID:
            stage->event_id = number.value;
            break;
        case PF_STAGE_DURATION:
            stage->length_ns = number.value;
            break;
        case PF_STAGE_CONTEXT:
            stage->context = number.value;
            break;
        case PF_STAGE_GPU:
            stage->gpu = (int32_t)number.value;
            stage->has_gpu = true;
            break;
        case PF_STAGE_QUEUE_IID:
            stage->queue_iid = number.value;
            break;
        case PF_STAGE_STAGE_IID:
            stage->stage_iid = number.value;
            break;
        default:
            return p;
        }
        p = number.p;
    }
    return p;
}

/* NULL: there is none of that number. */
static const struct gt_pftrace_spec *spec_of(struct gt_pftrace_reading *reading,
                                             const struct gt_pftrace_sequence *sequence, uint64_t iid) {
    uint32_t spec = iid ? gt_pftrace_reading_name(reading, sequence, PF_GPU_SPECIFICATIONS, iid) : GT_PFTRACE_NONE;
    return spec < reading->spec_count ? &reading->specs[spec] : NULL;
}

static gt_strid name_of(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                        const struct stage *stage) {
    uint32_t name = GT_PFTRACE_NONE;
    if (stage->name_iid)
        name = gt_pftrace_reading_name(reading, sequence, PF_EVENT_NAMES, stage->name_iid);
    else if (stage->name.ptr)
        name = gt_builder_string(reading->builder, stage->name);
    else if (stage->kernel_iid)
        name = gt_pftrace_reading_name(reading, sequence, PF_COMPUTE_KERNELS, stage->kernel_iid);
    return name != GT_PFTRACE_NONE ? name : gt_builder_string(reading->builder, GT_LOST_NAME);
}

static uint8_t kind_of(const struct gt_pftrace_reading *reading, const struct stage *stage,
                       const struct gt_pftrace_spec *spec, gt_strid name) {
    struct gt_str text = gt_store_string(&reading->builder->store, name);
    if (spec && spec->has_kind)
        return spec->kind;
    if (stage->kernel_iid)
        return GT_OP_KERNEL;
    return gt_str_starts_nocase(text, GT_STR("memcpy"))   ? GT_OP_MEMCPY
           : gt_str_starts_nocase(text, GT_STR("memset")) ? GT_OP_MEMSET
                                                          : GT_OP_KERNEL;
}

/* gputime says in the queue whether its process is known; of others the context has it. */
static uint32_t find_lane(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                          const struct stage *stage, uint32_t machine) {
    const struct gt_pftrace_spec *queue = spec_of(reading, sequence, stage->queue_iid);
    int64_t stream = queue && queue->stream != INT64_MIN ? queue->stream : (int64_t)stage->queue_iid;
    int64_t pid = queue ? queue->pid : INT64_MIN;
    if (!stage->queue_iid)
        stream = stage->queue_id;
    if (!reading->is_of_gputime && stage->context) {
        uint32_t known = gt_pftrace_reading_name(reading, sequence, PF_GRAPHICS_CONTEXTS, stage->context);
        pid = known == GT_PFTRACE_NONE ? INT64_MIN : (int64_t)(int32_t)known;
    }
    uint32_t process = gt_pftrace_reading_owner(reading, pid, machine);
    return gt_builder_lane(reading->builder, process, stage->has_gpu ? stage->gpu : 0, stream < 0 ? -1 : stream);
}

/* Most stages are where the one before was. */
static uint32_t lane_of(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                        const struct stage *stage, uint32_t machine) {
    struct gt_pftrace_place *last = &reading->last_place;
    int64_t gpu = stage->has_gpu ? stage->gpu : 0;
    if (last->names == sequence->names && last->queue_iid == stage->queue_iid && last->queue_id == stage->queue_id &&
        last->context == stage->context && last->gpu == gpu && last->machine == machine)
        return last->lane;
    uint32_t lane = find_lane(reading, sequence, stage, machine);
    *last = (struct gt_pftrace_place){
        sequence->names, stage->queue_iid, stage->context, stage->queue_id, gpu, machine, lane};
    return lane;
}

void gt_pftrace_reading_op_details(struct gt_pftrace_reading *reading, const struct gt_pftrace_details *details) {
    if (details->bytes != UINT64_MAX)
        gt_builder_copy(reading->builder,
                        &(struct gt_copies_row){.bytes = details->bytes, .src = details->src, .dst = details->dst});
    if (details->graph != UINT32_MAX)
        gt_builder_graph_op(reading->builder, &(struct gt_graph_ops_row){.graph = details->graph});
    if (details->has_config && reading->facts & GT_FACT_CONFIGS)
        gt_builder_kernel_config(reading->builder, &details->config);
    if (details->has_launch && reading->facts & GT_FACT_CONFIGS)
        gt_builder_launch_detail(reading->builder, &details->launch);
}

void gt_pftrace_reading_stage(struct gt_pftrace_reading *reading, const struct gt_pftrace_sequence *sequence,
                              struct gt_str bytes, int64_t time_ns, uint32_t machine) {
    struct gt_proto message = gt_proto_of(bytes);
    struct gt_proto_field field = {0};
    struct stage stage = {0};
    if (!(reading->facts & GT_FACT_OPS))
        return;
    while ((message.p = take_usual(&stage, message.p, message.end)) < message.end && gt_proto_next(&message, &field))
        take_field(&stage, &field);
    if (message.is_damaged) {
        gt_builder_issue(reading->builder, GT_ISSUE_EVENT_DAMAGED, 1, reading->offset);
        return;
    }
    struct gt_pftrace_details details;
    memcpy(&details, &gt_pftrace_no_details, reading->details_bytes);
    if (stage.launch.ptr)
        gt_pftrace_reading_launch(reading, sequence, (struct gt_str){stage.launch.ptr, stage.launch.len}, &details);
    gt_strid name = name_of(reading, sequence, &stage);
    struct gt_ops_row row = {.start_ns = time_ns,
                             .end_ns = (int64_t)((uint64_t)time_ns + stage.length_ns),
                             .correlation = stage.event_id,
                             .name = name,
                             .lane = lane_of(reading, sequence, &stage, machine),
                             .kind = kind_of(reading, &stage, spec_of(reading, sequence, stage.stage_iid), name),
                             .flags = details.is_in_graph ? GT_OP_IN_GRAPH : 0};
    if (row.lane == GT_NO_TRACK)
        return;
    reading->last_ns = row.end_ns > reading->last_ns ? row.end_ns : reading->last_ns;
    if (gt_builder_op(reading->builder, &row))
        gt_pftrace_reading_op_details(reading, &details);
}
