/* One rank's trace as the PyTorch profiler writes it: CPU events first, then calls and GPU work. */
#include <inttypes.h>
#include <stdlib.h>

#include "comms.h"
#include "writer.h"

static const char *const base_time = "1790857026000000000";

static void put_event(void *context, const struct lane *lane, const struct event *event) {
    struct writer *writer = context;
    if (event->op->type == OP_PHASE_END && writer->pass == PASS_CPU)
        writer_end_phase(writer, event); /* also at the very end of the window */
    if (!clock_records(writer->window, event))
        return;
    if (writer->pass == PASS_CPU)
        writer_put_cpu(writer, lane, event);
    else
        writer_put_gpu(writer, lane, event);
}

static void put_devices(struct text *text, const struct options *options) {
    uint32_t count = options->has_shared_gpu ? 1 : options->gpus_per_host;
    text_put(text, "    \"deviceProperties\": [");
    for (uint32_t i = 0; i < count; i++) {
        text_member(text, i ? ",\n    {\n      \"id\": " : "\n    {\n      \"id\": ", i);
        text_put(text, ", \"name\": \"NVIDIA H200\", \"totalGlobalMem\": 150109880320,\n      \"computeMajor\": 9, "
                       "\"computeMinor\": 0,\n      \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": "
                       "2048,\n      \"regsPerBlock\": 65536, \"warpSize\": 32,\n      \"sharedMemPerBlock\": 49152, "
                       "\"numSms\": 132\n    , \"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": 232448, "
                       "\"sharedMemPerMultiprocessor\": 233472\n    }");
    }
    text_put(text, "\n    ],\n");
}

static void put_header(struct writer *writer, uint32_t rank) {
    const struct options *options = &writer->job->options;
    struct text *text = writer->text;
    char words[128];
    text_put(text, "\n  {\n    \"schemaVersion\": 1,\n");
    put_devices(text, options);
    snprintf(words, sizeof words, "      \"trace_id\": \"%016" PRIX64 "%016" PRIX64 "\",\n",
             draw_key(options->seed, 16, 0, rank), draw_key(options->seed, 17, 0, rank));
    text_put(text, words);
    snprintf(words, sizeof words, "      \"host_name\": \"node%03u\",\n",
             options->has_shared_gpu ? 0 : rank / options->gpus_per_host);
    text_put(text, words);
    text_put(text, "      \"record_shapes\": 1,\n");
    comms_put_distributed_info(text, writer->job, rank);
    text_put(text, "      \"cuda_driver_version\": 13000,\n      \"cuda_runtime_version\": 13000,\n      "
                   "\"cupti_version\": 130001,\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": ");
    text_put(text, base_time);
    text_put(text, ",\n  \"traceEvents\": [");
}

static void put_label(struct writer *writer, const char *kind, const char *value, uint64_t pid, uint64_t tid) {
    struct text *text = writer->text;
    begin_event(writer);
    text_put(text, "\"name\": \"");
    text_put(text, kind);
    text_put(text, "\", \"ph\": \"M\", \"ts\": ");
    text_micros(text, (uint64_t)(CLOCK_BASE_NS + clock_read(writer->clock, writer->window.begin_ns)));
    text_member(text, ", \"pid\": ", pid);
    text_member(text, ", \"tid\": ", tid);
    text_put(text, ",\n    \"args\": {\n      ");
    text_put(text, value);
    end_args(writer);
}

static void put_footer(struct writer *writer, uint32_t rank) {
    struct text *text = writer->text;
    char words[96];
    put_label(writer, "process_name", "\"name\": \"python3\"", writer->pid, 0);
    put_label(writer, "process_labels", "\"labels\": \"CPU\"", writer->pid, 0);
    snprintf(words, sizeof words, "\"labels\": \"GPU %" PRIu64 "\"", writer->device);
    put_label(writer, "process_name", "\"name\": \"python3\"", writer->device, 0);
    put_label(writer, "process_labels", words, writer->device, 0);
    for (uint32_t i = 0; i < STREAMS; i++) {
        snprintf(words, sizeof words, "\"name\": \"stream %u \"", stream_ids[i]);
        put_label(writer, "thread_name", words, writer->device, stream_ids[i]);
    }
    snprintf(words, sizeof words, "\"name\": \"thread %" PRIu64 " (python3)\"", writer->pid);
    put_label(writer, "thread_name", words, writer->pid, writer->pid);
    text_put(text, "\n  ],\n  \"traceName\": \"rank");
    text_number(text, rank);
    text_put(text, ".json\"\n}\n");
}

static void put_trace(struct job *job, uint32_t rank, struct text *text) {
    const struct options *options = &job->options;
    struct writer writer = {.job = job,
                            .text = text,
                            .clock = clock_of(options, rank),
                            .window = clock_window(job, rank),
                            .pid = 2000 + rank * 3,
                            .device = options->has_shared_gpu ? 0 : rank % options->gpus_per_host};
    put_header(&writer, rank);
    for (enum pass pass = PASS_CPU; pass <= PASS_GPU; pass++) {
        writer.pass = pass;
        lane_walk(job, rank, put_event, &writer);
    }
    put_footer(&writer, rank);
    text_flush(text);
}

/* How large the trace would be. */
uint64_t kineto_rehearse(struct job *job, uint32_t rank) {
    struct text *text = draw_memory(1, sizeof *text);
    put_trace(job, rank, text);
    uint64_t bytes = text->bytes;
    free(text);
    return bytes;
}

/* The bytes of text that went into the file, before compression. */
uint64_t kineto_write(struct job *job, uint32_t rank) {
    struct text *text = draw_memory(1, sizeof *text);
    bool is_packed = job->options.has_gzip;
    char path[4096];
    snprintf(path, sizeof path, "%s/rank%04u.json%s", job->options.folder, rank, is_packed ? ".gz" : "");
    if (is_packed)
        text->packed = gzopen(path, "wb1");
    else
        text->file = fopen(path, "wb");
    if (!text->packed && !text->file)
        fail("cannot create '%s'", path);
    put_trace(job, rank, text);
    bool is_closed = is_packed ? gzclose(text->packed) == Z_OK : fclose(text->file) == 0;
    if (text->has_failed || !is_closed)
        fail("cannot write '%s'", path);
    uint64_t bytes = text->bytes;
    free(text);
    return bytes;
}
