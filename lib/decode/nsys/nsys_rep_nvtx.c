/* NVTX: the sub-message of an event comes in, the model gets ranges, marks and names, and what a program attached to
   them: texts and what is known about collectives. Nsight traces MPI with ranges, too: they become host calls. */
#include "decode/nsys/nsys_rep_sink.h"
#include "decode/proto/proto.h"
#include "events/builder.h"

enum { TYPE_MARK = 34, TYPE_THREAD_NAME = 39, TYPE_PUSH_POP = 59, TYPE_START_END = 60 };

static void add_text(struct gt_nsys_rep_sink *sink, const struct gt_nsys_rep_text *text, struct gt_str bytes) {
    struct gt_builder *builder = sink->model->builder;
    uint64_t number;
    /* 0: the program gave none. */
    if (!gt_nsys_rep_payload_text_read(text, bytes, &number) || number == 0 ||
        !gt_nsys_has_string(&sink->facts->capture, number))
        return;
    gt_builder_range_text(builder, &(struct gt_range_texts_row){.key = gt_builder_string(builder, text->name),
                                                                .text = gt_nsys_string(sink->model, number)});
}

static void add_comm(struct gt_nsys_rep_sink *sink, const struct gt_nsys_rep_payload *payload, uint64_t global_tid) {
    struct gt_builder *builder = sink->model->builder;
    struct gt_nsys_comm comm;
    enum gt_nsys_comm_outcome outcome =
        gt_nsys_comm_read(&sink->facts->schemas.comms, payload->scope, payload->schema, payload->bytes, &comm);
    if (outcome == GT_NSYS_COMM_SHORT)
        gt_builder_issue_of(builder, GT_ISSUE_PAYLOAD_UNREADABLE, GT_FACT_COMMS, 1, GT_NO_OFFSET);
    if (gt_nsys_comm_is_known(&comm))
        gt_nsys_add_comm(sink->model, global_tid, &comm);
}

/* What belongs to the range that was added last. */
static void take_payload(struct gt_nsys_rep_sink *sink, const struct gt_nsys_nvtx *event, struct gt_str message) {
    const struct gt_nsys_rep_schemas *schemas = &sink->facts->schemas;
    uint64_t global_pid = gt_nsys_global_pid(event->global_tid);
    uint64_t domain = event->domain_id == GT_NSYS_NO_ID ? 0 : event->domain_id;
    struct gt_nsys_rep_payload payload;
    if (!gt_nsys_rep_payload_find(schemas, global_pid, domain, message, &payload))
        return;
    if (sink->model->facts & GT_FACT_RANGE_TEXTS) {
        struct gt_nsys_rep_schema texts = gt_nsys_rep_payload_texts(schemas, &payload);
        for (size_t i = 0; i < texts.text_count; i++)
            add_text(sink, &schemas->texts[texts.first_text + i], payload.bytes);
    }
    if (sink->model->facts & GT_FACT_COMMS)
        add_comm(sink, &payload, event->global_tid);
}

/* Whether the event was a sample of a Python stack. */
static bool take_python(struct gt_nsys_rep_sink *sink, const struct gt_nsys_nvtx *event, struct gt_str message) {
    const struct gt_nsys_rep_schemas *schemas = &sink->facts->schemas;
    uint64_t domain = event->domain_id == GT_NSYS_NO_ID ? 0 : event->domain_id;
    struct gt_nsys_rep_payload payload;
    return message.ptr && schemas->python.count &&
           gt_nsys_rep_payload_find(schemas, gt_nsys_global_pid(event->global_tid), domain, message, &payload) &&
           gt_nsys_python_take(sink->model, &schemas->python, payload.scope, payload.schema, payload.bytes, event);
}

static bool is_mpi_call(const struct gt_nsys_rep_sink *sink, const struct gt_nsys_nvtx *event) {
    return (event->type == TYPE_PUSH_POP || event->type == TYPE_START_END) && event->domain_id != GT_NSYS_NO_ID &&
           gt_nsys_rep_payload_is_mpi(&sink->facts->schemas, gt_nsys_global_pid(event->global_tid), event->domain_id);
}

/* Whether its payload names a communicator of NCCL: then it is a range in any domain. */
static bool is_of_nccl(const struct gt_nsys_rep_sink *sink, const struct gt_nsys_nvtx *event, struct gt_str message) {
    const struct gt_nsys_rep_schemas *schemas = &sink->facts->schemas;
    struct gt_nsys_rep_payload payload;
    if (!message.ptr ||
        !gt_nsys_rep_payload_find(schemas, gt_nsys_global_pid(event->global_tid), event->domain_id, message, &payload))
        return false;
    uint32_t layout = gt_map_get(&schemas->comms.layout_of, payload.scope, payload.schema);
    return layout != GT_MAP_NONE && schemas->comms.layouts[layout].types[GT_NSYS_COMM_COMMUNICATOR];
}

/* Its payload is not looked at: host calls have neither sizes nor peers. */
static void take_mpi_call(struct gt_nsys_rep_sink *sink, const struct gt_nsys_nvtx *event) {
    if (sink->model->facts & GT_FACT_HOST_CALLS)
        gt_nsys_add_host_call(sink->model, &(struct gt_nsys_host_call){.is_mpi = true,
                                                                       .start_ns = event->start_ns,
                                                                       .end_ns = event->end_ns,
                                                                       .global_tid = event->global_tid,
                                                                       .name_id = event->text_id,
                                                                       .name = event->text});
    else
        gt_builder_skip(sink->model->builder);
}

static void take_range(struct gt_nsys_rep_sink *sink, const struct gt_nsys_nvtx *event, struct gt_str payload) {
    const struct gt_ranges *ranges = &sink->model->builder->store.ranges;
    size_t ranges_before = ranges->count;
    if (event->type == TYPE_MARK && take_python(sink, event, payload))
        return;
    gt_nsys_add_nvtx(sink->model, event);
    bool reads_payloads = sink->model->facts & (GT_FACT_RANGE_TEXTS | GT_FACT_COMMS);
    if (reads_payloads && payload.ptr && ranges->count > ranges_before)
        take_payload(sink, event, payload);
}

/* The fields of the message; *payload: what is attached to the event. false: it is damaged. */
static bool read_event(struct gt_str message, struct gt_nsys_nvtx *event, struct gt_str *payload) {
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field)) {
        switch (field.tag) {
        case GT_PROTO_VARINT(1):
            event->type = field.value;
            break;
        case GT_PROTO_VARINT(2):
            event->start_ns = (int64_t)field.value;
            break;
        case GT_PROTO_VARINT(5):
            event->category = field.value;
            break;
        case GT_PROTO_BYTES(7):
            event->text = field.bytes;
            break;
        case GT_PROTO_BYTES(8):
            *payload = field.bytes;
            break;
        case GT_PROTO_VARINT(9):
            event->global_tid = field.value;
            break;
        case GT_PROTO_VARINT(10):
            event->end_ns = (int64_t)field.value;
            break;
        case GT_PROTO_VARINT(11):
            event->end_global_tid = field.value;
            break;
        case GT_PROTO_VARINT(12):
            event->text_id = field.value;
            break;
        case GT_PROTO_VARINT(13):
            event->domain_id = field.value;
            break;
        }
    }
    return !fields.is_damaged;
}

bool gt_nsys_rep_sink_take_nvtx(struct gt_nsys_rep_sink *sink, struct gt_str message) {
    struct gt_nsys_nvtx event = {
        .start_ns = GT_NO_TIME,
        .end_ns = GT_NO_TIME,
        .global_tid = GT_NSYS_NO_ID,
        .end_global_tid = GT_NSYS_NO_ID,
        .domain_id = GT_NSYS_NO_ID,
        .category = GT_NSYS_NO_ID,
        .text_id = GT_NSYS_NO_ID,
    };
    struct gt_str payload = {NULL, 0};
    if (!read_event(message, &event, &payload))
        return false;
    if (is_mpi_call(sink, &event) && !is_of_nccl(sink, &event, payload))
        take_mpi_call(sink, &event);
    else if (sink->model->facts & GT_FACT_RANGES || event.type == TYPE_THREAD_NAME)
        take_range(sink, &event, payload);
    else
        gt_builder_skip(sink->model->builder);
    return true;
}
