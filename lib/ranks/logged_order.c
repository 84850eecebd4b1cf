/* Compares logged collectives by one thing after another. */
#include "ranks/logged_order.h"

#include <stdlib.h>

#define ORDER(x, y) (((x) > (y)) - ((x) < (y)))

static int by_texts(const struct gt_logged_entry *x, struct gt_rank_text of_x, const struct gt_logged_entry *y,
                    struct gt_rank_text of_y) {
    if (x->summary == y->summary && of_x.first == of_y.first && of_x.bytes == of_y.bytes)
        return 0;
    return gt_str_cmp(gt_rank_summary_text(x->summary, of_x), gt_rank_summary_text(y->summary, of_y));
}

/* What has no number is known by its name. */
int gt_logged_order_group(const struct gt_logged_entry *x, const struct gt_logged_entry *y) {
    int order = ORDER(x->lane->communicator, y->lane->communicator);
    if (order || x->lane->communicator != UINT64_MAX)
        return order;
    return by_texts(x, x->lane->name, y, y->lane->name);
}

static int by_operation(const struct gt_logged_entry *x, const struct gt_logged_entry *y) {
    int order = ORDER(x->log->op, y->log->op);
    return order || x->log->op != GT_COMM_OTHER ? order : by_texts(x, x->log->name, y, y->log->name);
}

int gt_logged_order_number(const struct gt_logged_entry *x, const struct gt_logged_entry *y) {
    int order = gt_logged_order_group(x, y);
    order = order ? order : by_operation(x, y);
    return order ? order : ORDER(x->log->sequence, y->log->sequence);
}

int gt_logged_order_whole(const struct gt_logged_entry *x, const struct gt_logged_entry *y) {
    int order = gt_logged_order_number(x, y);
    order = order ? order : ORDER(x->lane->place, y->lane->place);
    order = order ? order : ORDER(x->log->peer, y->log->peer);
    order = order ? order : ORDER(x->log->bytes, y->log->bytes);
    order = order ? order : ORDER(x->log->length_ns, y->log->length_ns);
    return order ? order : by_texts(x, x->log->timing, y, y->log->timing);
}

int gt_logged_order_size(const struct gt_logged_entry *x, const struct gt_logged_entry *y) {
    int order = gt_logged_order_group(x, y);
    order = order ? order : by_operation(x, y);
    order = order ? order : ORDER(x->log->bytes, y->log->bytes);
    return order ? order : by_texts(x, x->log->timing, y, y->log->timing);
}

int gt_logged_order_rank(const struct gt_logged_entry *x, const struct gt_logged_entry *y) {
    int order = gt_logged_order_group(x, y);
    return order ? order : ORDER(x->lane->place, y->lane->place);
}

int gt_logged_order_series(const struct gt_logged_entry *x, const struct gt_logged_entry *y) {
    int order = gt_logged_order_rank(x, y);
    return order ? order : by_operation(x, y);
}

int gt_logged_order_link(const struct gt_logged_entry *x, const struct gt_logged_entry *y) {
    int order = gt_logged_order_rank(x, y);
    order = order ? order : ORDER(x->log->peer, y->log->peer);
    return order ? order : by_operation(x, y);
}

struct sorting {
    gt_logged_order *order;
};

static int by_order(const void *a, const void *b, void *context) {
    const struct gt_logged_entry *x = a, *y = b;
    const struct sorting *sorting = context;
    int order = sorting->order(x, y);
    order = order ? order : gt_logged_order_whole(x, y);
    if (order || x->summary == y->summary)
        return order ? order : ORDER(x->log, y->log);
    return ORDER(x->summary->head.input_number, y->summary->head.input_number);
}

void gt_logged_order_sort(struct gt_logged *logged, gt_logged_order *order) {
    struct sorting sorting = {order};
    qsort_r(logged->entries, logged->entry_count, sizeof *logged->entries, by_order, &sorting);
}
