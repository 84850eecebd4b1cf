/* Spread over steps: items are put in the order of their steps, each step's sums are added to the moments of their
   sets. As an analysis: that of kernels, memory operations and categories. */
#include "measure/spread.h"

#include <math.h>

#include "base/mem.h"
#include "measure/measure.h"
#include "measure/shared.h"

enum {
    FEWEST_STEPS = 3, /* two say nothing about the next */
    MOST_PLACES = 4   /* of a table of steps and sets, for each item: what it may take of memory */
};

static const struct gt_report_column columns[] = {
    {"table", "Table", GT_UNIT_NONE, NULL, 0},
    {"name", "Row", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"steps", "Steps", GT_UNIT_COUNT, NULL, 0},
    {"stddev_ns", "Std dev over steps", GT_UNIT_NS, NULL, 0},
};

/* Moments of one set, counted from the first sum that it had so that little is lost. */
struct moments {
    double first, sum, squares;
    int64_t step_ns; /* of the step at hand */
    uint32_t steps;  /* that have it */
    bool is_touched; /* by the step at hand */
};

static void moments_add(struct moments *moments, double sum_ns) {
    if (moments->steps++ == 0)
        moments->first = sum_ns;
    moments->sum += sum_ns - moments->first;
    moments->squares += (sum_ns - moments->first) * (sum_ns - moments->first);
}

/* ---- measuring ---- */

static size_t count_steps(const struct gt_view *view, uint8_t *has_ops) {
    size_t count = 0;
    for (size_t i = 0; i < view->op_count; i++) {
        uint32_t step = view->labels->op_step[view->is_whole ? i : view->row[i]]; /* in the order of the file if all */
        if (step != GT_NO_ROW && !has_ops[step]) {
            has_ops[step] = 1;
            count++;
        }
    }
    return count;
}

/* A small table of steps and sets: one pass over the items, in whatever order they come. */
static bool sum_by_table(struct moments *moments, const struct gt_spread_source *source, size_t step_count) {
    int64_t *sum_ns = gt_alloc_array(step_count * source->set_count, sizeof *sum_ns);
    uint8_t *is_there = gt_alloc_array(step_count * source->set_count, 1);
    for (size_t i = 0; i < source->item_count && sum_ns && is_there; i++) {
        struct gt_spread_item item = source->item(source->context, i);
        size_t place = (size_t)item.step * source->set_count + item.set;
        if (item.step >= step_count)
            continue;
        sum_ns[place] = gt_ns_add(sum_ns[place], item.ns);
        is_there[place] = 1;
    }
    for (size_t place = 0; place < step_count * source->set_count && sum_ns && is_there; place++)
        if (is_there[place])
            moments_add(&moments[place % source->set_count], (double)sum_ns[place]);
    bool ok = sum_ns && is_there;
    gt_free(sum_ns);
    gt_free(is_there);
    return ok;
}

/* Places of the items in the order of their steps; bounds[step] .. bounds[step + 1] are those of one. */
static uint32_t *new_order(const struct gt_spread_source *source, size_t step_count, size_t *bounds) {
    for (size_t i = 0; i < source->item_count; i++) {
        uint32_t step = source->item(source->context, i).step;
        if (step < step_count)
            bounds[step + 2]++;
    }
    for (size_t step = 0; step < step_count; step++)
        bounds[step + 2] += bounds[step + 1];
    uint32_t *order = gt_alloc_array(bounds[step_count + 1], sizeof *order);
    for (size_t i = 0; i < source->item_count && order; i++) {
        uint32_t step = source->item(source->context, i).step;
        if (step < step_count)
            order[bounds[step + 1]++] = (uint32_t)i;
    }
    return order;
}

static void end_step(struct moments *moments, const struct gt_spread_source *source, const uint32_t *order,
                     size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct moments *of_set = &moments[source->item(source->context, order[i]).set];
        if (!of_set->is_touched)
            continue;
        of_set->is_touched = false;
        moments_add(of_set, (double)of_set->step_ns);
        of_set->step_ns = 0;
    }
}

static void take_step(struct moments *moments, const struct gt_spread_source *source, const uint32_t *order,
                      size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct gt_spread_item item = source->item(source->context, order[i]);
        moments[item.set].step_ns = gt_ns_add(moments[item.set].step_ns, item.ns);
        moments[item.set].is_touched = true;
    }
    end_step(moments, source, order, count);
}

static double stddev_of(const struct moments *moments, size_t step_count) {
    if (!moments->steps)
        return NAN;
    double steps = (double)step_count, without = steps - moments->steps;
    double sum = moments->sum - without * moments->first;
    double squares = moments->squares + without * moments->first * moments->first;
    double variance = (squares - sum * sum / steps) / (steps - 1);
    return variance > 0 ? sqrt(variance) : 0;
}

/* Any number of sets: the items are put in the order of their steps. */
static bool sum_by_order(struct moments *moments, const struct gt_spread_source *source, size_t step_count) {
    size_t *bounds = gt_alloc_array(step_count + 2, sizeof *bounds);
    uint32_t *order = bounds ? new_order(source, step_count, bounds) : NULL;
    for (size_t step = 0; step < step_count && order; step++)
        take_step(moments, source, order + bounds[step], bounds[step + 1] - bounds[step]);
    bool ok = order;
    gt_free(bounds);
    gt_free(order);
    return ok;
}

bool gt_spread_measure(const struct gt_view *view, const struct gt_spread_source *source, double *stddev_ns,
                       size_t *step_count) {
    size_t all_steps = view->labels->step_count;
    *step_count = 0;
    if (all_steps < FEWEST_STEPS || source->item_count > UINT32_MAX)
        return true;
    uint8_t *has_ops = gt_alloc_array(all_steps, 1);
    struct moments *moments = gt_alloc_array(source->set_count, sizeof *moments);
    bool is_small = source->set_count <= MOST_PLACES * source->item_count / all_steps;
    bool ok = has_ops && moments &&
              (is_small ? sum_by_table(moments, source, all_steps) : sum_by_order(moments, source, all_steps));
    size_t steps = ok ? count_steps(view, has_ops) : 0;
    if (ok && steps >= FEWEST_STEPS) {
        *step_count = steps;
        for (size_t set = 0; set < source->set_count; set++)
            stddev_ns[set] = stddev_of(&moments[set], steps);
    }
    gt_free(has_ops);
    gt_free(moments);
    return ok;
}

void gt_spread_add(struct gt_section *section, const char *table, struct gt_str name, size_t step_count,
                   double stddev_ns) {
    struct gt_table *spreads = gt_section_find(section, "spreads");
    if (!spreads) {
        spreads = gt_section_table(section, "spreads", "Spread over steps", columns, GT_ARRAY_COUNT(columns));
        spreads->is_joint = true;
        gt_table_for(section, spreads, 0);
    }
    struct gt_cell *cell = gt_table_row(spreads);
    *cell++ = gt_cell_text(gt_str_of(table));
    *cell++ = gt_cell_text(name);
    *cell++ = gt_cell_count(step_count);
    *cell++ = gt_cell_real(stddev_ns);
}

/* ---- kernels, memory operations, categories ---- */

/* Sets by name: those of kernels, behind them those of memory operations. */
struct names {
    const struct gt_view *view;
    size_t count;
    gt_strid *ids;     /* by set */
    uint32_t *sets[2]; /* of kernels, of others: by name id */
    size_t kernel_count;
};

static bool names_init(struct names *names, const struct gt_view *view, const struct gt_op_groups *groups) {
    *names = (struct names){.view = view};
    names->ids = gt_alloc_array(groups->count, sizeof *names->ids);
    for (size_t k = 0; k < 2; k++)
        names->sets[k] = gt_alloc_array(gt_name_count(view), sizeof *names->sets[k]);
    if (!names->ids || !names->sets[0] || !names->sets[1])
        return false;
    for (size_t i = 0; i < groups->count; i++) {
        gt_strid id = groups->items[i].name;
        if (i == 0 || i == groups->kernel_count || id != groups->items[i - 1].name) {
            names->sets[i >= groups->kernel_count][id] = (uint32_t)names->count;
            names->ids[names->count++] = id;
            names->kernel_count += i < groups->kernel_count;
        }
    }
    return true;
}

static void names_release(struct names *names) {
    gt_free(names->ids);
    gt_free(names->sets[0]);
    gt_free(names->sets[1]);
}

static struct gt_spread_item name_item(const void *context, size_t index) {
    const struct names *names = context;
    const struct gt_view *view = names->view;
    return (struct gt_spread_item){
        .step = view->labels->op_step[view->row[index]],
        .set = names->sets[!gt_kind_is_kernel(gt_op_kind(view, index))][gt_op_name_id(view, index)],
        .ns = gt_op_ns(view, index)};
}

static struct gt_spread_item category_item(const void *context, size_t index) {
    const struct gt_view *view = context;
    return (struct gt_spread_item){
        .step = view->labels->op_step[view->row[index]], .set = view->category[index], .ns = gt_op_ns(view, index)};
}

enum gt_status gt_spread_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_op_groups *groups = gt_shared_op_groups(view, err);
    if (!groups)
        return err->code;
    size_t category_count = view->labels->category_count, steps = 0;
    struct names names;
    double *stddev_ns = gt_alloc_array(groups->count + category_count, sizeof *stddev_ns);
    double *of_categories_ns = stddev_ns + groups->count;
    struct gt_spread_source of_categories = {view->op_count, category_count, category_item, view};
    bool ok = names_init(&names, view, groups) && stddev_ns;
    struct gt_spread_source of_names = {view->op_count, names.count, name_item, &names};
    ok = ok && gt_spread_measure(view, &of_names, stddev_ns, &steps) &&
         gt_spread_measure(view, &of_categories, of_categories_ns, &steps);
    for (size_t set = 0; set < names.count && ok && steps; set++)
        if (!isnan(stddev_ns[set]))
            gt_spread_add(section, set < names.kernel_count ? "kernels" : "memory", gt_name_text(view, names.ids[set]),
                          steps, stddev_ns[set]);
    for (size_t i = 0; i < category_count && ok && steps; i++)
        if (!isnan(of_categories_ns[i]))
            gt_spread_add(section, "categories", gt_str_of(view->labels->categories[i].key), steps,
                          of_categories_ns[i]);
    names_release(&names);
    gt_free(stddev_ns);
    return ok ? GT_OK : gt_fail_memory(err);
}
