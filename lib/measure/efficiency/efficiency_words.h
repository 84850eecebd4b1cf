/* What is said about efficiency in words: the first sentence, what is not known and why, and the counted problems. */
#ifndef GT_MEASURE_EFFICIENCY_EFFICIENCY_WORDS_H
#define GT_MEASURE_EFFICIENCY_EFFICIENCY_WORDS_H

#include "measure/counters/counter_set.h"
#include "measure/efficiency/model_waterfall.h"

struct gt_efficiency_words {
    const struct gt_view *view;
    const struct gt_work_set *set;
    const struct gt_model_waterfall *models; /* by device of the view */
    const struct gt_counter_set *counters;
    struct gt_section *section;
};

void gt_efficiency_words_say(const struct gt_efficiency_words *words);

#endif
