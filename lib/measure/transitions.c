/* Transitions: stream gaps by the op that ended last before them and the op that ends them. */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "measure/results/measure.h"
#include "measure/results/samples.h"
#include "measure/results/stream_walk.h"
#include "report/row.h"

struct transition {
    struct gt_str from, to;
    struct gt_sample_stats stats;
};

/* Pairs of names, numbered as they appear, and the pair of every gap in walking order. */
struct pairs {
    struct gt_map numbers;
    gt_strid (*names)[2];
    size_t count, capacity;
    uint32_t *of_gap;
    struct gt_gap_bounds bounds; /* of the gaps that count */
};

static const struct gt_report_column columns[] = {
    {"from", "Previous op", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"to", "Next op", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"avg_ns", "Mean gap", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"max_ns", "Max", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"min_ns", "Min", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"median_ns", "Median", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE},
    {"stddev_ns", "Std dev", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE | GT_COLUMN_SPREAD},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"share", "Share", GT_UNIT_SHARE, "gap time of all streams", GT_COLUMN_DETAIL},
};

static bool pairs_add(struct pairs *pairs, gt_strid from, gt_strid to, uint32_t *number) {
    *number = gt_map_put_if_new(&pairs->numbers, from, to, (uint32_t)pairs->count);
    if (pairs->numbers.failed)
        return false;
    if (*number < pairs->count)
        return true;
    void *grown = gt_mem_room(pairs->names, pairs->count, &pairs->capacity, sizeof *pairs->names);
    if (!grown)
        return false;
    pairs->names = grown;
    pairs->names[pairs->count][0] = from;
    pairs->names[pairs->count++][1] = to;
    return true;
}

static bool pairs_collect(struct pairs *pairs, const struct gt_view *view) {
    struct gt_stream_gap gap;
    size_t i = 0;
    pairs->of_gap = gt_mem_array(gt_stream_walk_gap_count(view, &pairs->bounds), sizeof *pairs->of_gap);
    bool ok = pairs->of_gap != NULL;
    for (struct gt_stream_walk walk = {.view = view, .bounds = &pairs->bounds}; ok && gt_stream_walk_next(&walk, &gap);)
        ok = pairs_add(pairs, gt_view_op_name_id(view, gap.previous), gt_view_op_name_id(view, gap.next),
                       &pairs->of_gap[i++]);
    return ok;
}

static void pairs_release(struct pairs *pairs) {
    gt_map_release(&pairs->numbers);
    gt_mem_free(pairs->names);
    gt_mem_free(pairs->of_gap);
}

static bool fill_samples(struct gt_samples *samples, const struct pairs *pairs, const struct gt_view *view) {
    struct gt_stream_gap gap;
    if (!gt_samples_init(samples, pairs->count))
        return false;
    size_t gap_count = gt_stream_walk_gap_count(view, &pairs->bounds), i = 0;
    for (size_t k = 0; k < gap_count; k++)
        gt_samples_count(samples, pairs->of_gap[k]);
    if (!gt_samples_place(samples))
        return false;
    for (struct gt_stream_walk walk = {.view = view, .bounds = &pairs->bounds}; gt_stream_walk_next(&walk, &gap);)
        gt_samples_add(samples, pairs->of_gap[i++], gap.gap_ns);
    return true;
}

static int by_mean(const void *a, const void *b) {
    const struct transition *x = a, *y = b;
    if (x->stats.mean_ns != y->stats.mean_ns)
        return x->stats.mean_ns < y->stats.mean_ns ? 1 : -1;
    int order = gt_str_cmp(x->from, y->from);
    return order ? order : gt_str_cmp(x->to, y->to);
}

static void add_row(struct gt_table *table, const struct transition *transition, double total_ns) {
    const struct gt_sample_stats *stats = &transition->stats;
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "from", transition->from);
    gt_row_text(&row, "to", transition->to);
    gt_row_count(&row, "count", stats->count);
    gt_row_real(&row, "avg_ns", stats->mean_ns);
    gt_row_int(&row, "max_ns", stats->max_ns);
    gt_row_int(&row, "min_ns", stats->min_ns);
    gt_row_real(&row, "median_ns", stats->median_ns);
    gt_row_real(&row, "stddev_ns", stats->stddev_ns);
    gt_row_int(&row, "total_ns", stats->total_ns);
    gt_row_share(&row, "share", (double)stats->total_ns, total_ns);
    gt_row_end(&row);
}

static bool add_table(const struct gt_view *view, struct gt_section *section, const struct pairs *pairs,
                      struct gt_samples *samples) {
    struct transition *transitions = gt_mem_array(pairs->count, sizeof *transitions);
    if (!transitions)
        return false;
    __int128 total_ns = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        transitions[i] = (struct transition){
            .from = gt_view_name_text(view, pairs->names[i][0]),
            .to = gt_view_name_text(view, pairs->names[i][1]),
            .stats = gt_samples_stats(samples, i),
        };
        total_ns += transitions[i].stats.total_ns;
    }
    qsort(transitions, pairs->count, sizeof *transitions, by_mean);
    struct gt_table *table = gt_section_table(section, "transitions", "Stream gaps by previous and next op", columns,
                                              GT_ARRAY_COUNT(columns));
    table->screen_limit = 15;
    table->empty = gt_stream_walk_why_none(view);
    for (size_t i = 0; i < pairs->count; i++)
        add_row(table, &transitions[i], (double)total_ns);
    gt_mem_free(transitions);
    return true;
}

enum gt_status gt_transitions_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct pairs pairs = {0};
    struct gt_samples samples = {0};
    if (gt_stream_walk_read_bounds(&pairs.bounds, view, err) != GT_OK)
        return err->code;
    bool ok = pairs_collect(&pairs, view) && fill_samples(&samples, &pairs, view) &&
              add_table(view, section, &pairs, &samples);
    gt_samples_release(&samples);
    pairs_release(&pairs);
    return ok ? GT_OK : gt_fail_memory(err);
}
