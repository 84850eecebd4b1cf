/* Gathers the calls, ranges, operators and driver work whose names say what they are, merges them thread by thread, and
   measures how much of each gap they have on the thread that launched the op after it. */
#include "measure/findings/activities.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/calls.h"
#include "measure/results/measure.h"

/* ---- names ---- */

enum where { CODE, CALL, DRIVER };

static const struct {
    enum gt_activity activity;
    enum where where;
    const char *pattern;
} names[] = {
#define GT_ACTIVITY_NAME(activity, where, pattern) {GT_ACTIVITY_##activity, where, pattern},
#include "measure/findings/activities.def"
#undef GT_ACTIVITY_NAME
};

static bool matches(struct gt_str name, const char *pattern) {
    const char *at = gt_str_find_nocase(name, gt_str_of(pattern + (pattern[0] == '^')));
    return at && (pattern[0] != '^' || at == name.ptr);
}

static enum gt_activity activity_of(struct gt_str name, enum where where) {
    for (size_t i = 0; i < GT_ARRAY_COUNT(names); i++)
        if (names[i].where == where && matches(name, names[i].pattern))
            return names[i].activity;
    return GT_ACTIVITY_COUNT;
}

enum gt_activity gt_activities_of_code(struct gt_str name) {
    return activity_of(name, CODE);
}

/* Pools are asked without the driver. */
enum gt_activity gt_activities_of_call(struct gt_str name) {
    struct gt_str plain = gt_call_plain_name(name);
    enum gt_activity activity = activity_of(plain, CALL);
    bool is_pooled = gt_str_find_nocase(plain, GT_STR("Async")) || gt_str_find_nocase(plain, GT_STR("Pool"));
    return activity == GT_ACTIVITY_ALLOCATION && is_pooled ? GT_ACTIVITY_COUNT : activity;
}

/* ---- gathering ---- */

/* A time on a thread that a name gives to an activity. */
struct spell {
    int64_t start_ns, end_ns;
    uint32_t thread;
    gt_strid name;
};

struct spells {
    struct spell *items;
    size_t count, capacity;
};

struct gathering {
    const struct gt_view *view;
    int64_t steady_ns;
    const bool *processes;
    uint8_t *known; /* by name: its activity + 1, 0: not looked at yet */
    struct spells of[GT_ACTIVITY_COUNT];
    bool has_failed;
};

/* Rows of calls, ranges, operators or driver work. */
struct rows {
    size_t count;
    const int64_t *start_ns, *end_ns;
    const uint32_t *thread;
    const gt_strid *name;
    enum where where;
};

static enum gt_activity look_up(struct gathering *it, gt_strid name, enum where where) {
    if (!it->known[name]) {
        struct gt_str text = gt_store_string(it->view->store, name);
        it->known[name] = (uint8_t)((where == CALL ? gt_activities_of_call(text) : activity_of(text, where)) + 1);
    }
    return (enum gt_activity)(it->known[name] - 1);
}

static void add_spell(struct gathering *it, struct spells *spells, const struct spell *spell) {
    struct spell *items = gt_mem_room(spells->items, spells->count, &spells->capacity, sizeof *items);
    it->has_failed |= !items;
    if (!items)
        return;
    spells->items = items;
    items[spells->count++] = *spell;
}

static void gather(struct gathering *it, const struct rows *rows) {
    size_t strings = it->view->store->strings.count;
    for (size_t i = 0; i < strings; i++)
        it->known[i] = 0; /* a name may mean something else in another table */
    for (size_t i = 0; i < rows->count && !it->has_failed; i++) {
        enum gt_activity activity = look_up(it, rows->name[i], rows->where);
        if (activity == GT_ACTIVITY_COUNT || rows->end_ns[i] <= rows->start_ns[i] || rows->thread[i] == GT_NO_TRACK ||
            rows->start_ns[i] < it->steady_ns ||
            !gt_view_has_moment(it->view, it->processes, rows->start_ns[i], rows->thread[i]))
            continue;
        add_spell(it, &it->of[activity],
                  &(struct spell){rows->start_ns[i], rows->end_ns[i], rows->thread[i], rows->name[i]});
    }
}

static void gather_all(struct gathering *it) {
    const struct gt_store *store = it->view->store;
    gather(it, &(struct rows){store->calls.count, store->calls.start_ns, store->calls.end_ns, store->calls.thread,
                              store->calls.name, CALL});
    gather(it, &(struct rows){store->ranges.count, store->ranges.start_ns, store->ranges.end_ns, store->ranges.thread,
                              store->ranges.name, CODE});
    gather(it, &(struct rows){store->cpu_ops.count, store->cpu_ops.start_ns, store->cpu_ops.end_ns,
                              store->cpu_ops.thread, store->cpu_ops.name, CODE});
    gather(it, &(struct rows){store->driver_work.count, store->driver_work.start_ns, store->driver_work.end_ns,
                              store->driver_work.thread, store->driver_work.name, DRIVER});
}

/* ---- merging ---- */

static int by_thread_and_time(const void *a, const void *b) {
    const struct spell *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* Sorts them; what lies in another becomes part of it. The name of the outer one stays. */
static void merge(struct spells *spells) {
    size_t kept = 0;
    if (spells->count)
        qsort(spells->items, spells->count, sizeof *spells->items, by_thread_and_time);
    for (size_t i = 0; i < spells->count; i++) {
        struct spell *last = kept ? &spells->items[kept - 1] : NULL, *next = &spells->items[i];
        if (!last || last->thread != next->thread || next->start_ns >= last->end_ns)
            spells->items[kept++] = *next;
        else if (next->end_ns > last->end_ns)
            last->end_ns = next->end_ns;
    }
    spells->count = kept;
}

/* ---- measuring ---- */

/* The first that ends after a moment of a thread. */
static size_t find_spell(const struct spells *spells, uint32_t thread, int64_t time_ns) {
    size_t low = 0, high = spells->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct spell *spell = &spells->items[middle];
        if (spell->thread < thread || (spell->thread == thread && spell->end_ns <= time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t time_inside(const struct spells *spells, uint32_t thread, int64_t start_ns, int64_t end_ns) {
    int64_t sum_ns = 0;
    for (size_t i = find_spell(spells, thread, start_ns); i < spells->count; i++) {
        const struct spell *spell = &spells->items[i];
        if (spell->thread != thread || spell->start_ns >= end_ns)
            break;
        int64_t from_ns = spell->start_ns > start_ns ? spell->start_ns : start_ns;
        int64_t to_ns = spell->end_ns < end_ns ? spell->end_ns : end_ns;
        sum_ns = gt_ns_add(sum_ns, gt_ns_between(from_ns, to_ns));
    }
    return sum_ns;
}

/* From the start of the gap until the launch had been made. Of a late start the rest is not the thread's. */
static int64_t of_gap(const struct gt_view *view, const struct spells *spells, const struct gt_idle_gap *gap) {
    const struct gt_calls *calls = &view->store->calls;
    if (gap->call == GT_NO_ROW || gap->part == GT_GAP_QUEUED || calls->thread[gap->call] == GT_NO_TRACK)
        return 0;
    int64_t call_end_ns = calls->end_ns[gap->call];
    int64_t end_ns = call_end_ns < gap->end_ns ? call_end_ns : gap->end_ns;
    return end_ns > gap->start_ns ? time_inside(spells, calls->thread[gap->call], gap->start_ns, end_ns) : 0;
}

/* By name, for the one with the most time. */
struct name_sum {
    __int128 ns;
    size_t count;
};

static void measure(struct gathering *it, const struct gt_idle *idle, const struct spells *spells,
                    struct gt_activity_times *times) {
    struct name_sum *sums = gt_mem_array(it->view->store->strings.count, sizeof *sums);
    times->gap_ns = gt_mem_uninitialised(idle->count, sizeof *times->gap_ns);
    it->has_failed |= !sums || !times->gap_ns;
    for (size_t i = 0; i < idle->count && !it->has_failed; i++)
        times->gap_ns[i] = of_gap(it->view, spells, &idle->gaps[i]);
    for (size_t i = 0; i < spells->count && !it->has_failed; i++) {
        const struct spell *spell = &spells->items[i];
        struct name_sum *sum = &sums[spell->name];
        int64_t ns = gt_ns_between(spell->start_ns, spell->end_ns);
        sum->count++;
        sum->ns += ns;
        times->thread_ns += ns;
        if (sum->ns > times->longest_ns || (sum->ns == times->longest_ns && spell->name < times->longest)) {
            times->longest = spell->name;
            times->longest_ns = sum->ns;
            times->longest_count = sum->count;
        }
    }
    times->count = spells->count;
    gt_mem_free(sums);
}

enum gt_status gt_activities_init(struct gt_activities *activities, const struct gt_view *view,
                                  const struct gt_idle *idle, int64_t steady_ns, struct gt_error *err) {
    *activities = (struct gt_activities){0};
    bool *processes = gt_view_processes(view);
    struct gathering it = {.view = view, .steady_ns = steady_ns, .processes = processes};
    it.known = gt_mem_uninitialised(view->store->strings.count, 1);
    it.has_failed = !processes || !it.known;
    if (!it.has_failed)
        gather_all(&it);
    for (size_t i = 0; i < GT_ACTIVITY_COUNT; i++) {
        merge(&it.of[i]);
        if (it.of[i].count && !it.has_failed)
            measure(&it, idle, &it.of[i], &activities->of[i]);
        gt_mem_free(it.of[i].items);
    }
    gt_mem_free(it.known);
    gt_mem_free(processes);
    return it.has_failed ? gt_fail_memory(err) : GT_OK;
}

void gt_activities_release(struct gt_activities *activities) {
    for (size_t i = 0; i < GT_ACTIVITY_COUNT; i++)
        gt_mem_free(activities->of[i].gap_ns);
    *activities = (struct gt_activities){0};
}
