/* Occupancy as CUDA allots multiprocessors: registers by warp in units of 256, warps in groups of 4, shared memory in
   units of 128 bytes. */
#include "measure/efficiency/launch_facts.h"

#include <math.h>

enum { WARP = 32, REGISTER_UNIT = 256, WARP_UNIT = 4, SHARED_UNIT = 128 };

static int64_t ceil_to(int64_t value, int64_t unit) {
    return (value + unit - 1) / unit * unit;
}

static int64_t product3(uint32_t x, uint32_t y, uint32_t z) {
    gt_big product = gt_work_math_mul(gt_work_math_mul(x, y), z);
    bool is_known = x != UINT32_MAX && y != UINT32_MAX && z != UINT32_MAX;
    return is_known && gt_work_math_fits(product) ? (int64_t)product : -1;
}

static void limit_to(struct gt_launch_facts *facts, int64_t blocks, const char *limiter) {
    if (facts->resident >= 0 && facts->resident <= blocks)
        return;
    facts->resident = blocks;
    facts->limiter = limiter;
}

/* Blocks at once by each limit; of several that are equal the first is named. */
static void find_resident(struct gt_launch_facts *facts, const struct gt_multiprocessor *limits, uint32_t registers,
                          uint64_t shared_bytes) {
    int64_t warps = (facts->threads + WARP - 1) / WARP;
    if (registers) {
        int64_t by_registers = limits->registers / ceil_to((int64_t)registers * WARP, REGISTER_UNIT);
        limit_to(facts, by_registers / WARP_UNIT * WARP_UNIT / warps, "registers");
    }
    if (shared_bytes)
        limit_to(facts,
                 limits->shared_bytes / ceil_to((int64_t)(shared_bytes + limits->block_shared_bytes), SHARED_UNIT),
                 "shared_memory");
    limit_to(facts, limits->warps / warps, "warps");
    limit_to(facts, limits->blocks, "blocks");
    facts->occupancy = (double)(facts->resident * warps) / limits->warps;
}

/* Multiprocessors that have nothing to do in the last wave, or where one wave has room for all, as a part of those that
   have the most blocks. */
static void find_waves(struct gt_launch_facts *facts, int64_t multiprocessors) {
    double blocks = (double)facts->blocks, all = (double)multiprocessors;
    if (facts->resident < 1 || multiprocessors < 1 || facts->blocks < 1)
        return;
    facts->waves = blocks / (all * (double)facts->resident);
    facts->tail = facts->waves > 1 ? 1 - facts->waves / ceil(facts->waves) : 1 - blocks / (all * ceil(blocks / all));
}

/* What a block asks for; UINT64_MAX: not known. Nsight's sum is what the multiprocessor was set to, which may be more.
 */
static uint64_t shared_bytes_of(const struct gt_kernel_configs *configs, uint32_t row) {
    uint64_t fixed = configs->static_shared_bytes[row], dynamic = configs->dynamic_shared_bytes[row];
    if (fixed == UINT64_MAX && dynamic == UINT64_MAX)
        return configs->shared_bytes[row];
    return (fixed == UINT64_MAX ? 0 : fixed) + (dynamic == UINT64_MAX ? 0 : dynamic);
}

struct gt_launch_facts gt_launch_facts_of(const struct gt_kernel_configs *configs, uint32_t row,
                                          const struct gt_gpu_peaks *peaks) {
    const struct gt_multiprocessor *limits = &peaks->limits;
    struct gt_launch_facts facts = {.blocks = -1, .threads = -1, .resident = -1, .waves = -1, .tail = -1};
    if (row == GT_NO_ROW)
        return facts;
    uint64_t shared_bytes = shared_bytes_of(configs, row);
    facts.blocks = product3(configs->grid_x[row], configs->grid_y[row], configs->grid_z[row]);
    facts.threads = product3(configs->block_x[row], configs->block_y[row], configs->block_z[row]);
    bool is_known = facts.threads > 0 && facts.threads <= UINT32_MAX && configs->registers[row] != UINT32_MAX &&
                    shared_bytes <= UINT32_MAX && limits->warps && limits->blocks && limits->registers &&
                    limits->shared_bytes;
    if (!is_known)
        return facts;
    find_resident(&facts, limits, configs->registers[row], shared_bytes);
    find_waves(&facts, peaks->multiprocessors);
    return facts;
}
