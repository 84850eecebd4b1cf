/* The public interface of jobs: traces are read and reduced to summaries; a report is made of the summaries alone. */
#include <string.h>

#include "base/mem.h"
#include "job_redact.h"
#include "job_team.h"
#include "measure/options.h"
#include "ranks/logged_tables.h"
#include "ranks/rank_measures.h"
#include "ranks/rank_report.h"
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
    if (status == GT_OK && gt_job_redact_is_asked(inputs, count))
        status = gt_job_redact(job, inputs, job->errors, err);
    return status;
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
    for (size_t i = 0; job->inputs && i < job->input_count; i++)
        gt_job_read_release(&job->inputs[i]);
    gt_mem_free(job->inputs);
    gt_mem_free(job->errors);
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
    size_t logs = job->summary_count - job->rank_count;
    bool has_ranks = job->rank_count || !logs;
    section->input = (struct gt_report_input){
        .label = gt_arena_printf(&section->report->arena, "%zu %s%s", has_ranks ? job->rank_count : logs,
                                 has_ranks ? "rank" : "log", (has_ranks ? job->rank_count : logs) == 1 ? "" : "s"),
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

static bool is_partly_read(const struct gt_job_ranks *ranks) {
    return ranks->is_read && ranks->loss != GT_ISSUE_COUNT;
}

/* Which traces are cut or damaged; the first of them by name. */
static void note_losses(const struct gputime_job *job, struct gt_section *section) {
    enum { NAMED = 8 };
    size_t count = 0;
    for (size_t i = 0; i < job->input_count; i++) {
        const struct gt_job_ranks *ranks = &job->inputs[i];
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

/* Which traces are not in the report at all. */
static void note_failures(const struct gputime_job *job, struct gt_section *section) {
    enum { NAMED = 8 };
    size_t count = 0;
    for (size_t i = 0; i < job->input_count; i++)
        if (job->errors[i].status && count++ < NAMED)
            gt_section_note(section, GT_FOR_SCREEN | GT_FOR_PAGE,
                            gt_arena_printf(&section->report->arena, "Left out: %s.", job->errors[i].message));
    if (count > NAMED)
        gt_section_note(section, GT_FOR_SCREEN | GT_FOR_PAGE,
                        gt_arena_printf(&section->report->arena, "%zu more traces were left out.", count - NAMED));
}

/* What logs of NCCL Inspector add, with the traces that they are joined with. */
static enum gt_status add_logged(struct gt_rank_summary *const *summaries, size_t count, struct gt_section *section,
                                 struct gt_error *err) {
    struct gt_logged logged;
    enum gt_status status = gt_logged_sum(&logged, summaries, count, err);
    if (status == GT_OK)
        gt_logged_tables_add(&logged, section);
    gt_logged_release(&logged);
    return status;
}

/* Without traces nothing is known about who was charged for what: empty tables must not say that nobody was. */
static void leave_unsaid(struct gt_section *section) {
    for (size_t b = 0; b < section->block_count; b++)
        if (section->blocks[b].table)
            section->blocks[b].table->empty = NULL;
}

/* Traces first, then logs. */
static void list_summaries(const struct gputime_job *job, struct gt_rank_summary **list) {
    size_t next[2] = {0, job->rank_count};
    for (size_t i = 0; i < job->input_count; i++)
        for (size_t k = 0; k < job->inputs[i].count; k++) {
            struct gt_rank_summary *summary = &job->inputs[i].summaries[k];
            list[next[summary->head.ops == 0]++] = summary;
        }
}

static enum gt_status fill(void *context, const struct gt_request *request, struct gt_section *section,
                           struct gt_error *err) {
    const struct gputime_job *job = context;
    struct gt_rank_summary **list = gt_mem_array(job->summary_count, sizeof *list);
    struct gt_rank_job analysis = {0};
    bool has_logs = job->summary_count > job->rank_count, is_logged_only = has_logs && job->rank_count == 0;
    const struct gputime_option *match = &request->options[GT_OPTION_match];
    struct gt_rank_job_options options = {.match_names = match->text && strcmp(match->text, "names") == 0,
                                          .threads = request->threads,
                                          .keeps_exposed = gt_rank_report_has_members(request),
                                          .join = job->team ? gt_job_team_join : NULL,
                                          .join_context = (void *)(uintptr_t)job->team};
    for (size_t i = 0; i < job->input_count; i++) {
        options.traces_without_work += job->inputs[i].is_read && job->inputs[i].count == 0;
        options.traces_partly_read += is_partly_read(&job->inputs[i]);
    }
    describe(job, section);
    section->report->roles = &gt_rank_measures_roles;
    if (list)
        list_summaries(job, list);
    enum gt_status status =
        list ? gt_rank_job_analyse(&analysis, list, job->rank_count, &options, err) : gt_fail_memory(err);
    if (status == GT_OK)
        status = gt_rank_report_add(&analysis, section,
                                    &(struct gt_rank_report_options){.has_findings = !is_logged_only,
                                                                     .has_no_traces = is_logged_only,
                                                                     .why = request->options[GT_OPTION_why].text,
                                                                     .request = request},
                                    err);
    if (is_logged_only)
        leave_unsaid(section);
    if (status == GT_OK)
        status = add_logged(list, job->summary_count, section, err);
    note_failures(job, section); /* the verdict is the first sentence */
    note_losses(job, section);
    gt_rank_job_release(&analysis);
    gt_mem_free(list);
    return status;
}

API enum gputime_status gputime_job_report(const struct gputime_job *job, const struct gputime_report_options *options,
                                           struct gputime_report **out, struct gputime_error *err) {
    return gt_internal_new_report(options, fill, (void *)(uintptr_t)job, out, err);
}
