/* Groups ops, or rows that are summed already, by name and works out the statistics of their durations. Linear but for
   the final sort of the names. */
#include "measure/named.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/measure.h"

const char gt_category_mixed[] = "mixed";

static int by_total(const void *a, const void *b) {
    const struct gt_named *x = a, *y = b;
    if (x->stats.total_ns != y->stats.total_ns)
        return x->stats.total_ns < y->stats.total_ns ? 1 : -1;
    return gt_str_cmp(x->name, y->name);
}

static void finish(struct gt_named_set *set) {
    __int128 total_ns = 0, total_count = 0;
    for (size_t i = 0; i < set->count; i++) {
        total_ns += set->items[i].stats.total_ns;
        total_count += (int64_t)set->items[i].stats.count;
    }
    set->total_ns = gt_ns_of_sum(total_ns);
    set->total_count = gt_ns_of_sum(total_count);
    if (set->count)
        qsort(set->items, set->count, sizeof *set->items, by_total);
}

/* By name id: how many ops it has and which is the first. */
static size_t count_ops(const struct gt_view *view, bool (*takes)(uint8_t), struct gt_samples *samples,
                        uint32_t *first) {
    size_t names = 0;
    for (size_t i = 0; i < view->op_count; i++) {
        if (!takes(gt_op_kind(view, i)))
            continue;
        gt_strid id = gt_op_name_id(view, i);
        if (samples->bounds[id + 2] == 0) {
            first[id] = (uint32_t)i;
            names++;
        }
        gt_samples_count(samples, id);
    }
    return names;
}

static void describe_ops(const struct gt_view *view, struct gt_samples *samples, const uint32_t *first,
                         struct gt_named_set *set) {
    for (size_t id = 0; id < samples->set_count; id++) {
        if (gt_samples_size(samples, id) == 0)
            continue;
        set->items[set->count++] = (struct gt_named){
            .name = gt_name_text(view, (gt_strid)id),
            .id = (gt_strid)id,
            .full_name = view->name[first[id]],
            .first = first[id],
            .stats = gt_samples_stats(samples, id),
        };
    }
}

static bool group_ops(struct gt_named_set *set, const struct gt_view *view, bool (*takes)(uint8_t)) {
    struct gt_samples samples = {0};
    size_t name_count = gt_name_count(view);
    uint32_t *first = gt_alloc_array(name_count, sizeof *first);
    bool ok = first && gt_samples_init(&samples, name_count);
    if (ok) {
        size_t names = count_ops(view, takes, &samples, first);
        set->items = gt_alloc_array(names, sizeof *set->items);
        ok = set->items && gt_samples_place(&samples);
    }
    for (size_t i = 0; i < view->op_count && ok; i++)
        if (takes(gt_op_kind(view, i)))
            gt_samples_add(&samples, gt_op_name_id(view, i), gt_op_ns(view, i));
    if (ok)
        describe_ops(view, &samples, first, set);
    gt_samples_release(&samples);
    gt_free(first);
    return ok;
}

static size_t add_counts(size_t a, uint64_t b) {
    __int128 sum = (__int128)a + (__int128)b;
    return (size_t)gt_ns_of_sum(sum);
}

/* A second row of the same name: sums stay exact, the order statistics of the whole are not known any more. */
static void join_row(struct gt_sample_stats *into, const struct gt_groups *rows, size_t row) {
    into->count = add_counts(into->count, rows->instances[row]);
    into->total_ns = gt_ns_add(into->total_ns, rows->total_ns[row]);
    into->min_ns = rows->min_ns[row] < into->min_ns ? rows->min_ns[row] : into->min_ns;
    into->max_ns = rows->max_ns[row] > into->max_ns ? rows->max_ns[row] : into->max_ns;
    into->median_ns = into->stddev_ns = -1;
}

static struct gt_named named_of_row(const struct gt_view *view, uint32_t row, gt_strid id) {
    const struct gt_groups *rows = &view->store->groups;
    return (struct gt_named){
        .name = gt_name_text(view, id),
        .id = id,
        .full_name = rows->name[row],
        .first = row,
        .stats = {.count = add_counts(0, rows->instances[row]),
                  .total_ns = rows->total_ns[row],
                  .min_ns = rows->min_ns[row],
                  .max_ns = rows->max_ns[row],
                  .stddev_ns = rows->stddev_ns[row],
                  .median_ns = rows->median_ns[row],
                  .p90_ns = -1,
                  .p99_ns = -1},
    };
}

static bool group_rows(struct gt_named_set *set, const struct gt_view *view, bool (*takes)(uint8_t)) {
    const struct gt_groups *rows = &view->store->groups;
    uint32_t *place = gt_alloc_array(gt_name_count(view), sizeof *place); /* by name id: index + 1 */
    set->items = gt_alloc_array(view->group_count, sizeof *set->items);
    bool ok = place && set->items;
    for (size_t i = 0; i < view->group_count && ok; i++) {
        uint32_t row = view->groups[i];
        if (!takes(rows->kind[row]))
            continue;
        gt_strid id = gt_name_id(view, rows->name[row]);
        if (place[id]) {
            join_row(&set->items[place[id] - 1].stats, rows, row);
        } else {
            set->items[set->count++] = named_of_row(view, row, id);
            place[id] = (uint32_t)set->count;
        }
    }
    for (size_t i = 0; i < set->count && ok; i++) {
        struct gt_sample_stats *stats = &set->items[i].stats;
        stats->mean_ns = stats->count ? (double)stats->total_ns / (double)stats->count : 0;
    }
    gt_free(place);
    return ok;
}

static void add_category(const char **known, const char *key) {
    if (!*known)
        *known = key;
    else if (*known != gt_category_mixed && strcmp(*known, key) != 0)
        *known = gt_category_mixed;
}

/* The category that all ops of a name have. A simplified name may stand for kernels of several. */
static bool add_categories(struct gt_named_set *set, const struct gt_view *view, bool (*takes)(uint8_t)) {
    const struct gt_labels *labels = view->labels;
    const struct gt_groups *groups = &view->store->groups;
    const char **keys = gt_alloc_array(gt_name_count(view), sizeof(const char *)); /* by name id */
    for (size_t i = 0; keys && i < view->op_count; i++)
        if (takes(gt_op_kind(view, i)))
            add_category(&keys[gt_op_name_id(view, i)], labels->categories[view->category[i]].key);
    for (size_t i = 0; keys && i < view->group_count; i++) {
        uint32_t row = view->groups[i];
        if (takes(groups->kind[row]))
            add_category(&keys[gt_name_id(view, groups->name[row])],
                         labels->categories[labels->group_category[row]].key);
    }
    for (size_t i = 0; keys && i < set->count; i++)
        set->items[i].category = keys[set->items[i].id];
    gt_free(keys);
    return keys != NULL;
}

enum gt_status gt_named_set_init(struct gt_named_set *set, const struct gt_view *view, bool (*takes)(uint8_t kind),
                                 struct gt_error *err) {
    *set = (struct gt_named_set){0};
    bool ok = view->is_summed ? group_rows(set, view, takes) : group_ops(set, view, takes);
    if (!ok || !add_categories(set, view, takes)) {
        gt_named_set_release(set);
        return gt_fail_memory(err);
    }
    finish(set);
    return GT_OK;
}

void gt_named_set_release(struct gt_named_set *set) {
    gt_free(set->items);
    *set = (struct gt_named_set){0};
}
