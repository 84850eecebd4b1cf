/* Mutations that keep to a file's packing: of gzip and zstd the content is changed and packed again, of a report of
   Nsight Systems the message inside one LZ4 block (with every offset after it corrected). Inside of that, and of what
   is not packed, they keep to the format (mutate.h). Without that nearly all of a fuzzer's inputs end at a checksum or
   a syntax error. */
#include <endian.h>
#include <lz4.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "decode/proto/proto.h"
#include "mutate.h"

enum { CONTENT_MAX = 1 << 20, VARINT_MAX = 10 };

/* Bytes that are put together. What does not fit is left out, and has_failed. */
struct bytes {
    uint8_t *data;
    size_t size, capacity;
    bool has_failed;
};

static void put(struct bytes *to, const void *from, size_t size) {
    to->has_failed |= size > to->capacity - to->size;
    if (to->has_failed || !size)
        return;
    memcpy(to->data + to->size, from, size);
    to->size += size;
}

static void put_varint(struct bytes *to, uint64_t value) {
    uint8_t text[VARINT_MAX];
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        text[size++] = (uint8_t)(value | 0x80);
    text[size++] = (uint8_t)value;
    put(to, text, size);
}

static void put_field(struct bytes *to, uint32_t tag, uint64_t value) {
    put_varint(to, tag);
    put_varint(to, value);
}

/* ---- content ---- */

typedef size_t mutation(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* What the content looks like; NULL: like nothing that is known. */
static mutation *mutation_of(const uint8_t *data, size_t size) {
    if (size > 15 && memcmp(data, "SQLite format 3", 15) == 0)
        return fuzz_mutate_sqlite;
    if (size > 1 && (data[0] == '{' || data[0] == '['))
        return fuzz_mutate_json;
    if (size > 1 && data[0] == '\n')
        return fuzz_mutate_proto;
    const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
    return line && memchr(data, ',', (size_t)(line - data)) ? fuzz_mutate_csv : NULL;
}

/* Mostly as its format has it. */
static size_t mutate_content(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    mutation *own = seed % 4 ? mutation_of(data, size) : NULL;
    size_t made = own ? own(data, size, max_size, seed / 4) : 0;
    return made ? made : LLVMFuzzerMutate(data, size, max_size);
}

/* ---- streams ---- */

static size_t unpack_gzip(const uint8_t *data, size_t size, uint8_t *content) {
    z_stream stream = {.next_in = (uint8_t *)(uintptr_t)data,
                       .avail_in = (unsigned)size,
                       .next_out = content,
                       .avail_out = CONTENT_MAX};
    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
        return 0;
    inflate(&stream, Z_FINISH); /* of a damaged stream what comes before the damage */
    inflateEnd(&stream);
    return stream.total_out;
}

static size_t pack_gzip(const uint8_t *content, size_t size, uint8_t *data, size_t max_size) {
    z_stream stream = {.next_in = (uint8_t *)(uintptr_t)content,
                       .avail_in = (unsigned)size,
                       .next_out = data,
                       .avail_out = (unsigned)max_size};
    if (deflateInit2(&stream, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    bool is_whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    deflateEnd(&stream);
    return is_whole ? stream.total_out : 0;
}

static size_t unpack_zstd(const uint8_t *data, size_t size, uint8_t *content) {
    ZSTD_inBuffer in = {data, size, 0};
    ZSTD_outBuffer out = {content, CONTENT_MAX, 0};
    ZSTD_DCtx *context = ZSTD_createDCtx();
    while (context && in.pos < in.size && out.pos < out.size &&
           !ZSTD_isError(ZSTD_decompressStream(context, &out, &in)))
        continue;
    ZSTD_freeDCtx(context);
    return out.pos;
}

static size_t pack_zstd(const uint8_t *content, size_t size, uint8_t *data, size_t max_size) {
    size_t packed = ZSTD_compress(data, max_size, content, size, 1);
    return ZSTD_isError(packed) ? 0 : packed;
}

static size_t mutate_stream(uint8_t *data, size_t size, size_t max_size, unsigned seed,
                            size_t (*unpack)(const uint8_t *, size_t, uint8_t *),
                            size_t (*pack)(const uint8_t *, size_t, uint8_t *, size_t)) {
    static uint8_t content[CONTENT_MAX];
    size_t plain = unpack(data, size, content);
    return plain ? pack(content, mutate_content(content, plain, CONTENT_MAX, seed), data, max_size) : 0;
}

static size_t mutate_gzip(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    return mutate_stream(data, size, max_size, seed, unpack_gzip, pack_gzip);
}

static size_t mutate_zstd(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    return mutate_stream(data, size, max_size, seed, unpack_zstd, pack_zstd);
}

/* ---- reports of Nsight Systems ---- */

struct report {
    struct gt_str file;
    struct gt_str head;    /* before the first section */
    struct gt_str table;   /* of sections */
    struct gt_str raw;     /* the section that has the chunks */
    size_t chunk, old_end; /* of the chunk that is changed: in raw, after "QDTEXT00" */
    struct bytes fresh;    /* the chunk in its place */
};

static const char raw_magic[] = "QDTEXT00", end_marker[] = "U3w[END]";

static struct gt_str section_of(const struct report *report, struct gt_str entry) {
    uint64_t offset = gt_proto_find_value(entry, GT_PROTO_VARINT(2), UINT64_MAX);
    uint64_t size = gt_proto_find_value(entry, GT_PROTO_VARINT(3), UINT64_MAX);
    if (offset > report->file.len || size > report->file.len - offset)
        return (struct gt_str){NULL, 0};
    return (struct gt_str){report->file.ptr + offset, (size_t)size};
}

static bool find_sections(struct report *report) {
    uint64_t at;
    size_t tail = sizeof at + sizeof end_marker - 1;
    if (report->file.len < tail || memcmp(report->file.ptr + report->file.len - 8, end_marker, 8) != 0)
        return false;
    memcpy(&at, report->file.ptr + report->file.len - tail, sizeof at);
    at = le64toh(at);
    if (at > report->file.len - tail)
        return false;
    report->head = (struct gt_str){report->file.ptr, (size_t)at};
    report->table = (struct gt_str){report->file.ptr + at, report->file.len - tail - (size_t)at};
    struct gt_proto entries = gt_proto_of(report->table);
    for (struct gt_proto_field entry; gt_proto_next(&entries, &entry);) {
        struct gt_str section = section_of(report, entry.bytes);
        if (entry.tag != GT_PROTO_BYTES(1) || !section.ptr)
            return false;
        if ((size_t)(section.ptr - report->file.ptr) < report->head.len)
            report->head.len = (size_t)(section.ptr - report->file.ptr);
        if (section.len > 8 && memcmp(section.ptr, raw_magic, 8) == 0)
            report->raw = (struct gt_str){section.ptr + 8, section.len - 8};
    }
    return report->raw.ptr != NULL;
}

/* One of the chunks: packed size, plain size, an LZ4 block. They come after two messages with their sizes. */
static bool choose_chunk(struct report *report, unsigned seed, struct gt_str *block, uint64_t *plain) {
    struct gt_proto raw = gt_proto_of(report->raw);
    uint64_t packed, size, found = 0;
    for (int i = 0; i < 2; i++) {
        if (!gt_proto_varint(&raw, &size) || size > (size_t)(raw.end - raw.p))
            return false;
        raw.p += size;
    }
    for (const uint8_t *at = raw.p; gt_proto_varint(&raw, &packed) && gt_proto_varint(&raw, &size); at = raw.p) {
        if (packed > (size_t)(raw.end - raw.p) || size > CONTENT_MAX || packed == 0)
            break;
        if (seed % ++found == 0) { /* each with the same chance, roughly */
            *block = (struct gt_str){(const char *)raw.p, (size_t)packed};
            *plain = size;
            report->chunk = (size_t)(at - (const uint8_t *)report->raw.ptr);
            report->old_end = report->chunk + (size_t)(raw.p - at) + (size_t)packed;
        }
        raw.p += packed;
    }
    return found > 0;
}

/* After its size, the message is the fuzzer's. */
static bool mutate_chunk(struct report *report, unsigned seed) {
    static uint8_t plain[CONTENT_MAX + GT_PROTO_PADDING], message[CONTENT_MAX], packed[LZ4_COMPRESSBOUND(CONTENT_MAX)];
    static uint8_t chunk[LZ4_COMPRESSBOUND(CONTENT_MAX) + 2 * VARINT_MAX];
    struct gt_str block;
    uint64_t size;
    if (!choose_chunk(report, seed, &block, &size))
        return false;
    int got = LZ4_decompress_safe(block.ptr, (char *)plain, (int)block.len, CONTENT_MAX);
    struct gt_proto content = {plain, plain + (got > 0 ? got : 0), false};
    if (got <= 0 || !gt_proto_varint(&content, &size))
        return false;
    size_t bytes = (size_t)(content.end - content.p);
    memcpy(message, content.p, bytes);
    size_t made_bytes = seed % 4 ? fuzz_mutate_proto(message, bytes, sizeof message - VARINT_MAX, seed / 4) : 0;
    bytes = made_bytes ? made_bytes : LLVMFuzzerMutate(message, bytes, sizeof message - VARINT_MAX);
    struct bytes whole = {.data = plain, .capacity = CONTENT_MAX};
    put_varint(&whole, bytes);
    put(&whole, message, bytes);
    int made = LZ4_compress_default((const char *)plain, (char *)packed, (int)whole.size, sizeof packed);
    report->fresh = (struct bytes){.data = chunk, .capacity = sizeof chunk};
    put_varint(&report->fresh, (uint64_t)made);
    put_varint(&report->fresh, whole.size);
    put(&report->fresh, packed, (size_t)made);
    return made > 0;
}

/* Offsets count from after "QDTEXT00"; those after the chunk move with it. */
static void put_offsets(struct bytes *to, const struct report *report, struct gt_str section) {
    static uint8_t padded[4096 + GT_PROTO_PADDING];
    size_t size = section.len < 4096 ? section.len : 4096;
    memcpy(padded, section.ptr, size);
    struct gt_proto fields = {padded, padded + size, false};
    for (struct gt_proto_field field; gt_proto_next(&fields, &field);) {
        if ((field.tag & 7) == 0 && field.value >= report->old_end)
            field.value += report->fresh.size - (report->old_end - report->chunk);
        put_field(to, field.tag, field.value);
        put(to, field.bytes.ptr, field.bytes.len);
    }
}

static void put_section(struct bytes *to, const struct report *report, struct gt_str name, struct gt_str section) {
    if (gt_str_eq(name, GT_STR("Raw Sampling Data"))) {
        put(to, section.ptr, 8 + report->chunk);
        put(to, report->fresh.data, report->fresh.size);
        put(to, section.ptr + 8 + report->old_end, section.len - 8 - report->old_end);
    } else if (gt_str_eq(name, GT_STR("Sampling Data Offsets"))) {
        put_offsets(to, report, section);
    } else {
        put(to, section.ptr, section.len);
    }
}

static size_t mutate_report(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    static uint8_t file[CONTENT_MAX + GT_PROTO_PADDING], table_bytes[65536], entry_bytes[1024];
    if (size > CONTENT_MAX)
        return 0;
    memcpy(file, data, size);
    struct report report = {.file = {(const char *)file, size}};
    struct bytes out = {.data = data, .capacity = max_size},
                 table = {.data = table_bytes, .capacity = sizeof table_bytes};
    if (!find_sections(&report) || !mutate_chunk(&report, seed))
        return 0;
    put(&out, report.head.ptr, report.head.len);
    struct gt_proto entries = gt_proto_of(report.table);
    for (struct gt_proto_field entry; gt_proto_next(&entries, &entry);) {
        struct bytes fresh = {.data = entry_bytes, .capacity = sizeof entry_bytes};
        struct gt_str name = gt_proto_find_bytes(entry.bytes, GT_PROTO_BYTES(1));
        size_t offset = out.size;
        put_section(&out, &report, name, section_of(&report, entry.bytes));
        put_field(&fresh, GT_PROTO_BYTES(1), name.len);
        put(&fresh, name.ptr, name.len);
        put_field(&fresh, GT_PROTO_VARINT(2), offset);
        put_field(&fresh, GT_PROTO_VARINT(3), out.size - offset);
        put_field(&table, GT_PROTO_BYTES(1), fresh.size);
        put(&table, fresh.data, fresh.size);
    }
    uint64_t table_at = htole64(out.size);
    put(&out, table.data, table.size);
    put(&out, &table_at, sizeof table_at);
    put(&out, end_marker, 8);
    if (!out.has_failed && !table.has_failed)
        return out.size;
    memcpy(data, file, size); /* too large now */
    return 0;
}

/* ---- all of them ---- */

static const struct {
    struct gt_str magic;
    size_t (*mutate)(uint8_t *data, size_t size, size_t max_size, unsigned seed); /* 0: it is not what it seems */
} kinds[] = {{GT_STR("\x1f\x8b\x08"), mutate_gzip},
             {GT_STR("\x28\xb5\x2f\xfd"), mutate_zstd},
             {GT_STR("NVIDIA Tegra Profiler Report "), mutate_report}};

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    struct gt_str bytes = {(const char *)data, size};
    bool stays_inside = seed % 8 != 0; /* else the packing itself may be hit */
    for (size_t i = 0; stays_inside && i < sizeof kinds / sizeof *kinds; i++) {
        size_t made = gt_str_starts(bytes, kinds[i].magic) ? kinds[i].mutate(data, size, max_size, seed / 8) : 0;
        if (made)
            return made;
    }
    return stays_inside ? mutate_content(data, size, max_size, seed / 8) : LLVMFuzzerMutate(data, size, max_size);
}
