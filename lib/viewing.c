/* Answers questions about traces: the routes of the application in the browser, from an address to bytes. HTTP is in
 * serve/. */
#include "viewing.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"
#include "explore/explore.h"
#include "take.h"
#include "viewing_items.h"
#include "viewing_lanes.h"
#include "viewing_page.h"
#include "viewing_reports.h"
#include "write/escape.h"

/* ---- routes ---- */

static enum gt_status answer_life(struct gt_viewing_question *question, struct gt_error *err) {
    (void)err;
    gt_out_text(question->out, "{}");
    return GT_OK;
}

struct route {
    const char *name, *parameters;
    gt_viewing_route *answer;
    bool is_heavy;  /* few at the same time */
    bool is_cached; /* what it gives does not change */
};

static const struct route routes[] = {
    {"", "", gt_viewing_page_write, false, false},
    {"report", "analyses,input," GT_VIEWING_REPORTS_SELECTION, gt_viewing_reports_report, true, true},
    {"diff", "analyses,a,b," GT_VIEWING_REPORTS_SELECTION, gt_viewing_reports_diff, true, true},
    {"ranks", "", gt_viewing_reports_ranks, true, true},
    {"lanes", "input", gt_viewing_lanes_list, true, true},
    {"window", "input,from_ns,to_ns,width,lanes", gt_viewing_lanes_window, false, false},
    {"item", "input,lane,start_ns,end_ns,nth", gt_viewing_items_item, true, false},
    {"search", "input,text,from_ns,before_ns,limit", gt_viewing_items_search, true, false},
    {"flame", "input,of,by,from_ns,to_ns", gt_viewing_items_flame, true, true},
    {"sql", "query,limit", gt_viewing_reports_sql, true, false},
    {"alive", "", answer_life, false, false},
    {"gone", "", answer_life, false, false},
};

static const struct route *find_route(struct gt_str name) {
    for (size_t i = 0; i < GT_ARRAY_COUNT(routes); i++)
        if (gt_str_eq(name, gt_str_of(routes[i].name)))
            return &routes[i];
    return NULL;
}

struct gt_viewing_input *gt_viewing_input_of(const struct gt_viewing_question *question, struct gt_error *err) {
    struct gputime_view *view = question->view;
    int64_t index = view->count == 1 ? 0 : -1;
    if (gt_viewing_query_int(&question->query, "input", 0, (int64_t)view->count - 1, &index, err) != GT_OK)
        return NULL;
    if (index >= 0)
        return &view->inputs[index];
    gt_fail_usage(err, "'input' is needed: there are %zu", view->count);
    return NULL;
}

/* ---- answers ---- */

static const char json_type[] = "application/json; charset=utf-8";

/* The bytes as the caller's own. */
static enum gt_status take_body(struct gt_str bytes, struct gputime_answer *answer, struct gt_error *err) {
    char *copy = gt_mem_alloc(bytes.len + 1);
    if (!copy)
        return gt_fail_memory(err);
    if (bytes.len)
        memcpy(copy, bytes.ptr, bytes.len);
    copy[bytes.len] = '\0';
    answer->body = (struct gputime_text){copy, bytes.len};
    return GT_OK;
}

const char *gt_viewing_message(const struct gputime_view *view, const char *message) {
    for (size_t i = 0; i < view->count; i++)
        for (size_t k = 0; view->traces[i]->how.redact && k < view->traces[i]->path_count; k++)
            if (strstr(message, view->traces[i]->paths[k]))
                return "the question could not be answered";
    return message;
}

/* A failed question has an answer as well. */
static enum gt_status answer_error(const struct gputime_view *view, int status, const char *message,
                                   struct gputime_answer *answer, struct gt_error *err) {
    struct gt_out *out = NULL;
    enum gt_status made = gt_out_open_memory(&out, err);
    if (made == GT_OK) {
        gt_out_text(out, "{\"error\": ");
        gt_escape_json(out, gt_str_of(gt_viewing_message(view, message)));
        gt_out_char(out, '}');
        made = gt_out_commit(out, err);
    }
    *answer = (struct gputime_answer){.status = status, .content_type = json_type};
    if (made == GT_OK)
        made = take_body(gt_out_bytes(out), answer, err);
    gt_out_close(out);
    return made;
}

/* Runs a route: GT_OK with the answer's bytes in *answer, else the reason in *err. */
static enum gt_status run(const struct route *route, struct gt_viewing_question *question, struct gt_str whole,
                          struct gputime_answer *answer, struct gt_error *err) {
    enum gt_status status = gt_out_open_memory(&question->out, err);
    if (status == GT_OK)
        status = route->answer(question, err);
    if (status == GT_OK)
        status = gt_out_commit(question->out, err);
    if (status == GT_OK)
        status = take_body(gt_out_bytes(question->out), answer, err);
    if (status == GT_OK && route->is_cached)
        gt_viewing_cache_add(&question->view->cache, whole, gt_out_bytes(question->out));
    gt_out_close(question->out);
    return status;
}

/* An answer that was kept. */
static bool find_cached(struct gputime_view *view, const struct route *route, struct gt_str whole,
                        struct gputime_answer *answer) {
    size_t bytes = 0;
    char *copy = route->is_cached ? gt_viewing_cache_find(&view->cache, whole, &bytes) : NULL;
    if (copy)
        answer->body = (struct gputime_text){copy, bytes};
    return copy != NULL;
}

/* Few routes that are heavy run at the same time; who waited may find that another one has asked the same. *is_busy:
   too many wait already. */
static enum gt_status run_heavy(const struct route *route, struct gt_viewing_question *question, struct gt_str whole,
                                struct gputime_answer *answer, bool *is_busy, struct gt_error *err) {
    struct gt_viewing_cache *cache = &question->view->cache;
    *is_busy = !gt_viewing_cache_enter(cache, &question->asker);
    if (*is_busy)
        return gt_fail(err, "too many questions at the same time; ask again later");
    enum gt_status status =
        find_cached(question->view, route, whole, answer) ? GT_OK : run(route, question, whole, answer, err);
    gt_viewing_cache_leave(cache);
    return status;
}

static enum gt_status answer_route(struct gputime_view *view, const struct route *route, struct gt_str whole,
                                   struct gt_str parameters, const struct gt_viewing_cache_asker *asker,
                                   struct gputime_answer *answer, struct gt_error *err) {
    struct gt_viewing_question question = {.view = view, .asker = *asker};
    struct gt_error failure = {0};
    bool is_page = route->answer == gt_viewing_page_write, is_busy = false;
    *answer = (struct gputime_answer){.status = 200,
                                      .content_type = is_page ? "text/html; charset=utf-8" : json_type,
                                      .policy = is_page ? view->policy.ptr : NULL};
    if (find_cached(view, route, whole, answer))
        return GT_OK;
    enum gt_status status = gt_viewing_query_parse(&question.query, parameters, route->parameters, &failure);
    if (status == GT_OK)
        status = route->is_heavy ? run_heavy(route, &question, whole, answer, &is_busy, &failure)
                                 : run(route, &question, whole, answer, &failure);
    gt_viewing_query_release(&question.query);
    if (status == GT_OK)
        return GT_OK;
    return answer_error(view, is_busy ? 503 : status == GT_ERR_USAGE ? 400 : 500, failure.message, answer, err);
}

enum gputime_status gt_viewing_answer(struct gputime_view *view, const char *path_and_query,
                                      const struct gt_viewing_cache_asker *asker, struct gputime_answer *out,
                                      struct gputime_error *err) {
    struct gt_error error = {0};
    struct gt_str whole = gt_str_of(path_and_query);
    const char *mark = whole.len ? memchr(whole.ptr, '?', whole.len) : NULL;
    size_t path_bytes = mark ? (size_t)(mark - whole.ptr) : whole.len;
    struct gt_str parameters = {whole.ptr + path_bytes + (mark != NULL), whole.len - path_bytes - (mark != NULL)};
    const struct route *route = find_route((struct gt_str){whole.ptr, path_bytes});
    *out = (struct gputime_answer){0};
    enum gt_status status = route ? answer_route(view, route, whole, parameters, asker, out, &error)
                                  : answer_error(view, 404, "no such address", out, &error);
    return gt_internal_fail(status, &error, err);
}

API enum gputime_status gputime_view_answer(struct gputime_view *view, const char *path_and_query,
                                            struct gputime_answer *out, struct gputime_error *err) {
    return gt_viewing_answer(view, path_and_query, &(struct gt_viewing_cache_asker){NULL, NULL}, out, err);
}

/* ---- views ---- */

API uint64_t gputime_view_facts(const struct gputime_view_options *given) {
    struct gputime_view_options options;
    if (GT_TAKE(gputime_view_options, given, &options, NULL) != GT_OK)
        return 0;
    uint64_t facts = options.reporting ? gputime_report_facts(options.reporting) : GT_FACT_OPS;
    return facts ? facts | gt_store_facts_closed(gt_explore_facts()) : 0;
}

static enum gt_status take_options(struct gputime_view *view, const struct gputime_view_options *given,
                                   struct gt_error *err) {
    struct gputime_view_options options;
    enum gt_status status = GT_TAKE(gputime_view_options, given, &options, err);
    if (status == GT_OK)
        status = GT_TAKE(gputime_report_options, options.reporting, &view->reporting, err);
    if (status == GT_OK)
        status = gt_take_selection(view->reporting.selection, &view->selection, err);
    view->title = gt_take_text(options.title, &view->arena);
    view->command = gt_take_text(options.command, &view->arena);
    return status == GT_OK && gt_arena_failed(&view->arena) ? gt_fail_memory(err) : status;
}

static enum gt_status take_traces(struct gputime_view *view, struct gputime_trace *const *traces, size_t count,
                                  struct gt_error *err) {
    view->traces = gt_arena_array(&view->arena, count, sizeof(struct gputime_trace *));
    view->inputs = gt_arena_array(&view->arena, count, sizeof *view->inputs);
    if (!view->traces || !view->inputs)
        return gt_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        if (!traces[i])
            return gt_fail_usage(err, "trace %zu of %zu is NULL", i + 1, count);
        view->traces[i] = view->inputs[i].trace = traces[i];
        pthread_mutex_init(&view->inputs[i].lock, NULL);
        view->count++;
    }
    for (size_t i = 0; i < count; i++)
        view->inputs[i].label = gt_internal_label(view->traces, count, i, &view->arena);
    return gt_arena_failed(&view->arena) ? gt_fail_memory(err) : GT_OK;
}

API enum gputime_status gputime_view_new(struct gputime_trace *const *traces, size_t trace_count,
                                         const struct gputime_view_options *options, struct gputime_view **out,
                                         struct gputime_error *err) {
    struct gt_error error = {0};
    *out = NULL;
    if (trace_count == 0)
        return gt_internal_fail(gt_fail_usage(&error, "no trace given"), &error, err);
    struct gputime_view *view = gt_mem_array(1, sizeof *view);
    if (!view)
        return gt_internal_fail(gt_fail_memory(&error), &error, err);
    gt_viewing_cache_init(&view->cache);
    view->stop[0] = view->stop[1] = -1;
    enum gt_status status = pipe2(view->stop, O_CLOEXEC | O_NONBLOCK) == 0 ? GT_OK : gt_fail(&error, "no pipe is left");
    if (status == GT_OK)
        status = take_options(view, options, &error);
    if (status == GT_OK)
        status = take_traces(view, traces, trace_count, &error);
    if (status == GT_OK)
        status = gt_viewing_page_init(view, &error);
    if (status == GT_OK)
        *out = view;
    else
        gputime_view_free(view);
    return gt_internal_fail(status, &error, err);
}

API void gputime_view_free(struct gputime_view *view) {
    if (!view)
        return;
    for (size_t i = 0; i < view->count; i++) {
        gt_explore_free(view->inputs[i].explore);
        pthread_mutex_destroy(&view->inputs[i].lock);
    }
    for (int end = 0; end < 2; end++)
        if (view->stop[end] >= 0)
            close(view->stop[end]);
    gt_viewing_cache_release(&view->cache);
    gt_arena_release(&view->arena);
    gt_mem_free(view);
}

API void gputime_view_stop(struct gputime_view *view) {
    int before = errno;
    if (write(view->stop[1], "", 1) < 0)
        errno = before; /* it is full of earlier calls */
}
