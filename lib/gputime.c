/* The pipeline, once: open and sniff, decode (or load the cache), label, select, analyse, shape, write. */
#include "gputime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/out.h"
#include "base/source.h"
#include "base/threads.h"
#include "decode/decoder.h"
#include "events/cache.h"
#include "events/view.h"
#include "internal.h"
#include "label/label.h"
#include "measure/analysis.h"
#include "report/report.h"
#include "write/writer.h"

static const struct gputime_options automatic;

enum gputime_status gt_error_pass(enum gt_status status, const struct gt_error *from, struct gputime_error *to) {
    if (to && status != GT_OK) {
        to->status = (enum gputime_status)status;
        memcpy(to->message, from->message, sizeof to->message);
    }
    return (enum gputime_status)status;
}

/* ---- traces ---- */

static bool copy_paths(struct gputime_trace *trace, const char *const *paths, size_t count) {
    trace->paths = gt_alloc_array(count, sizeof *trace->paths);
    for (size_t i = 0; trace->paths && i < count; i++) {
        size_t bytes = strlen(paths[i]) + 1;
        trace->paths[i] = gt_alloc(bytes);
        if (!trace->paths[i])
            return false;
        memcpy(trace->paths[i], paths[i], bytes);
        trace->path_count++;
    }
    return trace->paths != NULL;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static enum gt_status decode(const char *const *paths, size_t count, const struct gputime_options *options,
                             struct gt_store **out, struct gt_error *err) {
    enum gt_status status = GT_OK;
    struct gt_source **sources = gt_alloc_array(count, sizeof *sources);
    if (!sources)
        return gt_fail_memory(err);
    for (size_t i = 0; i < count && status == GT_OK; i++)
        status = gt_source_open(paths[i], &sources[i], err);
    const struct gt_decoder *decoder = NULL;
    if (status == GT_OK)
        status = gt_decoder_choose(sources[0], &decoder, err);
    if (status == GT_OK) {
        struct gt_decode_options how = {
            .threads = gt_threads_count(options->threads > 0 ? (size_t)options->threads : 0),
            .reader = (enum gt_reader)options->reader,
            .nsys_command = options->nsys_command,
            .progress = options->progress,
            .progress_context = options->progress_context,
        };
        status = decoder->decode(sources, count, &how, out, err);
    }
    for (size_t i = 0; i < count; i++)
        gt_source_close(sources[i]);
    gt_free(sources);
    return status;
}

static enum gt_status refuse_losses(const struct gt_store *store, const char *path, struct gt_error *err) {
    for (int k = 0; k < GT_ISSUE_COUNT; k++)
        if (gt_issue_infos[k].issue_class == GT_ISSUE_CLASS_LOSS && store->issues[k].count)
            return gt_fail(err, "'%s' was not read whole (%s, %llu times): %s", path, gt_issue_infos[k].id,
                           (unsigned long long)store->issues[k].count, gt_issue_infos[k].help);
    return GT_OK;
}

static enum gt_status load(struct gputime_trace *trace, const struct gputime_options *options, struct gt_error *err) {
    const char *const *paths = (const char *const *)trace->paths;
    int64_t cache_after_ns = 1000000000;
    bool uses_cache = !options->no_cache && options->reader == GPUTIME_READER_AUTO;
    if (options->cache_after && !gt_num_parse_duration(gt_str_of(options->cache_after), &cache_after_ns))
        return gt_fail_usage(err, "'%s' is no duration; write for example 2s or 500ms", options->cache_after);
    if (uses_cache)
        gt_cache_key_init(&trace->cache_key, paths, trace->path_count);
    if (!gt_cache_load(&trace->cache_key, &trace->store)) {
        int64_t begin_ns = now_ns();
        enum gt_status status = decode(paths, trace->path_count, options, &trace->store, err);
        if (status != GT_OK)
            return status;
        trace->is_worth_caching = uses_cache && now_ns() - begin_ns >= cache_after_ns;
    }
    if (options->strict) {
        enum gt_status status = refuse_losses(trace->store, paths[0], err);
        if (status != GT_OK)
            return status;
    }
    return gt_labels_new(trace->store, &trace->labels, err);
}

API enum gputime_status gputime_trace_open(const char *const *paths, size_t path_count,
                                           const struct gputime_options *options, struct gputime_trace **out,
                                           struct gputime_error *err) {
    struct gt_error error = {0};
    *out = NULL;
    if (path_count == 0)
        return gt_error_pass(gt_fail_usage(&error, "no trace given"), &error, err);
    struct gputime_trace *trace = gt_alloc_array(1, sizeof *trace);
    enum gt_status status;
    if (!trace || !copy_paths(trace, paths, path_count))
        status = gt_fail_memory(&error);
    else
        status = load(trace, options ? options : &automatic, &error);
    if (status == GT_OK)
        *out = trace;
    else
        gputime_trace_free(trace);
    return gt_error_pass(status, &error, err);
}

API void gputime_trace_free(struct gputime_trace *trace) {
    if (!trace)
        return;
    gt_labels_free(trace->labels);
    gt_store_free(trace->store);
    for (size_t i = 0; i < trace->path_count; i++)
        gt_free(trace->paths[i]);
    gt_free(trace->paths);
    gt_free(trace);
}

API void gputime_trace_store_cache(const struct gputime_trace *trace) {
    if (trace->is_worth_caching)
        gt_cache_save(&trace->cache_key, (const char *const *)trace->paths, trace->path_count, trace->store);
}

/* ---- reports ---- */

static struct gt_str base_name(const char *path) {
    if (strcmp(path, "-") == 0)
        return GT_STR("standard input");
    const char *slash = strrchr(path, '/');
    return gt_str_of(slash && slash[1] ? slash + 1 : path);
}

/* File names tell inputs apart unless two are equal; then all go by their paths. */
static bool names_are_unique(struct gputime_trace *const *traces, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (gt_str_eq(base_name(traces[i]->paths[0]), base_name(traces[k]->paths[0])))
                return false;
    return true;
}

static uint64_t count_kernels(const struct gt_store *store) {
    uint64_t count = 0;
    for (size_t i = 0; i < store->ops.count; i++)
        count += store->ops.kind[i] == GT_OP_KERNEL;
    return count;
}

static void describe_input(struct gt_section *section, const struct gputime_trace *trace, bool by_name) {
    const struct gt_store *store = trace->store;
    struct gt_arena *arena = &section->report->arena;
    struct gt_str label = by_name ? base_name(trace->paths[0]) : gt_str_of(trace->paths[0]);
    section->input = (struct gt_report_input){
        .label = gt_arena_copy(arena, label),
        .path = gt_arena_copy(arena, gt_str_of(trace->paths[0])),
        .format = store->meta.format,
        .producer = gt_store_string(store, store->meta.producer),
        .ops = store->ops.count,
        .kernels = count_kernels(store),
        .calls = store->calls.count,
        .ranges = store->ranges.count,
        .cpu_ops = store->cpu_ops.count,
        .skipped_events = store->skipped_events,
        .origin_ns = store->origin_ns,
        .base_ns = store->meta.base_ns,
        .rank = store->meta.rank,
        .world_size = store->meta.world_size,
    };
}

/* Are the analysis' tables for data alone? Then what they lack is no news for the screen. */
static bool is_hidden(const struct gt_analysis *analysis, const struct gputime_options *options) {
    size_t key_bytes = strcspn(analysis->tables, ",");
    bool hidden = false;
    for (size_t i = 0; i < options->shape_count; i++)
        if (strlen(options->shapes[i].table) == key_bytes &&
            strncmp(options->shapes[i].table, analysis->tables, key_bytes) == 0)
            hidden = options->shapes[i].hidden;
    return hidden;
}

/* The one place where a report says what a trace cannot tell. An empty trace says so in its health instead. */
static void note_missing_facts(const struct gt_analysis *analysis, const struct gt_view *view,
                               struct gt_section *section) {
    const struct gt_store *store = view->store;
    uint32_t missing = analysis->needs & ~store->facts;
    if (!missing || (store->ops.count == 0 && store->groups.count == 0))
        return;
    char list[256] = "";
    for (uint32_t fact = 1; fact && fact <= missing; fact <<= 1)
        if (missing & fact) {
            if (*list)
                strncat(list, ", ", sizeof list - strlen(list) - 1);
            strncat(list, gt_fact_title((enum gt_fact)fact), sizeof list - strlen(list) - 1);
        }
    gt_section_note(section, is_hidden(analysis, view->options) ? GT_FOR_DATA | GT_FOR_PAGE : GT_FOR_ALL,
                    gt_arena_printf(&section->report->arena, "%s: the trace has no %s.", analysis->title, list));
}

static enum gt_status run_analysis(const char *key, const struct gt_view *view, struct gt_section *section,
                                   struct gt_error *err) {
    const struct gt_analysis *analysis = gt_analysis_find(key);
    if (!analysis)
        return gt_fail_usage(err, "there is no analysis '%s'", key);
    note_missing_facts(analysis, view, section);
    return analysis->run(view, section, err);
}

static enum gt_status fill_section(struct gputime_report *report, size_t index, const struct gputime_trace *trace,
                                   const char *const *analyses, size_t analysis_count,
                                   const struct gputime_options *options, struct gt_error *err) {
    struct gt_section *section = &report->model->sections[index];
    enum gt_status status = gt_view_new(trace->store, trace->labels, options, &report->views[index], err);
    for (size_t a = 0; a < analysis_count && status == GT_OK; a++)
        status = run_analysis(analyses[a], report->views[index], section, err);
    /* Every report states the problems of its data. */
    if (status == GT_OK)
        status = run_analysis("health", report->views[index], section, err);
    return status == GT_OK ? GT_OK : gt_fail_context(err, "'%s'", trace->paths[0]);
}

static enum gt_status fill_report(struct gputime_report *report, struct gputime_trace *const *traces, size_t count,
                                  const char *command, const char *const *analyses, size_t analysis_count,
                                  const struct gputime_options *options, struct gt_error *err) {
    report->model = gt_report_new(command, count);
    report->views = gt_alloc_array(count, sizeof(struct gt_view *));
    if (!report->model || !report->views)
        return gt_fail_memory(err);
    report->model->main_table = options->main_table;
    bool by_name = names_are_unique(traces, count);
    for (size_t i = 0; i < count; i++) {
        describe_input(&report->model->sections[i], traces[i], by_name);
        enum gt_status status = fill_section(report, i, traces[i], analyses, analysis_count, options, err);
        if (status != GT_OK)
            return status;
    }
    if (gt_arena_failed(&report->model->arena))
        return gt_fail_memory(err);
    return gt_report_shape(report->model, options->shapes, options->shape_count, err);
}

API enum gputime_status gputime_report_new(struct gputime_trace *const *traces, size_t trace_count, const char *command,
                                           const char *const *analyses, size_t analysis_count,
                                           const struct gputime_options *options, struct gputime_report **out,
                                           struct gputime_error *err) {
    struct gt_error error = {0};
    *out = NULL;
    struct gputime_report *report = gt_alloc_array(1, sizeof *report);
    if (!report)
        return gt_error_pass(gt_fail_memory(&error), &error, err);
    enum gt_status status = fill_report(report, traces, trace_count, command, analyses, analysis_count,
                                        options ? options : &automatic, &error);
    if (status == GT_OK)
        *out = report;
    else
        gputime_report_free(report);
    return gt_error_pass(status, &error, err);
}

API void gputime_report_free(struct gputime_report *report) {
    if (!report)
        return;
    for (size_t i = 0; report->views && report->model && i < report->model->section_count; i++)
        gt_view_free(report->views[i]);
    gt_free(report->views);
    gt_report_free(report->model);
    gt_free(report);
}

/* ---- writing ---- */

static enum gt_status choose_writer(const struct gputime_options *options, const char *path,
                                    const struct gt_writer **out, struct gt_error *err) {
    *out = options->format ? gt_writer_find(options->format) : path ? gt_writer_for_path(path) : NULL;
    if (!*out && !options->format)
        *out = gt_writer_find("text");
    if (*out)
        return GT_OK;
    return gt_fail_usage(err, "there is no format '%s'; 'gputime list outputs' shows them", options->format);
}

static enum gt_status write_file(const struct gt_writer *writer, const struct gt_report *report,
                                 const struct gputime_options *options, const char *path, struct gt_error *err) {
    struct gt_out *out = NULL;
    enum gt_status status = gt_out_open(path, &out, err);
    if (status == GT_OK)
        status = writer->write(report, options, out, err);
    if (status == GT_OK)
        status = gt_out_commit(out, err);
    gt_out_close(out);
    return status;
}

/* One CSV for each table of the report, whichever section has it first. */
static enum gt_status write_folder(const struct gt_writer *writer, const struct gt_report *report,
                                   const struct gputime_options *options, const char *folder, struct gt_error *err) {
    if (strcmp(writer->key, "csv") != 0)
        return gt_fail_usage(err, "'%s' is a folder, which only CSV can fill; name a file", folder);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return gt_fail(err, "cannot make folder '%s': %s", folder, strerror(errno));
    enum gt_status status = GT_OK;
    struct gt_arena names = {0};
    for (size_t s = 0; s < report->section_count; s++) {
        const struct gt_section *section = &report->sections[s];
        for (size_t b = 0; b < section->block_count && status == GT_OK; b++) {
            if (section->blocks[b].kind != GT_BLOCK_TABLE || !(section->blocks[b].audience & GT_FOR_DATA))
                continue;
            const char *key = section->blocks[b].table->key;
            bool is_first = true;
            for (size_t earlier = 0; earlier < s; earlier++)
                is_first = is_first && !gt_section_find(&report->sections[earlier], key);
            if (!is_first)
                continue;
            struct gputime_options one = *options;
            one.table = key;
            one.columns = NULL;
            struct gt_str path = gt_arena_printf(&names, "%s%s.csv", folder, key);
            status = gt_arena_failed(&names) ? gt_fail_memory(err) : write_file(writer, report, &one, path.ptr, err);
        }
    }
    gt_arena_release(&names);
    return status;
}

API enum gputime_status gputime_report_write(const struct gputime_report *report, const struct gputime_options *options,
                                             const char *path, struct gputime_error *err) {
    struct gt_error error = {0};
    const struct gputime_options *how = options ? options : &automatic;
    bool is_folder = path && *path && path[strlen(path) - 1] == '/';
    struct gputime_options csv = *how;
    if (is_folder && !how->format) {
        csv.format = "csv";
        how = &csv;
    }
    const struct gt_writer *writer;
    enum gt_status status = choose_writer(how, path, &writer, &error);
    if (status == GT_OK)
        status = is_folder ? write_folder(writer, report->model, how, path, &error)
                           : write_file(writer, report->model, how, path, &error);
    return gt_error_pass(status, &error, err);
}
