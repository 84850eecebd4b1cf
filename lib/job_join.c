/* Lists that are to be joined are cut into shares of about equal size, one for each process, and sent there: 24 bytes
   for each collective and rank, and once for each reference list in a share. 4 bytes each come back. Every pair is
   joined by itself, so the result does not depend on the cuts. */
#include "job_join.h"

#include <string.h>

#include "base/mem.h"

/* Before the bytes of a share. */
struct share_head {
    uint64_t pairs, bytes, places; /* places: items of all b */
};

/* Before the lists of a pair; without a, it is that of the pair before. */
struct pair_head {
    uint64_t a_count, b_count;
    uint32_t has_a, are_messages;
};

static size_t list_bytes(size_t count) {
    return count * (sizeof(int64_t) + sizeof(uint64_t) + sizeof(int64_t));
}

static bool has_a(const struct gt_rank_join_pair *pairs, size_t index) {
    return index == 0 || pairs[index].a.end_ns != pairs[index - 1].a.end_ns;
}

bool gt_job_join_is_worth(const struct gt_rank_join_pair *pairs, size_t count) {
    const size_t least = 2000;
    size_t items = 0;
    for (size_t i = 0; i < count && items < least; i++)
        items += pairs[i].b.count;
    return items >= least;
}

/* ---- shares as bytes ---- */

static struct share_head measure(const struct gt_rank_join_pair *pairs, size_t count) {
    struct share_head head = {.pairs = count};
    for (size_t i = 0; i < count; i++) {
        head.bytes += sizeof(struct pair_head) + list_bytes(pairs[i].b.count);
        head.bytes += has_a(pairs, i) ? list_bytes(pairs[i].a.count) : 0;
        head.places += pairs[i].b.count;
    }
    return head;
}

static char *put(char *at, const void *bytes, size_t count) {
    if (count)
        memcpy(at, bytes, count);
    return at + count;
}

static char *put_list(char *at, const struct gt_rank_join_list *list) {
    at = put(at, list->end_ns, list->count * sizeof *list->end_ns);
    at = put(at, list->label, list->count * sizeof *list->label);
    return put(at, list->step, list->count * sizeof *list->step);
}

static void put_share(char *at, const struct gt_rank_join_pair *pairs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct pair_head head = {pairs[i].a.count, pairs[i].b.count, has_a(pairs, i), pairs[i].are_messages};
        at = put(at, &head, sizeof head);
        if (head.has_a)
            at = put_list(at, &pairs[i].a);
        at = put_list(at, &pairs[i].b);
    }
}

/* All parts are multiples of eight bytes, so lists can stay where they are. */
static const char *take_list(const char *at, size_t count, struct gt_rank_join_list *list) {
    const void *end_ns = at, *label = at + count * sizeof(int64_t), *step = at + 2 * count * sizeof(int64_t);
    *list = (struct gt_rank_join_list){end_ns, label, step, count};
    return at + list_bytes(count);
}

static void take_share(const char *at, size_t count, uint32_t *partner, struct gt_rank_join_pair *pairs) {
    struct gt_rank_join_list a = {0};
    for (size_t i = 0; i < count; i++) {
        struct pair_head head;
        memcpy(&head, at, sizeof head);
        at += sizeof head;
        if (head.has_a)
            at = take_list(at, (size_t)head.a_count, &a);
        pairs[i] = (struct gt_rank_join_pair){.a = a, .are_messages = head.are_messages, .partner = partner};
        at = take_list(at, (size_t)head.b_count, &pairs[i].b);
        partner += head.b_count;
    }
}

/* ---- another process ---- */

void gt_job_join_serve(const struct gputime_team *team, int64_t threads) {
    struct share_head head;
    team->receive(team->context, 0, &head, sizeof head);
    char *bytes = gt_mem_alloc((size_t)head.bytes + 1);
    uint32_t *partner = gt_mem_uninitialised((size_t)head.places + 1, sizeof *partner);
    struct gt_rank_join_pair *pairs = gt_mem_array((size_t)head.pairs + 1, sizeof *pairs);
    unsigned char *guessed = gt_mem_array((size_t)head.pairs + 1, sizeof *guessed);
    if (bytes && partner && pairs && guessed) {
        team->receive(team->context, 0, bytes, (size_t)head.bytes);
        take_share(bytes, (size_t)head.pairs, partner, pairs);
    }
    if (!bytes || !partner || !pairs || !guessed || !gt_rank_joins_run_here(pairs, (size_t)head.pairs, threads)) {
        team->give_up(team->context, "out of memory for lists of collectives");
    } else {
        for (size_t i = 0; i < head.pairs; i++)
            guessed[i] = pairs[i].is_guessed;
        team->send(team->context, 0, partner, (size_t)head.places * sizeof *partner);
        team->send(team->context, 0, guessed, (size_t)head.pairs);
    }
    gt_mem_free(bytes);
    gt_mem_free(partner);
    gt_mem_free(pairs);
    gt_mem_free(guessed);
}

/* ---- process 0 ---- */

static bool send_share(const struct gputime_team *team, uint32_t to, const struct gt_rank_join_pair *pairs,
                       size_t count) {
    struct share_head head = measure(pairs, count);
    char *bytes = gt_mem_alloc((size_t)head.bytes + 1);
    if (!bytes)
        return false;
    put_share(bytes, pairs, count);
    team->send(team->context, to, &head, sizeof head);
    team->send(team->context, to, bytes, (size_t)head.bytes);
    gt_mem_free(bytes);
    return true;
}

static bool receive_share(const struct gputime_team *team, uint32_t from, struct gt_rank_join_pair *pairs,
                          size_t count) {
    struct share_head head = measure(pairs, count);
    uint32_t *partner = gt_mem_uninitialised((size_t)head.places + 1, sizeof *partner);
    unsigned char *guessed = gt_mem_uninitialised(count + 1, sizeof *guessed);
    bool ok = partner && guessed;
    const uint32_t *at = partner;
    if (ok) {
        team->receive(team->context, from, partner, (size_t)head.places * sizeof *partner);
        team->receive(team->context, from, guessed, count);
    }
    for (size_t i = 0; ok && i < count; i++) {
        if (pairs[i].b.count)
            memcpy(pairs[i].partner, at, pairs[i].b.count * sizeof *at);
        at += pairs[i].b.count;
        pairs[i].is_guessed = guessed[i];
    }
    gt_mem_free(partner);
    gt_mem_free(guessed);
    return ok;
}

/* The first pair of each process, and the end: so many items for each as come out even. */
static void cut(const struct gt_rank_join_pair *pairs, size_t count, uint32_t processes, size_t *firsts) {
    uint64_t all = 0, before = 0;
    uint32_t process = 0;
    for (size_t i = 0; i < count; i++)
        all += pairs[i].a.count + pairs[i].b.count;
    for (size_t i = 0; i < count; i++) {
        while (process < processes && before * processes >= all * process)
            firsts[process++] = i;
        before += pairs[i].a.count + pairs[i].b.count;
    }
    while (process <= processes)
        firsts[process++] = count;
}

bool gt_job_join_lead(const struct gputime_team *team, struct gt_rank_join_pair *pairs, size_t count, int64_t threads) {
    uint32_t processes = team->process_count;
    size_t *firsts = gt_mem_array(processes + (size_t)1, sizeof *firsts);
    bool ok = firsts != NULL;
    if (ok)
        cut(pairs, count, processes, firsts);
    for (uint32_t p = 1; ok && p < processes; p++)
        ok = send_share(team, p, pairs + firsts[p], firsts[p + 1] - firsts[p]);
    ok = ok && gt_rank_joins_run_here(pairs, firsts[1], threads);
    for (uint32_t p = 1; ok && p < processes; p++)
        ok = receive_share(team, p, pairs + firsts[p], firsts[p + 1] - firsts[p]);
    gt_mem_free(firsts);
    if (!ok) /* the others wait for their shares, or have sent what cannot be taken */
        team->give_up(team->context, "out of memory for lists of collectives");
    return ok;
}
