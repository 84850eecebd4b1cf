/* Rates of things that are never alone in a sample: least squares over all samples, no rate below 0. */
#ifndef GT_MEASURE_COUNTERS_COUNTER_SOLVE_H
#define GT_MEASURE_COUNTERS_COUNTER_SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which things share samples, and with which weight: for each pair the sum of the products of their shares. */
struct gt_counter_solve_pair {
    uint32_t other;
    double weight;
};

struct gt_counter_solve {
    size_t count; /* of things */
    /* Pairs of each thing, those of thing i from first[i] to before first[i + 1]; its own weight apart. */
    const size_t *first;
    const struct gt_counter_solve_pair *pairs;
    const double *own;
};

/* Finds the rates that fit `targets` best: for each thing the sum of share times value over the samples. Rates change
   less than GT_COUNTER_SOLVE_EXACT from pass to pass in the end; false: that took too long. */
#define GT_COUNTER_SOLVE_EXACT 1e-7
bool gt_counter_solve_rates(const struct gt_counter_solve *equations, const double *targets, double *rates);

#endif
