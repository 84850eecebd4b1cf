/* Parts of sentences: numbers and names as findings write them. All live as long as the report. */
#ifndef GT_MEASURE_FINDINGS_SAY_H
#define GT_MEASURE_FINDINGS_SAY_H

#include "measure/findings/evidence.h"

/* The name is not known: many that look like one. */
bool gt_say_name_is_lost(struct gt_evidence *evidence, gt_strid name);

/* Parts of sentences; they live as long as the report. */
const char *gt_say_ns(struct gt_evidence *evidence, double ns);                           /* "12.3 ms" */
const char *gt_say_share(struct gt_evidence *evidence, double part, double whole);        /* "12.3%" */
const char *gt_say_count(struct gt_evidence *evidence, size_t count);                     /* "12,345" */
const char *gt_say_counted(struct gt_evidence *evidence, size_t count, const char *noun); /* "1 gap", "12 gaps" */
const char *gt_say_bytes(struct gt_evidence *evidence, uint64_t bytes);                   /* "1.5 MB" */
/* As one word of a command for a shell: 'it'\''s' */
struct gt_str gt_say_argument(struct gt_evidence *evidence, struct gt_str text);
const char *gt_say_quoted(struct gt_evidence *evidence, struct gt_str text); /* quoted, cut where it is long */
const char *gt_say_call(struct gt_evidence *evidence, gt_strid name);        /* its plain name, likewise cut */
const char *gt_say_graph(const struct gt_evidence *evidence);    /* "CUDA graph", on AMD "HIP graph" and so on */
const char *gt_say_profiler(const struct gt_evidence *evidence); /* of single kernels: "Nsight Compute" */
const char *gt_say_kernel(struct gt_evidence *evidence, gt_strid full_name); /* its simplified name, likewise */

#endif
