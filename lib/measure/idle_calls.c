/* Idle time by what the launching thread was in, below everything else that is recorded: calls of the C library that
   can block, and of MPI. Each instant counts for the outermost of them. */
#include <stdlib.h>

#include "base/mem.h"
#include "measure/results/grouping.h"
#include "measure/results/idle.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"kind", "Kind", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"name", "Call", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_NAME},
    {"count", "Gaps", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"longest_ns", "Longest", GT_UNIT_NS, NULL, 0},
    {"share", "Share of host idle", GT_UNIT_SHARE, "host-caused idle time", GT_COLUMN_BAR},
};

/* Part of a call that no other call is around. Those of a thread do not overlap. */
struct piece {
    int64_t start_ns, end_ns;
    uint32_t thread, call;
};

struct sum {
    uint32_t device; /* of the view */
    gt_strid name, domain;
    size_t gaps;
    __int128 total_ns;
    int64_t longest_ns;
    size_t last_gap; /* one more than the number of the last that counted */
    int64_t gap_ns;  /* in that one */
};

struct summing {
    const struct gt_view *view;
    const struct gt_idle *idle;
    struct piece *pieces;
    size_t piece_count;
    struct gt_grouping sums;
};

/* ---- pieces ---- */

static int by_start(const void *a, const void *b) {
    const struct piece *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

/* What is inside another call is dropped, what reaches beyond it begins where that ends. */
static bool make_pieces(struct summing *it) {
    const struct gt_host_calls *calls = &it->view->store->host_calls;
    size_t kept = 0;
    it->pieces = gt_mem_uninitialised(calls->count, sizeof *it->pieces);
    if (!it->pieces)
        return false;
    for (uint32_t i = 0; i < calls->count; i++)
        if (calls->thread[i] != GT_NO_TRACK && calls->end_ns[i] > calls->start_ns[i])
            it->pieces[it->piece_count++] = (struct piece){calls->start_ns[i], calls->end_ns[i], calls->thread[i], i};
    if (it->piece_count)
        qsort(it->pieces, it->piece_count, sizeof *it->pieces, by_start);
    for (size_t i = 0; i < it->piece_count; i++) {
        struct piece piece = it->pieces[i];
        if (kept && it->pieces[kept - 1].thread == piece.thread && it->pieces[kept - 1].end_ns > piece.start_ns)
            piece.start_ns = it->pieces[kept - 1].end_ns;
        if (piece.end_ns > piece.start_ns)
            it->pieces[kept++] = piece;
    }
    it->piece_count = kept;
    return true;
}

/* The first piece of a thread that ends after a moment. */
static size_t find_piece(const struct summing *it, uint32_t thread, int64_t time_ns) {
    size_t first = 0, end = it->piece_count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const struct piece *piece = &it->pieces[middle];
        if (piece->thread < thread || (piece->thread == thread && piece->end_ns <= time_ns))
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* ---- gaps ---- */

static bool add_part(struct summing *it, size_t device, size_t gap, uint32_t call, int64_t ns) {
    const struct gt_host_calls *calls = &it->view->store->host_calls;
    bool is_new;
    struct sum *sum =
        gt_grouping_find(&it->sums, device, (uint64_t)calls->domain[call] << 32 | calls->name[call], &is_new);
    if (!sum)
        return false;
    if (is_new)
        *sum = (struct sum){.device = (uint32_t)device, .name = calls->name[call], .domain = calls->domain[call]};
    if (sum->last_gap != gap + 1) {
        sum->gaps++;
        sum->gap_ns = 0;
    }
    sum->last_gap = gap + 1;
    sum->gap_ns = gt_ns_add(sum->gap_ns, ns);
    sum->longest_ns = sum->gap_ns > sum->longest_ns ? sum->gap_ns : sum->longest_ns;
    sum->total_ns += ns;
    return true;
}

static bool add_gap(struct summing *it, size_t device, size_t number) {
    struct gt_idle_cpu_part part;
    if (gt_idle_gap_cause(it->idle, number) != GT_IDLE_HOST || !gt_idle_gap_cpu_part(it->idle, number, &part))
        return true;
    for (size_t i = find_piece(it, part.thread, part.start_ns);
         i < it->piece_count && it->pieces[i].thread == part.thread && it->pieces[i].start_ns < part.end_ns; i++) {
        int64_t start_ns = it->pieces[i].start_ns > part.start_ns ? it->pieces[i].start_ns : part.start_ns;
        int64_t end_ns = it->pieces[i].end_ns < part.end_ns ? it->pieces[i].end_ns : part.end_ns;
        if (!add_part(it, device, number, it->pieces[i].call, gt_ns_between(start_ns, end_ns)))
            return false;
    }
    return true;
}

static bool add_gaps(struct summing *it) {
    for (size_t d = 0; d < it->idle->device_count; d++) {
        const struct gt_idle_device *device = &it->idle->devices[d];
        for (size_t i = device->first; i < device->first + device->count; i++)
            if (!add_gap(it, d, i))
                return false;
    }
    return true;
}

/* ---- rows ---- */

static int by_total(const void *a, const void *b, void *context) {
    const struct sum *x = a, *y = b;
    const struct gt_store *store = context;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    int order = gt_str_cmp(gt_store_string(store, x->domain), gt_store_string(store, y->domain));
    return order ? order : gt_str_cmp(gt_store_string(store, x->name), gt_store_string(store, y->name));
}

static __int128 host_ns(const struct gt_idle *idle, size_t device) {
    struct gt_idle_sum sums[GT_IDLE_CAUSE_COUNT];
    gt_idle_sum_causes(idle, device, sums);
    return sums[GT_IDLE_HOST].gaps.sum;
}

static void put_rows(struct summing *it, struct gt_table *table) {
    const struct gt_store *store = it->view->store;
    struct sum *sums = (void *)it->sums.list;
    if (it->sums.count)
        qsort_r(sums, it->sums.count, sizeof *sums, by_total, (void *)(uintptr_t)store);
    for (size_t i = 0; i < it->sums.count; i++) {
        struct gt_row row = gt_row_begin(table);
        gt_row_int(&row, "device", it->view->devices[sums[i].device].id);
        gt_row_text(&row, "kind", gt_store_string(store, sums[i].domain));
        gt_row_text(&row, "name", gt_store_string(store, sums[i].name));
        gt_row_count(&row, "count", sums[i].gaps);
        gt_row_int(&row, "total_ns", gt_ns_of_sum(sums[i].total_ns));
        gt_row_int(&row, "longest_ns", sums[i].longest_ns);
        gt_row_share(&row, "share", (double)sums[i].total_ns, (double)host_ns(it->idle, sums[i].device));
        gt_row_end(&row);
    }
}

enum gt_status gt_idle_calls_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct gt_table *table =
        gt_section_table(section, "idle_calls", "Idle by OS or MPI call", columns, GT_ARRAY_COUNT(columns));
    struct summing it = {.view = view, .sums = {.elem_bytes = sizeof(struct sum)}};
    table->screen_limit = 8;
    if (!gt_measure_asks(view, GT_FACT_HOST_CALLS) || !view->store->host_calls.count)
        return GT_OK;
    it.idle = gt_results_idle(view, err);
    if (!it.idle)
        return err->code;
    bool ok = make_pieces(&it) && add_gaps(&it);
    if (ok)
        put_rows(&it, table);
    gt_grouping_release(&it.sums);
    gt_mem_free(it.pieces);
    return ok ? GT_OK : gt_fail_memory(err);
}
