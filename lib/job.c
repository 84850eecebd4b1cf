/* The public interface of jobs: traces are read and reduced to summaries; a report is made of the summaries alone
   (job_report.c). */
#include <string.h>

#include "base/mem.h"
#include "job_parts.h"
#include "job_redact.h"
#include "job_team.h"
#include "take.h"

/* ---- reading ---- */

/* All of them, by this process. */
static enum gt_status read_alone(struct gt_job_reading *reading, size_t count, struct gt_error *err) {
    uint32_t *all = gt_mem_uninitialised(count, sizeof *all);
    if (!all)
        return gt_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        all[i] = (uint32_t)i;
    reading->own = all;
    reading->own_count = count;
    enum gt_status status = gt_job_read(reading, err);
    gt_mem_free(all);
    return status;
}

/* The longest folder that all paths are in, empty where that is the current one. NULL: memory was short. */
static char *new_folder(const struct gputime_input *inputs, size_t count) {
    const char *first = count && inputs[0].path_count ? inputs[0].paths[0] : "";
    if (gt_job_redact_is_asked(inputs, count))
        first = "";
    size_t common = strlen(first);
    for (size_t i = 1; i < count; i++) {
        const char *path = inputs[i].path_count ? inputs[i].paths[0] : "";
        size_t same = 0;
        while (same < common && path[same] == first[same])
            same++;
        common = same;
    }
    while (common && first[common - 1] != '/')
        common--;
    char *folder = gt_mem_array(common + 1, 1);
    if (folder && common)
        memcpy(folder, first, common > 1 ? common - 1 : 1); /* without the slash */
    return folder;
}

/* Where nothing could be read, the last failure is that of all. */
static enum gputime_status judge_failures(const struct gputime_error *errors, size_t count, struct gputime_error *err) {
    struct gt_error error = {0};
    if (count == 0)
        return gt_internal_fail(gt_fail_usage(&error, "no trace given"), &error, err);
    for (size_t i = 0; i < count; i++)
        if (errors[i].status && err)
            *err = errors[i];
    return err && err->status ? err->status : GPUTIME_FAILED;
}

static void count_summaries(struct gputime_job *job, const struct gt_job_ranks *input) {
    job->summary_count += input->count;
    for (size_t k = 0; k < input->count; k++)
        job->rank_count += input->summaries[k].head.ops > 0;
}

API enum gputime_status gputime_job_open_team(const struct gputime_team *team, const struct gputime_input *inputs,
                                              size_t count, const struct gputime_option *options, size_t option_count,
                                              struct gputime_job **out, struct gputime_error *errors,
                                              struct gputime_error *err) {
    struct gt_error error = {0};
    struct gputime_open_options first = {0};
    struct gputime_job *job = gt_mem_array(1, sizeof *job);
    struct gputime_error *all = gt_mem_array(count + 1, sizeof *all);
    enum gt_status status = job && all && count < UINT32_MAX ? GT_OK : gt_fail_memory(&error);
    *out = NULL;
    if (status == GT_OK) {
        job->inputs = gt_mem_array(count, sizeof *job->inputs);
        job->folder = new_folder(inputs, count);
    }
    if (status == GT_OK && (!job->inputs || !job->folder))
        status = gt_fail_memory(&error);
    if (status == GT_OK) {
        pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        job->input_count = count;
        job->team = team && team->process_count > 1 ? team : NULL;
        if (count && GT_TAKE(gputime_open_options, inputs[0].options, &first, NULL) != GT_OK)
            first.threads = 0;
        struct gt_job_reading reading = {.inputs = inputs,
                                         .options = options,
                                         .option_count = option_count,
                                         .threads = first.threads,
                                         .ranks = job->inputs,
                                         .errors = all,
                                         .lock = &lock};
        status = job->team ? gt_job_team_read(team, &reading, count, &error) : read_alone(&reading, count, &error);
    }
    bool is_any_read = false;
    for (size_t i = 0; status == GT_OK && i < count; i++) {
        is_any_read |= job->inputs[i].is_read;
        count_summaries(job, &job->inputs[i]);
        if (errors)
            errors[i] = all[i];
    }
    enum gputime_status result = gt_internal_fail(status, &error, err);
    if (!result && !is_any_read)
        result = judge_failures(all, count, err);
    if (!result && gt_job_redact_is_asked(inputs, count)) /* errors still name the file */
        result = gt_internal_fail(gt_job_redact(job, inputs, all, &error), &error, err);
    if (job)
        job->errors = all;
    else
        gt_mem_free(all);
    if (!result)
        result = gt_internal_fail(gt_job_parts_find(job, inputs, gt_job_redact_is_asked(inputs, count), &error), &error,
                                  err);
    if (result)
        gputime_job_free(job);
    else
        *out = job;
    return result;
}

API enum gputime_status gputime_job_open(const struct gputime_input *inputs, size_t count,
                                         const struct gputime_option *options, size_t option_count,
                                         struct gputime_job **out, struct gputime_error *errors,
                                         struct gputime_error *err) {
    return gputime_job_open_team(NULL, inputs, count, options, option_count, out, errors, err);
}

/* The inputs that the traces were opened from. */
static struct gputime_input *list_inputs(struct gputime_trace *const *traces, size_t count, struct gt_arena *arena) {
    struct gputime_input *inputs = gt_arena_array(arena, count, sizeof *inputs);
    struct gputime_open_options *options = gt_arena_array(arena, count, sizeof *options);
    for (size_t i = 0; inputs && options && i < count; i++) {
        options[i] = (struct gputime_open_options){.size = sizeof *options, .redact = traces[i]->how.redact};
        inputs[i] = (struct gputime_input){.paths = (const char *const *)traces[i]->paths,
                                           .path_count = traces[i]->path_count,
                                           .options = &options[i]};
    }
    return options ? inputs : NULL;
}

static enum gt_status fill_job(struct gputime_job *job, struct gputime_trace *const *traces, size_t count,
                               int64_t threads, const struct gputime_input *inputs, struct gt_error *err) {
    enum gt_status status = GT_OK;
    job->inputs = gt_mem_array(count, sizeof *job->inputs);
    job->errors = gt_mem_array(count + 1, sizeof *job->errors);
    job->folder = inputs ? new_folder(inputs, count) : NULL;
    if (!job->inputs || !job->errors || !job->folder)
        return gt_fail_memory(err);
    job->input_count = count;
    for (size_t i = 0; i < count && status == GT_OK; i++) {
        status = gt_job_read_trace(traces[i], i, NULL, threads, &job->inputs[i], err);
        count_summaries(job, &job->inputs[i]);
    }
    bool is_redacted = gt_job_redact_is_asked(inputs, count);
    if (status == GT_OK && is_redacted)
        status = gt_job_redact(job, inputs, job->errors, err);
    return status == GT_OK ? gt_job_parts_find(job, inputs, is_redacted, err) : status;
}

enum gt_status gt_internal_job(struct gputime_trace *const *traces, size_t count, int64_t threads,
                               struct gputime_job **out, struct gt_error *err) {
    struct gt_arena arena = {0};
    struct gputime_job *job = gt_mem_array(1, sizeof *job);
    enum gt_status status =
        job ? fill_job(job, traces, count, threads, list_inputs(traces, count, &arena), err) : gt_fail_memory(err);
    gt_arena_release(&arena);
    if (status != GT_OK) {
        gputime_job_free(job);
        job = NULL;
    }
    *out = job;
    return status;
}

API size_t gputime_job_rank_count(const struct gputime_job *job) {
    return job->rank_count;
}

API void gputime_job_free(struct gputime_job *job) {
    if (!job)
        return;
    gt_job_parts_release(job);
    for (size_t i = 0; job->inputs && i < job->input_count; i++)
        gt_job_read_release(&job->inputs[i]);
    gt_mem_free(job->inputs);
    gt_mem_free(job->errors);
    gt_mem_free(job->folder);
    gt_mem_free(job);
}
