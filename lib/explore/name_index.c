/* Goes over all spans once, so that a search needs to look only where its names are. */
#include "explore/name_index.h"

#include "base/mem.h"
#include "base/threads.h"

uint32_t gt_name_index_of(const struct gt_explore *explore, enum gt_timeline_kind kind, size_t span) {
    if (kind == GT_TIMELINE_GAPS)
        return gt_idle_lanes_cause(&explore->idle, span);
    const struct gt_lane_set *set = &explore->sets[kind];
    return set->name[set->ids[span]];
}

static size_t span_count(const struct gt_explore *explore, enum gt_timeline_kind kind) {
    return kind == GT_TIMELINE_GAPS ? explore->idle.count : explore->sets[kind].count;
}

struct indexing {
    const struct gt_explore *explore;
    struct gt_name_index *index;
    atomic_bool has_failed;
};

static void index_kind(void *context, size_t k) {
    struct indexing *indexing = context;
    struct gt_name_index *index = indexing->index;
    enum gt_timeline_kind kind = (enum gt_timeline_kind)k;
    size_t count = span_count(indexing->explore, kind);
    if (count == 0)
        return;
    size_t names = kind == GT_TIMELINE_GAPS ? GT_IDLE_CAUSE_COUNT : indexing->explore->trace.store->strings.count;
    index->name_count[k] = names;
    index->counts[k] = gt_mem_array(names, sizeof *index->counts[k]);
    index->filters[k] = gt_mem_array(count / GT_NAME_INDEX_RUN + 1, sizeof *index->filters[k]);
    if (!index->counts[k] || !index->filters[k]) {
        indexing->has_failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t name = gt_name_index_of(indexing->explore, kind, i);
        index->counts[k][name]++;
        gt_name_index_put(&index->filters[k][i / GT_NAME_INDEX_RUN], name);
    }
}

struct gt_name_index *gt_name_index_new(const struct gt_explore *explore) {
    struct indexing indexing = {.explore = explore, .index = gt_mem_array(1, sizeof *indexing.index)};
    if (!indexing.index)
        return NULL;
    gt_threads_deal(gt_threads_count(explore->trace.threads), GT_TIMELINE_KIND_COUNT, index_kind, &indexing);
    if (!indexing.has_failed)
        return indexing.index;
    gt_name_index_free(indexing.index);
    return NULL;
}

void gt_name_index_free(struct gt_name_index *index) {
    for (size_t k = 0; index && k < GT_TIMELINE_KIND_COUNT; k++) {
        gt_mem_free(index->counts[k]);
        gt_mem_free(index->filters[k]);
    }
    gt_mem_free(index);
}
