/* Checks what is asked of lanes and hands it to explore/, which is made when a trace is first asked for. */
#include "viewing_lanes.h"

#include "explore/explore.h"

enum { MOST_PIXELS = 16384 };

static enum gt_status make_explore(struct gputime_view *view, struct gt_viewing_input *input, struct gt_error *err) {
    const struct gt_reading *reading;
    enum gt_status status = gt_internal_read(input->trace, gt_explore_facts(), &reading, err);
    if (status != GT_OK)
        return status;
    const struct gt_explore_trace trace = {.store = reading->store,
                                           .labels = reading->labels,
                                           .label = input->label,
                                           .names = view->reporting.names,
                                           .threads = view->reporting.threads};
    return gt_explore_new(&trace, &input->explore, err);
}

const struct gt_explore *gt_viewing_lanes_explore(const struct gt_viewing_question *question, struct gt_error *err) {
    struct gt_viewing_input *input = gt_viewing_input_of(question, err);
    if (!input)
        return NULL;
    pthread_mutex_lock(&input->lock);
    if (!input->explore && make_explore(question->view, input, err) != GT_OK)
        input->explore = NULL;
    const struct gt_explore *explore = input->explore;
    pthread_mutex_unlock(&input->lock);
    return explore;
}

enum gt_status gt_viewing_lanes_take_window(const struct gt_viewing_query *query, int64_t *from_ns, int64_t *to_ns,
                                            struct gt_error *err) {
    *from_ns = -GT_VIEWING_QUERY_TIME_MAX;
    *to_ns = GT_VIEWING_QUERY_TIME_MAX;
    enum gt_status status = gt_viewing_query_time(query, "from_ns", from_ns, err);
    if (status == GT_OK)
        status = gt_viewing_query_time(query, "to_ns", to_ns, err);
    if (status == GT_OK && *from_ns > *to_ns)
        status = gt_fail_usage(err, "'from_ns' is after 'to_ns'");
    return status;
}

enum gt_status gt_viewing_lanes_list(struct gt_viewing_question *question, struct gt_error *err) {
    const struct gt_explore *explore = gt_viewing_lanes_explore(question, err);
    return explore ? gt_explore_lanes(explore, question->out, err) : err->code;
}

enum gt_status gt_viewing_lanes_window(struct gt_viewing_question *question, struct gt_error *err) {
    struct gt_explore_window window = {0};
    int64_t width = 0;
    uint32_t *lanes;
    enum gt_status status = gt_viewing_lanes_take_window(&question->query, &window.from_ns, &window.to_ns, err);
    if (status == GT_OK)
        status = gt_viewing_query_int(&question->query, "width", 1, MOST_PIXELS, &width, err);
    if (status == GT_OK)
        status = gt_viewing_query_numbers(&question->query, "lanes", &lanes, &window.lane_count, err);
    if (status != GT_OK)
        return status;
    window.width = (uint32_t)width;
    window.lanes = lanes;
    const struct gt_explore *explore = gt_viewing_lanes_explore(question, err);
    return explore ? gt_explore_window(explore, &window, question->out, err) : err->code;
}
