/* The jobs that the traces of one reading are of: usually one, which is judged as a whole; of several, each by itself.
 */
#ifndef GT_JOB_PARTS_H
#define GT_JOB_PARTS_H

#include "job_read.h"
#include "report/section.h"

/* Divides what was read: fills what is job_parts.h's. inputs: with the paths that were read. */
enum gt_status gt_job_parts_find(struct gputime_job *job, const struct gputime_input *inputs, bool hides_names,
                                 struct gt_error *err);
void gt_job_parts_release(struct gputime_job *job);

/* The summaries of one of them, as many as job->list has at most, traces first; gives how many, and of these how many
   are traces. */
size_t gt_job_parts_list(const struct gputime_job *job, size_t part, struct gt_rank_summary **list, size_t *traces);

/* Says, where there are several, why, and which traces this one has. */
void gt_job_parts_note(const struct gputime_job *job, size_t part, struct gt_section *section);

/* A sentence about all jobs: on the screen before the first, in data among its notes. */
void gt_job_parts_note_first(struct gt_str text, struct gt_section *first);

/* The traces that are left out because others have the same events, as sentences in an arena. */
size_t gt_job_parts_copies(const struct gputime_job *job, struct gt_str *notes, size_t capacity,
                           struct gt_arena *arena);

#endif
