/* Opens several captures at the same time and returns traces and errors in the same order. Reading one capture on two
 * threads is not twice as fast, so each thread opens a different one if it can; threads without one help with the
 * others. */
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/threads.h"
#include "internal.h"
#include "take.h"

struct opening {
    const struct gputime_input *inputs;
    struct gputime_trace **out;
    struct gputime_error *errors;
    bool needs_all;
    size_t threads;             /* for all together */
    atomic_size_t first_failed; /* none yet: after all */
    pthread_mutex_t lock;       /* held while progress is reported */
};

/* The progress callback of one of them. */
struct listener {
    struct opening *opening;
    void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
    void *context;
};

static void report_progress(void *context, uint64_t done_bytes, uint64_t total_bytes) {
    struct listener *listener = context;
    pthread_mutex_lock(&listener->opening->lock);
    listener->progress(listener->context, done_bytes, total_bytes);
    pthread_mutex_unlock(&listener->opening->lock);
}

static void note_failure(struct opening *opening, size_t index) {
    size_t first = atomic_load(&opening->first_failed);
    while (index < first && !atomic_compare_exchange_weak(&opening->first_failed, &first, index))
        continue;
}

static void open_with(struct opening *opening, size_t index, struct gputime_open_options options) {
    const struct gputime_input *input = &opening->inputs[index];
    struct listener listener = {opening, options.progress, options.progress_context};
    options.threads = (int64_t)opening->threads;
    if (options.progress) {
        options.progress = report_progress;
        options.progress_context = &listener;
    }
    if (gputime_trace_open(input->paths, input->path_count, &options, input->run, &opening->out[index],
                           &opening->errors[index]))
        note_failure(opening, index);
}

static void open_one(void *context, size_t index) {
    struct opening *opening = context;
    struct gputime_open_options options;
    struct gt_error error = {0};
    /* All captures before it have been started, so the first failure does not depend on the number of threads. */
    if (opening->needs_all && atomic_load(&opening->first_failed) < index)
        return;
    enum gt_status status = GT_TAKE(gputime_open_options, opening->inputs[index].options, &options, &error);
    if (status == GT_OK)
        open_with(opening, index, options);
    else if (gt_internal_fail(status, &error, &opening->errors[index]))
        note_failure(opening, index);
}

/* Pipes are read one after the other: one may be given twice, and waiting for a late one should not delay an error. */
bool gt_internal_are_files(const struct gputime_input *inputs, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < inputs[i].path_count; k++) {
            struct stat info;
            if (stat(inputs[i].paths[k], &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
                return false;
            if (strcmp(inputs[i].paths[k], "-") == 0)
                return false;
        }
    return true;
}

API enum gputime_status gputime_traces_open(const struct gputime_input *inputs, size_t count, int needs_all,
                                            struct gputime_trace **out, struct gputime_error *errors) {
    struct gputime_error *own = errors ? NULL : gt_mem_array(count + 1, sizeof *own);
    if (!errors && !own)
        return GPUTIME_FAILED;
    errors = errors ? errors : own;
    struct opening opening = {
        .inputs = inputs, .out = out, .errors = errors, .needs_all = needs_all != 0, .threads = 1};
    struct gputime_open_options first;
    if (count && GT_TAKE(gputime_open_options, inputs[0].options, &first, NULL) == GT_OK)
        opening.threads = gt_threads_count(first.threads);
    for (size_t i = 0; i < count; i++) {
        out[i] = NULL;
        errors[i] = (struct gputime_error){.status = GPUTIME_OK};
    }
    atomic_init(&opening.first_failed, count);
    pthread_mutex_init(&opening.lock, NULL); /* cannot fail without attributes */
    gt_threads_deal(count && gt_internal_are_files(inputs, count) ? opening.threads : 1, count, open_one, &opening);
    pthread_mutex_destroy(&opening.lock);
    size_t failed = atomic_load(&opening.first_failed);
    enum gputime_status status = failed < count ? errors[failed].status : GPUTIME_OK;
    gt_mem_free(own);
    return status;
}
