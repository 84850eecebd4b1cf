/* The pipeline's start: opens and recognizes the files of a capture, decodes them or loads the cache, and labels
 * events. */
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/source.h"
#include "base/threads.h"
#include "decode/decoder.h"
#include "internal.h"
#include "label/label.h"
#include "label/rules.h"
#include "take.h"

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

/* The user's rules; NULL if there are none. */
static enum gt_status read_rules(const struct gputime_open_options *options, struct gt_rules **out,
                                 struct gt_error *err) {
    struct gt_rules_request request = {.path = options->rules_path,
                                       .engine = options->rules_engine,
                                       .model = options->rules_model,
                                       .map = options->map_path,
                                       .files = options->rule_paths,
                                       .file_count = options->rule_path_count};
    if (!options->class_count)
        return gt_rules_new(&request, out, err);
    *out = NULL;
    if (request.path || request.engine || request.model || request.map)
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

static enum gt_status decode(const char *const *paths, size_t count, const struct gputime_open_options *options,
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

static enum gt_status load(struct gputime_trace *trace, const struct gputime_open_options *options,
                           struct gt_error *err) {
    const char *const *paths = (const char *const *)trace->paths;
    int64_t cache_after_ns = options->cache_after_ns ? options->cache_after_ns : 1000000000;
    bool uses_cache = !options->no_cache && options->reader == GPUTIME_READER_AUTO;
    enum gt_status prepared = read_rules(options, &trace->rules, err);
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
    enum gt_status status =
        gt_label_new_by_rules(trace->store, trace->rules, gt_threads_count(options->threads), &trace->labels, err);
    if (status == GT_OK)
        status = gt_trace_rank_find(trace->store, trace->labels, paths[0], &trace->rank, err);
    return status == GT_OK && !gt_internal_list_rows(trace) ? gt_fail_memory(err) : status;
}

API enum gputime_status gputime_open_options_check(const struct gputime_open_options *options,
                                                   struct gputime_error *err) {
    struct gt_error error = {0};
    struct gputime_open_options taken;
    struct gt_rules *rules = NULL;
    enum gt_status status = GT_TAKE(gputime_open_options, options, &taken, &error);
    if (status == GT_OK)
        status = read_rules(&taken, &rules, &error);
    gt_rules_free(rules);
    return gt_internal_fail(status, &error, err);
}

static enum gt_status open_trace(struct gputime_trace *trace, const char *const *paths, size_t path_count,
                                 const struct gputime_open_options *options, const struct gputime_run *run,
                                 struct gt_error *err) {
    struct gputime_open_options taken;
    enum gt_status status = GT_TAKE(gputime_open_options, options, &taken, err);
    if (status == GT_OK)
        status = gt_take_choice("reader", (unsigned)taken.reader, GPUTIME_READER_NSYS, err);
    if (status == GT_OK && !copy_paths(trace, paths, path_count))
        return gt_fail_memory(err);
    if (status == GT_OK)
        status = gt_take_run(run, &trace->arena, &trace->run, err);
    return status == GT_OK ? load(trace, &taken, err) : status;
}

API enum gputime_status gputime_trace_open(const char *const *paths, size_t path_count,
                                           const struct gputime_open_options *options, const struct gputime_run *run,
                                           struct gputime_trace **out, struct gputime_error *err) {
    struct gt_error error = {0};
    *out = NULL;
    if (path_count == 0)
        return gt_internal_fail(gt_fail_usage(&error, "no trace given"), &error, err);
    struct gputime_trace *trace = gt_mem_array(1, sizeof *trace);
    enum gt_status status = trace ? open_trace(trace, paths, path_count, options, run, &error) : gt_fail_memory(&error);
    if (status == GT_OK)
        *out = trace;
    else
        gputime_trace_free(trace);
    return gt_internal_fail(status, &error, err);
}

API struct gputime_trace_info gputime_trace_describe(const struct gputime_trace *trace) {
    const struct gt_meta *meta = &trace->store->meta;
    struct gt_str producer = gt_store_string(trace->store, meta->producer);
    struct gt_str host = gt_store_string(trace->store, meta->host);
    return (struct gputime_trace_info){
        .path = trace->paths[0],
        .format = meta->format,
        .producer = {producer.ptr, producer.len},
        .origin_ns = trace->store->origin_ns,
        .base_ns = meta->base_ns,
        .rank = trace->rank.rank,
        .world_size = trace->rank.world_size,
        .skipped_events = trace->store->skipped_events,
        .host = {host.ptr, host.len},
        .rank_source = gt_trace_rank_source_key(trace->rank.source),
    };
}

API size_t gputime_capture_prefix(const char *path) {
    size_t bytes = 0;
    for (size_t i = 0; i < gt_decoder_count && !bytes; i++)
        bytes = gt_decoders[i].capture_prefix ? gt_decoders[i].capture_prefix(path) : 0;
    return bytes;
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
