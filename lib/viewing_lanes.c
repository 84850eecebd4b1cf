/* Checks what is asked of lanes and hands it to explore/, which is made when a trace is first asked for. */
#include "viewing_lanes.h"

#include "explore/explore.h"

enum { MOST_PIXELS = 16384, MOST_MATCHES = 10000, USUAL_MATCHES = 200 };

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

/* NULL with an error. */
static const struct gt_explore *explore_of(const struct gt_viewing_question *question, struct gt_error *err) {
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

/* The start before the end; all of the trace where a question has none. */
static enum gt_status take_window(const struct gt_viewing_query *query, int64_t *from_ns, int64_t *to_ns,
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
    const struct gt_explore *explore = explore_of(question, err);
    return explore ? gt_explore_lanes(explore, question->out, err) : err->code;
}

enum gt_status gt_viewing_lanes_window(struct gt_viewing_question *question, struct gt_error *err) {
    struct gt_explore_window window = {0};
    int64_t width = 0;
    uint32_t *lanes;
    enum gt_status status = take_window(&question->query, &window.from_ns, &window.to_ns, err);
    if (status == GT_OK)
        status = gt_viewing_query_int(&question->query, "width", 1, MOST_PIXELS, &width, err);
    if (status == GT_OK)
        status = gt_viewing_query_numbers(&question->query, "lanes", &lanes, &window.lane_count, err);
    if (status != GT_OK)
        return status;
    window.width = (uint32_t)width;
    window.lanes = lanes;
    const struct gt_explore *explore = explore_of(question, err);
    return explore ? gt_explore_window(explore, &window, question->out, err) : err->code;
}

enum gt_status gt_viewing_lanes_item(struct gt_viewing_question *question, struct gt_error *err) {
    const struct gt_viewing_query *query = &question->query;
    int64_t lane = -1, start_ns = 0, end_ns = 0, nth = 0;
    enum gt_status status = gt_viewing_query_int(query, "lane", 0, UINT32_MAX, &lane, err);
    if (status == GT_OK)
        status = gt_viewing_query_time(query, "start_ns", &start_ns, err);
    if (status == GT_OK)
        status = gt_viewing_query_time(query, "end_ns", &end_ns, err);
    if (status == GT_OK)
        status = gt_viewing_query_int(query, "nth", 0, UINT32_MAX, &nth, err);
    if (status == GT_OK &&
        (lane < 0 || !gt_viewing_query_text(query, "start_ns") || !gt_viewing_query_text(query, "end_ns")))
        status = gt_fail_usage(err, "'lane', 'start_ns' and 'end_ns' are needed");
    if (status != GT_OK)
        return status;
    const struct gt_explore_item item = {(uint32_t)lane, start_ns, end_ns, (uint32_t)nth};
    const struct gt_explore *explore = explore_of(question, err);
    return explore ? gt_explore_item(explore, &item, question->out, err) : err->code;
}

enum gt_status gt_viewing_lanes_search(struct gt_viewing_question *question, struct gt_error *err) {
    const struct gt_viewing_query *query = &question->query;
    struct gt_explore_search search = {.text = gt_str_of(gt_viewing_query_text(query, "text")),
                                       .at_ns = -GT_VIEWING_QUERY_TIME_MAX,
                                       .is_backwards = gt_viewing_query_text(query, "before_ns") != NULL};
    int64_t limit = USUAL_MATCHES;
    if (!search.text.len)
        return gt_fail_usage(err, "'text' is needed");
    if (search.is_backwards && gt_viewing_query_text(query, "from_ns"))
        return gt_fail_usage(err, "'from_ns' and 'before_ns' exclude each other");
    enum gt_status status =
        gt_viewing_query_time(query, search.is_backwards ? "before_ns" : "from_ns", &search.at_ns, err);
    if (status == GT_OK)
        status = gt_viewing_query_int(query, "limit", 0, MOST_MATCHES, &limit, err);
    if (status != GT_OK)
        return status;
    search.limit = (uint32_t)limit;
    const struct gt_explore *explore = explore_of(question, err);
    return explore ? gt_explore_search(explore, &search, question->out, err) : err->code;
}

enum gt_status gt_viewing_lanes_flame(struct gt_viewing_question *question, struct gt_error *err) {
    unsigned of = GT_EXPLORE_OPERATORS, by = GT_EXPLORE_GPU;
    struct gt_explore_flame flame = {0};
    enum gt_status status = take_window(&question->query, &flame.from_ns, &flame.to_ns, err);
    if (status == GT_OK)
        status = gt_viewing_query_choice(&question->query, "of", "operators|python|ranges", &of, err);
    if (status == GT_OK)
        status = gt_viewing_query_choice(&question->query, "by", "gpu|idle", &by, err);
    if (status != GT_OK)
        return status;
    flame.of = (enum gt_explore_of)of;
    flame.by = (enum gt_explore_by)by;
    const struct gt_explore *explore = explore_of(question, err);
    return explore ? gt_explore_flame(explore, &flame, question->out, err) : err->code;
}
