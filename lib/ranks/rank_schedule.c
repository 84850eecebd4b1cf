/* Makes the order of a replay: each rank goes on until it comes to an end that others must come to first. Linear in the
   events. */
#include "ranks/rank_schedule.h"

#include "base/mem.h"
#include "events/comms.h"
#include "ranks/rank_clocks.h"

#define FREEING_MAX 500000000u /* visits of ranks to find senders that wait for ever */

struct making {
    struct gt_rank_schedule *schedule;
    const struct gt_rank_job *job;
    size_t *next;                        /* by rank: the event it comes to */
    uint32_t *missing, *staying;         /* by collective: members that have not come, that have not left */
    uint32_t *next_blocked, *blocked_at; /* ranks that wait for a collective: a list for each */
    uint32_t *queue;                     /* ranks that can go on */
    size_t queued;
    uint32_t *free_slots;
    size_t free_count;
};

/* ---- slots ---- */

static uint32_t take_slot(struct making *it) {
    return it->free_count ? it->free_slots[--it->free_count] : (uint32_t)it->schedule->slot_count++;
}

static void give_slot(struct making *it, uint32_t slot) {
    it->free_slots[it->free_count++] = slot;
}

/* ---- who need not wait ---- */

/* Clocks that run apart make the shorter of two kernels the longer one: a wait of up to 200 ppm is none. */
static bool is_no_wait(const struct gt_rank_job *job, const struct gt_rank_member *member) {
    return member->wait_ns <= 1 + gt_rank_job_length(job, member) / 5000;
}

static bool leaves_alone(const struct gt_rank_job *job, const struct gt_rank_member *member) {
    const struct gt_rank_collective *c = &job->collectives[member->collective];
    if (c->kind == GT_COMM_KIND_MESSAGE)
        return member->rank == c->src && is_no_wait(job, member);
    return c->kind == GT_COMM_KIND_DIRECTED && gt_rank_job_length(job, member) < gt_rank_job_need(job, member);
}

static void set_alone(struct gt_rank_schedule *schedule, uint32_t number, size_t slot) {
    struct gt_rank_visit *visit = &schedule->visits[number];
    visit->own = (uint32_t)slot & GT_RANK_VISIT_MEETS;
    visit->takes_ns = gt_rank_job_length(schedule->job, &schedule->job->members[number]);
}

static void fill_visits(struct gt_rank_schedule *schedule, const struct gt_rank_collective *collective) {
    const struct gt_rank_job *job = schedule->job;
    int64_t last_ns = INT64_MIN;
    for (size_t m = 0; m < collective->member_count; m++) {
        const struct gt_rank_member *member = &job->members[collective->first_member + m];
        int64_t start_ns = gt_rank_clocks_aligned(job, member->rank, gt_rank_job_kernel(job, member)->start_ns);
        last_ns = start_ns > last_ns ? start_ns : last_ns;
    }
    for (size_t m = 0; m < collective->member_count; m++) {
        size_t i = collective->first_member + m;
        const struct gt_rank_member *member = &job->members[i];
        int64_t end_ns = gt_rank_clocks_aligned(job, member->rank, gt_rank_job_kernel(job, member)->end_ns);
        schedule->visits[i] =
            (struct gt_rank_visit){.takes_ns = end_ns > last_ns ? end_ns - last_ns : 0, .own = GT_RANK_VISIT_MEETS};
        if (leaves_alone(job, member))
            set_alone(schedule, (uint32_t)i, 0);
    }
}

/* ---- one rank ---- */

static void wake(struct making *it, uint32_t collective) {
    for (uint32_t r = it->blocked_at[collective]; r != GT_RANK_NONE; r = it->next_blocked[r])
        it->queue[it->queued++] = r;
    it->blocked_at[collective] = GT_RANK_NONE;
}

static void arrive(struct making *it, uint32_t number) {
    const struct gt_rank_member *members = it->job->members;
    const struct gt_rank_collective *collective = &it->job->collectives[members[number].collective];
    struct gt_rank_visit *visits = it->schedule->visits, *visit = &visits[number];
    uint32_t c = members[number].collective;
    visit->is_first = it->missing[c] == collective->member_count;
    if (visit->is_first) {
        uint32_t slot = take_slot(it);
        for (size_t m = 0; m < collective->member_count; m++)
            visits[collective->first_member + m].arrival = slot;
    }
    if (visit->own != GT_RANK_VISIT_MEETS)
        visit->own = take_slot(it) & GT_RANK_VISIT_MEETS;
    if (--it->missing[c] == 0)
        wake(it, c);
}

static void leave(struct making *it, uint32_t number) {
    const struct gt_rank_visit *visit = &it->schedule->visits[number];
    if (visit->own != GT_RANK_VISIT_MEETS)
        give_slot(it, visit->own);
    if (--it->staying[it->job->members[number].collective] == 0)
        give_slot(it, visit->arrival);
}

/* The member for which a rank has to wait at the end of a kernel; GT_RANK_NONE: for none. */
static uint32_t find_missing(const struct making *it, const struct gt_rank_lane_events *lane, uint32_t kernel) {
    for (uint32_t i = lane->first_member[kernel]; i < lane->first_member[kernel + 1]; i++) {
        uint32_t number = lane->members[i];
        if (it->schedule->visits[number].own == GT_RANK_VISIT_MEETS && it->missing[it->job->members[number].collective])
            return number;
    }
    return GT_RANK_NONE;
}

/* Goes on until the lane ends or has to wait. */
static void go_on(struct making *it, uint32_t rank) {
    struct gt_rank_schedule *schedule = it->schedule;
    const struct gt_rank_lane_events *lane = &schedule->lanes.items[rank];
    for (; it->next[rank] < lane->count; it->next[rank]++) {
        const struct gt_rank_event *event = &lane->events[it->next[rank]];
        uint32_t blocking = event->is_end ? find_missing(it, lane, event->kernel) : GT_RANK_NONE;
        if (blocking != GT_RANK_NONE) {
            uint32_t c = it->job->members[blocking].collective;
            it->next_blocked[rank] = it->blocked_at[c];
            it->blocked_at[c] = rank;
            return;
        }
        for (uint32_t i = lane->first_member[event->kernel]; i < lane->first_member[event->kernel + 1]; i++)
            (event->is_end ? leave : arrive)(it, lane->members[i]);
        schedule->order[schedule->count++] = rank;
    }
}

static void go_all(struct making *it) {
    while (it->queued)
        go_on(it, it->queue[--it->queued]);
}

/* ---- ranks that wait for each other ---- */

/* What a blocked rank would not wait for if messages and broadcasts are buffered; GT_RANK_NONE: nothing. */
static uint32_t buffered_of(const struct making *it, uint32_t rank) {
    const struct gt_rank_lane_events *lane = &it->schedule->lanes.items[rank];
    uint32_t number = find_missing(it, lane, lane->events[it->next[rank]].kernel);
    const struct gt_rank_collective *c = &it->job->collectives[it->job->members[number].collective];
    bool can_leave = c->kind == GT_COMM_KIND_MESSAGE ? rank == c->src : c->kind == GT_COMM_KIND_DIRECTED;
    return can_leave ? number : GT_RANK_NONE;
}

static void unblock(struct making *it, uint32_t rank, uint32_t collective) {
    uint32_t *link = &it->blocked_at[collective];
    while (*link != rank)
        link = &it->next_blocked[*link];
    *link = it->next_blocked[rank];
    it->queue[it->queued++] = rank;
}

/* Lets the sender go that waited least when it was recorded. false: there is none. */
static bool free_a_sender(struct making *it) {
    const struct gt_rank_member *members = it->job->members;
    uint32_t best = GT_RANK_NONE;
    for (uint32_t r = 0; r < it->job->rank_count; r++) {
        bool is_blocked = it->next[r] < it->schedule->lanes.items[r].count;
        uint32_t number = is_blocked ? buffered_of(it, r) : GT_RANK_NONE;
        if (number != GT_RANK_NONE && (best == GT_RANK_NONE || members[number].wait_ns < members[best].wait_ns))
            best = number;
    }
    if (best == GT_RANK_NONE)
        return false;
    /* A new slot: it came some time ago, when others were used. */
    set_alone(it->schedule, best, it->schedule->slot_count++);
    unblock(it, members[best].rank, members[best].collective);
    return true;
}

/* ---- all ---- */

static bool making_init(struct making *it, struct gt_rank_schedule *schedule) {
    const struct gt_rank_job *job = schedule->job;
    *it = (struct making){.schedule = schedule,
                          .job = job,
                          .next = gt_mem_array(job->rank_count, sizeof *it->next),
                          .missing = gt_mem_uninitialised(job->collective_count, sizeof *it->missing),
                          .staying = gt_mem_uninitialised(job->collective_count, sizeof *it->staying),
                          .next_blocked = gt_mem_uninitialised(job->rank_count, sizeof *it->next_blocked),
                          .blocked_at = gt_mem_uninitialised(job->collective_count, sizeof *it->blocked_at),
                          .queue = gt_mem_uninitialised(job->rank_count, sizeof *it->queue),
                          .free_slots =
                              gt_mem_uninitialised(job->collective_count + job->member_count, sizeof *it->free_slots)};
    return it->next && it->missing && it->staying && it->next_blocked && it->blocked_at && it->queue && it->free_slots;
}

static void making_release(struct making *it) {
    gt_mem_free(it->next);
    gt_mem_free(it->missing);
    gt_mem_free(it->staying);
    gt_mem_free(it->next_blocked);
    gt_mem_free(it->blocked_at);
    gt_mem_free(it->queue);
    gt_mem_free(it->free_slots);
}

static void make_order(struct making *it) {
    const struct gt_rank_job *job = it->job;
    for (size_t c = 0; c < job->collective_count; c++) {
        it->missing[c] = it->staying[c] = job->collectives[c].member_count;
        it->blocked_at[c] = GT_RANK_NONE;
    }
    for (uint32_t r = (uint32_t)job->rank_count; r-- > 0;)
        it->queue[it->queued++] = r;
    go_all(it);
    for (size_t freed = 0; freed * job->rank_count < FREEING_MAX && free_a_sender(it); freed++)
        go_all(it);
    it->schedule->is_whole = it->schedule->count == it->schedule->lanes.event_count;
}

bool gt_rank_schedule_init(struct gt_rank_schedule *schedule, const struct gt_rank_job *job) {
    struct making it = {0};
    schedule->job = job;
    schedule->begin_ns = gt_mem_uninitialised(job->rank_count, sizeof *schedule->begin_ns);
    schedule->visits = gt_mem_uninitialised(job->member_count, sizeof *schedule->visits);
    bool ok = schedule->begin_ns && schedule->visits && gt_rank_lanes_init(&schedule->lanes, job);
    schedule->order = ok ? gt_mem_uninitialised(schedule->lanes.event_count, sizeof *schedule->order) : NULL;
    for (uint32_t r = 0; ok && r < job->rank_count; r++)
        schedule->begin_ns[r] = gt_rank_clocks_aligned(job, r, job->ranks[r].summary->head.first_ns);
    for (size_t c = 0; ok && c < job->collective_count; c++)
        fill_visits(schedule, &job->collectives[c]);
    ok = ok && schedule->order && making_init(&it, schedule);
    if (ok)
        make_order(&it);
    making_release(&it);
    ok = ok && (!schedule->is_whole || gt_rank_lanes_level(&schedule->lanes, job));
    gt_rank_lanes_forget_steps(&schedule->lanes);
    return ok;
}

void gt_rank_schedule_release(struct gt_rank_schedule *schedule) {
    gt_mem_free(schedule->begin_ns);
    gt_mem_free(schedule->visits);
    gt_mem_free(schedule->order);
    gt_rank_lanes_release(&schedule->lanes);
    *schedule = (struct gt_rank_schedule){0};
}
