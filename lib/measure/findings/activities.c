/* Gathers the calls, ranges, operators and driver work whose names say what they are, merges them thread by thread, and
   measures how much of each gap they have on the thread that launched the op after it. */
#include "measure/findings/activities.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/stems.h"
#include "measure/findings/thresholds.h"
#include "measure/results/calls.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"

/* ---- names ---- */

enum where { CODE, CALL, DRIVER, FIRST_LAUNCH };

static const struct {
    enum gt_activity activity;
    enum where where;
    const char *pattern, *words;
} names[] = {
#define GT_ACTIVITY_NAME(activity, where, pattern, words) {GT_ACTIVITY_##activity, where, pattern, words},
#include "measure/findings/activities.def"
#undef GT_ACTIVITY_NAME
};

/* A word begins where no letter or digit is before it, or a capital after a small letter. */
static bool begins_word(struct gt_str name, const char *at) {
    return at == name.ptr || !isalnum((unsigned char)at[-1]) ||
           (islower((unsigned char)at[-1]) && isupper((unsigned char)at[0]));
}

static bool is_anchor(char c) {
    return c == '^' || c == '<';
}

/* A line of the table, at a place in a name. */
static bool matches_at(struct gt_str name, const char *at, const char *pattern) {
    char anchor = is_anchor(pattern[0]) ? *pattern++ : '\0';
    const char *end = name.ptr + name.len, *here = at;
    for (; *pattern && here < end; pattern++, here++)
        if (tolower((unsigned char)*pattern) != tolower((unsigned char)*here))
            return false;
    return !*pattern && (!anchor || at == name.ptr || (anchor == '<' && begins_word(name, at)));
}

enum { LINES = GT_ARRAY_COUNT(names) };

/* Lines by the pair of letters that their patterns begin with: traces may have a million names, and few of them have
   such a pair. */
struct index {
    uint8_t first[32][32]; /* by the lower five bits, which capital and small letters share: the first line, + 1 */
    uint8_t next[LINES];   /* by line: the next one with the same pair, + 1 */
};
_Static_assert(LINES < UINT8_MAX, "lines are numbered in bytes");

/* Bits of tables: 1 << where. */
static void index_init(struct index *index, unsigned tables) {
    *index = (struct index){0};
    for (size_t i = LINES; i-- > 0;) {
        const char *text = names[i].pattern + is_anchor(names[i].pattern[0]);
        uint8_t *first = &index->first[text[0] & 31][text[1] & 31];
        if (!(tables >> names[i].where & 1))
            continue;
        index->next[i] = *first;
        *first = (uint8_t)(i + 1);
    }
}

/* The first line that fits; LINES: none does. */
static size_t find_line(const struct index *index, struct gt_str name) {
    size_t found = LINES;
    for (size_t at = 0; at + 1 < name.len; at++) {
        size_t line = index->first[name.ptr[at] & 31][name.ptr[at + 1] & 31];
        for (; line; line = index->next[line - 1])
            if (line - 1 < found && matches_at(name, name.ptr + at, names[line - 1].pattern))
                found = line - 1;
    }
    return found;
}

static enum gt_activity activity_of(const struct index *index, struct gt_str name) {
    size_t line = find_line(index, name);
    return line < LINES ? names[line].activity : GT_ACTIVITY_COUNT;
}

const char *gt_activities_words(struct gt_str name) {
    struct index index;
    index_init(&index, ~0u);
    size_t line = find_line(&index, name);
    return line < LINES ? names[line].words : NULL;
}

/* Pools are asked without the driver. */
static enum gt_activity activity_of_call(const struct index *index, struct gt_str name) {
    struct gt_str plain = gt_call_plain_name(name);
    enum gt_activity activity = activity_of(index, plain);
    bool is_pooled = activity == GT_ACTIVITY_ALLOCATION &&
                     (gt_str_find_nocase(plain, GT_STR("Async")) || gt_str_find_nocase(plain, GT_STR("Pool")));
    return is_pooled ? GT_ACTIVITY_COUNT : activity;
}

/* ---- gathering ---- */

/* A time on a thread that a name gives to an activity. */
struct spell {
    struct gt_lead_loss time;
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
    const uint8_t *is_of_calls; /* by name: calls have it */
    uint8_t *known;             /* by name: its activity + 1, 0: not looked at yet */
    uint8_t *launches;          /* by thread: the GPU waited for a launch of its */
    struct spells of[GT_ACTIVITY_COUNT];
    struct index index;    /* of the table that is gathered */
    struct gt_stems stems; /* activities + 1; no pattern has a digit */
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

static void learn(struct gathering *it, gt_strid name, enum where where) {
    struct gt_str text = gt_store_string(it->view->store, name);
    if (where == CALL) { /* versions at the end of their names are looked at */
        it->known[name] = (uint8_t)(activity_of_call(&it->index, text) + 1);
        return;
    }
    uint8_t *of_stem = gt_stems_answer(&it->stems, text);
    it->known[name] = of_stem && *of_stem ? *of_stem : (uint8_t)(activity_of(&it->index, text) + 1);
    if (of_stem)
        *of_stem = it->known[name];
}

static inline enum gt_activity look_up(struct gathering *it, gt_strid name, enum where where) {
    if (!it->known[name])
        learn(it, name, where);
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

/* A name may mean something else in another table. */
static void begin_table(struct gathering *it, enum where where) {
    memset(it->known, 0, it->view->store->strings.count);
    it->stems = (struct gt_stems){0};
    index_init(&it->index, 1u << where);
}

/* Whether any name that calls have says anything: they have few, and most traces launch and copy only. */
static bool has_names(struct gathering *it, enum where where) {
    bool has_any = false;
    for (gt_strid name = 0; name < it->view->store->strings.count; name++)
        has_any |= it->is_of_calls[name] && look_up(it, name, where) != GT_ACTIVITY_COUNT;
    return has_any;
}

static void gather(struct gathering *it, const struct rows *rows) {
    if (rows->count == 0)
        return;
    begin_table(it, rows->where);
    if (rows->where == CALL && !has_names(it, CALL))
        return;
    const uint8_t *known = it->known;
    const gt_strid *name_of = rows->name;
    for (size_t i = 0, count = rows->count; i < count && !it->has_failed; i++) {
        if (known[name_of[i]] == GT_ACTIVITY_COUNT + 1) /* nearly all */
            continue;
        enum gt_activity activity = look_up(it, name_of[i], rows->where);
        if (activity == GT_ACTIVITY_COUNT || rows->end_ns[i] <= rows->start_ns[i] || rows->thread[i] == GT_NO_TRACK ||
            rows->start_ns[i] < it->steady_ns ||
            !gt_view_has_moment(it->view, it->processes, rows->start_ns[i], rows->thread[i]))
            continue;
        add_spell(it, &it->of[activity],
                  &(struct spell){{rows->start_ns[i], rows->end_ns[i], rows->thread[i]}, rows->name[i]});
    }
}

static int64_t long_launch_ns(void) {
    return (int64_t)ceil(gt_thresholds.first_launch_ns);
}

static bool is_long_launch(const struct gt_calls *calls, size_t call, int64_t least_ns) {
    return gt_ns_between(calls->start_ns[call], calls->end_ns[call]) >= least_ns;
}

/* By name of an op: when it was first launched; NULL: memory was short. */
static int64_t *first_launches_new(const struct gt_view *view) {
    const struct gt_calls *calls = &view->store->calls;
    int64_t *first_ns = gt_mem_uninitialised(view->store->strings.count, sizeof *first_ns);
    for (size_t i = 0; i < view->store->strings.count && first_ns; i++)
        first_ns[i] = INT64_MAX;
    for (size_t i = 0; i < view->op_count && first_ns; i++) {
        uint32_t call = view->labels->op_call[view->row[i]];
        if (call != GT_NO_ROW && calls->start_ns[call] < first_ns[view->name[i]])
            first_ns[view->name[i]] = calls->start_ns[call];
    }
    return first_ns;
}

/* Whether any call is long and its name is that of a launch. */
static bool has_long_launches(struct gathering *it) {
    const struct gt_calls *calls = &it->view->store->calls;
    const int64_t least_ns = long_launch_ns();
    for (size_t i = 0; i < calls->count; i++)
        if (is_long_launch(calls, i, least_ns) && look_up(it, calls->name[i], FIRST_LAUNCH) != GT_ACTIVITY_COUNT)
            return true;
    return false;
}

/* Code is loaded when its first kernel is launched, which makes that call long. */
static void gather_first_launches(struct gathering *it) {
    const struct gt_view *view = it->view;
    const struct gt_calls *calls = &view->store->calls;
    begin_table(it, FIRST_LAUNCH);
    if (!has_names(it, FIRST_LAUNCH) || !has_long_launches(it))
        return;
    int64_t *first_ns = first_launches_new(view);
    it->has_failed |= !first_ns;
    const int64_t least_ns = long_launch_ns();
    for (size_t i = 0; i < view->op_count && !it->has_failed; i++) {
        uint32_t call = view->labels->op_call[view->row[i]];
        if (call == GT_NO_ROW || !is_long_launch(calls, call, least_ns) || calls->start_ns[call] < it->steady_ns ||
            calls->start_ns[call] != first_ns[view->name[i]] || calls->thread[call] == GT_NO_TRACK ||
            !gt_store_kind_is_kernel(gt_view_op_kind(view, i)) ||
            look_up(it, calls->name[call], FIRST_LAUNCH) == GT_ACTIVITY_COUNT)
            continue;
        add_spell(
            it, &it->of[GT_ACTIVITY_COMPILATION],
            &(struct spell){{calls->start_ns[call], calls->end_ns[call], calls->thread[call]}, calls->name[call]});
    }
    gt_mem_free(first_ns);
}

static void gather_all(struct gathering *it) {
    const struct gt_store *store = it->view->store;
#define ROWS(table, where)                                                                                             \
    &(struct rows){(table)->count, (table)->start_ns, (table)->end_ns, (table)->thread, (table)->name, where}
    gather(it, ROWS(&store->calls, CALL));
    gather(it, ROWS(&store->ranges, CODE));
    gather(it, ROWS(&store->cpu_ops, CODE));
    gather(it, ROWS(&store->driver_work, DRIVER));
#undef ROWS
    gather_first_launches(it);
}

/* ---- merging ---- */

static int by_thread_and_time(const void *a, const void *b) {
    const struct spell *x = a, *y = b;
    if (x->time.thread != y->time.thread)
        return x->time.thread < y->time.thread ? -1 : 1;
    if (x->time.start_ns != y->time.start_ns)
        return x->time.start_ns < y->time.start_ns ? -1 : 1;
    if (x->time.end_ns != y->time.end_ns)
        return x->time.end_ns > y->time.end_ns ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* Sorts them; what lies in another becomes part of it. The name of the outer one stays. */
static void merge(struct spells *spells) {
    size_t kept = 0;
    if (spells->count)
        qsort(spells->items, spells->count, sizeof *spells->items, by_thread_and_time);
    for (size_t i = 0; i < spells->count; i++) {
        struct spell *last = kept ? &spells->items[kept - 1] : NULL, *next = &spells->items[i];
        if (!last || last->time.thread != next->time.thread || next->time.start_ns >= last->time.end_ns)
            spells->items[kept++] = *next;
        else if (next->time.end_ns > last->time.end_ns)
            last->time.end_ns = next->time.end_ns;
    }
    spells->count = kept;
}

/* ---- measuring ---- */

/* The first of a thread that ends (or starts) after a moment. */
static size_t find_loss(const struct gt_activity_times *times, uint32_t thread, int64_t time_ns, bool by_start) {
    size_t low = 0, high = times->loss_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct gt_lead_loss *loss = &times->losses[middle];
        int64_t bound_ns = by_start ? loss->start_ns : loss->end_ns;
        if (loss->thread < thread || (loss->thread == thread && bound_ns <= time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* before_ns: by loss the sum of those before it. */
static int64_t time_inside(const struct gt_activity_times *times, const __int128 *before_ns, uint32_t thread,
                           int64_t start_ns, int64_t end_ns) {
    size_t first = find_loss(times, thread, start_ns, false), end = find_loss(times, thread, end_ns, true);
    if (first >= end)
        return 0;
    int64_t from_ns = times->losses[first].start_ns, to_ns = times->losses[end - 1].end_ns;
    __int128 sum_ns = before_ns[end] - before_ns[first];
    sum_ns -= from_ns < start_ns ? gt_ns_between(from_ns, start_ns) : 0;
    sum_ns -= to_ns > end_ns ? gt_ns_between(end_ns, to_ns) : 0;
    return gt_ns_of_sum(sum_ns);
}

/* NULL: memory was short. */
static __int128 *sums_before_new(const struct gt_activity_times *times) {
    __int128 *before_ns = gt_mem_array(times->loss_count + 1, sizeof *before_ns);
    for (size_t i = 0; i < times->loss_count && before_ns; i++)
        before_ns[i + 1] = before_ns[i] + gt_ns_between(times->losses[i].start_ns, times->losses[i].end_ns);
    return before_ns;
}

static int64_t of_gap(const struct gt_idle *idle, size_t gap, const struct gt_activity_times *times,
                      const __int128 *before_ns) {
    struct gt_idle_cpu_part part;
    if (!gt_idle_gap_cpu_part(idle, gap, &part))
        return 0;
    return time_inside(times, before_ns, part.thread, part.start_ns, part.end_ns);
}

static void measure(struct gathering *it, const struct gt_idle *idle, const struct spells *spells,
                    struct gt_activity_times *times) {
    times->losses = gt_mem_uninitialised(spells->count, sizeof *times->losses);
    times->gap_ns = gt_mem_uninitialised(idle->count, sizeof *times->gap_ns);
    it->has_failed |= !times->losses || !times->gap_ns;
    for (size_t i = 0; i < spells->count && !it->has_failed; i++) {
        const struct gt_lead_loss *time = &spells->items[i].time;
        times->losses[times->loss_count++] = *time;
        if (!it->launches[time->thread])
            continue;
        int64_t ns = gt_ns_between(time->start_ns, time->end_ns);
        gt_name_sums_add(&times->names, it->view->store, spells->items[i].name, ns);
        times->thread_ns += ns;
    }
    gt_name_sums_sort(&times->names);
    it->has_failed |= times->names.has_failed;
    __int128 *before_ns = sums_before_new(times);
    it->has_failed |= !before_ns;
    for (size_t i = 0; i < idle->count && !it->has_failed; i++)
        times->gap_ns[i] = of_gap(idle, i, times, before_ns);
    gt_mem_free(before_ns);
}

static void find_launching_threads(struct gathering *it, const struct gt_idle *idle) {
    const struct gt_calls *calls = &it->view->store->calls;
    it->launches = gt_mem_array(it->view->store->threads.count, 1);
    it->has_failed |= !it->launches;
    for (size_t i = 0; i < idle->count && it->launches; i++) {
        uint32_t call = gt_idle_gap_call(idle, i);
        if (call != GT_NO_ROW && calls->thread[call] != GT_NO_TRACK)
            it->launches[calls->thread[call]] = 1;
    }
}

enum gt_status gt_activities_init(struct gt_activities *activities, const struct gt_view *view,
                                  const struct gt_idle *idle, int64_t steady_ns, struct gt_error *err) {
    *activities = (struct gt_activities){0};
    const struct gt_blocking_names *call_names = gt_results_blocking_names(view, err);
    if (!call_names)
        return err->code;
    bool *processes = gt_view_processes(view);
    struct gathering it = {
        .view = view, .steady_ns = steady_ns, .processes = processes, .is_of_calls = call_names->is_of_calls};
    it.known = gt_mem_uninitialised(view->store->strings.count, 1);
    it.has_failed = !processes || !it.known;
    if (!it.has_failed)
        gather_all(&it);
    if (it.of[GT_ACTIVITY_COMPILATION].count || it.of[GT_ACTIVITY_DATA_LOADING].count ||
        it.of[GT_ACTIVITY_ALLOCATION].count)
        find_launching_threads(&it, idle);
    for (size_t i = 0; i < GT_ACTIVITY_COUNT; i++) {
        merge(&it.of[i]);
        if (it.of[i].count && !it.has_failed)
            measure(&it, idle, &it.of[i], &activities->of[i]);
        gt_mem_free(it.of[i].items);
    }
    gt_mem_free(it.known);
    gt_mem_free(it.launches);
    gt_mem_free(processes);
    return it.has_failed ? gt_fail_memory(err) : GT_OK;
}

void gt_activities_release(struct gt_activities *activities) {
    for (size_t i = 0; i < GT_ACTIVITY_COUNT; i++) {
        gt_mem_free(activities->of[i].gap_ns);
        gt_mem_free(activities->of[i].losses);
        gt_name_sums_release(&activities->of[i].names);
    }
    *activities = (struct gt_activities){0};
}
