/* Graph: the elapsed time of a run by category and by name, as stacked bars show it. Overlapping ops are not counted
   twice: each is charged the time after the latest end so far on its device, so that a device's charges sum to its
   busy time. What the run's elapsed time has more is CPU(non-GPU). Several GPUs are never merged: times are the mean
   over them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/num.h"
#include "measure/results/measure.h"
#include "report/row.h"

#define NON_GPU  "CPU(non-GPU)"
#define SHARE_OF "busy and non-GPU time" /* the elapsed time, unless that is given and shorter than the work took */

/* Ops of one name and category; in a bar, of one category alone. */
struct work {
    struct gt_str category, name;
    size_t category_index; /* the first of its key, since a user's may have an entry for each kind of time */
    uint64_t instances;
    __int128 elapsed_ns, total_ns; /* sums over devices */
    uint32_t next;                 /* the same name in another category: index + 1 */
};

struct works {
    struct work *items;
    size_t count, capacity;
};

/* One bar: a run of the program. */
struct run {
    size_t device_count; /* that the mean is taken over: at least 1 */
    int64_t elapsed_ns;  /* given, else from the first to the last op of all devices */
    bool is_given;
    __int128 busy_ns, non_gpu_ns; /* sums over devices */
    size_t short_devices;         /* busy for longer than the elapsed time */
};

static const struct gt_report_column bar_columns[] = {
    {"category", "Category", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"instances", "Instances", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"elapsed_ns", "Elapsed", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"total_ns", "Sum", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS | GT_COLUMN_TOTAL},
    {"share", "Share", GT_UNIT_SHARE, SHARE_OF, GT_COLUMN_BAR | GT_COLUMN_WHOLE},
};

static const struct gt_report_column name_columns[] = {
    {"category", "Category", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"instances", "Instances", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"elapsed_ns", "Elapsed", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"total_ns", "Sum", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_ADDS | GT_COLUMN_TOTAL},
    {"name", "Name", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
};

static const struct gt_report_column run_columns[] = {
    {"gpus", "GPUs", GT_UNIT_COUNT, NULL, 0},
    {"ops", "GPU ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"elapsed_ns", "Elapsed", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"busy_ns", "GPU busy", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"non_gpu_ns", "Non-GPU", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"busy_share", "Busy", GT_UNIT_SHARE, SHARE_OF, 0},
    {"is_given", "Given elapsed time", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
};

static const struct gt_report_column device_columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"ops", "GPU ops", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"elapsed_ns", "Elapsed", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"busy_ns", "GPU busy", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"non_gpu_ns", "Non-GPU", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"busy_share", "Busy", GT_UNIT_SHARE, SHARE_OF, 0},
};

/* ---- sums by name and category ---- */

static struct work *add_work(struct works *works, struct work work) {
    struct work *items = gt_mem_room(works->items, works->count, &works->capacity, sizeof *items);
    if (!items)
        return NULL;
    works->items = items;
    works->items[works->count] = work;
    return &works->items[works->count++];
}

struct sums {
    struct works names, bars;
    uint32_t *place; /* by name id: index + 1 in names */
    uint8_t *first;  /* by category: the first of the same key */
};

static bool sums_init(struct sums *sums, const struct gt_view *view) {
    const struct gt_category *categories = view->labels->categories;
    size_t count = view->labels->category_count;
    sums->place = gt_mem_array(gt_view_name_count(view), sizeof *sums->place);
    sums->first = gt_mem_array(count, sizeof *sums->first);
    for (size_t i = 0; sums->first && i < count; i++)
        while (strcmp(categories[sums->first[i]].key, categories[i].key) != 0)
            sums->first[i]++;
    return sums->place && sums->first;
}

static void sums_release(struct sums *sums) {
    gt_mem_free(sums->names.items);
    gt_mem_free(sums->bars.items);
    gt_mem_free(sums->place);
    gt_mem_free(sums->first);
}

/* NULL: memory was short. Names with several categories are rare: simplified ones, and copies named like kernels. */
static struct work *find_name(struct sums *sums, const struct gt_view *view, uint8_t category, gt_strid name) {
    size_t index = sums->first[category];
    gt_strid id = gt_view_name_id(view, name);
    struct work *items = sums->names.items;
    for (uint32_t at = items ? sums->place[id] : 0; at; at = items[at - 1].next)
        if (items[at - 1].category_index == index)
            return &items[at - 1];
    struct work *work = add_work(&sums->names, (struct work){.category = gt_str_of(view->labels->categories[index].key),
                                                             .name = gt_view_name_text(view, id),
                                                             .category_index = index,
                                                             .next = sums->place[id]});
    if (work)
        sums->place[id] = (uint32_t)sums->names.count;
    return work;
}

static void work_take(struct work *work, uint64_t instances, __int128 elapsed_ns, __int128 total_ns) {
    work->instances += instances;
    work->elapsed_ns += elapsed_ns;
    work->total_ns += total_ns;
}

/* Ops are in order of their start, the longer first. */
static bool charge_device(struct sums *sums, const struct gt_view *view, const struct gt_view_device *device) {
    int64_t reached_ns = INT64_MIN;
    for (size_t i = device->first; i < device->first + device->count; i++) {
        uint32_t row = view->row[i];
        struct work *work = find_name(sums, view, view->labels->op_category[row], view->store->ops.name[row]);
        if (!work)
            return false;
        int64_t start_ns = view->start_ns[i] > reached_ns ? view->start_ns[i] : reached_ns;
        bool is_later = view->end_ns[i] > start_ns;
        work_take(work, 1, is_later ? gt_ns_between(start_ns, view->end_ns[i]) : 0, gt_view_op_ns(view, i));
        reached_ns = is_later ? view->end_ns[i] : reached_ns;
    }
    return true;
}

static bool add_groups(struct sums *sums, const struct gt_view *view) {
    const struct gt_groups *groups = &view->store->groups;
    for (size_t i = 0; i < view->group_count; i++) {
        uint32_t row = view->groups[i];
        struct work *work = find_name(sums, view, view->labels->group_category[row], groups->name[row]);
        if (!work)
            return false;
        work_take(work, groups->instances[row], 0, groups->total_ns[row]);
    }
    return true;
}

/* The bars: names of the same category together. Reuses `first` for the place of each category. */
static bool sum_bars(struct sums *sums, const struct gt_view *view) {
    memset(sums->first, 0, view->labels->category_count);
    for (size_t i = 0; i < sums->names.count; i++) {
        const struct work *from = &sums->names.items[i];
        uint8_t *place = &sums->first[from->category_index];
        if (!*place && !add_work(&sums->bars, (struct work){.category = from->category}))
            return false;
        *place = *place ? *place : (uint8_t)sums->bars.count;
        assert(sums->bars.items);
        work_take(&sums->bars.items[*place - 1], from->instances, from->elapsed_ns, from->total_ns);
    }
    return true;
}

/* ---- the run ---- */

static int64_t span_ns(const struct gt_view *view) {
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (size_t d = 0; d < view->device_count; d++) {
        first_ns = view->devices[d].span_start_ns < first_ns ? view->devices[d].span_start_ns : first_ns;
        last_ns = view->devices[d].span_end_ns > last_ns ? view->devices[d].span_end_ns : last_ns;
    }
    return view->device_count ? gt_ns_between(first_ns, last_ns) : 0;
}

static int64_t non_gpu_ns(const struct run *run, int64_t busy_ns) {
    return busy_ns < run->elapsed_ns ? run->elapsed_ns - busy_ns : 0;
}

static void run_init(struct run *run, const struct gt_view *view) {
    *run = (struct run){.device_count = view->device_count ? view->device_count : 1};
    run->is_given = view->run.elapsed_ns > 0;
    run->elapsed_ns = run->is_given ? view->run.elapsed_ns : span_ns(view);
    for (size_t d = 0; d < view->device_count; d++) {
        int64_t busy_ns = gt_view_device_busy_ns(view, &view->devices[d]);
        run->busy_ns += busy_ns;
        run->non_gpu_ns += non_gpu_ns(run, busy_ns);
        run->short_devices += busy_ns > run->elapsed_ns;
    }
    if (view->device_count == 0)
        run->non_gpu_ns = run->elapsed_ns;
}

static struct gt_cell mean_cell(const struct run *run, __int128 sum) {
    __int128 count = (__int128)run->device_count;
    return sum % count ? gt_cell_real((double)sum / (double)count) : gt_cell_int(gt_ns_of_sum(sum / count));
}

/* An input that is summed already gives no times, so it has none. */
static bool add_non_gpu(struct works *works, const struct run *run) {
    return add_work(works, (struct work){.category = GT_STR(NON_GPU),
                                         .name = GT_STR(NON_GPU),
                                         .instances = 1,
                                         .elapsed_ns = run->non_gpu_ns}) != NULL;
}

/* ---- tables ---- */

static int by_elapsed(const struct work *x, const struct work *y) {
    if (x->elapsed_ns != y->elapsed_ns)
        return x->elapsed_ns < y->elapsed_ns ? 1 : -1;
    return x->total_ns == y->total_ns ? 0 : x->total_ns < y->total_ns ? 1 : -1;
}

static int bars_in_order(const void *a, const void *b) {
    const struct work *x = a, *y = b;
    int order = by_elapsed(x, y);
    return order ? order : gt_str_cmp(x->category, y->category);
}

static int names_in_order(const void *a, const void *b) {
    const struct work *x = a, *y = b;
    int order = gt_str_cmp(x->category, y->category);
    order = order ? order : by_elapsed(x, y);
    return order ? order : gt_str_cmp(x->name, y->name);
}

static void sort(struct works *works, int (*in_order)(const void *, const void *)) {
    if (works->count)
        qsort(works->items, works->count, sizeof *works->items, in_order);
}

static void add_row(const struct gt_view *view, struct gt_table *table, const struct run *run, const struct work *work,
                    bool is_bar) {
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "category", work->category);
    gt_row_int(&row, "instances", work->instances > INT64_MAX ? INT64_MAX : (int64_t)work->instances);
    gt_row_cell(&row, "elapsed_ns", view->is_summed ? gt_cell_null() : mean_cell(run, work->elapsed_ns));
    gt_row_cell(&row, "total_ns", mean_cell(run, work->total_ns));
    if (!is_bar)
        gt_row_text(&row, "name", work->name);
    else if (view->is_summed)
        gt_row_null(&row, "share");
    else
        gt_row_share(&row, "share", (double)work->elapsed_ns, (double)(run->busy_ns + run->non_gpu_ns));
    gt_row_end(&row);
}

static void add_works(const struct gt_view *view, struct gt_section *section, const struct run *run,
                      struct sums *sums) {
    struct gt_table *bars =
        gt_section_table(section, "graph", "Elapsed time by category", bar_columns, GT_ARRAY_COUNT(bar_columns));
    struct gt_table *names = gt_section_table(section, "graph_kernels", "Elapsed time by category and name",
                                              name_columns, GT_ARRAY_COUNT(name_columns));
    names->screen_limit = 20;
    sort(&sums->bars, bars_in_order);
    sort(&sums->names, names_in_order);
    for (size_t i = 0; i < sums->bars.count; i++)
        add_row(view, bars, run, &sums->bars.items[i], true);
    for (size_t i = 0; i < sums->names.count; i++)
        add_row(view, names, run, &sums->names.items[i], false);
}

static void add_devices(const struct gt_view *view, struct gt_section *section, const struct run *run) {
    struct gt_table *table = gt_section_table(section, "graph_devices", "Elapsed time by GPU", device_columns,
                                              GT_ARRAY_COUNT(device_columns));
    if (view->device_count < 2)
        gt_measure_table_for(section, table, GT_FOR_DATA | GT_FOR_PAGE);
    for (size_t d = 0; d < view->device_count; d++) {
        const struct gt_view_device *device = &view->devices[d];
        int64_t busy_ns = gt_view_device_busy_ns(view, device);
        struct gt_row row = gt_row_begin(table);
        gt_row_int(&row, "device", device->id);
        gt_row_count(&row, "ops", device->count);
        gt_row_int(&row, "elapsed_ns", run->elapsed_ns);
        gt_row_int(&row, "busy_ns", busy_ns);
        gt_row_int(&row, "non_gpu_ns", non_gpu_ns(run, busy_ns));
        gt_row_share(&row, "busy_share", (double)busy_ns, (double)busy_ns + (double)non_gpu_ns(run, busy_ns));
        gt_row_end(&row);
    }
}

static void add_run(const struct gt_view *view, struct gt_section *section, const struct run *run) {
    struct gt_table *table = gt_section_table(section, "graph_runs", "Runs", run_columns, GT_ARRAY_COUNT(run_columns));
    struct gt_row row = gt_row_begin(table);
    gt_row_count(&row, "gpus", view->device_count);
    gt_row_count(&row, "ops", view->op_count);
    if (view->is_summed) {
        gt_row_null_rest(&row, "elapsed_ns");
    } else {
        gt_row_int(&row, "elapsed_ns", run->elapsed_ns);
        gt_row_cell(&row, "busy_ns", mean_cell(run, run->busy_ns));
        gt_row_cell(&row, "non_gpu_ns", mean_cell(run, run->non_gpu_ns));
        gt_row_share(&row, "busy_share", (double)run->busy_ns, (double)(run->busy_ns + run->non_gpu_ns));
        gt_row_int(&row, "is_given", run->is_given);
    }
    gt_row_end(&row);
}

static void note_oddities(const struct gt_view *view, struct gt_section *section, const struct run *run) {
    struct gt_arena *arena = &section->report->arena;
    char given[GT_NUM_MAX];
    gt_num_format_duration(given, (double)run->elapsed_ns);
    if (view->device_count > 1)
        gt_section_note(
            section, GT_FOR_ALL,
            gt_arena_printf(arena, "Times are means over %zu GPUs; instances and ops are totals.", view->device_count));
    if (run->short_devices && !view->is_summed)
        gt_section_note(section, GT_FOR_ALL,
                        gt_arena_printf(arena,
                                        "The given elapsed time (%s) is shorter than the busy time of %zu of %zu "
                                        "GPU%s: their non-GPU time counts as 0, and shares are of busy time.",
                                        given, run->short_devices, run->device_count,
                                        run->device_count == 1 ? "" : "s"));
}

enum gt_status gt_graph_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct sums sums = {0};
    struct run run;
    run_init(&run, view);
    bool ok = sums_init(&sums, view);
    for (size_t d = 0; ok && d < view->device_count; d++)
        ok = charge_device(&sums, view, &view->devices[d]);
    ok = ok && add_groups(&sums, view) && sum_bars(&sums, view);
    ok = ok && (view->is_summed || (add_non_gpu(&sums.bars, &run) && add_non_gpu(&sums.names, &run)));
    if (ok) {
        add_run(view, section, &run);
        note_oddities(view, section, &run);
        add_devices(view, section, &run);
        add_works(view, section, &run, &sums);
    }
    sums_release(&sums);
    return ok ? GT_OK : gt_fail_memory(err);
}
