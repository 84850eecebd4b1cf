/* Finds what belongs to optimizers by the ranges around the launches and, without ranges, by the operations. */
#include "measure/findings/updates.h"

#include <string.h>

#include "base/mem.h"
#include "base/stems.h"
#include "base/threads.h"
#include "measure/findings/thresholds.h"

static bool is_any(struct gt_str text, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (text.len == strlen(words[i]) && gt_str_find_nocase(text, gt_str_of(words[i])))
            return true;
    return false;
}

static const char *const wholes[] = {"opt", "optim", "update"};
static const char *const parts[] = {"optimizer",  "optim.",       "optim_",       "opt_step",
                                    "opt.step",   "adam",         "sgd",          "rmsprop",
                                    "apply_grad", "update_param", "param_update", "weight_update"};

/* A range around the whole of a training step may name the optimizer, too. */
bool gt_updates_is_step_name(struct gt_str name) {
    static const char *const others[] = {"zero_grad", "forward", "backward", "train", "profilerstep"};
    bool is_named =
        is_any(name, wholes, GT_ARRAY_COUNT(wholes)) || gt_str_has_any_nocase(name, parts, GT_ARRAY_COUNT(parts));
    return is_named && !gt_str_has_any_nocase(name, others, GT_ARRAY_COUNT(others));
}

/* The pairs of letters that these words begin with, by the lower five bits, which capital and small letters share.
   Traces may have a million names, and few of them have such a pair. */
struct pairs {
    uint32_t seconds[32]; /* by the first letter: a bit for each second one */
};

static void add_pairs(struct pairs *pairs, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        pairs->seconds[words[i][0] & 31] |= 1u << (words[i][1] & 31);
}

static bool has_pair(const struct pairs *pairs, struct gt_str name) {
    for (size_t i = 0; i + 1 < name.len; i++)
        if (pairs->seconds[name.ptr[i] & 31] >> (name.ptr[i + 1] & 31) & 1)
            return true;
    return false;
}

struct search {
    const struct gt_view *view;
    const struct gt_traits *traits;
    uint32_t *root;      /* by range: the outermost range of an optimizer around it, or itself; GT_NO_ROW */
    uint8_t *says;       /* by name of ranges: 1: not that of an optimizer, 2: it is */
    uint8_t *multiplies; /* by name: ranges of it launch matrix products */
    size_t *counts;      /* by name: kernels in such ranges */
    bool has_steps;
    struct pairs pairs;
};

/* ---- by ranges ---- */

/* What `says` has of a name. No word has a digit. */
static uint8_t look_at(const struct search *search, struct gt_stems *stems, gt_strid name) {
    struct gt_str text = gt_store_string(search->view->store, name);
    uint8_t *of_stem = gt_stems_answer(stems, text), known = of_stem ? *of_stem : 0;
    if (known)
        return known;
    uint8_t says = has_pair(&search->pairs, text) && gt_updates_is_step_name(text) ? 2 : 1;
    if (of_stem)
        *of_stem = says;
    return says;
}

/* A name may be in several slices, all of which say the same of it. */
static void look_at_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct search *search = context;
    const gt_strid *names = search->view->store->ranges.name;
    struct gt_stems stems = {0};
    (void)slice;
    for (size_t i = begin; i < end; i++)
        if (!__atomic_load_n(&search->says[names[i]], __ATOMIC_RELAXED))
            __atomic_store_n(&search->says[names[i]], look_at(search, &stems, names[i]), __ATOMIC_RELAXED);
}

/* Whether any range has the name of an optimizer's step. Most traces have none, and nothing more is made of them. */
static bool look_at_names(struct search *search) {
    const struct gt_store *store = search->view->store;
    size_t slices = gt_threads_slices(gt_threads_count(search->view->request->threads), store->ranges.count, 0);
    gt_threads_rows(slices, store->ranges.count, look_at_slice, search);
    return store->strings.count && memchr(search->says, 2, store->strings.count);
}

/* The order has every range after its parent. */
static void find_roots(struct search *search) {
    const struct gt_labels *labels = search->view->labels;
    const struct gt_ranges *ranges = &search->view->store->ranges;
    for (size_t i = 0; i < ranges->count; i++)
        search->root[i] = GT_NO_ROW;
    for (size_t i = 0; i < labels->range_order_count; i++) {
        uint32_t range = labels->range_order[i], parent = labels->range_parent[range];
        uint32_t above = parent == GT_NO_ROW ? GT_NO_ROW : search->root[parent];
        search->root[range] = above != GT_NO_ROW ? above : search->says[ranges->name[range]] == 2 ? range : GT_NO_ROW;
        search->has_steps |= search->root[range] != GT_NO_ROW;
    }
}

/* The name of the optimizer's range around an op; GT_STRID_EMPTY: there is none. */
static gt_strid step_name_of(const struct search *search, size_t position) {
    uint32_t range = search->view->labels->op_range[search->view->row[position]];
    uint32_t root = range == GT_NO_ROW ? GT_NO_ROW : search->root[range];
    return root == GT_NO_ROW ? GT_STRID_EMPTY : search->view->store->ranges.name[root];
}

static void mark_in_ranges(struct search *search, struct gt_updates *updates) {
    const struct gt_view *view = search->view;
    for (size_t i = 0; i < view->op_count; i++)
        if (gt_traits_of_op(search->traits, view, i) & GT_TRAIT_PRODUCT)
            search->multiplies[step_name_of(search, i)] = 1;
    for (size_t i = 0; i < view->op_count; i++) {
        if (!(gt_traits_of_op(search->traits, view, i) & GT_TRAIT_ELEMENTWISE))
            continue;
        gt_strid name = step_name_of(search, i);
        if (name == GT_STRID_EMPTY || search->multiplies[name])
            continue;
        updates->is_update[i] = 1;
        if (++search->counts[name] > search->counts[updates->range] || updates->range == GT_STRID_EMPTY)
            updates->range = name;
    }
}

/* ---- by operations ---- */

struct run {
    size_t first, end; /* of lane_order */
    size_t kernels, signs;
};

static void close_run(const struct search *search, struct gt_updates *updates, struct run *run) {
    if ((double)run->signs >= gt_thresholds.fewest_updates &&
        (double)run->kernels <= gt_thresholds.kernels_per_update * (double)run->signs)
        for (size_t i = run->first; i < run->end; i++) {
            uint32_t position = search->view->lane_order[i];
            if (gt_traits_of_op(search->traits, search->view, position) & GT_TRAIT_ELEMENTWISE)
                updates->is_update[position] = 1;
        }
    *run = (struct run){0};
}

/* Copies and fills of the driver do not end a run, other kernels do. */
static void mark_runs(const struct search *search, struct gt_updates *updates, const struct gt_view_lane *lane) {
    const struct gt_view *view = search->view;
    struct run run = {0};
    for (size_t i = lane->first; i < lane->first + lane->count; i++) {
        uint32_t position = view->lane_order[i];
        unsigned traits = gt_traits_of_op(search->traits, view, position);
        if (gt_view_op_kind(view, position) == GT_OP_KERNEL && !(traits & GT_TRAIT_ELEMENTWISE)) {
            close_run(search, updates, &run);
            continue;
        }
        if (run.kernels == 0)
            run.first = i;
        run.end = i + 1;
        run.kernels += (traits & GT_TRAIT_ELEMENTWISE) != 0;
        run.signs += (traits & GT_TRAIT_UPDATE) != 0;
    }
    close_run(search, updates, &run);
}

/* ---- all ---- */

static void count(const struct search *search, struct gt_updates *updates) {
    const struct gt_view *view = search->view;
    for (size_t i = 0; i < view->op_count; i++) {
        updates->count += updates->is_update[i];
        updates->parameters += updates->is_update[i] && (gt_traits_of_op(search->traits, view, i) & GT_TRAIT_UPDATE);
    }
}

/* false: memory was short. */
static bool find_updates(struct search *search, struct gt_updates *updates, bool may_have_steps) {
    const struct gt_view *view = search->view;
    size_t names = view->store->strings.count;
    search->root = gt_mem_uninitialised(may_have_steps ? view->store->ranges.count : 0, sizeof *search->root);
    search->multiplies = gt_mem_array(names, 1);
    search->counts = gt_mem_array(names, sizeof *search->counts);
    updates->is_update = gt_mem_array(view->op_count, 1);
    if (!search->root || !search->multiplies || !search->counts || !updates->is_update)
        return false;
    if (may_have_steps)
        find_roots(search);
    if (search->has_steps)
        mark_in_ranges(search, updates);
    for (size_t i = 0; i < view->lane_count && (search->traits->of_any & GT_TRAIT_UPDATE); i++)
        mark_runs(search, updates, &view->lanes[i]);
    if (search->has_steps || (search->traits->of_any & GT_TRAIT_UPDATE))
        count(search, updates);
    return true;
}

enum gt_status gt_updates_init(struct gt_updates *updates, const struct gt_view *view, const struct gt_traits *traits,
                               struct gt_error *err) {
    *updates = (struct gt_updates){.range = GT_STRID_EMPTY};
    if (!(traits->of_any & GT_TRAIT_ELEMENTWISE))
        return GT_OK;
    struct search search = {.view = view, .traits = traits, .says = gt_mem_array(view->store->strings.count, 1)};
    add_pairs(&search.pairs, wholes, GT_ARRAY_COUNT(wholes));
    add_pairs(&search.pairs, parts, GT_ARRAY_COUNT(parts));
    bool may_have_steps = search.says && look_at_names(&search), ok = search.says;
    if (may_have_steps || (ok && (traits->of_any & GT_TRAIT_UPDATE)))
        ok = find_updates(&search, updates, may_have_steps);
    gt_mem_free(search.root);
    gt_mem_free(search.says);
    gt_mem_free(search.multiplies);
    gt_mem_free(search.counts);
    return ok ? GT_OK : gt_fail_memory(err);
}

void gt_updates_release(struct gt_updates *updates) {
    gt_mem_free(updates->is_update);
    *updates = (struct gt_updates){0};
}
