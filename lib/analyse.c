/* Runs analyses on threads and adds their results to a section. Each writes to a private report fragment; fragments are
 * joined in the order of the names, so that the number of threads changes only the time. */
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"
#include "internal.h"
#include "measure/analysis.h"
#include "measure/results/results.h"

/* ---- missing data ---- */

/* Whether all tables of the analysis are for data formats; then the screen does not mention what they lack. */
static bool is_hidden(const struct gt_analysis *analysis, const struct gt_request *request) {
    struct gt_str rest = gt_str_of(analysis->tables), key;
    bool has_tables = false;
    while (gt_str_next_item(&rest, &key)) {
        char table[64] = "";
        memcpy(table, key.ptr, key.len < sizeof table ? key.len : sizeof table - 1);
        if (gt_shape_of(table, request->shapes, request->shape_count).hidden <= 0)
            return false;
        has_tables = true;
    }
    return has_tables;
}

/* "runtime calls and no correlation ids": the facts that the analysis uses and the trace does not have. */
static struct gt_str list_missing(const struct gt_analysis *analysis, const struct gt_store *store,
                                  struct gt_arena *arena) {
    bool is_projected = store->facts & GT_FACT_PROJECTIONS;
    uint32_t missing = analysis->needs & ~store->facts & ~(uint32_t)GT_FACT_PROJECTIONS;
    struct gt_str list = {"", 0};
    if (is_projected && analysis->needs & GT_FACT_PROJECTIONS)
        return list;
    for (uint32_t fact = 1; fact && fact <= missing; fact <<= 1)
        if (missing & fact) {
            bool has_others = fact == GT_FACT_RANGES && is_projected;
            list = gt_arena_printf(arena, "%s%s%s", list.ptr, list.len ? " and no " : "",
                                   has_others ? "ranges on CPU threads" : gt_store_fact_title((enum gt_fact)fact));
        }
    return list;
}

/* The only place where a report says what a trace lacks. An empty trace has an issue instead. */
static void note_missing_facts(const struct gt_analysis *analysis, const struct gt_view *view,
                               struct gt_section *section) {
    const struct gt_store *store = view->store;
    bool is_empty = store->ops.count == 0 && store->groups.count == 0 && !(store->facts & GT_FACT_PROJECTIONS);
    struct gt_str missing = list_missing(analysis, store, &section->report->arena);
    if (!missing.len || is_empty)
        return;
    bool is_rocm = strncmp(store->meta.format, "roc", 3) == 0;
    bool is_never = store->possible && !(analysis->needs & ~store->facts & store->possible);
    gt_section_note(
        section, is_hidden(analysis, view->request) ? GT_FOR_DATA | GT_FOR_PAGE : GT_FOR_ALL,
        gt_arena_printf(
            &section->report->arena, "Incomplete (%s): %s no %s.%s", analysis->title,
            is_never ? "traces of this format have" : "the trace has", missing.ptr,
            !view->is_summed || !(analysis->needs & GT_FACT_OPS) ? ""
            : is_rocm
                ? " Summary tables have no timestamps; use the kernel_trace table or the database."
                : " Summary tables have no timestamps; use the cuda_gpu_trace table, the .sqlite or the .nsys-rep."));
}

/* A missing row is 0 if the trace would have recorded it, else unknown. Summary inputs contain only what was summed:
 * without kernels they do not mean that there were none. */
static void mark_lacks(const struct gt_analysis *analysis, const struct gt_view *view, struct gt_section *section) {
    struct gt_str missing = list_missing(analysis, view->store, &section->report->arena), rest, key;
    bool is_empty = view->op_count == 0 && view->group_count == 0;
    rest = gt_str_of(analysis->tables);
    while (gt_str_next_item(&rest, &key)) {
        const struct gt_table *table = gt_section_find_named(section, key);
        bool has_rows = table && table->row_count;
        if (is_empty && !has_rows)
            gt_section_lack(section, key, GT_STR("GPU work"));
        else if (missing.len)
            gt_section_lack(section, key, missing);
        else if (view->is_summed && !has_rows)
            gt_section_lack(section, key, gt_str_of(analysis->title));
    }
}

/* ---- jobs: first the intermediate results that analyses use, then the analyses ---- */

struct job {
    const struct gt_analysis *analysis; /* NULL: it makes a result */
    enum gt_result result;
    struct gt_report *fragment; /* of an analysis */
    enum gt_status status;
    struct gt_error err;
};

struct run {
    const struct gt_view *view;
    struct job *jobs; /* analyses in the order of their fragments */
    size_t job_count, first_analysis;
    size_t *order; /* order of execution: indices of jobs */
};

/* All analyses of the critical path lack the same: the first one says so. */
static bool is_said_before(const struct run *run, const struct job *job) {
    const uint32_t paths = UINT32_C(1) << GT_RESULT_PATHS;
    for (const struct job *other = run->jobs + run->first_analysis; other < job; other++)
        if (job->analysis->uses & other->analysis->uses & paths && !is_hidden(other->analysis, run->view->request))
            return job->analysis->needs == other->analysis->needs;
    return false;
}

static void do_job(void *context, size_t index) {
    struct run *run = context;
    struct job *job = &run->jobs[run->order[index]];
    if (!job->analysis) {
        job->status = gt_results_make(run->view, job->result, &job->err);
        return;
    }
    struct gt_section *section = &job->fragment->sections[0];
    if (!is_said_before(run, job))
        note_missing_facts(job->analysis, run->view, section);
    job->status = job->analysis->run(run->view, section, &job->err);
    mark_lacks(job->analysis, run->view, section);
}

static enum gt_status add_analysis(struct run *run, const char *key, const struct gt_section *section,
                                   struct gt_error *err) {
    struct job *job = &run->jobs[run->job_count];
    job->analysis = gt_analysis_find(key);
    if (!job->analysis)
        return gt_fail_usage(err, "unknown analysis '%s'", key);
    for (size_t i = run->first_analysis; i < run->job_count; i++)
        if (run->jobs[i].analysis == job->analysis) /* asked for twice, it runs once */
            return GT_OK;
    job->fragment = gt_report_new(section->report->command, 1);
    if (!job->fragment)
        return gt_fail_memory(err);
    job->fragment->input_count = section->report->input_count;
    run->job_count++;
    return GT_OK;
}

/* Results that analyses need, also one alone: those of an analysis are made at the same time then. */
static void add_results(struct run *run, const char *const *keys, size_t count) {
    uint32_t uses = 0;
    for (size_t i = 0; i < count; i++) {
        const struct gt_analysis *analysis = gt_analysis_find(keys[i]);
        uses |= analysis ? analysis->uses : 0;
    }
    for (int kind = 0; kind < GT_RESULT_COUNT; kind++)
        if (uses & 1u << kind)
            run->jobs[run->job_count++].result = (enum gt_result)kind;
    run->first_analysis = run->job_count;
}

/* Results come first. Then the analyses that need none of them, so that no thread waits while the last one is
 * made; then those that use most of them, since they take longest and should not finish last. */
static int turn_of(const struct job *job) {
    if (!job->analysis)
        return 0;
    int used = __builtin_popcount(job->analysis->uses & ~GT_ANALYSIS_ANY_ORDER);
    return used ? 2 + GT_RESULT_COUNT - used : 1;
}

static void set_order(struct run *run) {
    size_t placed = 0;
    for (int turn = 0; placed < run->job_count; turn++)
        for (size_t i = 0; i < run->job_count; i++)
            if (turn_of(&run->jobs[i]) == turn)
                run->order[placed++] = i;
}

static enum gt_status plan(struct run *run, const char *const *keys, size_t count, const struct gt_section *section,
                           struct gt_error *err) {
    run->jobs = gt_mem_array(GT_RESULT_COUNT + count + 1, sizeof *run->jobs);
    run->order = gt_mem_array(GT_RESULT_COUNT + count + 1, sizeof *run->order);
    if (!run->jobs || !run->order)
        return gt_fail_memory(err);
    add_results(run, keys, count);
    enum gt_status status = GT_OK;
    for (size_t i = 0; i < count && status == GT_OK; i++)
        status = add_analysis(run, keys[i], section, err);
    /* Every report has the issues of its data. */
    return status == GT_OK ? add_analysis(run, "health", section, err) : status;
}

/* Returns the error of the first analysis that failed. A result that failed makes one of them fail. */
static enum gt_status put_together(struct run *run, struct gt_section *section, struct gt_error *err) {
    for (size_t i = run->first_analysis; i < run->job_count; i++) {
        struct job *job = &run->jobs[i];
        if (job->status != GT_OK) {
            *err = job->err;
            return job->status;
        }
        gt_section_splice(section, &job->fragment->sections[0]);
    }
    return GT_OK;
}

enum gt_status gt_internal_analyse(const struct gt_view *view, const char *const *keys, size_t count,
                                   struct gt_section *section, struct gt_error *err) {
    struct run run = {.view = view};
    enum gt_status status = plan(&run, keys, count, section, err);
    if (status == GT_OK) {
        set_order(&run);
        gt_threads_deal(gt_threads_count(view->request->threads), run.job_count, do_job, &run);
        status = put_together(&run, section, err);
    }
    gt_view_slots_clear(view->slots);
    for (size_t i = 0; i < run.job_count; i++)
        gt_report_free(run.jobs[i].fragment);
    gt_mem_free(run.jobs);
    gt_mem_free(run.order);
    return status;
}
