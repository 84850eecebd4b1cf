/* What an item of several spans is made of, by category: its busy time and the span that gives it its name. */
#ifndef GT_MEASURE_RESULTS_SPAN_MIX_H
#define GT_MEASURE_RESULTS_SPAN_MIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ns.h"

/* Of one category. */
struct gt_span_mix_part {
    int64_t busy_ns, longest_ns;
    uint32_t longest; /* number of that span, the first of several */
    uint8_t category;
};

/* Zero-initialise. */
struct gt_span_mix {
    struct gt_span_mix_part parts[UINT8_MAX + 1]; /* in order of appearance */
    size_t count;
    uint16_t part_of[UINT8_MAX + 1]; /* its number + 1; 0: the category has not appeared */
};

/* The parts of some spans that come after those added before. */
static inline void gt_span_mix_add(struct gt_span_mix *mix, const struct gt_span_mix_part *part) {
    uint16_t *number = &mix->part_of[part->category];
    if (!*number) {
        mix->parts[mix->count] = *part;
        *number = (uint16_t)++mix->count;
        return;
    }
    struct gt_span_mix_part *sum = &mix->parts[*number - 1];
    sum->busy_ns = gt_ns_add(sum->busy_ns, part->busy_ns);
    if (part->longest_ns > sum->longest_ns) {
        sum->longest_ns = part->longest_ns;
        sum->longest = part->longest;
    }
}

static inline void gt_span_mix_clear(struct gt_span_mix *mix) {
    for (size_t i = 0; i < mix->count; i++)
        mix->part_of[mix->parts[i].category] = 0;
    mix->count = 0;
}

/* The longest span of the category with most time, then with the longest span, then the first; the mix is then empty.
 */
static inline uint32_t gt_span_mix_take(struct gt_span_mix *mix, int64_t *busy_ns) {
    const struct gt_span_mix_part *best = &mix->parts[0];
    *busy_ns = 0;
    for (size_t i = 0; i < mix->count; i++) {
        const struct gt_span_mix_part *other = &mix->parts[i];
        *busy_ns = gt_ns_add(*busy_ns, other->busy_ns);
        if (other->busy_ns > best->busy_ns || (other->busy_ns == best->busy_ns && other->longest_ns > best->longest_ns))
            best = other;
    }
    gt_span_mix_clear(mix);
    return best->longest;
}

#endif
