/* The public interface of jobs: traces are read, reduced to summaries and let go, several at the same time; a report is
 * made of the summaries alone. */
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"
#include "internal.h"
#include "measure/options.h"
#include "ranks/rank_measures.h"
#include "ranks/rank_reduce.h"
#include "ranks/rank_report.h"
#include "take.h"

/* The ranks of one input. */
struct ranks_of {
    struct gt_rank_summary *summaries;
    size_t count;
    uint64_t ops, kernels;
    bool is_read;
    enum gt_issue_id loss; /* why it was only partly read; GT_ISSUE_COUNT: it was not */
};

struct gputime_job {
    struct ranks_of *inputs; /* in the order of the arguments */
    size_t input_count;
    size_t rank_count;
    char *folder; /* that all inputs are in */
};

/* ---- reading ---- */

struct opening {
    const struct gputime_input *inputs;
    struct gputime_job *job;
    struct gputime_error *errors;
    const char *step_tag;
    int64_t threads;
    pthread_mutex_t lock; /* held while progress is reported */
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

static enum gt_status reduce(const struct opening *opening, size_t index, struct gputime_trace *trace,
                             struct gt_error *err) {
    const struct gt_reading *reading;
    struct ranks_of *ranks = &opening->job->inputs[index];
    enum gt_status status = gt_internal_read(trace, GT_RANK_REDUCE_FACTS, &reading, err);
    if (status != GT_OK)
        return status;
    const struct gt_rank_reduce_input input = {.store = reading->store,
                                               .labels = reading->labels,
                                               .path = trace->paths[0],
                                               .name = gt_str_path_tail(gt_str_of(trace->paths[0]), 1),
                                               .number = (uint32_t)index,
                                               .step_tag = opening->step_tag,
                                               .threads = opening->threads};
    ranks->ops = reading->store->ops.count;
    ranks->kernels = gt_internal_count_kernels(reading->store);
    ranks->loss = gt_store_loss(reading->store, gt_store_facts_closed(GT_RANK_REDUCE_FACTS));
    status = gt_rank_reduce(&input, &ranks->summaries, &ranks->count, err);
    ranks->is_read = status == GT_OK;
    return status == GT_OK ? GT_OK : gt_fail_context(err, "'%s'", trace->paths[0]);
}

static void open_one(void *context, size_t index) {
    struct opening *opening = context;
    const struct gputime_input *input = &opening->inputs[index];
    struct gputime_trace *trace = NULL;
    struct gputime_open_options options;
    struct gt_error error = {0};
    enum gt_status status = GT_TAKE(gputime_open_options, input->options, &options, &error);
    options.size = sizeof options;
    options.facts = GT_RANK_REDUCE_FACTS;
    if (status != GT_OK) {
        gt_internal_fail(status, &error, &opening->errors[index]);
        return;
    }
    struct listener listener = {opening, options.progress, options.progress_context};
    if (options.progress) {
        options.progress = report_progress;
        options.progress_context = &listener;
    }
    if (gputime_trace_open(input->paths, input->path_count, &options, input->run, &trace, &opening->errors[index]))
        return;
    status = reduce(opening, index, trace, &error);
    if (status == GT_OK && !options.no_cache)
        gputime_trace_store_cache(trace);
    gputime_trace_free(trace);
    gt_internal_fail(status, &error, &opening->errors[index]);
}

static enum gt_status open_all(struct opening *opening, size_t count, const struct gputime_option *given,
                               size_t given_count, struct gt_error *err) {
    struct gt_arena arena = {0};
    const struct gputime_option *options;
    enum gt_status status = gt_options_complete(given, given_count, &arena, &options, err);
    if (status == GT_OK) {
        opening->step_tag = options[GT_OPTION_step_tag].text;
        size_t threads = gt_internal_are_files(opening->inputs, count) ? gt_threads_count(opening->threads) : 1;
        pthread_mutex_init(&opening->lock, NULL); /* cannot fail without attributes */
        gt_threads_deal(threads, count, open_one, opening);
        pthread_mutex_destroy(&opening->lock);
    }
    gt_arena_release(&arena);
    return status;
}

/* The longest folder that all paths are in, empty where that is the current one. NULL: memory was short. */
static char *new_folder(const struct gputime_input *inputs, size_t count) {
    const char *first = count && inputs[0].path_count ? inputs[0].paths[0] : "";
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

API enum gputime_status gputime_job_open(const struct gputime_input *inputs, size_t count,
                                         const struct gputime_option *options, size_t option_count,
                                         struct gputime_job **out, struct gputime_error *errors,
                                         struct gputime_error *err) {
    struct gt_error error = {0};
    struct gputime_open_options first = {0};
    struct gputime_job *job = gt_mem_array(1, sizeof *job);
    struct gputime_error *all = gt_mem_array(count + 1, sizeof *all);
    struct opening opening = {.inputs = inputs, .job = job, .errors = all};
    enum gt_status status = job && all ? GT_OK : gt_fail_memory(&error);
    *out = NULL;
    if (status == GT_OK) {
        job->inputs = gt_mem_array(count, sizeof *job->inputs);
        job->folder = new_folder(inputs, count);
    }
    if (status == GT_OK && (!job->inputs || !job->folder))
        status = gt_fail_memory(&error);
    if (status == GT_OK) {
        job->input_count = count;
        if (count && GT_TAKE(gputime_open_options, inputs[0].options, &first, NULL) == GT_OK)
            opening.threads = first.threads;
        status = open_all(&opening, count, options, option_count, &error);
    }
    bool is_any_read = false;
    for (size_t i = 0; status == GT_OK && i < count; i++) {
        is_any_read |= job->inputs[i].is_read;
        job->rank_count += job->inputs[i].count;
        if (errors)
            errors[i] = all[i];
    }
    enum gputime_status result = gt_internal_fail(status, &error, err);
    if (!result && !is_any_read) { /* the last failure is that of the command */
        for (size_t i = 0; i < count; i++)
            if (all[i].status && err)
                *err = all[i];
        result = err && err->status ? err->status : GPUTIME_FAILED;
        if (count == 0)
            result = gt_internal_fail(gt_fail_usage(&error, "no trace given"), &error, err);
    }
    gt_mem_free(all);
    if (result)
        gputime_job_free(job);
    else
        *out = job;
    return result;
}

API size_t gputime_job_rank_count(const struct gputime_job *job) {
    return job->rank_count;
}

API void gputime_job_free(struct gputime_job *job) {
    if (!job)
        return;
    for (size_t i = 0; job->inputs && i < job->input_count; i++)
        gt_rank_reduce_free(job->inputs[i].summaries, job->inputs[i].count);
    gt_mem_free(job->inputs);
    gt_mem_free(job->folder);
    gt_mem_free(job);
}

/* ---- the report ---- */

static void describe(const struct gputime_job *job, struct gt_section *section) {
    uint64_t ops = 0, kernels = 0;
    for (size_t i = 0; i < job->input_count; i++) {
        ops += job->inputs[i].ops;
        kernels += job->inputs[i].kernels;
    }
    section->input = (struct gt_report_input){
        .label =
            gt_arena_printf(&section->report->arena, "%zu rank%s", job->rank_count, job->rank_count == 1 ? "" : "s"),
        .path = gt_arena_copy(&section->report->arena, gt_str_of(job->folder)),
        .format = "job",
        .ops = ops,
        .kernels = kernels,
        .calls = GT_NOT_COUNTED,
        .ranges = GT_NOT_COUNTED,
        .cpu_ops = GT_NOT_COUNTED,
        .rank = -1,
        .world_size = -1,
    };
}

static bool is_partly_read(const struct ranks_of *ranks) {
    return ranks->is_read && ranks->loss != GT_ISSUE_COUNT;
}

/* Which traces are cut or damaged; the first of them by name. */
static void note_losses(const struct gputime_job *job, struct gt_section *section) {
    enum { NAMED = 8 };
    size_t count = 0;
    for (size_t i = 0; i < job->input_count; i++) {
        const struct ranks_of *ranks = &job->inputs[i];
        if (!is_partly_read(ranks) || ranks->count == 0 || count++ >= NAMED)
            continue;
        struct gt_str name = gt_rank_summary_text(ranks->summaries, ranks->summaries->head.input);
        gt_section_note(section, GT_FOR_SCREEN | GT_FOR_PAGE,
                        gt_arena_printf(&section->report->arena, "'%.*s' was only partly read (%s): %s.", (int)name.len,
                                        name.ptr, gt_issue_infos[ranks->loss].id, gt_issue_infos[ranks->loss].help));
    }
    if (count > NAMED)
        gt_section_note(
            section, GT_FOR_SCREEN | GT_FOR_PAGE,
            gt_arena_printf(&section->report->arena, "%zu more traces were only partly read.", count - NAMED));
}

static enum gt_status fill(void *context, const struct gt_request *request, struct gt_section *section,
                           struct gt_error *err) {
    const struct gputime_job *job = context;
    struct gt_rank_summary **list = gt_mem_array(job->rank_count, sizeof *list);
    struct gt_rank_job analysis = {0};
    size_t filled = 0;
    const struct gputime_option *match = &request->options[GT_OPTION_match];
    struct gt_rank_job_options options = {.match_names = match->text && strcmp(match->text, "names") == 0,
                                          .threads = request->threads};
    for (size_t i = 0; i < job->input_count; i++) {
        options.traces_without_work += job->inputs[i].is_read && job->inputs[i].count == 0;
        options.traces_partly_read += is_partly_read(&job->inputs[i]);
    }
    describe(job, section);
    section->report->roles = &gt_rank_measures_roles;
    note_losses(job, section);
    for (size_t i = 0; list && i < job->input_count; i++)
        for (size_t k = 0; k < job->inputs[i].count; k++)
            list[filled++] = &job->inputs[i].summaries[k];
    enum gt_status status = list ? gt_rank_job_analyse(&analysis, list, filled, &options, err) : gt_fail_memory(err);
    if (status == GT_OK)
        status = gt_rank_report_add(&analysis, section,
                                    &(struct gt_rank_report_options){.has_findings = true,
                                                                     .why = request->options[GT_OPTION_why].text,
                                                                     .request = request},
                                    err);
    gt_rank_job_release(&analysis);
    gt_mem_free(list);
    return status;
}

API enum gputime_status gputime_job_report(const struct gputime_job *job, const struct gputime_report_options *options,
                                           struct gputime_report **out, struct gputime_error *err) {
    return gt_internal_new_report(options, fill, (void *)(uintptr_t)job, out, err);
}
