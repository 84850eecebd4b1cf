/* Names of all lanes for searching: how often each occurs, and for runs of spans which names they may have. */
#ifndef GT_EXPLORE_NAME_INDEX_H
#define GT_EXPLORE_NAME_INDEX_H

#include "explore/model.h"

/* Spans of a run, and bits of what tells if it may have a name. */
enum { GT_NAME_INDEX_RUN = 256, GT_NAME_INDEX_WORDS = 8 };

/* Names that hash to a bit of it are in the run; others are not. */
struct gt_name_index_filter {
    uint64_t words[GT_NAME_INDEX_WORDS];
};

struct gt_name_index {
    uint64_t *counts[GT_TIMELINE_KIND_COUNT];                     /* by name; NULL: no lane of the kind */
    struct gt_name_index_filter *filters[GT_TIMELINE_KIND_COUNT]; /* by number of the span / GT_NAME_INDEX_RUN */
    size_t name_count[GT_TIMELINE_KIND_COUNT];
};

/* Linear; on the threads of the exploration. NULL: memory was short. */
struct gt_name_index *gt_name_index_new(const struct gt_explore *explore);
void gt_name_index_free(struct gt_name_index *index); /* NULL is fine */

/* The number of a span's name among those of its kind. */
uint32_t gt_name_index_of(const struct gt_explore *explore, enum gt_timeline_kind kind, size_t span);

static inline void gt_name_index_put(struct gt_name_index_filter *filter, uint32_t name) {
    uint32_t hash = name * UINT32_C(2654435761) >> 23;
    filter->words[hash >> 6] |= UINT64_C(1) << (hash & 63);
}

static inline bool gt_name_index_may_have(const struct gt_name_index_filter *run,
                                          const struct gt_name_index_filter *any) {
    uint64_t both = 0;
    for (size_t i = 0; i < GT_NAME_INDEX_WORDS; i++)
        both |= run->words[i] & any->words[i];
    return both != 0;
}

#endif
