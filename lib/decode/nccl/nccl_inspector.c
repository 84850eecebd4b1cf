/* Reads a log of NCCL Inspector line by line. A line that is no whole object is damaged and costs itself alone: logs of
   processes that were killed end in the middle, and others may go on after that. Objects over several lines, as people
   print them, are read as well. */
#include "decode/nccl/nccl_inspector.h"

#include <string.h>

#include "base/mem.h"
#include "decode/json/json_scan.h"
#include "decode/json/json_window.h"
#include "decode/nccl/nccl_record.h"

enum { WINDOW_BYTES = 1 << 20, MAX_RECORD_BYTES = 16 << 20, FIRST_BYTES = 64 };

/* What may be looked through in vain for the ends of objects of several lines: so many times what was read, and as much
   as a window at the beginning. More is no log, and would take time that grows with the square of its size. */
enum { MOST_VAIN_LOOKS = 4 };

struct decoding {
    struct gt_builder builder;
    struct gt_nccl_record_sink sink;
    struct gt_json_window window;
    uint64_t vain_bytes; /* looked through for ends that were not there */
};

/* ---- sniffing ---- */

/* Whether the object at p begins with a member that records have. */
static bool is_record_start(const char *p, const char *end) {
    static const struct gt_str keys[] = {GT_STR("\"header\""), GT_STR("\"metadata\""), GT_STR("\"coll_perf\""),
                                         GT_STR("\"p2p_perf\"")};
    p = gt_json_scan_skip_space(p + 1, end);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (gt_str_starts((struct gt_str){p, (size_t)(end - p)}, keys[i]))
            return true;
    return false;
}

/* Of the first lines one may be cut, or something else altogether. */
int gt_nccl_inspector_sniff(struct gt_str head, const char *path) {
    (void)path;
    const char *p = head.ptr, *end = p + head.len;
    if (memchr(head.ptr, '\0', head.len < FIRST_BYTES ? head.len : FIRST_BYTES)) /* looked through for nothing */
        return 0;
    bool has_records = gt_str_contains(head, GT_STR("\"coll_perf\"")) || gt_str_contains(head, GT_STR("\"p2p_perf\""));
    if (!has_records && !gt_str_contains(head, GT_STR("\"inspector_output_format_version\"")))
        return 0;
    for (bool is_first = true; p < end; is_first = false) {
        const char *line_end = memchr(p, '\n', (size_t)(end - p));
        p = gt_json_scan_skip_space(p, end);
        if (p < end && *p == '[')
            p = gt_json_scan_skip_space(p + 1, end);
        if (p < end && *p == '{' && is_record_start(p, end))
            return is_first ? 97 : 70;
        if (!line_end || line_end < p)
            line_end = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
        if (!line_end)
            return 0;
        p = line_end + 1;
    }
    return 0;
}

/* ---- lines ---- */

static bool is_blank(struct gt_str text) {
    const char *end = text.ptr + text.len;
    return gt_json_scan_skip_space(text.ptr, end) == end;
}

/* Passes over what is between records: white space, and what makes a list of them. */
static void skip_between(struct gt_json_bytes *bytes) {
    const char *p = bytes->p;
    while (p < bytes->end && (gt_json_scan_is_space(*p) || *p == ',' || *p == '[' || *p == ']'))
        p++;
    gt_json_window_move(bytes, p);
}

/* Where the object at the current place ends. NULL: it is cut or damaged. *needs_more: its line goes on. */
static const char *find_end(struct decoding *decoding, const char *line_end, bool *needs_more) {
    const struct gt_json_bytes *bytes = &decoding->window.bytes;
    const char *p = bytes->p;
    *needs_more = false;
    if (*p != '{')
        return NULL;
    if (gt_json_scan_skip_nested(&p, line_end) == GT_JSON_OK)
        return p;
    if (!is_blank((struct gt_str){bytes->p + 1, (size_t)(line_end - bytes->p - 1)}) ||
        decoding->vain_bytes / MOST_VAIN_LOOKS > (uint64_t)bytes->offset + WINDOW_BYTES)
        return NULL;
    p = bytes->p; /* a brace alone in its line */
    enum gt_json_status status = gt_json_scan_skip_nested(&p, bytes->end);
    *needs_more = status == GT_JSON_MORE && !gt_json_window_is_final(bytes, bytes->p);
    if (status == GT_JSON_OK)
        return p;
    decoding->vain_bytes += (uint64_t)(bytes->end - bytes->p);
    return NULL;
}

/* A line that holds no record, or what is left of one. */
static void count_other(struct decoding *decoding, bool is_last) {
    struct gt_json_bytes *bytes = &decoding->window.bytes;
    if (*bytes->p != '{') /* what the program printed itself */
        gt_builder_skip(&decoding->builder);
    else
        gt_builder_issue_of(&decoding->builder, is_last ? GT_ISSUE_INPUT_CUT : GT_ISSUE_EVENT_DAMAGED,
                            is_last ? 0 : GT_FACT_COMM_LOGS, 1, bytes->offset);
}

/* Reads what begins at the current place and moves after it. false: more bytes are needed. */
static bool read_next(struct decoding *decoding) {
    struct gt_json_bytes *bytes = &decoding->window.bytes;
    const char *line_end = memchr(bytes->p, '\n', (size_t)(bytes->end - bytes->p));
    bool needs_more, is_final = gt_json_window_is_final(bytes, bytes->p);
    if (!line_end && !is_final)
        return false;
    bool is_last = !line_end && bytes->is_all;
    line_end = line_end ? line_end : bytes->end;
    const char *after = find_end(decoding, line_end, &needs_more);
    if (needs_more)
        return false;
    if (!after)
        count_other(decoding, is_last);
    else if (!gt_nccl_record_take(&decoding->sink, (struct gt_str){bytes->p, (size_t)(after - bytes->p)},
                                  bytes->offset))
        gt_builder_skip(&decoding->builder);
    gt_json_window_move(bytes, after ? after : line_end);
    return true;
}

static enum gt_status read_all(struct decoding *decoding, struct gt_error *err) {
    struct gt_json_bytes *bytes = &decoding->window.bytes;
    for (;;) {
        skip_between(bytes);
        if (bytes->p < bytes->end && read_next(decoding))
            continue;
        if (bytes->is_all)
            return GT_OK;
        if (gt_json_window_fill(&decoding->window, err) != GT_OK)
            return GT_ERR;
    }
}

/* ---- the input ---- */

static enum gt_status finish(struct decoding *decoding, const struct gt_source *source, struct gt_store **out,
                             struct gt_error *err) {
    struct gt_builder *builder = &decoding->builder;
    struct gt_nccl_record_sink *sink = &decoding->sink;
    gt_json_window_drain(&decoding->window);
    if (sink->record_count == 0 && !builder->failed)
        return gt_fail(err, "'%s': JSON, but no record of NCCL Inspector is in it", gt_source_path(source));
    builder->store.meta.producer = gt_builder_string(builder, GT_STR("NCCL Inspector"));
    builder->store.meta.host = sink->has_several_hosts ? GT_STRID_EMPTY : sink->host;
    builder->store.meta.read_rows = sink->record_count;
    return gt_store_seal(builder, 1, out, err);
}

enum gt_status gt_nccl_inspector_decode_sized(struct gt_source *source, const struct gt_decode_options *options,
                                              size_t window_bytes, struct gt_store **out, struct gt_error *err) {
    const struct gt_json_sizes sizes = {window_bytes, MAX_RECORD_BYTES, 0};
    struct decoding *decoding = gt_mem_array(1, sizeof *decoding);
    *out = NULL;
    if (!decoding)
        return gt_fail_memory(err);
    enum gt_status status = gt_builder_init(&decoding->builder, GT_NCCL_INSPECTOR_KEY, err);
    if (status == GT_OK) {
        decoding->sink.builder = &decoding->builder;
        status = gt_json_window_init(&decoding->window, source, &sizes, options, err);
        gt_builder_begin(&decoding->builder, 0);
        if (status == GT_OK)
            status = read_all(decoding, err);
        if (status == GT_OK)
            status = finish(decoding, source, out, err);
        gt_json_window_release(&decoding->window);
        gt_builder_release(&decoding->builder);
    }
    gt_mem_free(decoding);
    return status;
}

enum gt_status gt_nccl_inspector_decode(struct gt_source *const *sources, size_t count,
                                        const struct gt_decode_options *options, struct gt_store **out,
                                        struct gt_error *err) {
    *out = NULL;
    if (count != 1)
        return gt_fail(err, "a log of NCCL Inspector is one file, not %zu", count);
    return gt_nccl_inspector_decode_sized(sources[0], options, WINDOW_BYTES, out, err);
}
