/* Plays a schedule: pieces of own time come in, how long the job takes goes out. All changes are played in step, so
   that the schedule is read once for all of them. */
#include "ranks/rank_play.h"

#include "base/mem.h"

enum { LANES = GT_RANK_PLAY_LANES };

struct times {
    int64_t ns[LANES];
};

struct playing {
    const struct gt_rank_schedule *schedule;
    struct times *now;     /* by rank */
    struct times *leveled; /* by rank: all bits in the lanes in which it is like the others */
    struct times by_need;  /* all bits in the lanes in which members leave when they have moved their data */
    bool is_any_by_need;
    struct times *slots;
    size_t *next; /* by rank: the event it comes to */
};

static inline void pass_piece(struct playing *it, const struct gt_rank_lane_events *lane, uint32_t rank, size_t piece) {
    int64_t ns = lane->pieces[piece], less_ns = lane->level[piece] - ns;
    for (int k = 0; k < LANES; k++)
        it->now[rank].ns[k] += ns + (it->leveled[rank].ns[k] & less_ns);
}

static inline void arrive(struct playing *it, const struct times *now, uint32_t number) {
    const struct gt_rank_visit *visit = &it->schedule->visits[number];
    struct times *last = &it->slots[visit->arrival];
    for (int k = 0; k < LANES; k++)
        last->ns[k] = visit->is_first || now->ns[k] > last->ns[k] ? now->ns[k] : last->ns[k];
    if (visit->own != GT_RANK_VISIT_MEETS)
        it->slots[visit->own] = *now;
}

static inline void leave(struct playing *it, struct times *now, uint32_t number) {
    const struct gt_rank_visit *visit = &it->schedule->visits[number];
    const struct times *since = &it->slots[visit->own != GT_RANK_VISIT_MEETS ? visit->own : visit->arrival];
    int64_t takes_ns = visit->takes_ns,
            more_ns = it->is_any_by_need ? gt_rank_schedule_need(it->schedule, number) - takes_ns : 0;
    for (int k = 0; k < LANES; k++) {
        int64_t end_ns = since->ns[k] + takes_ns + (it->by_need.ns[k] & more_ns);
        now->ns[k] = end_ns > now->ns[k] ? end_ns : now->ns[k];
    }
}

static void visit_events(struct playing *it) {
    const struct gt_rank_schedule *schedule = it->schedule;
    for (size_t i = 0; i < schedule->count; i++) {
        uint32_t rank = schedule->order[i];
        const struct gt_rank_lane_events *lane = &schedule->lanes.items[rank];
        size_t at = it->next[rank]++;
        struct gt_rank_event event = lane->events[at];
        pass_piece(it, lane, rank, at);
        for (uint32_t m = lane->first_member[event.kernel]; m < lane->first_member[event.kernel + 1]; m++)
            if (event.is_end)
                leave(it, &it->now[rank], lane->members[m]);
            else
                arrive(it, &it->now[rank], lane->members[m]);
    }
}

static bool is_leveled_in(const struct gt_rank_change *change, size_t rank) {
    bool is_leveled = change->is_all_leveled;
    for (size_t i = 0; i < change->leveled_count && !is_leveled; i++)
        is_leveled = change->leveled[i] == rank;
    return is_leveled;
}

static void set_changes(struct playing *it, const struct gt_rank_change *changes, size_t count) {
    const struct gt_rank_schedule *schedule = it->schedule;
    for (size_t r = 0; r < schedule->job->rank_count; r++)
        for (size_t k = 0; k < LANES; k++) {
            it->leveled[r].ns[k] = k < count && is_leveled_in(&changes[k], r) ? -1 : 0;
            it->now[r].ns[k] = schedule->begin_ns[r];
        }
    for (size_t k = 0; k < LANES; k++) {
        it->by_need.ns[k] = k < count && changes[k].is_by_need ? -1 : 0;
        it->is_any_by_need |= k < count && changes[k].is_by_need;
    }
}

static void find_lengths(struct playing *it, size_t count, int64_t *took_ns) {
    const struct gt_rank_schedule *schedule = it->schedule;
    for (size_t k = 0; k < count; k++) {
        int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
        for (uint32_t r = 0; r < schedule->job->rank_count; r++) {
            first_ns = schedule->begin_ns[r] < first_ns ? schedule->begin_ns[r] : first_ns;
            last_ns = it->now[r].ns[k] > last_ns ? it->now[r].ns[k] : last_ns;
        }
        took_ns[k] = last_ns - first_ns;
    }
}

bool gt_rank_play(const struct gt_rank_schedule *schedule, const struct gt_rank_change *changes, size_t count,
                  int64_t *took_ns) {
    size_t ranks = schedule->job->rank_count;
    struct playing it = {.schedule = schedule,
                         .now = gt_mem_uninitialised(ranks, sizeof *it.now),
                         .leveled = gt_mem_uninitialised(ranks, sizeof *it.leveled),
                         .slots = gt_mem_uninitialised(schedule->slot_count, sizeof *it.slots),
                         .next = gt_mem_array(ranks, sizeof *it.next)};
    bool ok = it.now && it.leveled && it.slots && it.next;
    if (ok) {
        set_changes(&it, changes, count);
        visit_events(&it);
        for (uint32_t r = 0; r < ranks; r++) /* what is after the last event */
            pass_piece(&it, &schedule->lanes.items[r], r, schedule->lanes.items[r].count);
        find_lengths(&it, count, took_ns);
    }
    gt_mem_free(it.now);
    gt_mem_free(it.leveled);
    gt_mem_free(it.slots);
    gt_mem_free(it.next);
    return ok;
}
