/* Measures: the accounting as one row for each amount (the mean over GPUs) and the time of steps, with their spread
   over steps: what comparisons and limits go by. */
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/quantile.h"
#include "events/select.h"
#include "measure/results/measure.h"
#include "measure/results/spread.h"
#include "measure/results/step_set.h"

static const struct gt_report_column columns[] = {
    {"measure", "Measure", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"total_ns", "Time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"share", "Share", GT_UNIT_SHARE, "span", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
    {"count", "Steps", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"stddev_ns", "Std dev over steps", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE | GT_COLUMN_SPREAD},
    {"summed_steps", "Steps in it", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MEAN},
    {"processes", "Processes with steps", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
};

/* Amounts of the accounting, the columns of a step that vary as they do, and the rows of time_parts that say the same
   of each GPU. */
static const struct amount {
    const char *measure, *column, *of_step, *part;
} amounts[] = {
    {"span", "span_ns", "cpu_ns", NULL},
    {"busy", "busy_ns", "busy_ns", NULL},
    {"idle", "idle_ns", "idle_ns", "idle"},
    {"compute", "compute_ns", "compute_ns", "compute"},
    {"exposed_comm", "exposed_comm_ns", "exposed_comm_ns", "exposed communication"},
    {"exposed_memory", "exposed_memory_ns", "exposed_memory_ns", "exposed memory"},
    {"comm", "comm_ns", "comm_ns", NULL},
    {"memory", "memory_ns", "memory_ns", NULL},
    {"overlap", "overlap_ns", "overlap_ns", NULL},
    {"sum", "sum_ns", "sum_ns", NULL},
};

static bool is_in_state(const struct gt_table *table, size_t row, enum gt_step_state state) {
    size_t column = gt_table_column(table, "state");
    if (column == SIZE_MAX)
        return false;
    const struct gt_cell *cell = &table->cells[row * table->column_count + column];
    return gt_str_eq((struct gt_str){cell->text, cell->text_bytes}, gt_str_of(gt_step_state_names[state]));
}

/* Is a row of the table of steps warm-up? That does not say how long a step takes. */
static bool is_warm_up(const struct gt_table *table, size_t row) {
    return is_in_state(table, row, GT_STEP_WARM_UP);
}

static struct gt_moments column_moments(const struct gt_table *table, const char *key) {
    struct gt_moments moments = {0};
    size_t column = gt_table_column(table, key);
    for (size_t row = 0; column != SIZE_MAX && row < table->row_count; row++) {
        const struct gt_cell *cell = &table->cells[row * table->column_count + column];
        if (cell->type == GPUTIME_CELL_INT)
            gt_moments_add(&moments, cell->integer);
    }
    return moments;
}

/* How an amount varies from step to step: one that went wrong does not tell that. Idle is all of a step in which its
   GPU is not busy, before its first op and behind its last one too. */
static struct gt_moments step_moments(const struct gt_table *steps, const struct amount *amount, bool takes_warm_up) {
    struct gt_moments moments = {0};
    bool is_idle = strcmp(amount->measure, "idle") == 0;
    size_t column = gt_table_column(steps, is_idle ? "cpu_ns" : amount->of_step);
    size_t busy = gt_table_column(steps, "busy_ns");
    for (size_t row = 0; column != SIZE_MAX && row < steps->row_count; row++) {
        const struct gt_cell *cells = &steps->cells[row * steps->column_count];
        bool is_usual = !is_in_state(steps, row, GT_STEP_OUTLIER) && (takes_warm_up || !is_warm_up(steps, row));
        if (is_usual && cells[column].type == GPUTIME_CELL_INT)
            gt_moments_add(&moments,
                           is_idle ? gt_ns_between(cells[busy].integer, cells[column].integer) : cells[column].integer);
    }
    return moments;
}

/* The steps of all processes; `usual` leaves those out that went wrong. */
struct steps {
    struct gt_moments lengths, usual;
    size_t count;
};

static bool count_processes(const struct gt_table *table, size_t *count) {
    struct gt_map seen = {0};
    size_t pid = gt_table_column(table, "pid");
    *count = 0;
    for (size_t row = 0; row < table->row_count && !seen.failed; row++) {
        uint64_t key = (uint64_t)table->cells[row * table->column_count + pid].integer;
        *count += gt_map_put_if_new(&seen, key, 0, (uint32_t)*count) == *count;
    }
    bool ok = !seen.failed;
    gt_map_release(&seen);
    return ok;
}

/* Rows of a step on several GPUs follow each other, and have the same length. */
static struct steps steps_of(const struct gt_table *table, bool takes_warm_up) {
    struct steps steps = {0};
    size_t number = gt_table_column(table, "step"), pid = gt_table_column(table, "pid");
    size_t length = gt_table_column(table, "cpu_ns");
    for (size_t row = 0; row < table->row_count; row++) {
        const struct gt_cell *cells = &table->cells[row * table->column_count], *before = cells - table->column_count;
        if (row && cells[number].integer == before[number].integer && cells[pid].integer == before[pid].integer)
            continue;
        steps.count++;
        if (!takes_warm_up && is_warm_up(table, row))
            continue;
        gt_moments_add(&steps.lengths, cells[length].integer);
        if (!is_in_state(table, row, GT_STEP_OUTLIER))
            gt_moments_add(&steps.usual, cells[length].integer);
    }
    return steps;
}

static void add_row(struct gt_table *table, const char *measure, const struct gt_moments *amount, bool is_mean,
                    double span_ns, const struct gt_moments *steps, size_t step_count, size_t processes) {
    double total_ns = is_mean ? gt_moments_mean(amount) : (double)amount->sum;
    __int128 count = is_mean && amount->count ? (__int128)amount->count : 1;
    bool is_whole = amount->sum % count == 0;
    __int128 whole_ns = amount->sum / count;
    struct gt_cell *cell = gt_table_row(table);
    *cell++ = gt_cell_text(gt_str_of(measure));
    *cell++ = is_whole ? gt_cell_int(gt_ns_of_sum(whole_ns)) : gt_cell_real(total_ns);
    *cell++ = is_mean ? gt_cell_share(total_ns, span_ns) : gt_cell_null();
    *cell++ = gt_cell_count(step_count);
    *cell++ = steps->count > 1 ? gt_cell_real(gt_moments_stddev(steps)) : gt_cell_null();
    *cell++ = is_mean ? gt_cell_null() : gt_cell_count(amount->count);
    *cell++ = is_mean ? gt_cell_null() : gt_cell_count(processes);
}

/* What the accounting says of each GPU varies as the measure does. Its tables go by the span. */
static void add_spreads(struct gt_section *section, const struct amount *amount, const struct gt_moments *steps,
                        size_t step_count) {
    static const char *const over_gpus[] = {"mean", "min", "max"};
    double stddev_ns = gt_moments_stddev(steps);
    if (amount->part)
        gt_spread_add(section, "time_parts", gt_str_of(amount->part), step_count, stddev_ns);
    if (strcmp(amount->measure, "span") != 0)
        return;
    gt_spread_add(section, "accounting", GT_STR(""), step_count, stddev_ns);
    for (size_t i = 0; i < GT_ARRAY_COUNT(over_gpus); i++)
        gt_spread_add(section, "accounting_summary", gt_str_of(over_gpus[i]), step_count, stddev_ns);
}

static bool add_rows(struct gt_section *section, struct gt_table *table, const struct gt_section *aside,
                     bool takes_warm_up, bool has_spreads) {
    const struct gt_table *accounting = gt_section_find(aside, "accounting"), *steps = gt_section_find(aside, "steps");
    const struct steps all = steps_of(steps, takes_warm_up);
    double span_ns = 0;
    size_t processes;
    if (!count_processes(steps, &processes))
        return false;
    if (all.lengths.count)
        add_row(table, "step", &all.lengths, false, 0, &all.usual, all.lengths.count, processes);
    for (size_t i = 0; i < GT_ARRAY_COUNT(amounts) && accounting->row_count; i++) {
        struct gt_moments amount = column_moments(accounting, amounts[i].column);
        struct gt_moments of_steps = step_moments(steps, &amounts[i], takes_warm_up);
        span_ns = i == 0 ? gt_moments_mean(&amount) : span_ns;
        add_row(table, amounts[i].measure, &amount, true, span_ns, &of_steps, all.count, 0);
        if (has_spreads && of_steps.count > 1 && all.count > 1)
            add_spreads(section, &amounts[i], &of_steps, all.count);
    }
    return true;
}

/* Goes by the tables of two other analyses, on paper of its own. */
enum gt_status gt_measures_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct gt_report *paper = gt_report_new("", 1);
    if (!paper)
        return gt_fail_memory(err);
    struct gt_section *aside = &paper->sections[0];
    enum gt_status status = gt_accounting_run(view, aside, err);
    if (status == GT_OK)
        status = gt_steps_run(view, aside, err);
    if (status == GT_OK && gt_arena_failed(&paper->arena))
        status = gt_fail_memory(err);
    if (status == GT_OK) {
        struct gt_table *table =
            gt_section_table(section, "measures", "Time of each GPU, mean over GPUs", columns, GT_ARRAY_COUNT(columns));
        table->keeps_order = true;
        table->is_fixed = true;
        bool takes_warm_up = gt_selecting_time(&view->request->selection); /* the user has chosen */
        if (!add_rows(section, table, aside, takes_warm_up, gt_measure_table_is_wanted(view, "spreads")))
            status = gt_fail_memory(err);
    }
    gt_report_free(paper);
    return status;
}
