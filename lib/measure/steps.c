/* Steps: the account of each step of the program on each device, and of the usual ones against those that took long. */
#include "base/mem.h"
#include "base/threads.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"step", "Step", GT_UNIT_NONE, NULL, 0},
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"start_ns", "GPU start", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"end_ns", "GPU end", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MOMENT},
    {"gpu_ns", "GPU span", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"ops", "Ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"busy_ns", "Busy", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"busy_share", "Busy share", GT_UNIT_SHARE, "GPU span of the step", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
    {"cpu_start_ns", "CPU start", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MOMENT},
    {"cpu_end_ns", "CPU end", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MOMENT},
    {"cpu_ns", "CPU time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"state", "State", GT_UNIT_NONE, NULL, 0},
    {"compute_ns", "Compute", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"exposed_comm_ns", "Exposed comm", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"exposed_memory_ns", "Exposed mem", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"idle_ns", "Idle", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"comm_ns", "Comm", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"memory_ns", "Memory", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"overlap_ns", "Overlap", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"sum_ns", "Sum", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"name", "Range", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_DETAIL},
};

static const struct gt_report_column state_columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"state", "State", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"steps", "Steps", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"cpu_ns", "Mean CPU time", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"gpu_ns", "Mean GPU span", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"compute_ns", "Compute", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"exposed_comm_ns", "Exposed comm", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"exposed_memory_ns", "Exposed mem", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"idle_ns", "Idle", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"busy_share", "Busy share", GT_UNIT_SHARE, "GPU span of the steps", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
};

/* The four parts of a step's GPU time span, as the columns have them; then what lies under each other. */
static const enum gt_amount step_amounts[] = {GT_AMOUNT_COMPUTE, GT_AMOUNT_EXPOSED_COMM, GT_AMOUNT_EXPOSED_MEMORY,
                                              GT_AMOUNT_IDLE,    GT_AMOUNT_COMM,         GT_AMOUNT_MEMORY,
                                              GT_AMOUNT_OVERLAP, GT_AMOUNT_SUM};
enum { STEP_PARTS = 4 };

struct listing {
    const struct gt_view *view;
    const struct gt_step_set *set;
    const struct gt_account *accounts; /* by part; NULL: no table is wanted */
};

static void fill_row(const void *context, struct gt_row *row, size_t index) {
    const struct listing *listing = context;
    const struct gt_view *view = listing->view;
    const struct gt_step_set *set = listing->set;
    const struct gt_step_part *part = &set->parts[index];
    const struct gt_step *step = &view->labels->steps[part->step];
    const int64_t *ns = listing->accounts[index].ns;
    const char *state = gt_step_state_names[set->states[part->step]];
    bool has_ops = part->device != GT_NO_TRACK;
    gt_row_int(row, "step", step->number);
    gt_row_cell(row, "pid", gt_measure_pid_cell(view, step->process));
    gt_row_cell(row, "device", has_ops ? gt_cell_int(view->devices[part->device].id) : gt_cell_null());
    gt_row_cell(row, "start_ns", has_ops ? gt_measure_time_cell(view, part->start_ns) : gt_cell_null());
    gt_row_cell(row, "end_ns", has_ops ? gt_measure_time_cell(view, part->end_ns) : gt_cell_null());
    gt_row_cell(row, "gpu_ns", has_ops ? gt_cell_int(ns[GT_AMOUNT_SPAN]) : gt_cell_null());
    gt_row_count(row, "ops", part->ops);
    gt_row_int(row, "busy_ns", ns[GT_AMOUNT_BUSY]);
    gt_row_cell(row, "busy_share",
                has_ops ? gt_cell_share((double)ns[GT_AMOUNT_BUSY], (double)ns[GT_AMOUNT_SPAN]) : gt_cell_null());
    gt_row_cell(row, "cpu_start_ns", gt_measure_time_cell(view, step->start_ns));
    gt_row_cell(row, "cpu_end_ns", gt_measure_time_cell(view, step->end_ns));
    gt_row_int(row, "cpu_ns", gt_step_set_cpu_ns(step));
    gt_row_text(row, "state", gt_str_of(state));
    for (size_t i = 0; i < GT_ARRAY_COUNT(step_amounts); i++)
        gt_row_cell(row, gt_amount_keys[step_amounts[i]], has_ops ? gt_cell_int(ns[step_amounts[i]]) : gt_cell_null());
    gt_row_text(row, "name", gt_store_string(view->store, view->store->ranges.name[step->range]));
}

static void add_rows(struct gt_table *table, const struct listing *listing) {
    const struct gt_view *view = listing->view;
    size_t count = listing->set->count;
    bool is_wanted = gt_measure_table_is_wanted(view, table->key);
    size_t wanted = is_wanted ? gt_measure_table_rows_wanted(view, table, count) : 0;
    table->total_rows = count;
    gt_row_fill(table, wanted, gt_threads_count(view->request->threads), fill_row, listing);
}

/* Steps of one state on one device. */
struct sum {
    size_t steps;
    __int128 cpu_ns, ns[GT_AMOUNT_COUNT];
};

/* By device and state, to be freed; NULL: memory was short. */
static struct sum *new_sums(const struct listing *listing) {
    const struct gt_view *view = listing->view;
    const struct gt_step_set *set = listing->set;
    struct sum *sums = gt_mem_array(view->device_count * GT_STEP_STATE_COUNT, sizeof *sums);
    for (size_t i = 0; i < set->count && sums; i++) {
        const struct gt_step_part *part = &set->parts[i];
        if (part->device == GT_NO_TRACK)
            continue;
        struct sum *sum = &sums[part->device * GT_STEP_STATE_COUNT + set->states[part->step]];
        sum->steps++;
        sum->cpu_ns += gt_step_set_cpu_ns(&view->labels->steps[part->step]);
        for (size_t a = 0; a < GT_AMOUNT_COUNT; a++)
            sum->ns[a] += listing->accounts[i].ns[a];
    }
    return sums;
}

static void add_state(struct gt_table *table, int64_t device_id, const char *state, const struct sum *sum) {
    double steps = (double)sum->steps;
    struct gt_row row = gt_row_begin(table);
    gt_row_int(&row, "device", device_id);
    gt_row_text(&row, "state", gt_str_of(state));
    gt_row_count(&row, "steps", sum->steps);
    gt_row_real(&row, "cpu_ns", (double)sum->cpu_ns / steps);
    gt_row_real(&row, "gpu_ns", (double)sum->ns[GT_AMOUNT_SPAN] / steps);
    for (size_t i = 0; i < STEP_PARTS; i++)
        gt_row_real(&row, gt_amount_keys[step_amounts[i]], (double)sum->ns[step_amounts[i]] / steps);
    gt_row_share(&row, "busy_share", (double)sum->ns[GT_AMOUNT_BUSY], (double)sum->ns[GT_AMOUNT_SPAN]);
    gt_row_end(&row);
}

static bool add_states(struct gt_section *section, const struct listing *listing) {
    const struct gt_view *view = listing->view;
    struct gt_table *table =
        gt_section_table(section, "step_states", "Step summary", state_columns, GT_ARRAY_COUNT(state_columns));
    struct sum *sums = new_sums(listing);
    bool ok = sums != NULL;
    for (uint32_t d = 0; d < view->device_count && ok; d++)
        for (int state = 0; state < GT_STEP_STATE_COUNT; state++) {
            const struct sum *sum = &sums[d * GT_STEP_STATE_COUNT + (uint32_t)state];
            if (sum->steps)
                add_state(table, view->devices[d].id, gt_step_state_names[state], sum);
        }
    gt_mem_free(sums);
    return ok;
}

enum gt_status gt_steps_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_step_set *set = gt_results_steps(view, err);
    if (!set)
        return err->code;
    bool has_states = gt_measure_table_is_wanted(view, "step_states");
    struct listing listing = {view, set, NULL};
    if (has_states || gt_measure_table_is_wanted(view, "steps")) { /* summaries show neither */
        const struct gt_step_accounts *accounts = gt_results_step_accounts(view, err);
        if (!accounts)
            return err->code;
        listing.accounts = accounts->of_part;
    }
    struct gt_measure_fact_group facts = {.section = section, .audience = GT_FOR_DATA | GT_FOR_PAGE};
    if (view->labels->step_count) {
        gt_measure_fact_group_add(&facts, "step_median_ns", "Median step", GT_UNIT_NS, gt_cell_real(set->median_ns));
        gt_measure_fact_group_add(&facts, "step_mad_ns", "Step variation (MAD)", GT_UNIT_NS, gt_cell_real(set->mad_ns));
    }
    if (has_states && !add_states(section, &listing))
        return gt_fail_memory(err);
    struct gt_table *table = gt_section_table(section, "steps", "Steps", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 20;
    table->empty = "No step ranges found (ProfilerStep#3, step 3, train_step).";
    table->screen_columns = "step,device,state,cpu_ns,gpu_ns,compute_ns,exposed_comm_ns,exposed_memory_ns,idle_ns";
    if (gt_step_set_is_of_several(view))
        table->screen_columns =
            "step,pid,device,state,cpu_ns,gpu_ns,compute_ns,idle_ns,exposed_comm_ns,exposed_memory_ns";
    for (size_t i = 0; i < set->count && set->state_counts[GT_STEP_WARM_UP] && !section->has_warm_up; i++)
        section->has_warm_up = set->states[set->parts[i].step] == GT_STEP_WARM_UP;
    add_rows(table, &listing);
    return GT_OK;
}
