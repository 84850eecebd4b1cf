/* Nsight Systems' SQLite exports: a database comes in, a store goes out. The event tables are read in parts by all
   threads; sealing puts the parts into the order of the file, so that the store does not depend on the number of
   threads. */
#include "decode/nsys/nsys_sqlite.h"

#include "base/mem.h"
#include "base/threads.h"
#include "decode/sqlite/sqlite_input.h"
#include "events/builder.h"

struct worker {
    uint32_t facts_missing; /* enum gt_fact: whose tables lack pages */
    struct gt_sqlite_reader reader;
    uint32_t *metric_tracks; /* struct gt_nsys_rows */
    struct gt_nsys_sqlite_network_tracks network_tracks;
    enum gt_status status;
    struct gt_error err;
};

/* Parts of an event table. */
struct job {
    size_t table; /* of the schema */
    size_t part, end;
};

struct decoding {
    const struct gt_source *source;
    const struct gt_decode_options *options;
    const char *packing_damage; /* NULL: none */
    struct gt_sqlite_db db;
    struct gt_nsys_schema schema;
    struct gt_nsys_facts facts;
    struct gt_sqlite_scan scans[GT_NSYS_TABLES_MAX]; /* of the schema's tables of events */
    struct job *jobs;
    size_t job_count;
    struct gt_deal deal; /* of the jobs to the workers */
    struct worker *workers;
    struct gt_builder *builders; /* of the workers: those who take them want arrays */
    struct gt_nsys_sink *sinks;
    size_t worker_count;
};

int gt_nsys_sqlite_sniff(struct gt_str head, const char *path) {
    (void)path;
    return gt_str_starts(head, (struct gt_str){"SQLite format 3", 16}) ? 100 : 0;
}

/* A call of MPI has a row for each of its requests, which must stay together. */
static size_t parts_each(const struct decoding *decoding, size_t table) {
    return decoding->schema.tables[table].role == GT_NSYS_MPI_CALLS ? decoding->scans[table].part_count : 1;
}

static enum gt_status plan(struct decoding *decoding, struct gt_error *err) {
    const struct gt_nsys_schema *schema = &decoding->schema;
    size_t total = 0;
    for (size_t i = 0; i < schema->count; i++) {
        const struct gt_nsys_table *from = &schema->tables[i];
        if (from->role >= GT_NSYS_KERNELS && from->is_read &&
            gt_sqlite_db_scan_init(&decoding->scans[i], &decoding->db, from->table, from->columns, from->column_count,
                                   err) != GT_OK)
            return GT_ERR;
        total += decoding->scans[i].part_count;
    }
    decoding->jobs = gt_mem_array(total + 1, sizeof *decoding->jobs);
    if (!decoding->jobs)
        return gt_fail_memory(err);
    for (size_t i = 0; i < schema->count; i++)
        for (size_t part = 0; part < decoding->scans[i].part_count; part += parts_each(decoding, i))
            decoding->jobs[decoding->job_count++] = (struct job){i, part, part + parts_each(decoding, i)};
    return GT_OK;
}

static void report_progress(const struct decoding *decoding) {
    uint64_t done_bytes, total_bytes;
    if (!decoding->options->progress)
        return;
    gt_source_progress(decoding->source, &done_bytes, &total_bytes);
    decoding->options->progress(decoding->options->progress_context, done_bytes, total_bytes);
}

/* Who a loss in a table concerns. */
static uint32_t facts_of_table(const struct decoding *decoding, size_t table) {
    return gt_nsys_schema_facts(decoding->schema.tables[table].role);
}

static void work(void *context, size_t index) {
    struct decoding *decoding = context;
    struct worker *worker = &decoding->workers[index];
    struct gt_nsys_rows rows = {.sink = &decoding->sinks[index],
                                .facts = &decoding->facts,
                                .metric_tracks = worker->metric_tracks,
                                .network_tracks = &worker->network_tracks};
    size_t next;
    while (worker->status == GT_OK && gt_threads_deal_take(&decoding->deal, index, &next)) {
        const struct job *job = &decoding->jobs[next];
        rows.table = &decoding->schema.tables[job->table];
        gt_sqlite_pages_row_fn *take = gt_nsys_sqlite_rows_function(rows.table->role, rows.sink->facts);
        uint64_t damaged_before = worker->reader.damaged, missing_before = worker->reader.missing;
        uint32_t facts = facts_of_table(decoding, job->table);
        struct gt_sqlite_batches batches = {.context = &rows};
        const struct gt_sqlite_plain *plain = gt_nsys_sqlite_plain(rows.table->role, rows.sink->facts, &batches.take);
        if (plain)
            batches.plain = *plain;
        worker->reader.batches = plain ? &batches : NULL;
        gt_builder_begin(&decoding->builders[index], next + 1);
        rows.last_call = (struct gt_nsys_host_call){0};
        for (size_t part = job->part; part < job->end && worker->status == GT_OK; part++)
            worker->status =
                gt_sqlite_db_scan_part(&decoding->scans[job->table], part, &worker->reader, take, &rows, &worker->err);
        if (worker->reader.damaged > damaged_before)
            gt_builder_issue_of(&decoding->builders[index], GT_ISSUE_EVENT_DAMAGED, facts,
                                worker->reader.damaged - damaged_before, GT_NO_OFFSET);
        worker->facts_missing |= worker->reader.missing > missing_before ? facts : 0;
        if (index == 0)
            report_progress(decoding);
        worker->reader.batches = NULL;
    }
}

static enum gt_status init_workers(struct decoding *decoding, struct gt_error *err) {
    size_t count = decoding->worker_count;
    decoding->workers = gt_mem_array(count, sizeof *decoding->workers);
    decoding->builders = gt_mem_array(count, sizeof *decoding->builders);
    decoding->sinks = gt_mem_array(count, sizeof *decoding->sinks);
    if (!decoding->workers || !decoding->builders || !decoding->sinks)
        return gt_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        if (gt_builder_init(&decoding->builders[i], GT_NSYS_SQLITE_KEY, err) != GT_OK)
            return GT_ERR;
        if (!gt_nsys_sink_init(&decoding->sinks[i], &decoding->builders[i], &decoding->facts.capture,
                               gt_nsys_facts_of(gt_decoder_facts(decoding->options))) ||
            !gt_sqlite_pages_reader_init(&decoding->workers[i].reader, &decoding->db.file) ||
            !(decoding->workers[i].metric_tracks = gt_nsys_sqlite_metrics_tracks(&decoding->facts.metrics)))
            return gt_fail_memory(err);
    }
    return GT_OK;
}

/* What was lost of a role concerns those who read it. */
static void count_loss(struct decoding *decoding, enum gt_issue_id issue, uint32_t facts, uint64_t count) {
    if (count)
        gt_builder_issue_of(&decoding->builders[0], issue, facts, count, GT_NO_OFFSET);
}

/* Pages that are referred to and lie after the end of the file, as if it were cut. */
static void count_missing(struct decoding *decoding) {
    uint64_t end = (uint64_t)decoding->db.file.page_count * decoding->db.file.page_bytes;
    bool is_cut = decoding->db.file.is_cut;
    uint32_t facts = 0; /* whose tables lack pages */
    for (int role = 0; role < GT_NSYS_ROLE_COUNT; role++)
        if (decoding->facts.missing[role]) {
            facts |= gt_nsys_schema_facts((enum gt_nsys_role)role);
            is_cut |= gt_nsys_schema_facts((enum gt_nsys_role)role) == 0;
        }
    for (size_t i = 0; i < decoding->schema.count; i++)
        facts |= decoding->scans[i].tree.missing ? facts_of_table(decoding, i) : 0;
    for (size_t i = 0; i < decoding->worker_count; i++)
        facts |= decoding->workers[i].facts_missing;
    if (is_cut || facts)
        gt_builder_issue_of(&decoding->builders[0], GT_ISSUE_INPUT_CUT, is_cut ? 0 : facts, 1, end);
}

/* Beyond what the parts of tables have counted: pages on the way to the leaves, and what was read before the events. */
static void count_losses(struct decoding *decoding) {
    count_loss(decoding, GT_ISSUE_PACKING_DAMAGED, 0, decoding->packing_damage != NULL);
    count_loss(decoding, GT_ISSUE_EVENT_DAMAGED, 0, decoding->db.is_schema_damaged);
    for (size_t i = 0; i < decoding->schema.count; i++)
        count_loss(decoding, GT_ISSUE_EVENT_DAMAGED, facts_of_table(decoding, i), decoding->scans[i].tree.damaged);
    for (int role = 0; role < GT_NSYS_ROLE_COUNT; role++) {
        uint32_t facts = gt_nsys_schema_facts((enum gt_nsys_role)role);
        count_loss(decoding, GT_ISSUE_EVENT_DAMAGED, facts, decoding->facts.damaged[role]);
        count_loss(decoding, GT_ISSUE_TABLE_UNREADABLE, facts, decoding->schema.unreadable[role]);
        count_loss(decoding, GT_ISSUE_TABLE_INCOMPLETE, facts, decoding->schema.incomplete[role]);
    }
    count_missing(decoding);
}

/* Pages of other tables that lie between are not looked at, although they may be read along. */
static void count_reading(struct decoding *decoding, const struct gt_sqlite_reader *facts_reader) {
    struct gt_meta *meta = &decoding->builders[0].store.meta;
    uint64_t pages = facts_reader->pages;
    meta->read_rows = facts_reader->rows;
    for (size_t i = 0; i < decoding->schema.count; i++)
        pages += decoding->scans[i].tree.pages;
    for (size_t i = 0; i < decoding->worker_count; i++) {
        meta->read_rows += decoding->workers[i].reader.rows;
        pages += decoding->workers[i].reader.pages;
    }
    meta->read_bytes = pages * decoding->db.file.page_bytes;
}

static enum gt_status read_events(struct decoding *decoding, const struct gt_sqlite_reader *facts_reader,
                                  struct gt_store **out, struct gt_error *err) {
    enum gt_status status = plan(decoding, err);
    size_t threads = decoding->options->threads ? decoding->options->threads : 1;
    decoding->worker_count = decoding->job_count < threads ? decoding->job_count : threads;
    decoding->worker_count += decoding->worker_count == 0;
    if (status == GT_OK)
        status = init_workers(decoding, err);
    if (status != GT_OK)
        return status;
    gt_builder_begin(&decoding->builders[0], 0);
    if (gt_decoder_reads(decoding->options, GT_FACT_SOURCE) &&
        gt_nsys_sqlite_describe(&decoding->builders[0], &decoding->db, &decoding->schema, err) != GT_OK)
        return GT_ERR;
    gt_threads_deal_init(&decoding->deal, decoding->job_count, decoding->worker_count);
    gt_threads_run(decoding->worker_count, work, decoding);
    for (size_t i = 0; i < decoding->worker_count; i++)
        if (decoding->workers[i].status != GT_OK) {
            *err = decoding->workers[i].err;
            return decoding->workers[i].status;
        }
    gt_nsys_finish(decoding->sinks, decoding->worker_count, &decoding->facts.capture);
    count_losses(decoding);
    count_reading(decoding, facts_reader);
    return gt_store_seal(decoding->builders, decoding->worker_count, out, err);
}

static void release(struct decoding *decoding) {
    for (size_t i = 0; i < decoding->worker_count; i++) {
        if (decoding->sinks)
            gt_nsys_sink_release(&decoding->sinks[i]);
        if (decoding->workers) {
            gt_sqlite_pages_reader_release(&decoding->workers[i].reader);
            gt_mem_free(decoding->workers[i].metric_tracks);
            gt_nsys_sqlite_network_tracks_release(&decoding->workers[i].network_tracks);
        }
        if (decoding->builders)
            gt_builder_release(&decoding->builders[i]);
    }
    gt_mem_free(decoding->sinks);
    gt_mem_free(decoding->workers);
    gt_mem_free(decoding->builders);
    gt_mem_free(decoding->jobs);
    for (size_t i = 0; i < decoding->schema.count; i++)
        gt_sqlite_db_scan_release(&decoding->scans[i]);
    gt_nsys_sqlite_facts_release(&decoding->facts);
    gt_sqlite_db_close(&decoding->db);
}

/* subject: what errors call it; packing_damage: of what it was copied from, or NULL. */
static enum gt_status decode_database(struct gt_source *source, const char *subject, const char *packing_damage,
                                      const struct gt_decode_options *options, struct gt_store **out,
                                      struct gt_error *err) {
    struct gt_sqlite_reader facts_reader = {0};
    struct decoding *decoding = gt_mem_array(1, sizeof *decoding);
    if (!decoding)
        return gt_fail_memory(err);
    decoding->source = source;
    decoding->options = options;
    decoding->packing_damage = packing_damage;
    bool is_copy = subject != gt_source_path(source);
    enum gt_status status = is_copy ? gt_sqlite_db_open_copy(&decoding->db, source, subject, err)
                                    : gt_sqlite_db_open(&decoding->db, source, err);
    if (status == GT_OK)
        status = gt_nsys_schema_find(&decoding->schema, &decoding->db, gt_nsys_facts_of(gt_decoder_facts(options)),
                                     subject, err);
    if (status == GT_OK && !gt_sqlite_pages_reader_init(&facts_reader, &decoding->db.file))
        status = gt_fail_memory(err);
    if (status == GT_OK)
        status = gt_nsys_sqlite_facts_read(&decoding->facts, &decoding->db, &decoding->schema, &facts_reader, err);
    if (status == GT_OK)
        status = read_events(decoding, &facts_reader, out, err);
    gt_sqlite_pages_reader_release(&facts_reader);
    release(decoding);
    gt_mem_free(decoding);
    return status;
}

enum gt_status gt_nsys_sqlite_decode(struct gt_source *const *sources, size_t count,
                                     const struct gt_decode_options *options, struct gt_store **out,
                                     struct gt_error *err) {
    if (count != 1)
        return gt_fail(err, "an export of Nsight Systems is one file, not %zu", count);
    return gt_sqlite_input_decode(sources[0], decode_database, options, out, err);
}
