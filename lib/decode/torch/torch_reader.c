/* The serial reader: bytes of one input come in, rows and issues of one sink come out. */
#include "decode/torch/torch_reader.h"

#include <string.h>

#include "events/builder.h"

enum gt_status gt_torch_reader_init(struct gt_torch_reader *reader, struct gt_source *source,
                                    struct gt_torch_sink *sink, const struct gt_torch_sizes *sizes,
                                    const struct gt_decode_options *options, struct gt_error *err) {
    memset(reader, 0, sizeof *reader);
    reader->sink = sink;
    gt_torch_document_init(&reader->document, sink->builder, sink->facts);
    gt_torch_region_init(&reader->region, sink);
    const struct gt_json_sizes window = {sizes->window_bytes, sizes->max_bytes, sizes->map_bytes};
    return gt_json_window_init(&reader->window, source, &window, options, err);
}

void gt_torch_reader_release(struct gt_torch_reader *reader) {
    gt_json_window_release(&reader->window);
}

/* One run of whichever part is being read; STOP_LIMIT only from events. */
static enum gt_torch_stop step(struct gt_torch_reader *reader, uint64_t limit) {
    struct gt_json_bytes *bytes = &reader->window.bytes;
    enum gt_torch_stop stop;
    if (reader->is_in_array) {
        reader->region.is_outside = reader->document.array_count == 0;
        stop = gt_torch_region_run(&reader->region, bytes, limit);
        reader->document.looks_for_events = reader->region.furthest > 0;
        if (reader->region.has_opened)
            gt_torch_document_open(&reader->document);
        reader->region.has_opened = false;
    } else {
        stop = gt_torch_document_run(&reader->document, bytes);
    }
    if (stop == GT_TORCH_STOP_END)
        reader->is_in_array = !reader->is_in_array;
    return stop;
}

static enum gt_status fill(struct gt_torch_reader *reader, uint64_t limit, struct gt_error *err) {
    if (reader->window.bytes.is_all) {
        reader->has_ended = true;
        return GT_OK;
    }
    return reader->is_in_array ? gt_torch_region_go_on(&reader->region, &reader->window, limit, err)
                               : gt_json_window_fill(&reader->window, err);
}

enum gt_status gt_torch_reader_find_array(struct gt_torch_reader *reader, struct gt_error *err) {
    while (!reader->has_ended && !reader->is_in_array)
        if (step(reader, UINT64_MAX) == GT_TORCH_STOP_MORE && fill(reader, UINT64_MAX, err) != GT_OK)
            return GT_ERR;
    return GT_OK;
}

enum gt_status gt_torch_reader_run(struct gt_torch_reader *reader, uint64_t limit, struct gt_error *err) {
    while (!reader->has_ended) {
        enum gt_torch_stop stop = step(reader, limit);
        if (stop == GT_TORCH_STOP_LIMIT)
            break;
        if (stop == GT_TORCH_STOP_MORE && fill(reader, limit, err) != GT_OK)
            return GT_ERR;
    }
    return GT_OK;
}

uint64_t gt_torch_reader_offset(const struct gt_torch_reader *reader) {
    return reader->window.bytes.offset;
}

bool gt_torch_reader_is_at_element(const struct gt_torch_reader *reader) {
    return reader->is_in_array && !reader->has_ended && !reader->region.is_searching &&
           reader->window.bytes.offset >= reader->region.furthest;
}

void gt_torch_reader_skip_to(struct gt_torch_reader *reader, uint64_t offset, bool is_in_array) {
    gt_json_window_seek(&reader->window, offset);
    reader->is_in_array = is_in_array;
}

void gt_torch_reader_finish(struct gt_torch_reader *reader) {
    struct gt_builder *builder = reader->sink->builder;
    uint64_t offset = gt_torch_reader_offset(reader);
    if (gt_source_damage(reader->window.source))
        gt_builder_issue(builder, GT_ISSUE_PACKING_DAMAGED, 1, offset);
    else if (reader->region.is_cut)
        gt_builder_issue(builder, GT_ISSUE_INPUT_CUT, 1, reader->region.cut_offset);
    else if (reader->document.depth > 0) /* a bare array may lack its bracket */
        gt_builder_issue(builder, GT_ISSUE_INPUT_CUT, 1, offset);
}
