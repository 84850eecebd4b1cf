/* The report on a job: summaries come in, a section for each job goes out. */
#include <string.h>

#include "base/mem.h"
#include "job_parts.h"
#include "job_team.h"
#include "measure/options.h"
#include "ranks/logged_tables.h"
#include "ranks/rank_measures.h"
#include "ranks/rank_report.h"
#include "take.h"

/* One of the jobs. */
struct part {
    const struct gputime_job *job;
    size_t number;
    struct gt_rank_summary **list; /* traces, then logs */
    size_t count, traces;
};

/* Of the folder that its traces are in; empty: it is not named, or hidden. */
static struct gt_str folder_name(const struct gputime_job *job) {
    struct gt_str name = gt_str_path_tail(gt_str_of(job->folder), 1);
    bool is_unnamed = gt_str_eq(name, GT_STR(".")) || gt_str_eq(name, GT_STR("..")) || gt_str_eq(name, GT_STR("/"));
    return is_unnamed ? GT_STR("") : name;
}

/* "slow: 8 ranks"; of several jobs "job 1: 8 ranks". */
static struct gt_str label_of(const struct part *part, struct gt_arena *arena) {
    size_t logs = part->count - part->traces;
    bool has_ranks = part->traces || !logs;
    size_t count = has_ranks ? part->traces : logs;
    const char *what = has_ranks ? "rank" : "log", *more = count == 1 ? "" : "s";
    if (part->job->apart.job_count > 1)
        return gt_arena_printf(arena, "job %zu: %zu %s%s", part->number + 1, count, what, more);
    struct gt_str name = folder_name(part->job);
    return gt_arena_printf(arena, "%.*s%s%zu %s%s", (int)name.len, name.ptr, name.len ? ": " : "", count, what, more);
}

/* As its traces say; -1: none does. */
static int64_t world_of(const struct part *part) {
    int64_t world = -1;
    for (size_t i = 0; i < part->traces; i++)
        if (part->list[i]->head.world_size > 0 && part->list[i]->head.world_size > world)
            world = part->list[i]->head.world_size;
    return world;
}

static void describe(const struct part *part, struct gt_section *section) {
    const struct gputime_job *job = part->job;
    uint64_t ops = 0, kernels = 0;
    for (size_t i = 0; i < job->input_count; i++)
        if (job->part_of[i] == part->number) {
            ops += job->inputs[i].ops;
            kernels += job->inputs[i].kernels;
        }
    section->input = (struct gt_report_input){
        .label = label_of(part, &section->report->arena),
        .path = gt_arena_copy(&section->report->arena, gt_str_of(job->folder)),
        .format = "job",
        .ops = ops,
        .kernels = kernels,
        .calls = GT_NOT_COUNTED,
        .ranges = GT_NOT_COUNTED,
        .cpu_ops = GT_NOT_COUNTED,
        .rank = -1,
        .world_size = world_of(part),
    };
}

/* ---- what was not read ---- */

static bool is_partly_read(const struct gt_job_ranks *ranks) {
    return ranks->is_read && ranks->loss != GT_ISSUE_COUNT;
}

/* Sentences about traces; the first of each kind name theirs. */
enum { NAMED = 8, MOST_NOTES = 4 * (NAMED + 1) };
struct notes {
    struct gt_arena *arena;
    struct gt_str items[MOST_NOTES];
    bool of_losses[MOST_NOTES]; /* whether it says what was only partly read; what was left out has an error */
    size_t count;
};

static void add_note(struct notes *notes, struct gt_str text) {
    if (notes->count < MOST_NOTES)
        notes->items[notes->count++] = text;
}

/* The last one. */
static void mark_losses(struct notes *notes, bool is_of_losses) {
    if (notes->count)
        notes->of_losses[notes->count - 1] |= is_of_losses;
}

static void count_rest(struct notes *notes, size_t count, const char *what) {
    if (count > NAMED)
        add_note(notes, gt_arena_printf(notes->arena, "%zu more trace%s %s.", count - NAMED,
                                        count - NAMED == 1 ? " was" : "s were", what));
}

/* Which traces are not in the report at all. Nobody knows which job they are of: it is said once, before all jobs if
   there are several, and each counts them. */
static size_t note_failures(const struct part *part, struct notes *notes, struct gt_section *section) {
    const struct gputime_job *job = part->job;
    struct notes before = {.arena = notes->arena};
    struct notes *to = job->apart.job_count > 1 ? &before : notes;
    size_t count = 0;
    for (size_t i = 0; i < job->input_count; i++)
        if (job->errors[i].status && count++ < NAMED && part->number == 0)
            add_note(to, gt_arena_printf(notes->arena, "Left out: %s.", job->errors[i].message));
    if (part->number == 0)
        count_rest(to, count, "left out");
    for (size_t i = 0; i < before.count; i++)
        gt_job_parts_note_first(before.items[i], section);
    return count;
}

static size_t note_copies(const struct part *part, struct notes *notes) {
    struct gt_str items[NAMED];
    size_t count = part->number ? 0 : gt_job_parts_copies(part->job, items, NAMED, notes->arena);
    for (size_t i = 0; i < count && i < NAMED; i++)
        add_note(notes, items[i]);
    count_rest(notes, count, "left out, as others have the same events");
    return count;
}

/* Which traces have nothing to compare. */
static void note_idle(const struct part *part, struct notes *notes) {
    const struct gputime_job *job = part->job;
    size_t count = 0;
    bool has_more_losses = false;
    for (size_t i = 0; i < job->input_count; i++) {
        const struct gt_job_ranks *ranks = &job->inputs[i];
        if (job->part_of[i] != part->number || !ranks->is_read || ranks->count)
            continue;
        if (count++ >= NAMED) {
            has_more_losses |= is_partly_read(ranks);
            continue;
        }
        struct gt_str loss = {"", 0};
        if (is_partly_read(ranks))
            loss = gt_arena_printf(notes->arena, "; it was only partly read (%s)", gt_issue_infos[ranks->loss].id);
        add_note(notes, gt_arena_printf(notes->arena, "Left out: '%s' has no GPU work whose times can be trusted%s.",
                                        job->names[i].ptr, loss.ptr));
        mark_losses(notes, loss.len > 0);
    }
    count_rest(notes, count, "left out: no GPU work");
    mark_losses(notes, has_more_losses);
}

/* Which traces are cut or damaged. */
static void note_losses(const struct part *part, struct notes *notes) {
    const struct gputime_job *job = part->job;
    size_t count = 0;
    for (size_t i = 0; i < job->input_count; i++) {
        const struct gt_job_ranks *ranks = &job->inputs[i];
        if (job->part_of[i] != part->number || !is_partly_read(ranks) || ranks->count == 0 || count++ >= NAMED)
            continue;
        add_note(notes, gt_arena_printf(notes->arena, "'%s' was only partly read (%s): %s.", job->names[i].ptr,
                                        gt_issue_infos[ranks->loss].id, gt_issue_infos[ranks->loss].help));
        mark_losses(notes, true);
    }
    count_rest(notes, count, "only partly read");
    mark_losses(notes, count > NAMED);
}

/* ---- the section of a job ---- */

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

static void count_traces(const struct part *part, struct gt_rank_job_options *options) {
    const struct gputime_job *job = part->job;
    for (size_t i = 0; i < job->input_count; i++) {
        bool is_own = job->part_of[i] == part->number;
        options->traces_without_work += is_own && job->inputs[i].is_read && job->inputs[i].count == 0;
        options->traces_partly_read += is_own && is_partly_read(&job->inputs[i]);
    }
}

static enum gt_status fill_part(const struct part *part, const struct gt_request *request, struct gt_section *section,
                                struct gt_error *err) {
    const struct gputime_job *job = part->job;
    struct gt_rank_job analysis = {0};
    struct notes notes = {.arena = &section->report->arena};
    bool is_logged_only = part->count > part->traces && part->traces == 0;
    const struct gputime_option *match = &request->options[GT_OPTION_match];
    struct gt_rank_job_options options = {.match_names = match->text && strcmp(match->text, "names") == 0,
                                          .threads = request->threads,
                                          .keeps_exposed = gt_rank_report_has_members(request),
                                          .join = job->team ? gt_job_team_join : NULL,
                                          .join_context = (void *)(uintptr_t)job->team};
    count_traces(part, &options);
    options.traces_unreadable = note_failures(part, &notes, section);
    options.trace_copies = note_copies(part, &notes);
    note_idle(part, &notes);
    note_losses(part, &notes);
    gt_job_parts_note(job, part->number, section);
    enum gt_status status = gt_rank_job_analyse(&analysis, part->list, part->traces, &options, err);
    if (status == GT_OK)
        status = gt_rank_report_add(&analysis, section,
                                    &(struct gt_rank_report_options){.has_findings = !is_logged_only,
                                                                     .has_no_traces = is_logged_only,
                                                                     .why = request->options[GT_OPTION_why].text,
                                                                     .notes = notes.items,
                                                                     .notes_of_losses = notes.of_losses,
                                                                     .note_count = notes.count,
                                                                     .request = request},
                                    err);
    if (is_logged_only)
        leave_unsaid(section);
    if (status == GT_OK)
        status = add_logged(part->list, part->count, section, err);
    gt_rank_job_release(&analysis);
    return status;
}

static enum gt_status fill(void *context, const struct gt_request *request, struct gt_section *section,
                           struct gt_error *err) {
    struct part part = {.job = context, .number = (size_t)(section - section->report->sections)};
    part.list = gt_mem_array(part.job->summary_count, sizeof(struct gt_rank_summary *));
    if (!part.list)
        return gt_fail_memory(err);
    part.count = gt_job_parts_list(part.job, part.number, part.list, &part.traces);
    describe(&part, section);
    section->report->roles = &gt_rank_measures_roles;
    enum gt_status status = fill_part(&part, request, section, err);
    gt_mem_free(part.list);
    return status;
}

API enum gputime_status gputime_job_report(const struct gputime_job *job, const struct gputime_report_options *options,
                                           struct gputime_report **out, struct gputime_error *err) {
    return gt_internal_new_report(options, job->apart.job_count, fill, (void *)(uintptr_t)job, out, err);
}
