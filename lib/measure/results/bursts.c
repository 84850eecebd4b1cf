/* Finds the pauses between kernels: jumps ahead as far as there can be none, and looks back only where there may be
 * one.
 */
#include "measure/results/bursts.h"

#include "base/mem.h"
#include "base/ns.h"

bool gt_bursts_end(struct gt_bursts *ended, const struct gt_burst *burst) {
    if (burst->device == GT_NO_TRACK)
        return true;
    struct gt_burst *grown = gt_mem_room(ended->items, ended->count, &ended->capacity, sizeof *grown);
    if (!grown)
        return false;
    ended->items = grown;
    ended->items[ended->count++] = *burst;
    return true;
}

/* The kernels of a device while bursts are looked for. Most are skipped: where some kernel starts before a pause would
   end there is none, whatever is between. */
struct skipping {
    const struct gt_view *view;
    size_t at, end;     /* position of the latest kernel, and after the last of the device */
    size_t looked_to;   /* ends of kernels before it are in reached_ns */
    int64_t reached_ns; /* the latest end of those that were looked at */
    int64_t longest_ns; /* of all kernels of the device */
};

/* The first position after the latest kernel from which on ops would come after a pause: they come in order. */
static size_t find_after_pause(const struct skipping *it) {
    const int64_t *start_ns = it->view->start_ns;
    size_t low = it->at + 1, step = 1, high;
    for (high = low; high < it->end && !gt_bursts_is_pause(it->reached_ns, start_ns[high]); step *= 2) {
        low = high + 1;
        high = it->end - high > step ? high + step : it->end;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (gt_bursts_is_pause(it->reached_ns, start_ns[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The first that was not looked at and may end after what is reached, whatever its length. Of a length that did not fit
   nobody knows how long it is. */
static size_t find_reaching(const struct skipping *it) {
    const int64_t *start_ns = it->view->start_ns;
    size_t low = it->looked_to, high = it->longest_ns < INT64_MAX ? it->at + 1 : low;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool ends_before =
            start_ns[middle] <= it->reached_ns && gt_ns_between(start_ns[middle], it->reached_ns) >= it->longest_ns;
        low = ends_before ? middle + 1 : low;
        high = ends_before ? high : middle;
    }
    return low;
}

/* Looks at kernels that were skipped. false: none ends later. */
static bool look_back(struct skipping *it) {
    int64_t before_ns = it->reached_ns;
    for (size_t i = find_reaching(it); i <= it->at; i++)
        if (gt_store_kind_is_kernel(it->view->kind[i]) && it->view->end_ns[i] > it->reached_ns)
            it->reached_ns = it->view->end_ns[i];
    it->looked_to = it->at + 1;
    return it->reached_ns > before_ns;
}

/* From the latest kernel to the last one without a pause between them. The first position after it, or after the
   device. */
static size_t skip_burst(struct skipping *it) {
    for (;;) {
        size_t after = find_after_pause(it), kernel = after - 1;
        while (kernel > it->at && !gt_store_kind_is_kernel(it->view->kind[kernel]))
            kernel--;
        if (kernel == it->at && !look_back(it))
            return after;
        it->at = kernel;
        it->reached_ns = it->view->end_ns[kernel] > it->reached_ns ? it->view->end_ns[kernel] : it->reached_ns;
    }
}

static size_t next_kernel(const struct gt_view *view, size_t position, size_t end) {
    while (position < end && !gt_store_kind_is_kernel(view->kind[position]))
        position++;
    return position;
}

bool gt_bursts_of_device(const struct gt_view *view, uint32_t index, int64_t longest_ns, struct gt_bursts *ended) {
    const struct gt_view_device *device = &view->devices[index];
    size_t end = device->first + device->count, next = next_kernel(view, device->first, end);
    while (next < end) {
        struct skipping it = {view, next, end, next + 1, view->end_ns[next], longest_ns};
        int64_t first_ns = view->start_ns[next];
        next = next_kernel(view, skip_burst(&it), end);
        if (!gt_bursts_end(ended, &(struct gt_burst){0, index, first_ns, it.reached_ns}))
            return false;
    }
    return true;
}
