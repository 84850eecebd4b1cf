/* A trace while it is written: the events of one rank, on its own clock. */
#ifndef BENCH_JOBS_WRITER_H
#define BENCH_JOBS_WRITER_H

#include "job.h"
#include "text.h"

/* On one clock all ranks begin here. */
static const int64_t CLOCK_BASE_NS = 3901628417000000;

static const uint32_t stream_ids[STREAMS] = {7, 16, 20, 24};

enum pass { PASS_CPU, PASS_GPU };

struct writer {
    struct job *job;
    struct text *text;
    enum pass pass;
    struct clock clock;
    struct step_times window;
    uint64_t pid, device, events;
    struct event phase; /* the open one */
    bool is_phase_open;
    uint32_t event_index;
};

static inline void put_times(struct writer *writer, int64_t start_ns, int64_t end_ns) {
    int64_t start = clock_read(writer->clock, start_ns), end = clock_read(writer->clock, end_ns);
    text_put(writer->text, ",\n    \"ts\": ");
    text_micros(writer->text, (uint64_t)(CLOCK_BASE_NS + start));
    text_put(writer->text, ", \"dur\": ");
    text_micros(writer->text, (uint64_t)(end - start));
}

static inline void begin_event(struct writer *writer) {
    text_put(writer->text, writer->events++ ? ",\n  {\n    " : "\n  {\n    ");
}

/* A complete event up to its args, which are begun. */
static inline void begin_complete(struct writer *writer, const char *category, const char *name, uint64_t pid,
                                  uint64_t tid, int64_t start_ns, int64_t end_ns) {
    struct text *text = writer->text;
    begin_event(writer);
    text_put(text, "\"ph\": \"X\", \"cat\": \"");
    text_put(text, category);
    text_put(text, "\", \"name\": \"");
    text_put(text, name);
    text_member(text, "\", \"pid\": ", pid);
    text_member(text, ", \"tid\": ", tid);
    put_times(writer, start_ns, end_ns);
    text_put(text, ",\n    \"args\": {\n      ");
}

static inline void end_args(struct writer *writer) {
    text_put(writer->text, "\n    }\n  }");
}

static inline void put_flow(struct writer *writer, bool is_begin, uint64_t id, uint64_t pid, uint64_t tid, int64_t ns) {
    struct text *text = writer->text;
    begin_event(writer);
    text_put(text, is_begin ? "\"ph\": \"s\"" : "\"ph\": \"f\"");
    text_member(text, ", \"id\": ", id);
    text_member(text, ", \"pid\": ", pid);
    text_member(text, ", \"tid\": ", tid);
    text_put(text, ", \"ts\": ");
    text_micros(text, (uint64_t)(CLOCK_BASE_NS + clock_read(writer->clock, ns)));
    text_put(text, ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"");
    text_put(text, is_begin ? "\n  }" : ", \"bp\": \"e\"\n  }");
}

/* What the host did at this event, and what calls and the GPU did. */
void writer_put_cpu(struct writer *writer, const struct lane *lane, const struct event *event);
void writer_put_gpu(struct writer *writer, const struct lane *lane, const struct event *event);
void writer_end_phase(struct writer *writer, const struct event *event);

#endif
