/* Compares groups of one kind: transfers of collectives come in, which groups are slower than the others goes out.
 * Compared are sync collectives of the same op, a similar number of bytes (the same power of two), in groups of the
 * same description and size. */
#include "ranks/rank_speeds.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "events/comms.h"

enum { LEAST_COUNT = 3 }; /* collectives of a group: fewer say nothing about its link */

/* One collective. */
struct sample {
    uint32_t kind;  /* of its group */
    uint32_t class; /* op and power of two of its bytes */
    uint32_t group;
    uint32_t collective;
    double ns_per_byte;
};

/* The samples of one group in a class. */
struct run {
    size_t first, count;
    double median;
};

/* Over the sync collectives of a group: all of them, and those that are compared. */
struct sums {
    double all_ns, all_bytes;
    double actual_ns, usual_ns, bytes;
};

struct comparing {
    struct gt_rank_job *job;
    struct sample *samples;
    size_t count;
    struct run *runs; /* of one class, by median */
    size_t run_count;
    struct sums *sums; /* by group */
};

/* ---- kinds of groups ---- */

static int by_kind(const void *a, const void *b, void *context) {
    const struct gt_rank_set_group *groups = context;
    const struct gt_rank_set_group *x = &groups[*(const uint32_t *)a], *y = &groups[*(const uint32_t *)b];
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return gt_str_cmp(x->description, y->description);
}

/* Equal numbers for groups of the same description and size. */
static bool number_kinds(const struct gt_rank_job *job, uint32_t *kinds) {
    uint32_t *order = gt_mem_uninitialised(job->group_count, sizeof *order), kind = 0;
    if (!order)
        return false;
    for (uint32_t g = 0; g < job->group_count; g++)
        order[g] = g;
    if (job->group_count)
        qsort_r(order, job->group_count, sizeof *order, by_kind, job->groups);
    for (size_t i = 0; i < job->group_count; i++) {
        kind += i && by_kind(&order[i - 1], &order[i], job->groups) != 0;
        kinds[order[i]] = kind;
    }
    gt_mem_free(order);
    return true;
}

/* ---- samples ---- */

bool gt_rank_speeds_is_known(const struct gt_rank_collective *it) {
    return it->kind == GT_COMM_KIND_SYNC && it->transfer_ns > 0 && it->bytes != UINT64_MAX && it->bus_bytes > 0;
}

static void list_samples(struct comparing *it, const uint32_t *kinds) {
    for (uint32_t c = 0; c < it->job->collective_count; c++) {
        const struct gt_rank_collective *collective = &it->job->collectives[c];
        if (!gt_rank_speeds_is_known(collective))
            continue;
        it->sums[collective->group].all_ns += (double)collective->transfer_ns;
        it->sums[collective->group].all_bytes += collective->bus_bytes;
        it->samples[it->count++] =
            (struct sample){.kind = kinds[collective->group],
                            .class = (uint32_t)collective->op << 8 | (uint32_t)ilogb(collective->bus_bytes),
                            .group = collective->group,
                            .collective = c,
                            .ns_per_byte = (double)collective->transfer_ns / collective->bus_bytes};
    }
}

static int by_sample(const void *a, const void *b) {
    const struct sample *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->ns_per_byte < y->ns_per_byte || x->ns_per_byte > y->ns_per_byte)
        return x->ns_per_byte < y->ns_per_byte ? -1 : 1;
    return (x->collective > y->collective) - (x->collective < y->collective);
}

static int by_median(const void *a, const void *b) {
    const struct run *x = a, *y = b;
    if (x->median < y->median || x->median > y->median)
        return x->median < y->median ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* ---- one class ---- */

static void list_runs(struct comparing *it, size_t first, size_t end) {
    it->run_count = 0;
    for (size_t i = first, next; i < end; i = next) {
        for (next = i + 1; next < end && it->samples[next].group == it->samples[i].group; next++)
            continue;
        size_t count = next - i;
        if (count >= LEAST_COUNT)
            it->runs[it->run_count++] = (struct run){i, count, it->samples[i + (count - 1) / 2].ns_per_byte};
    }
    if (it->run_count)
        qsort(it->runs, it->run_count, sizeof *it->runs, by_median);
}

/* The median of the other groups' medians. */
static double usual_of(const struct comparing *it, size_t run) {
    size_t middle = (it->run_count - 2) / 2;
    return it->runs[middle < run ? middle : middle + 1].median;
}

static void compare_class(struct comparing *it) {
    for (size_t r = 0; r < it->run_count && it->run_count > 1; r++) {
        const struct run *run = &it->runs[r];
        double usual = usual_of(it, r);
        for (size_t i = run->first; i < run->first + run->count; i++) {
            const struct sample *sample = &it->samples[i];
            struct gt_rank_collective *collective = &it->job->collectives[sample->collective];
            double usual_ns = usual * collective->bus_bytes;
            struct sums *sums = &it->sums[sample->group];
            sums->actual_ns += (double)collective->transfer_ns;
            sums->usual_ns += usual_ns;
            sums->bytes += collective->bus_bytes;
            collective->slow_ns =
                usual_ns < (double)collective->transfer_ns ? (int64_t)((double)collective->transfer_ns - usual_ns) : 0;
        }
    }
}

/* ---- all ---- */

static void judge_groups(struct comparing *it) {
    struct gt_rank_job *job = it->job;
    for (size_t g = 0; g < job->group_count; g++) {
        struct gt_rank_set_group *group = &job->groups[g];
        const struct sums *sums = &it->sums[g];
        bool is_known = sums->usual_ns > 0;
        group->busbw = sums->all_ns > 0 ? sums->all_bytes / sums->all_ns : NAN;
        group->slow_factor = is_known ? sums->actual_ns / sums->usual_ns : NAN;
        group->usual_busbw = is_known ? sums->bytes / sums->usual_ns : NAN;
        group->gain_ns = GT_RANK_NO_NS;
    }
    for (size_t c = 0; c < job->collective_count; c++) {
        struct gt_rank_collective *collective = &job->collectives[c];
        struct gt_rank_set_group *group = &job->groups[collective->group];
        if (!(group->slow_factor >= GT_RANK_SPEEDS_SLOW))
            collective->slow_ns = 0;
        group->slow_ns += collective->slow_ns;
    }
}

bool gt_rank_speeds_compare(struct gt_rank_job *job) {
    uint32_t *kinds = gt_mem_uninitialised(job->group_count, sizeof *kinds);
    struct comparing it = {.job = job,
                           .samples = gt_mem_uninitialised(job->collective_count, sizeof *it.samples),
                           .runs = gt_mem_uninitialised(job->group_count, sizeof *it.runs),
                           .sums = gt_mem_array(job->group_count, sizeof *it.sums)};
    bool ok = kinds && it.samples && it.runs && it.sums && number_kinds(job, kinds);
    if (ok) {
        list_samples(&it, kinds);
        if (it.count)
            qsort(it.samples, it.count, sizeof *it.samples, by_sample);
        for (size_t i = 0, end; i < it.count; i = end) {
            for (end = i + 1; end < it.count && it.samples[end].kind == it.samples[i].kind &&
                              it.samples[end].class == it.samples[i].class;
                 end++)
                continue;
            list_runs(&it, i, end);
            compare_class(&it);
        }
        judge_groups(&it);
    }
    gt_mem_free(kinds);
    gt_mem_free(it.samples);
    gt_mem_free(it.runs);
    gt_mem_free(it.sums);
    return ok;
}

const struct gt_rank_set_group *gt_rank_speeds_slowest(const struct gt_rank_job *job, size_t *count) {
    const double least_share = 0.01; /* of the job: below this nothing is reported */
    const struct gt_rank_set_group *worst = NULL;
    *count = 0;
    for (size_t g = 0; g < job->group_count; g++) {
        const struct gt_rank_set_group *group = &job->groups[g];
        *count += group->slow_ns > 0;
        if (group->slow_ns > 0 && (!worst || group->slow_ns > worst->slow_ns))
            worst = group;
    }
    bool is_replayed = worst && worst->gain_ns != GT_RANK_NO_NS && job->replay_ns != GT_RANK_NO_NS;
    return is_replayed && (double)worst->gain_ns < least_share * (double)job->replay_ns ? NULL : worst;
}
