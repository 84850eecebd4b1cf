/* A simulated training job: what was asked for, its groups, the program of each pipeline stage, and what came out.

   Times are ns since the job began, on one true clock. A rank's own clock is applied only when its trace is written. */
#ifndef BENCH_JOBS_JOB_H
#define BENCH_JOBS_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_RANKS = 1024, MAX_FAULTS = 16, MAX_STEPS = 1000, MAX_STAGES = 64, MAX_PHASE_NAME = 24 };

/* ---- what was asked for ---- */

enum fault_kind {
    FAULT_MORE,            /* extra kernels in each block, every step */
    FAULT_SLOWER,          /* every kernel takes longer, every step */
    FAULT_HOST,            /* the host comes late to every step */
    FAULT_LAUNCH,          /* every launch costs the host more, every step */
    FAULT_HOT_EXPERT,      /* most tokens go to one rank */
    FAULT_SLOW_LINK,       /* transfers of one group take longer: no rank is guilty */
    FAULT_EPISODE_HOST,    /* the host sleeps once */
    FAULT_EPISODE_COMPUTE, /* one long kernel, once */
};

struct fault {
    enum fault_kind kind;
    uint32_t rank, step;
    double factor; /* hot expert: its share of the tokens */
    int64_t ns;    /* of an episode */
    char group[16];
    uint32_t group_index; /* of a slow link */
    bool is_off;          /* in the run that asks how the job goes without it */
};

struct options {
    uint32_t ranks, tp, pp, dp, ep, steps, micro_batches, layers, gpus_per_host, threads;
    uint32_t kernels; /* in a block */
    uint64_t seed, size, kernel_ns;
    double noise, drift_ppm;
    int64_t chunk_ns; /* how far apart members may leave a collective */
    struct fault faults[MAX_FAULTS];
    uint32_t fault_count;
    uint32_t desync_rank, desync_step;
    bool has_desync, desync_adds;
    bool has_skew, has_windows_apart, has_shared_gpu, has_graph, has_overlap, has_gzip, has_seq, has_comms_id;
    bool has_local_peers, has_gpipe, has_sharding, has_broadcast;
    const char *folder;
};

bool options_parse(struct options *options, int argc, char **argv);
void options_draw(struct options *options, uint64_t seed);

/* ---- groups ---- */

/* Which communicator of a rank an operation uses. The four for messages are channels of the pipeline group. */
enum role {
    ROLE_WORLD,
    ROLE_TP,
    ROLE_DP,
    ROLE_EP,
    ROLE_FORWARD_IN,
    ROLE_FORWARD_OUT,
    ROLE_BACKWARD_IN,
    ROLE_BACKWARD_OUT,
    ROLE_ADDED, /* the collective that only a desynchronized rank runs */
    ROLES,
};

/* A process group; members are start + i * stride. */
struct group {
    char name[12];
    const char *desc;
    uint32_t start, stride, size, index; /* the index counts the groups of this description */
};

/* Who meets in an operation: a group, or sender and receiver of a channel. Each meeting has a slot for each member. */
struct team {
    uint32_t group, size;
    int64_t start, stride;
    bool is_channel;
    uint64_t first_slot, first_meeting, meetings;
};

enum { NO_TEAM = UINT32_MAX };

/* ---- programs ---- */

enum op_type {
    OP_STEP_BEGIN,
    OP_STEP_END,
    OP_PHASE_BEGIN,
    OP_PHASE_END,
    OP_HOST, /* data loading, and where a late host sleeps */
    OP_COPY_IN,
    OP_COPY_OUT,
    OP_KERNEL,
    OP_EXTRA,   /* kernels of a rank that computes more */
    OP_EPISODE, /* the long kernel of a compute episode */
    OP_COMM,
    OP_WAIT, /* compute waits for what is asynchronous */
    OP_SYNC,
    OP_GRAPH_BEGIN,
    OP_GRAPH_END,
};

enum collective { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, BROADCAST, SEND, RECV };
enum stream { STREAM_COMPUTE, STREAM_PREVIOUS, STREAM_NEXT, STREAM_DATA, STREAMS };

struct op {
    enum op_type type;
    enum role role;
    enum collective collective;
    enum stream stream;
    bool is_async, is_expert, is_combine;
    uint32_t kernel;    /* row of the table of kernels */
    uint64_t elements;  /* of the larger side of a collective */
    int64_t nominal_ns; /* of a kernel; of OP_EXTRA: of its whole block */
    char phase[MAX_PHASE_NAME];
};

/* What a rank of one pipeline stage does in a step. */
struct program {
    struct op *ops;
    uint32_t count, room;
};

/* ---- the run ---- */

struct meeting {
    const struct op *op;
    uint32_t step, arrived;
    bool is_in_graph;      /* its kernels have no metadata */
    int64_t last_start_ns; /* messages, broadcast: when the sender came, else the last member; -1: not yet */
};

struct pending {
    bool is_pending;
    uint64_t meeting, slot;
};

/* One rank while it runs. Every value follows from the program and the ends of its collectives, so that a second pass
   that knows these gives the same times for any rank alone. */
struct lane {
    uint32_t rank, step, op, repeat;
    int64_t host_ns, graph_start_ns, graph_ready_ns;
    int64_t free_ns[STREAMS];
    struct pending pending[STREAMS]; /* the last collective of a stream, while its end is not known */
    uint64_t counts[ROLES], sequence[ROLES], messages;
    double slower, more, launch;
    uint64_t blocked_on; /* meeting */
    bool is_blocked, is_in_graph;
    uint32_t correlation, external_id, graph_correlation, graph_id, graph_node;
};

struct step_times {
    int64_t begin_ns, end_ns; /* of the host */
};

struct job {
    struct options options;
    struct group *groups;
    uint32_t group_count;
    struct team *teams;
    uint32_t team_count;
    uint32_t *team_of; /* [rank * ROLES + role] */
    struct program programs[MAX_STAGES];
    uint32_t desync_op;
    uint64_t desync_meeting; /* that a rank leaves out */
    struct meeting *meetings;
    uint64_t meeting_count, slot_count;
    int64_t *start_ns, *end_ns;    /* of each slot; end -1: not known */
    bool *is_recorded;             /* of each slot: a profiler saw it */
    struct step_times *step_times; /* [rank * steps + step] */
    bool is_resolved;              /* all ends are known */
    struct lane *lanes;            /* while it runs */
    uint32_t *ready, ready_count;
};

/* What a rank recorded, as it is handed to whoever walks it. */
struct event {
    const struct op *op;
    uint32_t step, correlation, external_id;
    int64_t op_start_ns, op_end_ns, call_start_ns, call_end_ns; /* on the host */
    int64_t start_ns, end_ns;                                   /* on the GPU */
    uint32_t team, position;
    uint64_t meeting, slot, sequence;
    bool is_in_graph;
    uint32_t graph_id, graph_node;
};

typedef void on_event(void *context, const struct lane *lane, const struct event *event);

/* layout.c */
void layout_groups(struct job *job);
uint32_t layout_stage(const struct options *options, uint32_t rank);
uint32_t layout_position(const struct team *team, uint32_t rank);
uint32_t layout_member(const struct team *team, uint32_t position);

/* program.c */
void program_build(struct job *job);
void program_count_meetings(struct job *job);
const struct program *program_of(const struct job *job, uint32_t rank);

/* lane.c */
void lane_init(struct lane *lane, const struct job *job, uint32_t rank);
bool lane_advance(struct lane *lane, struct job *job, on_event *sink, void *context);
void lane_walk(struct job *job, uint32_t rank, on_event *sink, void *context);

/* transfer.c */
int64_t transfer_ns(const struct job *job, const struct op *op, uint32_t team, uint64_t meeting, uint32_t rank);
uint64_t transfer_rows(const struct job *job, uint32_t to);
uint64_t transfer_load_bytes(const struct job *job, const struct op *op, uint32_t rank);
int64_t transfer_wait_ns(const struct job *job, uint32_t team, uint64_t meeting, uint32_t position);
uint32_t transfer_members(const struct job *job, uint32_t team, uint64_t meeting);
bool transfer_takes_part(const struct job *job, uint32_t team, uint64_t meeting, uint32_t position);

/* simulate.c */
void simulate(struct job *job);
void simulate_arrival(struct job *job, const struct lane *lane, const struct event *event);

/* account.c */
struct account {
    int64_t first_ns, last_ns, exposed_wait_ns, recorded_first_ns, recorded_last_ns;
};
struct account account_job(struct job *job, int64_t *exposed_wait_ns);

/* clock.c: what a rank's clock shows, and when its profiler runs */
struct clock {
    int64_t offset_ns;
    double drift_ppm;
};
struct clock clock_of(const struct options *options, uint32_t rank);
int64_t clock_read(struct clock clock, int64_t ns);
struct step_times clock_window(const struct job *job, uint32_t rank);
bool clock_records(struct step_times window, const struct event *event);

/* kineto.c */
uint64_t kineto_write(struct job *job, uint32_t rank);
uint64_t kineto_rehearse(struct job *job, uint32_t rank);

/* truth.c */
/* How the job goes without a fault. */
struct without {
    int64_t job_ns, exposed_wait_ns;
};
void truth_write(const struct job *job, const struct account *account, const int64_t *exposed_wait_ns,
                 const struct without *without);

/* workers.c */
typedef void work(void *context, uint32_t index);
void workers_run(uint32_t threads, uint32_t count, work *run, void *context);

/* draw.c: numbers that depend only on what they are for */
uint64_t draw_mix(uint64_t x);
uint64_t draw_key(uint64_t a, uint64_t b, uint64_t c, uint64_t d);
double draw_unit(uint64_t key); /* [0, 1) */
void *draw_memory(size_t count, size_t size);
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
