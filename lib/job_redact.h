/* What a job of redacted traces may say of hosts and files. */
#ifndef GT_JOB_REDACT_H
#define GT_JOB_REDACT_H

#include "job_read.h"

bool gt_job_redact_is_asked(const struct gputime_input *inputs, size_t count);

/* After reading. Hosts get numbers, from 1 in the order of the inputs; errors name inputs by number instead of files.
 */
enum gt_status gt_job_redact(struct gputime_job *job, const struct gputime_input *inputs, struct gputime_error *errors,
                             struct gt_error *err);

#endif
