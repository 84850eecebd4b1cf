/* Sums ops, time and samples over trees of ranges: what is inside a range is a difference of running sums. */
#include "measure/counters/counter_ranges.h"

#include <string.h>

#include "base/mem.h"

/* Ranges between an op and those that all ops of its sample have: so many are looked at. Ranges that nest deeper have
   fewer samples. */
enum { LEVELS_MOST = 256 };

/* ---- amounts by name ---- */

static void begin_amounts(struct gt_counter_ranges *ranges) {
    memset(ranges->before, 0, (ranges->trees->count + 1) * sizeof *ranges->before);
    memset(ranges->amounts, 0, ranges->trees->ranges->name_count * sizeof *ranges->amounts);
}

/* Of each name the outermost ranges count. */
static void carry_amounts(struct gt_counter_ranges *ranges) {
    const struct gt_range_trees *trees = ranges->trees;
    for (size_t i = 0; i < trees->count; i++)
        ranges->before[i + 1] += ranges->before[i];
    for (size_t i = 0; i < trees->count; i++)
        if (trees->is_outermost[i])
            ranges->amounts[gt_range_trees_name(trees, i)] += ranges->before[trees->end[i]] - ranges->before[i];
}

/* An amount of an op, for ranges that overlap its innermost one. */
struct overlapping {
    struct gt_counter_ranges *ranges;
    int64_t amount;
};

static void add_other(void *context, uint32_t range, bool is_new) {
    const struct overlapping *it = context;
    if (is_new)
        it->ranges->amounts[it->ranges->trees->ranges->name_of[range]] += it->amount;
}

static void put_amount(struct gt_counter_ranges *ranges, size_t op, int64_t amount) {
    uint32_t place = gt_range_trees_place(ranges->trees, op);
    if (place == GT_NO_ROW)
        return;
    ranges->before[place + 1] += amount;
    gt_range_trees_others(ranges->trees, op, add_other, &(struct overlapping){ranges, amount});
}

static struct gt_counter_item *item_of(struct gt_counter_ranges *ranges, size_t name) {
    uint32_t item = ranges->item_of[name];
    return item == GT_NO_ROW ? NULL : &ranges->items->device->items[item];
}

/* ---- ops and time ---- */

static void count_ops(struct gt_counter_ranges *ranges, const struct gt_view_device *device) {
    const struct gt_range_set *set = ranges->trees->ranges;
    begin_amounts(ranges);
    for (size_t op = device->first; op < device->first + device->count; op++)
        put_amount(ranges, op, 1);
    carry_amounts(ranges);
    for (size_t name = 0; name < set->name_count && !ranges->items->has_failed; name++)
        if (ranges->amounts[name] > 0) {
            uint32_t item = gt_counter_items_add_range(ranges->items, set->names[name].name, (uint32_t)name);
            ranges->item_of[name] = item;
            ranges->items->device->items[item].ops = (size_t)ranges->amounts[name];
        }
}

static void put_time(void *context, const struct gt_counter_piece *piece) {
    if (piece->op != GT_NO_ROW)
        put_amount(context, piece->op, gt_ns_between(piece->start_ns, piece->end_ns));
}

static void sum_time(struct gt_counter_ranges *ranges, const struct gt_idle *idle, size_t index) {
    begin_amounts(ranges);
    gt_counter_sweep_pieces(ranges->trees->view, idle, index, put_time, ranges);
    carry_amounts(ranges);
    for (size_t name = 0; name < ranges->trees->ranges->name_count; name++)
        if (item_of(ranges, name))
            item_of(ranges, name)->time_ns = gt_ns_of_sum(ranges->amounts[name]);
}

bool gt_counter_ranges_init(struct gt_counter_ranges *ranges, struct gt_range_trees *trees,
                            struct gt_counter_items *items, const struct gt_idle *idle, size_t index,
                            const struct gt_sampling *sampling) {
    size_t name_count = trees->ranges->name_count;
    *ranges = (struct gt_counter_ranges){
        .trees = trees,
        .items = items,
        .sampling = sampling,
        .before = gt_mem_uninitialised(trees->count + 1, sizeof *ranges->before),
        .amounts = gt_mem_uninitialised(name_count, sizeof *ranges->amounts),
        .item_of = gt_mem_uninitialised(name_count, sizeof *ranges->item_of),
        .filled_ns = gt_mem_array(name_count, sizeof *ranges->filled_ns),
        .touched = gt_mem_uninitialised(name_count, sizeof *ranges->touched),
    };
    if (!ranges->before || !ranges->amounts || !ranges->item_of || !ranges->filled_ns || !ranges->touched)
        return false;
    memset(ranges->item_of, 0xFF, name_count * sizeof *ranges->item_of);
    count_ops(ranges, &trees->view->devices[index]);
    sum_time(ranges, idle, index);
    return !items->has_failed;
}

void gt_counter_ranges_release(struct gt_counter_ranges *ranges) {
    gt_mem_free(ranges->before);
    gt_mem_free(ranges->amounts);
    gt_mem_free(ranges->item_of);
    gt_mem_free(ranges->samples);
    gt_mem_free(ranges->filled_ns);
    gt_mem_free(ranges->touched);
}

/* ---- samples ---- */

static void touch(struct gt_counter_ranges *ranges, uint32_t name, int64_t ns) {
    if (ranges->filled_ns[name] == 0)
        ranges->touched[ranges->touched_count++] = name;
    ranges->filled_ns[name] = gt_ns_add(ranges->filled_ns[name], ns);
}

static void touch_other(void *context, uint32_t range, bool is_new) {
    const struct overlapping *it = context;
    if (is_new)
        touch(it->ranges, it->ranges->trees->ranges->name_of[range], it->amount);
}

/* The innermost range around both; GT_NO_ROW: there is none, or it is too far out. */
static uint32_t common_place(const struct gt_range_trees *trees, uint32_t a, uint32_t b) {
    for (int level = 0; a != GT_NO_ROW && b != GT_NO_ROW && level < LEVELS_MOST; level++) {
        if (a <= b && b < trees->end[a])
            return a;
        a = gt_range_trees_around(trees, a);
    }
    return GT_NO_ROW;
}

/* The innermost range around all ops of a sample. */
static uint32_t common_of(const struct gt_range_trees *trees, const struct gt_counter_part *parts, size_t count) {
    uint32_t common = GT_NO_ROW;
    bool has_ops = false;
    for (size_t p = 0; p < count; p++) {
        if (parts[p].op == GT_NO_ROW)
            continue;
        uint32_t place = gt_range_trees_place(trees, parts[p].op);
        common = has_ops ? common_place(trees, common, place) : place;
        has_ops = true;
    }
    return common;
}

/* Ranges of an op that are inside the common one, and those that overlap. */
static void touch_ranges(struct gt_counter_ranges *ranges, const struct gt_counter_part *part, uint32_t common) {
    const struct gt_range_trees *trees = ranges->trees;
    uint32_t place = gt_range_trees_place(trees, part->op);
    for (int level = 0; place != common && place != GT_NO_ROW && level < LEVELS_MOST; level++) {
        if (trees->is_outermost[place])
            touch(ranges, gt_range_trees_name(trees, place), part->ns);
        place = gt_range_trees_around(trees, place);
    }
    gt_range_trees_others(ranges->trees, part->op, touch_other, &(struct overlapping){ranges, part->ns});
}

static void add_common(struct gt_counter_ranges *ranges, size_t sample, uint32_t place, int64_t ns) {
    struct gt_counter_ranges_sample *samples =
        gt_mem_room(ranges->samples, ranges->sample_count, &ranges->sample_capacity, sizeof *samples);
    ranges->has_failed |= !samples;
    if (!samples)
        return;
    ranges->samples = samples;
    samples[ranges->sample_count++] = (struct gt_counter_ranges_sample){sample, place, ns};
}

void gt_counter_ranges_take(struct gt_counter_ranges *ranges, size_t sample, const struct gt_counter_part *parts,
                            size_t count) {
    int64_t busy_ns = 0;
    for (size_t p = 0; p < count; p++)
        busy_ns = gt_ns_add(busy_ns, parts[p].op == GT_NO_ROW ? 0 : parts[p].ns);
    if (!gt_counter_items_fills(ranges->sampling, sample, busy_ns))
        return; /* then no range does */
    uint32_t common = common_of(ranges->trees, parts, count);
    if (common != GT_NO_ROW)
        add_common(ranges, sample, common, busy_ns);
    for (size_t p = 0; p < count; p++)
        if (parts[p].op != GT_NO_ROW)
            touch_ranges(ranges, &parts[p], common);
    for (size_t i = 0; i < ranges->touched_count; i++) {
        uint32_t name = ranges->touched[i];
        struct gt_counter_item *item = item_of(ranges, name);
        if (item && gt_counter_items_fills(ranges->sampling, sample, ranges->filled_ns[name]))
            gt_counter_items_add_sample(item, ranges->sampling, sample, ranges->filled_ns[name]);
        ranges->filled_ns[name] = 0;
    }
    ranges->touched_count = 0;
}

/* ---- samples that whole trees share ---- */

/* What of a sample is summed: one after the other, since the numbers of all ranges would be many. */
enum sum { SAMPLES, FILLED, VALUES, WEIGHTS };

static __int128 amount_of(const struct gt_counter_ranges *ranges, const struct gt_counter_ranges_sample *sample,
                          enum sum sum, enum gt_metric metric) {
    if (sum == SAMPLES)
        return 1;
    if (sum == FILLED)
        return sample->ns;
    if (!gt_sampling_has(ranges->sampling, metric, sample->sample))
        return 0;
    return sum == WEIGHTS ? sample->ns : (__int128)sample->ns * ranges->sampling->values[metric][sample->sample];
}

static void add_amount(struct gt_counter_item *item, enum sum sum, enum gt_metric metric, __int128 amount) {
    if (sum == SAMPLES)
        item->samples += (size_t)amount;
    else if (sum == FILLED)
        item->filled_ns = gt_ns_add(item->filled_ns, gt_ns_of_sum(amount));
    else if (sum == VALUES)
        item->sums[metric].values += amount;
    else
        item->sums[metric].weight_ns = gt_ns_add(item->sums[metric].weight_ns, gt_ns_of_sum(amount));
}

static void carry_samples(struct gt_counter_ranges *ranges, enum sum sum, enum gt_metric metric) {
    begin_amounts(ranges);
    for (size_t i = 0; i < ranges->sample_count; i++)
        ranges->before[ranges->samples[i].place + 1] += amount_of(ranges, &ranges->samples[i], sum, metric);
    carry_amounts(ranges);
    for (size_t name = 0; name < ranges->trees->ranges->name_count; name++)
        if (item_of(ranges, name))
            add_amount(item_of(ranges, name), sum, metric, ranges->amounts[name]);
}

void gt_counter_ranges_end(struct gt_counter_ranges *ranges) {
    if (!ranges->sample_count)
        return;
    carry_samples(ranges, SAMPLES, GT_METRIC_COUNT);
    carry_samples(ranges, FILLED, GT_METRIC_COUNT);
    for (int m = 0; m < GT_METRIC_COUNT; m++)
        if (ranges->sampling->values[m]) {
            carry_samples(ranges, VALUES, (enum gt_metric)m);
            carry_samples(ranges, WEIGHTS, (enum gt_metric)m);
        }
}
