/* Something that has more than half of a span of time is open at its middle, so one look at that moment finds all
   candidates: they are the open spans of the thread, from the outermost inwards. */
#include "measure/findings/chains.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/findings/python_code.h"
#include "measure/findings/thresholds.h"
#include "measure/results/measure.h"

enum kind { CALL, RANGE, OPERATOR, PYTHON };

/* A call, range, operator or Python function. */
struct spell {
    int64_t start_ns, end_ns;
    uint32_t thread;
    gt_strid name;
    uint8_t kind;
};

/* The CPU part of a gap. */
struct wait {
    int64_t start_ns, end_ns;
    uint32_t thread;
    size_t gap;
};

/* Moments of a thread after the middle of one wait and not after that of the next. */
struct between {
    uint32_t thread;
    int64_t after_ns, until_ns;
    bool has_next; /* there is a next one, with its middle at until_ns */
};

struct search {
    const struct gt_view *view;
    struct wait *waits; /* by thread and middle */
    size_t wait_count;
    struct between at; /* where the last spell started */
    struct spell *spells;
    size_t spell_count, spell_capacity;
    bool has_failed;
};

static int64_t middle_of(const struct wait *wait) {
    return gt_ns_add(wait->start_ns, gt_ns_between(wait->start_ns, wait->end_ns) / 2);
}

/* ---- gathering ---- */

/* false: the gap has none, or a short one. */
static bool wait_of(const struct gt_idle *idle, size_t gap, struct wait *wait) {
    struct gt_idle_cpu_part part;
    if (!gt_idle_gap_cpu_part(idle, gap, &part))
        return false;
    *wait = (struct wait){.start_ns = part.start_ns, .end_ns = part.end_ns, .thread = part.thread};
    return (double)gt_ns_between(wait->start_ns, wait->end_ns) >= gt_thresholds.named_ns;
}

static bool gather_waits(struct search *search, const struct gt_idle *idle) {
    size_t capacity = 0;
    for (size_t i = 0; i < idle->count; i++) {
        struct wait wait;
        if (!wait_of(idle, i, &wait))
            continue;
        struct wait *waits = gt_mem_room(search->waits, search->wait_count, &capacity, sizeof *waits);
        if (!waits)
            return false;
        wait.gap = i;
        search->waits = waits;
        waits[search->wait_count++] = wait;
    }
    return true;
}

static int by_thread_and_middle(const void *a, const void *b) {
    const struct wait *x = a, *y = b;
    int64_t x_ns = middle_of(x), y_ns = middle_of(y);
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x_ns != y_ns ? (x_ns < y_ns ? -1 : 1) : (x->gap > y->gap) - (x->gap < y->gap);
}

/* The middle of the first wait of a thread at or after a moment, for all moments after the middle before it. */
static __attribute__((noinline)) struct between find_between(const struct search *search, uint32_t thread,
                                                             int64_t time_ns) {
    struct between between = {thread, INT64_MIN, INT64_MAX, false};
    size_t low = 0, high = search->wait_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct wait *wait = &search->waits[middle];
        if (wait->thread < thread || (wait->thread == thread && middle_of(wait) < time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && search->waits[low - 1].thread == thread)
        between.after_ns = middle_of(&search->waits[low - 1]);
    between.has_next = low < search->wait_count && search->waits[low].thread == thread;
    if (between.has_next)
        between.until_ns = middle_of(&search->waits[low]);
    return between;
}

/* What is not open at the middle of a wait has no more than half of it. Mostly a spell starts between the same waits as
   the one before. */
static void add_spell_in_wait(struct search *search, const struct spell *spell) {
    struct between *at = &search->at;
    if (spell->thread != at->thread || spell->start_ns <= at->after_ns || spell->start_ns > at->until_ns)
        *at = find_between(search, spell->thread, spell->start_ns);
    if (!at->has_next || at->until_ns >= spell->end_ns)
        return;
    struct spell *spells = gt_mem_room(search->spells, search->spell_count, &search->spell_capacity, sizeof *spells);
    search->has_failed |= !spells;
    if (!spells)
        return;
    search->spells = spells;
    spells[search->spell_count++] = *spell;
}

/* What is shorter than half of the shortest wait has no more than half of any. */
static inline void gather_spell(struct search *search, int64_t start_ns, int64_t end_ns, uint32_t thread, gt_strid name,
                                enum kind kind) {
    if (thread != GT_NO_TRACK && (double)gt_ns_between(start_ns, end_ns) * 2 > gt_thresholds.named_ns)
        add_spell_in_wait(search, &(struct spell){start_ns, end_ns, thread, name, (uint8_t)kind});
}

uint8_t *gt_chains_step_ranges_new(const struct gt_view *view) {
    const struct gt_labels *labels = view->labels;
    size_t count = view->store->ranges.count;
    uint8_t *is_step = gt_mem_array(count, 1);
    for (size_t i = 0; i < labels->step_count && is_step; i++)
        if (labels->steps[i].range < count)
            is_step[labels->steps[i].range] = 1;
    return is_step;
}

/* Steps enclose everything and say nothing; marks and annotations of the GPU are not code. */
static void gather_ranges(struct search *search) {
    const struct gt_ranges *ranges = &search->view->store->ranges;
    uint8_t *is_step = gt_chains_step_ranges_new(search->view);
    search->has_failed |= !is_step;
    for (size_t i = 0; i < ranges->count && is_step; i++)
        if (!is_step[i] && ranges->kind[i] != GT_RANGE_MARK && ranges->kind[i] != GT_RANGE_GPU)
            gather_spell(search, ranges->start_ns[i], ranges->end_ns[i], ranges->thread[i], ranges->name[i], RANGE);
    gt_mem_free(is_step);
}

static void gather_spells(struct search *search) {
    const struct gt_store *store = search->view->store;
    for (size_t i = 0; i < store->calls.count; i++)
        gather_spell(search, store->calls.start_ns[i], store->calls.end_ns[i], store->calls.thread[i],
                     store->calls.name[i], CALL);
    gather_ranges(search);
    for (size_t i = 0; i < store->cpu_ops.count; i++)
        gather_spell(search, store->cpu_ops.start_ns[i], store->cpu_ops.end_ns[i], store->cpu_ops.thread[i],
                     store->cpu_ops.name[i], OPERATOR);
    const struct gt_python_calls *python = gt_measure_python_calls(search->view);
    for (size_t i = 0; i < python->count; i++)
        if (gt_python_code_has_line(gt_store_string(store, python->name[i])))
            gather_spell(search, python->start_ns[i], python->end_ns[i], python->thread[i], python->name[i], PYTHON);
}

/* ---- matching ---- */

static int by_thread_and_start(const void *a, const void *b) {
    const struct spell *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : (x->name > y->name) - (x->name < y->name);
}

static bool has_most(const struct spell *spell, const struct wait *wait) {
    int64_t from_ns = spell->start_ns > wait->start_ns ? spell->start_ns : wait->start_ns;
    int64_t to_ns = spell->end_ns < wait->end_ns ? spell->end_ns : wait->end_ns;
    return to_ns > from_ns && gt_ns_between(from_ns, to_ns) > gt_ns_between(wait->start_ns, wait->end_ns) / 2;
}

/* The open spells come from the outermost inwards. No program nests deeper than is looked at here. */
static struct gt_chain chain_of(const struct gt_store *store, const struct spell *spells, const uint32_t *open,
                                size_t open_count, const struct wait *wait) {
    enum { DEEPEST = 1000 };
    struct gt_chain chain = {.call = GT_STRID_EMPTY};
    gt_strid innermost = GT_STRID_EMPTY;
    size_t last = open_count > DEEPEST ? open_count - DEEPEST : 0;
    for (size_t i = open_count; i-- > last;) {
        const struct spell *spell = &spells[open[i]];
        bool is_code = spell->kind == RANGE || spell->kind == OPERATOR;
        if (!has_most(spell, wait))
            continue;
        if (spell->kind == CALL)
            chain.call = spell->name;
        if (spell->kind == PYTHON && innermost == GT_STRID_EMPTY)
            innermost = spell->name;
        if (spell->kind == PYTHON && chain.python == GT_STRID_EMPTY &&
            gt_python_code_is_own(gt_store_string(store, spell->name)))
            chain.python = spell->name;
        if (is_code && chain.code == GT_STRID_EMPTY) {
            chain.code = spell->name;
            chain.is_range = spell->kind == RANGE;
        }
    }
    chain.python = chain.python == GT_STRID_EMPTY ? innermost : chain.python;
    chain.callee = innermost == chain.python ? GT_STRID_EMPTY : innermost;
    return chain;
}

/* Walks along spells and waits of all threads at once. Spells that have ended leave the top; where spells do not nest,
   one may stay below another for a while, which has_most sees. */
static bool match(struct search *search, struct gt_chain *chains) {
    const struct spell *spells = search->spells;
    uint32_t *open = search->spell_count > UINT32_MAX ? NULL : gt_mem_uninitialised(search->spell_count, sizeof *open);
    size_t next = 0, open_count = 0;
    for (size_t i = 0; i < search->wait_count && open; i++) {
        const struct wait *wait = &search->waits[i];
        int64_t middle_ns = middle_of(wait);
        for (; next < search->spell_count &&
               (spells[next].thread < wait->thread ||
                (spells[next].thread == wait->thread && spells[next].start_ns <= middle_ns));
             next++) {
            while (open_count && (spells[open[open_count - 1]].thread != spells[next].thread ||
                                  spells[open[open_count - 1]].end_ns <= spells[next].start_ns))
                open_count--;
            open[open_count++] = (uint32_t)next;
        }
        while (open_count && (spells[open[open_count - 1]].thread != wait->thread ||
                              spells[open[open_count - 1]].end_ns <= middle_ns))
            open_count--;
        chains[wait->gap] = chain_of(search->view->store, spells, open, open_count, wait);
    }
    gt_mem_free(open);
    return open;
}

/* ---- pieces ---- */

/* Where a stall starts or ends. */
struct edge {
    int64_t time_ns;
    uint32_t thread;
    bool is_end;
    size_t gap;
};

static int by_thread_and_time(const void *a, const void *b) {
    const struct edge *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static size_t list_edges(const struct search *search, struct edge *edges) {
    size_t count = 0;
    for (size_t i = 0; i < search->wait_count; i++) {
        const struct wait *wait = &search->waits[i];
        if ((double)gt_ns_between(wait->start_ns, wait->end_ns) < gt_thresholds.stall_ns)
            continue;
        edges[count++] = (struct edge){wait->start_ns, wait->thread, false, wait->gap};
        edges[count++] = (struct edge){wait->end_ns, wait->thread, true, wait->gap};
    }
    if (count)
        qsort(edges, count, sizeof *edges, by_thread_and_time);
    return count;
}

static bool is_later(const struct edge *edge, uint32_t thread, int64_t time_ns) {
    return edge->thread > thread || (edge->thread == thread && edge->time_ns > time_ns);
}

/* Moments of a thread between two edges. */
struct interval {
    uint32_t thread;
    int64_t from_ns, until_ns;
    size_t later; /* the edge after them; the number of edges: there is none */
};

static __attribute__((noinline)) struct interval find_interval(const struct edge *edges, size_t count, uint32_t thread,
                                                               int64_t time_ns) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_later(&edges[middle], thread, time_ns))
            high = middle;
        else
            low = middle + 1;
    }
    struct interval found = {thread, INT64_MIN, INT64_MAX, low};
    if (low > 0 && edges[low - 1].thread == thread)
        found.from_ns = edges[low - 1].time_ns;
    if (low < count && edges[low].thread == thread)
        found.until_ns = edges[low].time_ns;
    return found;
}

/* before: by edge how many rows began between the edge before it and this one. Rows come mostly in order of time, so
   a row is often between the same edges as the last one. */
static void count_rows(const struct edge *edges, size_t edge_count, const int64_t *start_ns, const uint32_t *thread,
                       size_t count, size_t *before) {
    struct interval at = {GT_NO_TRACK, INT64_MIN, INT64_MAX, edge_count};
    for (size_t i = 0; i < count && edge_count; i++) {
        if (thread[i] != at.thread || start_ns[i] < at.from_ns || start_ns[i] >= at.until_ns)
            at = find_interval(edges, edge_count, thread[i], start_ns[i]);
        before[at.later]++;
    }
}

/* A stall has what began before its end, less what began before its start: stalls of several GPUs that wait for one
   thread may overlap, and each has all pieces. */
static void sum_pieces(const struct edge *edges, size_t count, const size_t *before, struct gt_chain *chains) {
    size_t begun = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t *pieces = &chains[edges[i].gap].pieces;
        begun += before[i];
        *pieces = edges[i].is_end ? (uint32_t)begun - *pieces : (uint32_t)begun;
    }
}

static bool find_pieces(const struct search *search, struct gt_chain *chains) {
    const struct gt_store *store = search->view->store;
    struct edge *edges = gt_mem_uninitialised(search->wait_count, 2 * sizeof *edges);
    size_t count = edges ? list_edges(search, edges) : 0;
    size_t *before = gt_mem_array(count + 1, sizeof *before);
    bool ok = edges && before;
    if (ok) {
        count_rows(edges, count, store->calls.start_ns, store->calls.thread, store->calls.count, before);
        count_rows(edges, count, store->cpu_ops.start_ns, store->cpu_ops.thread, store->cpu_ops.count, before);
        sum_pieces(edges, count, before, chains);
    }
    gt_mem_free(edges);
    gt_mem_free(before);
    return ok;
}

enum gt_status gt_chains_init(struct gt_chains *chains, const struct gt_view *view, const struct gt_idle *idle,
                              struct gt_error *err) {
    struct search search = {.view = view, .at.thread = GT_NO_TRACK};
    chains->items = gt_mem_array(idle->count, sizeof *chains->items);
    _Static_assert(GT_STRID_EMPTY == 0, "a zeroed chain names nothing");
    bool ok = gather_waits(&search, idle) && chains->items;
    if (ok && search.wait_count) {
        qsort(search.waits, search.wait_count, sizeof *search.waits, by_thread_and_middle);
        gather_spells(&search);
        if (search.spell_count)
            qsort(search.spells, search.spell_count, sizeof *search.spells, by_thread_and_start);
        ok = !search.has_failed && match(&search, chains->items) && find_pieces(&search, chains->items);
    }
    gt_mem_free(search.waits);
    gt_mem_free(search.spells);
    return ok ? GT_OK : gt_fail_memory(err);
}

void gt_chains_release(struct gt_chains *chains) {
    gt_mem_free(chains->items);
    chains->items = NULL;
}
