/* The critical path in words: how long a step takes and what the largest parts of its path are. */
#ifndef GT_MEASURE_RESULTS_PATH_WORDS_H
#define GT_MEASURE_RESULTS_PATH_WORDS_H

#include "measure/results/path_cpu.h"
#include "measure/results/paths.h"

/* What all windows that count spent. */
struct gt_path_words_sum {
    int64_t length_ns, time_ns[GT_DAG_TIME_COUNT];
    size_t windows, steps;
};
struct gt_path_words_sum gt_path_words_add_up(const struct gt_paths *paths);

/* "Step 32.3 ms on average: 82% waits for the CPU (backward: 55%), 12% launching". cpu: NULL without the name of the
   range. Empty: no window counts. */
struct gt_str gt_path_words_say(const struct gt_view *view, const struct gt_paths *paths,
                                const struct gt_path_words_sum *sum, const struct gt_path_cpu *cpu,
                                struct gt_arena *arena);

#endif
