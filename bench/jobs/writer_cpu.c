/* Events of the host thread: steps, operators, and what PyTorch records of each collective. */
#include "comms.h"
#include "kernels.h"
#include "writer.h"

static void put_host_event(struct writer *writer, const char *category, const char *name, uint64_t external_id,
                           int64_t start_ns, int64_t end_ns, const char *shapes) {
    begin_complete(writer, category, name, writer->pid, writer->pid, start_ns, end_ns);
    text_member(writer->text, "\"External id\": ", external_id);
    text_put(writer->text, ",\"Record function id\": 0");
    text_put(writer->text, shapes);
    text_member(writer->text, ", \"Ev Idx\": ", writer->event_index++);
    end_args(writer);
}

static void put_operators(struct writer *writer, const struct event *event, const char *outer, const char *name) {
    static const char shapes[] = ", \"Concrete Inputs\": [\"\", \"\"], \"Input type\": [\"c10::BFloat16\", "
                                 "\"c10::BFloat16\"], \"Input Strides\": [[1024, 1], [4096, 1]], \"Input Dims\": "
                                 "[[2048, 1024], [1024, 4096]]";
    int64_t inset_ns = outer ? 300 : 0;
    if (outer)
        put_host_event(writer, "cpu_op", outer, event->external_id - 1, event->op_start_ns, event->op_end_ns, shapes);
    put_host_event(writer, "cpu_op", name, event->external_id, event->op_start_ns + inset_ns,
                   event->op_end_ns - inset_ns, shapes);
}

static void put_comm_operators(struct writer *writer, const struct event *event) {
    struct comms_names names = comms_names_of(writer->job, event);
    int64_t start_ns = event->op_start_ns, end_ns = event->op_end_ns;
    put_host_event(writer, "cpu_op", names.operator_name, event->external_id - 2, start_ns, end_ns, "");
    begin_complete(writer, "cpu_op", "record_param_comms", writer->pid, writer->pid, start_ns + 200, end_ns - 200);
    text_member(writer->text, "\"External id\": ", event->external_id - 1);
    text_put(writer->text, ",\"Record function id\": 0");
    comms_put_fields(writer->text, writer->job, event);
    comms_put_host_fields(writer->text, writer->job, event);
    text_member(writer->text, ", \"Ev Idx\": ", writer->event_index++);
    end_args(writer);
    put_host_event(writer, "user_annotation", names.annotation, event->external_id, start_ns + 400, end_ns - 400, "");
}

static void put_wait(struct writer *writer, const struct event *event) {
    static const char fields[] =
        ", \"Collective name\": \"wait\", \"Process Group Description\": \"dp\", \"dtype\": \"Byte\", \"Out msg "
        "nelems\": 0, \"In msg nelems\": 0, \"Group size\": 1, \"Process Group Ranks\": \"[]\", \"In split size\": "
        "\"[]\", \"Out split size\": \"[]\"";
    put_host_event(writer, "cpu_op", "record_param_comms", event->external_id, event->op_start_ns, event->op_end_ns,
                   fields);
}

/* The range of a step, if the profiler saw both ends. */
static void put_step(struct writer *writer, const struct lane *lane, const struct event *event) {
    const struct job *job = writer->job;
    const struct step_times *times = &job->step_times[lane->rank * job->options.steps + event->step];
    char name[32];
    if (times->end_ns > writer->window.end_ns)
        return;
    snprintf(name, sizeof name, "ProfilerStep#%u", event->step + 1);
    put_host_event(writer, "user_annotation", name, event->external_id, times->begin_ns, times->end_ns, "");
}

void writer_end_phase(struct writer *writer, const struct event *event) {
    if (writer->is_phase_open && event->op_start_ns <= writer->window.end_ns)
        put_host_event(writer, "user_annotation", writer->phase.op->phase, writer->phase.external_id,
                       writer->phase.op_start_ns, event->op_start_ns, "");
    writer->is_phase_open = false;
}

void writer_put_cpu(struct writer *writer, const struct lane *lane, const struct event *event) {
    const struct kernel_row *kernel = &kernel_rows[event->op->kernel];
    switch (event->op->type) {
    case OP_STEP_BEGIN:
        put_step(writer, lane, event);
        break;
    case OP_PHASE_BEGIN:
        writer->phase = *event;
        writer->is_phase_open = true;
        break;
    case OP_HOST:
        put_host_event(writer, "user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                       event->external_id, event->op_start_ns, event->op_end_ns, "");
        break;
    case OP_COPY_IN:
        put_operators(writer, event, "aten::to", "aten::copy_");
        break;
    case OP_COPY_OUT:
        put_operators(writer, event, "aten::item", "aten::_local_scalar_dense");
        break;
    case OP_KERNEL:
    case OP_EXTRA:
    case OP_EPISODE:
        if (!event->is_in_graph)
            put_operators(writer, event, kernel->outer_operator, kernel->operator_name);
        break;
    case OP_COMM:
        if (!event->is_in_graph)
            put_comm_operators(writer, event);
        break;
    case OP_WAIT:
        put_wait(writer, event);
        break;
    case OP_STEP_END:
    case OP_PHASE_END:
    case OP_SYNC:
    case OP_GRAPH_BEGIN:
    case OP_GRAPH_END:
        break;
    }
}
