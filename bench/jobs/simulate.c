/* All ranks together: collectives begin to move data when the last member has come. Keeps the times of collectives
   only; what happens between them is walked again when it is needed. */
#include <stdlib.h>

#include "job.h"

static bool is_directed(enum collective collective) {
    return collective == SEND || collective == RECV || collective == BROADCAST;
}

/* Members of a ring leave up to a chunk apart, if the job has that. */
static int64_t chunk_ns(const struct job *job, uint64_t slot) {
    int64_t most = job->options.chunk_ns;
    return most ? (int64_t)(draw_key(job->options.seed, 10, 0, slot) % (uint64_t)(most + 1)) : 0;
}

static void set_end(struct job *job, const struct event *event, uint32_t position, int64_t moving_ns) {
    const struct team *team = &job->teams[event->team];
    uint64_t slot = event->slot - event->position + position;
    uint32_t rank = layout_member(team, position);
    job->end_ns[slot] = moving_ns + transfer_ns(job, event->op, event->team, event->meeting, rank) +
                        (is_directed(event->op->collective) ? 0 : chunk_ns(job, slot));
    struct lane *lane = &job->lanes[rank];
    if (lane->is_blocked && lane->blocked_on == event->meeting) {
        lane->is_blocked = false;
        job->ready[job->ready_count++] = rank;
    }
}

/* The sender is done when it has handed its data over; a receiver, so long after the later of both. */
static void arrive_directed(struct job *job, const struct event *event) {
    const struct team *team = &job->teams[event->team];
    struct meeting *meeting = &job->meetings[event->meeting];
    uint64_t first = event->slot - event->position;
    if (event->position == 0)
        meeting->last_start_ns = event->start_ns;
    for (uint32_t i = 0; i < team->size && meeting->last_start_ns >= 0; i++) {
        int64_t start_ns = job->start_ns[first + i];
        if (start_ns >= 0 && job->end_ns[first + i] < 0)
            set_end(job, event, i, start_ns > meeting->last_start_ns ? start_ns : meeting->last_start_ns);
    }
}

static void arrive_together(struct job *job, const struct event *event) {
    const struct team *team = &job->teams[event->team];
    struct meeting *meeting = &job->meetings[event->meeting];
    if (event->start_ns > meeting->last_start_ns)
        meeting->last_start_ns = event->start_ns;
    if (meeting->arrived < transfer_members(job, event->team, event->meeting))
        return;
    for (uint32_t i = 0; i < team->size; i++)
        if (transfer_takes_part(job, event->team, event->meeting, i))
            set_end(job, event, i, meeting->last_start_ns);
}

void simulate_arrival(struct job *job, const struct lane *lane, const struct event *event) {
    struct meeting *meeting = &job->meetings[event->meeting];
    meeting->op = event->op;
    meeting->step = lane->step;
    meeting->is_in_graph = event->is_in_graph;
    meeting->arrived++;
    job->start_ns[event->slot] = event->start_ns;
    if (is_directed(event->op->collective))
        arrive_directed(job, event);
    else
        arrive_together(job, event);
}

static void clear(struct job *job) {
    for (uint64_t i = 0; i < job->meeting_count; i++)
        job->meetings[i] = (struct meeting){.last_start_ns = -1};
    for (uint64_t i = 0; i < job->slot_count; i++)
        job->start_ns[i] = job->end_ns[i] = -1;
}

void simulate(struct job *job) {
    uint32_t ranks = job->options.ranks, done = 0;
    clear(job);
    job->is_resolved = false;
    job->lanes = draw_memory(ranks, sizeof *job->lanes);
    job->ready = draw_memory(ranks, sizeof *job->ready);
    for (uint32_t rank = ranks; rank-- > 0;) {
        lane_init(&job->lanes[rank], job, rank);
        job->ready[job->ready_count++] = rank;
    }
    while (job->ready_count) {
        uint32_t rank = job->ready[--job->ready_count];
        done += lane_advance(&job->lanes[rank], job, NULL, NULL);
    }
    if (done != ranks)
        fail("%u ranks wait for each other for ever", ranks - done);
    free(job->lanes);
    free(job->ready);
    job->lanes = NULL;
    job->ready = NULL;
    job->is_resolved = true;
}
