/* One record of NCCL Inspector: the text of its object comes in, a row of comm_logs goes out. */
#ifndef GT_DECODE_NCCL_NCCL_RECORD_H
#define GT_DECODE_NCCL_NCCL_RECORD_H

#include "events/builder.h"

struct gt_nccl_record_sink {
    struct gt_builder *builder;
    gt_strid host;          /* of the first record */
    bool has_several_hosts; /* and others have another */
    gt_strid version;       /* of the format, as the first record has it */
    uint64_t record_count;  /* objects that are records, whole or not */
};

/* text: an object that is whole, from brace to brace. false: it is no record of a collective or message. */
bool gt_nccl_record_take(struct gt_nccl_record_sink *sink, struct gt_str text, uint64_t offset);

#endif
