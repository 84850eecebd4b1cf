/* Charges each gap of cause host to the outermost range or operator in which the launching thread spent most of it. */
#include "measure/idle_work.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/quantile.h"
#include "measure/grouping.h"
#include "measure/measure.h"
#include "measure/spread.h"

static const struct gt_report_column columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"name", "The launching thread was in", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Gaps", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"longest_ns", "Longest", GT_UNIT_NS, NULL, 0},
    {"stddev_ns", "Std dev", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE | GT_COLUMN_SPREAD},
    {"share", "Share of host gaps", GT_UNIT_SHARE, "idle time of the GPU with cause host", GT_COLUMN_BAR},
    {"kind", "Kind", GT_UNIT_NONE, NULL, 0},
};

/* The gaps of one device that one name has. */
struct share {
    uint32_t device;
    gt_strid name; /* GT_STRID_EMPTY: outside everything */
    struct gt_moments gaps;
};

static struct gt_str work_name(const struct gt_view *view, const struct share *share) {
    struct gt_str name = gt_store_string(view->store, share->name);
    return name.len ? name : GT_STR("(outside ranges and operators)");
}

/* ---- the code during a gap ---- */

/* The first code of a thread that ends behind a time. Gaps come in order of time, so it mostly is the one that was
   found before or close behind it: *place remembers. */
static size_t first_behind(const struct gt_outers *outers, uint32_t thread, int64_t time_ns, size_t *place) {
    size_t low = outers->first[thread], high = outers->first[thread + 1];
    if (*place > low && *place <= high && outers->end_ns[*place - 1] <= time_ns)
        low = *place;
    for (size_t step = 1; low < high; step *= 2) {
        size_t probe = high - low > step ? low + step - 1 : high - 1;
        if (outers->end_ns[probe] > time_ns) {
            high = probe;
            break;
        }
        low = probe + 1;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (outers->end_ns[middle] <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    *place = low;
    return low;
}

/* The name with the largest part of [start, end), where all names together have more than half of it. */
static gt_strid name_during(const struct gt_outers *outers, uint32_t thread, int64_t start_ns, int64_t end_ns,
                            size_t *place) {
    int64_t longest_ns = 0, covered_ns = 0;
    gt_strid longest = GT_STRID_EMPTY;
    for (size_t i = first_behind(outers, thread, start_ns, place);
         i < outers->first[thread + 1] && outers->start_ns[i] < end_ns; i++) {
        int64_t from_ns = outers->start_ns[i] > start_ns ? outers->start_ns[i] : start_ns;
        int64_t part_ns = gt_ns_between(from_ns, outers->end_ns[i] < end_ns ? outers->end_ns[i] : end_ns);
        covered_ns = gt_ns_add(covered_ns, part_ns);
        if (part_ns > longest_ns) {
            longest_ns = part_ns;
            longest = outers->name[i];
        }
    }
    return covered_ns > gt_ns_between(start_ns, end_ns) / 2 ? longest : GT_STRID_EMPTY;
}

/* ---- sums by device and name ---- */

/* Numbers the gaps of cause host by their share; GT_NO_ROW: the gap has another cause. */
static bool charge_gaps(const struct gt_view *view, const struct gt_idle *idle, struct gt_grouping *shares,
                        uint32_t *share_of) {
    const struct gt_calls *calls = &view->store->calls;
    size_t place = 0;
    for (size_t i = 0; i < idle->count; i++) {
        const struct gt_idle_gap *gap = &idle->gaps[i];
        share_of[i] = GT_NO_ROW;
        if (gap->cause != GT_IDLE_HOST)
            continue;
        uint32_t thread = calls->thread[gap->call];
        gt_strid name = thread < view->store->threads.count
                            ? name_during(&idle->outers, thread, gap->start_ns, calls->start_ns[gap->call], &place)
                            : GT_STRID_EMPTY;
        bool is_new;
        struct share *share = gt_grouping_find(shares, gap->device, name, &is_new);
        if (!share)
            return false;
        share->device = gap->device;
        share->name = name;
        gt_moments_add(&share->gaps, gap->gap_ns);
        share_of[i] = (uint32_t)(share - (struct share *)shares->list);
    }
    return true;
}

/* ---- spread over steps ---- */

struct charged {
    const struct gt_view *view;
    const struct gt_idle *idle;
    const uint32_t *share_of;
};

static struct gt_spread_item charged_item(const void *context, size_t index) {
    const struct charged *charged = context;
    const struct gt_idle_gap *gap = &charged->idle->gaps[index];
    bool is_charged = charged->share_of[index] != GT_NO_ROW;
    return (struct gt_spread_item){.step = is_charged ? gt_idle_gap_step(charged->view, gap) : GT_NO_ROW,
                                   .set = is_charged ? charged->share_of[index] : 0,
                                   .ns = gap->gap_ns};
}

static bool add_spreads(const struct charged *charged, const struct gt_grouping *shares, struct gt_section *section) {
    const struct share *items = (const struct share *)(const void *)shares->list;
    struct gt_spread_source source = {charged->idle->count, shares->count, charged_item, charged};
    double *stddev_ns = gt_alloc_array(shares->count, sizeof *stddev_ns);
    size_t steps = 0;
    bool ok = stddev_ns && gt_spread_measure(charged->view, &source, stddev_ns, &steps);
    for (size_t i = 0; i < shares->count && ok && steps; i++)
        if (!isnan(stddev_ns[i]))
            gt_spread_add(section, "idle_work", work_name(charged->view, &items[i]), steps, stddev_ns[i]);
    gt_free(stddev_ns);
    return ok;
}

/* ---- the table ---- */

static int by_device_and_total(const void *a, const void *b) {
    const struct share *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->gaps.sum != y->gaps.sum)
        return x->gaps.sum < y->gaps.sum ? 1 : -1;
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
    struct gt_cell *cell = gt_table_row(table);
    *cell++ = gt_cell_int(view->devices[share->device].id);
    *cell++ = gt_cell_text(work_name(view, share));
    *cell++ = gt_cell_count(share->gaps.count);
    *cell++ = gt_cell_int(gt_ns_of_sum(share->gaps.sum));
    *cell++ = gt_cell_int(share->gaps.max);
    *cell++ = gt_cell_real(gt_moments_stddev(&share->gaps));
    *cell++ = gt_cell_share((double)share->gaps.sum, host_ns);
    *cell++ = is_data_loading(work_name(view, share)) ? gt_cell_text(GT_STR("waiting for data")) : gt_cell_null();
}

static void add_table(const struct gt_view *view, struct gt_grouping *shares, struct gt_section *section) {
    struct share *items = (struct share *)(void *)shares->list;
    struct gt_table *table = gt_section_table(section, "idle_work", "What the CPU was working on while the GPU waited",
                                              columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 10;
    if (shares->count)
        qsort(items, shares->count, sizeof *items, by_device_and_total);
    for (size_t first = 0, end; first < shares->count; first = end) {
        __int128 host_ns = 0;
        for (end = first; end < shares->count && items[end].device == items[first].device; end++)
            host_ns += items[end].gaps.sum;
        for (size_t i = first; i < end; i++)
            add_row(view, table, &items[i], (double)host_ns);
    }
}

enum gt_status gt_idle_work_add(const struct gt_view *view, const struct gt_idle *idle, struct gt_section *section,
                                struct gt_error *err) {
    struct gt_grouping shares = {.elem_bytes = sizeof(struct share)};
    uint32_t *share_of = gt_alloc_array(idle->count, sizeof *share_of);
    const struct charged charged = {view, idle, share_of};
    bool ok = share_of && charge_gaps(view, idle, &shares, share_of);
    if (ok && shares.count)
        ok = add_spreads(&charged, &shares, section);
    if (ok)
        add_table(view, &shares, section);
    gt_free(share_of);
    gt_grouping_release(&shares);
    return ok ? GT_OK : gt_fail_memory(err);
}
