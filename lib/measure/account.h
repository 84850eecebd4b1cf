/* The account of a set of ops: what of a span was compute, exposed communication, exposed memory and idle time. */
#ifndef GT_MEASURE_ACCOUNT_H
#define GT_MEASURE_ACCOUNT_H

#include "base/interval.h"
#include "events/view.h"

enum gt_amount {
    GT_AMOUNT_SPAN,
    GT_AMOUNT_BUSY,
    GT_AMOUNT_IDLE,
    GT_AMOUNT_COMPUTE,
    GT_AMOUNT_COMM,
    GT_AMOUNT_MEMORY,
    GT_AMOUNT_EXPOSED_COMM,
    GT_AMOUNT_EXPOSED_MEMORY,
    GT_AMOUNT_OVERLAP, /* communication under compute */
    GT_AMOUNT_SUM,     /* of op durations */
    GT_AMOUNT_COUNT,
};

struct gt_account {
    int64_t ns[GT_AMOUNT_COUNT];
};

/* Takes ops in order of start, then closes; clearing makes it ready for the next set. Zero-initialise. */
struct gt_accountant {
    struct gt_intervals of_class[3]; /* by enum gt_class */
    struct gt_intervals compute_or_comm;
    int64_t sum_ns;
};

void gt_accountant_release(struct gt_accountant *accountant);
void gt_accountant_clear(struct gt_accountant *accountant);
void gt_accountant_take(struct gt_accountant *accountant, const struct gt_view *view, size_t position);
/* The span holds all that was taken. false: memory was short. */
bool gt_accountant_close(struct gt_accountant *accountant, int64_t start_ns, int64_t end_ns,
                         struct gt_account *account);

/* All ops of a device, over its span. */
bool gt_accountant_device(struct gt_accountant *accountant, const struct gt_view *view,
                          const struct gt_view_device *device, struct gt_account *account);

#endif
