/* Compares the compute of ranks kernel by kernel: sums by name, grid and block of two ranks come in, what of the
   difference is slower and what is more goes out. */
#include "ranks/rank_reasons.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "ranks/rank_blame.h"
#include "ranks/rank_sums.h"

static const char *const reason_keys[GT_REASON_COUNT] = {
    [GT_REASON_BYTES] = "bytes",
    [GT_REASON_SPREAD] = "spread",
    [GT_REASON_WINDOW] = "window",
    [GT_REASON_UNRESOLVED] = "unresolved",
};

int64_t gt_rank_reasons_compute_ns(const struct gt_rank_summary *summary) {
    int64_t ns[GT_PART_COUNT] = {0};
    if (summary->head.points)
        gt_rank_sums_until(summary, summary->head.points - 1, ns);
    return ns[GT_PART_COMPUTE];
}

bool gt_rank_reasons_divide(const struct gt_rank_compute *compute, int64_t charged_ns, int64_t *slower_ns,
                            int64_t *more_ns) {
    int64_t weights[2] = {compute->slower_ns > 0 ? compute->slower_ns : 0, compute->more_ns > 0 ? compute->more_ns : 0};
    int64_t shares[2];
    if (!weights[0] && !weights[1])
        return false;
    gt_rank_blame_divide(charged_ns, weights, 2, shares);
    *slower_ns = shares[0];
    *more_ns = shares[1];
    return true;
}

struct gt_str gt_rank_reasons_name(const struct gt_rank_job *job, uint32_t rank, size_t reason, int64_t charged_ns) {
    int64_t slower_ns, more_ns;
    if (reason >= GT_REASON_COUNT)
        return GT_STR("");
    if (reason >= GT_REASON_PARTS)
        return gt_str_of(reason_keys[reason]);
    if (reason == GT_PART_COMPUTE && rank != GT_RANK_NONE &&
        gt_rank_reasons_divide(&job->computes[rank], charged_ns, &slower_ns, &more_ns))
        return more_ns > slower_ns ? GT_STR("compute_more") : GT_STR("compute_slower");
    return gt_str_of(gt_rank_summary_parts[reason]);
}

struct gt_str gt_rank_reasons_usual_name(const struct gt_rank_job *job, uint32_t rank, size_t reason,
                                         int64_t charged_ns) {
    const struct gt_rank_compute *compute = &job->computes[rank];
    if (reason != GT_PART_COMPUTE || (compute->usual_slower_ns <= 0 && compute->usual_more_ns <= 0))
        return gt_rank_reasons_name(job, rank, reason, charged_ns);
    return compute->usual_more_ns > compute->usual_slower_ns ? GT_STR("compute_more") : GT_STR("compute_slower");
}

/* ---- work in order ---- */

/* The kernels of a rank, by name and configuration. */
struct sorted {
    const struct gt_rank_summary *summary;
    uint32_t *order;
};

static int by_config(const struct gt_rank_work *x, const struct gt_rank_work *y) {
    int order = memcmp(x->grid, y->grid, sizeof x->grid);
    return order ? order : memcmp(x->block, y->block, sizeof x->block);
}

static int by_name(const void *a, const void *b, void *context) {
    const struct gt_rank_summary *summary = context;
    const struct gt_rank_work *x = &summary->work[*(const uint32_t *)a], *y = &summary->work[*(const uint32_t *)b];
    int order = gt_str_cmp(gt_rank_summary_text(summary, x->name), gt_rank_summary_text(summary, y->name));
    return order ? order : by_config(x, y);
}

static bool sort_work(struct sorted *sorted, const struct gt_rank_summary *summary) {
    sorted->summary = summary;
    sorted->order = gt_mem_uninitialised(summary->work_count, sizeof *sorted->order);
    for (uint32_t i = 0; sorted->order && i < summary->work_count; i++)
        sorted->order[i] = i;
    if (sorted->order && summary->work_count)
        qsort_r(sorted->order, summary->work_count, sizeof *sorted->order, by_name, (void *)(uintptr_t)summary);
    return sorted->order != NULL;
}

static const struct gt_rank_work *work_at(const struct sorted *sorted, size_t place) {
    return place < sorted->summary->work_count ? &sorted->summary->work[sorted->order[place]] : NULL;
}

static struct gt_str name_of(const struct sorted *sorted, const struct gt_rank_work *work) {
    return gt_rank_summary_text(sorted->summary, work->name);
}

/* ---- two ranks ---- */

/* Kernels of one name and configuration; count 0: none. */
struct amount {
    int64_t count, ns;
};

struct comparing {
    const struct sorted *own, *other;
    bool is_usual;         /* a usual step, not all */
    __int128 slower_whole; /* with parts of a ns apart */
    long double slower_part;
    __int128 own_ns, other_ns;
    struct gt_str name; /* of the kernel at hand, and how much longer it is */
    __int128 name_ns;
    bool has_name;
    struct gt_rank_compute *result;
    bool has_kernel;
};

static void close_name(struct comparing *it) {
    if (it->has_name && (!it->has_kernel || it->name_ns > it->result->kernel_ns)) {
        it->result->kernel = it->name;
        it->result->kernel_ns = gt_ns_of_sum(it->name_ns);
        it->has_kernel = true;
    }
    it->name_ns = 0;
}

/* min(n, m) * (t / n - u / m), the rest of a division apart. */
static void add_slower(struct comparing *it, struct amount x, struct amount y) {
    bool is_fewer = x.count <= y.count;
    __int128 product = is_fewer ? (__int128)y.ns * x.count : (__int128)x.ns * y.count;
    int64_t divisor = is_fewer ? y.count : x.count;
    long double part = (long double)(int64_t)(product % divisor) / (long double)divisor;
    it->slower_whole += is_fewer ? x.ns - product / divisor : product / divisor - y.ns;
    it->slower_part += is_fewer ? -part : part;
}

static struct amount amount_of(const struct comparing *it, const struct gt_rank_work *work) {
    struct amount amount = {0, 0};
    if (work)
        amount = it->is_usual ? (struct amount){work->usual_count, work->usual_ns}
                              : (struct amount){work->count, work->total_ns};
    return amount;
}

static void take(struct comparing *it, const struct gt_rank_work *x, const struct gt_rank_work *y) {
    const struct gt_rank_work *any = x ? x : y;
    if (!any)
        return;
    struct gt_str name = name_of(x ? it->own : it->other, any);
    if (!it->has_name || !gt_str_eq(name, it->name)) {
        close_name(it);
        it->name = name;
        it->has_name = true;
    }
    struct amount own = amount_of(it, x), other = amount_of(it, y);
    it->own_ns += own.ns;
    it->other_ns += other.ns;
    it->name_ns += own.ns - other.ns;
    if (own.count && other.count)
        add_slower(it, own, other);
}

static int64_t floor_of(long double value) {
    int64_t whole = (int64_t)value;
    return whole - (value < (long double)whole);
}

static void compare(const struct sorted *own, const struct sorted *other, bool is_usual,
                    struct gt_rank_compute *result) {
    struct comparing it = {.own = own, .other = other, .is_usual = is_usual, .result = result};
    size_t i = 0, j = 0;
    while (i < own->summary->work_count || j < other->summary->work_count) {
        const struct gt_rank_work *x = work_at(own, i), *y = work_at(other, j);
        int order = !x ? 1 : !y ? -1 : gt_str_cmp(name_of(own, x), name_of(other, y));
        order = order || !x || !y ? order : by_config(x, y);
        take(&it, order <= 0 ? x : NULL, order >= 0 ? y : NULL);
        i += order <= 0;
        j += order >= 0;
    }
    close_name(&it);
    __int128 slower_ns = it.slower_whole + floor_of(it.slower_part + 1e-9L);
    result->slower_ns = gt_ns_of_sum(slower_ns);
    result->more_ns = gt_ns_of_sum(it.own_ns - it.other_ns - slower_ns);
}

/* ---- whom to compare with ---- */

static int by_compute(const void *a, const void *b, void *context) {
    const struct gt_rank_job *job = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int64_t x_ns = gt_rank_reasons_compute_ns(job->ranks[x].summary);
    int64_t y_ns = gt_rank_reasons_compute_ns(job->ranks[y].summary);
    if (x_ns != y_ns)
        return x_ns < y_ns ? -1 : 1;
    return (x > y) - (x < y);
}

bool gt_rank_reasons_find(struct gt_rank_job *job) {
    size_t count = job->rank_count, middle = count > 1 ? (count - 2) / 2 : 0;
    uint32_t *order = gt_mem_uninitialised(count, sizeof *order);
    struct sorted *sorted = gt_mem_array(count, sizeof *sorted);
    job->computes = gt_arena_array(&job->arena, count, sizeof *job->computes);
    bool ok = order && sorted && job->computes;
    for (uint32_t r = 0; ok && r < count; r++) {
        order[r] = r;
        ok = sort_work(&sorted[r], job->ranks[r].summary);
    }
    if (ok)
        qsort_r(order, count, sizeof *order, by_compute, job);
    for (size_t place = 0; ok && place < count; place++) {
        struct gt_rank_compute *result = &job->computes[order[place]];
        result->reference = count < 2 ? GT_RANK_NONE : order[middle + (middle >= place)];
        if (result->reference == GT_RANK_NONE)
            continue;
        struct gt_rank_compute usual = {0};
        compare(&sorted[order[place]], &sorted[result->reference], false, result);
        compare(&sorted[order[place]], &sorted[result->reference], true, &usual);
        result->usual_slower_ns = usual.slower_ns;
        result->usual_more_ns = usual.more_ns;
    }
    for (size_t r = 0; sorted && r < count; r++)
        gt_mem_free(sorted[r].order);
    gt_mem_free(sorted);
    gt_mem_free(order);
    return ok;
}
