/* Splits collectives into waiting and transfer: members leave together, so the shortest one is what the transfer takes.
 */
#include "ranks/rank_waits.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "events/comms.h"
#include "ranks/all_to_all.h"
#include "ranks/rank_items.h"

/* The rank from which a broadcast or scatter comes: it need not wait for anybody. GT_RANK_NONE: not known. */
static uint32_t root_of(const struct gt_rank_job *job, const struct gt_rank_collective *collective) {
    const struct gt_rank_set_group *group = &job->groups[collective->group];
    if (collective->op != GT_COMM_broadcast && collective->op != GT_COMM_scatter)
        return GT_RANK_NONE;
    for (size_t m = 0; m < collective->member_count; m++) {
        int64_t root = gt_rank_items_sizes(job, &job->items[job->members[collective->first_member + m].item]).root;
        if (root >= 0 && (uint64_t)root < group->member_count)
            return gt_rank_job_find(job, group->members[root]);
    }
    return GT_RANK_NONE;
}

/* ---- what a member needs ---- */

static int64_t shortest(const struct gt_rank_job *job, const struct gt_rank_collective *collective, uint32_t except) {
    int64_t least_ns = INT64_MAX;
    for (size_t m = 0; m < collective->member_count; m++) {
        const struct gt_rank_member *member = &job->members[collective->first_member + m];
        int64_t length_ns = gt_rank_job_length(job, member);
        if (member->rank != except && length_ns < least_ns)
            least_ns = length_ns;
    }
    return least_ns;
}

/* Of an all_to_all the member that moved its bytes fastest; GT_RANK_NONE: nobody knows, or none moved any. */
static uint32_t fastest(const struct gt_rank_job *job, const struct gt_rank_collective *collective) {
    uint32_t best = GT_RANK_NONE;
    if (collective->first_load == GT_RANK_NONE)
        return GT_RANK_NONE;
    for (size_t m = 0; m < collective->member_count; m++) {
        uint32_t number = collective->first_member + (uint32_t)m;
        const struct gt_rank_member *member = &job->members[number];
        int64_t load = gt_rank_job_load(job, member);
        if (load == 0)
            continue;
        if (best == GT_RANK_NONE ||
            (__int128)gt_rank_job_length(job, member) * gt_rank_job_load(job, &job->members[best]) <
                (__int128)gt_rank_job_length(job, &job->members[best]) * load)
            best = number;
    }
    return best;
}

static void measure_waits(struct gt_rank_job *job, struct gt_rank_collective *collective) {
    int64_t least_ns = shortest(job, collective, root_of(job, collective)), last_ns = INT64_MAX;
    uint32_t pace = fastest(job, collective);
    for (size_t m = 0; m < collective->member_count; m++) {
        struct gt_rank_member *member = &job->members[collective->first_member + m];
        int64_t length_ns = gt_rank_job_length(job, member), need_ns = least_ns;
        if (pace != GT_RANK_NONE) {
            const struct gt_rank_member *fast = &job->members[pace];
            int64_t paced_ns = (int64_t)((__int128)gt_rank_job_load(job, member) * gt_rank_job_length(job, fast) /
                                         gt_rank_job_load(job, fast));
            need_ns = paced_ns > least_ns ? paced_ns : least_ns;
        }
        if (collective->first_load != GT_RANK_NONE)
            job->loads[collective->first_load + m].need_ns = need_ns;
        member->wait_ns = length_ns > need_ns ? length_ns - need_ns : 0;
        collective->wait_ns += member->wait_ns;
        collective->skew_ns = member->wait_ns > collective->skew_ns ? member->wait_ns : collective->skew_ns;
        collective->transfer_ns = need_ns > collective->transfer_ns ? need_ns : collective->transfer_ns;
        if (length_ns < last_ns) {
            last_ns = length_ns;
            collective->last_rank = member->rank;
        }
    }
}

/* ---- bandwidth ---- */

static double known(uint64_t bytes) {
    return bytes == UINT64_MAX ? NAN : (double)bytes;
}

/* UINT64_MAX, not known, where the product does not fit. */
static uint64_t times(uint64_t bytes, uint64_t size) {
    uint64_t product;
    return __builtin_mul_overflow(bytes, size, &product) ? UINT64_MAX : product;
}

/* The bytes of all of it, as bandwidth is counted. */
static uint64_t whole_bytes(const struct gt_rank_job *job, const struct gt_rank_collective *collective) {
    const struct gt_rank_item_sizes item =
        gt_rank_items_sizes(job, &job->items[job->members[collective->first_member].item]);
    const struct gt_rank_set_group *group = &job->groups[collective->group];
    bool is_of_nccl = group->communicator != UINT64_MAX;
    uint64_t size = (uint64_t)group->size, most = 0;
    uint64_t in = item.in_bytes != UINT64_MAX ? item.in_bytes : item.out_bytes;
    uint64_t out = item.out_bytes != UINT64_MAX ? item.out_bytes : item.in_bytes;
    if (in == UINT64_MAX)
        return UINT64_MAX;
    switch ((enum gt_comm_op)collective->op) {
    case GT_COMM_all_gather:
        return is_of_nccl ? times(in, size) : out;
    case GT_COMM_reduce_scatter:
        return is_of_nccl ? times(in, size) : in;
    case GT_COMM_gather:
        return times(in, size);
    case GT_COMM_scatter:
        return times(out, size);
    case GT_COMM_all_to_all:
        for (size_t m = 0; m < collective->member_count; m++) {
            const struct gt_rank_item *other = &job->items[job->members[collective->first_member + m].item];
            uint64_t sent = gt_all_to_all_in(job, other), received = gt_all_to_all_out(job, other);
            if (sent == UINT64_MAX)
                return UINT64_MAX;
            most = sent > most ? sent : most;
            most = received > most ? received : most;
        }
        return most;
    default:
        return in;
    }
}

static double bus_bytes(const struct gt_rank_job *job, const struct gt_rank_collective *collective) {
    double whole = known(collective->bytes), size = (double)job->groups[collective->group].size;
    int64_t load = -1;
    switch ((enum gt_comm_op)collective->op) {
    case GT_COMM_all_reduce:
        return whole * 2 * (size - 1) / size;
    case GT_COMM_all_gather:
    case GT_COMM_reduce_scatter:
    case GT_COMM_gather:
    case GT_COMM_scatter:
        return whole * (size - 1) / size;
    case GT_COMM_all_to_all:
        for (size_t m = 0; m < collective->member_count; m++)
            if (gt_rank_job_load(job, &job->members[collective->first_member + m]) > load)
                load = gt_rank_job_load(job, &job->members[collective->first_member + m]);
        return load >= 0 ? (double)load : whole * (size - 1) / size;
    default:
        return whole;
    }
}

/* ---- groups ---- */

struct measured {
    uint32_t group;
    double busbw;
};

static int by_busbw(const void *a, const void *b) {
    const struct measured *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->busbw > y->busbw) - (x->busbw < y->busbw);
}

static bool sum_groups(struct gt_rank_job *job) {
    struct measured *list = gt_mem_uninitialised(job->collective_count, sizeof *list);
    size_t count = 0;
    if (!list)
        return false;
    for (size_t g = 0; g < job->group_count; g++)
        job->groups[g].busbw_p50 = NAN;
    for (size_t c = 0; c < job->collective_count; c++) {
        const struct gt_rank_collective *collective = &job->collectives[c];
        struct gt_rank_set_group *group = &job->groups[collective->group];
        for (size_t m = 0; m < collective->member_count; m++) {
            const struct gt_rank_member *member = &job->members[collective->first_member + m];
            group->wait_ns += member->wait_ns;
            group->transfer_ns += gt_rank_job_length(job, member) - member->wait_ns;
        }
        if (!isnan(collective->bus_bytes) && collective->transfer_ns > 0)
            list[count++] =
                (struct measured){collective->group, collective->bus_bytes / (double)collective->transfer_ns};
    }
    qsort(list, count, sizeof *list, by_busbw);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && list[end].group == list[i].group; end++)
            continue;
        size_t last = end - i - 1;
        job->groups[list[i].group].busbw_p50 = (list[i + last / 2].busbw + list[i + (last + 1) / 2].busbw) / 2;
    }
    gt_mem_free(list);
    return true;
}

/* A kernel in several messages waits as in the one with the least wait; of equal ones the first. */
static void choose_members(struct gt_rank_job *job) {
    for (uint32_t i = 0; i < job->member_count; i++) {
        const struct gt_rank_member *member = &job->members[i];
        uint32_t *chosen = &job->ranks[member->rank].kernel_member[member->kernel];
        if (*chosen == GT_RANK_NONE || member->wait_ns < job->members[*chosen].wait_ns)
            *chosen = i;
    }
}

static void measure_some(void *context, size_t first, size_t end) {
    struct gt_rank_job *job = context;
    for (size_t c = first; c < end; c++) {
        struct gt_rank_collective *collective = &job->collectives[c];
        measure_waits(job, collective);
        collective->bytes = whole_bytes(job, collective);
        collective->bus_bytes = bus_bytes(job, collective);
    }
}

bool gt_rank_waits_measure(struct gt_rank_job *job) {
    gt_rank_job_share(job, job->collective_count, measure_some, job);
    choose_members(job);
    return sum_groups(job);
}
