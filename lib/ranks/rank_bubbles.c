/* Measures pipelines: messages of a step come in, stages and what they waited for messages go out. */
#include "ranks/rank_bubbles.h"

#include <stdlib.h>

#include "base/mem.h"
#include "events/comms.h"
#include "ranks/rank_tiles.h"

/* A message between two ranks in a step. */
struct message {
    uint32_t step, low, high;
    bool is_up;      /* from low to high */
    uint32_t kernel; /* on the lower rank: they are in order of time */
};

/* All messages of a step in the forward direction of one pair. */
struct channel {
    uint32_t from, to;
    size_t count;
};

struct pipeline {
    struct gt_rank_job *job;
    const struct message *messages;
    size_t message_count;
    struct channel *channels;
    size_t channel_count;
    int64_t *stage;    /* by rank; NO_PART: it takes no part */
    int64_t *waits_ns; /* for messages, by step, then rank */
    uint32_t *waiting; /* by rank: incoming channels that are not done */
    size_t capacity;
};

enum { NO_PART = -2, IN_CYCLE = -1 };

static int by_pair(const void *a, const void *b) {
    const struct message *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    if (x->kernel != y->kernel)
        return x->kernel < y->kernel ? -1 : 1;
    return y->is_up - x->is_up; /* both ways in one kernel: up is forward */
}

static struct message *new_messages(const struct gt_rank_job *job, size_t *count) {
    struct message *list = gt_mem_uninitialised(job->collective_count, sizeof *list);
    *count = 0;
    for (size_t c = 0; list && c < job->collective_count; c++) {
        const struct gt_rank_collective *it = &job->collectives[c];
        const struct gt_rank_member *members = &job->members[it->first_member];
        if (it->kind != GT_COMM_KIND_MESSAGE || !it->has_step || it->member_count != 2)
            continue;
        size_t step = gt_rank_job_step(job, it->step);
        if (step < job->step_count)
            list[(*count)++] = (struct message){(uint32_t)step, members[0].rank, members[1].rank, it->src < it->dst,
                                                members[0].kernel};
    }
    if (list && *count)
        qsort(list, *count, sizeof *list, by_pair);
    return list;
}

/* ---- stages ---- */

/* The direction of a pair's first message is forward. */
static void list_channels(struct pipeline *it) {
    it->channel_count = 0;
    for (size_t i = 0, end; i < it->message_count; i = end) {
        const struct message *first = &it->messages[i];
        struct channel channel = {first->is_up ? first->low : first->high, first->is_up ? first->high : first->low, 0};
        for (end = i;
             end < it->message_count && it->messages[end].low == first->low && it->messages[end].high == first->high;
             end++)
            channel.count += it->messages[end].is_up == first->is_up;
        it->channels[it->channel_count++] = channel;
        it->stage[channel.from] = it->stage[channel.to] = IN_CYCLE;
    }
}

static int by_from(const void *a, const void *b) {
    const struct channel *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* Longest paths: a rank is done once all that send to it are. queue: room for all ranks. */
static void number_stages(struct pipeline *it, uint32_t *queue) {
    size_t queued = 0;
    qsort(it->channels, it->channel_count, sizeof *it->channels, by_from);
    for (size_t i = 0; i < it->channel_count; i++)
        it->waiting[it->channels[i].to]++;
    for (size_t i = 0; i < it->channel_count; i++) {
        uint32_t from = it->channels[i].from;
        if ((i == 0 || it->channels[i - 1].from != from) && it->waiting[from] == 0) {
            it->stage[from] = 0;
            queue[queued++] = from;
        }
    }
    for (size_t done = 0; done < queued; done++) {
        size_t low = 0, high = it->channel_count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (it->channels[middle].from < queue[done])
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < it->channel_count && it->channels[low].from == queue[done]; low++) {
            uint32_t to = it->channels[low].to;
            int64_t stage = it->stage[queue[done]] + 1;
            it->stage[to] = stage > it->stage[to] ? stage : it->stage[to];
            if (--it->waiting[to] == 0)
                queue[queued++] = to;
        }
    }
    for (size_t i = 0; i < it->channel_count; i++) /* what still waits is in a cycle, or after one */
        if (it->waiting[it->channels[i].to]) {
            it->stage[it->channels[i].to] = IN_CYCLE;
            it->waiting[it->channels[i].to] = 0;
        }
}

/* ---- waits for messages ---- */

static int64_t message_wait_ns(const struct gt_rank_job *job, const struct gt_rank_lane *rank,
                               const struct gt_rank_step *step) {
    int64_t sum_ns = 0;
    for (size_t t = gt_rank_tiles_after(rank, step->start_ns);
         t < rank->tile_count && rank->tiles[t].start_ns < step->end_ns; t++) {
        const struct gt_rank_tile *tile = &rank->tiles[t];
        const struct gt_rank_member *member = &job->members[rank->kernel_member[tile->kernel]];
        int64_t start_ns = tile->start_ns > step->start_ns ? tile->start_ns : step->start_ns;
        int64_t tile_end_ns = gt_rank_tiles_end_ns(tile);
        int64_t end_ns = tile_end_ns < step->end_ns ? tile_end_ns : step->end_ns;
        if (job->collectives[member->collective].kind == GT_COMM_KIND_MESSAGE)
            sum_ns += end_ns - start_ns;
    }
    return sum_ns;
}

/* By step, then rank; NULL: memory was short. Several steps of a rank may have one number. */
static int64_t *new_message_waits(const struct gt_rank_job *job) {
    int64_t *waits_ns = gt_mem_array(job->step_count * job->rank_count, sizeof *waits_ns);
    for (size_t r = 0; waits_ns && r < job->rank_count; r++)
        for (size_t s = 0; s < job->ranks[r].summary->steps_count; s++) {
            const struct gt_rank_step *step = &job->ranks[r].summary->steps[s];
            size_t place = gt_rank_job_step(job, step->number);
            if (place < job->step_count)
                waits_ns[place * job->rank_count + r] += message_wait_ns(job, &job->ranks[r], step);
        }
    return waits_ns;
}

/* Several pipelines may run the same stages. Where messages form a cycle, all ranks that take part count. */
static size_t count_stages(const struct pipeline *it) {
    size_t ranks = 0, stages = 0;
    bool is_cyclic = false;
    for (size_t r = 0; r < it->job->rank_count; r++) {
        ranks += it->stage[r] != NO_PART;
        is_cyclic |= it->stage[r] == IN_CYCLE;
        stages = it->stage[r] >= 0 && (size_t)it->stage[r] + 1 > stages ? (size_t)it->stage[r] + 1 : stages;
    }
    return is_cyclic ? ranks : stages;
}

static bool add_bubbles(struct pipeline *it) {
    struct gt_rank_job *job = it->job;
    uint32_t step = it->messages[0].step;
    size_t most = 0;
    for (size_t i = 0; i < it->channel_count; i++)
        most = it->channels[i].count > most ? it->channels[i].count : most;
    size_t stages = count_stages(it);
    for (uint32_t r = 0; r < job->rank_count; r++) {
        if (it->stage[r] == NO_PART)
            continue;
        struct gt_rank_bubble *list =
            gt_arena_room(&job->arena, job->bubbles, job->bubble_count, &it->capacity, sizeof *list);
        if (!list)
            return false;
        job->bubbles = list;
        list[job->bubble_count++] =
            (struct gt_rank_bubble){.step = step,
                                    .rank = r,
                                    .stage = it->stage[r],
                                    .stages = stages,
                                    .micro_batches = most,
                                    .step_ns = job->windows[step * job->rank_count + r].step_ns,
                                    .bubble_ns = it->waits_ns[step * job->rank_count + r],
                                    .ideal_share = (double)(stages - 1) / (double)(most + stages - 1)};
        it->stage[r] = NO_PART;
    }
    return true;
}

bool gt_rank_bubbles_measure(struct gt_rank_job *job) {
    size_t count;
    struct message *messages = new_messages(job, &count);
    struct pipeline it = {.job = job,
                          .channels = gt_mem_uninitialised(count, sizeof *it.channels),
                          .stage = gt_mem_uninitialised(job->rank_count, sizeof *it.stage),
                          .waits_ns = new_message_waits(job),
                          .waiting = gt_mem_array(job->rank_count, sizeof *it.waiting)};
    uint32_t *queue = gt_mem_uninitialised(job->rank_count, sizeof *queue);
    bool ok = messages && it.channels && it.stage && it.waits_ns && it.waiting && queue;
    for (size_t r = 0; ok && r < job->rank_count; r++)
        it.stage[r] = NO_PART;
    for (size_t i = 0, end; ok && i < count; i = end) {
        for (end = i + 1; end < count && messages[end].step == messages[i].step; end++)
            continue;
        it.messages = messages + i;
        it.message_count = end - i;
        list_channels(&it);
        number_stages(&it, queue);
        ok = add_bubbles(&it);
    }
    gt_mem_free(messages);
    gt_mem_free(it.channels);
    gt_mem_free(it.stage);
    gt_mem_free(it.waits_ns);
    gt_mem_free(it.waiting);
    gt_mem_free(queue);
    return ok;
}
