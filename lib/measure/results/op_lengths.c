/* Places lengths: in come the ops of a view and their groups, out go the lengths of each group next to each other. One
   pass over the ops, in the slices that the groups were made of. */
#include "measure/results/op_lengths.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "base/threads.h"
#include "measure/results/results.h"

struct placing {
    const struct gt_view *view;
    const struct gt_op_groups *groups; /* with slices */
    struct gt_op_lengths *lengths;
    uint32_t *owners; /* by stream */
    uint32_t **next;  /* by slice, then its groups: where the next length goes */
    atomic_bool has_failed;
};

/* Made twice, for what lengths are stored as: the compiler sees that a constant is passed. */
static inline __attribute__((always_inline)) void place(const struct placing *it, bool is_narrow, size_t index,
                                                        uint32_t *recent) {
    const struct gt_view *view = it->view;
    const struct gt_op_grouping *slice = &it->groups->slices[index];
    const gt_strid *names = view->name;
    uint32_t *next = it->next[index], *narrow_ns = it->lengths->narrow_ns;
    int64_t *wide_ns = it->lengths->wide_ns;
    size_t i = gt_threads_slice_begin(view->op_count, it->groups->slice_count, index);
    size_t end = gt_threads_slice_begin(view->op_count, it->groups->slice_count, index + 1);
    for (; i < end; i++) {
        uint32_t group = recent[names[i]] - 1;
        if (!gt_op_grouping_is_of(&slice->parts[group], view, it->owners, i)) {
            group = gt_op_grouping_find(slice, view, i, group);
            recent[names[i]] = group + 1;
        }
        if (is_narrow)
            narrow_ns[next[group]++] = (uint32_t)gt_view_op_ns(view, i);
        else
            wide_ns[next[group]++] = gt_view_op_ns(view, i);
    }
}

static void place_slice(void *context, size_t index) {
    struct placing *it = context;
    uint32_t *recent = gt_op_grouping_recent_new(&it->groups->slices[index], it->view);
    if (!recent)
        it->has_failed = true;
    else if (it->lengths->narrow_ns)
        place(it, true, index, recent);
    else
        place(it, false, index, recent);
    gt_mem_free(recent);
}

/* A slice's lengths of a group come after those of the slices before it. false: memory was short. */
static bool share_lengths(struct placing *it) {
    const struct gt_op_groups *groups = it->groups;
    uint32_t *first = gt_mem_uninitialised(groups->count, sizeof *first); /* by group: of the next slice */
    it->next = gt_mem_array(groups->slice_count, sizeof *it->next);
    bool ok = first && it->next;
    for (size_t i = 0; i < groups->count && ok; i++)
        first[i] = groups->items[i].first_length;
    for (size_t s = 0; s < groups->slice_count && ok; s++) {
        const struct gt_op_grouping *slice = &groups->slices[s];
        it->next[s] = gt_mem_uninitialised(slice->count, sizeof *it->next[s]);
        ok = it->next[s];
        for (size_t i = 0; i < slice->count && ok; i++) {
            it->next[s][i] = first[slice->parts[i].whole];
            first[slice->parts[i].whole] += slice->parts[i].count;
        }
    }
    gt_mem_free(first);
    return ok;
}

static bool new_lengths(struct gt_op_lengths *lengths, const struct gt_op_groups *groups, size_t count) {
    bool are_narrow = true;
    for (size_t i = 0; i < groups->count; i++)
        are_narrow = are_narrow && groups->items[i].min_ns >= 0 && groups->items[i].max_ns <= UINT32_MAX;
    if (are_narrow)
        lengths->narrow_ns = gt_mem_uninitialised(count, sizeof *lengths->narrow_ns);
    else
        lengths->wide_ns = gt_mem_uninitialised(count, sizeof *lengths->wide_ns);
    return lengths->narrow_ns || lengths->wide_ns;
}

static bool place_all(struct placing *it) {
    size_t slices = it->groups->slice_count;
    it->owners = gt_op_grouping_owners_new(it->view);
    bool ok = it->owners && share_lengths(it) && new_lengths(it->lengths, it->groups, it->view->op_count);
    if (ok)
        gt_threads_parts(slices, slices, place_slice, it);
    for (size_t s = 0; s < slices && it->next; s++)
        gt_mem_free(it->next[s]);
    gt_mem_free(it->next);
    gt_mem_free(it->owners);
    return ok && !it->has_failed;
}

enum gt_status gt_op_lengths_init(struct gt_op_lengths *lengths, const struct gt_view *view, struct gt_error *err) {
    const struct gt_op_groups *groups = gt_results_op_groups(view, err);
    struct gt_op_groups again = {0};
    *lengths = (struct gt_op_lengths){.groups = groups};
    if (!groups)
        return err->code;
    enum gt_status status = groups->slices ? GT_OK : gt_op_groups_init_with_slices(&again, view, err);
    struct placing it = {.view = view, .groups = groups->slices ? groups : &again, .lengths = lengths};
    if (status == GT_OK && !place_all(&it))
        status = gt_fail_memory(err);
    gt_op_groups_release(&again);
    if (status != GT_OK)
        gt_op_lengths_release(lengths);
    return status;
}

void gt_op_lengths_release(struct gt_op_lengths *lengths) {
    gt_mem_free(lengths->narrow_ns);
    gt_mem_free(lengths->wide_ns);
    *lengths = (struct gt_op_lengths){0};
}

struct gt_slice gt_op_lengths_of(const struct gt_op_lengths *lengths, size_t first, size_t end) {
    const struct gt_op_group *items = lengths->groups->items;
    size_t begin = first < end ? items[first].first_length : 0, count = 0;
    for (size_t i = first; i < end; i++)
        count += items[i].count;
    if (lengths->narrow_ns)
        return (struct gt_slice){.narrow = lengths->narrow_ns + begin, .count = count};
    return (struct gt_slice){.samples = lengths->wide_ns + begin, .count = count};
}
