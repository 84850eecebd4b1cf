/* What both ways to divide a PyTorch trace have in common: builders and workers come and go, and the reader has the
   last word. */
#include "decode/torch/torch_decoding.h"

#include "base/mem.h"
#include "base/threads.h"
#include "decode/torch/torch_json.h"

static enum gt_status init_builder(struct gt_torch_decoding *decoding, size_t index, struct gt_error *err) {
    uint32_t asked = decoding->options->facts, facts = gt_store_facts_closed(asked ? asked : GT_FACTS_USUAL);
    struct gt_builder *builder = &decoding->builders[index];
    if (gt_builder_init(builder, GT_TORCH_JSON_KEY, err) != GT_OK)
        return GT_ERR;
    gt_torch_sink_init(&decoding->sinks[index], builder, decoding->sizes->mode, facts);
    return GT_OK;
}

/* The workers' builders are for their threads to make. */
static enum gt_status make_builders(struct gt_torch_decoding *decoding, size_t count, struct gt_error *err) {
    decoding->builders = gt_mem_array(count, sizeof *decoding->builders);
    decoding->sinks = gt_mem_array(count, sizeof *decoding->sinks);
    if (!decoding->builders || !decoding->sinks)
        return gt_fail_memory(err);
    decoding->count = count;
    return init_builder(decoding, count - 1, err);
}

enum gt_status gt_torch_decoding_begin(struct gt_torch_decoding *decoding, size_t workers, struct gt_error *err) {
    if (make_builders(decoding, workers + 1, err) != GT_OK ||
        gt_torch_reader_init(&decoding->reader, decoding->source, gt_torch_decoding_reader_sink(decoding),
                             decoding->sizes, decoding->options, err) != GT_OK)
        return GT_ERR;
    if (decoding->tape)
        gt_json_window_use_tape(&decoding->reader.window, decoding->tape, workers);
    gt_builder_begin(gt_torch_decoding_reader_builder(decoding), 0);
    return GT_OK;
}

void gt_torch_decoding_release(struct gt_torch_decoding *decoding) {
    for (size_t i = 0; decoding->workers && i + 1 < decoding->count; i++)
        gt_json_window_release(&decoding->workers[i].window);
    for (size_t i = 0; i < decoding->count; i++) {
        gt_torch_sink_release(&decoding->sinks[i]);
        gt_builder_release(&decoding->builders[i]);
    }
    gt_torch_reader_release(&decoding->reader);
    gt_mem_free(decoding->workers);
    gt_mem_free(decoding->chunks);
    gt_mem_free(decoding->sinks);
    gt_mem_free(decoding->builders);
}

struct run {
    struct gt_torch_decoding *decoding;
    void (*task)(void *context, size_t worker);
    void *context;
};

static enum gt_status init_worker(struct gt_torch_decoding *decoding, size_t index) {
    struct gt_torch_worker *worker = &decoding->workers[index];
    const struct gt_json_sizes sizes = {decoding->sizes->window_bytes, decoding->sizes->max_bytes,
                                        decoding->sizes->map_bytes};
    worker->sink = &decoding->sinks[index];
    if (init_builder(decoding, index, &worker->error) != GT_OK ||
        gt_json_window_init(&worker->window, decoding->source, &sizes, index == 0 ? decoding->options : NULL,
                            &worker->error) != GT_OK)
        return GT_ERR;
    if (decoding->tape)
        gt_json_window_use_tape(&worker->window, decoding->tape, index);
    return GT_OK;
}

static void run_worker(void *context, size_t index) {
    const struct run *run = context;
    struct gt_torch_worker *worker = &run->decoding->workers[index];
    worker->status = init_worker(run->decoding, index);
    if (worker->status == GT_OK)
        run->task(run->context, index);
}

enum gt_status gt_torch_decoding_run(struct gt_torch_decoding *decoding, void (*task)(void *context, size_t worker),
                                     void *context, struct gt_error *err) {
    enum gt_status status = GT_OK;
    size_t count = decoding->count - 1;
    struct run run = {decoding, task, context};
    decoding->workers = gt_mem_array(count, sizeof *decoding->workers);
    if (!decoding->workers)
        return gt_fail_memory(err);
    gt_threads_run(count, run_worker, &run);
    for (size_t i = 0; i < count && status == GT_OK; i++) {
        status = decoding->workers[i].status;
        if (status != GT_OK && err)
            *err = decoding->workers[i].error;
    }
    return status;
}

/* A builder that memory ran out on may have no segment for it. */
bool gt_torch_decoding_is_forgotten(const struct gt_torch_decoding *decoding, const struct gt_torch_chunk *chunk) {
    const struct gt_builder *builder = &decoding->builders[chunk->worker];
    return chunk->segment >= builder->segment_count || builder->segments[chunk->segment].forgotten;
}

enum gt_status gt_torch_decoding_read_rest(struct gt_torch_decoding *decoding, struct gt_error *err) {
    gt_builder_begin(gt_torch_decoding_reader_builder(decoding), decoding->chunk_count + 1);
    enum gt_status status = gt_torch_reader_run(&decoding->reader, UINT64_MAX, err);
    if (status == GT_OK)
        gt_json_window_drain(&decoding->reader.window);
    return status;
}

/* Events, or a place for them. */
static bool is_trace(const struct gt_torch_decoding *decoding) {
    const struct gt_torch_reader *reader = &decoding->reader;
    return gt_torch_decoding_reader_sink(decoding)->event_count > 0 || reader->document.has_trace_events ||
           (reader->document.has_bare_array && reader->region.element_count == 0 && !reader->region.is_cut);
}

static enum gt_status fail_no_trace(const struct gt_source *source, struct gt_error *err) {
    const char *damage = gt_source_damage(source);
    if (damage)
        return gt_fail(err, "'%s': no readable events: %s", gt_source_path(source), damage);
    return gt_fail(err, "'%s': JSON, but not a trace: no \"traceEvents\"; see 'gputime list inputs'",
                   gt_source_path(source));
}

enum gt_status gt_torch_decoding_seal(struct gt_torch_decoding *decoding, struct gt_store **out, struct gt_error *err) {
    if (!is_trace(decoding))
        return fail_no_trace(decoding->source, err);
    size_t first = decoding->workers ? 0 : decoding->count - 1;
    gt_torch_reader_finish(&decoding->reader);
    gt_torch_sink_name_tracks(decoding->sinks + first, decoding->count - first, decoding->chunk_count + 2);
    return gt_store_seal(decoding->builders + first, decoding->count - first, out, err);
}
