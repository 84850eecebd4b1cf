/* Ids that grow from call to call: in come correlation ids, out goes the launch call of every op. The calls are an
   index themselves: between two ids there are at most as many calls as the ids are apart, and mostly just as many, so
   that an op finds its call at the first look from where the one before found its own. */
#include "label/id_order.h"

#include "base/ahead.h"
#include "base/threads.h"

struct search {
    struct gt_matcher *matcher;
    bool is_of_one; /* all ops and calls are of one process */
};

/* The first call with this id or a higher one, set out from any call; the last one if there is none. */
static size_t find_call(const uint64_t *ids, size_t count, size_t from, uint64_t id) {
    size_t low, high; /* ids[low - 1] < id <= ids[high], or high is the last */
    uint64_t away = id > ids[from] ? id - ids[from] : ids[from] - id;
    if (id >= ids[from]) {
        low = from;
        high = away < count - 1 - from ? from + (size_t)away : count - 1;
        if (ids[high] <= id)
            return high;
    } else {
        low = away < from ? from - (size_t)away : 0;
        high = from;
        if (ids[low] >= id)
            return low;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool are_of_one_process(const struct search *search, uint32_t op, uint32_t call) {
    return search->is_of_one ||
           gt_labels_call_process(search->matcher->store, call) == gt_matcher_likely_process(search->matcher, op);
}

static void match_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct search *search = context;
    const struct gt_store *store = search->matcher->store;
    const uint64_t *ids = store->calls.correlation, *asked = store->ops.correlation;
    const int64_t *call_start_ns = store->calls.start_ns, *op_end_ns = store->ops.end_ns;
    uint32_t *op_call = search->matcher->op_call;
    size_t call_count = store->calls.count, call = 0;
    uint64_t without_call = 0;
    (void)slice;
    for (size_t op = begin; op < end; op++) {
        if (op % GT_AHEAD_EACH == 0) {
            size_t row = gt_ahead_row(op, end), call_row = gt_ahead_row(call, call_count);
            gt_ahead_fetch(&asked[row]);
            gt_ahead_fetch(&op_end_ns[row]);
            gt_ahead_fetch(&ids[call_row]);
            gt_ahead_fetch(&call_start_ns[call_row]);
        }
        uint64_t id = asked[op];
        if (call + 1 < call_count && ids[call + 1] == id)
            call++;
        else if (id != GT_NO_CORRELATION)
            call = find_call(ids, call_count, call, id);
        bool has_call = ids[call] == id && id != GT_NO_CORRELATION && call_start_ns[call] <= op_end_ns[op] &&
                        are_of_one_process(search, (uint32_t)op, (uint32_t)call);
        op_call[op] = has_call ? (uint32_t)call : GT_NO_ROW;
        without_call += !has_call;
    }
    atomic_fetch_add(&search->matcher->without_call, without_call);
}

void gt_id_order_match(struct gt_matcher *matcher) {
    const struct gt_store *store = matcher->store;
    struct search search = {.matcher = matcher, .is_of_one = !matcher->has_several};
    for (size_t lane = 0; lane < store->lanes.count && search.is_of_one; lane++)
        search.is_of_one =
            store->lanes.process[lane] == GT_NO_TRACK || store->lanes.process[lane] == matcher->only_process;
    gt_threads_rows(gt_threads_slices(matcher->threads, store->ops.count, 0), store->ops.count, match_slice, &search);
}
