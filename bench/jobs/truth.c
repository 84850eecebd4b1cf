/* What is true about a job, as JSON: who is guilty and why, what the job would be without it, every clock and wait. */
#include <inttypes.h>
#include <stdlib.h>

#include "job.h"
#include "text.h"

static const char *const reasons[] = {
    [FAULT_MORE] = "compute_more",      [FAULT_SLOWER] = "compute_slower",   [FAULT_HOST] = "idle_host",
    [FAULT_LAUNCH] = "idle_host",       [FAULT_HOT_EXPERT] = "bytes",        [FAULT_SLOW_LINK] = "transfer",
    [FAULT_EPISODE_HOST] = "idle_host", [FAULT_EPISODE_COMPUTE] = "compute",
};
static const char *const kinds[] = {
    [FAULT_MORE] = "more",
    [FAULT_SLOWER] = "slower",
    [FAULT_HOST] = "host",
    [FAULT_LAUNCH] = "launch",
    [FAULT_HOT_EXPERT] = "hot_expert",
    [FAULT_SLOW_LINK] = "slow_link",
    [FAULT_EPISODE_HOST] = "episode_host",
    [FAULT_EPISODE_COMPUTE] = "episode_compute",
};
static const char *const collective_names[] = {
    [ALL_REDUCE] = "all_reduce", [ALL_GATHER] = "all_gather", [REDUCE_SCATTER] = "reduce_scatter",
    [ALL_TO_ALL] = "all_to_all", [BROADCAST] = "broadcast",   [SEND] = "send_recv",
    [RECV] = "send_recv",
};

struct truth {
    const struct job *job;
    const struct account *account;
    const int64_t *exposed_wait_ns;
    const struct without *without;
    struct text *text;
};

static void put_signed(struct text *text, const char *key, int64_t value) {
    text_put(text, key);
    text_signed(text, value);
}

static void put_real(struct text *text, const char *key, double value) {
    char digits[40];
    snprintf(digits, sizeof digits, "%.6f", value);
    text_put(text, key);
    text_put(text, digits);
}

static void put_flag(struct text *text, const char *key, bool value) {
    text_put(text, key);
    text_put(text, value ? "true" : "false");
}

static int64_t job_ns(const struct account *account) {
    return account->last_ns - account->first_ns;
}

/* A hot expert has more to move and more to compute: how much later each makes it, in a step. */
static void put_hot_parts(const struct truth *truth, const struct fault *fault) {
    const struct job *job = truth->job;
    const struct program *program = program_of(job, fault->rank);
    const struct team *team = &job->teams[job->team_of[fault->rank * ROLES + ROLE_EP]];
    uint32_t cold = layout_member(team, layout_position(team, fault->rank) ? 0 : 1);
    double bytes_ns = 0, compute_ns = 0;
    double hot_rows = (double)transfer_rows(job, fault->rank), cold_rows = (double)transfer_rows(job, cold);
    for (uint32_t i = 0; i < program->count; i++) {
        const struct op *op = &program->ops[i];
        if (op->type == OP_COMM && op->collective == ALL_TO_ALL)
            bytes_ns += (double)(transfer_ns(job, op, job->team_of[fault->rank * ROLES + ROLE_EP], 0, fault->rank) -
                                 transfer_ns(job, op, job->team_of[fault->rank * ROLES + ROLE_EP], 0, cold));
        else if (op->type == OP_KERNEL && op->is_expert)
            compute_ns += (double)op->nominal_ns * (hot_rows - cold_rows) * team->size / 1024;
    }
    put_signed(truth->text, ", \"bytes_ns\": ", (int64_t)bytes_ns);
    put_signed(truth->text, ", \"compute_ns\": ", (int64_t)compute_ns);
    text_string(truth->text, ", \"reason\": ", bytes_ns >= compute_ns ? "bytes" : "compute_more");
}

static void put_fault(const struct truth *truth, uint32_t index) {
    struct text *text = truth->text;
    const struct fault *fault = &truth->job->options.faults[index];
    const struct without *without = &truth->without[index];
    bool is_episode = fault->kind == FAULT_EPISODE_HOST || fault->kind == FAULT_EPISODE_COMPUTE;
    int64_t exposed_ns = truth->account->exposed_wait_ns, caused_ns = exposed_ns - without->exposed_wait_ns;
    text_string(text, "{\"kind\": ", kinds[fault->kind]);
    if (fault->kind == FAULT_SLOW_LINK)
        text_string(text, ", \"group\": ", truth->job->groups[fault->group_index].name);
    else
        text_member(text, ", \"rank\": ", fault->rank);
    if (is_episode)
        text_member(text, ", \"step\": ", fault->step + 1);
    if (fault->kind == FAULT_HOT_EXPERT)
        put_hot_parts(truth, fault);
    else
        text_string(text, ", \"reason\": ", reasons[fault->kind]);
    if (is_episode)
        put_signed(text, ", \"ns\": ", fault->ns);
    else
        put_real(text, ", \"factor\": ", fault->factor);
    put_signed(text, ", \"exposed_wait_ns\": ", caused_ns);
    put_real(text, ", \"share\": ", exposed_ns > 0 ? (double)caused_ns / (double)exposed_ns : 0);
    put_signed(text, ", \"without_ns\": ", without->job_ns);
    text_put(text, "}");
}

static bool is_pinned(const struct fault *fault) {
    return fault->kind <= FAULT_HOT_EXPERT;
}

static void put_faults(const struct truth *truth) {
    const struct options *options = &truth->job->options;
    struct text *text = truth->text;
    uint32_t culprit = MAX_FAULTS;
    for (uint32_t i = 0; i < options->fault_count; i++)
        if (is_pinned(&options->faults[i]) &&
            (culprit == MAX_FAULTS || truth->without[i].exposed_wait_ns < truth->without[culprit].exposed_wait_ns))
            culprit = i;
    text_put(text, ",\n\"culprit\": ");
    if (culprit == MAX_FAULTS)
        text_put(text, "null");
    else
        put_fault(truth, culprit);
    text_put(text, ",\n\"faults\": [");
    for (uint32_t i = 0; i < options->fault_count; i++) {
        text_put(text, i ? ",\n  " : "\n  ");
        put_fault(truth, i);
    }
    text_put(text, "]");
}

static void put_shape(const struct truth *truth) {
    const struct options *options = &truth->job->options;
    struct text *text = truth->text;
    text_member(text, "{\"seed\": ", options->seed);
    text_member(text, ", \"ranks\": ", options->ranks);
    text_member(text, ", \"tp\": ", options->tp);
    text_member(text, ", \"pp\": ", options->pp);
    text_member(text, ", \"dp\": ", options->dp);
    text_member(text, ", \"ep\": ", options->ep);
    text_member(text, ", \"steps\": ", options->steps);
    text_member(text, ", \"micro_batches\": ", options->micro_batches);
    text_member(text, ", \"layers\": ", options->layers);
    text_member(text, ", \"kernels\": ", options->kernels);
    text_member(text, ", \"kernel_ns\": ", options->kernel_ns);
    put_real(text, ", \"noise\": ", options->noise);
    put_signed(text, ", \"chunk_ns\": ", options->chunk_ns);
    put_flag(text, ",\n\"skew\": ", options->has_skew);
    put_flag(text, ", \"windows_apart\": ", options->has_windows_apart);
    put_flag(text, ", \"shared_gpu\": ", options->has_shared_gpu);
    put_flag(text, ", \"graph\": ", options->has_graph);
    put_flag(text, ", \"overlap\": ", options->has_overlap);
    put_flag(text, ", \"gpipe\": ", options->has_gpipe);
    put_flag(text, ", \"sharding\": ", options->has_sharding);
    put_flag(text, ", \"broadcast\": ", options->has_broadcast);
    put_flag(text, ", \"seq\": ", options->has_seq);
    put_flag(text, ", \"comms_id\": ", options->has_comms_id);
    put_flag(text, ", \"local_peers\": ", options->has_local_peers);
    put_signed(text, ",\n\"job_ns\": ", job_ns(truth->account));
    put_signed(text, ", \"recorded_ns\": ", truth->account->recorded_last_ns - truth->account->recorded_first_ns);
    put_signed(text, ", \"exposed_wait_ns\": ", truth->account->exposed_wait_ns);
}

static void put_desync(const struct truth *truth) {
    const struct job *job = truth->job;
    const struct options *options = &job->options;
    struct text *text = truth->text;
    text_put(text, ",\n\"desync\": ");
    if (!options->has_desync) {
        text_put(text, "null");
        return;
    }
    const struct op *op = &program_of(job, options->desync_rank)->ops[job->desync_op];
    const struct team *team = &job->teams[job->team_of[options->desync_rank * ROLES + op->role]];
    text_string(text, "{\"kind\": ", options->desync_adds ? "added" : "left_out");
    text_member(text, ", \"rank\": ", options->desync_rank);
    text_member(text, ", \"step\": ", options->desync_step + 1);
    text_string(text, ", \"group\": ", job->groups[team->group].name);
    text_member(text, ", \"index\": ", job->desync_meeting - team->first_meeting);
    text_put(text, "}");
}

static void put_ranks(const struct truth *truth) {
    const struct job *job = truth->job;
    struct text *text = truth->text;
    text_put(text, ",\n\"rank_columns\": [\"rank\", \"offset_ns\", \"drift_ppm\", \"window_begin_ns\", "
                   "\"window_end_ns\", \"exposed_wait_ns\"],\n\"rank_rows\": [");
    for (uint32_t rank = 0; rank < job->options.ranks; rank++) {
        struct clock clock = clock_of(&job->options, rank);
        struct step_times window = clock_window(job, rank);
        text_member(text, rank ? ",\n  [" : "\n  [", rank);
        put_signed(text, ", ", clock.offset_ns);
        put_real(text, ", ", clock.drift_ppm);
        put_signed(text, ", ", window.begin_ns);
        put_signed(text, ", ", window.end_ns);
        put_signed(text, ", ", truth->exposed_wait_ns[rank]);
        text_put(text, "]");
    }
    text_put(text, "]");
}

static void put_groups(const struct truth *truth) {
    const struct job *job = truth->job;
    struct text *text = truth->text;
    text_put(text, ",\n\"group_columns\": [\"name\", \"desc\", \"start\", \"stride\", \"size\"],\n\"group_rows\": [");
    for (uint32_t i = 0; i < job->group_count; i++) {
        const struct group *group = &job->groups[i];
        text_string(text, i ? ",\n  [" : "\n  [", group->name);
        text_string(text, ", ", group->desc);
        text_member(text, ", ", group->start);
        text_member(text, ", ", group->stride);
        text_member(text, ", ", group->size);
        text_put(text, "]");
    }
    text_put(text, "]");
}

/* A list with one item for each member; what has none is null. */
static void put_waits(const struct truth *truth, uint32_t team, uint64_t meeting) {
    struct text *text = truth->text;
    text_put(text, ", [");
    for (uint32_t i = 0; i < truth->job->teams[team].size; i++) {
        text_put(text, i ? ", " : "");
        if (transfer_takes_part(truth->job, team, meeting, i))
            text_signed(text, transfer_wait_ns(truth->job, team, meeting, i));
        else
            text_put(text, "null");
    }
    text_put(text, "]");
}

static void put_missing(const struct truth *truth, const struct team *team, uint64_t first_slot) {
    struct text *text = truth->text;
    bool is_first = true;
    text_put(text, ", [");
    for (uint32_t i = 0; i < team->size; i++) {
        if (truth->job->is_recorded[first_slot + i])
            continue;
        text_member(text, is_first ? "" : ", ", layout_member(team, i));
        is_first = false;
    }
    text_put(text, "]");
}

static void put_collective(const struct truth *truth, uint32_t index, uint64_t number) {
    const struct job *job = truth->job;
    const struct team *team = &job->teams[index];
    const struct meeting *meeting = &job->meetings[team->first_meeting + number];
    struct text *text = truth->text;
    uint64_t first_slot = team->first_slot + number * team->size;
    int64_t end_ns = -1;
    for (uint32_t i = 0; i < team->size; i++)
        end_ns = job->end_ns[first_slot + i] > end_ns ? job->end_ns[first_slot + i] : end_ns;
    text_string(text, "[", job->groups[team->group].name);
    text_string(text, ", ", collective_names[meeting->op->collective]);
    text_member(text, ", ", meeting->step + 1);
    text_member(text, ", ", number);
    text_put(text, ", [");
    for (uint32_t i = 0; i < team->size; i++)
        text_member(text, i ? ", " : "", layout_member(team, i));
    text_put(text, "]");
    put_signed(text, ", ", meeting->last_start_ns);
    put_signed(text, ", ", end_ns);
    put_waits(truth, index, team->first_meeting + number);
    put_missing(truth, team, first_slot);
    put_flag(text, ", ", !meeting->is_in_graph);
    text_put(text, "]");
}

static void put_collectives(const struct truth *truth) {
    bool is_first = true;
    text_put(truth->text, ",\n\"collective_columns\": [\"group\", \"op\", \"step\", \"index\", \"ranks\", "
                          "\"transfer_start_ns\", \"end_ns\", \"wait_ns\", \"not_recorded\", \"has_metadata\"],\n"
                          "\"collective_rows\": [");
    for (uint32_t i = 0; i < truth->job->team_count; i++)
        for (uint64_t number = 0; number < truth->job->teams[i].meetings; number++) {
            text_put(truth->text, is_first ? "\n  " : ",\n  ");
            put_collective(truth, i, number);
            is_first = false;
        }
    text_put(truth->text, "]}\n");
}

void truth_write(const struct job *job, const struct account *account, const int64_t *exposed_wait_ns,
                 const struct without *without) {
    char path[4096];
    struct text *text = draw_memory(1, sizeof *text);
    struct truth truth = {job, account, exposed_wait_ns, without, text};
    snprintf(path, sizeof path, "%s/truth.json", job->options.folder);
    text->file = fopen(path, "wb");
    if (!text->file)
        fail("cannot create '%s'", path);
    put_shape(&truth);
    put_faults(&truth);
    put_desync(&truth);
    put_ranks(&truth);
    put_groups(&truth);
    put_collectives(&truth);
    text_flush(text);
    if (fclose(text->file) != 0 || text->has_failed)
        fail("cannot write '%s'", path);
    free(text);
}
