/* Least squares without negative rates, one thing at a time: each takes the rate that fits best what the others leave.
   This converges since the sum of squares falls with every change. */
#include "measure/counters/counter_solve.h"

#include <math.h>

/* Things that share nearly all samples take many passes; damaged traces would take forever. */
enum { PASSES_MAX = 20000 };
#define VISITS_MAX 4e8

static double best_rate(const struct gt_counter_solve *equations, size_t thing, double target, const double *rates) {
    double others = 0;
    for (size_t p = equations->first[thing]; p < equations->first[thing + 1]; p++)
        others += equations->pairs[p].weight * rates[equations->pairs[p].other];
    return fmax(0, (target - others) / equations->own[thing]);
}

/* The largest change of a rate. */
static double pass(const struct gt_counter_solve *equations, const double *targets, double *rates) {
    double largest = 0;
    for (size_t thing = 0; thing < equations->count; thing++) {
        if (equations->own[thing] <= 0)
            continue;
        double rate = best_rate(equations, thing, targets[thing], rates);
        largest = fmax(largest, fabs(rate - rates[thing]));
        rates[thing] = rate;
    }
    return largest;
}

bool gt_counter_solve_rates(const struct gt_counter_solve *equations, const double *targets, double *rates) {
    double visits = (double)(equations->first[equations->count] + equations->count), most = VISITS_MAX / (visits + 1);
    for (size_t thing = 0; thing < equations->count; thing++)
        rates[thing] = 0;
    for (int passes = 0; passes < PASSES_MAX && passes < most; passes++)
        if (pass(equations, targets, rates) < GT_COUNTER_SOLVE_EXACT)
            return true;
    return false;
}
