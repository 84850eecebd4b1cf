/* Gaps: when each device was idle and why, summed by cause and listed longest first. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/quantile.h"
#include "base/radix.h"
#include "measure/calls.h"
#include "measure/idle_work.h"
#include "measure/meanwhile.h"
#include "measure/measure.h"
#include "measure/operator_set.h"
#include "measure/outer_code.h"
#include "measure/shared.h"
#include "measure/spread.h"

#define CAUSE_COLUMNS(of_what)                                                                                         \
    {"cause", "Cause", GT_UNIT_NONE, NULL, GT_COLUMN_KEY}, {"count", "Gaps", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},     \
        {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},                                     \
        {"longest_ns", "Longest", GT_UNIT_NS, NULL, 0},                                                                \
        {"recoverable_ns", "Recoverable", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},                                           \
        {"stddev_ns", "Std dev", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE | GT_COLUMN_SPREAD},            \
        {"share", "Share of idle", GT_UNIT_SHARE, of_what, GT_COLUMN_BAR | GT_COLUMN_WHOLE}, {                         \
        "meaning", "Meaning", GT_UNIT_NONE, NULL, GT_COLUMN_NAME                                                       \
    }

static const struct gt_report_column cause_columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    CAUSE_COLUMNS("idle time of the GPU"),
};

static const struct gt_report_column all_columns[] = {CAUSE_COLUMNS("idle time of all GPUs")};

static const struct gt_report_column host_columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"activity", "The launching thread was", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"count", "Gaps", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"longest_ns", "Longest", GT_UNIT_NS, NULL, 0},
    {"share", "Share of host gaps", GT_UNIT_SHARE, "idle time of the GPU with cause host", GT_COLUMN_BAR},
};

static const struct gt_report_column gap_columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"start_ns", "Start", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"end_ns", "End", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MOMENT},
    {"gap_ns", "Gap", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"cause", "Cause", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"after", "After", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"before", "Before", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"call", "Launch call", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"activity", "The launching thread was", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"recoverable_ns", "Recoverable", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS},
    {"meanwhile", "CPU meanwhile in", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"range", "Range of the launch", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_DETAIL},
    {"operator", "Operator of the launch", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_DETAIL},
};

static const char *const cause_meanings[GT_IDLE_CAUSE_COUNT] = {
    [GT_IDLE_SYNC] = "the CPU thread waited for the GPU before it launched more",
    [GT_IDLE_HOST] = "the CPU had not launched the next op yet",
    [GT_IDLE_LAUNCH] = "the launch was on its way to the GPU",
    [GT_IDLE_DEPENDENCY] = "the next op was queued and waited for other work",
    [GT_IDLE_UNKNOWN] = "the next op has no launch call in the trace",
    [GT_IDLE_END] = "no op until the end of the window",
};

/* Gaps of one device with one cause, or host activity. */
struct sum {
    struct gt_moments gaps;
    __int128 twice_recoverable_ns;
    const char *name, *meaning;
};

static void sum_add(struct sum *sum, const struct gt_idle_gap *gap) {
    gt_moments_add(&sum->gaps, gap->gap_ns);
    sum->twice_recoverable_ns += gap->twice_recoverable_ns;
}

static int by_total(const void *a, const void *b) {
    const struct sum *x = a, *y = b;
    if (x->gaps.sum != y->gaps.sum)
        return x->gaps.sum < y->gaps.sum ? 1 : -1;
    return gt_str_cmp(gt_str_of(x->name), gt_str_of(y->name));
}

static __int128 sum_of_sums(const struct sum *sums, size_t count) {
    __int128 total = 0;
    for (size_t i = 0; i < count; i++)
        total += sums[i].gaps.sum;
    return total;
}

/* device: NULL for the sums over all, which have no such column. */
static void add_causes(struct gt_table *table, const struct gt_view_device *device, struct sum *causes) {
    __int128 idle_ns = sum_of_sums(causes, GT_IDLE_CAUSE_COUNT);
    qsort(causes, GT_IDLE_CAUSE_COUNT, sizeof *causes, by_total);
    for (size_t i = 0; i < GT_IDLE_CAUSE_COUNT; i++) {
        if (causes[i].gaps.count == 0)
            continue;
        struct gt_cell *cell = gt_table_row(table);
        if (device)
            *cell++ = gt_cell_int(device->id);
        *cell++ = gt_cell_text(gt_str_of(causes[i].name));
        *cell++ = gt_cell_count(causes[i].gaps.count);
        *cell++ = gt_cell_int(gt_ns_of_sum(causes[i].gaps.sum));
        *cell++ = gt_cell_int(causes[i].gaps.max);
        *cell++ = gt_cell_half(causes[i].twice_recoverable_ns);
        *cell++ = gt_cell_real(gt_moments_stddev(&causes[i].gaps));
        *cell++ = gt_cell_share((double)causes[i].gaps.sum, (double)idle_ns);
        *cell++ = gt_cell_text(gt_str_of(causes[i].meaning));
    }
}

static void add_activities(struct gt_table *table, int64_t device_id, struct sum *activities) {
    __int128 host_ns = sum_of_sums(activities, GT_HOST_ACTIVITY_COUNT);
    qsort(activities, GT_HOST_ACTIVITY_COUNT, sizeof *activities, by_total);
    for (size_t i = 0; i < GT_HOST_ACTIVITY_COUNT; i++) {
        if (activities[i].gaps.count == 0)
            continue;
        struct gt_cell *cell = gt_table_row(table);
        *cell++ = gt_cell_int(device_id);
        *cell++ = gt_cell_text(gt_str_of(activities[i].name));
        *cell++ = gt_cell_count(activities[i].gaps.count);
        *cell++ = gt_cell_int(gt_ns_of_sum(activities[i].gaps.sum));
        *cell++ = gt_cell_int(activities[i].gaps.max);
        *cell++ = gt_cell_share((double)activities[i].gaps.sum, (double)host_ns);
    }
}

static void sum_merge(struct sum *into, const struct sum *from) {
    gt_moments_merge(&into->gaps, &from->gaps);
    into->twice_recoverable_ns += from->twice_recoverable_ns;
}

static void name_causes(struct sum causes[GT_IDLE_CAUSE_COUNT]) {
    for (size_t c = 0; c < GT_IDLE_CAUSE_COUNT; c++)
        causes[c] = (struct sum){.name = gt_idle_cause_names[c], .meaning = cause_meanings[c]};
}

struct tables {
    struct gt_table *causes, *all, *host;
};

static void add_sums(const struct gt_view *view, const struct gt_idle *idle, const struct tables *tables) {
    struct sum all[GT_IDLE_CAUSE_COUNT];
    name_causes(all);
    for (size_t i = 0; i < idle->count;) {
        uint32_t device = idle->gaps[i].device;
        struct sum causes[GT_IDLE_CAUSE_COUNT], activities[GT_HOST_ACTIVITY_COUNT] = {0};
        name_causes(causes);
        for (size_t a = 0; a < GT_HOST_ACTIVITY_COUNT; a++)
            activities[a].name = gt_host_activity_names[a];
        for (; i < idle->count && idle->gaps[i].device == device; i++) {
            sum_add(&causes[idle->gaps[i].cause], &idle->gaps[i]);
            if (idle->gaps[i].cause == GT_IDLE_HOST)
                sum_add(&activities[idle->gaps[i].activity], &idle->gaps[i]);
        }
        for (size_t c = 0; c < GT_IDLE_CAUSE_COUNT; c++)
            sum_merge(&all[c], &causes[c]);
        add_causes(tables->causes, &view->devices[device], causes);
        add_activities(tables->host, view->devices[device].id, activities);
    }
    add_causes(tables->all, NULL, all);
}

/* ---- spread over steps ---- */

struct caused {
    const struct gt_view *view;
    const struct gt_idle *idle;
};

static struct gt_spread_item caused_item(const void *context, size_t index) {
    const struct caused *caused = context;
    const struct gt_idle_gap *gap = &caused->idle->gaps[index];
    return (struct gt_spread_item){gt_idle_gap_step(caused->view, gap), gap->cause, gap->gap_ns};
}

static bool add_spreads(const struct gt_view *view, const struct gt_idle *idle, struct gt_section *section) {
    const struct caused caused = {view, idle};
    const struct gt_spread_source source = {idle->count, GT_IDLE_CAUSE_COUNT, caused_item, &caused};
    double stddev_ns[GT_IDLE_CAUSE_COUNT];
    size_t steps;
    if (!gt_spread_measure(view, &source, stddev_ns, &steps))
        return false;
    for (size_t cause = 0; cause < GT_IDLE_CAUSE_COUNT && steps; cause++)
        if (!isnan(stddev_ns[cause]))
            gt_spread_add(section, "idle_causes", gt_str_of(gt_idle_cause_names[cause]), steps, stddev_ns[cause]);
    return true;
}

static struct gt_cell call_name(const struct gt_view *view, uint32_t call) {
    if (call == GT_NO_ROW)
        return gt_cell_null();
    return gt_cell_text(gt_call_plain_name(gt_store_string(view->store, view->store->calls.name[call])));
}

/* What the launching thread was in, as far as it is known. */
struct surroundings {
    const gt_strid *work; /* by gap, as gt_outer_code_names has them */
    uint32_t *calls;      /* by gap, as gt_meanwhile_calls has them */
    uint32_t *operators;  /* by call, as gt_operators_of_calls has them */
};

static struct gt_cell range_name(const struct gt_view *view, const struct gt_idle_gap *gap) {
    uint32_t range = gap->next == GT_NO_ROW ? GT_NO_ROW : view->labels->op_range[view->row[gap->next]];
    if (range == GT_NO_ROW)
        return gt_cell_null();
    return gt_cell_text(gt_store_string(view->store, view->store->ranges.name[range]));
}

static struct gt_cell operator_name(const struct gt_view *view, const struct surroundings *around,
                                    const struct gt_idle_gap *gap) {
    uint32_t row = gap->call == GT_NO_ROW ? GT_NO_ROW : around->operators[gap->call];
    if (row == GT_NO_ROW)
        return gt_cell_null();
    return gt_cell_text(gt_store_string(view->store, view->store->cpu_ops.name[row]));
}

/* For gaps that the CPU is to blame for: the call that took most of it, else the code, as idle_work has it. */
static struct gt_cell meanwhile(const struct gt_view *view, const struct surroundings *around, size_t gap) {
    if (around->calls[gap] != GT_NO_ROW)
        return call_name(view, around->calls[gap]);
    return around->work && around->work[gap] ? gt_cell_text(gt_outer_code_text(view, around->work[gap]))
                                             : gt_cell_null();
}

static void add_gap(const struct gt_view *view, struct gt_table *table, const struct surroundings *around,
                    const struct gt_idle *idle, size_t index) {
    const struct gt_idle_gap *gap = &idle->gaps[index];
    struct gt_cell *cell = gt_table_row(table);
    *cell++ = gt_cell_int(view->devices[gap->device].id);
    *cell++ = gt_cell_time(view, gap->start_ns);
    *cell++ = gt_cell_time(view, gap->end_ns);
    *cell++ = gt_cell_int(gap->gap_ns);
    *cell++ = gt_cell_text(gt_str_of(gt_idle_cause_names[gap->cause]));
    *cell++ = gt_cell_op_name(view, gap->previous);
    *cell++ = gt_cell_op_name(view, gap->next);
    *cell++ = call_name(view, gap->call);
    *cell++ =
        gap->cause == GT_IDLE_HOST ? gt_cell_text(gt_str_of(gt_host_activity_names[gap->activity])) : gt_cell_null();
    *cell++ = gt_cell_half(gap->twice_recoverable_ns);
    *cell++ = meanwhile(view, around, index);
    *cell++ = range_name(view, gap);
    *cell++ = operator_name(view, around, gap);
}

/* The operators around the launches behind the gaps that are kept, as gt_operators_of_calls has them. */
static uint32_t *operators_of_gaps(const struct gt_view *view, const struct gt_idle *idle, const uint8_t *is_kept) {
    uint8_t *is_wanted = gt_alloc_array(view->store->calls.count, 1);
    for (size_t i = 0; i < idle->count && is_wanted; i++)
        if (is_kept[i] && idle->gaps[i].call != GT_NO_ROW)
            is_wanted[idle->gaps[i].call] = 1;
    uint32_t *operators = is_wanted ? gt_operators_of_calls(view, is_wanted) : NULL;
    gt_free(is_wanted);
    return operators;
}

/* Longest first, then by device and start, which is the order they come in. */
static bool add_gaps(const struct gt_view *view, const struct gt_idle *idle, const gt_strid *work,
                     struct gt_section *section) {
    struct gt_table *table =
        gt_section_table(section, "gaps", "Longest idle gaps", gap_columns, GT_ARRAY_COUNT(gap_columns));
    table->screen_limit = 10;
    size_t kept = gt_table_rows_wanted(view, table, idle->count);
    struct gt_radix_item *order = gt_alloc_array(idle->count, sizeof *order);
    uint8_t *is_kept = gt_alloc_array(idle->count, 1);
    for (size_t i = 0; i < idle->count && order; i++)
        order[i] = (struct gt_radix_item){~gt_radix_key(idle->gaps[i].gap_ns), (uint32_t)i};
    bool ok = order && is_kept && gt_radix_sort_first(order, idle->count, kept);
    for (size_t i = 0; i < kept && ok; i++)
        is_kept[order[i].value] = 1;
    struct surroundings around = {0};
    if (ok)
        around = (struct surroundings){work, gt_meanwhile_calls(view, idle, is_kept),
                                       operators_of_gaps(view, idle, is_kept)};
    ok = ok && around.calls && around.operators;
    for (size_t i = 0; i < kept && ok; i++)
        add_gap(view, table, &around, idle, order[i].value);
    table->total_rows = idle->count;
    gt_free(around.calls);
    gt_free(around.operators);
    gt_free(is_kept);
    gt_free(order);
    return ok;
}

enum gt_status gt_gaps_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_idle *idle = gt_shared_idle(view, err);
    if (!idle)
        return err->code;
    struct tables tables = {
        .causes = gt_section_table(section, "idle_causes", "Why the GPUs were idle", cause_columns,
                                   GT_ARRAY_COUNT(cause_columns)),
        .all = gt_section_table(section, "idle_causes_all", "Why the GPUs were idle, over all", all_columns,
                                GT_ARRAY_COUNT(all_columns)),
        .host = gt_section_table(section, "idle_host", "What the CPU did while the GPU had nothing to do", host_columns,
                                 GT_ARRAY_COUNT(host_columns)),
    };
    tables.causes->empty = view->device_count ? "The GPUs were never idle inside their span." : NULL;
    if (view->device_count < 2)
        gt_table_for(section, tables.all, GT_FOR_DATA);
    add_sums(view, idle, &tables);
    gt_strid *work = gt_outer_code_names(view, idle);
    enum gt_status status = work ? gt_idle_work_add(view, idle, work, section, err) : gt_fail_memory(err);
    if (status == GT_OK && !add_spreads(view, idle, section))
        status = gt_fail_memory(err);
    if (status == GT_OK && gt_table_is_wanted(view, "gaps") && !add_gaps(view, idle, work, section))
        status = gt_fail_memory(err);
    gt_free(work);
    return status;
}
