/* What is around the events: documents, their header members, and where their arrays of events begin. */
#ifndef GT_DECODE_TORCH_TORCH_DOCUMENT_H
#define GT_DECODE_TORCH_TORCH_DOCUMENT_H

#include "decode/torch/torch_region.h"
#include "events/builder.h"

struct gt_torch_document {
    struct gt_builder *builder;
    uint32_t facts; /* as in the sink */
    size_t depth;   /* of open brackets, the array of events left out */
    uint64_t array_count;
    bool has_trace_events; /* the member was there, whatever its value */
    bool has_bare_array;
    bool is_after_colon;
    bool looks_for_events; /* set by the caller once events were damaged: the end of the array may have been none */
};

void gt_torch_document_init(struct gt_torch_document *document, struct gt_builder *builder, uint32_t facts);

/* Says that a document was found by its events' reader, which takes its first key for one of an event. */
void gt_torch_document_open(struct gt_torch_document *document);

/* Reads up to the next array of events: GT_TORCH_STOP_END, bytes->p is after its bracket, or at an event that is
   outside any array. GT_TORCH_STOP_MORE as for regions. Reading is loose, token by token: what cannot be understood is
   passed over, and nothing but the header members it knows is held together in memory. */
enum gt_torch_stop gt_torch_document_run(struct gt_torch_document *document, struct gt_json_bytes *bytes);

#endif
