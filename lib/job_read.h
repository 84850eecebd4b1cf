/* Reads captures of a job: each is opened, reduced to summaries of its ranks and let go. */
#ifndef GT_JOB_READ_H
#define GT_JOB_READ_H

#include "internal.h"
#include "ranks/rank_apart.h"
#include "ranks/rank_summary.h"

/* The ranks of one input. */
struct gt_job_ranks {
    struct gt_rank_summary *summaries;
    size_t count;
    uint64_t ops, kernels;
    bool is_read;
    enum gt_issue_id loss; /* why it was only partly read; GT_ISSUE_COUNT: it was not */
};

struct gputime_job {
    struct gt_job_ranks *inputs; /* in the order of the arguments */
    size_t input_count;
    size_t rank_count;               /* summaries with GPU work */
    size_t summary_count;            /* those of logs as well */
    struct gputime_error *errors;    /* by input: why it could not be read */
    const struct gputime_team *team; /* that helps with reports; NULL: none */
    char *folder;                    /* that all inputs are in */
    /* job_parts.h */
    struct gt_rank_summary **list; /* of all inputs: traces first, then logs */
    struct gt_str *names;          /* by input: its first file in the folder, as reports name it */
    struct gt_str *patterns;       /* by summary: its file, without the number of the rank */
    struct gt_str *paths;          /* by summary: the same with it */
    struct gt_rank_apart apart;    /* which jobs they are of */
    uint32_t *part_of;             /* by input: its job; without ranks it is the first, with copies alone none */
    struct gt_arena arena;
    bool hides_names;
};

struct gt_job_reading {
    const struct gputime_input *inputs;
    const uint32_t *own; /* own_count of the inputs to read, ascending */
    size_t own_count;
    const struct gputime_option *options; /* of the analysis */
    size_t option_count;
    int64_t threads;
    /* By input. */
    struct gt_job_ranks *ranks;
    struct gputime_error *errors;
    /* Called, one at a time, when more of an input was read; NULL: nobody asks. */
    void (*progress)(void *context, size_t index, uint64_t done_bytes);
    void *progress_context;
    pthread_mutex_t *lock; /* held meanwhile */
};

/* Fails if options are not valid; what cannot be read has an error. */
enum gt_status gt_job_read(const struct gt_job_reading *reading, struct gt_error *err);

/* The ranks of a trace that is open already, the index-th of a job. */
enum gt_status gt_job_read_trace(struct gputime_trace *trace, size_t index, const char *step_tag, int64_t threads,
                                 struct gt_job_ranks *ranks, struct gt_error *err);

/* Size of its files. */
uint64_t gt_job_read_bytes(const struct gputime_input *input);

/* Summaries of one input. */
void gt_job_read_release(struct gt_job_ranks *ranks);

#endif
