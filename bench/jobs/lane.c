/* One rank at work: a host thread launches, streams run in order. A lane stops where it needs the end of a collective
   that is not known yet, and goes on from there. */
#include <assert.h>

#include "job.h"
#include "kernels.h"

enum {
    LOADING_NS = 150000,   /* the data loader, each step */
    PREPARE_NS = 2500,     /* an operator before its launch call, and after it */
    CALL_NS = 3500,        /* a launch call */
    SHORT_CALL_NS = 1200,  /* recording an event, waiting for one on a stream */
    GRAPH_CALL_NS = 25000, /* launching a graph */
    LAUNCH_LATENCY_NS = 1800,
    GAP_NS = 700, /* between kernels of a stream */
    EVENT_NS = 1500,
    COPY_NS = 4000,
    WAKE_UP_NS = 6000, /* the host, when what it waited for is done */
};

void lane_init(struct lane *lane, const struct job *job, uint32_t rank) {
    *lane = (struct lane){.rank = rank, .slower = 1, .more = 1, .launch = 1, .correlation = 1000, .external_id = 0};
    for (uint32_t i = 0; i < job->options.fault_count; i++) {
        const struct fault *fault = &job->options.faults[i];
        if (fault->is_off || fault->rank != rank)
            continue;
        lane->slower *= fault->kind == FAULT_SLOWER ? fault->factor : 1;
        lane->more *= fault->kind == FAULT_MORE ? fault->factor : 1;
        lane->launch *= fault->kind == FAULT_LAUNCH ? fault->factor : 1;
    }
}

/* ---- durations ---- */

static uint64_t key_of(const struct lane *lane, const struct job *job, uint32_t what) {
    return draw_key(job->options.seed, (uint64_t)what << 32 | lane->rank, (uint64_t)lane->step << 16 | lane->repeat,
                    lane->op);
}

/* The duration with the job's jitter. */
static int64_t jitter(const struct lane *lane, const struct job *job, uint32_t what, double ns) {
    return (int64_t)(ns * (1 + job->options.noise * (2 * draw_unit(key_of(lane, job, what)) - 1)));
}

static double expert_scale(const struct job *job, const struct op *op, uint32_t rank) {
    if (!op->is_expert)
        return 1;
    uint32_t size = job->teams[job->team_of[rank * ROLES + ROLE_EP]].size;
    return (double)(transfer_rows(job, rank) * size) / (double)(1024 / size * size);
}

/* Ranks that share a GPU hold each other up: how much is drawn for each kernel. */
static double contention(const struct lane *lane, const struct job *job) {
    return job->options.has_shared_gpu ? 1 + 0.5 * draw_unit(key_of(lane, job, 4)) : 1;
}

static int64_t kernel_ns(const struct lane *lane, const struct job *job, const struct op *op, double nominal_ns) {
    double ns = nominal_ns * lane->slower * expert_scale(job, op, lane->rank) * contention(lane, job);
    int64_t whole = jitter(lane, job, 5, ns);
    return whole > 500 ? whole : 500;
}

/* What makes the host late at the beginning of this step. */
static int64_t host_delay_ns(const struct lane *lane, const struct job *job) {
    const struct program *program = program_of(job, lane->rank);
    double ns = 0;
    for (uint32_t i = 0; i < job->options.fault_count; i++) {
        const struct fault *fault = &job->options.faults[i];
        if (fault->is_off || fault->rank != lane->rank)
            continue;
        if (fault->kind == FAULT_EPISODE_HOST && fault->step == lane->step)
            ns += (double)fault->ns;
        for (uint32_t k = 0; fault->kind == FAULT_HOST && k < program->count; k++)
            ns += program->ops[k].type == OP_KERNEL ? (double)program->ops[k].nominal_ns * (fault->factor - 1) : 0;
    }
    return (int64_t)ns;
}

static int64_t episode_ns(const struct lane *lane, const struct job *job) {
    int64_t ns = 0;
    for (uint32_t i = 0; i < job->options.fault_count; i++) {
        const struct fault *fault = &job->options.faults[i];
        if (!fault->is_off && fault->kind == FAULT_EPISODE_COMPUTE && fault->rank == lane->rank &&
            fault->step == lane->step)
            ns += fault->ns;
    }
    return ns;
}

/* ---- streams ---- */

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Whether the end of what a stream runs is known; if not, the lane has to stop. */
static bool resolve(struct lane *lane, const struct job *job, enum stream stream) {
    struct pending *pending = &lane->pending[stream];
    if (!pending->is_pending)
        return true;
    int64_t end_ns = job->end_ns[pending->slot];
    if (end_ns < 0) {
        lane->is_blocked = true;
        lane->blocked_on = pending->meeting;
        return false;
    }
    lane->free_ns[stream] = later(lane->free_ns[stream], end_ns);
    pending->is_pending = false;
    return true;
}

static bool resolve_all(struct lane *lane, const struct job *job) {
    for (uint32_t stream = 0; stream < STREAMS; stream++)
        if (!resolve(lane, job, stream))
            return false;
    return true;
}

/* ---- launching ---- */

static struct event begin_event(const struct lane *lane, const struct op *op) {
    return (struct event){.op = op,
                          .step = lane->step,
                          .op_start_ns = lane->is_in_graph ? lane->graph_start_ns : lane->host_ns,
                          .is_in_graph = lane->is_in_graph,
                          .team = NO_TEAM};
}

/* The host's part: an operator with a launch call in it. What is in a graph was launched with it. */
static void launch(struct lane *lane, const struct job *job, struct event *event, double call_ns) {
    if (lane->is_in_graph) {
        event->correlation = lane->graph_correlation;
        event->graph_id = lane->graph_id;
        event->graph_node = ++lane->graph_node;
        event->start_ns = lane->graph_ready_ns;
        return;
    }
    event->external_id = lane->external_id += 3; /* the operators around it have ids as well */
    event->correlation = lane->correlation += 5; /* and so have the calls that order streams */
    event->call_start_ns = event->op_start_ns + jitter(lane, job, 6, PREPARE_NS * lane->launch);
    event->call_end_ns = event->call_start_ns + jitter(lane, job, 7, call_ns * lane->launch);
    event->op_end_ns = event->call_end_ns + jitter(lane, job, 8, PREPARE_NS * lane->launch);
    event->start_ns = event->call_end_ns + LAUNCH_LATENCY_NS;
    lane->host_ns = event->op_end_ns;
}

static void send_to(on_event *sink, void *context, const struct lane *lane, const struct event *event) {
    if (sink)
        sink(context, lane, event);
}

/* ---- operations; false: the lane has to stop before it ---- */

static bool run_kernel(struct lane *lane, struct job *job, const struct op *op, double nominal_ns, on_event *sink,
                       void *context) {
    if (!resolve(lane, job, STREAM_COMPUTE))
        return false;
    struct event event = begin_event(lane, op);
    launch(lane, job, &event, CALL_NS);
    event.start_ns = later(event.start_ns, lane->free_ns[STREAM_COMPUTE] + GAP_NS);
    event.end_ns = event.start_ns +
                   (op->type == OP_COPY_IN || op->type == OP_COPY_OUT ? COPY_NS : kernel_ns(lane, job, op, nominal_ns));
    lane->free_ns[STREAM_COMPUTE] = event.end_ns;
    send_to(sink, context, lane, &event);
    return true;
}

/* As many kernels more as the factor says, of the mean duration in the block. */
static bool run_extra(struct lane *lane, struct job *job, const struct op *op, on_event *sink, void *context) {
    double share = lane->more - 1;
    if (share <= 0)
        return true;
    uint32_t count = (uint32_t)(share * job->options.kernels + 0.5);
    count = count ? count : 1;
    for (; lane->repeat < count; lane->repeat++)
        if (!run_kernel(lane, job, op, (double)op->nominal_ns * share / count, sink, context))
            return false;
    lane->repeat = 0;
    return true;
}

static bool run_episode(struct lane *lane, struct job *job, const struct op *op, on_event *sink, void *context) {
    int64_t ns = episode_ns(lane, job);
    return ns == 0 || run_kernel(lane, job, op, (double)ns, sink, context);
}

static void meet(struct lane *lane, struct job *job, struct event *event, enum role role) {
    const struct op *op = event->op;
    event->team = job->team_of[lane->rank * ROLES + role];
    const struct team *team = &job->teams[event->team];
    event->position = layout_position(team, lane->rank);
    event->meeting = team->first_meeting + lane->counts[role];
    event->slot = team->first_slot + lane->counts[role] * team->size + event->position;
    event->sequence = team->is_channel ? ++lane->messages : ++lane->sequence[op->role];
    lane->counts[role]++;
    lane->pending[op->stream] = (struct pending){true, event->meeting, event->slot};
    if (!op->is_async)
        lane->pending[STREAM_COMPUTE] = lane->pending[op->stream];
    if (job->is_resolved)
        assert(job->start_ns[event->slot] == event->start_ns);
    else
        simulate_arrival(job, lane, event);
}

static bool run_collective(struct lane *lane, struct job *job, const struct op *op, enum role role, on_event *sink,
                           void *context) {
    if (!resolve(lane, job, STREAM_COMPUTE) || !resolve(lane, job, op->stream))
        return false;
    struct event event = begin_event(lane, op);
    launch(lane, job, &event, 2 * CALL_NS);
    event.start_ns = later(event.start_ns, lane->free_ns[op->stream] + GAP_NS);
    if (op->stream != STREAM_COMPUTE)
        event.start_ns = later(event.start_ns, lane->free_ns[STREAM_COMPUTE] + EVENT_NS);
    meet(lane, job, &event, role);
    event.end_ns = job->end_ns[event.slot];
    send_to(sink, context, lane, &event);
    return true;
}

/* A desynchronized rank leaves one collective out, or runs it once more, alone. */
static bool run_comm(struct lane *lane, struct job *job, const struct op *op, on_event *sink, void *context) {
    const struct options *options = &job->options;
    bool is_desync = options->has_desync && lane->rank == options->desync_rank && lane->step == options->desync_step &&
                     lane->op == job->desync_op;
    if (is_desync && !options->desync_adds) {
        lane->counts[op->role]++;
        return true;
    }
    if (lane->repeat == 0 && !run_collective(lane, job, op, op->role, sink, context))
        return false;
    if (is_desync) {
        lane->repeat = 1;
        if (!run_collective(lane, job, op, ROLE_ADDED, sink, context))
            return false;
        lane->repeat = 0;
    }
    return true;
}

/* Compute waits for the gradients. */
static bool run_wait(struct lane *lane, struct job *job, const struct op *op, on_event *sink, void *context) {
    if (!resolve(lane, job, STREAM_COMPUTE) || !resolve(lane, job, STREAM_DATA))
        return false;
    lane->free_ns[STREAM_COMPUTE] = later(lane->free_ns[STREAM_COMPUTE], lane->free_ns[STREAM_DATA]);
    struct event event = begin_event(lane, op);
    launch(lane, job, &event, SHORT_CALL_NS);
    send_to(sink, context, lane, &event);
    return true;
}

static bool run_sync(struct lane *lane, struct job *job, const struct op *op, on_event *sink, void *context) {
    if (!resolve_all(lane, job))
        return false;
    struct event event = begin_event(lane, op);
    launch(lane, job, &event, SHORT_CALL_NS);
    for (uint32_t stream = 0; stream < STREAMS; stream++)
        event.call_end_ns = later(event.call_end_ns, lane->free_ns[stream] + WAKE_UP_NS);
    lane->host_ns = event.op_end_ns = event.call_end_ns + PREPARE_NS;
    send_to(sink, context, lane, &event);
    return true;
}

static void run_graph_launch(struct lane *lane, struct job *job, const struct op *op, on_event *sink, void *context) {
    struct event event = begin_event(lane, op);
    launch(lane, job, &event, GRAPH_CALL_NS);
    lane->graph_correlation = event.correlation;
    lane->graph_start_ns = event.op_start_ns;
    lane->graph_ready_ns = event.start_ns;
    lane->graph_id = lane->op;
    lane->graph_node = 0;
    lane->is_in_graph = true;
    send_to(sink, context, lane, &event);
}

static void run_mark(struct lane *lane, struct job *job, const struct op *op, on_event *sink, void *context) {
    struct step_times *times = &job->step_times[lane->rank * job->options.steps + lane->step];
    struct event event = begin_event(lane, op);
    if (op->type == OP_STEP_BEGIN && !job->is_resolved)
        times->begin_ns = lane->host_ns;
    if (op->type == OP_STEP_END && !job->is_resolved)
        times->end_ns = lane->host_ns;
    if (op->type == OP_STEP_BEGIN || op->type == OP_PHASE_BEGIN)
        event.external_id = ++lane->external_id;
    send_to(sink, context, lane, &event);
}

static void run_loading(struct lane *lane, struct job *job, const struct op *op, on_event *sink, void *context) {
    struct event event = begin_event(lane, op);
    event.external_id = ++lane->external_id;
    lane->host_ns += jitter(lane, job, 9, LOADING_NS) + host_delay_ns(lane, job);
    event.op_end_ns = lane->host_ns;
    send_to(sink, context, lane, &event);
}

static bool run_op(struct lane *lane, struct job *job, const struct op *op, on_event *sink, void *context) {
    switch (op->type) {
    case OP_STEP_BEGIN:
    case OP_STEP_END:
    case OP_PHASE_BEGIN:
    case OP_PHASE_END:
        run_mark(lane, job, op, sink, context);
        return true;
    case OP_HOST:
        run_loading(lane, job, op, sink, context);
        return true;
    case OP_KERNEL:
    case OP_COPY_IN:
    case OP_COPY_OUT:
        return run_kernel(lane, job, op, (double)op->nominal_ns, sink, context);
    case OP_EXTRA:
        return run_extra(lane, job, op, sink, context);
    case OP_EPISODE:
        return run_episode(lane, job, op, sink, context);
    case OP_COMM:
        return run_comm(lane, job, op, sink, context);
    case OP_WAIT:
        return run_wait(lane, job, op, sink, context);
    case OP_SYNC:
        return run_sync(lane, job, op, sink, context);
    case OP_GRAPH_BEGIN:
        run_graph_launch(lane, job, op, sink, context);
        return true;
    case OP_GRAPH_END:
        lane->is_in_graph = false;
        return true;
    }
    return true;
}

/* Runs as far as it can; false: it waits for a meeting. */
bool lane_advance(struct lane *lane, struct job *job, on_event *sink, void *context) {
    const struct program *program = program_of(job, lane->rank);
    lane->is_blocked = false;
    for (; lane->step < job->options.steps; lane->step++, lane->op = 0)
        for (; lane->op < program->count; lane->op++)
            if (!run_op(lane, job, &program->ops[lane->op], sink, context))
                return false;
    return true;
}

/* The whole of one rank once all ends are known. */
void lane_walk(struct job *job, uint32_t rank, on_event *sink, void *context) {
    struct lane lane;
    lane_init(&lane, job, rank);
    bool is_done = lane_advance(&lane, job, sink, context);
    assert(is_done);
    (void)is_done;
}
