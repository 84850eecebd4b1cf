/* Decoder of Nsight Systems reports: a file comes in; its facts are read first, then its chunks of events by several
   threads at once, each into its own builder; a store goes out. Reports that are laid out in another way are left
   to nsys. */
#include "decode/nsys/nsys_rep.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "base/spool.h"
#include "base/threads.h"
#include "decode/nsys/nsys_export.h"
#include "decode/nsys/nsys_rep_sink.h"
#include "events/builder.h"

/* Bytes of the file between two calls of the progress callback. */
enum { PROGRESS_BYTES = 4 << 20 };

struct worker {
    struct gt_nsys_rep_sink sink;
    struct gt_nsys_rep_inflater inflater;
    enum gt_status status;
    struct gt_error error;
};

struct decoding {
    const struct gt_decode_options *options;
    struct gt_nsys_rep_file file;
    struct gt_nsys_rep_batches batches;
    struct gt_nsys_rep_facts facts;
    struct gt_builder *builders;
    struct gt_nsys_sink *models;
    struct worker *workers;
    size_t count;                                    /* of each */
    struct gt_deal deal;                             /* of the batches to the workers */
    atomic_uint_fast64_t event_count, generic_count; /* of all that were seen */
    uint64_t reported_bytes;                         /* progress at the last call, by the first worker */
};

static void report_progress(struct decoding *decoding) {
    uint64_t bytes_each = decoding->file.size / (decoding->batches.count ? decoding->batches.count : 1);
    uint64_t done_bytes = bytes_each * gt_threads_deal_taken(&decoding->deal);
    if (!decoding->options->progress || done_bytes - decoding->reported_bytes < PROGRESS_BYTES)
        return;
    decoding->reported_bytes = done_bytes;
    decoding->options->progress(decoding->options->progress_context, done_bytes, decoding->file.size);
}

/* ---- events ---- */

/* More events than the index says: the file is broken, or small and made to grow. */
static bool has_too_many(struct decoding *decoding) {
    const struct gt_nsys_rep_file *file = &decoding->file;
    return (file->event_count != GT_NSYS_REP_UNKNOWN && atomic_load(&decoding->event_count) > file->event_count) ||
           (file->generic_count != GT_NSYS_REP_UNKNOWN && atomic_load(&decoding->generic_count) > file->generic_count);
}

/* What a count of the index leaves after the first ones. */
static uint64_t left_of(uint64_t count, uint64_t first) {
    if (count == GT_NSYS_REP_UNKNOWN)
        return UINT64_MAX;
    return first < count ? count - first : 0;
}

/* What is missing of a count of the index. */
static uint64_t missing_of(uint64_t count, uint64_t seen) {
    return count != GT_NSYS_REP_UNKNOWN && seen < count ? count - seen : 0;
}

static enum gt_status read_batch(struct decoding *decoding, struct worker *worker, size_t index) {
    const struct gt_nsys_rep_batch *batch = &decoding->batches.list[index];
    struct gt_builder *builder = worker->sink.model->builder;
    bool is_whole;
    gt_builder_begin(builder, index);
    worker->sink.order = index;
    worker->sink.left_count = left_of(decoding->file.event_count, batch->first_event);
    worker->sink.left_generic = left_of(decoding->file.generic_count, batch->first_generic);
    if (gt_nsys_rep_chunk_inflater_load(&worker->inflater, &decoding->file, batch, &is_whole, &worker->error) != GT_OK)
        return GT_ERR;
    if (!is_whole)
        gt_builder_issue(builder, GT_ISSUE_INPUT_CUT, 1, batch->offset);
    for (;;) {
        struct gt_str message;
        uint64_t offset = worker->inflater.offset;
        switch (gt_nsys_rep_chunk_inflater_next(&worker->inflater, &message)) {
        case GT_NSYS_REP_CHUNK_OK:
            gt_nsys_rep_sink_take(&worker->sink, message, worker->inflater.entries_max, offset);
            break;
        case GT_NSYS_REP_CHUNK_DAMAGED:
            gt_builder_issue(builder, GT_ISSUE_PACKING_DAMAGED, 1, offset);
            break;
        case GT_NSYS_REP_CHUNK_NO_MEMORY:
            return gt_fail_memory(&worker->error);
        case GT_NSYS_REP_CHUNK_END:
            return GT_OK;
        }
    }
}

static void work(void *context, size_t index) {
    struct decoding *decoding = context;
    struct worker *worker = &decoding->workers[index];
    size_t i;
    while (worker->status == GT_OK && gt_threads_deal_take(&decoding->deal, index, &i)) {
        uint64_t before = worker->sink.event_count, generic_before = worker->sink.generic_count;
        worker->status = read_batch(decoding, worker, i);
        atomic_fetch_add(&decoding->event_count, worker->sink.event_count - before);
        atomic_fetch_add(&decoding->generic_count, worker->sink.generic_count - generic_before);
        if (has_too_many(decoding) && !decoding->batches.is_counted)
            break;
        if (index == 0)
            report_progress(decoding);
    }
}

static void release_workers(struct decoding *decoding) {
    for (size_t i = 0; i < decoding->count; i++) {
        gt_nsys_rep_chunk_inflater_release(&decoding->workers[i].inflater);
        gt_nsys_rep_sink_release(&decoding->workers[i].sink);
        gt_nsys_sink_release(&decoding->models[i]);
        gt_builder_release(&decoding->builders[i]);
    }
    gt_mem_free(decoding->workers);
    gt_mem_free(decoding->models);
    gt_mem_free(decoding->builders);
    decoding->workers = NULL;
    decoding->models = NULL;
    decoding->builders = NULL;
    decoding->count = 0;
}

static enum gt_status init_workers(struct decoding *decoding, struct gt_error *err) {
    size_t threads = decoding->options->threads, batches = decoding->batches.count;
    size_t count = batches < 1 ? 1 : batches < threads ? batches : threads;
    decoding->builders = gt_mem_array(count, sizeof *decoding->builders);
    decoding->models = gt_mem_array(count, sizeof *decoding->models);
    decoding->workers = gt_mem_array(count, sizeof *decoding->workers);
    if (!decoding->builders || !decoding->models || !decoding->workers)
        return gt_fail_memory(err);
    for (; decoding->count < count; decoding->count++) {
        struct gt_builder *builder = &decoding->builders[decoding->count];
        struct gt_nsys_sink *model = &decoding->models[decoding->count];
        if (gt_builder_init(builder, GT_NSYS_REP_KEY, err) != GT_OK)
            return GT_ERR;
        if (!gt_nsys_sink_init(model, builder, &decoding->facts.capture,
                               gt_nsys_facts_of(gt_decoder_facts(decoding->options)))) {
            gt_builder_release(builder);
            return gt_fail_memory(err);
        }
        gt_nsys_rep_sink_init(&decoding->workers[decoding->count].sink, model, &decoding->facts);
    }
    return GT_OK;
}

static enum gt_status run_workers(struct decoding *decoding, struct gt_error *err) {
    if (init_workers(decoding, err) != GT_OK)
        return GT_ERR;
    gt_threads_deal_init(&decoding->deal, decoding->batches.count, decoding->count);
    atomic_init(&decoding->event_count, 0);
    atomic_init(&decoding->generic_count, 0);
    gt_threads_run(decoding->count, work, decoding);
    for (size_t i = 0; i < decoding->count; i++)
        if (decoding->workers[i].status != GT_OK) {
            if (err)
                *err = decoding->workers[i].error;
            return decoding->workers[i].status;
        }
    return GT_OK;
}

/* Which events are beyond the count of the index is known when those before them are counted. That takes time and no
   whole report needs it, so it is done when there turn out to be too many. */
static enum gt_status read_events(struct decoding *decoding, struct gt_error *err) {
    enum gt_status status = run_workers(decoding, err);
    if (status != GT_OK || !has_too_many(decoding) || decoding->batches.is_counted)
        return status;
    release_workers(decoding);
    gt_nsys_rep_chunk_batches_release(&decoding->batches);
    status = gt_nsys_rep_chunk_batches_find(&decoding->batches, &decoding->file, true, err);
    return status == GT_OK ? run_workers(decoding, err) : status;
}

/* ---- what is known when all events are read ---- */

static enum gt_status join_workers(struct decoding *decoding, struct gt_error *err) {
    struct gt_nsys_rep_sink **sinks = gt_mem_array(decoding->count, sizeof *sinks);
    for (size_t i = 0; sinks && i < decoding->count; i++)
        sinks[i] = &decoding->workers[i].sink;
    bool is_done = sinks && gt_nsys_rep_sink_join(sinks, decoding->count, &decoding->facts);
    gt_mem_free(sinks);
    return is_done ? GT_OK : gt_fail_memory(err);
}

/* What the container lacks, in a separate segment. */
static void count_losses(struct decoding *decoding, const char *packing_damage) {
    const struct gt_nsys_rep_file *file = &decoding->file;
    const struct gt_nsys_rep_facts *facts = &decoding->facts;
    struct gt_builder *builder = &decoding->builders[0];
    uint64_t missing = facts->missing_count;
    missing += missing_of(file->event_count, atomic_load(&decoding->event_count));
    missing += missing_of(file->generic_count, atomic_load(&decoding->generic_count));
    gt_builder_begin(builder, decoding->batches.count);
    if (file->is_cut)
        gt_builder_issue(builder, GT_ISSUE_INPUT_CUT, 1, file->size);
    if (packing_damage)
        gt_builder_issue(builder, GT_ISSUE_PACKING_DAMAGED, 1, GT_NO_OFFSET);
    if (file->is_index_damaged || has_too_many(decoding) || (decoding->batches.is_broken && !file->is_cut))
        gt_builder_issue(builder, GT_ISSUE_INDEX_DAMAGED, 1, GT_NO_OFFSET);
    if (missing)
        gt_builder_issue(builder, GT_ISSUE_RECORDS_MISSING, missing, GT_NO_OFFSET);
    if (decoding->batches.refused_count)
        gt_builder_issue(builder, GT_ISSUE_PACKING_DAMAGED, decoding->batches.refused_count,
                         decoding->batches.first_refused);
    if (facts->metrics.unreadable_count)
        gt_builder_issue_of(builder, GT_ISSUE_PAYLOAD_UNREADABLE, GT_FACT_METRICS, facts->metrics.unreadable_count,
                            GT_NO_OFFSET);
    if (facts->damaged_count)
        gt_builder_issue(builder, GT_ISSUE_PACKING_DAMAGED, facts->damaged_count, facts->first_damaged);
}

static enum gt_status finish(struct decoding *decoding, const char *packing_damage, struct gt_store **out,
                             struct gt_error *err) {
    enum gt_status status = join_workers(decoding, err);
    if (status != GT_OK)
        return status;
    count_losses(decoding, packing_damage);
    gt_nsys_finish(decoding->models, decoding->count, &decoding->facts.capture);
    return gt_store_seal(decoding->builders, decoding->count, out, err);
}

static void release(struct decoding *decoding) {
    release_workers(decoding);
    gt_nsys_rep_facts_release(&decoding->facts);
    gt_nsys_rep_chunk_batches_release(&decoding->batches);
}

/* ---- the choice of the reader ---- */

static enum gt_status decode_native(struct decoding *decoding, const char *packing_damage, struct gt_store **out,
                                    struct gt_error *err) {
    enum gt_status status = gt_nsys_rep_chunk_batches_find(&decoding->batches, &decoding->file, false, err);
    if (status == GT_OK) {
        bool knows_strings = decoding->file.strings != GT_NSYS_REP_NOWHERE;
        status = gt_nsys_rep_facts_init(&decoding->facts, &decoding->file,
                                        knows_strings ? decoding->file.strings : decoding->batches.end,
                                        gt_nsys_facts_of(gt_decoder_facts(decoding->options)), err);
    }
    if (status == GT_OK)
        status = read_events(decoding, err);
    if (status == GT_OK)
        status = finish(decoding, packing_damage, out, err);
    release(decoding);
    return status;
}

static enum gt_status fail_unknown(const struct decoding *decoding, const char *subject, struct gt_error *err) {
    const struct gt_decode_options *options = decoding->options;
    const char *named = options->reader == GT_READER_AUTO ? options->nsys_command : NULL;
    return gt_fail(err,
                   "cannot read '%s': %s%s%s%s; %sinstall nsys so that it can be exported, or export it on another "
                   "machine with 'nsys export --type sqlite'",
                   subject, decoding->file.unknown, named ? ", and there is no program '" : "", named ? named : "",
                   named ? "'" : "", decoding->file.is_cut ? "copy it again if it is truncated, or " : "");
}

/* path: under which nsys finds the bytes of the source. */
static enum gt_status decode_seekable(const struct gt_source *source, uint64_t size, const char *path,
                                      const char *subject, const char *packing_damage,
                                      const struct gt_decode_options *options, struct gt_store **out,
                                      struct gt_error *err) {
    struct decoding decoding = {.options = options};
    if (options->reader == GT_READER_NSYS)
        return gt_nsys_export_decode(path, subject, options, out, err);
    enum gt_status status = gt_nsys_rep_file_init(&decoding.file, source, size, err);
    if (status != GT_OK)
        return status;
    if (!*decoding.file.unknown)
        return decode_native(&decoding, packing_damage, out, err);
    if (options->reader == GT_READER_AUTO && gt_nsys_export_is_possible(options))
        return gt_nsys_export_decode(path, subject, options, out, err);
    return fail_unknown(&decoding, subject, err);
}

enum gt_status gt_nsys_rep_decode(struct gt_source *const *sources, size_t count,
                                  const struct gt_decode_options *options, struct gt_store **out,
                                  struct gt_error *err) {
    struct gt_source *source = sources[0];
    const char *subject = gt_source_path(source);
    uint64_t size;
    *out = NULL;
    if (count != 1)
        return gt_fail(err, "an Nsight Systems report is one file, not %zu", count);
    if (gt_source_is_seekable(source, &size))
        return decode_seekable(source, size, subject, subject, NULL, options, out, err);
    struct gt_spool *spool;
    enum gt_status status = gt_spool_open(source, &spool, err);
    if (status != GT_OK)
        return status;
    if (gt_source_is_seekable(gt_spool_source(spool), &size))
        status = decode_seekable(gt_spool_source(spool), size, gt_spool_path(spool), subject, gt_source_damage(source),
                                 options, out, err);
    else
        status = gt_fail(err, "'%s' is empty", subject);
    gt_spool_close(spool);
    return status;
}

int gt_nsys_rep_sniff(struct gt_str head, const char *path) {
    (void)path;
    const struct gt_str magic = GT_STR(GT_NSYS_REP_MAGIC);
    if (gt_str_starts(head, magic))
        return 100;
    size_t offset = GT_NSYS_REP_MAGIC_OFFSET;
    return head.len > offset && gt_str_starts((struct gt_str){head.ptr + offset, head.len - offset}, magic) ? 90 : 0;
}
