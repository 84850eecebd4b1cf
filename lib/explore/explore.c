/* From one reading of a trace to what can be asked of it. */
#include "explore/explore.h"

#include "base/mem.h"
#include "explore/model.h"
#include "explore/name_index.h"
#include "write/json_timeline.h"

uint32_t gt_explore_facts(void) {
    return GT_FACTS_ALL & ~(uint32_t)(GT_FACT_SOURCE | GT_FACT_GROUPS | GT_FACT_FLOWS | GT_FACT_CALL_ARGS);
}

static struct gt_model_lazy *lazy_new(void) {
    struct gt_model_lazy *lazy = gt_mem_array(1, sizeof *lazy);
    if (lazy && pthread_mutex_init(&lazy->lock, NULL) != 0) {
        gt_mem_free(lazy);
        return NULL;
    }
    return lazy;
}

static void lazy_free(struct gt_model_lazy *lazy) {
    if (!lazy)
        return;
    pthread_mutex_destroy(&lazy->lock);
    gt_name_index_free(lazy->names);
    gt_mem_free(lazy);
}

enum gt_status gt_explore_new(const struct gt_explore_trace *trace, struct gt_explore **out, struct gt_error *err) {
    *out = NULL;
    struct gt_explore *explore = gt_mem_array(1, sizeof *explore);
    if (!explore)
        return gt_fail_memory(err);
    explore->trace = *trace;
    gt_arena_init(&explore->arena);
    explore->lazy = lazy_new();
    enum gt_status status = explore->lazy ? gt_model_build(explore, err) : gt_fail_memory(err);
    if (status == GT_OK)
        *out = explore;
    else
        gt_explore_free(explore);
    return status;
}

void gt_explore_free(struct gt_explore *explore) {
    if (!explore)
        return;
    gt_model_release(explore);
    lazy_free(explore->lazy);
    gt_arena_release(&explore->arena);
    gt_mem_free(explore);
}

size_t gt_explore_bytes(const struct gt_explore *explore) {
    size_t bytes = sizeof *explore + explore->lane_count * sizeof *explore->lanes +
                   gt_idle_lanes_bytes(&explore->idle) + gt_curves_bytes(&explore->curves);
    for (size_t i = 0; i < explore->lane_count; i++)
        bytes += gt_pyramid_bytes(&explore->lanes[i].pyramid) - sizeof explore->lanes[i].pyramid;
    for (size_t k = 0; k < GT_TIMELINE_KIND_COUNT; k++)
        bytes += explore->sets[k].bytes;
    return bytes;
}

enum gt_status gt_explore_lanes(const struct gt_explore *explore, struct gt_out *out, struct gt_error *err) {
    struct gt_timeline timeline = {.start_ns = explore->start_ns,
                                   .end_ns = explore->end_ns,
                                   .first_ns = explore->first_ns,
                                   .last_ns = explore->last_ns,
                                   .row_count = explore->lane_count};
    timeline.rows = gt_mem_uninitialised(explore->lane_count, sizeof *timeline.rows);
    if (!timeline.rows)
        return gt_fail_memory(err);
    for (size_t i = 0; i < explore->lane_count; i++)
        timeline.rows[i] = explore->lanes[i].row;
    for (size_t k = 0; k < GT_TIMELINE_KIND_COUNT; k++)
        timeline.rows_left_out[k] = explore->lanes_left_out[k];
    gt_json_timeline_write(out, explore->trace.label, &timeline);
    gt_mem_free(timeline.rows);
    return GT_OK;
}
