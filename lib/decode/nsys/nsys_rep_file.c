/* The container of a report: a file comes in, the places of its parts and the counts of its index go out. Every length
   and offset is compared with what is left before it is used. */
#include "decode/nsys/nsys_rep_file.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "decode/proto/proto.h"

#define END_MARKER GT_STR("U3w[END]")
#define RAW_MAGIC  GT_STR("QDTEXT00")
#define SEARCH_BYTES                                                                                                   \
    ((size_t)1 << 20) /* a cut file's raw section begins within so many bytes: after 600 in samples                    \
                       */

enum { TAIL_BYTES = 16, VARINT_MAX = 10, SIZE_MIN = 48 };

enum gt_status gt_nsys_rep_file_read(const struct gt_nsys_rep_file *file, struct gt_nsys_rep_span span,
                                     struct gt_str *bytes, struct gt_error *err) {
    size_t size = span.size > GT_NSYS_REP_PIECE_MAX ? 0 : (size_t)span.size, got = 0;
    char *buffer = gt_mem_array(size + GT_PROTO_PADDING, 1);
    *bytes = (struct gt_str){buffer, 0};
    if (!buffer)
        return gt_fail_memory(err);
    enum gt_status status = size ? gt_source_pread(file->source, buffer, size, span.offset, &got, err) : GT_OK;
    if (status != GT_OK) {
        gt_mem_free(buffer);
        *bytes = (struct gt_str){NULL, 0};
        return status;
    }
    bytes->len = got;
    return GT_OK;
}

enum gt_status gt_nsys_rep_file_message(const struct gt_nsys_rep_file *file, uint64_t offset,
                                        struct gt_nsys_rep_span *message, struct gt_error *err) {
    unsigned char bytes[VARINT_MAX + GT_PROTO_PADDING] = {0};
    size_t got = 0;
    *message = (struct gt_nsys_rep_span){GT_NSYS_REP_NOWHERE, 0};
    if (offset >= file->end)
        return GT_OK;
    uint64_t left = file->end - offset, size;
    size_t wanted = left < VARINT_MAX ? (size_t)left : VARINT_MAX;
    enum gt_status status = gt_source_pread(file->source, bytes, wanted, offset, &got, err);
    struct gt_proto length = {bytes, bytes + got, false};
    if (status != GT_OK || !gt_proto_varint(&length, &size))
        return status;
    uint64_t begin = offset + (uint64_t)(length.p - bytes);
    if (size <= file->end - begin)
        *message = (struct gt_nsys_rep_span){begin, size};
    return GT_OK;
}

/* ---- sections ---- */

struct sections {
    struct gt_nsys_rep_span raw, offsets, ui, clocks;
    bool has_raw;
};

/* false: the section does not lie before the table. */
static bool take_section(struct sections *sections, struct gt_str entry, uint64_t table_offset) {
    struct gt_str name = gt_proto_find_bytes(entry, GT_PROTO_BYTES(1));
    struct gt_nsys_rep_span span = {gt_proto_find_value(entry, GT_PROTO_VARINT(2), 0),
                                    gt_proto_find_value(entry, GT_PROTO_VARINT(3), 0)};
    if (span.offset > table_offset || span.size > table_offset - span.offset)
        return false;
    if (gt_str_eq(name, GT_STR("Raw Sampling Data"))) {
        sections->raw = span;
        sections->has_raw = true;
    } else if (gt_str_eq(name, GT_STR("Sampling Data Offsets"))) {
        sections->offsets = span;
    } else if (gt_str_eq(name, GT_STR("UI Data"))) {
        sections->ui = span;
    } else if (gt_str_eq(name, GT_STR("Time Conversion Data"))) {
        sections->clocks = span;
    }
    return true;
}

static enum gt_status read_sections(struct gt_nsys_rep_file *file, struct sections *sections, struct gt_error *err) {
    unsigned char tail[TAIL_BYTES] = {0};
    size_t got = 0;
    enum gt_status status = gt_source_pread(file->source, tail, sizeof tail, file->size - TAIL_BYTES, &got, err);
    if (status != GT_OK)
        return status;
    file->is_cut = memcmp(tail + 8, END_MARKER.ptr, END_MARKER.len) != 0;
    if (file->is_cut)
        return GT_OK;
    uint64_t offset;
    memcpy(&offset, tail, sizeof offset);
    offset = le64toh(offset);
    file->is_index_damaged = true;
    if (offset > file->size - TAIL_BYTES)
        return GT_OK;
    struct gt_str table;
    struct gt_nsys_rep_span span = {offset, file->size - TAIL_BYTES - offset};
    if (gt_nsys_rep_file_read(file, span, &table, err) != GT_OK)
        return GT_ERR;
    struct gt_proto fields = gt_proto_of(table);
    struct gt_proto_field field;
    bool holds = table.len > 0;
    while (gt_proto_next(&fields, &field))
        holds = holds && (field.tag != GT_PROTO_BYTES(1) || take_section(sections, field.bytes, offset));
    file->is_index_damaged = !holds || fields.is_damaged;
    gt_mem_free((void *)(uintptr_t)table.ptr);
    return GT_OK;
}

/* ---- the raw section ---- */

/* Where "QDTEXT00" is near the beginning of a file without a table to be trusted. */
static enum gt_status search_raw(const struct gt_nsys_rep_file *file, struct sections *sections, struct gt_error *err) {
    struct gt_str head;
    uint64_t tail = file->is_cut ? 0 : TAIL_BYTES;
    struct gt_nsys_rep_span span = {0, file->size < SEARCH_BYTES ? file->size : SEARCH_BYTES};
    if (gt_nsys_rep_file_read(file, span, &head, err) != GT_OK)
        return GT_ERR;
    const char *found = memmem(head.ptr, head.len, RAW_MAGIC.ptr, RAW_MAGIC.len);
    if (found) {
        uint64_t offset = (uint64_t)(found - head.ptr);
        *sections = (struct sections){.has_raw = true, .raw = {offset, file->size - tail - offset}};
    }
    gt_mem_free((void *)(uintptr_t)head.ptr);
    return GT_OK;
}

static void set_unknown(struct gt_nsys_rep_file *file, const char *what) {
    snprintf(file->unknown, sizeof file->unknown, "%s", what);
}

/* Bytes of the file may be anything: only a plain word is shown. */
static void set_codec(struct gt_nsys_rep_file *file, struct gt_str codec) {
    bool is_word = codec.len > 0 && codec.len <= 16;
    for (size_t i = 0; is_word && i < codec.len; i++)
        is_word = codec.ptr[i] > ' ' && codec.ptr[i] < 0x7f;
    if (!codec.ptr)
        set_unknown(file, "unknown compression of its events");
    else if (!is_word)
        set_unknown(file, "unsupported compression of its events");
    else
        snprintf(file->unknown, sizeof file->unknown, "unsupported compression '%.*s'", (int)codec.len, codec.ptr);
}

static void take_index(struct gt_nsys_rep_file *file, struct gt_str index) {
    file->event_count = gt_proto_find_value(index, GT_PROTO_VARINT(1), GT_NSYS_REP_UNKNOWN);
    file->string_count = gt_proto_find_value(index, GT_PROTO_VARINT(3), GT_NSYS_REP_UNKNOWN);
    file->thread_count = gt_proto_find_value(index, GT_PROTO_VARINT(5), GT_NSYS_REP_UNKNOWN);
    file->generic_count = gt_proto_find_value(index, GT_PROTO_VARINT(15), GT_NSYS_REP_UNKNOWN);
    file->has_schemas = gt_proto_find_value(index, GT_PROTO_VARINT(17), 0) != 0;
    struct gt_str codec = gt_proto_find_bytes(index, GT_PROTO_BYTES(9));
    if (!gt_str_eq(codec, GT_STR("lz4")))
        set_codec(file, codec);
}

/* The head and index messages, which are before the chunks. A file that is cut before them has no events. */
static enum gt_status read_messages(struct gt_nsys_rep_file *file, uint64_t offset, struct gt_error *err) {
    struct gt_nsys_rep_span head, index = {GT_NSYS_REP_NOWHERE, 0};
    enum gt_status status = gt_nsys_rep_file_message(file, offset, &head, err);
    if (status == GT_OK && head.offset != GT_NSYS_REP_NOWHERE)
        status = gt_nsys_rep_file_message(file, head.offset + head.size, &index, err);
    if (status != GT_OK)
        return status;
    file->events = file->end;
    if (index.offset == GT_NSYS_REP_NOWHERE) {
        if (!file->is_cut)
            set_unknown(file, "its header extends past its end");
        return GT_OK;
    }
    struct gt_str bytes;
    if (gt_nsys_rep_file_read(file, index, &bytes, err) != GT_OK)
        return GT_ERR;
    file->head = head;
    file->index = index;
    file->events = index.offset + index.size;
    take_index(file, bytes);
    gt_mem_free((void *)(uintptr_t)bytes.ptr);
    return GT_OK;
}

/* Places in the offsets section count from after "QDTEXT00". */
static uint64_t place(const struct gt_nsys_rep_file *file, uint64_t base, uint64_t distance) {
    bool fits = distance < file->end - base && base + distance >= file->events;
    return fits ? base + distance : GT_NSYS_REP_NOWHERE;
}

static enum gt_status read_offsets(struct gt_nsys_rep_file *file, struct gt_nsys_rep_span offsets, uint64_t base,
                                   struct gt_error *err) {
    struct gt_str bytes;
    if (gt_nsys_rep_file_read(file, offsets, &bytes, err) != GT_OK)
        return GT_ERR;
    file->strings = place(file, base, gt_proto_find_value(bytes, GT_PROTO_VARINT(2), GT_NSYS_REP_NOWHERE));
    file->schemas = place(file, base, gt_proto_find_value(bytes, GT_PROTO_VARINT(3), GT_NSYS_REP_NOWHERE));
    gt_mem_free((void *)(uintptr_t)bytes.ptr);
    return GT_OK;
}

static enum gt_status read_raw(struct gt_nsys_rep_file *file, const struct sections *sections, struct gt_error *err) {
    char magic[8] = "";
    size_t got = 0;
    const struct gt_nsys_rep_span *raw = &sections->raw;
    enum gt_status status = GT_OK;
    if (raw->size >= sizeof magic)
        status = gt_source_pread(file->source, magic, sizeof magic, raw->offset, &got, err);
    if (status != GT_OK)
        return status;
    if (got < sizeof magic || memcmp(magic, RAW_MAGIC.ptr, sizeof magic) != 0) {
        set_unknown(file, "its raw data does not start with QDTEXT00");
        return GT_OK;
    }
    uint64_t base = raw->offset + sizeof magic;
    file->end = raw->offset + raw->size;
    file->ui = sections->ui;
    file->clocks = sections->clocks;
    status = read_messages(file, base, err);
    if (status == GT_OK && !*file->unknown)
        status = read_offsets(file, sections->offsets, base, err);
    return status;
}

enum gt_status gt_nsys_rep_file_init(struct gt_nsys_rep_file *file, const struct gt_source *source, uint64_t size,
                                     struct gt_error *err) {
    struct sections sections = {0};
    *file = (struct gt_nsys_rep_file){
        .source = source,
        .size = size,
        .strings = GT_NSYS_REP_NOWHERE,
        .schemas = GT_NSYS_REP_NOWHERE,
        .event_count = GT_NSYS_REP_UNKNOWN,
        .generic_count = GT_NSYS_REP_UNKNOWN,
        .string_count = GT_NSYS_REP_UNKNOWN,
        .thread_count = GT_NSYS_REP_UNKNOWN,
        .is_cut = size < SIZE_MIN,
    };
    char magic[sizeof GT_NSYS_REP_MAGIC] = "";
    size_t got;
    enum gt_status status = gt_source_pread(source, magic, sizeof magic - 1, 0, &got, err);
    if (status == GT_OK && strcmp(magic, GT_NSYS_REP_MAGIC) != 0) {
        set_unknown(file, "unknown report header");
        return GT_OK;
    }
    if (status == GT_OK && !file->is_cut)
        status = read_sections(file, &sections, err);
    if (status == GT_OK && (file->is_cut || file->is_index_damaged))
        status = search_raw(file, &sections, err);
    if (status != GT_OK)
        return status;
    if (!sections.has_raw) {
        set_unknown(file, file->is_cut ? "it ends before its events" : "section 'Raw Sampling Data' missing");
        return GT_OK;
    }
    return read_raw(file, &sections, err);
}
