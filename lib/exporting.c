/* The pipeline's other end: events of traces, selected, to files of other tools. */
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"
#include "export/exporter.h"
#include "internal.h"
#include "take.h"

static enum gt_status choose_exporter(const struct gputime_export_options *options, const char *path,
                                      const struct gt_exporter **out, struct gt_error *err) {
    *out = options->format ? gt_exporter_find(options->format) : gt_exporter_for_path(path);
    if (!*out && options->format)
        return gt_fail_usage(err, "unknown export format '%s'; see 'gputime list exports'", options->format);
    if (!*out)
        return gt_fail_usage(err, "unknown suffix of '%s'; end a directory with '/', or name a format", path);
    bool is_directory = *path && path[strlen(path) - 1] == '/';
    if (gt_exporter_is_directory(*out) && !is_directory)
        return gt_fail_usage(err, "format '%s' writes a directory; end its path with '/'", (*out)->key);
    if (!gt_exporter_is_directory(*out) && is_directory)
        return gt_fail_usage(err, "format '%s' writes one file, but '%s' is a directory", (*out)->key, path);
    return GT_OK;
}

/* What is borrowed or made for one call. */
struct work {
    struct gputime_export_options options;
    const struct gt_exporter *exporter;
    struct gt_request request;
    struct gt_export_input *inputs;
    struct gt_view **views;
    size_t count;
    struct gt_arena arena;
};

static uint32_t facts_of(const struct gt_exporter *exporter, const struct gputime_selection *selection) {
    return gt_store_facts_closed(exporter->facts | gt_internal_facts(NULL, 0, selection));
}

static enum gt_status take_options(struct work *work, const struct gputime_export_options *given, const char *path,
                                   struct gt_error *err) {
    enum gt_status status = GT_TAKE(gputime_export_options, given, &work->options, err);
    if (status == GT_OK && !path)
        status = gt_fail_usage(err, "no output given");
    if (status == GT_OK)
        status = choose_exporter(&work->options, path, &work->exporter, err);
    if (status == GT_OK)
        status = gt_take_selection(work->options.selection, &work->request.selection, err);
    if (status == GT_OK)
        work->request.facts = facts_of(work->exporter, &work->request.selection);
    work->request.threads = work->options.threads;
    return status;
}

/* One trace: what the exporter reads of it is there, and its selection is known. */
static enum gt_status add_input(struct work *work, struct gputime_trace *const *traces, size_t index,
                                struct gt_error *err) {
    const struct gt_reading *reading;
    struct gputime_trace *trace = traces[index];
    enum gt_status status = gt_internal_read(trace, work->request.facts, &reading, err);
    if (status == GT_OK)
        status = gt_view_new(reading->store, reading->labels, &work->request, &work->views[index], err);
    if (status != GT_OK)
        return gt_fail_context(err, "'%s'", trace->paths[0]);
    work->inputs[index] = (struct gt_export_input){.view = work->views[index],
                                                   .label = gt_internal_label(traces, work->count, index, &work->arena),
                                                   .path = gt_internal_path(trace),
                                                   .real_path = trace->paths[0],
                                                   .rank = reading->rank};
    return GT_OK;
}

static enum gt_status export_all(struct work *work, struct gputime_trace *const *traces, const char *path,
                                 struct gt_error *err) {
    enum gt_status status = work->count ? GT_OK : gt_fail_usage(err, "no trace given");
    work->inputs = gt_mem_array(work->count, sizeof *work->inputs);
    work->views = gt_mem_array(work->count, sizeof *work->views);
    if (!work->inputs || !work->views)
        return gt_fail_memory(err);
    for (size_t i = 0; i < work->count && status == GT_OK; i++)
        status = traces[i] ? add_input(work, traces, i, err)
                           : gt_fail_usage(err, "trace %zu of %zu is NULL", i + 1, work->count);
    if (status == GT_OK && gt_arena_failed(&work->arena))
        status = gt_fail_memory(err);
    if (status != GT_OK)
        return status;
    struct gt_export export = {.inputs = work->inputs,
                               .input_count = work->count,
                               .threads = gt_threads_count(work->options.threads),
                               .tables = work->options.tables,
                               .table_count = work->options.table_count};
    return work->exporter->write(&export, path, err);
}

API enum gputime_status gputime_traces_export(struct gputime_trace *const *traces, size_t count,
                                              const struct gputime_export_options *options, const char *path,
                                              struct gputime_error *err) {
    struct gt_error error = {0};
    struct work work = {.count = count};
    enum gt_status status = take_options(&work, options, path, &error);
    if (status == GT_OK)
        status = export_all(&work, traces, path, &error);
    for (size_t i = 0; work.views && i < count; i++)
        gt_view_free(work.views[i]);
    gt_mem_free(work.views);
    gt_mem_free(work.inputs);
    gt_arena_release(&work.arena);
    return gt_internal_fail(status, &error, err);
}

API uint64_t gputime_export_facts(const struct gputime_export_options *given, const char *path) {
    struct work work = {0};
    return take_options(&work, given, path, NULL) == GT_OK ? work.request.facts : 0;
}
