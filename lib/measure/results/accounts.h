/* The account of a set of ops: what of a span was compute, exposed communication, exposed memory and idle time. */
#ifndef GT_MEASURE_RESULTS_ACCOUNTS_H
#define GT_MEASURE_RESULTS_ACCOUNTS_H

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

/* Keys of the columns that hold them, in all tables: "span_ns". */
extern const char *const gt_amount_keys[GT_AMOUNT_COUNT];

struct gt_account {
    int64_t ns[GT_AMOUNT_COUNT];
};

/* Takes ops in order of start, then closes. */
struct gt_account_sweep {
    int64_t at_ns;         /* up to here all is accounted for: the start of the latest op, or its end */
    int64_t reached_ns[3]; /* by enum gt_class: the latest end so far */
    uint64_t class_ns[3];  /* the same: union of its ops */
    uint64_t exposed_comm_ns, exposed_memory_ns;
    int64_t sum_ns;
};

void gt_account_sweep_init(struct gt_account_sweep *accountant);
/* The ops from one position to before another. */
void gt_account_sweep_take(struct gt_account_sweep *accountant, const struct gt_view *view, size_t first, size_t end);
/* The span holds all that was taken. */
struct gt_account gt_account_sweep_close(struct gt_account_sweep *accountant, int64_t start_ns, int64_t end_ns);

/* All ops of a device, over its span, and its wall time by category, which is added: every instant is charged to one op
   (charging.h). */
struct gt_account gt_account_of_device(const struct gt_view *view, const struct gt_view_device *device,
                                       uint64_t *category_ns);

struct gt_accounts {
    struct gt_account *by_device; /* of the view */
    uint64_t *category_ns;        /* the same, then by category of the labels: wall time */
};
enum gt_status gt_accounts_init(struct gt_accounts *accounts, const struct gt_view *view, struct gt_error *err);
void gt_accounts_release(struct gt_accounts *accounts);

#endif
