/* Calls of the CUDA API and the GPU work that they start. */
#include "comms.h"
#include "kernels.h"
#include "writer.h"

struct call {
    const char *category, *name;
    uint32_t cbid;
    bool has_flow_end; /* calls that start nothing have a flow that ends in them */
};

static void put_call(struct writer *writer, struct call call, uint64_t external_id, uint64_t correlation,
                     int64_t start_ns, int64_t end_ns) {
    struct text *text = writer->text;
    begin_complete(writer, call.category, call.name, writer->pid, writer->pid, start_ns, end_ns);
    text_member(text, "\"External id\": ", external_id);
    text_member(text, ",      \"cbid\": ", call.cbid);
    text_member(text, ", \"correlation\": ", correlation);
    end_args(writer);
    put_flow(writer, !call.has_flow_end, correlation, writer->pid, writer->pid, start_ns);
}

static void put_launch(struct writer *writer, struct call call, const struct event *event) {
    uint64_t external_id = event->external_id - (event->op->type == OP_COMM);
    put_call(writer, call, external_id, event->correlation, event->call_start_ns, event->call_end_ns);
}

static void put_gpu_begin(struct writer *writer, const char *category, const char *name, const struct event *event,
                          const char *queued) {
    struct text *text = writer->text;
    uint32_t stream = stream_ids[event->op->stream];
    begin_complete(writer, category, name, writer->device, stream, event->start_ns, event->end_ns);
    if (!event->is_in_graph) {
        text_member(text, "\"External id\": ", event->external_id - (event->op->type == OP_COMM));
        text_put(text, ",      ");
    }
    text_put(text, queued);
    text_member(text, "\"device\": ", writer->device);
    text_put(text, ", \"context\": 1");
    text_member(text, ",      \"stream\": ", stream);
    text_member(text, ", \"correlation\": ", event->correlation);
    if (event->is_in_graph) {
        text_member(text, ",      \"graph id\": ", event->graph_id);
        text_member(text, ", \"graph node id\": ", event->graph_node);
    }
    text_put(text, ",      ");
}

static void put_gpu_end(struct writer *writer, const struct event *event) {
    end_args(writer);
    put_flow(writer, false, event->correlation, writer->device, stream_ids[event->op->stream], event->start_ns);
}

static void put_kernel(struct writer *writer, const struct lane *lane, const struct event *event) {
    const struct kernel_row *kernel = &kernel_rows[event->op->kernel];
    struct text *text = writer->text;
    uint64_t width = kernel->grid[0];
    if (event->op->is_expert)
        width = comms_scale_grid(writer->job, lane->rank, width);
    put_gpu_begin(writer, "kernel", kernel->name, event, "\"queued\": 0, ");
    text_put(text, kernel->fixed);
    text_member(text, ",      \"grid\": [", width);
    text_member(text, ", ", kernel->grid[1]);
    text_member(text, ", ", kernel->grid[2]);
    text_member(text, "],      \"block\": [", kernel->block);
    text_put(text, ", 1, 1],      \"est. achieved occupancy %\": 0");
    put_gpu_end(writer, event);
    if (!event->is_in_graph)
        put_launch(writer, (struct call){"cuda_runtime", "cudaLaunchKernel", 211, false}, event);
}

static void put_copy(struct writer *writer, const struct event *event) {
    bool is_in = event->op->type == OP_COPY_IN;
    put_gpu_begin(writer, "gpu_memcpy", is_in ? "Memcpy HtoD (Pinned -> Device)" : "Memcpy DtoH (Device -> Pinned)",
                  event, "");
    text_put(writer->text, is_in ? "\"bytes\": 16384, \"memory bandwidth (GB/s)\": 4.096"
                                 : "\"bytes\": 4, \"memory bandwidth (GB/s)\": 0.001");
    put_gpu_end(writer, event);
    put_launch(writer, (struct call){"cuda_runtime", "cudaMemcpyAsync", 41, false}, event);
}

/* A collective on a stream of its own waits for compute, and compute waits for it unless it is asynchronous. */
static void put_stream_order(struct writer *writer, const struct event *event, bool is_before) {
    static const struct call record = {"cuda_runtime", "cudaEventRecord", 135, true};
    static const struct call wait = {"cuda_runtime", "cudaStreamWaitEvent", 147, true};
    if (event->is_in_graph || event->op->stream == STREAM_COMPUTE || (!is_before && event->op->is_async))
        return;
    int64_t at_ns = is_before ? event->op_start_ns + 500 : event->call_end_ns + 50;
    uint64_t correlation = event->correlation - (is_before ? 4 : 2);
    put_call(writer, record, event->external_id - 1, correlation, at_ns, at_ns + 500);
    put_call(writer, wait, event->external_id - 1, correlation + 1, at_ns + 600, at_ns + 1100);
}

static void put_collective(struct writer *writer, const struct event *event) {
    struct text *text = writer->text;
    put_stream_order(writer, event, true);
    put_gpu_begin(writer, "kernel", comms_names_of(writer->job, event).kernel, event, "\"queued\": 0, ");
    text_put(text, "\"registers per thread\": 96,      \"shared memory\": 103808,      \"blocks per SM\": 0.015152,   "
                   "   \"warps per SM\": 0.136364,      \"grid\": [2, 1, 1],      \"block\": [288, 1, 1],      "
                   "\"est. achieved occupancy %\": 0");
    if (!event->is_in_graph)
        comms_put_fields(text, writer->job, event);
    put_gpu_end(writer, event);
    if (!event->is_in_graph)
        put_launch(writer, (struct call){"cuda_driver", "cuLaunchKernelEx", 652, false}, event);
    put_stream_order(writer, event, false);
}

void writer_put_gpu(struct writer *writer, const struct lane *lane, const struct event *event) {
    switch (event->op->type) {
    case OP_KERNEL:
    case OP_EXTRA:
    case OP_EPISODE:
        put_kernel(writer, lane, event);
        break;
    case OP_COPY_IN:
    case OP_COPY_OUT:
        put_copy(writer, event);
        break;
    case OP_COMM:
        put_collective(writer, event);
        break;
    case OP_WAIT:
        put_launch(writer, (struct call){"cuda_runtime", "cudaStreamWaitEvent", 147, true}, event);
        break;
    case OP_SYNC:
        put_launch(writer, (struct call){"cuda_runtime", "cudaStreamSynchronize", 131, true}, event);
        break;
    case OP_GRAPH_BEGIN:
        put_launch(writer, (struct call){"cuda_runtime", "cudaGraphLaunch", 311, false}, event);
        break;
    case OP_STEP_BEGIN:
    case OP_STEP_END:
    case OP_PHASE_BEGIN:
    case OP_PHASE_END:
    case OP_HOST:
    case OP_GRAPH_END:
        break;
    }
}
