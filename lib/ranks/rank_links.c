/* Finds the collective that all members left last before they came to the next: in come matched collectives, out goes
   for each member the one before. Each member compares times of its own clock alone. */
#include "ranks/rank_links.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "events/comms.h"

enum { LOOKS_MAX = 1024, CHECKS = 64 };

/* A collective as a rank left it. Those of a rank that are usable in the same cases are a run, by end. */
struct exit {
    int64_t end_ns;
    uint64_t key; /* of the run: a set of members, or the ends of a message */
    uint32_t rank, collective;
};

struct linking {
    struct gt_rank_job *job;
    struct exit *exits;
    size_t exit_count;
    size_t *first_exit;     /* by rank, and the end */
    struct gt_map run_of;   /* (rank, key) -> first exit */
    uint32_t *supersets;    /* of each set, one after the other: sets of sync collectives that hold it */
    size_t *first_superset; /* by set, and the end */
    /* Whether all members of the collective at hand had left others before it. */
    uint32_t checked[CHECKS];
    bool had_left[CHECKS];
    uint32_t checked_for;
};

/* ---- exits ---- */

static uint64_t key_of_set(uint32_t set) {
    return set;
}

static uint64_t key_of_message(uint32_t src, uint32_t dst) {
    return (uint64_t)1 << 63 | (uint64_t)src << 32 | dst;
}

static int by_run(const void *a, const void *b) {
    const struct exit *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return (x->collective > y->collective) - (x->collective < y->collective);
}

static bool has_exit(const struct gt_rank_job *job, const struct gt_rank_member *member) {
    uint8_t kind = job->collectives[member->collective].kind;
    return kind == GT_COMM_KIND_SYNC || kind == GT_COMM_KIND_MESSAGE;
}

static struct exit exit_of(const struct gt_rank_job *job, const struct gt_rank_member *member) {
    const struct gt_rank_collective *c = &job->collectives[member->collective];
    uint64_t key = c->kind == GT_COMM_KIND_SYNC ? key_of_set(c->set) : key_of_message(c->src, c->dst);
    return (struct exit){gt_rank_job_kernel(job, member)->end_ns, key, member->rank, member->collective};
}

/* Rank by rank: sorting takes as much room again. */
static void sort_exits(void *context, size_t rank) {
    const struct linking *linking = context;
    size_t first = linking->first_exit[rank];
    qsort(linking->exits + first, linking->first_exit[rank + 1] - first, sizeof *linking->exits, by_run);
}

static bool list_exits(struct linking *linking) {
    struct gt_rank_job *job = linking->job;
    linking->exits = gt_mem_uninitialised(job->member_count, sizeof *linking->exits);
    linking->first_exit = gt_mem_array(job->rank_count + 2, sizeof *linking->first_exit);
    if (!linking->exits || !linking->first_exit)
        return false;
    size_t *next = linking->first_exit + 1; /* by rank: where its next one goes; in the end, its end */
    for (size_t i = 0; i < job->member_count; i++)
        linking->first_exit[job->members[i].rank + 2] += has_exit(job, &job->members[i]);
    for (size_t r = 0; r < job->rank_count; r++)
        next[r + 1] += next[r];
    linking->exit_count = next[job->rank_count];
    for (size_t i = 0; i < job->member_count; i++)
        if (has_exit(job, &job->members[i]))
            linking->exits[next[job->members[i].rank]++] = exit_of(job, &job->members[i]);
    gt_rank_job_each_rank(job, sort_exits, linking);
    for (size_t i = 0; i < linking->exit_count; i++)
        gt_map_put_if_new(&linking->run_of, linking->exits[i].rank, linking->exits[i].key, (uint32_t)i);
    return !linking->run_of.failed;
}

static bool is_of_run(const struct linking *linking, size_t at, size_t first) {
    return at < linking->exit_count && linking->exits[at].rank == linking->exits[first].rank &&
           linking->exits[at].key == linking->exits[first].key;
}

/* The last exit of a run up to a moment, but not of this collective; SIZE_MAX: none. */
static size_t last_exit(const struct linking *linking, uint32_t rank, uint64_t key, int64_t time_ns, uint32_t except) {
    size_t first = gt_map_get(&linking->run_of, rank, key);
    if (first == GT_MAP_NONE)
        return SIZE_MAX;
    size_t low = first, step = 1; /* everything before low is in the run and not later */
    while (is_of_run(linking, low + step - 1, first) && linking->exits[low + step - 1].end_ns <= time_ns) {
        low += step;
        step *= 2;
    }
    for (; step; step /= 2)
        while (is_of_run(linking, low + step - 1, first) && linking->exits[low + step - 1].end_ns <= time_ns)
            low += step;
    while (low > first && linking->exits[low - 1].collective == except)
        low--;
    return low > first ? low - 1 : SIZE_MAX;
}

/* ---- sets that hold others ---- */

static bool holds(const struct gt_rank_job *job, uint32_t outer, uint32_t inner) {
    const uint32_t *x = job->sets[outer], *y = job->sets[inner];
    size_t x_count = job->set_sizes[outer], y_count = job->set_sizes[inner], i = 0;
    if (x_count < y_count)
        return false;
    for (size_t j = 0; j < y_count; j++, i++) {
        while (i < x_count && x[i] < y[j])
            i++;
        if (i == x_count || x[i] != y[j])
            return false;
    }
    return true;
}

/* The runs of a rank that are sets, next to each other, since messages have larger keys. */
static bool list_supersets(struct linking *linking) {
    const struct gt_rank_job *job = linking->job;
    const size_t *first_exit = linking->first_exit;
    size_t count = 0, capacity = 0;
    linking->first_superset = gt_mem_array(job->set_count + 1, sizeof *linking->first_superset);
    if (!linking->first_superset)
        return false;
    for (uint32_t s = 0; s < job->set_count; s++) {
        uint32_t rank = job->sets[s][0];
        linking->first_superset[s] = count;
        for (size_t i = first_exit[rank]; i < first_exit[rank + 1];) {
            const struct exit *exit = &linking->exits[i];
            if (exit->key >> 63)
                break;
            if (holds(job, (uint32_t)exit->key, s)) {
                uint32_t *list = gt_mem_room(linking->supersets, count, &capacity, sizeof *list);
                if (!list)
                    return false;
                linking->supersets = list;
                list[count++] = (uint32_t)exit->key;
            }
            /* on to the next run */
            size_t last = last_exit(linking, rank, exit->key, INT64_MAX, GT_RANK_NONE);
            i = last + 1;
        }
    }
    linking->first_superset[job->set_count] = count;
    return true;
}

/* ---- the collective before ---- */

/* Of all runs that are usable for c and n, those of member m: calls back for each key. */
struct usable {
    const struct linking *linking;
    uint32_t collective;
    uint32_t receiver; /* of a message: n, who cannot have left before the other came; else GT_RANK_NONE */
    size_t count;
};

static uint64_t usable_key(const struct usable *usable, size_t index) {
    const struct gt_rank_job *job = usable->linking->job;
    const struct gt_rank_collective *c = &job->collectives[usable->collective];
    size_t first = usable->linking->first_superset[c->set];
    if (first + index < usable->linking->first_superset[c->set + 1])
        return key_of_set(usable->linking->supersets[first + index]);
    return key_of_message(usable->receiver == c->dst ? c->src : c->dst, usable->receiver);
}

static struct usable usable_for(const struct linking *linking, uint32_t collective, uint32_t n) {
    const struct gt_rank_collective *c = &linking->job->collectives[collective];
    bool is_message = c->kind == GT_COMM_KIND_MESSAGE;
    return (struct usable){linking, collective, is_message ? n : GT_RANK_NONE,
                           linking->first_superset[c->set + 1] - linking->first_superset[c->set] + is_message};
}

static bool is_later(const struct exit *x, const struct exit *y) {
    return x->end_ns != y->end_ns ? x->end_ns > y->end_ns : x->collective > y->collective;
}

/* What a member left last before it came; GT_RANK_NONE: nothing. */
static uint32_t named_by(const struct usable *usable, const struct gt_rank_member *member) {
    const struct linking *linking = usable->linking;
    int64_t start_ns = gt_rank_job_kernel(linking->job, member)->start_ns;
    const struct exit *best = NULL;
    for (size_t i = 0; i < usable->count; i++) {
        size_t at = last_exit(linking, member->rank, usable_key(usable, i), start_ns, usable->collective);
        if (at != SIZE_MAX && (!best || is_later(&linking->exits[at], best)))
            best = &linking->exits[at];
    }
    return best ? best->collective : GT_RANK_NONE;
}

/* What all members name; GT_RANK_NONE: they differ, or have nothing. */
static uint32_t named_by_all(const struct usable *usable) {
    const struct gt_rank_job *job = usable->linking->job;
    const struct gt_rank_collective *c = &job->collectives[usable->collective];
    uint32_t named = named_by(usable, &job->members[c->first_member]);
    for (size_t m = 1; m < c->member_count && named != GT_RANK_NONE; m++)
        if (named_by(usable, &job->members[c->first_member + m]) != named)
            return GT_RANK_NONE;
    return named;
}

static bool all_had_left(struct linking *linking, uint32_t before, uint32_t collective) {
    const struct gt_rank_job *job = linking->job;
    const struct gt_rank_collective *c = &job->collectives[collective];
    uint32_t slot = before % CHECKS;
    if (linking->checked_for != collective) {
        memset(linking->checked, 0xFF, sizeof linking->checked);
        linking->checked_for = collective;
    }
    if (linking->checked[slot] == before)
        return linking->had_left[slot];
    bool had = true;
    for (size_t m = 0; m < c->member_count && had; m++) {
        const struct gt_rank_member *member = &job->members[c->first_member + m];
        uint32_t there = gt_rank_job_member(job, before, member->rank);
        had = there != GT_RANK_NONE &&
              gt_rank_job_kernel(job, &job->members[there])->end_ns <= gt_rank_job_kernel(job, member)->start_ns;
    }
    linking->checked[slot] = before;
    linking->had_left[slot] = had;
    return had;
}

/* The latest to n of the same group that all had left. */
static uint32_t left_by_all(struct linking *linking, const struct usable *usable, const struct gt_rank_member *n) {
    const struct gt_rank_job *job = linking->job;
    int64_t start_ns = gt_rank_job_kernel(job, n)->start_ns;
    const struct exit *best = NULL;
    for (size_t i = 0; i < usable->count; i++) {
        uint64_t key = usable_key(usable, i);
        size_t at = last_exit(linking, n->rank, key, start_ns, usable->collective);
        size_t first = gt_map_get(&linking->run_of, n->rank, key);
        for (size_t looks = 0; at != SIZE_MAX && at >= first && looks < LOOKS_MAX; looks++, at--) {
            const struct exit *exit = &linking->exits[at];
            if (best && !is_later(exit, best))
                break;
            if (job->collectives[exit->collective].group == job->collectives[usable->collective].group &&
                exit->collective != usable->collective && all_had_left(linking, exit->collective, usable->collective)) {
                best = exit;
                break;
            }
            if (at == 0)
                break;
        }
    }
    return best ? best->collective : GT_RANK_NONE;
}

/* ---- who took longest from there ---- */

static int64_t own_since(const struct gt_rank_job *job, const struct gt_rank_member *member, uint32_t before) {
    uint32_t there = gt_rank_job_member(job, before, member->rank);
    return gt_rank_job_kernel(job, member)->start_ns - gt_rank_job_kernel(job, &job->members[there])->end_ns;
}

struct slowest {
    uint32_t before, rank;
    int64_t own_ns;
};

static void find_slowest(const struct gt_rank_job *job, const struct gt_rank_collective *c, uint32_t before,
                         struct slowest *slowest) {
    if (slowest->before == before)
        return;
    *slowest = (struct slowest){before, GT_RANK_NONE, INT64_MIN};
    for (size_t m = 0; m < c->member_count; m++) {
        const struct gt_rank_member *member = &job->members[c->first_member + m];
        int64_t own_ns = own_since(job, member, before);
        if (own_ns > slowest->own_ns) {
            slowest->own_ns = own_ns;
            slowest->rank = member->rank;
        }
    }
}

static void judge(struct gt_rank_job *job, struct gt_rank_collective *c) {
    struct slowest slowest = {.before = GT_RANK_NONE};
    struct gt_rank_member *members = &job->members[c->first_member], *waiting = &members[0];
    for (size_t m = 0; m < c->member_count; m++) {
        struct gt_rank_member *n = &members[m];
        waiting = n->wait_ns > waiting->wait_ns ? n : waiting;
        if (n->before == GT_RANK_NONE)
            continue;
        find_slowest(job, c, n->before, &slowest);
        n->delayer = slowest.rank;
    }
    if (waiting->before == GT_RANK_NONE)
        return;
    find_slowest(job, c, waiting->before, &slowest);
    if (slowest.own_ns > own_since(job, waiting, waiting->before))
        c->delayer = slowest.rank;
}

int64_t gt_rank_links_late(const struct gt_rank_job *job, const struct gt_rank_member *n) {
    if (n->before == GT_RANK_NONE)
        return 0;
    const struct gt_rank_member *delayer = &job->members[gt_rank_job_member(job, n->collective, n->delayer)];
    int64_t longer_ns = own_since(job, delayer, n->before) - own_since(job, n, n->before);
    return longer_ns < n->wait_ns ? longer_ns : n->wait_ns;
}

void gt_rank_links_own(const struct gt_rank_job *job, const struct gt_rank_collective *c, int64_t *own_ns) {
    const struct gt_rank_member *members = &job->members[c->first_member], *waiting = &members[0];
    for (size_t m = 0; m < c->member_count; m++)
        waiting = members[m].wait_ns > waiting->wait_ns ? &members[m] : waiting;
    for (size_t m = 0; m < c->member_count; m++)
        own_ns[m] = waiting->before == GT_RANK_NONE ? GT_RANK_NO_NS : own_since(job, &members[m], waiting->before);
}

static void link_one(struct linking *linking, uint32_t number) {
    struct gt_rank_job *job = linking->job;
    struct gt_rank_collective *c = &job->collectives[number];
    bool is_message = c->kind == GT_COMM_KIND_MESSAGE;
    uint32_t common = GT_RANK_NONE;
    for (size_t m = 0; m < c->member_count; m++) {
        struct gt_rank_member *n = &job->members[c->first_member + m];
        struct usable usable = usable_for(linking, number, n->rank);
        if (m == 0 || is_message)
            common = named_by_all(&usable);
        n->before = common != GT_RANK_NONE ? common : left_by_all(linking, &usable, n);
    }
    judge(job, c);
}

/* Each with checks of its own. */
static void link_some(void *context, size_t first, size_t end) {
    struct linking linking = *(const struct linking *)context;
    for (size_t c = first; c < end; c++)
        link_one(&linking, (uint32_t)c);
}

bool gt_rank_links_make(struct gt_rank_job *job) {
    struct linking linking = {.job = job, .checked_for = GT_RANK_NONE};
    bool ok = list_exits(&linking) && list_supersets(&linking);
    if (ok)
        gt_rank_job_share(job, job->collective_count, link_some, &linking);
    gt_map_release(&linking.run_of);
    gt_mem_free(linking.exits);
    gt_mem_free(linking.first_exit);
    gt_mem_free(linking.supersets);
    gt_mem_free(linking.first_superset);
    return ok;
}
