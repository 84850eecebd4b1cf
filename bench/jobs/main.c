/* Makes traces of training jobs with many ranks: one PyTorch profiler JSON for each rank, and what is true about them.

   A discrete-event simulation, not a drawing. Each rank has a host thread that launches kernels, a compute stream and
   streams for communication, each in order. A collective begins to move data when its last member has come, and all
   members leave it together; a message is done for its sender when it is handed over; an all_to_all takes each member
   as long as its load. So waits, bubbles and idle time come out of the faults that were asked for, and truth.json says
   exactly what came out of what: each fault is taken out once, and the job runs again without it.

   The ranks run together once, and only the times of collectives are kept. Then each rank is walked again alone, and
   its trace is written as it goes: memory does not grow with the size of the traces, and threads share nothing. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "job.h"

static void release(struct job *job) {
    for (uint32_t i = 0; i < job->options.pp; i++)
        free(job->programs[i].ops);
    free(job->groups);
    free(job->teams);
    free(job->team_of);
    free(job->meetings);
    free(job->start_ns);
    free(job->end_ns);
    free(job->is_recorded);
    free(job->step_times);
}

static void prepare(struct job *job, const struct options *options) {
    *job = (struct job){.options = *options};
    layout_groups(job);
    program_build(job);
    program_count_meetings(job);
    job->meetings = draw_memory(job->meeting_count, sizeof *job->meetings);
    job->start_ns = draw_memory(job->slot_count, sizeof *job->start_ns);
    job->end_ns = draw_memory(job->slot_count, sizeof *job->end_ns);
    job->is_recorded = draw_memory(job->slot_count, sizeof *job->is_recorded);
    job->step_times = draw_memory((size_t)options->ranks * options->steps, sizeof *job->step_times);
}

/* ---- the size of traces ---- */

/* How large the trace of a rank is with so many kernels in a block. */
static uint64_t measure_trace(const struct options *options, uint32_t kernels) {
    struct options asked = *options;
    struct job job;
    asked.kernels = kernels;
    prepare(&job, &asked);
    simulate(&job);
    uint64_t bytes = kineto_rehearse(&job, 0);
    release(&job);
    return bytes;
}

/* Traces grow evenly with the kernels of a block. */
static uint32_t kernels_for_size(const struct options *options) {
    enum { FEW = 2, MORE = 6 };
    uint64_t few = measure_trace(options, FEW), more = measure_trace(options, MORE);
    uint64_t each = (more - few) / (MORE - FEW);
    return options->size <= few ? FEW : FEW + (uint32_t)((options->size - few + each / 2) / each);
}

/* ---- writing ---- */

struct output {
    struct job *job;
    uint64_t *bytes;
};

static void write_rank(void *context, uint32_t rank) {
    struct output *output = context;
    output->bytes[rank] = kineto_write(output->job, rank);
}

static uint64_t write_ranks(struct job *job) {
    uint32_t ranks = job->options.ranks;
    struct output output = {job, draw_memory(ranks, sizeof *output.bytes)};
    workers_run(job->options.threads, ranks, write_rank, &output);
    uint64_t bytes = 0;
    for (uint32_t rank = 0; rank < ranks; rank++)
        bytes += output.bytes[rank];
    free(output.bytes);
    return bytes;
}

static struct without run_without(struct job *job, struct fault *fault) {
    fault->is_off = true;
    simulate(job);
    struct account account = account_job(job, NULL);
    fault->is_off = false;
    return (struct without){account.last_ns - account.first_ns, account.exposed_wait_ns};
}

static void run(const struct options *options) {
    struct job job;
    struct without without[MAX_FAULTS];
    prepare(&job, options);
    for (uint32_t i = 0; i < options->fault_count; i++)
        without[i] = run_without(&job, &job.options.faults[i]);
    simulate(&job);
    int64_t *exposed_wait_ns = draw_memory(options->ranks, sizeof *exposed_wait_ns);
    struct account account = account_job(&job, exposed_wait_ns);
    uint64_t bytes = write_ranks(&job);
    truth_write(&job, &account, exposed_wait_ns, without);
    printf("ranks %u bytes %" PRIu64 " collectives %" PRIu64 " job_ns %" PRId64 "\n", options->ranks, bytes,
           job.meeting_count, account.last_ns - account.first_ns);
    free(exposed_wait_ns);
    release(&job);
}

int main(int argc, char **argv) {
    struct options options;
    if (!options_parse(&options, argc, argv))
        return 2;
    if (mkdir(options.folder, 0777) != 0 && errno != EEXIST)
        fail("cannot create '%s'", options.folder);
    if (options.size)
        options.kernels = kernels_for_size(&options);
    run(&options);
    return 0;
}
