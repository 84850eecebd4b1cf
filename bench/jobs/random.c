/* A job drawn from a seed: its shape, at most one culprit, maybe an episode, and what its traces show of it. */
#include "job.h"

struct dice {
    uint64_t seed, rolled;
};

static double roll(struct dice *dice) {
    return draw_unit(draw_key(dice->seed, 100, 0, dice->rolled++));
}

static bool chance(struct dice *dice, double share) {
    return roll(dice) < share;
}

static uint32_t between(struct dice *dice, uint32_t least, uint32_t most) {
    return least + (uint32_t)(roll(dice) * (most - least + 1));
}

static uint32_t power(struct dice *dice, uint32_t most_bits) {
    return 1u << between(dice, 0, most_bits);
}

static void draw_shape(struct options *options, struct dice *dice) {
    do {
        options->ranks = 4u << between(dice, 0, 3);
        options->tp = power(dice, 2);
        options->pp = power(dice, 2);
    } while (options->tp * options->pp > options->ranks);
    options->dp = options->ranks / (options->tp * options->pp);
    options->ep = options->dp > 1 && chance(dice, 0.3) ? options->dp >> (options->dp > 2 && chance(dice, 0.5)) : 1;
    options->steps = between(dice, 6, 10);
    options->micro_batches = options->pp > 1 ? between(dice, options->pp, 2 * options->pp) : between(dice, 1, 2);
    options->layers = between(dice, 1, 3);
    options->kernels = between(dice, 2, 6);
    options->kernel_ns = between(dice, 15000, 60000);
    options->gpus_per_host = 4u << between(dice, 0, 1);
    options->has_overlap = chance(dice, 0.5);
    options->has_sharding = chance(dice, 0.3);
    options->has_gpipe = chance(dice, 0.3);
    options->has_broadcast = chance(dice, 0.1);
    options->has_graph = chance(dice, 0.03);
    options->has_shared_gpu = chance(dice, 0.02);
}

static void draw_culprit(struct options *options, struct dice *dice) {
    static const enum fault_kind kinds[] = {FAULT_MORE, FAULT_SLOWER, FAULT_HOST};
    double strength = roll(dice);
    struct fault fault = {.kind = kinds[between(dice, 0, 2)],
                          .rank = between(dice, 0, options->ranks - 1),
                          .factor = 1.03 + 0.97 * strength * strength};
    if (options->ep > 1 && chance(dice, 0.4)) {
        fault.kind = FAULT_HOT_EXPERT;
        fault.factor = 1.5 / options->ep + (0.9 - 1.5 / options->ep) * roll(dice);
        fault.factor = fault.factor > 0.9 ? 0.9 : fault.factor;
    }
    if (chance(dice, 0.65))
        options->faults[options->fault_count++] = fault;
}

static void draw_others(struct options *options, struct dice *dice) {
    struct fault episode = {.kind = chance(dice, 0.5) ? FAULT_EPISODE_HOST : FAULT_EPISODE_COMPUTE,
                            .rank = between(dice, 0, options->ranks - 1),
                            .step = between(dice, 1, options->steps - 2),
                            .ns = (int64_t)(3e6 + 17e6 * roll(dice))};
    struct fault link = {.kind = FAULT_SLOW_LINK, .rank = UINT32_MAX, .factor = 1.5 + 2 * roll(dice), .group = "0"};
    const char *kind = options->tp > 1 ? "tp0" : options->dp > 1 ? "dp0" : "pp0";
    for (uint32_t i = 0; kind[i]; i++)
        link.group[i] = kind[i];
    if (chance(dice, 0.25))
        options->faults[options->fault_count++] = episode;
    if (chance(dice, 0.08))
        options->faults[options->fault_count++] = link;
}

static void draw_traces(struct options *options, struct dice *dice) {
    double noise = roll(dice);
    options->noise = 0.002 + 0.05 * noise * noise;
    options->chunk_ns = chance(dice, 0.3) ? between(dice, 1000, 20000) : 0;
    options->has_skew = chance(dice, 0.8);
    options->drift_ppm = chance(dice, 0.5) ? 50 * roll(dice) : 0;
    options->has_windows_apart = chance(dice, 0.25);
    options->has_gzip = chance(dice, 0.1);
    options->has_local_peers = chance(dice, 0.5);
    options->has_desync = chance(dice, 0.05);
    options->desync_rank = between(dice, 0, options->ranks - 1);
    options->desync_step = between(dice, 1, options->steps - 2);
    options->desync_adds = chance(dice, 0.5);
    options->has_seq = !options->has_desync && chance(dice, 0.3);
    options->has_comms_id = !options->has_desync && chance(dice, 0.2);
}

void options_draw(struct options *options, uint64_t seed) {
    struct dice dice = {.seed = seed};
    options->seed = seed;
    options->fault_count = 0;
    draw_shape(options, &dice);
    draw_culprit(options, &dice);
    draw_others(options, &dice);
    draw_traces(options, &dice);
}
