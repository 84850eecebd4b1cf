/* Sums what kernels lose by name and claims it. */
#include "measure/findings/lost_kernels.h"

#include <stdlib.h>

#include "base/mem.h"
#include "measure/findings/saving.h"

/* ---- sums by name ---- */

struct search {
    struct gt_evidence *evidence;
    struct gt_kernel_roofs roofs;
    gt_lost_kernels_part *part_of;
    double *part;    /* by position */
    uint32_t *place; /* by name: number in the list + 1 */
    struct gt_lost_kernel *items;
    size_t count, capacity;
    bool failed;
};

static struct gt_lost_kernel *kernel_of(struct search *search, gt_strid name) {
    if (!search->place[name]) {
        struct gt_lost_kernel *items = gt_mem_room(search->items, search->count, &search->capacity, sizeof *items);
        search->failed |= !items;
        if (!items)
            return NULL;
        search->items = items;
        items[search->count] = (struct gt_lost_kernel){.name = name};
        search->place[name] = (uint32_t)++search->count;
    }
    return &search->items[search->place[name] - 1];
}

static void add_op(struct search *search, size_t position) {
    const struct gt_view *view = search->roofs.view;
    const struct gt_ledger *ledger = &search->evidence->ledger;
    int64_t left_ns = gt_ledger_op_left_ns(ledger, position);
    if (left_ns <= 0 || gt_ledger_op_is_claimed(ledger, position) || gt_view_op_kind(view, position) != GT_OP_KERNEL ||
        gt_view_op_class(view, position) != GT_CLASS_COMPUTE)
        return;
    struct gt_kernel_roof roof = gt_kernel_roofs_of(&search->roofs, position);
    double part = roof.share < 0 ? 0 : search->part_of(&search->roofs, position, &roof);
    struct gt_lost_kernel *kernel = part > 0 ? kernel_of(search, view->name[position]) : NULL;
    if (!kernel)
        return;
    double lost_ns = part * (double)left_ns;
    search->part[position] = part;
    kernel->count++;
    kernel->ns = gt_ns_add(kernel->ns, left_ns);
    kernel->lost_ns += lost_ns;
    kernel->share_ns += roof.share * (double)left_ns;
    if (lost_ns > kernel->lost_max) {
        kernel->lost_max = lost_ns;
        kernel->roof = roof;
        kernel->position = position;
    }
}

static int by_loss(const void *a, const void *b) {
    const struct gt_lost_kernel *x = a, *y = b;
    if (x->lost_ns != y->lost_ns)
        return x->lost_ns > y->lost_ns ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

static bool is_listed(const struct gt_lost_kernels *lost, gt_strid name) {
    for (size_t i = 0; i < lost->count; i++)
        if (lost->items[i].name == name)
            return true;
    return false;
}

static void claim_listed(struct search *search, const struct gt_lost_kernels *lost) {
    struct gt_ledger *ledger = &search->evidence->ledger;
    const struct gt_view *view = search->roofs.view;
    for (size_t i = 0; i < view->op_count; i++)
        if (search->part[i] > 0 && is_listed(lost, view->name[i]))
            gt_ledger_claim_op(ledger, (uint32_t)i,
                               (int64_t)(search->part[i] * (double)gt_ledger_op_left_ns(ledger, i)));
}

static void take_most(struct search *search, struct gt_lost_kernels *lost) {
    double least_ns = gt_thresholds.lost_kernel_share * (double)search->evidence->ledger.span_ns;
    if (search->count)
        qsort(search->items, search->count, sizeof *search->items, by_loss);
    for (size_t i = 0; i < search->count && i < GT_LOST_KERNELS && search->items[i].lost_ns >= least_ns; i++)
        lost->items[lost->count++] = search->items[i];
}

static void search_all(struct search *search, struct gt_lost_kernels *lost) {
    const struct gt_view *view = search->roofs.view;
    search->part = gt_mem_array(view->op_count, sizeof *search->part);
    search->place = gt_mem_array(view->store->strings.count, sizeof *search->place);
    search->failed = !search->part || !search->place;
    for (size_t d = 0; d < view->device_count && !search->failed; d++) {
        const struct gt_view_device *device = &view->devices[d];
        gt_kernel_roofs_choose(&search->roofs, d);
        for (size_t i = device->first; i < device->first + device->count && !search->failed; i++)
            add_op(search, i);
    }
    if (search->failed) {
        gt_evidence_fail(search->evidence);
        return;
    }
    take_most(search, lost);
    if (lost->count)
        claim_listed(search, lost);
}

void gt_lost_kernels_claim(struct gt_evidence *evidence, gt_lost_kernels_part *part_of, struct gt_lost_kernels *lost) {
    struct search search = {.evidence = evidence, .part_of = part_of};
    *lost = (struct gt_lost_kernels){.count = 0};
    if (gt_kernel_roofs_init(&search.roofs, evidence))
        search_all(&search, lost);
    gt_kernel_roofs_release(&search.roofs);
    gt_mem_free(search.part);
    gt_mem_free(search.place);
    gt_mem_free(search.items);
}

/* ---- simulation ---- */

/* Of all ops of the name, since a change is about all of them. */
static double remaining_part(const struct gt_evidence *evidence, const struct gt_lost_kernel *kernel) {
    const struct gt_view *view = evidence->view;
    double all_ns = 0;
    for (size_t i = 0; i < view->op_count; i++)
        if (view->name[i] == kernel->name && view->start_ns[i] >= evidence->ledger.steady_ns)
            all_ns += (double)gt_view_op_ns(view, i);
    return all_ns > kernel->lost_ns ? 1 - kernel->lost_ns / all_ns : 0;
}

void gt_lost_kernels_settle(struct gt_evidence *evidence, struct gt_finding *finding,
                            const struct gt_lost_kernels *lost) {
    struct gt_str lines = {"", 0};
    for (size_t i = 0; i < lost->count && lines.ptr; i++) {
        struct gt_str glob = gt_saving_glob(evidence, gt_store_string(evidence->view->store, lost->items[i].name));
        if (!glob.len)
            lines = (struct gt_str){0};
        else
            lines = gt_arena_printf(evidence->arena, "%s%sscale:%s=%.4f", lines.ptr, i ? "\n" : "", glob.ptr,
                                    remaining_part(evidence, &lost->items[i]));
    }
    gt_saving_settle(evidence, finding, lines.ptr && lines.len ? lines.ptr : NULL);
}

/* ---- words ---- */

const char *gt_lost_kernels_say_roof(struct gt_evidence *evidence, const struct gt_lost_kernel *kernel) {
    static const char *const bounds[GT_BOUND_COUNT] = {[GT_BOUND_LATENCY] = "short, ",
                                                       [GT_BOUND_COMPUTE] = "compute-bound, ",
                                                       [GT_BOUND_MEMORY] = "memory-bound, ",
                                                       [GT_BOUND_UNKNOWN] = ""};
    return gt_arena_printf(evidence->arena, "%s of its roof (%swork known by %s)",
                           gt_say_share(evidence, kernel->share_ns, (double)kernel->ns), bounds[kernel->roof.bound],
                           gt_provenance_names[kernel->roof.provenance])
        .ptr;
}

bool gt_lost_kernels_find(struct gt_evidence *evidence, struct gt_finding *finding,
                          const struct gt_lost_kernels_finding *how) {
    struct gt_lost_kernels lost;
    gt_lost_kernels_claim(evidence, how->part_of, &lost);
    if (!lost.count)
        return false;
    gt_lost_kernels_settle(evidence, finding, &lost);
    how->describe(evidence, finding, &lost);
    how->advise(evidence, finding, &lost.items[0]);
    return true;
}
