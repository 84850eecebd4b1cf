/* The pipeline's start: opens and recognizes the files of a capture, decodes them or loads the cache, and labels
 * events. */
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "base/source.h"
#include "base/threads.h"
#include "decode/decoder.h"
#include "internal.h"
#include "label/label.h"
#include "label/rules.h"
#include "redact/redact_store.h"
#include "take.h"

#define GT_FACT(name, bit, key, title, implies)                                                                        \
    _Static_assert((int)GPUTIME_FACT_##name == (int)GT_FACT_##name, "values must match the header");
#include "events/facts.def"
#undef GT_FACT

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

static enum gt_status decode(const struct gputime_trace *trace, uint32_t facts, struct gt_store **out,
                             struct gt_error *err) {
    const struct gputime_open_options *options = &trace->how;
    enum gt_status status = GT_OK;
    struct gt_source **sources = gt_mem_array(trace->path_count, sizeof *sources);
    if (!sources)
        return gt_fail_memory(err);
    for (size_t i = 0; i < trace->path_count && status == GT_OK; i++)
        status = gt_source_open(trace->paths[i], &sources[i], err);
    const struct gt_decoder *decoder = NULL;
    if (status == GT_OK)
        status = gt_decoder_choose(sources[0], &decoder, err);
    if (status == GT_OK) {
        struct gt_decode_options how = {
            .threads = gt_threads_count(options->threads),
            .reader = (enum gt_reader)options->reader,
            .nsys_command = options->nsys_command,
            .facts = facts,
            .progress = options->progress,
            .progress_context = options->progress_context,
        };
        status = decoder->decode(sources, trace->path_count, &how, out, err);
        if (status == GT_OK)
            (*out)->asked = facts;
    }
    for (size_t i = 0; i < trace->path_count; i++)
        gt_source_close(sources[i]);
    gt_mem_free(sources);
    return status;
}

/* A strict caller refuses losses of what it asked for; the cache may have brought more. */
static enum gt_status refuse_losses(const struct gputime_trace *trace, uint32_t facts, struct gt_error *err) {
    const struct gt_store *store = trace->newest->store;
    enum gt_issue_id loss = trace->how.strict ? gt_store_loss(store, facts) : GT_ISSUE_COUNT;
    if (loss == GT_ISSUE_COUNT)
        return GT_OK;
    unsigned long long count = gt_store_issue(store, loss, facts).count;
    return gt_fail(err, "'%s' was only partly read (%s, %llu occurrence%s): %s", trace->paths[0],
                   gt_issue_infos[loss].id, count, count == 1 ? "" : "s", gt_issue_infos[loss].help);
}

/* What comes through a pipe comes once. */
static bool can_be_read_again(const struct gputime_trace *trace) {
    for (size_t i = 0; i < trace->path_count; i++) {
        struct stat info;
        if (strcmp(trace->paths[i], "-") == 0 || stat(trace->paths[i], &info) != 0 || !S_ISREG(info.st_mode))
            return false;
    }
    return true;
}

/* Why there is no GPU work is in the rest of the trace. */
static bool needs_the_rest(const struct gt_store *store, uint32_t facts) {
    bool has_none = (facts & GT_FACT_OPS) && store->ops.count == 0 && store->groups.count == 0;
    return has_none && (facts & GT_FACTS_USUAL) != GT_FACTS_USUAL;
}

/* The cache may have brought far more than GPU work alone. Where nothing else is asked for, the rest is as if it had
   not been read: no launch is matched and no step found that nobody looks at. Who asks for more later reads again. */
static void keep_ops_alone(struct gt_store *store, uint32_t facts) {
    const uint32_t of_ops = GT_FACT_OPS | GT_FACT_GROUPS | GT_FACT_BYTES | GT_FACT_PROJECTIONS;
    static const bool is_kept[GT_TABLE_COUNT] = {
        [GT_TABLE_ops] = true,         [GT_TABLE_copies] = true,      [GT_TABLE_groups] = true,
        [GT_TABLE_projections] = true, [GT_TABLE_fact_issues] = true, [GT_TABLE_projection_groups] = true,
        [GT_TABLE_processes] = true,   [GT_TABLE_threads] = true,     [GT_TABLE_devices] = true,
        [GT_TABLE_lanes] = true,       [GT_TABLE_comm_groups] = true, [GT_TABLE_counter_tracks] = true,
    };
    if (facts & ~of_ops || store->ops.count == 0) /* why there is no GPU work is in the rest */
        return;
    for (int table = 0; table < GT_TABLE_COUNT; table++)
        if (!is_kept[table])
            *gt_store_row_count(store, (enum gt_table_id)table) = 0;
    store->asked = facts;
}

/* From the cache if it has these facts, else from the files, with those of the cache: then it serves both requests. */
static enum gt_status load(struct gputime_trace *trace, uint32_t facts, struct gt_reading *reading,
                           struct gt_error *err) {
    int64_t cache_after_ns = trace->how.cache_after_ns ? trace->how.cache_after_ns : 1000000000;
    uint32_t held;
    if (gt_cache_load(&trace->cache_key, facts, &reading->store, &held)) {
        reading->store->asked |= facts;
        keep_ops_alone(reading->store, facts);
        return GT_OK;
    }
    int64_t begin_ns = now_ns();
    /* What the rest of a pipe says is known only while it is read. */
    uint32_t wanted = facts | held | (can_be_read_again(trace) ? 0 : GT_FACTS_USUAL);
    enum gt_status status = decode(trace, wanted, &reading->store, err);
    if (status == GT_OK && needs_the_rest(reading->store, wanted)) {
        gt_store_free(reading->store);
        reading->store = NULL;
        status = decode(trace, wanted | GT_FACTS_USUAL, &reading->store, err);
    }
    reading->is_worth_caching = trace->cache_key.is_usable && (held || now_ns() - begin_ns >= cache_after_ns);
    return status;
}

static void free_reading(struct gt_reading *reading, size_t threads) {
    if (!reading)
        return;
    gt_label_free(reading->labels);
    gt_store_free_on(reading->store, threads);
    gt_arena_release(&reading->arena);
    gt_mem_free(reading);
}

/* What a format can hold; everything where it is not known. */
static uint32_t facts_of_format(const char *format) {
    for (size_t i = 0; i < gt_decoder_count; i++)
        if (strcmp(gt_decoders[i].key, format) == 0)
            return gt_decoders[i].facts;
    return GT_FACTS_ALL;
}

static enum gt_status fill_reading(struct gputime_trace *trace, uint32_t facts, struct gt_reading **out,
                                   struct gt_error *err) {
    struct gt_reading *reading = gt_mem_array(1, sizeof *reading);
    *out = reading;
    if (!reading)
        return gt_fail_memory(err);
    enum gt_status status = load(trace, facts, reading, err);
    if (status == GT_OK)
        reading->store->possible = facts_of_format(reading->store->meta.format);
    if (status == GT_OK && trace->how.redact)
        status = gt_redact_store(reading->store, trace->how.redact == GPUTIME_REDACT_NAMES, err);
    if (status == GT_OK)
        status = gt_label_new_by_rules(reading->store, trace->rules, gt_threads_count(trace->how.threads),
                                       &reading->labels, err);
    if (status == GT_OK)
        status = gt_trace_rank_find(reading->store, trace->paths[0], &reading->rank, err);
    return status;
}

struct filling {
    struct gputime_trace *trace;
    uint32_t facts;
    struct gt_reading **out;
    struct gt_error *err;
    enum gt_status status;
};

static void fill_together(void *context) {
    struct filling *filling = context;
    filling->status = fill_reading(filling->trace, filling->facts, filling->out, filling->err);
}

static enum gt_status new_reading(struct gputime_trace *trace, uint32_t facts, struct gt_reading **out,
                                  struct gt_error *err) {
    struct filling filling = {trace, facts, out, err, GT_OK};
    gt_threads_together(gt_threads_count(trace->how.threads), fill_together, &filling);
    return filling.status;
}

/* What a caller misses, in its own words: of the facts that it asked for the last one, which implies others. */
static enum gt_fact fact_to_name(uint32_t asked, uint32_t missing) {
    uint32_t named = asked & missing;
    if (!named)
        return (enum gt_fact)(missing & -missing);
    return (enum gt_fact)(UINT32_C(1) << (31 - __builtin_clz(named)));
}

static enum gt_status read_again(struct gputime_trace *trace, uint32_t asked, uint32_t missing, struct gt_error *err) {
    struct gt_reading *reading = NULL;
    if (!can_be_read_again(trace))
        return gt_fail_usage(err, "'%s' was read without %s and cannot be read again; ask for them when it is opened",
                             trace->paths[0], gt_store_fact_title(fact_to_name(asked, missing)));
    enum gt_status status = new_reading(trace, trace->newest->store->asked | missing, &reading, err);
    if (status != GT_OK) {
        free_reading(reading, 1);
        return status;
    }
    reading->older = trace->newest;
    trace->newest = reading;
    return GT_OK;
}

enum gt_status gt_internal_read(struct gputime_trace *trace, uint32_t facts, const struct gt_reading **out,
                                struct gt_error *err) {
    enum gt_status status = GT_OK;
    uint32_t closed = gt_store_facts_closed(facts);
    pthread_mutex_lock(&trace->lock);
    const struct gt_store *newest = trace->newest->store;
    uint32_t missing = closed & ~newest->asked & newest->possible; /* the others are never there */
    if (missing)
        status = read_again(trace, facts, missing, err);
    if (status == GT_OK)
        status = refuse_losses(trace, closed, err);
    *out = trace->newest;
    pthread_mutex_unlock(&trace->lock);
    return status;
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
    enum gt_status status = GT_TAKE(gputime_open_options, options, &trace->how, err);
    if (status == GT_OK)
        status = gt_take_choice("reader", (unsigned)trace->how.reader, GPUTIME_READER_NSYS, err);
    if (status == GT_OK)
        status = gt_take_choice("redact", (unsigned)trace->how.redact, GPUTIME_REDACT_NAMES, err);
    if (status == GT_OK && trace->how.facts & ~(uint64_t)GT_FACTS_ALL)
        status = gt_fail_usage(err, "invalid facts: a bit that is none of enum gputime_trace_fact");
    if (status == GT_OK && !copy_paths(trace, paths, path_count))
        return gt_fail_memory(err);
    if (status == GT_OK)
        status = gt_take_run(run, &trace->arena, &trace->run, err);
    if (status == GT_OK)
        status = read_rules(&trace->how, &trace->rules, err);
    if (status != GT_OK)
        return status;
    /* What is in the cache cannot be changed, and what is redacted must not get there. */
    if (!trace->how.no_cache && trace->how.reader == GPUTIME_READER_AUTO && !trace->how.redact)
        gt_cache_key_init(&trace->cache_key, (const char *const *)trace->paths, trace->path_count);
    uint32_t facts = trace->how.facts ? (uint32_t)trace->how.facts : GT_FACTS_USUAL;
    trace->asked = gt_store_facts_closed(facts);
    status = new_reading(trace, trace->asked, &trace->newest, err);
    if (status == GT_OK)
        status = refuse_losses(trace, trace->asked, err);
    trace->shown = trace->newest;
    /* Of what the caller gave for this call only what reading again needs is kept. */
    trace->how = (struct gputime_open_options){
        .threads = trace->how.threads,
        .strict = trace->how.strict,
        .no_cache = trace->how.no_cache,
        .reader = trace->how.reader,
        .nsys_command = gt_take_text(trace->how.nsys_command, &trace->arena),
        .cache_after_ns = trace->how.cache_after_ns,
        .redact = trace->how.redact,
    };
    return status;
}

API enum gputime_status gputime_trace_open(const char *const *paths, size_t path_count,
                                           const struct gputime_open_options *options, const struct gputime_run *run,
                                           struct gputime_trace **out, struct gputime_error *err) {
    struct gt_error error = {0};
    *out = NULL;
    if (path_count == 0)
        return gt_internal_fail(gt_fail_usage(&error, "no trace given"), &error, err);
    struct gputime_trace *trace = gt_mem_array(1, sizeof *trace);
    if (trace) {
        pthread_mutex_init(&trace->lock, NULL); /* cannot fail without attributes */
        pthread_mutex_init(&trace->rows_lock, NULL);
        atomic_init(&trace->users, 1);
    }
    enum gt_status status = trace ? open_trace(trace, paths, path_count, options, run, &error) : gt_fail_memory(&error);
    if (status == GT_OK)
        *out = trace;
    else
        gputime_trace_free(trace);
    return gt_internal_fail(status, &error, err);
}

API enum gputime_status gputime_trace_read(struct gputime_trace *trace, uint64_t facts, struct gputime_error *err) {
    struct gt_error error = {0};
    const struct gt_reading *reading;
    if (facts & ~(uint64_t)GT_FACTS_ALL)
        return gt_internal_fail(gt_fail_usage(&error, "invalid facts: a bit that is none of enum gputime_trace_fact"),
                                &error, err);
    enum gt_status status = gt_internal_read(trace, (uint32_t)facts, &reading, &error);
    if (status == GT_OK) {
        trace->shown = reading;
        trace->asked |= gt_store_facts_closed((uint32_t)facts);
    }
    return gt_internal_fail(status, &error, err);
}

const char *gt_internal_path(const struct gputime_trace *trace) {
    return trace->how.redact ? GT_REDACTED_PATH : trace->paths[0];
}

API struct gputime_trace_info gputime_trace_describe(const struct gputime_trace *trace) {
    const struct gt_store *store = trace->shown->store;
    const struct gt_meta *meta = &store->meta;
    struct gt_str producer = gt_store_string(store, meta->producer);
    struct gt_str host = gt_store_string(store, meta->host);
    return (struct gputime_trace_info){
        .path = gt_internal_path(trace),
        .format = meta->format,
        .producer = {producer.ptr, producer.len},
        .origin_ns = store->origin_ns,
        .base_ns = meta->base_ns,
        .rank = trace->shown->rank.rank,
        .world_size = trace->shown->rank.world_size,
        .skipped_events = store->skipped_events,
        .facts_present = store->facts & store->asked, /* decoders note more than was asked for */
        .facts_read = store->asked | (trace->asked & ~store->possible),
        .facts_possible = store->possible,
        .host = {host.ptr, host.len},
        .rank_source = gt_trace_rank_source_key(trace->shown->rank.source),
    };
}

API const char *gputime_trace_loss(const struct gputime_trace *trace) {
    enum gt_issue_id loss = gt_store_loss(trace->shown->store, trace->asked);
    return loss == GT_ISSUE_COUNT ? NULL : gt_issue_infos[loss].help;
}

struct gputime_trace *gt_internal_hold(struct gputime_trace *trace) {
    atomic_fetch_add_explicit(&trace->users, 1, memory_order_relaxed);
    return trace;
}

API void gputime_trace_free(struct gputime_trace *trace) {
    if (!trace || atomic_fetch_sub_explicit(&trace->users, 1, memory_order_acq_rel) > 1)
        return;
    for (struct gt_reading *reading = trace->newest, *older; reading; reading = older) {
        older = reading->older;
        free_reading(reading, gt_threads_count(trace->how.threads));
    }
    pthread_mutex_destroy(&trace->lock);
    pthread_mutex_destroy(&trace->rows_lock);
    gt_rules_free(trace->rules);
    for (size_t i = 0; i < trace->path_count; i++)
        gt_mem_free(trace->paths[i]);
    gt_mem_free(trace->paths);
    gt_arena_release(&trace->arena);
    gt_mem_free(trace);
}

API void gputime_trace_store_cache(const struct gputime_trace *trace) {
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&trace->lock; /* all that is changed of it */
    bool is_worth_it = false;                                           /* the newest has all that the others have */
    pthread_mutex_lock(lock);
    const struct gt_store *newest = trace->newest->store; /* stays until the trace is freed */
    for (const struct gt_reading *reading = trace->newest; reading; reading = reading->older)
        is_worth_it |= reading->is_worth_caching;
    pthread_mutex_unlock(lock);
    if (is_worth_it && !newest->mapping) /* what came from the cache is there, with more than is shown of it */
        gt_cache_save(&trace->cache_key, (const char *const *)trace->paths, trace->path_count, newest);
}
