/* Finds the ranges of a tag: in come a name and ranges with their ops, projected ranges, or sums of these; out go their
   number and time. */
#include "measure/results/tagged_ranges.h"

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"
#include "measure/results/range_projected.h"
#include "measure/results/results.h"

enum { LISTED_NAMES = 3, LISTED_BYTES = 80, COMPARED_NAMES = 10000 };

/* ---- names ---- */

/* Tables of some versions put a colon before names of the default domain, and a name may be given as they print it. */
static bool is_tag(struct gt_str tag, struct gt_str name, struct gt_str domain) {
    if (gt_str_eq(tag, name))
        return true;
    if (name.len && name.ptr[0] == ':' && domain.len == 0 &&
        gt_str_eq(tag, (struct gt_str){name.ptr + 1, name.len - 1}))
        return true;
    return tag.len == domain.len + 1 + name.len && gt_str_starts(tag, domain) && tag.ptr[domain.len] == ':' &&
           (name.len == 0 || memcmp(tag.ptr + domain.len + 1, name.ptr, name.len) == 0);
}

/* A name that may be meant. Names are long where frameworks make them, so what counts is how much of the tag is
   somewhere in it, then whether it has the work that an iteration has, and how much else is in it at last. */
struct like {
    struct gt_str name;
    size_t within, distance;
    bool has_work;
};

/* Names like the tag, the most similar first. */
struct likeness {
    struct gt_str tag;
    struct like items[LISTED_NAMES];
    size_t count, compared;
};

static bool is_nearer(const struct like *a, const struct like *b) {
    if (a->within != b->within)
        return a->within < b->within;
    return a->has_work != b->has_work ? a->has_work : a->distance < b->distance;
}

static void offer(struct likeness *likeness, struct gt_str name, bool has_work) {
    if (likeness->compared++ >= COMPARED_NAMES)
        return;
    const struct like like = {name, gt_str_distance_within_nocase(name, likeness->tag),
                              gt_str_distance_nocase(likeness->tag, name), has_work};
    size_t place = likeness->count;
    for (size_t i = 0; i < likeness->count; i++)
        if (gt_str_eq(likeness->items[i].name, name))
            return;
    while (place > 0 && is_nearer(&like, &likeness->items[place - 1]))
        place--;
    if (place == LISTED_NAMES)
        return;
    size_t kept = likeness->count < LISTED_NAMES ? likeness->count : LISTED_NAMES - 1;
    memmove(&likeness->items[place + 1], &likeness->items[place], (kept - place) * sizeof *likeness->items);
    likeness->items[place] = like;
    likeness->count = kept + 1;
}

/* Names of projected work by string id, each once. */
static bool offer_all(struct likeness *likeness, const struct gt_store *store, const gt_strid *names, size_t count) {
    bool *is_offered = gt_mem_array(store->strings.count, sizeof *is_offered);
    for (size_t i = 0; i < count && is_offered; i++) {
        if (!is_offered[names[i]])
            offer(likeness, gt_store_string(store, names[i]), true);
        is_offered[names[i]] = true;
    }
    gt_mem_free(is_offered);
    return is_offered != NULL;
}

/* set: NULL where the input has projections alone. */
static enum gt_status fail_tag(const struct gt_store *store, const struct gt_range_set *set, const char *tag,
                               struct gt_error *err) {
    struct likeness found = {.tag = gt_str_of(tag)}, *likeness = &found;
    for (size_t i = 0; set && i < set->name_count; i++)
        offer(likeness, set->names[i].name, set->names[i].sums.ops > 0);
    if (!set && (!offer_all(likeness, store, store->projections.name, store->projections.count) ||
                 !offer_all(likeness, store, store->projection_groups.name, store->projection_groups.count)))
        return gt_fail_memory(err);
    struct gt_arena arena = {0};
    struct gt_str list = GT_STR("");
    for (size_t i = 0; i < likeness->count; i++) {
        struct gt_str name = likeness->items[i].name, kept = gt_str_cut(name, LISTED_BYTES);
        const char *lead = i ? ", " : likeness->count == 1 ? "did you mean " : "did you mean one of ";
        list = gt_arena_printf(&arena, "%s%s'%.*s%s'", list.ptr, lead, (int)kept.len, kept.ptr,
                               kept.len < name.len ? "..." : "");
    }
    enum gt_status status = gt_arena_failed(&arena)
                                ? gt_fail_memory(err)
                                : gt_fail_usage(err, "no range is called '%.200s'; %s%s'gputime ranges' lists all",
                                                likeness->tag.ptr, list.ptr, list.len ? "; " : "");
    gt_arena_release(&arena);
    return status;
}

/* ---- ranges ---- */

/* What the sources of ranges have in common while they are searched. */
struct search {
    struct gt_str tag;
    struct gt_tagged_ranges *found;
    int64_t *of_thread; /* by thread, the last for none */
    bool is_known;      /* some range bears the tag */
};

static bool search_init(struct search *search, const struct gt_store *store, const char *tag,
                        struct gt_tagged_ranges *found) {
    *search = (struct search){.tag = gt_str_of(tag), .found = found};
    search->of_thread = gt_mem_array(store->threads.count + 1, sizeof *search->of_thread);
    return search->of_thread != NULL;
}

static void add_range(struct search *search, const struct gt_store *store, uint32_t thread, int64_t projected_ns) {
    struct gt_tagged_ranges *found = search->found;
    int64_t *of_thread = &search->of_thread[thread == GT_NO_TRACK ? store->threads.count : thread];
    found->count++;
    found->projected_ns = gt_ns_add(found->projected_ns, projected_ns);
    ++*of_thread;
    found->most = *of_thread > found->most ? *of_thread : found->most;
}

static enum gt_status search_ranges(struct search *search, const struct gt_view *view, struct gt_error *err) {
    const struct gt_ranges *ranges = &view->store->ranges;
    const struct gt_range_set *set = gt_results_ranges(view, err);
    if (!set)
        return err->code;
    bool *bears_tag = gt_mem_array(set->name_count, sizeof *bears_tag);
    search->found->total_ns = set->total_ns;
    for (size_t i = 0; i < set->name_count && bears_tag; i++) {
        search->is_known |= bears_tag[i] = is_tag(search->tag, set->names[i].name, set->names[i].domain);
        if (bears_tag[i])
            search->found->inside_ns = gt_ns_add(search->found->inside_ns, set->names[i].sums.sum_ns);
    }
    for (size_t i = 0; i < ranges->count && bears_tag; i++)
        if (set->name_of[i] != GT_NO_ROW && bears_tag[set->name_of[i]] && set->uses[i].ops)
            add_range(search, view->store, ranges->thread[i],
                      gt_ns_between(set->uses[i].start_ns, set->uses[i].end_ns));
    gt_mem_free(bears_tag);
    return bears_tag ? GT_OK : gt_fail_memory(err);
}

static void search_projections(struct search *search, const struct gt_store *store) {
    const struct gt_projections *rows = &store->projections;
    for (size_t i = 0; i < rows->count; i++) {
        struct gt_str name = gt_store_string(store, rows->name[i]);
        if (!is_tag(search->tag, name, gt_store_string(store, rows->domain[i])))
            continue;
        search->is_known = true;
        add_range(search, store, rows->thread[i], gt_ns_between(rows->start_ns[i], rows->end_ns[i]));
    }
}

static void search_sums(struct search *search, const struct gt_store *store) {
    const struct gt_projection_groups *rows = &store->projection_groups;
    struct gt_tagged_ranges *found = search->found;
    for (size_t i = 0; i < rows->count; i++) {
        struct gt_str name = gt_store_string(store, rows->name[i]);
        if (!is_tag(search->tag, name, gt_store_string(store, rows->domain[i])))
            continue;
        search->is_known = true;
        found->count = found->most = gt_ns_of_sum((__int128)found->count + (__int128)rows->instances[i]);
        found->projected_ns = gt_ns_add(found->projected_ns, rows->total_ns[i]);
    }
}

enum gt_status gt_tagged_ranges_find(const struct gt_view *view, const char *tag, struct gt_tagged_ranges *found,
                                     struct gt_error *err) {
    const struct gt_store *store = view->store;
    bool has_own = store->ranges.count > 0;
    *found = (struct gt_tagged_ranges){.state = GT_TAGGED_NONE};
    if (!has_own && !store->projections.count && !store->projection_groups.count)
        return GT_OK;
    struct search search;
    if (!search_init(&search, store, tag, found))
        return gt_fail_memory(err);
    enum gt_status status = GT_OK;
    if (has_own)
        status = search_ranges(&search, view, err);
    else if (store->projections.count)
        search_projections(&search, store);
    else
        search_sums(&search, store);
    if (status == GT_OK && !search.is_known)
        status = fail_tag(store, has_own ? gt_results_ranges(view, err) : NULL, tag, err);
    found->state = !has_own && gt_range_projected_is_part(view) ? GT_TAGGED_UNKNOWN
                   : found->count                               ? GT_TAGGED_FOUND
                                                                : GT_TAGGED_IDLE;
    gt_mem_free(search.of_thread);
    return status;
}
