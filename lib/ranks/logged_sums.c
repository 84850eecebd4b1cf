/* Sums logs: they are sorted by what a sum is of, and each run of equal ones becomes a row. */
#include "ranks/logged_sums.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/quantile.h"
#include "events/comms.h"

size_t gt_logged_sums_end(const struct gt_logged *logged, size_t first, gt_logged_order *order) {
    size_t end = first + 1;
    while (end < logged->entry_count && order(&logged->entries[first], &logged->entries[end]) == 0)
        end++;
    return end;
}

bool gt_logged_sums_is_message(const struct gt_logged_entry *entry) {
    return gt_comms_op_kind((enum gt_comm_op)entry->log->op) == GT_COMM_KIND_MESSAGE || entry->log->peer >= 0;
}

/* ---- values of a run ---- */

struct samples {
    double *values;
    size_t count;
};

enum value { LENGTH, TRANSFER, ALGBW, BUSBW, TRANSFER_BUSBW };

/* Negative: not known. */
static double value_of(const struct gt_logged_entry *entry, enum value value) {
    switch (value) {
    case LENGTH:
        return (double)entry->log->length_ns;
    case TRANSFER:
        return entry->is_shortest ? (double)entry->log->length_ns : -1;
    case ALGBW:
        return entry->log->algbw;
    case BUSBW:
        return entry->log->busbw;
    case TRANSFER_BUSBW:
        break;
    }
    return entry->is_shortest ? entry->log->busbw : -1;
}

static struct samples *take(struct samples *samples, const struct gt_logged_entry *run, size_t count,
                            enum value value) {
    samples->count = 0;
    for (size_t i = 0; i < count; i++)
        if (value_of(&run[i], value) >= 0)
            samples->values[samples->count++] = value_of(&run[i], value);
    return samples;
}

static double quantile(struct samples *samples, double level) {
    return samples->count ? gt_quantile_real(samples->values, samples->count, level) : NAN;
}

static int64_t total_of(const struct gt_logged_entry *run, size_t count) {
    int64_t total_ns = 0;
    for (size_t i = 0; i < count; i++)
        if (run[i].log->length_ns > 0)
            total_ns = gt_ns_add(total_ns, run[i].log->length_ns);
    return total_ns;
}

/* ---- rows ---- */

struct summing {
    struct gt_logged *logged;
    struct samples samples;
    uint32_t group; /* of the run */
};

static void add_size(struct summing *it, const struct gt_logged_entry *run, size_t count) {
    struct gt_logged *logged = it->logged;
    struct gt_logged_size *sizes =
        gt_arena_room(&logged->arena, logged->sizes, logged->size_count, &logged->size_capacity, sizeof *sizes);
    if (!sizes)
        return;
    logged->sizes = sizes;
    struct gt_logged_size *size = &sizes[logged->size_count++];
    *size = (struct gt_logged_size){.group = it->group,
                                    .op = run->log->op,
                                    .name = gt_rank_summary_text(run->summary, run->log->name),
                                    .timing = gt_rank_summary_text(run->summary, run->log->timing),
                                    .bytes = run->log->bytes,
                                    .count = count,
                                    .total_ns = total_of(run, count),
                                    .traced_p50_ns = NAN};
    for (size_t i = 0; i < count; i++)
        size->compared += run[i].is_shortest;
    size->p50_ns = quantile(take(&it->samples, run, count, LENGTH), 0.5);
    size->p90_ns = quantile(&it->samples, 0.9);
    size->transfer_p50_ns = quantile(take(&it->samples, run, count, TRANSFER), 0.5);
    size->algbw_p50 = quantile(take(&it->samples, run, count, ALGBW), 0.5);
    size->busbw_p10 = quantile(take(&it->samples, run, count, BUSBW), 0.1);
    size->busbw_p50 = quantile(&it->samples, 0.5);
    size->busbw_p90 = quantile(&it->samples, 0.9);
}

static void add_rank(struct summing *it, const struct gt_logged_entry *run, size_t count) {
    struct gt_logged *logged = it->logged;
    struct gt_logged_rank *ranks =
        gt_arena_room(&logged->arena, logged->ranks, logged->rank_count, &logged->rank_capacity, sizeof *ranks);
    if (!ranks)
        return;
    logged->ranks = ranks;
    struct gt_logged_rank *rank = &ranks[logged->rank_count++];
    *rank = (struct gt_logged_rank){.group = it->group,
                                    .place = run->lane->place,
                                    .host = gt_rank_summary_text(run->summary, run->summary->head.host),
                                    .count = count,
                                    .total_ns = total_of(run, count)};
    for (size_t i = 0; i < count; i++) {
        rank->messages += gt_logged_sums_is_message(&run[i]);
        rank->compared += run[i].wait_ns >= 0;
        rank->last += run[i].is_last;
        rank->wait_ns = gt_ns_add(rank->wait_ns, run[i].wait_ns > 0 ? run[i].wait_ns : 0);
        rank->held_ns = gt_ns_add(rank->held_ns, run[i].held_ns);
    }
    rank->busbw_p50 = quantile(take(&it->samples, run, count, BUSBW), 0.5);
    logged->groups[it->group].ranks++;
    logged->groups[it->group].only_rank = rank->place;
}

static void add_link(struct summing *it, const struct gt_logged_entry *run, size_t count) {
    struct gt_logged *logged = it->logged;
    if (!gt_logged_sums_is_message(run))
        return;
    struct gt_logged_link *links =
        gt_arena_room(&logged->arena, logged->links, logged->link_count, &logged->link_capacity, sizeof *links);
    if (!links)
        return;
    logged->links = links;
    struct gt_logged_link *link = &links[logged->link_count++];
    *link = (struct gt_logged_link){.group = it->group,
                                    .place = run->lane->place,
                                    .peer = run->log->peer,
                                    .op = run->log->op,
                                    .name = gt_rank_summary_text(run->summary, run->log->name),
                                    .count = count,
                                    .total_ns = total_of(run, count)};
    for (size_t i = 0; i < count; i++)
        link->bytes += run[i].log->bytes == UINT64_MAX ? 0 : run[i].log->bytes;
    link->busbw_p50 = quantile(take(&it->samples, run, count, BUSBW), 0.5);
    link->busbw_best = quantile(&it->samples, 1);
}

/* Numbers of one operation on one rank: those that are not there were not logged. */
static void count_missing(struct summing *it, const struct gt_logged_entry *run, size_t count) {
    size_t numbers = 0;
    uint64_t first = 0, last = 0;
    for (size_t i = 0; i < count; i++) {
        if (run[i].log->sequence == INT64_MIN)
            continue;
        if (numbers && (uint64_t)run[i].log->sequence == last)
            continue;
        first = numbers++ ? first : (uint64_t)run[i].log->sequence;
        last = (uint64_t)run[i].log->sequence;
    }
    if (numbers && !gt_logged_sums_is_message(run)) {
        struct gt_logged_group *group = &it->logged->groups[it->group];
        uint64_t most = INT64_MAX - group->missing, missing = last - first - (numbers - 1);
        group->missing += missing < most ? missing : most;
    }
}

static void sum_group(struct summing *it, const struct gt_logged_entry *run, size_t count) {
    struct gt_logged_group *group = &it->logged->groups[it->group];
    group->records = count;
    for (size_t i = 0; i < count; i++)
        group->messages += gt_logged_sums_is_message(&run[i]);
    take(&it->samples, run, count, group->compared ? TRANSFER_BUSBW : BUSBW);
    group->busbw_p50 = quantile(&it->samples, 0.5);
}

/* Groups are in the order of every order. */
static void each_run(struct summing *it, gt_logged_order *order,
                     void (*add)(struct summing *, const struct gt_logged_entry *, size_t)) {
    struct gt_logged *logged = it->logged;
    it->group = 0;
    gt_logged_order_sort(logged, order);
    for (size_t first = 0, end; first < logged->entry_count && !gt_arena_failed(&logged->arena); first = end) {
        end = gt_logged_sums_end(logged, first, order);
        it->group += first && gt_logged_order_group(&logged->entries[first - 1], &logged->entries[first]) != 0;
        add(it, &logged->entries[first], end - first);
    }
}

/* ---- groups against others of their kind ---- */

static bool is_comparable(const struct gt_logged *logged, const struct gt_logged_size *x,
                          const struct gt_logged_size *y) {
    const struct gt_logged_group *of_x = &logged->groups[x->group], *of_y = &logged->groups[y->group];
    return x->group != y->group && y->compared && x->op == y->op && x->bytes == y->bytes &&
           gt_str_eq(x->name, y->name) && of_x->size == of_y->size && of_x->nodes == of_y->nodes;
}

/* What a transfer of this size takes in the other groups: their median. NAN: there is none. */
static double usual_ns(struct summing *it, const struct gt_logged_size *size) {
    const struct gt_logged *logged = it->logged;
    it->samples.count = 0;
    for (size_t i = 0; i < logged->size_count; i++)
        if (is_comparable(logged, size, &logged->sizes[i]))
            it->samples.values[it->samples.count++] = logged->sizes[i].transfer_p50_ns;
    return quantile(&it->samples, 0.5);
}

enum { MOST_COMPARED_SIZES = 4096 }; /* every one with every other */

static void compare_groups(struct summing *it) {
    struct gt_logged *logged = it->logged;
    if (logged->size_count > MOST_COMPARED_SIZES)
        return;
    for (size_t first = 0, end; first < logged->size_count; first = end) {
        double own_ns = 0, others_ns = 0;
        for (end = first; end < logged->size_count && logged->sizes[end].group == logged->sizes[first].group; end++) {
            const struct gt_logged_size *size = &logged->sizes[end];
            double usual = size->compared ? usual_ns(it, size) : NAN;
            if (isnan(usual))
                continue;
            own_ns += (double)size->compared * size->transfer_p50_ns;
            others_ns += (double)size->compared * usual;
        }
        if (others_ns > 0)
            logged->groups[logged->sizes[first].group].slow_factor = own_ns / others_ns;
    }
}

bool gt_logged_sums_make(struct gt_logged *logged) {
    struct summing it = {.logged = logged};
    it.samples.values = gt_mem_uninitialised(logged->entry_count, sizeof *it.samples.values);
    if (!it.samples.values)
        return false;
    each_run(&it, gt_logged_order_size, add_size);
    each_run(&it, gt_logged_order_rank, add_rank);
    each_run(&it, gt_logged_order_link, add_link);
    each_run(&it, gt_logged_order_series, count_missing);
    each_run(&it, gt_logged_order_group, sum_group);
    if (!gt_arena_failed(&logged->arena))
        compare_groups(&it);
    gt_mem_free(it.samples.values);
    return !gt_arena_failed(&logged->arena);
}
