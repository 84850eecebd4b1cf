/* How long a collective moves data, and how long its members wait for that. */
#include "job.h"

enum { ELEMENT_BYTES = 2, EXPERT_ROWS = 1024, LATENCY_NS = 12000 };

static double rate_gbs(enum role role) {
    return role == ROLE_TP ? 200 : 40;
}

static double link_factor(const struct job *job, uint32_t group) {
    double factor = 1;
    for (uint32_t i = 0; i < job->options.fault_count; i++) {
        const struct fault *fault = &job->options.faults[i];
        if (fault->kind == FAULT_SLOW_LINK && !fault->is_off && fault->group_index == group)
            factor *= fault->factor;
    }
    return factor;
}

/* Rows that each member of an expert group sends to this rank. */
uint64_t transfer_rows(const struct job *job, uint32_t to) {
    const struct team *team = &job->teams[job->team_of[to * ROLES + ROLE_EP]];
    uint64_t even = EXPERT_ROWS / team->size, rows = even;
    for (uint32_t i = 0; i < job->options.fault_count; i++) {
        const struct fault *fault = &job->options.faults[i];
        if (fault->kind != FAULT_HOT_EXPERT || fault->is_off ||
            job->team_of[fault->rank * ROLES + ROLE_EP] != job->team_of[to * ROLES + ROLE_EP])
            continue;
        uint64_t hot = (uint64_t)(fault->factor * EXPERT_ROWS);
        uint64_t cold = (EXPERT_ROWS - hot) / (team->size - 1);
        rows = fault->rank == to ? EXPERT_ROWS - cold * (team->size - 1) : cold;
    }
    return rows;
}

/* The larger of what a rank sends to others and what it receives from them; the same on the way back. */
uint64_t transfer_load_bytes(const struct job *job, const struct op *op, uint32_t rank) {
    const struct team *team = &job->teams[job->team_of[rank * ROLES + ROLE_EP]];
    uint64_t own = transfer_rows(job, rank), sent = 0;
    for (uint32_t i = 0; i < team->size; i++) {
        uint32_t member = layout_member(team, i);
        sent += member == rank ? 0 : transfer_rows(job, member);
    }
    uint64_t received = own * (team->size - 1);
    return (sent > received ? sent : received) * op->elements * ELEMENT_BYTES;
}

int64_t transfer_ns(const struct job *job, const struct op *op, uint32_t team, uint64_t meeting, uint32_t rank) {
    double n = job->teams[team].size, bytes = (double)(op->elements * ELEMENT_BYTES), share = 1;
    double latency_ns = LATENCY_NS;
    switch (op->collective) {
    case ALL_REDUCE:
        share = 2 * (n - 1) / n;
        break;
    case ALL_GATHER:
    case REDUCE_SCATTER:
        share = (n - 1) / n;
        break;
    case ALL_TO_ALL: /* by load alone, so that time is proportional to it */
        bytes = (double)transfer_load_bytes(job, op, rank);
        latency_ns = 0;
        break;
    case BROADCAST:
    case SEND:
    case RECV:
        break;
    }
    double jitter = job->options.noise * (2 * draw_unit(draw_key(job->options.seed, 3, team, meeting)) - 1);
    double ns = latency_ns + bytes * share / rate_gbs(op->role);
    return (int64_t)(ns * (1 + jitter) * link_factor(job, job->teams[team].group));
}

/* All members but the one that left this collective out. */
bool transfer_takes_part(const struct job *job, uint32_t team, uint64_t meeting, uint32_t position) {
    const struct options *options = &job->options;
    return !options->has_desync || options->desync_adds || meeting != job->desync_meeting ||
           layout_member(&job->teams[team], position) != options->desync_rank;
}

uint32_t transfer_members(const struct job *job, uint32_t team, uint64_t meeting) {
    const struct options *options = &job->options;
    return job->teams[team].size - (options->has_desync && !options->desync_adds && meeting == job->desync_meeting);
}

int64_t transfer_wait_ns(const struct job *job, uint32_t team, uint64_t meeting, uint32_t position) {
    const struct team *met = &job->teams[team];
    uint64_t slot = met->first_slot + (meeting - met->first_meeting) * met->size + position;
    int64_t wait_ns = job->meetings[meeting].last_start_ns - job->start_ns[slot];
    return wait_ns > 0 ? wait_ns : 0;
}
