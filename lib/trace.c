/* The pipeline's start: a capture's files are opened and sniffed, decoded or found in the cache, and labelled. */
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/source.h"
#include "base/threads.h"
#include "decode/decoder.h"
#include "internal.h"
#include "label/label.h"
#include "label/rules.h"

static bool copy_paths(struct gputime_trace *trace, const char *const *paths, size_t count) {
    trace->paths = gt_mem_array(count, sizeof *trace->paths);
    for (size_t i = 0; trace->paths && i < count; i++) {
        size_t bytes = strlen(paths[i]) + 1;
        trace->paths[i] = gt_mem_alloc(bytes);
        if (!trace->paths[i])
            return false;
        memcpy(trace->paths[i], paths[i], bytes);
        trace->path_count++;
    }
    return trace->paths != NULL;
}

static const char *copy_text(struct gt_arena *arena, const char *text) {
    return text ? gt_arena_copy(arena, gt_str_of(text)).ptr : NULL;
}

static bool copy_run(struct gputime_trace *trace, const struct gputime_options *options) {
    trace->run = (struct gt_run){
        .title = copy_text(&trace->arena, options->title),
        .iterations = options->iterations,
        .gpus = options->gpus,
        .nvtx_tag = copy_text(&trace->arena, options->nvtx_tag),
        .elapsed = copy_text(&trace->arena, options->elapsed),
        .without_memory = options->without_memory,
        .remark = copy_text(&trace->arena, options->remark),
    };
    return !gt_arena_failed(&trace->arena);
}

/* The user's rules; NULL where there are none. */
static enum gt_status read_rules(const struct gputime_options *options, struct gt_rules **out, struct gt_error *err) {
    struct gt_rules_request request = {.rules = options->rules,
                                       .map = options->map,
                                       .files = options->rule_files,
                                       .file_count = options->rule_file_count};
    if (!options->class_count)
        return gt_rules_new(&request, out, err);
    *out = NULL;
    if (options->rules || options->map)
        return gt_fail_usage(err, "classes cannot be combined with rules or a map; all define the categories");
    struct gt_class_key *keys = gt_mem_array(options->class_count, sizeof *keys);
    if (!keys)
        return gt_fail_memory(err);
    for (size_t i = 0; i < options->class_count; i++)
        keys[i] = (struct gt_class_key){options->classes[i].part, options->classes[i].name};
    enum gt_status status = gt_rules_new_map(keys, options->class_count, out, err);
    gt_mem_free(keys);
    return status;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static enum gt_status decode(const char *const *paths, size_t count, const struct gputime_options *options,
                             struct gt_store **out, struct gt_error *err) {
    enum gt_status status = GT_OK;
    struct gt_source **sources = gt_mem_array(count, sizeof *sources);
    if (!sources)
        return gt_fail_memory(err);
    for (size_t i = 0; i < count && status == GT_OK; i++)
        status = gt_source_open(paths[i], &sources[i], err);
    const struct gt_decoder *decoder = NULL;
    if (status == GT_OK)
        status = gt_decoder_choose(sources[0], &decoder, err);
    if (status == GT_OK) {
        struct gt_decode_options how = {
            .threads = gt_threads_count(options->threads),
            .reader = (enum gt_reader)options->reader,
            .nsys_command = options->nsys_command,
            .progress = options->progress,
            .progress_context = options->progress_context,
        };
        status = decoder->decode(sources, count, &how, out, err);
    }
    for (size_t i = 0; i < count; i++)
        gt_source_close(sources[i]);
    gt_mem_free(sources);
    return status;
}

static enum gt_status refuse_losses(const struct gt_store *store, const char *path, struct gt_error *err) {
    enum gt_issue_id loss = gt_store_loss(store);
    if (loss == GT_ISSUE_COUNT)
        return GT_OK;
    unsigned long long count = store->issues[loss].count;
    return gt_fail(err, "'%s' was only partly read (%s, %llu occurrence%s): %s", path, gt_issue_infos[loss].id, count,
                   count == 1 ? "" : "s", gt_issue_infos[loss].help);
}

/* What can be told wrong before the trace is read. */
static enum gt_status prepare(const struct gputime_options *options, int64_t *cache_after_ns, struct gt_rules **rules,
                              struct gt_error *err) {
    int64_t elapsed_ns = 0;
    *cache_after_ns = 1000000000;
    if (options->cache_after && !gt_num_parse_duration(gt_str_of(options->cache_after), cache_after_ns))
        return gt_fail_usage(err, "invalid duration '%s'; use for example 2s or 500ms", options->cache_after);
    if (options->elapsed && (!gt_num_parse_duration(gt_str_of(options->elapsed), &elapsed_ns) || elapsed_ns < 0))
        return gt_fail_usage(err, "invalid elapsed time '%s'; use seconds, for example 306 or 12.5", options->elapsed);
    return read_rules(options, rules, err);
}

static enum gt_status load(struct gputime_trace *trace, const struct gputime_options *options, struct gt_error *err) {
    const char *const *paths = (const char *const *)trace->paths;
    int64_t cache_after_ns;
    bool uses_cache = !options->no_cache && options->reader == GPUTIME_READER_AUTO;
    enum gt_status prepared = prepare(options, &cache_after_ns, &trace->rules, err);
    if (prepared != GT_OK)
        return prepared;
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
    return gt_label_new_by_rules(trace->store, trace->rules, gt_threads_count(options->threads), &trace->labels, err);
}

API enum gputime_status gputime_options_check(const struct gputime_options *options, struct gputime_error *err) {
    struct gt_error error = {0};
    struct gt_rules *rules = NULL;
    int64_t cache_after_ns;
    enum gt_status status = prepare(options ? options : &gt_options_automatic, &cache_after_ns, &rules, &error);
    gt_rules_free(rules);
    return gt_error_pass(status, &error, err);
}

API enum gputime_status gputime_trace_open(const char *const *paths, size_t path_count,
                                           const struct gputime_options *options, struct gputime_trace **out,
                                           struct gputime_error *err) {
    struct gt_error error = {0};
    *out = NULL;
    if (path_count == 0)
        return gt_error_pass(gt_fail_usage(&error, "no trace given"), &error, err);
    const struct gputime_options *how = options ? options : &gt_options_automatic;
    struct gputime_trace *trace = gt_mem_array(1, sizeof *trace);
    enum gt_status status;
    if (!trace || !copy_paths(trace, paths, path_count) || !copy_run(trace, how))
        status = gt_fail_memory(&error);
    else
        status = load(trace, how, &error);
    if (status == GT_OK)
        *out = trace;
    else
        gputime_trace_free(trace);
    return gt_error_pass(status, &error, err);
}

API const char *gputime_trace_loss(const struct gputime_trace *trace) {
    enum gt_issue_id loss = gt_store_loss(trace->store);
    return loss == GT_ISSUE_COUNT ? NULL : gt_issue_infos[loss].help;
}

API void gputime_trace_free(struct gputime_trace *trace) {
    if (!trace)
        return;
    gt_label_free(trace->labels);
    gt_rules_free(trace->rules);
    gt_store_free(trace->store);
    for (size_t i = 0; i < trace->path_count; i++)
        gt_mem_free(trace->paths[i]);
    gt_mem_free(trace->paths);
    gt_arena_release(&trace->arena);
    gt_mem_free(trace);
}

API void gputime_trace_store_cache(const struct gputime_trace *trace) {
    if (trace->is_worth_caching)
        gt_cache_save(&trace->cache_key, (const char *const *)trace->paths, trace->path_count, trace->store);
}
