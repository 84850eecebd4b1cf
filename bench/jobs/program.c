/* What a rank of each pipeline stage does in a step: passes over layers, gradients, the optimizer. */
#include <stdio.h>
#include <stdlib.h>

#include "job.h"
#include "kernels.h"

enum { HIDDEN = 1024, TOKENS = 1024, BUCKET_ELEMENTS = 1 << 21, OPTIMIZER_KERNELS = 3 };

struct builder {
    const struct options *options;
    struct program *program;
    uint32_t stage;
};

static struct op *add(struct builder *builder, enum op_type type) {
    struct program *program = builder->program;
    if (program->count == program->room) {
        program->room = program->room * 2 + 64;
        program->ops = realloc(program->ops, program->room * sizeof *program->ops);
        if (!program->ops)
            fail("out of memory");
    }
    struct op *op = &program->ops[program->count++];
    *op = (struct op){.type = type};
    return op;
}

static struct op *add_comm(struct builder *builder, enum role role, enum collective collective, uint64_t elements) {
    struct op *op = add(builder, OP_COMM);
    op->role = role;
    op->collective = collective;
    op->elements = elements;
    op->stream = role == ROLE_FORWARD_IN || role == ROLE_BACKWARD_OUT   ? STREAM_PREVIOUS
                 : role == ROLE_FORWARD_OUT || role == ROLE_BACKWARD_IN ? STREAM_NEXT
                                                                        : STREAM_COMPUTE;
    return op;
}

static int64_t add_kernel(struct builder *builder, uint32_t kernel, int64_t nominal_ns, bool is_expert) {
    struct op *op = add(builder, OP_KERNEL);
    op->kernel = kernel;
    op->nominal_ns = nominal_ns;
    op->is_expert = is_expert;
    return nominal_ns;
}

/* Kernels between two collectives, alike on all ranks; one that computes more has extra ones after them. */
static void add_block(struct builder *builder, uint32_t layer, uint32_t block, bool is_backward, bool is_expert) {
    const struct options *options = builder->options;
    int64_t total_ns = 0;
    for (uint32_t i = 0; i < options->kernels; i++) {
        double scale = 0.3 + 1.4 * draw_unit(draw_key(options->seed, 1, layer * 2 + block, i));
        int64_t ns = (int64_t)((double)options->kernel_ns * scale * (is_backward ? 2 : 1));
        total_ns += add_kernel(builder, (block * 4 + i) % 8, ns, is_expert);
    }
    struct op *extra = add(builder, OP_EXTRA);
    extra->kernel = KERNEL_GEMM;
    extra->nominal_ns = total_ns;
    extra->is_expert = is_expert;
}

static void add_layer(struct builder *builder, uint32_t layer, bool is_backward) {
    const struct options *options = builder->options;
    add_block(builder, layer, 0, is_backward, false);
    if (options->tp > 1)
        add_comm(builder, ROLE_TP, ALL_REDUCE, (uint64_t)TOKENS * HIDDEN);
    bool has_experts = options->ep > 1;
    if (has_experts)
        add_comm(builder, ROLE_EP, ALL_TO_ALL, HIDDEN);
    add_block(builder, layer, 1, is_backward, has_experts);
    if (has_experts)
        add_comm(builder, ROLE_EP, ALL_TO_ALL, HIDDEN)->is_combine = true;
    if (options->tp > 1)
        add_comm(builder, ROLE_TP, ALL_REDUCE, (uint64_t)TOKENS * HIDDEN);
}

static void add_gradients(struct builder *builder, bool is_async) {
    const struct options *options = builder->options;
    if (options->dp < 2)
        return;
    struct op *op = add_comm(builder, ROLE_DP, options->has_sharding ? REDUCE_SCATTER : ALL_REDUCE, BUCKET_ELEMENTS);
    op->is_async = is_async;
    op->stream = is_async ? STREAM_DATA : STREAM_COMPUTE;
}

static void begin_pass(struct builder *builder, const char *name, uint32_t micro_batch) {
    snprintf(add(builder, OP_PHASE_BEGIN)->phase, MAX_PHASE_NAME, "%s_mb%u", name, micro_batch);
}

static void add_forward(struct builder *builder, uint32_t micro_batch) {
    const struct options *options = builder->options;
    begin_pass(builder, "fwd", micro_batch);
    if (builder->stage > 0)
        add_comm(builder, ROLE_FORWARD_IN, RECV, (uint64_t)TOKENS * HIDDEN);
    if (options->has_graph)
        add(builder, OP_GRAPH_BEGIN);
    for (uint32_t layer = 0; layer < options->layers; layer++)
        add_layer(builder, layer, false);
    if (options->has_graph)
        add(builder, OP_GRAPH_END);
    if (builder->stage + 1 < options->pp)
        add_comm(builder, ROLE_FORWARD_OUT, SEND, (uint64_t)TOKENS * HIDDEN);
    add(builder, OP_PHASE_END);
}

/* Gradients of a layer can move while the next layer is computed, but not out of a captured graph. */
static void add_backward(struct builder *builder, uint32_t micro_batch) {
    const struct options *options = builder->options;
    bool is_overlapped = options->has_overlap && !options->has_graph && micro_batch + 1 == options->micro_batches;
    begin_pass(builder, "bwd", micro_batch);
    if (builder->stage + 1 < options->pp)
        add_comm(builder, ROLE_BACKWARD_IN, RECV, (uint64_t)TOKENS * HIDDEN);
    if (options->has_graph)
        add(builder, OP_GRAPH_BEGIN);
    for (uint32_t layer = options->layers; layer-- > 0;) {
        add_layer(builder, layer, true);
        if (is_overlapped)
            add_gradients(builder, true);
    }
    if (options->has_graph)
        add(builder, OP_GRAPH_END);
    if (builder->stage > 0)
        add_comm(builder, ROLE_BACKWARD_OUT, SEND, (uint64_t)TOKENS * HIDDEN);
    add(builder, OP_PHASE_END);
}

/* One forward, one backward in turn, once the later stages are busy; or all forward passes first. */
static void add_passes(struct builder *builder) {
    const struct options *options = builder->options;
    uint32_t all = options->micro_batches, ahead = options->has_gpipe ? all : options->pp - 1 - builder->stage;
    uint32_t forward = 0, backward = 0;
    while (forward < all && forward < ahead)
        add_forward(builder, forward++);
    while (backward < all) {
        if (forward < all)
            add_forward(builder, forward++);
        add_backward(builder, backward++);
    }
}

static void add_optimizer(struct builder *builder) {
    const struct options *options = builder->options;
    snprintf(add(builder, OP_PHASE_BEGIN)->phase, MAX_PHASE_NAME, "optimizer");
    if (options->dp > 1 && options->has_overlap && !options->has_graph)
        add(builder, OP_WAIT);
    else
        for (uint32_t layer = 0; layer < options->layers; layer++)
            add_gradients(builder, false);
    add_comm(builder, ROLE_WORLD, ALL_REDUCE, 1);
    for (uint32_t i = 0; i < OPTIMIZER_KERNELS; i++)
        add_kernel(builder, KERNEL_ADAM, (int64_t)options->kernel_ns, false);
    if (options->dp > 1 && options->has_sharding)
        add_comm(builder, ROLE_DP, ALL_GATHER, BUCKET_ELEMENTS);
    add(builder, OP_PHASE_END);
}

static void build_stage(struct builder *builder) {
    const struct options *options = builder->options;
    add(builder, OP_STEP_BEGIN);
    add(builder, OP_HOST);
    add(builder, OP_COPY_IN);
    if (options->tp > 1 && options->has_broadcast)
        add_comm(builder, ROLE_TP, BROADCAST, TOKENS);
    struct op *episode = add(builder, OP_EPISODE);
    episode->kernel = KERNEL_SPIN;
    add_passes(builder);
    add_optimizer(builder);
    add(builder, OP_COPY_OUT);
    add(builder, OP_SYNC);
    add(builder, OP_STEP_END);
}

const struct program *program_of(const struct job *job, uint32_t rank) {
    return &job->programs[layout_stage(&job->options, rank)];
}

/* Which all_reduce the desynchronized rank leaves out or runs twice. */
static void pick_desync(struct job *job) {
    const struct options *options = &job->options;
    const struct program *program = program_of(job, options->desync_rank);
    uint32_t found = 0, picked = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        bool is_in_graph = false;
        for (uint32_t i = 0, at = 0; i < program->count; i++) {
            const struct op *op = &program->ops[i];
            is_in_graph = op->type == OP_GRAPH_BEGIN || (is_in_graph && op->type != OP_GRAPH_END);
            if (op->type != OP_COMM || op->collective != ALL_REDUCE || is_in_graph)
                continue;
            if (pass == 0)
                found++;
            else if (at++ == picked)
                job->desync_op = i;
        }
        picked = (uint32_t)(draw_key(options->seed, 2, 0, 0) % (found ? found : 1));
    }
    if (!options->desync_adds)
        return;
    uint32_t twin = job->team_of[options->desync_rank * ROLES + program->ops[job->desync_op].role];
    job->teams[job->team_count] = (struct team){
        .group = job->teams[twin].group, .size = 1, .start = options->desync_rank, .stride = 1, .meetings = 1};
    job->team_of[options->desync_rank * ROLES + ROLE_ADDED] = job->team_count++;
}

void program_build(struct job *job) {
    for (uint32_t stage = 0; stage < job->options.pp; stage++) {
        job->programs[stage].count = 0;
        build_stage(&(struct builder){&job->options, &job->programs[stage], stage});
    }
    if (job->options.has_desync)
        pick_desync(job);
}

static void find_desync_meeting(struct job *job) {
    const struct options *options = &job->options;
    const struct program *program = program_of(job, options->desync_rank);
    enum role role = program->ops[job->desync_op].role;
    uint64_t before = 0, in_step = 0;
    for (uint32_t i = 0; i < program->count; i++) {
        bool is_one = program->ops[i].type == OP_COMM && program->ops[i].role == role;
        in_step += is_one;
        before += is_one && i < job->desync_op;
    }
    const struct team *team = &job->teams[job->team_of[options->desync_rank * ROLES + role]];
    job->desync_meeting = team->first_meeting + options->desync_step * in_step + before;
}

/* A slot for each member of each meeting. */
void program_count_meetings(struct job *job) {
    for (uint32_t rank = 0; rank < job->options.ranks; rank++) {
        const struct program *program = program_of(job, rank);
        uint64_t counts[ROLES] = {0};
        for (uint32_t i = 0; i < program->count; i++)
            counts[program->ops[i].role] += program->ops[i].type == OP_COMM;
        for (uint32_t role = 0; role < ROLE_ADDED; role++) {
            uint32_t team = job->team_of[rank * ROLES + role];
            if (team != NO_TEAM)
                job->teams[team].meetings = counts[role] * job->options.steps;
        }
    }
    for (uint32_t i = 0; i < job->team_count; i++) {
        struct team *team = &job->teams[i];
        team->first_meeting = job->meeting_count;
        team->first_slot = job->slot_count;
        job->meeting_count += team->meetings;
        job->slot_count += team->meetings * team->size;
    }
    if (job->options.has_desync)
        find_desync_meeting(job);
}
