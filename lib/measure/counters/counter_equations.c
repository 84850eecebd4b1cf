/* Makes the equations that kernels of a GPU must satisfy: each sample is the sum of the rates of what ran in it, by its
   share of the period, and idle time adds nothing. */
#include "measure/counters/counter_equations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/counters/counter_solve.h"

/* More kernels than this take part as one, those with the least time; most programs have a few hundred. */
enum { THINGS_MAX = 1024 };
enum { LEAST_PERIODS = 8, MEAN_QUARTERS = 1 }; /* in all; of an op */

struct equations {
    struct gt_counter_items *items;
    const struct gt_sampling *sampling;
    size_t count;       /* of things */
    size_t kernels;     /* with their own or a shared one */
    uint32_t *thing_of; /* by item */
    double *weights;    /* of each pair of things */
    double *targets;    /* of each metric and thing */
    double *shares;     /* by thing: of the sample at hand */
    uint32_t *touched;  /* things that it has */
    size_t *first;      /* as in struct gt_counter_solve */
    struct gt_counter_solve_pair *pairs;
    double *own, *rates;
};

static bool is_wanted(const struct gt_counter_item *item, int64_t period_ns) {
    return item->scope == GT_COUNTER_OF_KERNEL && item->method == GT_COUNTER_UNSAMPLED && item->ops &&
           (__int128)item->time_ns >= (__int128)LEAST_PERIODS * period_ns &&
           (__int128)item->time_ns * 4 >= (__int128)MEAN_QUARTERS * period_ns * (__int128)item->ops;
}

static bool some_wanted(const struct gt_counter_device *device) {
    for (size_t i = 0; i < device->item_count && device->period_ns > 0; i++)
        if (is_wanted(&device->items[i], device->period_ns))
            return true;
    return false;
}

/* ---- things ---- */

struct place {
    int64_t time_ns;
    uint32_t item;
};

static int by_time(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns > y->time_ns ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* Numbers the kernels by their time. */
static bool number_things(struct equations *equations) {
    const struct gt_counter_device *device = equations->items->device;
    struct place *places = gt_mem_array(device->item_count, sizeof *places);
    size_t count = 0;
    equations->thing_of = gt_mem_array(device->item_count, sizeof *equations->thing_of);
    bool is_done = places && equations->thing_of;
    for (size_t i = 0; i < device->item_count && is_done; i++)
        if (device->items[i].scope == GT_COUNTER_OF_KERNEL)
            places[count++] = (struct place){device->items[i].time_ns, (uint32_t)i};
    if (is_done && count)
        qsort(places, count, sizeof *places, by_time);
    for (size_t i = 0; i < count; i++)
        equations->thing_of[places[i].item] = (uint32_t)(i < THINGS_MAX ? i : THINGS_MAX - 1);
    equations->kernels = count;
    equations->count = count < THINGS_MAX ? count : THINGS_MAX;
    gt_mem_free(places);
    return is_done;
}

/* ---- equations ---- */

/* One without a metric that others have would say that it was 0. */
static bool is_complete(const struct gt_sampling *sampling, size_t sample) {
    for (int m = 0; m < GT_METRIC_PERCENTS; m++)
        if (sampling->values[m] && sampling->values[m][sample] == GT_SAMPLING_NONE)
            return false;
    return true;
}

static void take_sample(void *context, size_t sample, const struct gt_counter_part *parts, size_t count) {
    struct equations *equations = context;
    const struct gt_sampling *sampling = equations->sampling;
    double period_ns = (double)gt_ns_between(sampling->start_ns[sample], sampling->end_ns[sample]);
    size_t touched = 0, things = equations->count;
    bool is_used = is_complete(sampling, sample);
    for (size_t p = 0; p < count && is_used; p++) {
        if (parts[p].op == GT_NO_ROW)
            continue;
        uint32_t thing = equations->thing_of[gt_counter_items_of_kernel(equations->items, parts[p].op)];
        if (equations->shares[thing] == 0)
            equations->touched[touched++] = thing;
        equations->shares[thing] += (double)parts[p].ns / period_ns;
    }
    for (size_t i = 0; i < touched; i++) {
        uint32_t thing = equations->touched[i];
        double share = equations->shares[thing], *row = &equations->weights[thing * things];
        for (size_t k = 0; k < touched; k++)
            row[equations->touched[k]] += share * equations->shares[equations->touched[k]];
        for (int m = 0; m < GT_METRIC_PERCENTS; m++)
            if (sampling->values[m])
                equations->targets[(size_t)m * things + thing] +=
                    share * (double)sampling->values[m][sample] / GT_SAMPLING_PERCENT;
    }
    for (size_t i = 0; i < touched; i++)
        equations->shares[equations->touched[i]] = 0;
}

static bool has_room(struct equations *equations) {
    size_t things = equations->count;
    equations->weights = gt_mem_array(things * things, sizeof *equations->weights);
    equations->targets = gt_mem_array(things * GT_METRIC_PERCENTS, sizeof *equations->targets);
    equations->shares = gt_mem_array(things, sizeof *equations->shares);
    equations->touched = gt_mem_array(things, sizeof *equations->touched);
    equations->first = gt_mem_array(things + 1, sizeof *equations->first);
    equations->own = gt_mem_array(things, sizeof *equations->own);
    equations->rates = gt_mem_array(things, sizeof *equations->rates);
    return equations->weights && equations->targets && equations->shares && equations->touched && equations->first &&
           equations->own && equations->rates;
}

/* Most pairs never meet in a sample. */
static bool list_pairs(struct equations *equations) {
    size_t things = equations->count, count = 0;
    for (size_t i = 0; i < things * things; i++)
        count += equations->weights[i] > 0;
    equations->pairs = gt_mem_array(count, sizeof *equations->pairs);
    if (!equations->pairs)
        return false;
    count = 0;
    for (uint32_t thing = 0; thing < things; thing++) {
        equations->first[thing] = count;
        equations->own[thing] = equations->weights[thing * things + thing];
        for (uint32_t other = 0; other < things; other++) {
            double weight = equations->weights[thing * things + other];
            if (other != thing && weight > 0)
                equations->pairs[count++] = (struct gt_counter_solve_pair){other, weight};
        }
    }
    equations->first[things] = count;
    return true;
}

/* ---- answers ---- */

/* What fits the whole percents of samples best may be a little more than everything. */
static void take_rates(struct equations *equations, int metric) {
    struct gt_counter_device *device = equations->items->device;
    for (size_t i = 0; i < device->item_count; i++)
        if (is_wanted(&device->items[i], device->period_ns))
            device->items[i].solved[metric] =
                equations->sampling->values[metric] ? fmin(100, equations->rates[equations->thing_of[i]]) : NAN;
}

/* The last thing is all kernels that have none of their own, if there are too many. */
static bool is_shared(const struct equations *equations, uint32_t thing) {
    return equations->kernels > equations->count && thing + 1 == equations->count;
}

static void solve(struct equations *equations) {
    struct gt_counter_device *device = equations->items->device;
    const struct gt_counter_solve system = {equations->count, equations->first, equations->pairs, equations->own};
    bool is_solved = true;
    for (int m = 0; m < GT_METRIC_PERCENTS && is_solved; m++) {
        is_solved =
            gt_counter_solve_rates(&system, equations->targets + (size_t)m * equations->count, equations->rates);
        take_rates(equations, m);
    }
    for (size_t i = 0; i < device->item_count && is_solved; i++)
        if (is_wanted(&device->items[i], device->period_ns) && !is_shared(equations, equations->thing_of[i]))
            device->items[i].method = GT_COUNTER_SOLVED;
}

bool gt_counter_equations_solve(struct gt_counter_items *items, const struct gt_idle *idle, size_t index,
                                const struct gt_sampling *sampling) {
    struct equations equations = {.items = items, .sampling = sampling};
    if (!some_wanted(items->device))
        return true;
    bool is_done = number_things(&equations) && has_room(&equations) &&
                   gt_counter_sweep(items->view, idle, index, sampling, take_sample, &equations) &&
                   list_pairs(&equations);
    if (is_done)
        solve(&equations);
    gt_mem_free(equations.thing_of);
    gt_mem_free(equations.weights);
    gt_mem_free(equations.targets);
    gt_mem_free(equations.shares);
    gt_mem_free(equations.touched);
    gt_mem_free(equations.first);
    gt_mem_free(equations.pairs);
    gt_mem_free(equations.own);
    gt_mem_free(equations.rates);
    return is_done;
}
