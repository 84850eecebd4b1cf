/* Search for a part of a name: which names have it, then the spans nearest to a time. */
#include <stdlib.h>

#include "base/mem.h"
#include "explore/model.h"
#include "explore/name_index.h"
#include "write/escape.h"

enum { LIMIT_MAX = 10000, TEXT_MAX = 1000 };

struct match {
    int64_t start_ns, end_ns;
    uint32_t lane;
    uint32_t span;
};

struct searching {
    const struct gt_explore *explore;
    const struct gt_explore_search *search;
    const struct gt_name_index *index;
    uint8_t *matches[GT_TIMELINE_KIND_COUNT]; /* by name: it has the text */
    struct gt_name_index_filter filters[GT_TIMELINE_KIND_COUNT];
    uint64_t total;
    uint64_t total_of[GT_TIMELINE_KIND_COUNT];
    struct match *found; /* a heap, the one farthest away at the top, until all are there */
    size_t count, limit;
};

/* The index is made once, for the first search. */
static const struct gt_name_index *index_of(const struct gt_explore *explore) {
    struct gt_model_lazy *lazy = explore->lazy;
    pthread_mutex_lock(&lazy->lock);
    if (!lazy->names)
        lazy->names = gt_name_index_new(explore);
    const struct gt_name_index *index = lazy->names;
    pthread_mutex_unlock(&lazy->lock);
    return index;
}

/* ---- names ---- */

static bool has_text(const struct searching *it, enum gt_timeline_kind kind, uint32_t name) {
    const struct gt_explore *explore = it->explore;
    if (kind == GT_TIMELINE_GAPS)
        return gt_str_find_nocase(gt_str_of(gt_idle_cause_names[name]), it->search->text);
    if (gt_str_find_nocase(gt_store_string(explore->trace.store, name), it->search->text))
        return true;
    return kind == GT_TIMELINE_OPS &&
           gt_str_find_nocase(gt_labels_short_name(explore->trace.labels, name), it->search->text);
}

static bool match_names(struct searching *it, enum gt_timeline_kind kind) {
    const uint64_t *counts = it->index->counts[kind];
    size_t names = it->index->name_count[kind];
    if (!counts)
        return true;
    it->matches[kind] = gt_mem_array(names, sizeof *it->matches[kind]);
    if (!it->matches[kind])
        return false;
    for (uint32_t name = 0; name < names; name++)
        if (counts[name] && has_text(it, kind, name)) {
            it->matches[kind][name] = 1;
            it->total_of[kind] += counts[name];
            gt_name_index_put(&it->filters[kind], name);
        }
    it->total += it->total_of[kind];
    return true;
}

/* ---- the nearest ones ---- */

/* Whether a comes first: forwards by time, backwards the other way; of one time by lane and place. */
static bool is_before(const struct searching *it, const struct match *a, const struct match *b) {
    if (a->start_ns != b->start_ns)
        return (a->start_ns < b->start_ns) != it->search->is_backwards;
    return ((a->lane != b->lane) ? a->lane < b->lane : a->span < b->span) != it->search->is_backwards;
}

static void sink(struct searching *it, size_t at, struct match match) {
    for (size_t child; (child = 2 * at + 1) < it->count; at = child) {
        child += child + 1 < it->count && is_before(it, &it->found[child], &it->found[child + 1]);
        if (!is_before(it, &match, &it->found[child]))
            break;
        it->found[at] = it->found[child];
    }
    it->found[at] = match;
}

static void rise(struct searching *it, size_t at, struct match match) {
    for (; at && is_before(it, &it->found[(at - 1) / 2], &match); at = (at - 1) / 2)
        it->found[at] = it->found[(at - 1) / 2];
    it->found[at] = match;
}

/* Takes a span; false: it and all that are farther away are not wanted. */
static bool take(struct searching *it, uint32_t lane, size_t span) {
    struct gt_interval times = gt_model_times(it->explore, it->explore->lanes[lane].row.kind, span);
    struct match match = {times.start_ns, times.end_ns, lane, (uint32_t)span};
    if (it->count < it->limit) {
        rise(it, it->count++, match);
        return true;
    }
    if (it->count == 0 || !is_before(it, &match, &it->found[0]))
        return false;
    sink(it, 0, match);
    return true;
}

static bool is_match(const struct searching *it, enum gt_timeline_kind kind, size_t span) {
    return it->matches[kind][gt_name_index_of(it->explore, kind, span)] != 0;
}

static bool run_may_match(const struct searching *it, enum gt_timeline_kind kind, size_t span) {
    return gt_name_index_may_have(&it->index->filters[kind][span / GT_NAME_INDEX_RUN], &it->filters[kind]);
}

static void look_forwards(struct searching *it, uint32_t lane, size_t from, size_t end) {
    enum gt_timeline_kind kind = it->explore->lanes[lane].row.kind;
    for (size_t span = from; span < end;) {
        size_t run_end = (span / GT_NAME_INDEX_RUN + 1) * GT_NAME_INDEX_RUN;
        run_end = run_end < end ? run_end : end;
        for (bool may = run_may_match(it, kind, span); may && span < run_end; span++)
            if (is_match(it, kind, span) && !take(it, lane, span))
                return;
        span = run_end;
    }
}

static void look_backwards(struct searching *it, uint32_t lane, size_t first, size_t before) {
    enum gt_timeline_kind kind = it->explore->lanes[lane].row.kind;
    for (size_t end = before; end > first;) {
        size_t run_first = (end - 1) / GT_NAME_INDEX_RUN * GT_NAME_INDEX_RUN;
        run_first = run_first > first ? run_first : first;
        for (bool may = run_may_match(it, kind, end - 1); may && end > run_first; end--)
            if (is_match(it, kind, end - 1) && !take(it, lane, end - 1))
                return;
        end = run_first;
    }
}

static void look_through(struct searching *it) {
    for (uint32_t i = 0; i < it->explore->lane_count; i++) {
        const struct gt_model_lane *lane = &it->explore->lanes[i];
        if (!lane->spans || !it->total_of[lane->row.kind])
            continue;
        const struct gt_pyramid *pyramid = &lane->pyramid;
        size_t first = pyramid->row.first, place = first + gt_pyramid_find(pyramid, lane->spans, it->search->at_ns);
        if (it->search->is_backwards)
            look_backwards(it, i, first, place);
        else
            look_forwards(it, i, place, first + pyramid->row.count);
    }
    struct match last;
    for (size_t left = it->count; left > 1;) { /* in order: the farthest goes to the end */
        last = it->found[--left];
        struct match top = it->found[0];
        size_t all = it->count;
        it->count = left;
        sink(it, 0, last);
        it->count = all;
        it->found[left] = top;
    }
}

/* ---- the answer ---- */

static void write_matches(const struct searching *it, struct gt_out *out) {
    gt_out_printf(out, "{\"total\": %ju, \"matches\": [", (uintmax_t)it->total);
    for (size_t i = 0; i < it->count; i++) {
        const struct match *match = &it->found[i];
        gt_strid id;
        gt_out_printf(out, "%s\n  {\"lane\": %u, \"start_ns\": %jd, \"end_ns\": %jd, \"name\": ", i ? "," : "",
                      match->lane, (intmax_t)match->start_ns, (intmax_t)match->end_ns);
        gt_escape_json(out, gt_model_name(it->explore, it->explore->lanes[match->lane].row.kind, match->span, &id));
        gt_out_char(out, '}');
    }
    gt_out_text(out, "]}");
}

enum gt_status gt_explore_search(const struct gt_explore *explore, const struct gt_explore_search *search,
                                 struct gt_out *out, struct gt_error *err) {
    if (search->text.len == 0 || search->text.len > TEXT_MAX)
        return gt_fail_usage(err, "the text to search for must have 1 to %d bytes", TEXT_MAX);
    struct searching it = {.explore = explore,
                           .search = search,
                           .index = index_of(explore),
                           .limit = search->limit < LIMIT_MAX ? search->limit : LIMIT_MAX};
    it.found = gt_mem_uninitialised(it.limit, sizeof *it.found);
    bool ok = it.index && it.found;
    for (enum gt_timeline_kind kind = 0; kind < GT_TIMELINE_KIND_COUNT && ok; kind++)
        ok = match_names(&it, kind);
    if (ok) {
        look_through(&it);
        write_matches(&it, out);
    }
    for (size_t k = 0; k < GT_TIMELINE_KIND_COUNT; k++)
        gt_mem_free(it.matches[k]);
    gt_mem_free(it.found);
    return ok ? GT_OK : gt_fail_memory(err);
}
