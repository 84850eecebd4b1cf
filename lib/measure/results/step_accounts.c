/* Accounts of parts of steps: in come the ops of a view and the parts of its steps, out goes an account for each part.
   Linear, but for a logarithm to find the part of a device in a step. */
#include "measure/results/step_accounts.h"

#include "base/mem.h"
#include "base/threads.h"
#include "measure/results/results.h"

struct accounting {
    const struct gt_view *view;
    const struct gt_step_set *set;
    size_t *first; /* by step: its first part; and after the last step */
    struct gt_account *of_part;
};

/* What is open is a sweep in the place of the account, of which there may be millions. */
_Static_assert(sizeof(struct gt_account_sweep) <= sizeof(struct gt_account),
               "a sweep fits in the place of its account");

static void *sweep_of(const struct accounting *it, size_t part) {
    return &it->of_part[part];
}

/* Parts of a step come by device. This one is there. */
static size_t find_part(const struct accounting *it, uint32_t step, uint32_t device) {
    size_t low = it->first[step], high = it->first[step + 1];
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (it->set->parts[middle].device <= device)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void find_first(struct accounting *it, size_t step_count) {
    size_t next = 0;
    for (size_t step = 0; step <= step_count; step++) {
        it->first[step] = next;
        while (next < it->set->count && it->set->parts[next].step == step)
            next++;
    }
}

static void begin_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct accounting *it = context;
    (void)slice;
    for (size_t i = begin; i < end; i++)
        gt_account_sweep_init(sweep_of(it, i));
}

static void close_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct accounting *it = context;
    (void)slice;
    for (size_t i = begin; i < end; i++) {
        const struct gt_step_part *part = &it->set->parts[i];
        struct gt_account_sweep sweep = *(struct gt_account_sweep *)sweep_of(it, i);
        struct gt_account account = {0};
        if (part->device != GT_NO_TRACK)
            account = gt_account_sweep_close(&sweep, part->start_ns, part->end_ns);
        it->of_part[i] = account;
    }
}

/* Ops of a step come in order of start, with those of other steps between them. */
static void take_device(void *context, size_t index) {
    const struct accounting *it = context;
    const struct gt_view *view = it->view;
    const uint32_t *op_step = view->labels->op_step;
    size_t last = view->devices[index].first + view->devices[index].count;
    for (size_t first = view->devices[index].first, end; first < last; first = end) {
        uint32_t step = op_step[view->row[first]];
        for (end = first + 1; end < last && op_step[view->row[end]] == step;)
            end++;
        if (step != GT_NO_ROW)
            gt_account_sweep_take(sweep_of(it, find_part(it, step, (uint32_t)index)), view, first, end);
    }
}

enum gt_status gt_step_accounts_init(struct gt_step_accounts *accounts, const struct gt_view *view,
                                     struct gt_error *err) {
    const struct gt_step_set *set = gt_results_steps(view, err);
    *accounts = (struct gt_step_accounts){0};
    if (!set)
        return err->code;
    size_t step_count = view->labels->step_count, threads = gt_threads_count(view->request->threads);
    struct accounting it = {.view = view,
                            .set = set,
                            .first = gt_mem_uninitialised(step_count + 1, sizeof *it.first),
                            .of_part = gt_mem_uninitialised(set->count, sizeof *it.of_part)};
    accounts->of_part = it.of_part;
    bool ok = it.first && it.of_part;
    if (ok && set->count) {
        size_t slices = gt_threads_slices(threads, set->count, 0);
        find_first(&it, step_count);
        gt_threads_rows(slices, set->count, begin_slice, &it);
        gt_threads_parts(gt_threads_slices(threads, view->op_count, 0), view->device_count, take_device, &it);
        gt_threads_rows(slices, set->count, close_slice, &it);
    }
    gt_mem_free(it.first);
    if (ok)
        return GT_OK;
    gt_step_accounts_release(accounts);
    return gt_fail_memory(err);
}

void gt_step_accounts_release(struct gt_step_accounts *accounts) {
    gt_mem_free(accounts->of_part);
    *accounts = (struct gt_step_accounts){0};
}
