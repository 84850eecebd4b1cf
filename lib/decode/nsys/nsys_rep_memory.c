/* Memory: the sub-messages of allocations, deallocations and operations of memory pools come in, the model gets them.
 */
#include "decode/nsys/nsys_rep_sink.h"
#include "decode/proto/proto.h"

static const struct gt_nsys_memory unknown = {
    .start_ns = GT_NO_TIME,
    .correlation = GT_NSYS_NO_ID,
    .global_pid = GT_NSYS_NO_ID,
    .stream = GT_NSYS_NO_ID,
    .address = GT_NSYS_NO_ID,
    .bytes = GT_NSYS_NO_ID,
    .memory_kind = GT_NSYS_NO_ID,
    .device = -1,
    .name_id = GT_NSYS_NO_ID,
    .pool = GT_NSYS_NO_ID,
    .pool_bytes = GT_NSYS_NO_ID,
    .pool_used_bytes = GT_NSYS_NO_ID,
    .pool_kept_bytes = GT_NSYS_NO_ID,
};

/* The pool that memory is from, after the operation. */
static void take_pool_of(struct gt_nsys_memory *memory, struct gt_str pool) {
    memory->pool = gt_proto_find_value(pool, GT_PROTO_VARINT(1), GT_NSYS_NO_ID);
    memory->pool_kept_bytes = gt_proto_find_value(pool, GT_PROTO_VARINT(2), GT_NSYS_NO_ID);
    memory->pool_bytes = gt_proto_find_value(pool, GT_PROTO_VARINT(3), GT_NSYS_NO_ID);
    memory->pool_used_bytes = gt_proto_find_value(pool, GT_PROTO_VARINT(4), GT_NSYS_NO_ID);
}

bool gt_nsys_rep_sink_take_memory(struct gt_nsys_rep_sink *sink, struct gt_str message) {
    struct gt_nsys_memory memory = unknown;
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    while (gt_proto_next(&fields, &field)) {
        switch (field.tag) {
        case GT_PROTO_VARINT(1):
            memory.start_ns = (int64_t)field.value;
            break;
        case GT_PROTO_VARINT(3):
            memory.device = (int64_t)field.value;
            break;
        case GT_PROTO_VARINT(5):
            memory.global_pid = field.value;
            break;
        case GT_PROTO_VARINT(6):
            memory.address = field.value;
            break;
        case GT_PROTO_VARINT(8):
            memory.bytes = field.value;
            break;
        case GT_PROTO_VARINT(9):
            memory.memory_kind = field.value;
            break;
        case GT_PROTO_VARINT(10):
            memory.operation = field.value;
            break;
        case GT_PROTO_BYTES(11):
            memory.name = field.bytes;
            break;
        case GT_PROTO_VARINT(12):
            memory.correlation = field.value;
            break;
        case GT_PROTO_BYTES(13):
            take_pool_of(&memory, field.bytes);
            break;
        case GT_PROTO_VARINT(15):
            memory.stream = field.value;
            break;
        }
    }
    if (!fields.is_damaged)
        gt_nsys_add_memory(sink->model, &memory);
    return !fields.is_damaged;
}

bool gt_nsys_rep_sink_take_pool(struct gt_nsys_rep_sink *sink, struct gt_str message) {
    struct gt_nsys_memory memory = unknown;
    struct gt_proto fields = gt_proto_of(message);
    struct gt_proto_field field;
    memory.is_pool = true;
    while (gt_proto_next(&fields, &field)) {
        switch (field.tag) {
        case GT_PROTO_VARINT(1):
            memory.start_ns = (int64_t)field.value;
            break;
        case GT_PROTO_VARINT(2):
            memory.operation = field.value;
            break;
        case GT_PROTO_VARINT(4):
            memory.correlation = field.value;
            break;
        case GT_PROTO_VARINT(5):
            memory.global_pid = field.value;
            break;
        case GT_PROTO_VARINT(6):
            memory.device = (int64_t)field.value;
            break;
        case GT_PROTO_VARINT(7):
            memory.pool = field.value;
            break;
        case GT_PROTO_VARINT(8):
            memory.bytes = field.value;
            break;
        case GT_PROTO_BYTES(9):
            memory.pool_bytes = gt_proto_find_value(field.bytes, GT_PROTO_VARINT(9), GT_NSYS_NO_ID);
            memory.pool_kept_bytes = gt_proto_find_value(field.bytes, GT_PROTO_VARINT(10), GT_NSYS_NO_ID);
            memory.pool_used_bytes = gt_proto_find_value(field.bytes, GT_PROTO_VARINT(11), GT_NSYS_NO_ID);
            break;
        }
    }
    if (!fields.is_damaged)
        gt_nsys_add_memory(sink->model, &memory);
    return !fields.is_damaged;
}
