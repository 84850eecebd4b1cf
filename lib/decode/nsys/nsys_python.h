/* Python stacks that Nsight samples (--python-sampling): payloads of marks come in, Python functions go out, as if they
   had been traced: a frame that stays in the stack from one sample to the next is one call. */
#ifndef GT_DECODE_NSYS_NSYS_PYTHON_H
#define GT_DECODE_NSYS_NSYS_PYTHON_H

#include "base/map.h"
#include "decode/nsys/nsys_comm.h"

/* Where payloads of a schema have the frames of a stack, or those of another one the parts of a frame. */
struct gt_nsys_python_layout {
    uint64_t count_offset, frames_offset, frame_schema;
    uint64_t function_offset, file_offset, end; /* of a frame */
    bool has_count, has_frames, has_function, has_file;
};

/* Zeroed is empty. Scopes are those of gt_nsys_comm_schemas. */
struct gt_nsys_python_schemas {
    struct gt_map layout_of; /* (scope, schema) -> layout */
    struct gt_nsys_python_layout *layouts;
    size_t count, capacity;
    bool has_failed; /* memory was short */
};

void gt_nsys_python_release(struct gt_nsys_python_schemas *schemas);
void gt_nsys_python_add_entry(struct gt_nsys_python_schemas *schemas, uint64_t scope, uint64_t schema,
                              const struct gt_nsys_comm_entry *entry);

/* Keeps the stack in the payload of a mark until all are there. false: the payload is of another kind. */
bool gt_nsys_python_take(struct gt_nsys_sink *sink, const struct gt_nsys_python_schemas *schemas, uint64_t scope,
                         uint64_t schema, struct gt_str payload, const struct gt_nsys_nvtx *event);

#endif
