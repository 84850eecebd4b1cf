/* Joins groups of ops, or rows that are summed already, by name and works out the statistics of their durations. Linear
   except the final sort of the names. */
#include "measure/results/named.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"

const char gt_category_mixed[] = "mixed";

static int by_total(const void *a, const void *b) {
    const struct gt_named *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return gt_str_cmp(x->name, y->name);
}

static void finish(struct gt_named_set *set) {
    __int128 total_ns = 0, total_count = 0;
    for (size_t i = 0; i < set->count; i++) {
        total_ns += set->items[i].total_ns;
        total_count += (int64_t)set->items[i].count;
    }
    set->total_ns = gt_ns_of_sum(total_ns);
    set->total_count = gt_ns_of_sum(total_count);
    if (set->count)
        qsort(set->items, set->count, sizeof *set->items, by_total);
}

static void add_category(const char **known, const char *key) {
    if (!*known)
        *known = key;
    else if (*known != gt_category_mixed && strcmp(*known, key) != 0)
        *known = gt_category_mixed;
}

static struct gt_named named_of_groups(const struct gt_view *view, const struct gt_op_groups *groups, size_t first,
                                       size_t end) {
    struct gt_tally lengths = gt_op_groups_tally(groups, first, end);
    struct gt_sample_stats stats = gt_op_groups_tally_stats(&lengths);
    struct gt_named named = {.name = gt_view_name_text(view, groups->items[first].name),
                             .first = groups->items[first].first,
                             .total_ns = stats.total_ns,
                             .count = stats.count,
                             .mean_ns = stats.mean_ns,
                             .first_group = (uint32_t)first,
                             .end_group = (uint32_t)end};
    for (size_t i = first; i < end; i++) {
        named.first = groups->items[i].first < named.first ? groups->items[i].first : named.first;
        add_category(&named.category, view->labels->categories[groups->items[i].category].key);
    }
    named.full_name = view->name[named.first];
    return named;
}

static struct gt_sample_stats stats_of_sum(const struct gt_kernel_sum *sum) {
    return gt_op_groups_tally_stats(
        &(struct gt_tally){sum->lengths.sum, sum->lengths.count, sum->lengths.min, sum->lengths.max});
}

static enum gt_status join_groups(struct gt_named_set *set, const struct gt_view *view, bool of_kernels,
                                  struct gt_error *err) {
    const struct gt_op_groups *groups = set->groups = gt_results_op_groups(view, err);
    if (!groups)
        return err->code;
    size_t first = of_kernels ? 0 : groups->kernel_count, last = of_kernels ? groups->kernel_count : groups->count;
    set->items = gt_mem_array(last - first, sizeof *set->items);
    if (!set->items)
        return gt_fail_memory(err);
    while (first < last) {
        size_t end = first + 1;
        while (end < last && groups->items[end].name == groups->items[first].name)
            end++;
        set->items[set->count++] = named_of_groups(view, groups, first, end);
        first = end;
    }
    return GT_OK;
}

/* Nothing but the order of ops would be new in groups. */
static enum gt_status join_sums(struct gt_named_set *set, const struct gt_view *view, struct gt_error *err) {
    if (!gt_kernel_sums_init(&set->sums, view))
        return gt_fail_memory(err);
    const struct gt_kernel_table *all = &set->sums.all;
    set->items = gt_mem_array(all->count, sizeof *set->items);
    if (!set->items)
        return gt_fail_memory(err);
    for (; set->count < all->count; set->count++) {
        gt_strid name = all->names[set->count];
        const struct gt_kernel_sum *sum = &all->sums[name];
        struct gt_sample_stats stats = stats_of_sum(sum);
        set->items[set->count] = (struct gt_named){
            .name = gt_view_name_text(view, name),
            .category = sum->is_of_several ? gt_category_mixed : view->labels->categories[sum->category].key,
            .total_ns = stats.total_ns,
            .count = stats.count,
            .mean_ns = stats.mean_ns,
            .full_name = name};
    }
    return GT_OK;
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

static struct gt_sample_stats stats_of_row(const struct gt_groups *rows, size_t row) {
    return (struct gt_sample_stats){.count = add_counts(0, rows->instances[row]),
                                    .total_ns = rows->total_ns[row],
                                    .min_ns = rows->min_ns[row],
                                    .max_ns = rows->max_ns[row],
                                    .stddev_ns = rows->stddev_ns[row],
                                    .median_ns = rows->median_ns[row],
                                    .p90_ns = -1,
                                    .p99_ns = -1};
}

/* What is known of each name once its rows are joined. */
static void take_stats(struct gt_named_set *set) {
    for (uint32_t i = 0; i < set->count; i++) {
        struct gt_sample_stats *stats = &set->summed[i];
        struct gt_named *named = &set->items[i];
        stats->mean_ns = stats->count ? (double)stats->total_ns / (double)stats->count : 0;
        named->first_group = named->end_group = i;
        named->total_ns = stats->total_ns;
        named->count = stats->count;
        named->mean_ns = stats->mean_ns;
    }
}

static enum gt_status join_rows(struct gt_named_set *set, const struct gt_view *view, bool of_kernels,
                                struct gt_error *err) {
    const struct gt_groups *rows = &view->store->groups;
    uint32_t *place = gt_mem_array(gt_view_name_count(view), sizeof *place); /* by name id: index + 1 */
    set->items = gt_mem_array(view->group_count, sizeof *set->items);
    set->summed = gt_mem_array(view->group_count, sizeof *set->summed);
    bool ok = place && set->items && set->summed;
    for (size_t i = 0; i < view->group_count && ok; i++) {
        uint32_t row = view->groups[i];
        if (gt_store_kind_is_kernel(rows->kind[row]) != of_kernels)
            continue;
        gt_strid id = gt_view_name_id(view, rows->name[row]);
        if (place[id]) {
            join_row(&set->summed[place[id] - 1], rows, row);
        } else {
            set->summed[set->count] = stats_of_row(rows, row);
            set->items[set->count] =
                (struct gt_named){.name = gt_view_name_text(view, id), .full_name = rows->name[row], .first = row};
            place[id] = (uint32_t)++set->count;
        }
        add_category(&set->items[place[id] - 1].category,
                     view->labels->categories[view->labels->group_category[row]].key);
    }
    if (ok)
        take_stats(set);
    gt_mem_free(place);
    return ok ? GT_OK : gt_fail_memory(err);
}

enum gt_status gt_named_set_init(struct gt_named_set *set, const struct gt_view *view, bool of_kernels,
                                 struct gt_error *err) {
    *set = (struct gt_named_set){0};
    assert(of_kernels || !view->is_by_row);
    enum gt_status status = view->is_summed   ? join_rows(set, view, of_kernels, err)
                            : view->is_by_row ? join_sums(set, view, err)
                                              : join_groups(set, view, of_kernels, err);
    if (status == GT_OK)
        finish(set);
    else
        gt_named_set_release(set);
    return status;
}

enum gt_status gt_named_set_init_kernels(struct gt_named_set *set, const struct gt_view *view, struct gt_error *err) {
    return gt_named_set_init(set, view, true, err);
}

void gt_named_set_release(struct gt_named_set *set) {
    gt_mem_free(set->items);
    gt_mem_free(set->summed);
    gt_kernel_sums_release(&set->sums);
    *set = (struct gt_named_set){0};
}

struct gt_sample_stats gt_named_stats(const struct gt_named_set *set, const struct gt_named *named,
                                      const struct gt_op_lengths *lengths) {
    if (set->summed)
        return set->summed[named->first_group];
    struct gt_tally tally = gt_op_groups_tally(set->groups, named->first_group, named->end_group);
    struct gt_sample_stats stats = gt_op_groups_tally_stats(&tally);
    if (gt_sample_stats_complete(&stats) || !lengths)
        return stats;
    return gt_samples_slice_stats(gt_op_lengths_of(lengths, named->first_group, named->end_group));
}

/* So many tasks that a few long ones do not leave the other threads without work. */
enum { MOST_STATS_TASKS = 1024 };

struct listing {
    const struct gt_named_set *set;
    const struct gt_radix_item *order; /* NULL: as they are */
    struct gt_sample_stats *stats;
    const struct gt_op_lengths *lengths;    /* of a view with groups, else NULL */
    const struct gt_kernel_lengths *by_row; /* of a view by row, in this order, for quantiles; else NULL */
    size_t count, task_count;
};

static const struct gt_named *listed(const struct gt_named_set *set, const struct gt_radix_item *order, size_t index) {
    return &set->items[order ? order[index].value : index];
}

static struct gt_sample_stats stats_of_listed(const struct listing *list, size_t index) {
    const struct gt_named *named = listed(list->set, list->order, index);
    if (!list->set->sums.view)
        return gt_named_stats(list->set, named, list->lengths);
    const struct gt_kernel_sum *sum = &list->set->sums.all.sums[named->full_name];
    struct gt_sample_stats stats = stats_of_sum(sum);
    if (gt_sample_stats_complete(&stats))
        return stats;
    stats.stddev_ns = gt_moments_stddev(&sum->lengths);
    if (list->by_row)
        gt_samples_slice_quantiles(gt_kernel_sums_slice(list->by_row, index), &stats);
    return stats;
}

static void list_stats(void *context, size_t task) {
    const struct listing *list = context;
    size_t end = gt_threads_slice_begin(list->count, list->task_count, task + 1);
    for (size_t i = gt_threads_slice_begin(list->count, list->task_count, task); i < end; i++)
        list->stats[i] = stats_of_listed(list, i);
}

/* Those of a view by row. */
static bool list_lengths(const struct listing *list, struct gt_kernel_lengths *out) {
    gt_strid *names = gt_mem_uninitialised(list->count, sizeof *names);
    for (size_t i = 0; i < list->count && names; i++)
        names[i] = listed(list->set, list->order, i)->full_name;
    bool ok = names && gt_kernel_sums_lengths(&list->set->sums, names, list->count, out);
    gt_mem_free(names);
    return ok;
}

struct gt_sample_stats *gt_named_stats_new(const struct gt_named_set *set, const struct gt_radix_item *order,
                                           size_t count, bool with_quantiles, const struct gt_op_lengths *lengths,
                                           size_t thread_count) {
    struct gt_sample_stats *stats = gt_mem_uninitialised(count, sizeof *stats);
    size_t task_count = count < MOST_STATS_TASKS ? count : MOST_STATS_TASKS;
    struct listing list = {
        .set = set, .order = order, .stats = stats, .lengths = lengths, .count = count, .task_count = task_count};
    struct gt_kernel_lengths by_row = {0};
    bool needs_lengths = set->sums.view && with_quantiles;
    bool ok = stats && (!needs_lengths || list_lengths(&list, &by_row));
    list.by_row = needs_lengths ? &by_row : NULL;
    if (ok)
        gt_threads_parts(thread_count, task_count, list_stats, &list);
    gt_kernel_sums_lengths_release(&by_row);
    if (ok)
        return stats;
    gt_mem_free(stats);
    return NULL;
}
