/* Measures: the accounts of the GPUs as one row for each amount (the mean over GPUs) and the time of steps, with their
   spread over steps. Comparisons and limits read this table. */
#include <string.h>

#include "base/map.h"
#include "base/moments.h"
#include "base/ns.h"
#include "events/selection.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"measure", "Measure", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"total_ns", "Time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"share", "Share", GT_UNIT_SHARE, "span", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
    {"count", "Steps", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_DIVISOR},
    {"stddev_ns", "Std dev over steps", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE | GT_COLUMN_SPREAD},
    {"summed_steps", "Summed steps", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MEAN},
    {"processes", "Processes with steps", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL | GT_COLUMN_AT_ONCE},
};

/* ---- the amounts, from measures.def ---- */

enum steps_counted { EVERY_STEP, BUSY_STEPS };

#define NS(amount) (account->ns[GT_AMOUNT_##amount])
#define GT_MEASURE_FROM(key, ...)
#define GT_MEASURE(key, of_gpu, of_step, steps, part)                                                                  \
    static int64_t key##_of_gpu(const struct gt_account *account) {                                                    \
        return of_gpu;                                                                                                 \
    }                                                                                                                  \
    static int64_t key##_of_step(const struct gt_account *account, int64_t step_ns) {                                  \
        (void)account;                                                                                                 \
        (void)step_ns;                                                                                                 \
        return of_step;                                                                                                \
    }
#include "measure/measures.def"
#undef GT_MEASURE

static const struct amount {
    const char *key;
    int64_t (*of_gpu)(const struct gt_account *account);
    int64_t (*of_step)(const struct gt_account *account, int64_t step_ns);
    enum steps_counted steps;
    const char *part;
} amounts[] = {
#define GT_MEASURE(key, of_gpu, of_step, steps, part) {#key, key##_of_gpu, key##_of_step, steps, part},
#include "measure/measures.def"
#undef GT_MEASURE
};
#undef GT_MEASURE_FROM
#undef NS

/* What the measures are made from. */
struct sources {
    const struct gt_view *view;
    const struct gt_account *accounts; /* by device */
    const struct gt_step_set *set;
    const struct gt_account *of_part; /* by part of the steps */
    bool takes_warm_up;
};

static struct gt_moments gpu_moments(const struct sources *from, const struct amount *amount) {
    struct gt_moments moments = {0};
    for (size_t d = 0; d < from->view->device_count; d++)
        gt_moments_add(&moments, amount->of_gpu(&from->accounts[d]));
    return moments;
}

/* ---- steps ---- */

static const struct gt_step *step_of(const struct sources *from, size_t part) {
    return &from->view->labels->steps[from->set->parts[part].step];
}

/* Warm-up does not say how long a step takes. */
static bool is_left_out(const struct sources *from, size_t part) {
    return !from->takes_warm_up && from->set->states[from->set->parts[part].step] == GT_STEP_WARM_UP;
}

static bool is_outlier(const struct sources *from, size_t part) {
    return from->set->states[from->set->parts[part].step] == GT_STEP_OUTLIER;
}

/* How an amount varies from step to step. One that went wrong does not say that. */
static struct gt_moments step_moments(const struct sources *from, const struct amount *amount) {
    struct gt_moments moments = {0};
    for (size_t i = 0; i < from->set->count; i++) {
        const struct gt_step_part *part = &from->set->parts[i];
        bool is_known = amount->steps == EVERY_STEP || part->device != GT_NO_TRACK;
        if (is_known && !is_outlier(from, i) && !is_left_out(from, i))
            gt_moments_add(&moments, amount->of_step(&from->of_part[i], gt_step_set_cpu_ns(step_of(from, i))));
    }
    return moments;
}

/* The steps of all processes; `usual` leaves those out that went wrong. */
struct steps {
    struct gt_moments lengths, usual;
    size_t count, processes;
};

static int64_t pid_of(const struct sources *from, size_t part) {
    return gt_measure_pid_cell(from->view, step_of(from, part)->process).integer;
}

static bool count_processes(const struct sources *from, size_t *count) {
    struct gt_map seen = {0};
    *count = 0;
    for (size_t i = 0; i < from->set->count && !seen.failed; i++)
        *count += gt_map_put_if_new(&seen, (uint64_t)pid_of(from, i), 0, (uint32_t)*count) == *count;
    bool ok = !seen.failed;
    gt_map_release(&seen);
    return ok;
}

/* Parts of a step on several GPUs follow each other. false: memory was short. */
static bool steps_init(struct steps *steps, const struct sources *from) {
    *steps = (struct steps){0};
    for (size_t i = 0; i < from->set->count; i++) {
        const struct gt_step *step = step_of(from, i);
        if (i && step->number == step_of(from, i - 1)->number && pid_of(from, i) == pid_of(from, i - 1))
            continue;
        steps->count++;
        if (is_left_out(from, i))
            continue;
        gt_moments_add(&steps->lengths, gt_step_set_cpu_ns(step));
        if (!is_outlier(from, i))
            gt_moments_add(&steps->usual, gt_step_set_cpu_ns(step));
    }
    return count_processes(from, &steps->processes);
}

/* ---- rows ---- */

static struct gt_cell spread_cell(const struct gt_moments *steps) {
    return steps->count > 1 ? gt_cell_real(gt_moments_stddev(steps)) : gt_cell_null();
}

/* All steps together: the sum of their lengths. */
static void add_step_row(struct gt_table *table, const struct steps *steps) {
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "measure", GT_STR("step"));
    gt_row_int(&row, "total_ns", gt_ns_of_sum(steps->lengths.sum));
    gt_row_null(&row, "share");
    gt_row_count(&row, "count", steps->lengths.count);
    gt_row_cell(&row, "stddev_ns", spread_cell(&steps->usual));
    gt_row_count(&row, "summed_steps", steps->lengths.count);
    gt_row_count(&row, "processes", steps->processes);
    gt_row_end(&row);
}

static void add_row(struct gt_table *table, const char *key, const struct gt_moments *gpus, double span_ns,
                    const struct gt_moments *of_steps, size_t step_count) {
    __int128 count = gpus->count ? (__int128)gpus->count : 1;
    double mean_ns = gt_moments_mean(gpus);
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "measure", gt_str_of(key));
    gt_row_cell(&row, "total_ns",
                gpus->sum % count == 0 ? gt_cell_int(gt_ns_of_sum(gpus->sum / count)) : gt_cell_real(mean_ns));
    gt_row_share(&row, "share", mean_ns, span_ns);
    gt_row_count(&row, "count", step_count);
    gt_row_cell(&row, "stddev_ns", spread_cell(of_steps));
    gt_row_null_rest(&row, "summed_steps");
    gt_row_end(&row);
}

/* What the accounting says of each GPU varies as the measure does. Its tables lead with the span, the first. */
static void add_spreads(struct gt_section *section, const struct amount *amount, const struct gt_moments *of_steps,
                        size_t step_count) {
    static const char *const over_gpus[] = {"mean", "min", "max"};
    double stddev_ns = gt_moments_stddev(of_steps);
    if (amount->part)
        gt_section_spread(section, "time_parts", gt_str_of(amount->part), step_count, stddev_ns);
    if (amount != &amounts[0])
        return;
    gt_section_spread(section, "accounting", GT_STR(""), step_count, stddev_ns);
    for (size_t i = 0; i < GT_ARRAY_COUNT(over_gpus); i++)
        gt_section_spread(section, "accounting_summary", gt_str_of(over_gpus[i]), step_count, stddev_ns);
}

static void add_rows(struct gt_section *section, struct gt_table *table, const struct sources *from,
                     const struct steps *steps) {
    bool has_spreads = gt_measure_table_is_wanted(from->view, "spreads");
    double span_ns = 0;
    if (steps->lengths.count)
        add_step_row(table, steps);
    for (size_t i = 0; i < GT_ARRAY_COUNT(amounts) && from->view->device_count; i++) {
        struct gt_moments gpus = gpu_moments(from, &amounts[i]), of_steps = step_moments(from, &amounts[i]);
        span_ns = i == 0 ? gt_moments_mean(&gpus) : span_ns;
        add_row(table, amounts[i].key, &gpus, span_ns, &of_steps, steps->count);
        if (has_spreads && of_steps.count > 1 && steps->count > 1)
            add_spreads(section, &amounts[i], &of_steps, steps->count);
    }
}

enum gt_status gt_measures_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_accounts *accounts = gt_results_accounts(view, err);
    struct sources from = {.view = view, .set = accounts ? gt_results_steps(view, err) : NULL};
    const struct gt_step_accounts *of_steps = from.set ? gt_results_step_accounts(view, err) : NULL;
    if (!of_steps)
        return err->code;
    from.accounts = accounts->by_device;
    from.of_part = of_steps->of_part;
    from.takes_warm_up = gt_selection_chooses_time(&view->request->selection); /* the user has chosen */
    struct gt_table *table =
        gt_section_table(section, "measures", "Time breakdown, mean over GPUs", columns, GT_ARRAY_COUNT(columns));
    table->keeps_order = true;
    table->is_fixed = true;
    struct steps steps;
    if (!steps_init(&steps, &from))
        return gt_fail_memory(err);
    add_rows(section, table, &from, &steps);
    return GT_OK;
}
