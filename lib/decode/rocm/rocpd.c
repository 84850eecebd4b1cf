/* Decoder of rocpd databases. Facts are read first, then what rows refer to by the million, then the rows, the last two
   in parts by all threads; sealing puts the parts into the order of the file, so that the store does not depend on the
   number of threads. */
#include "decode/rocm/rocpd.h"

#include "base/mem.h"
#include "base/threads.h"
#include "decode/sqlite/sqlite_input.h"

struct worker {
    struct gt_sqlite_reader reader;
    struct gt_rocpd_rows rows;
    uint64_t damaged[GT_ROCPD_ROLE_COUNT];
    uint32_t facts_missing; /* whose tables lack pages */
    enum gt_status status;
    struct gt_error err;
};

/* A table with rows, and a part of it. */
struct scanned {
    struct gt_sqlite_scan scan;
    size_t set;
    enum gt_rocpd_role role;
};
struct job {
    size_t scanned, part;
};

struct decoding {
    const struct gt_source *source;
    const struct gt_decode_options *options;
    const char *packing_damage; /* NULL: none */
    struct gt_sqlite_db db;
    struct gt_rocpd_schema schema;
    struct gt_rocm_capture capture;
    struct gt_rocpd_losses losses;
    struct scanned *scanned;
    size_t scanned_count, scanned_capacity;
    struct job *jobs;
    size_t job_count, job_capacity;
    uint64_t first_order; /* of the segments of these jobs */
    struct gt_deal deal;
    struct worker *workers;
    struct gt_builder *builders;
    struct gt_rocm_sink *sinks;
    size_t worker_count;
};

/* ---- jobs ---- */

static enum gt_status plan_table(struct decoding *decoding, size_t set, enum gt_rocpd_role role, struct gt_error *err) {
    const struct gt_rocpd_table *table = &decoding->schema.sets[set].tables[role];
    struct scanned *grown =
        gt_mem_room(decoding->scanned, decoding->scanned_count, &decoding->scanned_capacity, sizeof *grown);
    if (!grown)
        return gt_fail_memory(err);
    decoding->scanned = grown;
    struct scanned *scanned = &grown[decoding->scanned_count];
    *scanned = (struct scanned){.set = set, .role = role};
    if (gt_sqlite_db_scan_init(&scanned->scan, &decoding->db, table->table, table->columns, table->column_count, err) !=
        GT_OK) {
        gt_sqlite_db_scan_release(&scanned->scan);
        return GT_ERR;
    }
    decoding->scanned_count++;
    for (size_t part = 0; part < scanned->scan.part_count; part++) {
        struct job *jobs = gt_mem_room(decoding->jobs, decoding->job_count, &decoding->job_capacity, sizeof *jobs);
        if (!jobs)
            return gt_fail_memory(err);
        decoding->jobs = jobs;
        jobs[decoding->job_count++] = (struct job){decoding->scanned_count - 1, part};
    }
    return GT_OK;
}

/* The parts of all tables of some roles, role by role. */
static enum gt_status plan(struct decoding *decoding, int first, int end, struct gt_error *err) {
    decoding->job_count = 0;
    for (int role = first; role < end; role++)
        for (size_t set = 0; set < decoding->schema.count; set++)
            if (decoding->schema.sets[set].tables[role].table &&
                plan_table(decoding, set, (enum gt_rocpd_role)role, err) != GT_OK)
                return GT_ERR;
    return GT_OK;
}

static void release_scans(struct decoding *decoding) {
    for (size_t i = 0; i < decoding->scanned_count; i++) {
        const struct scanned *scanned = &decoding->scanned[i];
        decoding->losses.damaged[scanned->role] += scanned->scan.tree.damaged;
        decoding->losses.missing[scanned->role] += scanned->scan.tree.missing;
        decoding->workers[0].reader.pages += scanned->scan.tree.pages;
        gt_sqlite_db_scan_release(&decoding->scanned[i].scan);
    }
    decoding->scanned_count = 0;
}

static void report_progress(const struct decoding *decoding) {
    uint64_t done_bytes, total_bytes;
    if (!decoding->options->progress)
        return;
    gt_source_progress(decoding->source, &done_bytes, &total_bytes);
    decoding->options->progress(decoding->options->progress_context, done_bytes, total_bytes);
}

static void do_job(struct decoding *decoding, size_t index, size_t number) {
    struct worker *worker = &decoding->workers[index];
    const struct job *job = &decoding->jobs[number];
    const struct scanned *scanned = &decoding->scanned[job->scanned];
    struct gt_rocpd_set *set = &decoding->schema.sets[scanned->set];
    if (scanned->role == GT_ROCPD_ARGS) {
        worker->status = gt_sqlite_db_scan_part(&scanned->scan, job->part, &worker->reader, gt_rocpd_args_take,
                                                &set->args.pieces[job->part], &worker->err);
        return;
    }
    if (scanned->role < GT_ROCPD_DISPATCHES) {
        struct gt_rocpd_refer refer = {&set->entries[scanned->role].pieces[job->part], set};
        worker->status = gt_sqlite_db_scan_part(&scanned->scan, job->part, &worker->reader,
                                                gt_rocpd_refer_function(scanned->role), &refer, &worker->err);
        return;
    }
    gt_builder_begin(&decoding->builders[index], decoding->first_order + number);
    decoding->sinks[index].order = number;
    gt_rocpd_rows_begin(&worker->rows, scanned->set);
    worker->status = gt_sqlite_db_scan_part(&scanned->scan, job->part, &worker->reader,
                                            gt_rocpd_rows_function(scanned->role), &worker->rows, &worker->err);
}

static void work(void *context, size_t index) {
    struct decoding *decoding = context;
    struct worker *worker = &decoding->workers[index];
    size_t next;
    while (worker->status == GT_OK && gt_threads_deal_take(&decoding->deal, index, &next)) {
        enum gt_rocpd_role role = decoding->scanned[decoding->jobs[next].scanned].role;
        uint64_t damaged = worker->reader.damaged, missing = worker->reader.missing;
        do_job(decoding, index, next);
        worker->damaged[role] += worker->reader.damaged - damaged;
        if (worker->reader.missing > missing)
            worker->facts_missing |= gt_rocpd_schema_facts(role);
        if (index == 0)
            report_progress(decoding);
    }
}

static enum gt_status run(struct decoding *decoding, struct gt_error *err) {
    gt_threads_deal_init(&decoding->deal, decoding->job_count, decoding->worker_count);
    gt_threads_run(decoding->worker_count, work, decoding);
    for (size_t i = 0; i < decoding->worker_count; i++)
        if (decoding->workers[i].status != GT_OK) {
            *err = decoding->workers[i].err;
            return decoding->workers[i].status;
        }
    return GT_OK;
}

/* ---- what rows refer to ---- */

static enum gt_status make_pieces(struct decoding *decoding, struct gt_error *err) {
    for (size_t i = 0; i < decoding->scanned_count; i++) {
        const struct scanned *scanned = &decoding->scanned[i];
        struct gt_rocpd_set *set = &decoding->schema.sets[scanned->set];
        if (scanned->role == GT_ROCPD_ARGS) {
            if (!gt_rocpd_args_begin(&set->args, scanned->scan.part_count))
                return gt_fail_memory(err);
            continue;
        }
        struct gt_rocpd_entries *entries = &set->entries[scanned->role];
        gt_rocpd_entries_release(entries);
        entries->pieces = gt_mem_array(scanned->scan.part_count + 1, sizeof *entries->pieces);
        if (!entries->pieces)
            return gt_fail_memory(err);
        entries->count = scanned->scan.part_count;
    }
    return GT_OK;
}

/* Events once more, of sets in which another column says which call launched what. */
static enum gt_status read_other_links(struct decoding *decoding, struct gt_error *err) {
    size_t count = decoding->job_count, kept = 0;
    for (size_t i = 0; i < decoding->scanned_count; i++) {
        const struct scanned *scanned = &decoding->scanned[i];
        struct gt_rocpd_set *set = &decoding->schema.sets[scanned->set];
        struct gt_rocpd_entries *entries = &set->entries[GT_ROCPD_EVENTS];
        bool is_other = false;
        if (scanned->role != GT_ROCPD_EVENTS)
            continue;
        if (!gt_rocpd_link_is_other(set, &is_other))
            return gt_fail_memory(err);
        if (!is_other)
            continue;
        gt_rocpd_entries_release(entries);
        entries->pieces = gt_mem_array(scanned->scan.part_count + 1, sizeof *entries->pieces);
        if (!entries->pieces)
            return gt_fail_memory(err);
        entries->count = scanned->scan.part_count;
        for (size_t job = 0; job < count; job++) /* their jobs to the front */
            if (decoding->jobs[job].scanned == i) {
                struct job moved = decoding->jobs[job];
                decoding->jobs[job] = decoding->jobs[kept];
                decoding->jobs[kept++] = moved;
            }
    }
    decoding->job_count = kept;
    enum gt_status status = kept ? run(decoding, err) : GT_OK;
    decoding->job_count = count;
    return status;
}

static enum gt_status read_referred(struct decoding *decoding, int first, int end, struct gt_error *err) {
    enum gt_status status = plan(decoding, first, end, err);
    if (status == GT_OK)
        status = make_pieces(decoding, err);
    if (status == GT_OK)
        status = run(decoding, err);
    for (int tries = 0; tries < 2 && status == GT_OK && first == GT_ROCPD_EVENTS; tries++)
        status = read_other_links(decoding, err);
    for (size_t i = 0; i < decoding->scanned_count && status == GT_OK; i++) {
        const struct scanned *scanned = &decoding->scanned[i];
        struct gt_rocpd_set *set = &decoding->schema.sets[scanned->set];
        bool is_sealed = scanned->role == GT_ROCPD_ARGS ? gt_rocpd_args_seal(&set->args)
                                                        : gt_rocpd_entries_seal(&set->entries[scanned->role]);
        if (!is_sealed)
            status = gt_fail_memory(err);
    }
    release_scans(decoding);
    return status;
}

/* ---- workers ---- */

static enum gt_status init_workers(struct decoding *decoding, struct gt_error *err) {
    size_t count = decoding->options->threads ? decoding->options->threads : 1, strings = 0, symbols = 0;
    decoding->workers = gt_mem_array(count, sizeof *decoding->workers);
    decoding->builders = gt_mem_array(count, sizeof *decoding->builders);
    decoding->sinks = gt_mem_array(count, sizeof *decoding->sinks);
    if (!decoding->workers || !decoding->builders || !decoding->sinks)
        return gt_fail_memory(err);
    decoding->worker_count = count;
    for (size_t i = 0; i < decoding->schema.count; i++) {
        strings += decoding->schema.sets[i].strings.count;
        symbols += decoding->schema.sets[i].symbols.count;
    }
    for (size_t i = 0; i < count; i++) {
        struct worker *worker = &decoding->workers[i];
        if (gt_builder_init(&decoding->builders[i], GT_ROCPD_KEY, err) != GT_OK)
            return GT_ERR;
        gt_rocm_sink_init(&decoding->sinks[i], &decoding->builders[i], &decoding->capture,
                          gt_decoder_facts(decoding->options));
        worker->rows = (struct gt_rocpd_rows){.sink = &decoding->sinks[i], .schema = &decoding->schema};
        worker->rows.strings = gt_mem_array(strings + 1, sizeof *worker->rows.strings);
        worker->rows.symbols = gt_mem_array(symbols + 1, sizeof *worker->rows.symbols);
        if (!worker->rows.strings || !worker->rows.symbols ||
            !gt_sqlite_pages_reader_init(&worker->reader, &decoding->db.file))
            return gt_fail_memory(err);
    }
    return GT_OK;
}

static void release(struct decoding *decoding) {
    for (size_t i = 0; i < decoding->scanned_count; i++)
        gt_sqlite_db_scan_release(&decoding->scanned[i].scan);
    for (size_t i = 0; i < decoding->worker_count; i++) {
        gt_mem_free(decoding->workers[i].rows.strings);
        gt_mem_free(decoding->workers[i].rows.symbols);
        gt_sqlite_pages_reader_release(&decoding->workers[i].reader);
        gt_rocm_sink_release(&decoding->sinks[i]);
        gt_builder_release(&decoding->builders[i]);
    }
    gt_mem_free(decoding->workers);
    gt_mem_free(decoding->builders);
    gt_mem_free(decoding->sinks);
    gt_mem_free(decoding->scanned);
    gt_mem_free(decoding->jobs);
    gt_rocpd_schema_release(&decoding->schema);
    gt_strtab_release(&decoding->schema.suffixes);
    gt_rocm_capture_release(&decoding->capture);
    gt_sqlite_db_close(&decoding->db);
}

/* ---- losses ---- */

static void count_loss(struct decoding *decoding, enum gt_issue_id issue, uint32_t facts, uint64_t count) {
    if (count)
        gt_builder_issue_of(&decoding->builders[0], issue, facts, count, GT_NO_OFFSET);
}

static void count_losses(struct decoding *decoding) {
    uint64_t end = (uint64_t)decoding->db.file.page_count * decoding->db.file.page_bytes;
    bool is_cut = decoding->db.file.is_cut;
    uint32_t cut_facts = 0;
    count_loss(decoding, GT_ISSUE_PACKING_DAMAGED, 0, decoding->packing_damage != NULL);
    count_loss(decoding, GT_ISSUE_EVENT_DAMAGED, 0, decoding->db.is_schema_damaged);
    for (int role = 0; role < GT_ROCPD_ROLE_COUNT; role++) {
        uint32_t facts = gt_rocpd_schema_facts((enum gt_rocpd_role)role);
        uint64_t damaged = decoding->losses.damaged[role];
        for (size_t i = 0; i < decoding->worker_count; i++)
            damaged += decoding->workers[i].damaged[role];
        count_loss(decoding, GT_ISSUE_EVENT_DAMAGED, facts, damaged);
        count_loss(decoding, GT_ISSUE_TABLE_UNREADABLE, facts, decoding->schema.unreadable[role]);
        count_loss(decoding, GT_ISSUE_TABLE_INCOMPLETE, facts, decoding->schema.incomplete[role]);
        if (decoding->losses.missing[role]) {
            cut_facts |= facts;
            is_cut |= facts == 0;
        }
    }
    for (size_t i = 0; i < decoding->worker_count; i++)
        cut_facts |= decoding->workers[i].facts_missing;
    if (is_cut || cut_facts)
        gt_builder_issue_of(&decoding->builders[0], GT_ISSUE_INPUT_CUT, is_cut ? 0 : cut_facts, 1, end);
}

static void count_reading(struct decoding *decoding, const struct gt_sqlite_reader *facts_reader) {
    struct gt_meta *meta = &decoding->builders[0].store.meta;
    uint64_t pages = facts_reader->pages;
    meta->read_rows = facts_reader->rows;
    for (size_t i = 0; i < decoding->worker_count; i++) {
        meta->read_rows += decoding->workers[i].reader.rows;
        pages += decoding->workers[i].reader.pages;
    }
    meta->read_bytes = pages * decoding->db.file.page_bytes;
}

/* ---- the decoder ---- */

static enum gt_status read_rows(struct decoding *decoding, const struct gt_sqlite_reader *facts_reader,
                                struct gt_store **out, struct gt_error *err) {
    enum gt_status status = init_workers(decoding, err);
    if (status == GT_OK)
        status = read_referred(decoding, GT_ROCPD_EVENTS, GT_ROCPD_DISPATCHES, err);
    if (status != GT_OK)
        return status;
    gt_builder_begin(&decoding->builders[0], 0);
    if (gt_decoder_reads(decoding->options, GT_FACT_SOURCE) &&
        gt_rocpd_describe(&decoding->builders[0], &decoding->db, &decoding->schema, err) != GT_OK)
        return GT_ERR;
    decoding->first_order = 1;
    status = plan(decoding, GT_ROCPD_DISPATCHES, GT_ROCPD_ROLE_COUNT, err);
    if (status == GT_OK)
        status = run(decoding, err);
    release_scans(decoding);
    if (status != GT_OK)
        return status;
    uint64_t lost_args =
        gt_rocpd_args_check(decoding->schema.sets, decoding->schema.count, decoding->builders, decoding->worker_count);
    gt_rocm_finish(decoding->sinks, decoding->worker_count, &decoding->capture);
    count_losses(decoding);
    count_loss(decoding, GT_ISSUE_EVENT_DAMAGED, GT_FACT_CALL_ARGS, lost_args);
    uint64_t pc_samples;
    if (gt_rocpd_schema_pc_samples(&decoding->db, &pc_samples, err) != GT_OK)
        return GT_ERR;
    count_loss(decoding, GT_ISSUE_PC_SAMPLES_NOT_READ, GT_FACT_OPS, pc_samples);
    count_reading(decoding, facts_reader);
    return gt_store_seal(decoding->builders, decoding->worker_count, out, err);
}

static enum gt_status read_all(struct decoding *decoding, struct gt_source *source, const char *subject,
                               struct gt_store **out, struct gt_error *err) {
    struct gt_sqlite_reader facts_reader = {0};
    bool is_copy = subject != gt_source_path(source);
    uint32_t facts = gt_decoder_facts(decoding->options);
    enum gt_status status = is_copy ? gt_sqlite_db_open_copy(&decoding->db, source, subject, err)
                                    : gt_sqlite_db_open(&decoding->db, source, err);
    if (status == GT_OK)
        status = gt_rocpd_schema_find(&decoding->schema, &decoding->db, facts, subject, err);
    if (status == GT_OK && !gt_sqlite_pages_reader_init(&facts_reader, &decoding->db.file))
        status = gt_fail_memory(err);
    if (status == GT_OK)
        status = gt_rocpd_facts_read(&decoding->schema, &decoding->capture, &decoding->db, &facts_reader,
                                     &decoding->losses, err);
    if (status == GT_OK)
        status = read_rows(decoding, &facts_reader, out, err);
    gt_sqlite_pages_reader_release(&facts_reader);
    return status;
}

/* subject: what errors call it; packing_damage: of what it was copied from, or NULL. */
static enum gt_status decode_database(struct gt_source *source, const char *subject, const char *packing_damage,
                                      const struct gt_decode_options *options, struct gt_store **out,
                                      struct gt_error *err) {
    struct decoding *decoding = gt_mem_array(1, sizeof *decoding);
    if (!decoding)
        return gt_fail_memory(err);
    decoding->source = source;
    decoding->options = options;
    decoding->packing_damage = packing_damage;
    enum gt_status status = gt_fail_memory(err);
    if (gt_strtab_init(&decoding->schema.suffixes)) {
        if (gt_rocm_capture_init(&decoding->capture))
            status = read_all(decoding, source, subject, out, err);
        release(decoding);
    }
    gt_mem_free(decoding);
    return status;
}

enum gt_status gt_rocpd_decode(struct gt_source *const *sources, size_t count, const struct gt_decode_options *options,
                               struct gt_store **out, struct gt_error *err) {
    if (count != 1)
        return gt_fail(err, "a rocpd database is one file, not %zu", count);
    return gt_sqlite_input_decode(sources[0], decode_database, options, out, err);
}
