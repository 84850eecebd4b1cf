/* Accounts of sets of ops: ops in order of start come in, the lengths of their kinds of time without each other go out.
   Linear, without memory. Up to the next start nothing begins, so what is covered of the time until then is, for each
   kind, its first part. */
#include "measure/results/accounts.h"

#include <assert.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "measure/results/charging.h"
#include "measure/results/measure.h"

const char *const gt_amount_keys[GT_AMOUNT_COUNT] = {
    [GT_AMOUNT_SPAN] = "span_ns",
    [GT_AMOUNT_BUSY] = "busy_ns",
    [GT_AMOUNT_IDLE] = "idle_ns",
    [GT_AMOUNT_COMPUTE] = "compute_ns",
    [GT_AMOUNT_COMM] = "comm_ns",
    [GT_AMOUNT_MEMORY] = "memory_ns",
    [GT_AMOUNT_EXPOSED_COMM] = "exposed_comm_ns",
    [GT_AMOUNT_EXPOSED_MEMORY] = "exposed_memory_ns",
    [GT_AMOUNT_OVERLAP] = "overlap_ns",
    [GT_AMOUNT_SUM] = "sum_ns",
};

static inline uint64_t covered_until(int64_t at_ns, int64_t until_ns, int64_t reached_ns) {
    int64_t end_ns = reached_ns < until_ns ? reached_ns : until_ns;
    return end_ns > at_ns ? (uint64_t)end_ns - (uint64_t)at_ns : 0;
}

static inline uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* Accounts for the time up to a moment before which no more op starts. */
static inline void settle(struct gt_account_sweep *it, int64_t until_ns) {
    uint64_t compute = covered_until(it->at_ns, until_ns, it->reached_ns[GT_CLASS_COMPUTE]);
    uint64_t comm = covered_until(it->at_ns, until_ns, it->reached_ns[GT_CLASS_COMM]);
    uint64_t memory = covered_until(it->at_ns, until_ns, it->reached_ns[GT_CLASS_MEMORY]);
    uint64_t both = larger(compute, comm);
    it->class_ns[GT_CLASS_COMPUTE] += compute;
    it->class_ns[GT_CLASS_COMM] += comm;
    it->class_ns[GT_CLASS_MEMORY] += memory;
    it->exposed_comm_ns += both - compute;
    it->exposed_memory_ns += larger(both, memory) - both;
    it->at_ns = until_ns;
}

void gt_account_sweep_init(struct gt_account_sweep *it) {
    *it = (struct gt_account_sweep){.at_ns = INT64_MIN};
    for (size_t class = 0; class < GT_ARRAY_COUNT(it->reached_ns); class ++)
        it->reached_ns[class] = INT64_MIN;
}

static int64_t latest_of(const struct gt_account_sweep *it) {
    int64_t latest_ns = INT64_MIN;
    for (size_t class = 0; class < GT_ARRAY_COUNT(it->reached_ns); class ++)
        latest_ns = it->reached_ns[class] > latest_ns ? it->reached_ns[class] : latest_ns;
    return latest_ns;
}

/* An op while no other runs, as on one stream most do: all of its time is its own, and accounted for at once. */
static inline void take_alone(struct gt_account_sweep *it, enum gt_class class, int64_t start_ns, int64_t end_ns) {
    uint64_t length_ns = (uint64_t)end_ns - (uint64_t)start_ns;
    it->class_ns[class] += length_ns;
    it->exposed_comm_ns += class == GT_CLASS_COMM ? length_ns : 0;
    it->exposed_memory_ns += class == GT_CLASS_MEMORY ? length_ns : 0;
    it->at_ns = it->reached_ns[class] = end_ns;
}

void gt_account_sweep_take(struct gt_account_sweep *accountant, const struct gt_view *view, size_t first, size_t end) {
    struct gt_account_sweep it = *accountant; /* a copy stays in registers */
    int64_t latest_ns = latest_of(&it);
    for (size_t i = first; i < end; i++) {
        int64_t op_start_ns = view->start_ns[i], op_end_ns = view->end_ns[i];
        enum gt_class class = gt_view_op_class(view, i);
        assert(op_start_ns >= it.at_ns);
        if (latest_ns > it.at_ns)
            settle(&it, op_start_ns);
        it.at_ns = op_start_ns;
        it.sum_ns = gt_ns_add(it.sum_ns, gt_ns_between(op_start_ns, op_end_ns));
        if (latest_ns <= op_start_ns && i + 1 < end && op_end_ns <= view->start_ns[i + 1]) {
            take_alone(&it, class, op_start_ns, op_end_ns);
            latest_ns = op_end_ns;
            continue;
        }
        it.reached_ns[class] = op_end_ns > it.reached_ns[class] ? op_end_ns : it.reached_ns[class];
        latest_ns = op_end_ns > latest_ns ? op_end_ns : latest_ns;
    }
    *accountant = it;
}

/* Disjoint lengths add up to less than 2^64, of which an int64 holds half. */
static int64_t saturated(uint64_t length_ns) {
    return length_ns > INT64_MAX ? INT64_MAX : (int64_t)length_ns;
}

struct gt_account gt_account_sweep_close(struct gt_account_sweep *it, int64_t start_ns, int64_t end_ns) {
    struct gt_account account = {0};
    int64_t *ns = account.ns;
    settle(it, INT64_MAX);
    ns[GT_AMOUNT_SPAN] = gt_ns_between(start_ns, end_ns);
    ns[GT_AMOUNT_COMPUTE] = saturated(it->class_ns[GT_CLASS_COMPUTE]);
    ns[GT_AMOUNT_COMM] = saturated(it->class_ns[GT_CLASS_COMM]);
    ns[GT_AMOUNT_MEMORY] = saturated(it->class_ns[GT_CLASS_MEMORY]);
    ns[GT_AMOUNT_EXPOSED_COMM] = saturated(it->exposed_comm_ns);
    ns[GT_AMOUNT_EXPOSED_MEMORY] = saturated(it->exposed_memory_ns);
    ns[GT_AMOUNT_OVERLAP] = saturated(it->class_ns[GT_CLASS_COMM] - it->exposed_comm_ns);
    ns[GT_AMOUNT_BUSY] =
        gt_ns_add(gt_ns_add(ns[GT_AMOUNT_COMPUTE], ns[GT_AMOUNT_EXPOSED_COMM]), ns[GT_AMOUNT_EXPOSED_MEMORY]);
    ns[GT_AMOUNT_IDLE] = gt_ns_between(ns[GT_AMOUNT_BUSY], ns[GT_AMOUNT_SPAN]);
    ns[GT_AMOUNT_SUM] = it->sum_ns;
    return account;
}

/* What of a device is charged. */
struct charged {
    const uint8_t *category; /* of the view */
    uint64_t *category_ns;
};

static void charge(void *context, size_t position, int64_t start_ns, int64_t end_ns) {
    struct charged *charged = context;
    charged->category_ns[charged->category[position]] += (uint64_t)end_ns - (uint64_t)start_ns;
}

/* What is charged to a class is what it has without those before it. */
static struct gt_account_sweep sweep_of_charges(const struct gt_view *view, const uint64_t *category_ns) {
    struct gt_account_sweep it;
    uint64_t charged_ns[3] = {0};
    gt_account_sweep_init(&it);
    for (size_t i = 0; i < view->labels->category_count; i++)
        charged_ns[view->labels->categories[i].time_class] += category_ns[i];
    it.class_ns[GT_CLASS_COMPUTE] = charged_ns[GT_CLASS_COMPUTE];
    it.exposed_comm_ns = charged_ns[GT_CLASS_COMM];
    it.exposed_memory_ns = charged_ns[GT_CLASS_MEMORY];
    return it;
}

/* One pass for both: each op is charged, and adds to its class what it has after the latest end before it. */
struct gt_account gt_account_of_device(const struct gt_view *view, const struct gt_view_device *device,
                                       uint64_t *category_ns) {
    struct charged charged = {view->category, category_ns};
    struct gt_charging charging = gt_charging_begin(view, device);
    uint64_t class_ns[3] = {0};
    int64_t sum_ns = 0;
    for (size_t i = device->first, end = i + device->count; i < end; i++) {
        int64_t op_start_ns = view->start_ns[i], op_end_ns = view->end_ns[i];
        enum gt_class class = gt_view_op_class(view, i);
        int64_t reached_ns = charging.reached_ns[class];
        class_ns[class] += covered_until(op_start_ns > reached_ns ? op_start_ns : reached_ns, INT64_MAX, op_end_ns);
        sum_ns = gt_ns_add(sum_ns, gt_ns_between(op_start_ns, op_end_ns));
        gt_charging_take(&charging, i, end, charge, &charged);
    }
    gt_charging_until(&charging, INT64_MAX, charge, &charged);
    struct gt_account_sweep it = sweep_of_charges(view, category_ns);
    it.class_ns[GT_CLASS_COMM] = class_ns[GT_CLASS_COMM];
    it.class_ns[GT_CLASS_MEMORY] = class_ns[GT_CLASS_MEMORY];
    it.sum_ns = sum_ns;
    return gt_account_sweep_close(&it, device->span_start_ns, device->span_end_ns);
}

struct accounting {
    struct gt_accounts *accounts;
    const struct gt_view *view;
};

static void account_device(void *context, size_t device) {
    const struct accounting *of = context;
    uint64_t *category_ns = of->accounts->category_ns + device * of->view->labels->category_count;
    of->accounts->by_device[device] = gt_account_of_device(of->view, &of->view->devices[device], category_ns);
}

enum gt_status gt_accounts_init(struct gt_accounts *accounts, const struct gt_view *view, struct gt_error *err) {
    size_t threads = gt_threads_slices(gt_threads_count(view->request->threads), view->op_count, 0);
    accounts->by_device = gt_mem_array(view->device_count, sizeof *accounts->by_device);
    accounts->category_ns =
        gt_mem_array(view->device_count * view->labels->category_count, sizeof *accounts->category_ns);
    if (accounts->by_device && accounts->category_ns) {
        gt_threads_parts(threads, view->device_count, account_device, &(struct accounting){accounts, view});
        return GT_OK;
    }
    gt_accounts_release(accounts);
    return gt_fail_memory(err);
}

void gt_accounts_release(struct gt_accounts *accounts) {
    gt_mem_free(accounts->by_device);
    gt_mem_free(accounts->category_ns);
    *accounts = (struct gt_accounts){0};
}
