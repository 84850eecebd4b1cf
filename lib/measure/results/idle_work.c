/* Sums the gaps of cause host by the outermost range or operator in which the launching thread spent most of them, and
   measures how all gaps vary from step to step. */
#include "measure/results/idle_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/moments.h"
#include "base/ns.h"
#include "base/quantile.h"
#include "measure/results/grouping.h"
#include "measure/results/launch_wait.h"
#include "measure/results/measure.h"
#include "measure/results/spread.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"name", "CPU was in", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Gaps", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS | GT_COLUMN_PART},
    {"longest_ns", "Longest", GT_UNIT_NS, NULL, 0},
    {"stddev_ns", "Std dev", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE | GT_COLUMN_SPREAD},
    {"share", "Share of host idle", GT_UNIT_SHARE, "host-caused idle time", GT_COLUMN_BAR},
    {"kind", "Kind", GT_UNIT_NONE, NULL, GT_COLUMN_WORDS},
};

static const struct gt_parts parts = {.table = "idle_causes", .row = "host"};

/* The gaps of one device that one name has. */
struct share {
    uint32_t device;
    gt_strid name; /* GT_STRID_EMPTY: outside everything */
    struct gt_moments gaps;
};

struct charging {
    const struct gt_view *view;
    const struct gt_idle *idle;
    const struct gt_idle_code *code;
    struct gt_grouping shares;
    uint32_t *share_of; /* by gap; GT_NO_ROW: it has another cause than host; NULL: nobody asks */
    uint32_t *latest;   /* by name: the share of it that came last, + 1 */
};

/* The number of a share; GT_NO_ROW: memory is short. */
static uint32_t find_share(struct charging *charging, uint32_t device, gt_strid name) {
    struct share *shares = (struct share *)(void *)charging->shares.list;
    uint32_t latest = charging->latest[name];
    if (latest && shares[latest - 1].device == device)
        return latest - 1;
    bool is_new;
    struct share *share = gt_grouping_find(&charging->shares, device, name, &is_new);
    if (!share)
        return GT_NO_ROW;
    share->device = device;
    share->name = name;
    charging->latest[name] = (uint32_t)(share - (struct share *)(void *)charging->shares.list) + 1;
    return charging->latest[name] - 1;
}

/* *wait counts the gaps with a launch wait. */
static bool charge_device(struct charging *charging, uint32_t d, size_t *wait) {
    const struct gt_idle *idle = charging->idle;
    const struct gt_idle_device *device = &idle->devices[d];
    if (charging->share_of && device->count)
        memset(charging->share_of + device->first, 0xff, device->count * sizeof *charging->share_of); /* GT_NO_ROW */
    for (size_t i = device->first, end = i + device->count; (i = gt_idle_next_blamed(idle, i, end)) < end; i++) {
        gt_strid code = gt_idle_gap_has_launch_wait(idle, i) ? charging->code->of_wait[(*wait)++] : GT_STRID_EMPTY;
        uint32_t share = GT_NO_ROW;
        if (gt_idle_gap_cause(idle, i) == GT_IDLE_HOST) {
            share = find_share(charging, d, code);
            if (share == GT_NO_ROW)
                return false;
            gt_moments_add(&((struct share *)(void *)charging->shares.list)[share].gaps, gt_idle_gap_ns(idle, i));
        }
        if (charging->share_of)
            charging->share_of[i] = share;
    }
    return true;
}

/* ---- spread over steps ---- */

/* Sets are the causes, after them what the CPU did in host gaps, after these the shares. */
enum { FIRST_ACTIVITY = GT_IDLE_CAUSE_COUNT, FIRST_SHARE = FIRST_ACTIVITY + GT_HOST_ACTIVITY_COUNT };

static bool take_gaps(struct gt_spread *spread, const struct charging *charged) {
    const struct gt_idle *idle = charged->idle;
    for (size_t i = 0; i < idle->count && spread->step_count; i++)
        if (!gt_spread_place(spread, i, gt_idle_gap_step(idle, i)))
            return false;
    for (size_t first, end; gt_spread_next(spread, &first, &end);)
        for (size_t i = first; i < end; i++) {
            int64_t ns = gt_idle_gap_ns(idle, i);
            gt_spread_take(spread, gt_idle_gap_cause(idle, i), ns);
            if (charged->share_of[i] == GT_NO_ROW)
                continue;
            gt_spread_take(spread, FIRST_ACTIVITY + charged->code->activity[i], ns);
            gt_spread_take(spread, FIRST_SHARE + charged->share_of[i], ns);
        }
    return true;
}

struct deviations {
    const double *ns; /* by set; NAN: not known */
    size_t steps;
};

static void add_spread(struct gt_section *section, const char *table, struct gt_str name,
                       const struct deviations *deviations, size_t set) {
    if (!isnan(deviations->ns[set]))
        gt_section_spread(section, table, name, deviations->steps, deviations->ns[set]);
}

static void add_spread_rows(const struct charging *charged, struct gt_section *section,
                            const struct deviations *deviations) {
    const struct share *shares = (const struct share *)(const void *)charged->shares.list;
    for (size_t i = 0; i < GT_IDLE_CAUSE_COUNT; i++) {
        struct gt_str cause = gt_str_of(gt_idle_cause_names[i]);
        add_spread(section, "idle_causes", cause, deviations, i);
        add_spread(section, "idle_causes_all", cause, deviations, i);
    }
    for (size_t i = 0; i < GT_HOST_ACTIVITY_COUNT; i++)
        add_spread(section, "idle_host", gt_str_of(gt_host_activity_names[i]), deviations, FIRST_ACTIVITY + i);
    for (size_t i = 0; i < charged->shares.count; i++)
        add_spread(section, "idle_work", gt_launch_wait_code_text(charged->view, shares[i].name), deviations,
                   FIRST_SHARE + i);
}

static bool add_spreads(const struct charging *charged, struct gt_section *section) {
    size_t set_count = FIRST_SHARE + charged->shares.count, steps = 0;
    struct gt_spread spread;
    double *stddev_ns = gt_mem_uninitialised(set_count, sizeof *stddev_ns);
    bool ok = gt_spread_init(&spread, charged->view, set_count) && stddev_ns && take_gaps(&spread, charged) &&
              gt_spread_measure(&spread, charged->view, stddev_ns, &steps);
    if (ok && steps)
        add_spread_rows(charged, section, &(struct deviations){stddev_ns, steps});
    gt_spread_release(&spread);
    gt_mem_free(stddev_ns);
    return ok;
}

/* ---- the table ---- */

static int by_total(const void *a, const void *b) {
    const struct share *x = a, *y = b;
    if (x->gaps.sum != y->gaps.sum)
        return x->gaps.sum < y->gaps.sum ? 1 : -1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* Loaders of the frameworks say so in their names: enumerate(DataLoader)#..., tf.data's Iterator::GetNext. */
static bool is_data_loading(struct gt_str name) {
    static const char *const marks[] = {"dataloader", "data_loader", "data loading", "iterator::getnext",
                                        "prefetch_batch"};
    for (size_t i = 0; i < GT_ARRAY_COUNT(marks); i++)
        if (gt_str_find_nocase(name, gt_str_of(marks[i])))
            return true;
    return false;
}

static void add_row(const struct gt_view *view, struct gt_table *table, const struct share *share, double host_ns) {
    struct gt_str name = gt_launch_wait_code_text(view, share->name);
    struct gt_row row = gt_row_begin(table);
    gt_row_int(&row, "device", view->devices[share->device].id);
    gt_row_text(&row, "name", name);
    gt_row_count(&row, "count", share->gaps.count);
    gt_row_int(&row, "total_ns", gt_ns_of_sum(share->gaps.sum));
    gt_row_int(&row, "longest_ns", share->gaps.max);
    gt_row_real(&row, "stddev_ns", gt_moments_stddev(&share->gaps));
    gt_row_share(&row, "share", (double)share->gaps.sum, host_ns);
    gt_row_cell(&row, "kind", is_data_loading(name) ? gt_cell_text(GT_STR("waiting for data")) : gt_cell_null());
    gt_row_end(&row);
}

static bool add_table(const struct gt_view *view, struct gt_grouping *shares, struct gt_section *section) {
    struct share *items = (struct share *)(void *)shares->list;
    const size_t count = items ? shares->count : 0;
    __int128 *host_ns = gt_mem_array(view->device_count, sizeof *host_ns);
    struct gt_table *table =
        gt_section_table(section, "idle_work", "Idle by CPU range or operator", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 10;
    table->parts = &parts;
    if (count)
        qsort(items, count, sizeof *items, by_total);
    bool ok = host_ns;
    for (size_t i = 0; i < count && ok; i++)
        host_ns[items[i].device] += items[i].gaps.sum;
    table->screen_columns = "device,name,count,total_ns,longest_ns,share";
    for (size_t i = 0; i < count && ok; i++) {
        add_row(view, table, &items[i], (double)host_ns[items[i].device]);
        if (is_data_loading(gt_launch_wait_code_text(view, items[i].name)))
            table->screen_columns = NULL; /* a row has a kind */
    }
    gt_mem_free(host_ns);
    return ok;
}

enum gt_status gt_idle_work_add(const struct gt_view *view, const struct gt_idle *idle, const struct gt_idle_code *code,
                                struct gt_section *section, struct gt_error *err) {
    bool has_spreads = gt_measure_table_is_wanted(view, "spreads");
    struct charging charging = {.view = view,
                                .idle = idle,
                                .code = code,
                                .shares = {.elem_bytes = sizeof(struct share)},
                                .share_of =
                                    has_spreads ? gt_mem_uninitialised(idle->count, sizeof *charging.share_of) : NULL,
                                .latest = gt_mem_array(view->store->strings.count, sizeof *charging.latest)};
    bool ok = (charging.share_of || !has_spreads) && charging.latest;
    size_t wait = 0;
    for (uint32_t d = 0; d < idle->device_count && ok; d++)
        ok = charge_device(&charging, d, &wait);
    ok = ok && (!has_spreads || add_spreads(&charging, section)) && add_table(view, &charging.shares, section);
    gt_mem_free(charging.share_of);
    gt_mem_free(charging.latest);
    gt_grouping_release(&charging.shares);
    return ok ? GT_OK : gt_fail_memory(err);
}
