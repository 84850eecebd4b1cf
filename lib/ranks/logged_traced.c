/* Joins logs with traces of the same communicators: what the traced part of the run has beside the whole of it. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/quantile.h"
#include "ranks/logged.h"

/* A collective of a trace that a row of sizes is about, with the length of its kernel. */
struct traced {
    struct gt_logged_size *size;
    double length_ns;
};

struct joining {
    struct gt_logged *logged;
    const struct gt_rank_summary *summary;
    struct traced *found;
    size_t found_count, found_capacity;
    bool failed;
};

static struct gt_logged_group *find_group(struct gt_logged *logged, uint64_t communicator, uint32_t *index) {
    size_t first = 0, end = logged->group_count;
    while (first < end) { /* they are sorted */
        size_t middle = first + (end - first) / 2;
        if (logged->groups[middle].communicator < communicator)
            first = middle + 1;
        else
            end = middle;
    }
    *index = (uint32_t)first;
    return first < logged->group_count && logged->groups[first].communicator == communicator ? &logged->groups[first]
                                                                                             : NULL;
}

/* By group, then place. */
static struct gt_logged_rank *find_rank(struct gt_logged *logged, uint32_t group, int64_t place) {
    size_t first = 0, end = place < 0 ? 0 : logged->rank_count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const struct gt_logged_rank *rank = &logged->ranks[middle];
        if (rank->group < group || (rank->group == group && rank->place < place))
            first = middle + 1;
        else
            end = middle;
    }
    struct gt_logged_rank *found = &logged->ranks[first];
    return place >= 0 && first < logged->rank_count && found->group == group && found->place == place ? found : NULL;
}

static int by_size(const struct gt_logged_size *size, uint32_t group, uint32_t op, uint64_t bytes) {
    if (size->group != group)
        return size->group < group ? -1 : 1;
    if (size->op != op)
        return size->op < op ? -1 : 1;
    return (size->bytes > bytes) - (size->bytes < bytes);
}

/* As NCCL counts the bytes of a call in both. Operations that are known by name alone are not looked for. */
static struct gt_logged_size *find_size(struct gt_logged *logged, uint32_t group, const struct gt_rank_call *call) {
    uint64_t bytes = call->op == GT_COMM_reduce_scatter ? call->out_bytes : call->in_bytes;
    size_t first = 0, end = logged->size_count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (by_size(&logged->sizes[middle], group, call->op, bytes) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    bool is_found = call->op != GT_COMM_OTHER && first < logged->size_count &&
                    by_size(&logged->sizes[first], group, call->op, bytes) == 0;
    return is_found ? &logged->sizes[first] : NULL;
}

static void keep(struct joining *joining, struct gt_logged_size *size, int64_t length_ns) {
    struct traced *found = gt_mem_room(joining->found, joining->found_count, &joining->found_capacity, sizeof *found);
    joining->failed |= !found;
    if (!found)
        return;
    joining->found = found;
    found[joining->found_count++] = (struct traced){size, (double)length_ns};
}

/* What one kernel carries; its length is that of a collective only if it carries one alone. */
static void add_kernel(struct joining *joining, size_t kernel) {
    const struct gt_rank_summary *summary = joining->summary;
    uint32_t first = summary->kernels[kernel].first_carried, count = gt_rank_summary_carried_count(summary, kernel);
    int64_t length_ns = gt_ns_between(summary->kernels[kernel].start_ns, summary->kernels[kernel].end_ns);
    for (uint32_t i = 0; i < count; i++) {
        const struct gt_rank_call *call = gt_rank_summary_call(summary, first + i);
        const struct gt_rank_group *own = call->group == GT_RANK_NONE ? NULL : &summary->groups[call->group];
        uint32_t index;
        if (!own || own->communicator == UINT64_MAX)
            continue;
        joining->logged->traces_have_ids = true;
        struct gt_logged_group *group = find_group(joining->logged, own->communicator, &index);
        if (!group)
            continue;
        group->is_traced = true;
        struct gt_logged_rank *rank = find_rank(joining->logged, index, own->own_place);
        struct gt_logged_size *size = find_size(joining->logged, index, call);
        if (rank) {
            rank->is_traced = true;
            rank->traced++;
            rank->traced_ns = gt_ns_add(rank->traced_ns, i == 0 ? length_ns : 0);
        }
        if (size) {
            size->traced++;
            if (count == 1)
                keep(joining, size, length_ns);
        }
    }
}

static int by_row(const void *a, const void *b) {
    const struct traced *x = a, *y = b;
    return (x->size > y->size) - (x->size < y->size);
}

/* Each row of sizes with the lengths that were found for it. */
static bool find_medians(struct joining *joining) {
    const struct traced *found = joining->found;
    double *values = gt_mem_uninitialised(joining->found_count, sizeof *values);
    if (joining->found_count)
        qsort(joining->found, joining->found_count, sizeof *joining->found, by_row);
    for (size_t first = 0, end; values && first < joining->found_count; first = end) {
        for (end = first; end < joining->found_count && found[end].size == found[first].size; end++)
            values[end - first] = found[end].length_ns;
        found[first].size->traced_p50_ns = gt_quantile_real(values, end - first, 0.5);
    }
    gt_mem_free(values);
    return values != NULL;
}

bool gt_logged_join(struct gt_logged *logged, struct gt_rank_summary *const *summaries, size_t count) {
    struct joining joining = {.logged = logged};
    for (size_t i = 0; i < count && logged->entry_count; i++) {
        joining.summary = summaries[i];
        logged->has_traces |= summaries[i]->head.ops > 0;
        for (size_t kernel = 0; kernel < summaries[i]->kernels_count; kernel++)
            add_kernel(&joining, kernel);
    }
    bool ok = !joining.failed && find_medians(&joining);
    gt_mem_free(joining.found);
    return ok;
}
