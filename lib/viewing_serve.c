/* Serves a view: answers of its routes over HTTP. */
#include "serve/serve.h"
#include "take.h"
#include "viewing.h"

struct serving {
    struct gputime_view *view;
    struct gputime_serve_options options;
};

static void answer(void *context, const char *path, int (*is_gone)(void *asker), void *asker,
                   struct gt_serve_answer *out) {
    const struct serving *serving = context;
    struct gputime_answer made;
    if (gt_viewing_answer(serving->view, path, &(struct gt_viewing_cache_asker){is_gone, asker}, &made, NULL) !=
        GPUTIME_OK)
        return;
    *out = (struct gt_serve_answer){.status = (unsigned)made.status,
                                    .content_type = made.content_type,
                                    .policy = made.policy,
                                    .bytes = (char *)(uintptr_t)made.body.bytes,
                                    .size = made.body.size};
}

static void announce(void *context, const char *url, int port) {
    const struct serving *serving = context;
    serving->options.ready(serving->options.context, url, port);
}

API int gputime_view_can_serve(void) {
    return gt_serve_is_there();
}

API enum gputime_status gputime_view_serve(struct gputime_view *view, const struct gputime_serve_options *options,
                                           struct gputime_error *err) {
    struct gt_error error = {0};
    struct serving serving = {.view = view};
    enum gt_status status = GT_TAKE(gputime_serve_options, options, &serving.options, &error);
    const struct gputime_serve_options *taken = &serving.options;
    if (status == GT_OK && (taken->port < 0 || taken->port > UINT16_MAX))
        status = gt_fail_usage(&error, "a port is a number up to %d", UINT16_MAX);
    if (status == GT_OK && taken->idle_seconds < -1)
        status = gt_fail_usage(&error, "the idle time cannot be negative");
    const struct gt_serve_how how = {.address = taken->address,
                                     .port = (uint16_t)taken->port,
                                     .idle_seconds = taken->idle_seconds,
                                     .stop_fd = view->stop[0],
                                     .context = &serving,
                                     .answer = answer,
                                     .ready = taken->ready ? announce : NULL};
    if (status == GT_OK)
        status = gt_serve_run(&how, &error);
    return gt_internal_fail(status, &error, err);
}
