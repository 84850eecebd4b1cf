/* What a report says about its capture apart from the events: strings, threads, GPUs, clocks and payload schemas, all
   read before the first event. */
#ifndef GT_DECODE_NSYS_NSYS_REP_FACTS_H
#define GT_DECODE_NSYS_NSYS_REP_FACTS_H

#include "decode/nsys/nsys.h"
#include "decode/nsys/nsys_rep_chunk.h"
#include "decode/nsys/nsys_rep_metrics.h"
#include "decode/nsys/nsys_rep_payload.h"

struct gt_nsys_rep_facts {
    struct gt_nsys_capture capture;
    struct gt_nsys_rep_schemas schemas;
    struct gt_nsys_rep_metric_types metrics; /* none where counters are not asked for */
    struct gt_str *strings;                  /* the capture's, which grow while they are read */
    size_t string_capacity;
    uint64_t missing_count; /* strings and threads that the index promises and that are not there */
    uint64_t damaged_count; /* chunks that do not inflate */
    uint64_t first_damaged; /* offset */
};

/* strings_at: after the event chunks. asked: enum gt_fact. What is not there or not readable is left out and counted.
 */
enum gt_status gt_nsys_rep_facts_init(struct gt_nsys_rep_facts *facts, const struct gt_nsys_rep_file *file,
                                      uint64_t strings_at, uint32_t asked, struct gt_error *err);
void gt_nsys_rep_facts_release(struct gt_nsys_rep_facts *facts);

#endif
