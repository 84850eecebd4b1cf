/* What a trace says about communication: names, metadata of collectives, the groups of a rank. */
#ifndef BENCH_JOBS_COMMS_H
#define BENCH_JOBS_COMMS_H

#include "job.h"
#include "text.h"

struct comms_names {
    const char *operator_name, *kernel;
    char annotation[48];
};

struct comms_names comms_names_of(const struct job *job, const struct event *event);
/* Fields of the kernel, which the CPU operator has as well. */
void comms_put_fields(struct text *text, const struct job *job, const struct event *event);
/* Those that only the CPU operator has. */
void comms_put_host_fields(struct text *text, const struct job *job, const struct event *event);
void comms_put_distributed_info(struct text *text, const struct job *job, uint32_t rank);
uint64_t comms_scale_grid(const struct job *job, uint32_t rank, uint64_t width);

#endif
