/* Adds the time of ops to all ranges around their launch, from the innermost out to the step, and picks the one that
   has most of it and no more than it must. */
#include "measure/findings/origins.h"

#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "measure/findings/say.h"
#include "measure/results/operator_set.h"

/* No program nests ranges deeper; damaged traces may. */
enum { DEEPEST = 100 };

void gt_origin_parts_add(struct gt_origin_parts *parts, uint32_t position, int64_t ns) {
    struct gt_origin_part *items = gt_mem_room(parts->items, parts->count, &parts->capacity, sizeof *items);
    parts->has_failed |= !items;
    if (!items)
        return;
    parts->items = items;
    items[parts->count++] = (struct gt_origin_part){position, ns};
}

void gt_origin_parts_release(struct gt_origin_parts *parts) {
    gt_mem_free(parts->items);
    *parts = (struct gt_origin_parts){0};
}

/* ---- ranges ---- */

/* The row of the step around an op: what encloses it is of no interest. */
static uint32_t step_range_of(const struct gt_view *view, uint32_t op) {
    uint32_t step = view->labels->op_step[op];
    return step == GT_NO_ROW ? GT_NO_ROW : view->labels->steps[step].range;
}

/* The next range of an op inside its step. Start with its innermost. */
static uint32_t inside_step(const struct gt_view *view, uint32_t op, uint32_t range) {
    return range == step_range_of(view, op) ? GT_NO_ROW : range;
}

static uint32_t innermost(const struct gt_view *view, uint32_t op) {
    return view->labels->op_range ? inside_step(view, op, view->labels->op_range[op]) : GT_NO_ROW;
}

static uint32_t outwards(const struct gt_view *view, uint32_t op, uint32_t range) {
    int64_t reach_ns = gt_labels_op_reach(view->labels, view->store, op);
    return inside_step(view, op, gt_labels_next_range(view->labels, view->store, range, reach_ns));
}

uint32_t gt_origins_outermost_range(const struct gt_view *view, uint32_t position) {
    uint32_t op = view->row[position], found = GT_NO_ROW, range = innermost(view, op);
    for (int depth = 0; range != GT_NO_ROW && depth < DEEPEST; depth++) {
        found = range;
        range = outwards(view, op, range);
    }
    return found;
}

/* By name. */
struct sum {
    int64_t ns;
    size_t latest;  /* 1 + the part that was added last: a name that is nested in itself counts once */
    uint32_t level; /* the deepest */
};

static void add_ranges(const struct gt_view *view, const struct gt_origin_parts *parts, size_t index,
                       struct sum *sums) {
    const struct gt_origin_part *part = &parts->items[index];
    uint32_t op = view->row[part->position], range = innermost(view, op);
    for (int depth = 0; range != GT_NO_ROW && depth < DEEPEST; depth++) {
        struct sum *sum = &sums[view->store->ranges.name[range]];
        if (sum->latest != index + 1)
            sum->ns = gt_ns_add(sum->ns, part->ns);
        sum->latest = index + 1;
        uint32_t level = view->labels->range_level[range];
        sum->level = level > sum->level ? level : sum->level;
        range = outwards(view, op, range);
    }
}

/* Of those with half of the time the one that is nested deepest. */
static gt_strid pick(const struct gt_view *view, const struct gt_origin_parts *parts, const struct sum *sums,
                     int64_t total_ns) {
    gt_strid best = GT_STRID_EMPTY;
    for (size_t i = 0; i < parts->count; i++) {
        uint32_t op = view->row[parts->items[i].position], range = innermost(view, op);
        for (int depth = 0; range != GT_NO_ROW && depth < DEEPEST; depth++) {
            gt_strid name = view->store->ranges.name[range];
            bool is_most = sums[name].ns >= total_ns - sums[name].ns && sums[name].ns > 0;
            if (is_most && (best == GT_STRID_EMPTY || sums[name].level > sums[best].level))
                best = name;
            range = outwards(view, op, range);
        }
    }
    return best;
}

/* ---- operators ---- */

/* The names of some ranges are those of operators, too: their sums are not mixed. */
static bool sum_operators(const struct gt_view *view, const struct gt_origin_parts *parts, struct sum *sums,
                          gt_strid *best) {
    uint32_t *calls = gt_mem_uninitialised(parts->count, sizeof *calls);
    for (size_t i = 0; i < parts->count && calls; i++)
        calls[i] = view->labels->op_call[view->row[parts->items[i].position]];
    uint32_t *operators = calls ? gt_operator_set_callers_of_calls(view, calls, parts->count) : NULL;
    for (size_t i = 0; i < parts->count && operators; i++) {
        if (operators[i] == GT_NO_ROW)
            continue;
        gt_strid name = view->store->cpu_ops.name[operators[i]];
        sums[name].ns = gt_ns_add(sums[name].ns, parts->items[i].ns);
        if (*best == GT_STRID_EMPTY || sums[name].ns > sums[*best].ns)
            *best = name;
    }
    bool ok = operators;
    gt_mem_free(calls);
    gt_mem_free(operators);
    return ok;
}

/* ---- both ---- */

static bool find_origin(const struct gt_view *view, const struct gt_origin_parts *parts, bool is_range_wanted,
                        struct gt_origin *origin) {
    int64_t total_ns = 0;
    struct sum *sums = gt_mem_array(view->store->strings.count, sizeof *sums);
    for (size_t i = 0; i < parts->count && sums; i++) {
        add_ranges(view, parts, i, sums);
        total_ns = gt_ns_add(total_ns, parts->items[i].ns);
    }
    bool ok = sums;
    if (ok)
        origin->name = pick(view, parts, sums, total_ns);
    origin->is_range = origin->name != GT_STRID_EMPTY;
    if (ok && !origin->is_range && !is_range_wanted && view->store->cpu_ops.count) {
        memset(sums, 0, view->store->strings.count * sizeof *sums);
        ok = sum_operators(view, parts, sums, &origin->name);
        if (origin->name != GT_STRID_EMPTY && sums[origin->name].ns < total_ns - sums[origin->name].ns)
            origin->name = GT_STRID_EMPTY;
    }
    origin->ns = ok && origin->name != GT_STRID_EMPTY ? sums[origin->name].ns : 0;
    gt_mem_free(sums);
    return ok;
}

static struct gt_origin origin_of(struct gt_evidence *evidence, const struct gt_origin_parts *parts,
                                  bool is_range_wanted) {
    struct gt_origin origin = {.name = GT_STRID_EMPTY};
    if (parts->has_failed || (parts->count && !find_origin(evidence->view, parts, is_range_wanted, &origin)))
        gt_evidence_fail(evidence);
    return origin;
}

struct gt_origin gt_origins_of_parts(struct gt_evidence *evidence, const struct gt_origin_parts *parts) {
    return origin_of(evidence, parts, false);
}

struct gt_origin gt_origins_range_of_parts(struct gt_evidence *evidence, const struct gt_origin_parts *parts) {
    return origin_of(evidence, parts, true);
}

struct gt_origin gt_origins_of_claims(struct gt_evidence *evidence) {
    const struct gt_ledger *ledger = &evidence->ledger;
    struct gt_origin_parts parts = {0};
    for (size_t i = 0; i < ledger->count; i++) {
        const struct gt_ledger_claim *claim = &ledger->claims[i];
        uint32_t position = claim->is_gap ? ledger->idle->next[claim->item] : (uint32_t)claim->item;
        if (position != GT_NO_ROW)
            gt_origin_parts_add(&parts, position, claim->ns);
    }
    struct gt_origin origin = gt_origins_of_parts(evidence, &parts);
    gt_origin_parts_release(&parts);
    return origin;
}

const char *gt_origins_say(struct gt_evidence *evidence, const struct gt_origin *origin, const char *instead) {
    if (origin->name == GT_STRID_EMPTY || gt_say_name_is_lost(evidence, origin->name))
        return instead;
    return gt_say_quoted(evidence, gt_store_string(evidence->view->store, origin->name));
}
