/* Names of ops on the path: sums by name, slack from one pass over the graph, savings from simulations in parallel. */
#include "measure/results/path_names.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/radix.h"
#include "base/threads.h"
#include "graph/dag_slack.h"
#include "measure/results/paths.h"
#include "measure/results/results.h"

enum { SAVINGS_MOST = 20, FASTER_PPM = 900000 };

struct making {
    const struct gt_view *view;
    const struct gt_paths *paths;
    struct gt_path_names *names;
    uint32_t *index; /* by name id: index into items plus 1 */
    int64_t base_ns; /* of all windows that count */
    bool failed[SAVINGS_MOST + 1];
};

/* ---- sums ---- */

static struct gt_path_name *item_of(struct making *making, uint32_t op) {
    const struct gt_view *view = making->view;
    struct gt_path_names *names = making->names;
    gt_strid id = gt_view_name_id(view, view->store->ops.name[op]);
    if (!making->index[id]) {
        struct gt_path_name *item = &names->items[names->count];
        *item = (struct gt_path_name){.name = id, .category = view->labels->op_category[op]};
        making->index[id] = (uint32_t)++names->count;
    }
    return &names->items[making->index[id] - 1];
}

static void add_up(struct making *making) {
    const struct gt_ops *ops = &making->view->store->ops;
    const struct gt_paths *paths = making->paths;
    for (uint32_t op = 0; op < ops->count; op++) {
        struct gt_path_name *item = item_of(making, op);
        item->count++;
        item->total_ns = gt_ns_add(item->total_ns, gt_ns_between(ops->start_ns[op], ops->end_ns[op]));
    }
    for (size_t w = 0; w < paths->window_count; w++) {
        const struct gt_path_window *window = &paths->windows[w];
        if (!window->counts)
            continue;
        making->base_ns = gt_ns_add(making->base_ns, gt_paths_length_ns(window));
        uint32_t last = GT_DAG_NONE;
        struct gt_paths_cursor cursor = gt_paths_segments(paths, window);
        for (size_t i = 0; i < window->segment_count; i++) {
            struct gt_dag_segment segment = gt_paths_next(&cursor);
            if (segment.edge != GT_DAG_NONE || segment.time > GT_DAG_TIME_COPY)
                continue;
            struct gt_path_name *item = item_of(making, paths->dag->row[segment.node]);
            item->path_ns = gt_ns_add(item->path_ns, gt_ns_between(segment.start_ns, segment.end_ns));
            item->path_count += segment.node != last;
            last = segment.node;
        }
    }
}

/* ---- slack ---- */

/* Slacks of a name, of which `count` come, from the least to the most. */
static void note_slack(struct gt_path_name *item, int64_t slack_ns, uint32_t place, uint32_t count) {
    item->has_slack = true;
    item->critical += slack_ns == 0;
    if (place == 0)
        item->slack_min_ns = slack_ns;
    if (place == (count - 1) / 2)
        item->slack_median_ns = slack_ns;
    item->slack_max_ns = slack_ns;
}

static bool add_slack(struct making *making) {
    const struct gt_view *view = making->view;
    const struct gt_ops *ops = &view->store->ops;
    const struct gt_dag *dag = making->paths->dag;
    int64_t *late_ns = gt_paths_late_new(making->paths);
    struct gt_radix_item *slacks = gt_mem_uninitialised(ops->count + 1, sizeof *slacks);
    uint32_t *counts = gt_mem_array(making->names->count + 1, sizeof *counts);
    uint32_t *places = gt_mem_array(making->names->count + 1, sizeof *places); /* by name: how many came before */
    bool ok = late_ns && slacks && counts && places;
    size_t count = 0;
    for (uint32_t op = 0; op < ops->count && ok; op++) {
        int64_t op_late_ns = late_ns[dag->op_node[op]], slack_ns = gt_ns_between(ops->end_ns[op], op_late_ns);
        uint32_t item = making->index[gt_view_name_id(view, ops->name[op])] - 1;
        if (op_late_ns == GT_DAG_SLACK_NEVER)
            continue;
        slacks[count++] = (struct gt_radix_item){slack_ns > 0 ? (uint64_t)slack_ns : 0, item};
        counts[item]++;
    }
    gt_mem_free(late_ns);
    ok = ok && gt_radix_sort(slacks, count);
    for (size_t i = 0; i < count && ok; i++) {
        uint32_t item = slacks[i].value;
        note_slack(&making->names->items[item], (int64_t)slacks[i].key, places[item]++, counts[item]);
    }
    gt_mem_free(slacks);
    gt_mem_free(counts);
    gt_mem_free(places);
    return ok;
}

/* ---- savings ---- */

/* How much shorter the windows that count get. false: memory was short. */
static bool simulate(const struct making *making, const struct gt_dag_change *change, int64_t *saved_ns) {
    const struct gt_paths *paths = making->paths;
    struct gt_path_bound *bounds = gt_mem_array(paths->window_count + 1, sizeof *bounds);
    bool ok = bounds && gt_paths_simulate(paths, change, bounds);
    int64_t length_ns = 0;
    for (size_t i = 0; i < paths->window_count && ok; i++)
        if (paths->windows[i].counts)
            length_ns = gt_ns_add(length_ns, gt_ns_between(bounds[i].start_ns, bounds[i].end_ns));
    *saved_ns = gt_ns_between(length_ns, making->base_ns);
    gt_mem_free(bounds);
    return ok;
}

/* One name, or after the last all compute. */
static void save_one(void *context, size_t index) {
    struct making *making = context;
    const struct gt_view *view = making->view;
    const struct gt_labels *labels = view->labels;
    size_t strings = view->store->strings.count, savings = making->names->on_path;
    bool is_all = index >= savings || index >= SAVINGS_MOST;
    size_t count = is_all ? labels->category_count : strings;
    uint32_t *ppm = gt_mem_uninitialised(count + 1, sizeof *ppm);
    struct gt_dag_change change = {.name_ppm = is_all ? NULL : ppm, .category_ppm = is_all ? ppm : NULL};
    struct gt_path_name *item = is_all ? NULL : &making->names->items[index];
    making->failed[index] = !ppm;
    for (size_t i = 0; i < count && ppm; i++)
        ppm[i] =
            is_all ? labels->categories[i].time_class == GT_CLASS_COMPUTE ? FASTER_PPM : GT_DAG_WHOLE : GT_DAG_NONE;
    for (uint32_t op = 0; op < view->store->ops.count && ppm && item; op++)
        if (gt_view_name_id(view, view->store->ops.name[op]) == item->name)
            ppm[view->store->ops.name[op]] = FASTER_PPM;
    if (ppm && !simulate(making, &change, item ? &item->saved_ns : &making->names->faster_saves_ns))
        making->failed[index] = true;
    if (item)
        item->has_saving = true;
    gt_mem_free(ppm);
}

static bool add_savings(struct making *making) {
    size_t savings = making->names->on_path < SAVINGS_MOST ? making->names->on_path : SAVINGS_MOST;
    bool failed = false;
    gt_threads_deal(gt_threads_count(making->view->request->threads), savings + 1, save_one, making);
    for (size_t i = 0; i <= savings; i++)
        failed |= making->failed[i];
    return !failed;
}

static int by_path(const void *a, const void *b) {
    const struct gt_path_name *x = a, *y = b;
    if (x->path_ns != y->path_ns)
        return x->path_ns > y->path_ns ? -1 : 1;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

enum gt_status gt_path_names_init(struct gt_path_names *names, const struct gt_view *view, struct gt_error *err) {
    struct making making = {.view = view, .paths = gt_results_paths(view, err), .names = names};
    if (!making.paths)
        return err->code;
    making.index = gt_mem_array(gt_view_name_count(view) + 1, sizeof *making.index);
    names->items = gt_mem_array(gt_view_name_count(view) + 1, sizeof *names->items);
    bool ok = making.index && names->items;
    if (ok)
        add_up(&making);
    ok = ok && add_slack(&making);
    if (ok)
        qsort(names->items, names->count, sizeof *names->items, by_path);
    while (ok && names->on_path < names->count && names->items[names->on_path].path_ns)
        names->on_path++;
    if (ok && !gt_paths_is_refused(making.paths)) /* else what a simulation says has no worth */
        ok = add_savings(&making);
    gt_mem_free(making.index);
    if (ok)
        return GT_OK;
    gt_path_names_release(names);
    return gt_fail_memory(err);
}

void gt_path_names_release(struct gt_path_names *names) {
    gt_mem_free(names->items);
    *names = (struct gt_path_names){0};
}
