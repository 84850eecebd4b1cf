/* How many GPUs get tables whose size is a product with that of something else. */
#ifndef GT_MEASURE_RESULTS_DEVICES_MOST_H
#define GT_MEASURE_RESULTS_DEVICES_MOST_H

/* No machine has more GPUs. A damaged trace may have any number, each with all of its ranges and steps. */
enum { GT_DEVICES_MOST = 256 };

#endif
