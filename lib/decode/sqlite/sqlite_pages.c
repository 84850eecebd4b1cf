/* Leaf pages to rows: page numbers come in, the values of the wanted columns go to a callback. Every length and offset
   is checked against its page; what does not fit is counted and skipped. */
#include "decode/sqlite/sqlite_pages.h"

#include "base/mem.h"

enum {
    BUFFER_BYTES = 1 << 17, /* fits in the second level cache together with what is written at the same time */
    HOLE_PAGES_MAX = 4,     /* pages of other tables between two leaves that are read along rather than skipped */
};

bool gt_sqlite_pages_reader_init(struct gt_sqlite_reader *reader, const struct gt_sqlite_file *file) {
    *reader = (struct gt_sqlite_reader){.file = file};
    reader->layouts = gt_sqlite_record_layouts_new();
    reader->plains = gt_sqlite_plain_new();
    reader->buffer = gt_mem_alloc(BUFFER_BYTES + GT_SQLITE_SLACK);
    return reader->layouts && reader->plains && reader->buffer;
}

void gt_sqlite_pages_reader_release(struct gt_sqlite_reader *reader) {
    gt_sqlite_record_layouts_free(reader->layouts);
    gt_sqlite_plain_free(reader->plains);
    gt_mem_free(reader->buffer);
    gt_mem_free(reader->overflow);
    *reader = (struct gt_sqlite_reader){0};
}

/* What a run over some pages needs everywhere. */
struct run {
    struct gt_sqlite_reader *reader;
    gt_sqlite_pages_row_fn *take;
    void *context;
    bool has_batches;
    struct gt_error *err;
    bool has_failed; /* err says why */
};

/* A cell whose record goes on in a chain of overflow pages. */
struct cell {
    struct gt_sqlite_record record;
    uint32_t next_page; /* 0: the record is whole */
};

static bool reserve_overflow(struct run *run, size_t size) {
    struct gt_sqlite_reader *reader = run->reader;
    if (size <= reader->overflow_bytes)
        return true;
    uint8_t *grown = gt_mem_realloc(reader->overflow, size + GT_SQLITE_SLACK);
    if (!grown) {
        run->has_failed = true;
        gt_fail_memory(run->err);
        return false;
    }
    reader->overflow = grown;
    reader->overflow_bytes = size;
    return true;
}

/* Copies the first bytes of a record together. false: the chain is broken, or reading failed. */
static bool gather(struct run *run, struct cell *cell, size_t needed) {
    struct gt_sqlite_reader *reader = run->reader;
    const struct gt_sqlite_file *file = reader->file;
    size_t room = file->usable_bytes - 4, have = cell->record.available_bytes;
    uint32_t page = cell->next_page;
    bool is_first = cell->record.payload != reader->overflow;
    if ((needed - have) / room > file->page_count || !reserve_overflow(run, needed + room))
        return false;
    if (is_first)
        memcpy(reader->overflow, cell->record.payload, have);
    while (have < needed) {
        uint8_t link[4];
        size_t got_link, got;
        uint64_t offset = (uint64_t)(page - 1) * file->page_bytes;
        size_t wanted = cell->record.payload_bytes - have < room ? cell->record.payload_bytes - have : room;
        if (page < 2 || page > file->page_count || reader->overflow_pages++ > file->page_count)
            return false;
        if (gt_source_pread(file->source, link, 4, offset, &got_link, run->err) != GT_OK ||
            gt_source_pread(file->source, reader->overflow + have, wanted, offset + 4, &got, run->err) != GT_OK) {
            run->has_failed = true;
            return false;
        }
        if (got_link < 4 || got < wanted)
            return false;
        have += wanted;
        reader->pages++;
        page = gt_sqlite_record_load32(link);
    }
    cell->record.payload = reader->overflow;
    cell->record.available_bytes = have;
    cell->next_page = page;
    return true;
}

static inline __attribute__((always_inline)) void take_cell(struct run *run, struct cell *cell) {
    struct gt_sqlite_reader *reader = run->reader;
    size_t needed;
    enum gt_sqlite_outcome outcome = gt_sqlite_record_read(reader->layouts, &cell->record, &reader->row, &needed);
    /* At most twice: the header says what the values need. */
    while (outcome == GT_SQLITE_NEEDS_MORE && cell->next_page && gather(run, cell, needed))
        outcome = gt_sqlite_record_read(reader->layouts, &cell->record, &reader->row, &needed);
    if (outcome == GT_SQLITE_ROW)
        run->take(run->context, &reader->row);
    else if (!run->has_failed)
        reader->damaged++;
}

/* Bytes of a payload that are stored in its leaf cell. */
static size_t local_bytes(uint32_t usable, uint64_t payload_bytes) {
    uint32_t most = usable - GT_SQLITE_LEAF_SPARE, least = (usable - 12) * 32 / 255 - 23;
    if (payload_bytes <= most)
        return (size_t)payload_bytes;
    size_t local = least + (size_t)((payload_bytes - least) % (usable - 4));
    return local <= most ? local : least;
}

/* false: the cell does not fit its page. */
static inline __attribute__((always_inline)) bool find_cell(const uint8_t *page, uint32_t at, uint32_t usable,
                                                            struct cell *cell) {
    uint64_t payload_bytes, rowid;
    size_t len = gt_sqlite_record_varint(page + at, usable - at, &payload_bytes);
    at += (uint32_t)len;
    size_t rowid_len = gt_sqlite_record_varint(page + at, usable - at, &rowid);
    at += (uint32_t)rowid_len;
    /* No file gives a record of 4 GiB; SQLite itself allows 2. */
    if (len == 0 || rowid_len == 0 || payload_bytes > UINT32_MAX / 2)
        return false;
    size_t local = local_bytes(usable, payload_bytes);
    bool is_whole = local == payload_bytes;
    if (local + (is_whole ? 0 : 4) > usable - at)
        return false;
    cell->record = (struct gt_sqlite_record){.payload = page + at,
                                             .available_bytes = local,
                                             .payload_bytes = (size_t)payload_bytes,
                                             .rowid = (int64_t)rowid};
    cell->next_page = is_whole ? 0 : gt_sqlite_record_load32(page + at + local);
    return true;
}

/* The next cell, which may be damaged. */
static inline __attribute__((always_inline)) void take_next(struct run *run, struct gt_sqlite_leaf *leaf) {
    uint32_t at = gt_sqlite_record_load16(leaf->pointers);
    struct cell cell;
    leaf->pointers += 2;
    if (at < leaf->cells_from || at >= leaf->usable_bytes || !find_cell(leaf->page, at, leaf->usable_bytes, &cell) ||
        cell.record.available_bytes > leaf->room_bytes) {
        run->reader->damaged++;
        return;
    }
    leaf->room_bytes -= cell.record.available_bytes;
    take_cell(run, &cell);
}

/* Hands on the rows that wait in the batch. Those that are not taken from there are read once more. */
static void flush(struct run *run, const struct gt_sqlite_leaf *leaf) {
    struct gt_sqlite_reader *reader = run->reader;
    const struct gt_sqlite_batches *batches = reader->batches;
    const struct gt_sqlite_batch *batch = &reader->batch;
    for (size_t done = 0; done < batch->count && !run->has_failed; done++) {
        done = batches->take(batches->context, batch, done);
        if (done == batch->count)
            break;
        struct gt_sqlite_leaf again = *leaf;
        again.pointers = leaf->page + batch->pointers[done];
        again.room_bytes = leaf->usable_bytes;
        take_next(run, &again);
    }
    reader->batch.count = 0;
}

/* Plain rows that follow each other. */
static void take_plain(struct run *run, struct gt_sqlite_leaf *leaf) {
    struct gt_sqlite_reader *reader = run->reader;
    bool is_full = true;
    while (is_full && !run->has_failed) {
        gt_sqlite_plain_fill(reader->plains, leaf, &reader->batch);
        is_full = reader->batch.count == GT_SQLITE_BATCH_ROWS;
        flush(run, leaf);
    }
}

static void take_page(struct run *run, const uint8_t *page, uint32_t number) {
    const uint8_t *header = page + gt_sqlite_page_header(number), *pointers = header + GT_SQLITE_LEAF_HEADER;
    run->reader->pages++;
    uint32_t usable = run->reader->file->usable_bytes, cell_count = gt_sqlite_record_load16(header + 3);
    uint32_t cells_from = (uint32_t)(pointers - page) + 2 * cell_count;
    if (header[0] != GT_SQLITE_LEAF || cells_from > usable) {
        run->reader->damaged++;
        return;
    }
    run->reader->rows += cell_count;
    struct gt_sqlite_leaf leaf = {
        .page = page,
        .pointers = pointers,
        .pointers_end = pointers + 2 * (size_t)cell_count,
        .cells_from = cells_from,
        .usable_bytes = usable,
        .room_bytes = usable - cells_from,
    };
    while (leaf.pointers < leaf.pointers_end && !run->has_failed) {
        if (run->has_batches)
            take_plain(run, &leaf);
        if (leaf.pointers < leaf.pointers_end && !run->has_failed)
            take_next(run, &leaf);
    }
}

/* How many leaves one read can take: those that are close one after the other in the file. */
static size_t leaves_together(const struct gt_sqlite_file *file, const uint32_t *leaves, size_t count) {
    size_t together = 1, room = BUFFER_BYTES / file->page_bytes;
    while (together < count && leaves[together] > leaves[together - 1] &&
           leaves[together] - leaves[together - 1] <= 1 + HOLE_PAGES_MAX && leaves[together] - leaves[0] < room)
        together++;
    return together;
}

enum gt_status gt_sqlite_pages_reader_run(struct gt_sqlite_reader *reader, const uint32_t *leaves, size_t count,
                                          const struct gt_sqlite_columns *columns, gt_sqlite_pages_row_fn *take,
                                          void *context, struct gt_error *err) {
    const struct gt_sqlite_file *file = reader->file;
    struct run run = {.reader = reader, .take = take, .context = context, .err = err};
    reader->overflow_pages = 0;
    gt_sqlite_record_layouts_use(reader->layouts, columns);
    const struct gt_sqlite_plain *plain = reader->batches ? &reader->batches->plain : NULL;
    run.has_batches = plain && (!plain->has_text || file->encoding == GT_SQLITE_UTF8) &&
                      gt_sqlite_plain_use(reader->plains, columns, plain);
    for (size_t i = 0; i < count && !run.has_failed;) {
        size_t together = leaves_together(file, leaves + i, count - i), got;
        size_t size = (size_t)(leaves[i + together - 1] - leaves[i] + 1) * file->page_bytes;
        uint64_t offset = (uint64_t)(leaves[i] - 1) * file->page_bytes;
        if (gt_source_pread(file->source, reader->buffer, size, offset, &got, err) != GT_OK)
            return GT_ERR;
        for (size_t k = i; k < i + together && !run.has_failed; k++) {
            size_t at = (size_t)(leaves[k] - leaves[i]) * file->page_bytes;
            if (at + file->page_bytes > got)
                reader->missing++; /* the file has shrunk since it was opened */
            else
                take_page(&run, reader->buffer + at, leaves[k]);
        }
        i += together;
    }
    return run.has_failed ? GT_ERR : GT_OK;
}
