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
    uint8_t *says;       /* by name: 1: not that of an optimizer, 2: it is; 0: not looked at yet */
    uint8_t *multiplies; /* by name: ranges of it launch matrix products */
    size_t *counts;      /* by name: kernels in such ranges */
    bool has_steps;
    struct pairs pairs;
    struct gt_stems stems; /* what says has; no word has a digit */
};

/* ---- by ranges ---- */

/* What `says` has of a name. */
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

static bool is_step(struct search *search, gt_strid name) {
    if (!search->says[name])
        search->says[name] = look_at(search, &search->stems, name);
    return search->says[name] == 2;
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

/* With several threads, names are looked at before ranges are, which go from the outermost inwards. */
static void look_ahead(struct search *search) {
    size_t count = search->view->store->ranges.count;
    size_t slices = gt_threads_slices(gt_threads_count(search->view->request->threads), count, 0);
    if (slices > 1)
        gt_threads_rows(slices, count, look_at_slice, search);
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
        search->root[range] = above != GT_NO_ROW ? above : is_step(search, ranges->name[range]) ? range : GT_NO_ROW;
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

enum gt_status gt_updates_init(struct gt_updates *updates, const struct gt_view *view, const struct gt_traits *traits,
                               struct gt_error *err) {
    *updates = (struct gt_updates){.range = GT_STRID_EMPTY};
    if (!(traits->of_any & GT_TRAIT_ELEMENTWISE))
        return GT_OK;
    size_t names = view->store->strings.count;
    struct search search = {
        .view = view,
        .traits = traits,
        .root = gt_mem_uninitialised(view->store->ranges.count, sizeof *search.root),
        .says = gt_mem_array(names, 1),
        .multiplies = gt_mem_array(names, 1),
        .counts = gt_mem_array(names, sizeof *search.counts),
    };
    updates->is_update = gt_mem_array(view->op_count, 1);
    bool ok = search.root && search.says && search.multiplies && search.counts && updates->is_update;
    if (ok) {
        add_pairs(&search.pairs, wholes, GT_ARRAY_COUNT(wholes));
        add_pairs(&search.pairs, parts, GT_ARRAY_COUNT(parts));
        look_ahead(&search);
        find_roots(&search);
        if (search.has_steps)
            mark_in_ranges(&search, updates);
        for (size_t i = 0; i < view->lane_count && (traits->of_any & GT_TRAIT_UPDATE); i++)
            mark_runs(&search, updates, &view->lanes[i]);
        if (search.has_steps || (traits->of_any & GT_TRAIT_UPDATE))
            count(&search, updates);
    }
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
