/* Checks what is asked of single items, names and stacks and hands it to explore/. */
#include "viewing_items.h"

#include "explore/explore.h"
#include "viewing_lanes.h"

enum { MOST_MATCHES = 10000, USUAL_MATCHES = 200 };

enum gt_status gt_viewing_items_item(struct gt_viewing_question *question, struct gt_error *err) {
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
    const struct gt_explore *explore = gt_viewing_lanes_explore(question, err);
    return explore ? gt_explore_item(explore, &item, question->out, err) : err->code;
}

enum gt_status gt_viewing_items_search(struct gt_viewing_question *question, struct gt_error *err) {
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
    const struct gt_explore *explore = gt_viewing_lanes_explore(question, err);
    return explore ? gt_explore_search(explore, &search, question->out, err) : err->code;
}

enum gt_status gt_viewing_items_flame(struct gt_viewing_question *question, struct gt_error *err) {
    unsigned of = GT_EXPLORE_OPERATORS, by = GT_EXPLORE_GPU;
    struct gt_explore_flame flame = {0};
    enum gt_status status = gt_viewing_lanes_take_window(&question->query, &flame.from_ns, &flame.to_ns, err);
    if (status == GT_OK)
        status = gt_viewing_query_choice(&question->query, "of", "operators|python|ranges", &of, err);
    if (status == GT_OK)
        status = gt_viewing_query_choice(&question->query, "by", "gpu|idle", &by, err);
    if (status != GT_OK)
        return status;
    flame.of = (enum gt_explore_of)of;
    flame.by = (enum gt_explore_by)by;
    const struct gt_explore *explore = gt_viewing_lanes_explore(question, err);
    return explore ? gt_explore_flame(explore, &flame, question->out, err) : err->code;
}
