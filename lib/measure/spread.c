/* Spread over steps: items are taken step by step, and the sums of each step added to the moments of their sets.
   As an analysis: that of kernels, memory operations and categories. */
#include "measure/results/spread.h"

#include <math.h>

#include "base/mem.h"
#include "measure/results/results.h"

/* Moments of one set, counted from the first sum that it had so that little is lost. */
struct gt_spread_moments {
    double first, sum, squares;
    size_t steps; /* that have it */
};

static void moments_add(struct gt_spread_moments *moments, double sum_ns) {
    if (moments->steps++ == 0)
        moments->first = sum_ns;
    moments->sum += sum_ns - moments->first;
    moments->squares += (sum_ns - moments->first) * (sum_ns - moments->first);
}

/* ---- measuring ---- */

bool gt_spread_init(struct gt_spread *spread, const struct gt_view *view, size_t set_count) {
    size_t step_count = view->labels->step_count;
    *spread = (struct gt_spread){.set_count = set_count, .step = GT_NO_ROW, .next_run = GT_NO_ROW};
    if (step_count < GT_SPREAD_FEWEST_STEPS)
        return true;
    spread->step_count = step_count;
    spread->last_run = gt_mem_uninitialised(step_count, sizeof *spread->last_run);
    spread->sums = gt_mem_array(set_count, sizeof *spread->sums);
    spread->touched = gt_mem_uninitialised(set_count + 1, sizeof *spread->touched); /* one is always written ahead */
    spread->moments = gt_mem_array(set_count, sizeof *spread->moments);
    if (!spread->last_run || !spread->sums || !spread->touched || !spread->moments)
        return false;
    for (size_t step = 0; step < step_count; step++)
        spread->last_run[step] = GT_NO_ROW;
    return true;
}

void gt_spread_release(struct gt_spread *spread) {
    gt_mem_free(spread->runs);
    gt_mem_free(spread->last_run);
    gt_mem_free(spread->sums);
    gt_mem_free(spread->touched);
    gt_mem_free(spread->moments);
    *spread = (struct gt_spread){0};
}

bool gt_spread_begin_run(struct gt_spread *spread, uint32_t index, uint32_t step) {
    spread->step = step;
    if (step == GT_NO_ROW)
        return true;
    struct gt_spread_run *runs =
        gt_mem_room(spread->runs, spread->run_count, &spread->run_capacity, sizeof *spread->runs);
    if (!runs)
        return false;
    spread->runs = runs;
    spread->runs[spread->run_count] = (struct gt_spread_run){index, index, spread->last_run[step]};
    spread->last_run[step] = (uint32_t)spread->run_count++;
    return true;
}

static void end_step(struct gt_spread *spread) {
    for (size_t i = 0; i < spread->touched_count; i++) {
        uint32_t set = spread->touched[i];
        moments_add(&spread->moments[set], (double)spread->sums[set].ns);
        spread->sums[set] = (struct gt_spread_sum){0};
    }
    spread->touched_count = 0;
}

bool gt_spread_next(struct gt_spread *spread, size_t *first, size_t *end) {
    while (spread->next_run == GT_NO_ROW) {
        end_step(spread);
        if (spread->next_step == spread->step_count)
            return false;
        spread->next_run = spread->last_run[spread->next_step++];
    }
    const struct gt_spread_run *run = &spread->runs[spread->next_run];
    *first = run->first;
    *end = run->end;
    spread->next_run = run->before;
    return true;
}

/* has_ops: by step, zeroed */
static size_t count_steps(const struct gt_view *view, uint8_t *has_ops) {
    size_t count = 0;
    for (size_t i = 0; i < view->op_count; i++) {
        uint32_t step = view->labels->op_step[gt_view_any_op_row(view, i)];
        if (step != GT_NO_ROW && !has_ops[step]) {
            has_ops[step] = 1;
            count++;
        }
    }
    return count;
}

static double stddev_of(const struct gt_spread_moments *moments, size_t step_count) {
    if (!moments->steps)
        return NAN;
    double steps = (double)step_count, without = steps - (double)moments->steps;
    double sum = moments->sum - without * moments->first;
    double squares = moments->squares + without * moments->first * moments->first;
    double variance = (squares - sum * sum / steps) / (steps - 1);
    return variance > 0 ? sqrt(variance) : 0;
}

bool gt_spread_measure(const struct gt_spread *spread, const struct gt_view *view, double *stddev_ns,
                       size_t *step_count) {
    *step_count = 0;
    if (!spread->step_count)
        return true;
    uint8_t *has_ops = gt_mem_array(spread->step_count, 1);
    size_t steps = has_ops ? count_steps(view, has_ops) : 0;
    if (steps >= GT_SPREAD_FEWEST_STEPS) {
        *step_count = steps;
        for (size_t set = 0; set < spread->set_count; set++)
            stddev_ns[set] = stddev_of(&spread->moments[set], steps);
    }
    gt_mem_free(has_ops);
    return has_ops;
}

/* ---- kernels, memory operations, categories ---- */

/* Sets by name: those of kernels, after them those of memory operations. */
struct names {
    const struct gt_view *view;
    size_t count;
    gt_strid *ids;     /* by set */
    uint32_t *sets[2]; /* of kernels, of others: by name id */
    size_t kernel_count;
};

static bool names_init(struct names *names, const struct gt_view *view, const struct gt_op_groups *groups) {
    *names = (struct names){.view = view};
    names->ids = gt_mem_array(groups->count, sizeof *names->ids);
    for (size_t k = 0; k < 2; k++)
        names->sets[k] = gt_mem_array(gt_view_name_count(view), sizeof *names->sets[k]);
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
    gt_mem_free(names->ids);
    gt_mem_free(names->sets[0]);
    gt_mem_free(names->sets[1]);
}

/* The sets of names, after them those of categories. */
static bool take_ops(struct gt_spread *spread, const struct names *names) {
    const struct gt_view *view = names->view;
    for (size_t i = 0; i < view->op_count && spread->step_count; i++)
        if (!gt_spread_place(spread, i, view->labels->op_step[view->row[i]]))
            return false;
    for (size_t first, end; gt_spread_next(spread, &first, &end);)
        for (size_t i = first; i < end; i++) {
            bool is_kernel = gt_store_kind_is_kernel(gt_view_op_kind(view, i));
            int64_t ns = gt_view_op_ns(view, i);
            gt_spread_take(spread, names->sets[!is_kernel][gt_view_op_name_id(view, i)], ns);
            gt_spread_take(spread, names->count + view->category[i], ns);
        }
    return true;
}

static void add_rows(struct gt_section *section, const struct names *names, const double *stddev_ns, size_t steps) {
    const struct gt_view *view = names->view;
    for (size_t set = 0; set < names->count; set++)
        if (!isnan(stddev_ns[set]))
            gt_section_spread(section, set < names->kernel_count ? "kernels" : "memory",
                              gt_view_name_text(view, names->ids[set]), steps, stddev_ns[set]);
    for (size_t i = 0; i < view->labels->category_count; i++)
        if (!isnan(stddev_ns[names->count + i]))
            gt_section_spread(section, "categories", gt_str_of(view->labels->categories[i].key), steps,
                              stddev_ns[names->count + i]);
}

enum gt_status gt_spread_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_op_groups *groups = gt_results_op_groups(view, err);
    if (!groups)
        return err->code;
    size_t steps = 0;
    struct gt_spread spread = {0};
    struct names names;
    bool ok = names_init(&names, view, groups);
    size_t set_count = names.count + view->labels->category_count;
    double *stddev_ns = gt_mem_uninitialised(set_count, sizeof *stddev_ns);
    ok = ok && stddev_ns && gt_spread_init(&spread, view, set_count) && take_ops(&spread, &names) &&
         gt_spread_measure(&spread, view, stddev_ns, &steps);
    if (ok && steps)
        add_rows(section, &names, stddev_ns, steps);
    gt_spread_release(&spread);
    names_release(&names);
    gt_mem_free(stddev_ns);
    return ok ? GT_OK : gt_fail_memory(err);
}
