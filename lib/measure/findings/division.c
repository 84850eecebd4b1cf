/* Divides the busy time of each device among its ops, class by class, the highest rank first. Ops come in slices: what
   a slice needs of those before it is how far their ops reach, which is found first. */
#include "measure/findings/division.h"

#include <string.h>

#include "base/intervals.h"
#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "measure/results/results.h"

enum { CLASSES = 3 };

/* Ops of a device one after the other. */
struct slice {
    size_t device, begin, end;   /* positions */
    int64_t latest_ns[CLASSES];  /* by class: the latest end of its ops */
    int64_t reached_ns[CLASSES]; /* by class: that of the ops before it, or the end of the warm-up */
    uint32_t *other_items;       /* positions of its ops that do not compute, until those of all are joined */
    size_t other_first, others, other_capacity;
    bool has_failed;          /* memory was short */
    size_t comm_first, comms; /* of what its communication ops have without each other */
};

struct division {
    struct gt_ledger *ledger;
    struct slice *slices; /* by device */
    size_t slice_count, threads;
    int64_t *left_ns;             /* of ops that do not compute: what no op of higher rank covers */
    struct gt_interval *comms;    /* disjoint and in order, device by device */
    size_t *first_comms;          /* by device, and one more */
    bool *overlaps;               /* by device: its compute ops may overlap */
    bool computes[UINT8_MAX + 1]; /* by category */
    uint8_t classes[UINT8_MAX + 1];
};

/* A walk along the ops of a device that compute. What they have without each other is disjoint and in order. */
struct compute_walk {
    size_t next, end; /* positions */
};

/* A walk along what communication ops have. */
struct comm_walk {
    const struct gt_interval *next, *end;
    struct compute_walk compute;
};

static int64_t later(int64_t a_ns, int64_t b_ns) {
    return a_ns > b_ns ? a_ns : b_ns;
}

/* Runs a pass over slices. */
static void run(struct division *it, void (*task)(void *context, size_t index)) {
    gt_threads_parts(it->threads, it->slice_count, task, it);
}

/* ---- slices ---- */

static bool make_slices(struct division *it) {
    const struct gt_view *view = it->ledger->view;
    size_t count = 0;
    for (size_t d = 0; d < view->device_count; d++)
        count += gt_threads_slices(it->threads, view->devices[d].count, 0);
    it->slices = gt_mem_array(count, sizeof *it->slices);
    for (size_t d = 0; d < view->device_count && it->slices; d++) {
        const struct gt_view_device *device = &view->devices[d];
        size_t parts = gt_threads_slices(it->threads, device->count, 0);
        for (size_t i = 0; i < parts; i++)
            it->slices[it->slice_count++] =
                (struct slice){.device = d,
                               .begin = device->first + gt_threads_slice_begin(device->count, parts, i),
                               .end = device->first + gt_threads_slice_begin(device->count, parts, i + 1)};
    }
    return it->slices;
}

static bool is_first(const struct division *it, const struct slice *slice) {
    return slice->begin == it->ledger->view->devices[slice->device].first;
}

/* ---- what overlaps ---- */

/* Compute of a device that takes as long as all its ops together has none that overlap, which is most often so: then
   each has all of itself, and nothing needs to be looked at but categories. false: memory was short. */
static bool find_overlaps(struct division *it) {
    enum { OPS_PER_GROUP = 4, MOST_GROUPS = 1 << 16 }; /* with more, all threads look at ops in as little time */
    const struct gt_view *view = it->ledger->view;
    struct gt_error err = {0};
    const struct gt_op_groups *groups = gt_results_op_groups(view, &err);
    const struct gt_accounts *accounts = gt_results_accounts(view, &err);
    bool are_known =
        groups && accounts && groups->count <= MOST_GROUPS && groups->count <= view->op_count / OPS_PER_GROUP;
    __int128 *sums_ns = gt_mem_array(view->store->devices.count, sizeof *sums_ns); /* by track */
    it->overlaps = gt_mem_array(view->device_count, sizeof *it->overlaps);
    bool ok = sums_ns && it->overlaps;
    for (size_t i = 0; ok && are_known && i < groups->count; i++)
        if (it->computes[groups->items[i].category])
            sums_ns[groups->items[i].device] += groups->items[i].sum_ns;
    for (size_t d = 0; ok && d < view->device_count; d++)
        it->overlaps[d] =
            !are_known || sums_ns[view->devices[d].device] != accounts->by_device[d].ns[GT_AMOUNT_COMPUTE];
    gt_mem_free(sums_ns);
    return ok;
}

/* false: memory was short. */
static bool add_other(struct slice *slice, size_t position) {
    uint32_t *items = gt_mem_room(slice->other_items, slice->others, &slice->other_capacity, sizeof *items);
    slice->has_failed = !items;
    if (!items)
        return false;
    slice->other_items = items;
    items[slice->others++] = (uint32_t)position;
    return true;
}

/* Mostly they are few. */
static void list_others(void *context, size_t index) {
    const struct division *it = context;
    struct slice *slice = &it->slices[index];
    const uint8_t *category = it->ledger->view->category;
    for (size_t i = slice->begin, end = slice->end; i < end; i++)
        if (!it->computes[category[i]] && !add_other(slice, i))
            return;
}

/* Ops without length reach nothing. */
static void note_end(const struct division *it, struct slice *slice, size_t position) {
    const struct gt_view *view = it->ledger->view;
    int64_t *latest_ns = &slice->latest_ns[it->classes[view->category[position]]];
    if (view->end_ns[position] > view->start_ns[position] && view->end_ns[position] > *latest_ns)
        *latest_ns = view->end_ns[position];
}

static void find_latest(void *context, size_t index) {
    const struct division *it = context;
    struct slice *slice = &it->slices[index];
    for (size_t class = 0; class < CLASSES; class ++)
        slice->latest_ns[class] = INT64_MIN;
    for (size_t i = slice->begin; it->overlaps[slice->device] && i < slice->end; i++)
        if (it->computes[it->ledger->view->category[i]])
            note_end(it, slice, i);
    for (size_t i = 0; i < slice->others; i++)
        note_end(it, slice, slice->other_items[i]);
}

static void pass_on_reach(struct division *it) {
    for (struct slice *slice = it->slices; slice < it->slices + it->slice_count; slice++)
        for (size_t class = 0; class < CLASSES; class ++)
            slice->reached_ns[class] = is_first(it, slice)
                                           ? it->ledger->steady_ns
                                           : later(slice[-1].reached_ns[class], slice[-1].latest_ns[class]);
}

/* ---- compute ---- */

/* Of an op that starts before those before it end. */
static void take_less(struct gt_ledger *ledger, size_t position, int64_t reached_ns) {
    int64_t end_ns = ledger->view->end_ns[position];
    int64_t left_ns = end_ns > reached_ns ? gt_ns_between(reached_ns, end_ns) : 0;
    int64_t less_ns = gt_ledger_steady_ns(ledger, ledger->view->start_ns[position], end_ns) - left_ns;
    if (less_ns)
        *gt_sparse_at_open(&ledger->op_less, position) = less_ns;
}

/* Nothing has a higher rank than compute, and mostly an op has all of itself. */
static void divide_compute(void *context, size_t index) {
    const struct division *it = context;
    const struct gt_view *view = it->ledger->view;
    const struct slice *slice = &it->slices[index];
    const int64_t *start_ns = view->start_ns, *end_ns = view->end_ns;
    int64_t reached_ns = slice->reached_ns[GT_CLASS_COMPUTE];
    for (size_t i = slice->begin, end = it->overlaps[slice->device] ? slice->end : i; i < end; i++) {
        if (!it->computes[view->category[i]])
            continue;
        if (start_ns[i] < reached_ns)
            take_less(it->ledger, i, reached_ns);
        reached_ns = end_ns[i] > later(start_ns[i], reached_ns) ? end_ns[i] : reached_ns;
    }
}

/* Slices of devices may meet in a block, which is made before: of any other block no two of them make anything. */
static bool divide_computes(struct division *it) {
    struct gt_ledger *ledger = it->ledger;
    if (!gt_sparse_open(&ledger->op_less, ledger->view->op_count))
        return false;
    for (size_t i = 0; i < it->slice_count; i++)
        if (it->slices[i].begin % GT_SPARSE_BLOCK && it->slices[i].begin < it->slices[i].end)
            gt_sparse_at_open(&ledger->op_less, it->slices[i].begin);
    run(it, divide_compute);
    gt_sparse_close(&ledger->op_less);
    return true;
}

/* Those of all slices, next to each other. false: memory was short. */
static bool join_others(struct division *it) {
    struct gt_ledger *ledger = it->ledger;
    size_t count = 0;
    bool ok = true;
    for (struct slice *slice = it->slices; slice < it->slices + it->slice_count; slice++) {
        ok = ok && !slice->has_failed;
        slice->other_first = count;
        count += slice->others;
        ledger->first_others[slice->device + 1] = count;
    }
    ledger->others = ok ? gt_mem_uninitialised(count, sizeof *ledger->others) : NULL;
    for (struct slice *slice = it->slices; slice < it->slices + it->slice_count; slice++) {
        if (ledger->others && slice->others)
            memcpy(ledger->others + slice->other_first, slice->other_items, slice->others * sizeof *ledger->others);
        gt_mem_free(slice->other_items);
    }
    return ledger->others;
}

/* ---- what others overlap with ---- */

/* Until communication and memory are added to what is not left. */
static int64_t computing_ns(const struct division *it, size_t position) {
    return it->computes[it->ledger->view->category[position]] ? gt_ledger_op_left_ns(it->ledger, position) : 0;
}

/* Begins with the first op that has something of its own after the start of a slice. */
static struct compute_walk begin_walk(const struct division *it, const struct slice *slice) {
    const struct gt_view *view = it->ledger->view;
    const struct gt_view_device *device = &view->devices[slice->device];
    struct compute_walk walk = {slice->begin, device->first + device->count};
    for (size_t i = slice->begin; i-- > device->first;) {
        if (computing_ns(it, i) == 0)
            continue;
        if (view->end_ns[i] <= view->start_ns[slice->begin])
            break;
        walk.next = i;
    }
    return walk;
}

/* Moves the walk on to an op that does not compute, which starts no earlier than a time: mostly something computed
   shortly before it, and everything before that can be passed by unseen. */
static void walk_to(const struct division *it, struct compute_walk *walk, size_t position, int64_t start_ns) {
    enum { NEAR = 16 };
    size_t first = position > NEAR && position - NEAR > walk->next ? position - NEAR : walk->next;
    for (size_t i = position; i-- > first;)
        if (computing_ns(it, i) > 0 && it->ledger->view->end_ns[i] <= start_ns) {
            walk->next = i;
            return;
        }
}

/* How much of a span some op computed. Spans come in order and are disjoint. Ops that have nothing of their own are
   passed by, and nothing comes after one that reaches the end: so no op is looked at for many spans. */
static int64_t computed_ns(const struct division *it, struct compute_walk *walk, int64_t start_ns, int64_t end_ns) {
    const struct gt_view *view = it->ledger->view;
    int64_t sum_ns = 0, reached_ns = start_ns;
    while (walk->next < walk->end && (view->end_ns[walk->next] <= start_ns || computing_ns(it, walk->next) == 0))
        walk->next++;
    for (size_t i = walk->next; i < walk->end && view->start_ns[i] < end_ns && reached_ns < end_ns; i++) {
        int64_t own_ns = computing_ns(it, i);
        if (own_ns == 0)
            continue;
        int64_t from_ns = later(view->end_ns[i] - own_ns, start_ns);
        reached_ns = view->end_ns[i] < end_ns ? view->end_ns[i] : end_ns;
        sum_ns = gt_ns_add(sum_ns, gt_ns_between(from_ns, reached_ns));
        walk->next = i;
    }
    return sum_ns;
}

/* Begins with the first that ends after the start of a slice. */
static struct comm_walk begin_comm_walk(const struct division *it, const struct slice *slice) {
    int64_t start_ns = it->ledger->view->start_ns[slice->begin];
    size_t low = it->first_comms[slice->device], high = it->first_comms[slice->device + 1], end = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (it->comms[middle].end_ns <= start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return (struct comm_walk){it->comms + low, it->comms + end, begin_walk(it, slice)};
}

/* How much of a span communication ran and nothing computed. */
static int64_t exposed_comm_ns(const struct division *it, struct comm_walk *walk, int64_t start_ns, int64_t end_ns) {
    int64_t sum_ns = 0;
    while (walk->next < walk->end && walk->next->end_ns <= start_ns)
        walk->next++;
    for (const struct gt_interval *item = walk->next; item < walk->end && item->start_ns < end_ns; item++) {
        int64_t from_ns = later(item->start_ns, start_ns), to_ns = item->end_ns < end_ns ? item->end_ns : end_ns;
        int64_t both_ns = computed_ns(it, &walk->compute, from_ns, to_ns);
        sum_ns = gt_ns_add(sum_ns, gt_ns_between(both_ns, gt_ns_between(from_ns, to_ns)));
        walk->next = item;
    }
    return sum_ns;
}

/* ---- communication and memory ---- */

/* What of an op comes after the ops of its class before it, and in the steady part. */
static struct gt_interval take_own_part(const struct gt_view *view, size_t position, int64_t *reached_ns) {
    int64_t start_ns = later(view->start_ns[position], *reached_ns);
    int64_t end_ns = later(view->end_ns[position], start_ns);
    *reached_ns = end_ns > start_ns ? end_ns : *reached_ns;
    return (struct gt_interval){start_ns, end_ns};
}

/* Gives communication what no compute covers, and lists when it ran, from the place of the slice's others on. */
static void divide_comm(void *context, size_t index) {
    const struct division *it = context;
    const struct gt_view *view = it->ledger->view;
    struct slice *slice = &it->slices[index];
    struct compute_walk walk = begin_walk(it, slice);
    struct gt_interval *comms = it->comms + slice->other_first;
    int64_t reached_ns = slice->reached_ns[GT_CLASS_COMM];
    for (size_t i = slice->other_first; i < slice->other_first + slice->others; i++) {
        uint32_t position = it->ledger->others[i];
        if (it->classes[view->category[position]] != GT_CLASS_COMM)
            continue;
        struct gt_interval own = take_own_part(view, position, &reached_ns);
        int64_t left_ns = gt_ns_between(own.start_ns, own.end_ns);
        if (left_ns > 0) {
            walk_to(it, &walk, position, own.start_ns);
            left_ns -= computed_ns(it, &walk, own.start_ns, own.end_ns);
            comms[slice->comms++] = own;
        }
        it->left_ns[i] = left_ns;
    }
}

static void join_comms(struct division *it) {
    size_t count = 0;
    for (const struct slice *slice = it->slices; slice < it->slices + it->slice_count; slice++) {
        if (slice->comms && count != slice->other_first)
            memmove(it->comms + count, it->comms + slice->other_first, slice->comms * sizeof *it->comms);
        count += slice->comms;
        it->first_comms[slice->device + 1] = count;
    }
}

/* Gives memory ops what neither compute nor communication covers. */
static void divide_memory(void *context, size_t index) {
    const struct division *it = context;
    const struct gt_view *view = it->ledger->view;
    const struct slice *slice = &it->slices[index];
    if (slice->others == slice->comms)
        return;
    struct compute_walk walk = begin_walk(it, slice);
    struct comm_walk comm = begin_comm_walk(it, slice);
    int64_t reached_ns = slice->reached_ns[GT_CLASS_MEMORY];
    for (size_t i = slice->other_first; i < slice->other_first + slice->others; i++) {
        uint32_t position = it->ledger->others[i];
        if (it->classes[view->category[position]] != GT_CLASS_MEMORY)
            continue;
        struct gt_interval own = take_own_part(view, position, &reached_ns);
        int64_t left_ns = gt_ns_between(own.start_ns, own.end_ns);
        if (left_ns > 0) {
            walk_to(it, &walk, position, own.start_ns);
            left_ns -= computed_ns(it, &walk, own.start_ns, own.end_ns);
        }
        if (left_ns > 0)
            left_ns -= exposed_comm_ns(it, &comm, own.start_ns, own.end_ns);
        it->left_ns[i] = left_ns;
    }
}

/* ---- the whole ---- */

static void note_classes(struct division *it) {
    const struct gt_labels *labels = it->ledger->view->labels;
    for (size_t i = 0; i < labels->category_count && i <= UINT8_MAX; i++) {
        it->classes[i] = (uint8_t)labels->categories[i].time_class;
        it->computes[i] = labels->categories[i].time_class == GT_CLASS_COMPUTE;
    }
}

static bool divide(struct division *it) {
    const struct gt_view *view = it->ledger->view;
    if (!make_slices(it))
        return false;
    note_classes(it);
    if (!find_overlaps(it))
        return false;
    run(it, list_others);
    if (it->slice_count > view->device_count)
        run(it, find_latest);
    pass_on_reach(it);
    bool has_computes = divide_computes(it);
    if (!join_others(it) || !has_computes)
        return false;
    size_t others = it->ledger->first_others[view->device_count];
    it->left_ns = gt_mem_uninitialised(others, sizeof *it->left_ns);
    it->comms = gt_mem_uninitialised(others, sizeof *it->comms);
    it->first_comms = gt_mem_array(view->device_count + 1, sizeof *it->first_comms);
    if (!it->left_ns || !it->comms || !it->first_comms)
        return false;
    if (others) {
        run(it, divide_comm);
        join_comms(it);
        run(it, divide_memory);
    }
    return true;
}

/* What others have of ops that do not compute. */
static void list_less(const void *context, size_t begin, size_t end, struct gt_sparse_amount *amounts) {
    const struct division *it = context;
    const struct gt_view *view = it->ledger->view;
    for (size_t i = begin; i < end; i++) {
        uint32_t position = it->ledger->others[i];
        amounts[i - begin] = (struct gt_sparse_amount){
            position,
            gt_ledger_steady_ns(it->ledger, view->start_ns[position], view->end_ns[position]) - it->left_ns[i]};
    }
}

bool gt_division_make(struct gt_ledger *ledger, size_t threads) {
    const struct gt_view *view = ledger->view;
    struct division it = {.ledger = ledger, .threads = threads};
    ledger->first_others = gt_mem_array(view->device_count + 1, sizeof *ledger->first_others);
    bool ok = ledger->first_others && divide(&it) &&
              gt_sparse_add(&ledger->op_less, ledger->first_others[view->device_count], threads, list_less, &it);
    gt_mem_free(it.left_ns);
    gt_mem_free(it.slices);
    gt_mem_free(it.overlaps);
    gt_mem_free(it.comms);
    gt_mem_free(it.first_comms);
    return ok;
}
