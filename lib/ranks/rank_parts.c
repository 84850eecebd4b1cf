/* Divides traces that cannot be of one job: by time, then by names and communicators. */
#include "ranks/rank_parts.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/strtab.h"
#include "events/trace_rank.h"

bool gt_rank_parts_says_rank(const struct gt_rank_summary *summary) {
    enum gt_rank_source source = (enum gt_rank_source)summary->head.source;
    return summary->head.rank >= 0 && source != GT_RANK_OF_FILE_NAME && source != GT_RANK_OF_NCCL &&
           source != GT_RANK_UNKNOWN;
}

/* ---- what cannot be apart ---- */

static uint32_t find_root(struct gt_rank_parts *it, uint32_t summary) {
    while (it->root[summary] != summary)
        summary = it->root[summary] = it->root[it->root[summary]];
    return summary;
}

/* The root is the one whose name comes first, so that the order of the files does not matter. */
static void join_roots(struct gt_rank_parts *it, uint32_t a, uint32_t b) {
    uint32_t x = find_root(it, a), y = find_root(it, b);
    int order = gt_str_cmp(it->names[x], it->names[y]);
    bool is_first = order ? order < 0 : x < y;
    it->root[is_first ? y : x] = is_first ? x : y;
}

/* With the first that has this key. */
static void join_first(struct gt_rank_parts *it, struct gt_map *first_of, uint64_t key, uint32_t summary) {
    uint32_t first = gt_map_put_if_new(first_of, 0, key, summary);
    if (first_of->failed)
        it->failed = true;
    else
        join_roots(it, summary, first);
}

static void join_inputs(struct gt_rank_parts *it, const uint32_t *list, size_t count) {
    struct gt_map first_of = {0};
    for (size_t i = 0; i < count; i++)
        it->root[list[i]] = list[i];
    for (size_t i = 0; i < count; i++)
        join_first(it, &first_of, it->summaries[list[i]]->head.input_number, list[i]);
    gt_map_release(&first_of);
}

static void join_communicators(struct gt_rank_parts *it, const uint32_t *list, size_t count) {
    struct gt_map first_of = {0};
    for (size_t i = 0; i < count; i++) {
        const struct gt_rank_summary *summary = it->summaries[list[i]];
        for (size_t g = 0; g < summary->groups_count; g++)
            if (summary->groups[g].communicator != UINT64_MAX)
                join_first(it, &first_of, summary->groups[g].communicator, list[i]);
    }
    gt_map_release(&first_of);
}

/* ---- ranks that are there more than once ---- */

static int by_rank(const void *a, const void *b, void *context) {
    const struct gt_rank_parts *it = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int64_t one = it->summaries[x]->head.rank, two = it->summaries[y]->head.rank;
    if (it->part_of[x] != it->part_of[y])
        return it->part_of[x] < it->part_of[y] ? -1 : 1;
    if (one != two)
        return one < two ? -1 : 1;
    return (x > y) - (x < y);
}

/* Sorts by part and rank, and gives how often a rank is in one part at most. */
static size_t most_often(struct gt_rank_parts *it, uint32_t *list, size_t count) {
    size_t most = 0, run = 0;
    if (count)
        qsort_r(list, count, sizeof *list, by_rank, it);
    for (size_t i = 0, last = SIZE_MAX; i < count; i++) {
        if (!gt_rank_parts_says_rank(it->summaries[list[i]]))
            continue;
        bool is_again = last != SIZE_MAX && it->part_of[list[last]] == it->part_of[list[i]] &&
                        it->summaries[list[last]]->head.rank == it->summaries[list[i]]->head.rank;
        run = is_again ? run + 1 : 1;
        most = run > most ? run : most;
        last = i;
    }
    return most;
}

static void set_parts(struct gt_rank_parts *it, const uint32_t *list, size_t count, uint64_t part) {
    for (size_t i = 0; i < count; i++)
        it->part_of[list[i]] = part;
}

/* As if all of them were one part. */
static size_t most_often_in_all(struct gt_rank_parts *it, uint32_t *list, size_t count) {
    set_parts(it, list, count, 0);
    return most_often(it, list, count);
}

/* ---- parts ---- */

size_t gt_rank_parts_end(const struct gt_rank_parts *it, const uint32_t *list, size_t count, size_t first) {
    size_t end = first + 1;
    while (end < count && it->part_of[list[end]] == it->part_of[list[first]])
        end++;
    return end;
}

static size_t count_parts(const struct gt_rank_parts *it, const uint32_t *list, size_t count, size_t *smallest) {
    size_t parts = 0;
    *smallest = count;
    for (size_t i = 0, end; i < count; i = end, parts++) {
        end = gt_rank_parts_end(it, list, count, i);
        *smallest = end - i < *smallest ? end - i : *smallest;
    }
    return parts;
}

static void make_job(struct gt_rank_parts *it, const uint32_t *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        it->apart->job_of[list[i]] = (uint32_t)it->apart->job_count;
    it->apart->job_count++;
}

static void make_jobs(struct gt_rank_parts *it, const uint32_t *list, size_t count) {
    for (size_t i = 0, end; i < count; i = end) {
        end = gt_rank_parts_end(it, list, count, i);
        make_job(it, list + i, end - i);
    }
}

/* Whether parts are jobs: no rank twice in any, and no more of them than there have to be, unless each has several
   traces: names that are all different, or a communicator for each, say nothing. */
static bool are_jobs(struct gt_rank_parts *it, uint32_t *list, size_t count, size_t times) {
    size_t smallest;
    if (most_often(it, list, count) > 1)
        return false;
    size_t parts = count_parts(it, list, count, &smallest);
    return parts > 1 && (parts == times || smallest > 1);
}

/* ---- by names and communicators ---- */

static void divide_by_names(struct gt_rank_parts *it, uint32_t *list, size_t count) {
    struct gt_strtab names;
    size_t times = most_often_in_all(it, list, count);
    if (times <= 1) {
        make_job(it, list, count);
        return;
    }
    bool ok = gt_strtab_init(&names);
    for (size_t i = 0; ok && i < count; i++)
        it->part_of[list[i]] = gt_strtab_intern(&names, it->names[find_root(it, list[i])]);
    it->failed |= !ok || names.failed;
    if (ok)
        gt_strtab_release(&names);
    if (!it->failed && are_jobs(it, list, count, times)) {
        make_jobs(it, list, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        it->part_of[list[i]] = find_root(it, list[i]);
    if (are_jobs(it, list, count, times))
        make_jobs(it, list, count);
    else
        make_job(it, list, count); /* its ranks get other numbers */
}

/* ---- by time ---- */

static int64_t start_of(const struct gt_rank_parts *it, uint32_t summary) {
    return it->summaries[summary]->head.first_ns + it->summaries[summary]->head.base_ns;
}

static int64_t end_of(const struct gt_rank_parts *it, uint32_t summary) {
    return it->summaries[summary]->head.last_ns + it->summaries[summary]->head.base_ns;
}

/* Clocks can be compared if all are those of the world, or of one host. */
static bool knows_times(const struct gt_rank_parts *it, const uint32_t *list, size_t count) {
    const int64_t latest_ns = INT64_MAX / 2;
    bool has_base = true, has_host = true;
    struct gt_str host = gt_rank_summary_text(it->summaries[list[0]], it->summaries[list[0]]->head.host);
    for (size_t i = 0; i < count; i++) {
        const struct gt_rank_summary *summary = it->summaries[list[i]];
        has_base &= summary->head.base_ns > 0 && summary->head.base_ns < latest_ns;
        has_host &= host.len && summary->head.base_ns == 0 &&
                    gt_str_eq(host, gt_rank_summary_text(summary, summary->head.host));
    }
    return has_base || has_host;
}

static int by_start(const void *a, const void *b, void *context) {
    const struct gt_rank_parts *it = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int64_t one = start_of(it, x), two = start_of(it, y);
    return (one > two) - (one < two); /* those that start together are of one stretch, in any order */
}

/* Numbers the stretches of time in which one trace follows the other without a break. */
static void find_stretches(struct gt_rank_parts *it, uint32_t *list, size_t count) {
    uint64_t stretch = 0;
    int64_t end_ns = INT64_MIN;
    qsort_r(list, count, sizeof *list, by_start, it);
    for (size_t i = 0; i < count; i++) {
        int64_t start_ns = start_of(it, list[i]);
        stretch += i && start_ns >= end_ns && start_ns > start_of(it, list[i - 1]);
        end_ns = end_of(it, list[i]) > end_ns ? end_of(it, list[i]) : end_ns;
        it->part_of[list[i]] = stretch;
    }
    for (size_t i = 0; i < count; i++) { /* what cannot be apart is where its first is */
        uint64_t *first = &it->part_of[find_root(it, list[i])];
        *first = it->part_of[list[i]] < *first ? it->part_of[list[i]] : *first;
    }
    for (size_t i = 0; i < count; i++)
        it->part_of[list[i]] = it->part_of[find_root(it, list[i])];
}

/* Clocks of hosts may be further apart than a trace is long: a stretch belongs to the one before it unless a rank would
   be there twice. */
static void join_stretches(struct gt_rank_parts *it, uint32_t *list, size_t count) {
    struct gt_map taken = {0};
    uint64_t job = 0;
    most_often(it, list, count); /* sorts by stretch */
    for (size_t i = 0, end; i < count; i = end) {
        bool is_new = false;
        end = gt_rank_parts_end(it, list, count, i);
        for (size_t k = i; k < end && i; k++)
            is_new |= gt_rank_parts_says_rank(it->summaries[list[k]]) &&
                      gt_map_get(&taken, job, (uint64_t)it->summaries[list[k]]->head.rank) != GT_MAP_NONE;
        job += is_new;
        for (size_t k = i; k < end; k++)
            if (gt_rank_parts_says_rank(it->summaries[list[k]]))
                gt_map_put(&taken, job, (uint64_t)it->summaries[list[k]]->head.rank, 0);
        set_parts(it, list + i, end - i, job);
    }
    it->failed |= taken.failed;
    gt_map_release(&taken);
}

void gt_rank_parts_divide(struct gt_rank_parts *it, uint32_t *list, size_t count) {
    size_t times = most_often_in_all(it, list, count);
    join_inputs(it, list, count);
    if (times <= 1) {
        make_job(it, list, count);
        return;
    }
    join_communicators(it, list, count);
    for (size_t i = 0; i < count; i++)
        it->part_of[list[i]] = find_root(it, list[i]);
    if (most_often(it, list, count) > 1) /* communicators that are not unique */
        join_inputs(it, list, count);
    if (!knows_times(it, list, count)) {
        divide_by_names(it, list, count);
        return;
    }
    find_stretches(it, list, count);
    join_stretches(it, list, count);
    for (size_t i = 0, end; i < count; i = end) {
        end = gt_rank_parts_end(it, list, count, i);
        divide_by_names(it, list + i, end - i);
    }
}
