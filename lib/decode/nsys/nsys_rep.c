/* Decoder of Nsight Systems reports: a file comes in; its facts are read first, then its chunks of events by several
   threads at once, each into its own builder; a store goes out. Reports that are laid out in another way are left
   to nsys. */
#include "decode/nsys/nsys_rep.h"

#include <stdatomic.h>
#include <stdlib.h>

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
    size_t count;                     /* of each */
    struct gt_deal deal;              /* of the batches to the workers */
    atomic_uint_fast64_t event_count; /* of all that were seen */
    uint64_t reported_bytes;          /* progress at the last call, by the first worker */
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
    return decoding->file.event_count != GT_NSYS_REP_UNKNOWN &&
           atomic_load(&decoding->event_count) > decoding->file.event_count;
}

static uint64_t events_left(const struct decoding *decoding, const struct gt_nsys_rep_batch *batch) {
    uint64_t count = decoding->file.event_count;
    if (count == GT_NSYS_REP_UNKNOWN)
        return UINT64_MAX;
    return batch->first_event < count ? count - batch->first_event : 0;
}

static enum gt_status read_batch(struct decoding *decoding, struct worker *worker, size_t index) {
    const struct gt_nsys_rep_batch *batch = &decoding->batches.list[index];
    struct gt_builder *builder = worker->sink.model->builder;
    bool is_whole;
    gt_builder_begin(builder, index);
    worker->sink.order = index;
    worker->sink.left_count = events_left(decoding, batch);
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
        uint64_t before = worker->sink.event_count;
        worker->status = read_batch(decoding, worker, i);
        atomic_fetch_add(&decoding->event_count, worker->sink.event_count - before);
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
        if (!gt_nsys_sink_init(model, builder, &decoding->facts.capture, gt_decoder_facts(decoding->options))) {
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

static int by_order(const void *a, const void *b) {
    const struct gt_nsys_rep_process *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* The names of processes that the workers met, in the order of the file, become the capture's. */
static enum gt_status name_processes(struct decoding *decoding, struct gt_error *err) {
    struct gt_nsys_capture *capture = &decoding->facts.capture;
    size_t count = 0, next = 0;
    for (size_t i = 0; i < decoding->count; i++)
        count += decoding->workers[i].sink.process_count;
    struct gt_nsys_rep_process *all = gt_mem_array(count + 1, sizeof *all);
    capture->processes = gt_arena_array(&capture->arena, count, sizeof *capture->processes);
    if (!all || (count && !capture->processes)) {
        gt_mem_free(all);
        return gt_fail_memory(err);
    }
    for (size_t i = 0; i < decoding->count; i++)
        for (size_t k = 0; k < decoding->workers[i].sink.process_count; k++)
            all[next++] = decoding->workers[i].sink.processes[k];
    qsort(all, count, sizeof *all, by_order);
    for (size_t i = 0; i < count; i++)
        capture->processes[i] = all[i].name;
    capture->process_count = count;
    gt_mem_free(all);
    return GT_OK;
}

/* What the container lacks, in a separate segment. */
static void count_losses(struct decoding *decoding, const char *packing_damage) {
    const struct gt_nsys_rep_file *file = &decoding->file;
    const struct gt_nsys_rep_facts *facts = &decoding->facts;
    struct gt_builder *builder = &decoding->builders[0];
    uint64_t events = atomic_load(&decoding->event_count), missing = facts->missing_count;
    bool knows_count = file->event_count != GT_NSYS_REP_UNKNOWN;
    if (knows_count && events < file->event_count)
        missing += file->event_count - events;
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
    if (facts->damaged_count)
        gt_builder_issue(builder, GT_ISSUE_PACKING_DAMAGED, facts->damaged_count, facts->first_damaged);
}

static enum gt_status finish(struct decoding *decoding, const char *packing_damage, struct gt_store **out,
                             struct gt_error *err) {
    enum gt_status status = name_processes(decoding, err);
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
                                        knows_strings ? decoding->file.strings : decoding->batches.end, err);
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
