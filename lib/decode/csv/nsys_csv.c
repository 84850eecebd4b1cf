/* Decoder of `nsys stats` CSVs: finds the tables in the files of a capture, reads their rows and decides which tables
   count. Each table is a segment of the builder, so that one that says the same again can be dropped. */
#include "decode/csv/nsys_csv.h"

#include "base/mem.h"
#include "decode/csv/nsys_csv_rows.h"
#include "events/builder.h"

/* More than any one input has; what follows is not read. */
enum { TABLES_MAX = 1024 };

/* A table that was read. */
struct table {
    enum gt_nsys_csv_table kind;
    size_t segment;
    uint64_t row_count, sums[2];
    bool is_dropped;
};

struct decoding {
    const struct gt_decode_options *options;
    const struct gt_csv_sizes *sizes;
    struct gt_builder builder;
    struct gt_nsys_csv_sink sink;
    struct table *tables; /* room for TABLES_MAX */
    size_t table_count;
    uint64_t next_order;
};

/* Where in a file the reading is. */
struct place {
    struct gt_csv_reader reader;
    struct gt_nsys_csv_header header;
    bool is_in_table;    /* one that is needed */
    bool is_in_other;    /* one that is not */
    bool has_any_header; /* seen in this file */
};

/* ---- tables ---- */

static void close_table(struct decoding *decoding, struct place *place) {
    if (place->is_in_table) {
        struct table *table = &decoding->tables[decoding->table_count - 1];
        table->row_count = decoding->sink.row_count;
        table->sums[0] = decoding->sink.sums[0];
        table->sums[1] = decoding->sink.sums[1];
    }
    place->is_in_table = place->is_in_other = false;
}

static void open_table(struct decoding *decoding, struct place *place, const struct gt_nsys_csv_header *header,
                       uint64_t offset) {
    close_table(decoding, place);
    place->header = *header;
    place->has_any_header = true;
    place->is_in_other = header->table == GT_NSYS_CSV_OTHER || decoding->table_count == TABLES_MAX;
    if (place->is_in_other) {
        if (header->table != GT_NSYS_CSV_OTHER)
            gt_builder_issue(&decoding->builder, GT_ISSUE_EVENT_DAMAGED, 1, offset);
        return;
    }
    decoding->tables[decoding->table_count++] = (struct table){
        .kind = header->table,
        .segment = gt_builder_begin(&decoding->builder, decoding->next_order++),
    };
    decoding->sink.row_count = decoding->sink.sums[0] = decoding->sink.sums[1] = 0;
    place->is_in_table = true;
}

/* ---- lines ---- */

static bool is_blank(const struct gt_csv_row *row) {
    for (size_t i = 0; i < row->raw.len; i++)
        if (row->raw.ptr[i] != ' ' && row->raw.ptr[i] != '\r' && row->raw.ptr[i] != '\n')
            return false;
    return true;
}

/* What nsys says between tables on standard output. */
static bool is_chatter(const struct gt_csv_row *row) {
    static const struct gt_str beginnings[] = {
        GT_STR("NOTICE"),    GT_STR("Generating"), GT_STR("Processing"), GT_STR(" **"),    GT_STR("SKIPPED"),
        GT_STR("Exporting"), GT_STR("WARNING"),    GT_STR("ERROR"),      GT_STR("Using "), GT_STR("["),
    };
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (gt_str_starts(row->raw, beginnings[i]))
            return true;
    return false;
}

/* A line outside tables, or in one that is not needed. */
static void read_line(struct decoding *decoding, struct place *place, const struct gt_csv_row *row) {
    struct gt_nsys_csv_header header;
    if (gt_nsys_csv_header_read(&header, row))
        open_table(decoding, place, &header, row->offset);
    else if (is_blank(row) || is_chatter(row))
        close_table(decoding, place);
    else if (place->is_in_other)
        gt_builder_skip(&decoding->builder);
}

/* The last cell may have been longer: nsys ends every line. */
static void note_cut(struct decoding *decoding, const struct gt_csv_row *row) {
    if (row->is_cut)
        gt_builder_issue(&decoding->builder, GT_ISSUE_INPUT_CUT, 1, row->offset);
}

/* Something else than a row of the table: its end, the next one, or damage. */
static void read_odd_record(struct decoding *decoding, struct place *place, const struct gt_csv_row *row) {
    struct gt_nsys_csv_header header;
    if (gt_nsys_csv_header_read(&header, row))
        open_table(decoding, place, &header, row->offset);
    else if (is_blank(row) || is_chatter(row))
        close_table(decoding, place);
    else if (row->is_cut)
        gt_builder_issue(&decoding->builder, GT_ISSUE_INPUT_CUT, 1, row->offset);
    else
        gt_builder_issue_of(&decoding->builder, GT_ISSUE_EVENT_DAMAGED, gt_nsys_csv_rows_facts(place->header.table), 1,
                            row->offset);
    gt_csv_scan_reader_reread(&place->reader, row);
}

static void read_record(struct decoding *decoding, struct place *place, const struct gt_csv_row *row) {
    struct gt_nsys_csv_cells cells = {&place->header, row};
    if (!row->is_broken && row->count == place->header.column_count && gt_nsys_csv_rows_take(&decoding->sink, &cells))
        note_cut(decoding, row);
    else
        read_odd_record(decoding, place, row);
}

/* ---- files ---- */

static enum gt_status read_rows(struct decoding *decoding, struct place *place, struct gt_error *err) {
    struct gt_csv_row row;
    bool has_row;
    for (;;) {
        enum gt_csv_unit unit = place->is_in_table ? GT_CSV_RECORD : GT_CSV_LINE;
        enum gt_status status = gt_csv_scan_reader_next(&place->reader, unit, &row, &has_row, err);
        if (status != GT_OK || !has_row)
            return status;
        if (place->is_in_table)
            read_record(decoding, place, &row);
        else
            read_line(decoding, place, &row);
    }
}

static enum gt_status read_source(struct decoding *decoding, struct gt_source *source, struct gt_error *err) {
    struct place place = {0};
    enum gt_status status = gt_csv_scan_reader_init(&place.reader, source, decoding->sizes, err);
    if (status != GT_OK)
        return status;
    place.reader.progress = decoding->options->progress;
    place.reader.progress_context = decoding->options->progress_context;
    gt_builder_begin(&decoding->builder, decoding->next_order++);
    status = read_rows(decoding, &place, err);
    close_table(decoding, &place);
    if (status == GT_OK && !place.has_any_header)
        status = gt_fail(err, "'%s': no 'nsys stats' table found", gt_source_path(source));
    if (gt_source_damage(source))
        gt_builder_issue(&decoding->builder, GT_ISSUE_PACKING_DAMAGED, 1, GT_NO_OFFSET);
    gt_csv_scan_reader_release(&place.reader);
    return status;
}

/* ---- which tables count ---- */

static bool has_rows(const struct decoding *decoding, enum gt_nsys_csv_table kind) {
    for (size_t i = 0; i < decoding->table_count; i++)
        if (decoding->tables[i].kind == kind && decoding->tables[i].row_count)
            return true;
    return false;
}

static void drop_tables(struct decoding *decoding, enum gt_nsys_csv_table kind) {
    for (size_t i = 0; i < decoding->table_count; i++)
        if (decoding->tables[i].kind == kind)
            decoding->tables[i].is_dropped = true;
}

/* The events of a capture hold all that is summed elsewhere, and the table of all sums holds the others. */
static void drop_summed(struct decoding *decoding) {
    bool has_ops = has_rows(decoding, GT_NSYS_CSV_TRACE);
    bool has_all = has_ops || has_rows(decoding, GT_NSYS_CSV_GPU);
    if (has_ops)
        drop_tables(decoding, GT_NSYS_CSV_GPU);
    if (has_all)
        drop_tables(decoding, GT_NSYS_CSV_KERNELS);
    if (has_all)
        drop_tables(decoding, GT_NSYS_CSV_MEMORY);
    if (has_all || has_rows(decoding, GT_NSYS_CSV_KERNELS))
        drop_tables(decoding, GT_NSYS_CSV_KERNELS_BY_GRID);
}

static bool says_the_same(const struct table *a, const struct table *b) {
    return a->kind == b->kind && a->sums[0] == b->sums[0] && a->sums[1] == b->sums[1];
}

/* A table that comes twice counts once (with short and with full names, say); a different one of the same kind is of
   another capture, whose rows are added. */
static void drop_repeated(struct decoding *decoding) {
    for (size_t i = 0; i < decoding->table_count; i++) {
        struct table *table = &decoding->tables[i];
        bool is_joined = false;
        for (size_t k = 0; k < i && !table->is_dropped; k++) {
            const struct table *earlier = &decoding->tables[k];
            if (earlier->is_dropped)
                continue;
            table->is_dropped = says_the_same(earlier, table);
            is_joined |= earlier->kind == table->kind && earlier->row_count && table->row_count;
        }
        if (is_joined && !table->is_dropped)
            gt_builder_issue(&decoding->builder, GT_ISSUE_DOCUMENTS_JOINED, 1, GT_NO_OFFSET);
    }
}

static void split_names(struct decoding *decoding, const struct table *table) {
    const struct gt_segment *segment = &decoding->builder.segments[table->segment];
    if (table->kind == GT_NSYS_CSV_RANGES)
        gt_nsys_csv_rows_split_ranges(&decoding->builder, segment->begin[GT_TABLE_projections],
                                      segment->end[GT_TABLE_projections]);
    if (table->kind == GT_NSYS_CSV_RANGE_SUM)
        gt_nsys_csv_rows_split_range_sums(&decoding->builder, segment->begin[GT_TABLE_projection_groups],
                                          segment->end[GT_TABLE_projection_groups]);
}

static void finish(struct decoding *decoding) {
    struct gt_builder *builder = &decoding->builder;
    gt_builder_begin(builder, decoding->next_order++);
    builder->store.meta.producer = gt_builder_string(builder, GT_STR("Nsight Systems"));
    drop_summed(decoding);
    drop_repeated(decoding);
    for (size_t i = 0; i < decoding->table_count && !builder->failed; i++) {
        split_names(decoding, &decoding->tables[i]);
        if (decoding->tables[i].is_dropped)
            gt_builder_drop(builder, decoding->tables[i].segment);
    }
}

/* ---- the decoder ---- */

static enum gt_status decode(struct decoding *decoding, struct gt_source *const *sources, size_t count,
                             struct gt_store **out, struct gt_error *err) {
    for (size_t i = 0; i < count; i++)
        if (read_source(decoding, sources[i], err) != GT_OK)
            return GT_ERR;
    if (decoding->table_count == 0)
        return gt_fail(err,
                       "'%s': no supported 'nsys stats' table; use cuda_gpu_trace, cuda_gpu_kern_sum, "
                       "cuda_gpu_mem_time_sum, cuda_gpu_sum, nvtx_gpu_proj_trace or nvtx_gpu_proj_sum",
                       gt_source_path(sources[0]));
    finish(decoding);
    return gt_store_seal(&decoding->builder, 1, out, err);
}

enum gt_status gt_nsys_csv_decode_sized(struct gt_source *const *sources, size_t count,
                                        const struct gt_decode_options *options, const struct gt_csv_sizes *sizes,
                                        struct gt_store **out, struct gt_error *err) {
    struct decoding decoding = {.options = options, .sizes = sizes};
    *out = NULL;
    decoding.tables = gt_mem_array(TABLES_MAX, sizeof *decoding.tables);
    enum gt_status status = gt_builder_init(&decoding.builder, GT_NSYS_CSV_KEY, err);
    if (status == GT_OK &&
        (!decoding.tables || !gt_nsys_csv_rows_init(&decoding.sink, &decoding.builder, gt_decoder_facts(options))))
        status = gt_fail_memory(err);
    if (status == GT_OK)
        status = decode(&decoding, sources, count, out, err);
    gt_nsys_csv_rows_release(&decoding.sink);
    gt_builder_release(&decoding.builder);
    gt_mem_free(decoding.tables);
    return status;
}

enum gt_status gt_nsys_csv_decode(struct gt_source *const *sources, size_t count,
                                  const struct gt_decode_options *options, struct gt_store **out,
                                  struct gt_error *err) {
    return gt_nsys_csv_decode_sized(sources, count, options, &gt_csv_default_sizes, out, err);
}

int gt_nsys_csv_sniff(struct gt_str head, const char *path) {
    (void)path;
    const char *p = head.ptr, *end = p + head.len;
    struct gt_nsys_csv_header header;
    struct gt_csv_row row;
    int score = 0;
    if (head.len == 0 || memchr(head.ptr, '\0', head.len))
        return 0;
    while (p < end && gt_csv_scan_row(&p, end, true, GT_CSV_LINE, &row))
        if (gt_nsys_csv_header_read(&header, &row)) {
            if (header.table != GT_NSYS_CSV_OTHER)
                return 90;
            score = 10; /* read only to say what is missing */
        }
    return score;
}
