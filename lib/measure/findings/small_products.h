/* Small products: matrix products that take less time than the CPU needs to launch a kernel. */
#ifndef GT_MEASURE_FINDINGS_SMALL_PRODUCTS_H
#define GT_MEASURE_FINDINGS_SMALL_PRODUCTS_H

#include "measure/findings/evidence.h"

struct gt_small_products {
    size_t count, small; /* steady ones; of these shorter than a launch */
    double mean_ns;
    double launch_ns; /* the steady spans divided by the launches in them */
    bool are_usual;   /* there are enough, and most of them are small, and their mean is */
};

struct gt_small_products gt_small_products_of(struct gt_evidence *evidence);

#endif
