/* Accounts of sets of ops: intervals by kind of time come in, their lengths without each other go out. Linear. */
#include "measure/account.h"

#include <assert.h>

#include "measure/measure.h"

void gt_accountant_release(struct gt_accountant *accountant) {
    for (size_t i = 0; i < GT_ARRAY_COUNT(accountant->of_class); i++)
        gt_intervals_release(&accountant->of_class[i]);
    gt_intervals_release(&accountant->compute_or_comm);
}

void gt_accountant_clear(struct gt_accountant *accountant) {
    for (size_t i = 0; i < GT_ARRAY_COUNT(accountant->of_class); i++)
        gt_intervals_clear(&accountant->of_class[i]);
    accountant->sum_ns = 0;
}

void gt_accountant_take(struct gt_accountant *accountant, const struct gt_view *view, size_t position) {
    enum gt_class class = gt_op_class(view, position);
    gt_intervals_add(&accountant->of_class[class], view->start_ns[position], view->end_ns[position]);
    accountant->sum_ns = gt_ns_add(accountant->sum_ns, gt_op_ns(view, position));
}

bool gt_accountant_close(struct gt_accountant *accountant, int64_t start_ns, int64_t end_ns,
                         struct gt_account *account) {
    const struct gt_intervals *compute = &accountant->of_class[GT_CLASS_COMPUTE];
    const struct gt_intervals *comm = &accountant->of_class[GT_CLASS_COMM];
    const struct gt_intervals *memory = &accountant->of_class[GT_CLASS_MEMORY];
    gt_intervals_union(&accountant->compute_or_comm, compute, comm);
    if (compute->failed || comm->failed || memory->failed || accountant->compute_or_comm.failed)
        return false;
    int64_t *ns = account->ns;
    *account = (struct gt_account){0};
    ns[GT_AMOUNT_SPAN] = gt_ns_between(start_ns, end_ns);
    ns[GT_AMOUNT_COMPUTE] = gt_intervals_length(compute);
    ns[GT_AMOUNT_COMM] = gt_intervals_length(comm);
    ns[GT_AMOUNT_MEMORY] = gt_intervals_length(memory);
    ns[GT_AMOUNT_EXPOSED_COMM] = gt_intervals_minus_length(comm, compute);
    ns[GT_AMOUNT_EXPOSED_MEMORY] = gt_intervals_minus_length(memory, &accountant->compute_or_comm);
    ns[GT_AMOUNT_OVERLAP] = gt_intervals_common_length(comm, compute);
    ns[GT_AMOUNT_BUSY] =
        gt_ns_add(gt_ns_add(ns[GT_AMOUNT_COMPUTE], ns[GT_AMOUNT_EXPOSED_COMM]), ns[GT_AMOUNT_EXPOSED_MEMORY]);
    ns[GT_AMOUNT_IDLE] = gt_ns_between(ns[GT_AMOUNT_BUSY], ns[GT_AMOUNT_SPAN]);
    ns[GT_AMOUNT_SUM] = accountant->sum_ns;
    return true;
}

bool gt_accountant_device(struct gt_accountant *accountant, const struct gt_view *view,
                          const struct gt_view_device *device, struct gt_account *account) {
    gt_accountant_clear(accountant);
    for (size_t i = device->first; i < device->first + device->count; i++)
        gt_accountant_take(accountant, view, i);
    if (!gt_accountant_close(accountant, device->span_start_ns, device->span_end_ns, account))
        return false;
    /* Spans of centuries are damage, and their sums may have been cut off. */
    assert(account->ns[GT_AMOUNT_SPAN] > INT64_MAX / 4 ||
           account->ns[GT_AMOUNT_BUSY] == gt_device_busy_ns(view, device));
    return true;
}
