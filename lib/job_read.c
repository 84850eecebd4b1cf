/* Reads captures of a job, as many at the same time as there are threads. */
#include "job_read.h"

#include <sys/stat.h>

#include "base/mem.h"
#include "base/threads.h"
#include "measure/options.h"
#include "ranks/rank_reduce.h"
#include "take.h"

struct opening {
    const struct gt_job_reading *reading;
    const char *step_tag;
};

/* The progress callback of one of them. */
struct listener {
    struct opening *opening;
    size_t index;
    void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes); /* NULL: none */
    void *context;
};

static void report_progress(void *context, uint64_t done_bytes, uint64_t total_bytes) {
    struct listener *listener = context;
    const struct gt_job_reading *reading = listener->opening->reading;
    pthread_mutex_lock(reading->lock);
    if (listener->progress)
        listener->progress(listener->context, done_bytes, total_bytes);
    if (reading->progress)
        reading->progress(reading->progress_context, listener->index, done_bytes);
    pthread_mutex_unlock(reading->lock);
}

uint64_t gt_job_read_bytes(const struct gputime_input *input) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < input->path_count; i++) {
        struct stat info;
        bool is_file = stat(input->paths[i], &info) == 0 && S_ISREG(info.st_mode);
        bytes += is_file ? (uint64_t)info.st_size : 0;
    }
    return bytes;
}

/* Of a redacted trace its number. */
static struct gt_str name_of(const struct gputime_trace *trace, size_t index, struct gt_arena *arena) {
    return trace->how.redact ? gt_arena_printf(arena, GT_REDACTED_PATH " %zu", index + 1)
                             : gt_str_path_tail(gt_str_of(trace->paths[0]), 1);
}

enum gt_status gt_job_read_trace(struct gputime_trace *trace, size_t index, const char *step_tag, int64_t threads,
                                 struct gt_job_ranks *ranks, struct gt_error *err) {
    const struct gt_reading *reading;
    enum gt_status status = gt_internal_read(trace, GT_RANK_REDUCE_FACTS, &reading, err);
    if (status != GT_OK)
        return status;
    struct gt_arena name_arena = {0};
    const struct gt_rank_reduce_input input = {.store = reading->store,
                                               .labels = reading->labels,
                                               .path = trace->paths[0],
                                               .name = name_of(trace, index, &name_arena),
                                               .number = (uint32_t)index,
                                               .step_tag = step_tag,
                                               .threads = threads};
    ranks->ops = reading->store->ops.count;
    ranks->kernels = gt_internal_count_kernels(reading->store);
    ranks->loss = gt_store_loss(reading->store, gt_store_facts_closed(GT_RANK_REDUCE_FACTS));
    status = gt_arena_failed(&name_arena) ? gt_fail_memory(err)
                                          : gt_rank_reduce(&input, &ranks->summaries, &ranks->count, err);
    gt_arena_release(&name_arena);
    ranks->is_read = status == GT_OK;
    return status == GT_OK ? GT_OK : gt_fail_context(err, "'%s'", trace->paths[0]);
}

static void open_one(void *context, size_t place) {
    struct opening *opening = context;
    const struct gt_job_reading *reading = opening->reading;
    size_t index = reading->own[place];
    const struct gputime_input *input = &reading->inputs[index];
    struct gputime_trace *trace = NULL;
    struct gputime_open_options options;
    struct gt_error error = {0};
    enum gt_status status = GT_TAKE(gputime_open_options, input->options, &options, &error);
    options.size = sizeof options;
    options.facts = GT_RANK_REDUCE_FACTS;
    if (status != GT_OK) {
        gt_internal_fail(status, &error, &reading->errors[index]);
        return;
    }
    struct listener listener = {opening, index, options.progress, options.progress_context};
    if (options.progress || reading->progress) {
        options.progress = report_progress;
        options.progress_context = &listener;
    }
    if (gputime_trace_open(input->paths, input->path_count, &options, input->run, &trace, &reading->errors[index]))
        return;
    uint64_t bytes = gt_job_read_bytes(input);
    if (options.progress) /* small files are read without any */
        report_progress(&listener, bytes, bytes);
    status = gt_job_read_trace(trace, index, opening->step_tag, reading->threads, &reading->ranks[index], &error);
    if (status == GT_OK && !options.no_cache)
        gputime_trace_store_cache(trace);
    gputime_trace_free(trace);
    gt_internal_fail(status, &error, &reading->errors[index]);
}

enum gt_status gt_job_read(const struct gt_job_reading *reading, struct gt_error *err) {
    struct opening opening = {.reading = reading};
    struct gt_arena arena = {0};
    const struct gputime_option *options;
    enum gt_status status = gt_options_complete(reading->options, reading->option_count, &arena, &options, err);
    if (status == GT_OK) {
        opening.step_tag = options[GT_OPTION_step_tag].text;
        bool are_files = true;
        for (size_t i = 0; i < reading->own_count && are_files; i++)
            are_files = gt_internal_are_files(&reading->inputs[reading->own[i]], 1);
        size_t threads = are_files ? gt_threads_count(reading->threads) : 1;
        gt_threads_deal(threads, reading->own_count, open_one, &opening);
    }
    gt_arena_release(&arena);
    return status;
}

void gt_job_read_release(struct gt_job_ranks *ranks) {
    gt_rank_reduce_free(ranks->summaries, ranks->count);
    *ranks = (struct gt_job_ranks){0};
}
