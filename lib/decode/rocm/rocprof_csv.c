/* Decoder of the CSVs of ROCm's profilers: the files of a capture come in, a store goes out. Agents and regions are
   read first, whatever the order of the files: they say which process and which GPU the others mean. */
#include "decode/rocm/rocprof_csv.h"

#include <string.h>

#include "base/mem.h"

struct decoding {
    const struct gt_decode_options *options;
    const struct gt_csv_sizes *sizes;
    struct gt_builder builder;
    struct gt_rocm_capture capture;
    struct gt_rocm_sink sink;
    struct gt_rocprof_csv_rows rows;
    uint64_t next_order, kernels; /* kernels: of their own file */
    struct gt_rocm_segments counter_segments, sum_segments;
    bool has_table, is_old;
    bool reads_sums; /* of the file that is being read */
};

/* ---- names of files ---- */

static const char *const kinds[] = {
    "kernel_trace",     "memory_copy_trace",   "hip_api_trace",           "hsa_api_trace",
    "marker_api_trace", "rccl_api_trace",      "counter_collection",      "agent_info",
    "kernel_stats",     "hip_api_stats",       "memory_allocation_trace", "scratch_memory_trace",
    "hip_graph_trace",  "domain_stats",        "memory_copy_stats",       "hsa_api_stats",
    "marker_api_stats", "rocdecode_api_trace", "rocjpeg_api_trace",
};

size_t gt_rocprof_csv_capture_prefix(const char *path) {
    static const char *const ends[] = {".csv", ".csv.gz", ".csv.zst", ".csv.xz"};
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    for (size_t k = 0; k < GT_ARRAY_COUNT(kinds); k++)
        for (size_t e = 0; e < GT_ARRAY_COUNT(ends); e++) {
            struct gt_str rest = gt_str_of(base);
            if (gt_str_take_end(&rest, gt_str_of(ends[e])) && gt_str_take_end(&rest, gt_str_of(kinds[k])) &&
                gt_str_take_end(&rest, GT_STR("_")) && rest.len)
                return (size_t)(base - path) + rest.len;
        }
    return 0;
}

/* All summaries have the same columns; the name of the file says what they sum. false: nothing that ran on a GPU. */
static bool is_sum_of_ops(const char *path, enum gt_op_kind *kind) {
    static const struct {
        const char *word;
        enum gt_op_kind kind;
    } sums[] = {{"kernel_stats.csv", GT_OP_KERNEL}, {"memory_copy_stats.csv", GT_OP_MEMCPY}};
    for (size_t i = 0; i < GT_ARRAY_COUNT(sums); i++)
        if (gt_str_contains(gt_str_of(path), gt_str_of(sums[i].word))) {
            *kind = sums[i].kind;
            return true;
        }
    return false;
}

/* ---- reading ---- */

static bool read_header(const struct decoding *decoding, struct gt_rocprof_csv_header *header,
                        const struct gt_csv_row *row) {
    if (!gt_rocprof_csv_header_read(header, row))
        return false;
    if (header->table == GT_ROCPROF_CSV_SUMS && !decoding->reads_sums)
        header->table = GT_ROCPROF_CSV_OTHER;
    return true;
}

/* The table that a file begins with. */
static bool first_table(struct gt_str head, struct gt_rocprof_csv_header *header) {
    const char *p = head.ptr, *end = p + head.len;
    struct gt_csv_row row;
    if (head.len == 0 || memchr(head.ptr, '\0', head.len))
        return false;
    return gt_csv_scan_row(&p, end, true, GT_CSV_LINE, &row) && gt_rocprof_csv_header_read(header, &row);
}

int gt_rocprof_csv_sniff(struct gt_str head, const char *path) {
    struct gt_rocprof_csv_header header;
    enum gt_op_kind kind;
    if (!first_table(head, &header))
        return 0;
    bool is_sum = header.place[GT_ROCPROF_CSV_TOTAL] && header.table >= GT_ROCPROF_CSV_SUMS;
    if (is_sum && !(header.table == GT_ROCPROF_CSV_SUMS && is_sum_of_ops(path, &kind)))
        return gt_rocprof_csv_capture_prefix(path) ? 50 : 0; /* alone it says nothing; results.stats.csv of rocprof */
    return header.table == GT_ROCPROF_CSV_OTHER ? 50 : 95;
}

static void open_table(struct decoding *decoding, const struct gt_rocprof_csv_header *header) {
    size_t segment = gt_builder_begin(&decoding->builder, decoding->next_order++);
    decoding->has_table |= header->table != GT_ROCPROF_CSV_OTHER;
    decoding->is_old |= header->is_old;
    decoding->rows.part++;
    if (header->table == GT_ROCPROF_CSV_COUNTERS)
        gt_rocm_segments_add(&decoding->counter_segments, &decoding->builder, segment);
    if (header->table == GT_ROCPROF_CSV_SUMS)
        gt_rocm_segments_add(&decoding->sum_segments, &decoding->builder, segment);
}

static bool is_blank(const struct gt_csv_row *row) {
    for (size_t i = 0; i < row->raw.len; i++)
        if (!strchr(" \r\n", row->raw.ptr[i]))
            return false;
    return true;
}

/* Something else than a row of the table: another header, or damage. */
static void read_odd_row(struct decoding *decoding, struct gt_csv_reader *reader, struct gt_rocprof_csv_header *header,
                         const struct gt_csv_row *row) {
    struct gt_rocprof_csv_header next;
    if (is_blank(row))
        return;
    if (read_header(decoding, &next, row)) {
        *header = next;
        open_table(decoding, header);
    } else if (row->is_cut) {
        gt_builder_issue(&decoding->builder, GT_ISSUE_INPUT_CUT, 1, row->offset);
    } else {
        gt_builder_issue_of(&decoding->builder, GT_ISSUE_EVENT_DAMAGED, gt_rocprof_csv_rows_facts(header->table), 1,
                            row->offset);
    }
    gt_csv_scan_reader_reread(reader, row);
}

static void read_row(struct decoding *decoding, struct gt_csv_reader *reader, struct gt_rocprof_csv_header *header,
                     const struct gt_csv_row *row) {
    uint64_t kernels = decoding->rows.kernels;
    if (header->table == GT_ROCPROF_CSV_OTHER && !row->is_broken && row->count == header->column_count) {
        gt_builder_skip(&decoding->builder);
        return;
    }
    if (!row->is_broken && row->count == header->column_count && header->table != GT_ROCPROF_CSV_OTHER &&
        gt_rocprof_csv_rows_take(&decoding->rows, header, row)) {
        decoding->kernels += header->table == GT_ROCPROF_CSV_KERNELS ? decoding->rows.kernels - kernels : 0;
        if (row->is_cut) /* the last cell may have been longer */
            gt_builder_issue(&decoding->builder, GT_ISSUE_INPUT_CUT, 1, row->offset);
        return;
    }
    read_odd_row(decoding, reader, header, row);
}

static enum gt_status read_source(struct decoding *decoding, struct gt_source *source, struct gt_error *err) {
    struct gt_csv_reader reader;
    struct gt_rocprof_csv_header header = {0};
    struct gt_csv_row row;
    bool has_row = true, has_header = false;
    enum gt_status status = gt_csv_scan_reader_init(&reader, source, decoding->sizes, err);
    if (status != GT_OK)
        return status;
    decoding->reads_sums = is_sum_of_ops(gt_source_path(source), &decoding->rows.summed);
    reader.progress = decoding->options->progress;
    reader.progress_context = decoding->options->progress_context;
    while (status == GT_OK && has_row) {
        status = gt_csv_scan_reader_next(&reader, has_header ? GT_CSV_RECORD : GT_CSV_LINE, &row, &has_row, err);
        if (status != GT_OK || !has_row)
            break;
        if (has_header) {
            read_row(decoding, &reader, &header, &row);
        } else if (read_header(decoding, &header, &row)) {
            has_header = true;
            open_table(decoding, &header);
        }
    }
    gt_csv_scan_reader_release(&reader);
    if (status == GT_OK && !has_header)
        status = gt_fail(err, "'%s': no table of rocprofv3 or rocprof found", gt_source_path(source));
    if (gt_source_damage(source))
        gt_builder_issue(&decoding->builder, GT_ISSUE_PACKING_DAMAGED, 1, GT_NO_OFFSET);
    return status;
}

/* Files that begin with a table of this kind. */
static enum gt_status read_kind(struct decoding *decoding, struct gt_source *const *sources, const uint8_t *tables,
                                size_t count, uint8_t kind, struct gt_error *err) {
    for (size_t i = 0; i < count; i++)
        if (tables[i] == kind && read_source(decoding, sources[i], err) != GT_OK)
            return GT_ERR;
    if (kind == GT_ROCPROF_CSV_AGENTS)
        gt_rocprof_csv_rows_number_agents(&decoding->rows);
    return GT_OK;
}

static enum gt_status read_all(struct decoding *decoding, struct gt_source *const *sources, size_t count,
                               struct gt_error *err) {
    uint8_t *tables = gt_mem_array(count, 1);
    enum gt_status status = tables ? GT_OK : gt_fail_memory(err);
    for (size_t i = 0; i < count && status == GT_OK; i++) {
        struct gt_rocprof_csv_header header;
        struct gt_str head;
        status = gt_source_peek(sources[i], &head, err);
        if (status == GT_OK)
            tables[i] = (uint8_t)(first_table(head, &header) ? header.table : GT_ROCPROF_CSV_OTHER);
    }
    for (uint8_t kind = 0; kind <= GT_ROCPROF_CSV_OTHER && status == GT_OK; kind++)
        status = read_kind(decoding, sources, tables, count, kind, err);
    gt_mem_free(tables);
    return status;
}

/* Kernels of a file of counters are those of the trace, where there is one. */
static void finish(struct decoding *decoding) {
    decoding->capture.producer = decoding->is_old ? GT_STR("rocprof") : GT_STR("rocprofv3");
    gt_rocm_finish(&decoding->sink, 1, &decoding->capture);
    if (decoding->kernels)
        gt_rocm_segments_drop(&decoding->counter_segments, &decoding->builder);
    if (decoding->builder.store.ops.count) /* the sums are of these */
        gt_rocm_segments_drop(&decoding->sum_segments, &decoding->builder);
    decoding->builder.failed |= gt_arena_failed(&decoding->capture.arena);
}

static enum gt_status decode(struct decoding *decoding, struct gt_source *const *sources, size_t count,
                             struct gt_store **out, struct gt_error *err) {
    gt_builder_begin(&decoding->builder, decoding->next_order++);
    if (read_all(decoding, sources, count, err) != GT_OK)
        return GT_ERR;
    if (!decoding->has_table)
        return gt_fail(err,
                       "'%s': no supported table of rocprofv3; use kernel_trace, memory_copy_trace, hip_api_trace, "
                       "marker_api_trace, counter_collection or kernel_stats",
                       gt_source_path(sources[0]));
    finish(decoding);
    return gt_store_seal(&decoding->builder, 1, out, err);
}

enum gt_status gt_rocprof_csv_decode_sized(struct gt_source *const *sources, size_t count,
                                           const struct gt_decode_options *options, const struct gt_csv_sizes *sizes,
                                           struct gt_store **out, struct gt_error *err) {
    struct decoding decoding = {.options = options, .sizes = sizes};
    *out = NULL;
    enum gt_status status = gt_builder_init(&decoding.builder, GT_ROCPROF_CSV_KEY, err);
    if (status != GT_OK)
        return status;
    bool is_ready = gt_rocm_capture_init(&decoding.capture);
    gt_rocm_sink_init(&decoding.sink, &decoding.builder, &decoding.capture, gt_decoder_facts(options));
    decoding.rows.sink = &decoding.sink;
    decoding.rows.capture = &decoding.capture;
    status = is_ready ? decode(&decoding, sources, count, out, err) : gt_fail_memory(err);
    gt_rocprof_csv_rows_release(&decoding.rows);
    gt_rocm_sink_release(&decoding.sink);
    gt_rocm_capture_release(&decoding.capture);
    gt_mem_free(decoding.counter_segments.list);
    gt_mem_free(decoding.sum_segments.list);
    gt_builder_release(&decoding.builder);
    return status;
}

enum gt_status gt_rocprof_csv_decode(struct gt_source *const *sources, size_t count,
                                     const struct gt_decode_options *options, struct gt_store **out,
                                     struct gt_error *err) {
    return gt_rocprof_csv_decode_sized(sources, count, options, &gt_csv_default_sizes, out, err);
}
