/* Chunks: a part of the input comes in, the events that begin in it go to a sink, and where they began and ended goes
   out. */
#include "decode/torch/torch_chunk.h"

/* Goes to where the first event of the chunk seems to begin. false: none does. */
static bool find_begin(struct gt_torch_worker *worker, const struct gt_torch_chunk *chunk) {
    struct gt_json_window *window = &worker->window;
    uint64_t back = chunk->nominal < GT_TORCH_LOOK_BACK_BYTES ? chunk->nominal : GT_TORCH_LOOK_BACK_BYTES;
    char before = 0;
    gt_json_window_seek(window, chunk->nominal - back);
    for (;;) {
        enum gt_json_status found = gt_torch_region_find_event(&window->bytes, &before, false);
        if (found == GT_JSON_OK && window->bytes.offset >= chunk->nominal)
            return window->bytes.offset < chunk->limit;
        if (found == GT_JSON_OK) {
            before = '{';
            gt_json_window_move(&window->bytes, window->bytes.p + 1);
            continue;
        }
        if (window->bytes.is_all || window->bytes.offset >= chunk->limit)
            return false;
        worker->status = gt_json_window_fill(window, &worker->error);
        if (worker->status != GT_OK)
            return false;
    }
}

void gt_torch_chunk_read(struct gt_torch_worker *worker, struct gt_torch_chunk *chunk, bool is_first) {
    struct gt_json_window *window = &worker->window;
    struct gt_torch_region region;
    gt_torch_region_init(&region, worker->sink);
    region.stops_at_damage = true;
    chunk->begin = chunk->end = GT_TORCH_NOWHERE;
    if (is_first)
        gt_json_window_seek(window, chunk->nominal);
    else if (!find_begin(worker, chunk))
        return;
    uint64_t begin = window->bytes.offset, events_before = worker->sink->event_count;
    enum gt_torch_stop stop;
    chunk->is_spoilt = true;
    while ((stop = gt_torch_region_run(&region, &window->bytes, chunk->limit)) == GT_TORCH_STOP_MORE) {
        if (region.is_damaged)
            return;
        if (window->bytes.is_all)
            break;
        worker->status = gt_torch_region_go_on(&region, window, chunk->limit, &worker->error);
        if (worker->status != GT_OK)
            return;
    }
    chunk->is_spoilt = false;
    chunk->begin = begin;
    chunk->end = window->bytes.offset;
    chunk->ends_array = stop == GT_TORCH_STOP_END;
    chunk->element_count = region.element_count;
    chunk->event_count = worker->sink->event_count - events_before;
}
