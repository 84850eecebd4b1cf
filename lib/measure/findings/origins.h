/* Origins: from time on the GPU to the name of the code that launched it. */
#ifndef GT_MEASURE_FINDINGS_ORIGINS_H
#define GT_MEASURE_FINDINGS_ORIGINS_H

#include "measure/findings/evidence.h"

/* An op, and how much its name counts. */
struct gt_origin_part {
    uint32_t position;
    int64_t ns;
};

/* A growing list. Zero-initialise. */
struct gt_origin_parts {
    struct gt_origin_part *items;
    size_t count, capacity;
    bool has_failed; /* memory was short */
};

void gt_origin_parts_add(struct gt_origin_parts *parts, uint32_t position, int64_t ns);
void gt_origin_parts_release(struct gt_origin_parts *parts);

struct gt_origin {
    gt_strid name; /* GT_STRID_EMPTY: nothing that the trace shows has most of the time */
    bool is_range;
    int64_t ns; /* launched in it */
};

/* The innermost range inside a step that launched at least half of the time, else the operator that did, as the program
   called it (aten::to, not the aten::copy_ in it). Linear. */
struct gt_origin gt_origins_of_parts(struct gt_evidence *evidence, const struct gt_origin_parts *parts);
/* The range alone: to look for operators takes longer. */
struct gt_origin gt_origins_range_of_parts(struct gt_evidence *evidence, const struct gt_origin_parts *parts);
/* The same of what the rule that looks has claimed. A gap counts for the op after it. */
struct gt_origin gt_origins_of_claims(struct gt_evidence *evidence);

/* The outermost range of an op inside its step; GT_NO_ROW. */
uint32_t gt_origins_outermost_range(const struct gt_view *view, uint32_t position);

/* "'save'", or other words where the name is not known. */
const char *gt_origins_say(struct gt_evidence *evidence, const struct gt_origin *origin, const char *instead);

#endif
