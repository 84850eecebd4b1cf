/* Answers about the ops of a view: busy time, processes, what the selection holds, names as the options want them. */
#include "base/mem.h"
#include "base/ns.h"
#include "events/view.h"

/* Adds what the op covers after reached_ns, the latest end so far, and advances that. */
static int64_t add_busy(const struct gt_view *view, size_t position, int64_t busy_ns, int64_t *reached_ns) {
    int64_t start_ns = view->start_ns[position] > *reached_ns ? view->start_ns[position] : *reached_ns;
    if (view->end_ns[position] <= start_ns)
        return busy_ns;
    *reached_ns = view->end_ns[position];
    return gt_ns_add(busy_ns, gt_ns_between(start_ns, *reached_ns));
}

int64_t gt_view_device_busy_ns(const struct gt_view *view, const struct gt_view_device *device) {
    int64_t busy_ns = 0, reached_ns = INT64_MIN;
    for (size_t i = device->first; i < device->first + device->count; i++)
        busy_ns = add_busy(view, i, busy_ns, &reached_ns);
    return busy_ns;
}

int64_t gt_view_lane_busy_ns(const struct gt_view *view, const struct gt_view_lane *lane) {
    int64_t busy_ns = 0, reached_ns = INT64_MIN;
    for (size_t i = lane->first; i < lane->first + lane->count; i++)
        busy_ns = add_busy(view, view->lane_order[i], busy_ns, &reached_ns);
    return busy_ns;
}

bool *gt_view_processes(const struct gt_view *view) {
    size_t left = view->store->processes.count; /* that no op of is seen yet */
    bool *processes = gt_mem_array(left + 1, sizeof *processes);
    for (size_t i = 0; processes && i < view->lane_count && left; i++) {
        const struct gt_view_lane *lane = &view->lanes[i];
        bool is_of_one = view->store->lanes.process[lane->lane] != GT_NO_TRACK;
        for (size_t k = lane->first, end = is_of_one ? k + 1 : k + lane->count; k < end && left; k++) {
            uint32_t process = gt_view_op_process(view, view->lane_order[k]);
            if (process != GT_NO_TRACK && !processes[process]) {
                processes[process] = true;
                left--;
            }
        }
    }
    return processes;
}

bool gt_view_has_moment(const struct gt_view *view, const bool *processes, int64_t start_ns, uint32_t thread) {
    if (view->is_whole)
        return true;
    if (view->has_window && (start_ns < view->window_start_ns || start_ns >= view->window_end_ns))
        return false;
    uint32_t process = thread == GT_NO_TRACK ? GT_NO_TRACK : view->store->threads.process[thread];
    return process != GT_NO_TRACK && processes[process];
}

static bool names_are_short(const struct gt_view *view) {
    return view->request->names == GPUTIME_NAMES_SHORT;
}

struct gt_str gt_view_name_text(const struct gt_view *view, gt_strid id) {
    return gt_strtab_get(names_are_short(view) ? &view->labels->short_names : &view->store->strings, id);
}

size_t gt_view_name_count(const struct gt_view *view) {
    return names_are_short(view) ? view->labels->short_names.count : view->store->strings.count;
}
