/* A view of traces: what its routes share. */
#ifndef GT_VIEWING_H
#define GT_VIEWING_H

#include "base/out.h"
#include "internal.h"
#include "viewing_cache.h"
#include "viewing_query.h"

/* One of its traces. What explores it is made when it is first asked for. */
struct gt_viewing_input {
    struct gputime_trace *trace;
    struct gt_str label; /* as reports of all inputs show it */
    pthread_mutex_t lock;
    struct gt_explore *explore; /* NULL: not yet; const from then on */
};

struct gputime_view {
    struct gputime_trace **traces;
    struct gt_viewing_input *inputs; /* in the same order */
    size_t count;
    struct gputime_report_options reporting;
    struct gputime_selection selection; /* of all reports, unless a question has another */
    const char *title, *command;
    struct gt_str policy;  /* of the page, terminated */
    struct gt_arena arena; /* owns the texts */
    struct gt_viewing_cache cache;
    int stop[2]; /* a pipe: what is written to the second ends the server */
};

/* A question and where its answer goes. */
struct gt_viewing_question {
    struct gputime_view *view;
    struct gt_viewing_query query;
    struct gt_viewing_cache_asker asker;
    struct gt_out *out;
};

/* viewing.c: gputime_view_answer for somebody who may go before it is done. */
enum gputime_status gt_viewing_answer(struct gputime_view *view, const char *path_and_query,
                                      const struct gt_viewing_cache_asker *asker, struct gputime_answer *out,
                                      struct gputime_error *err);

/* Makes one answer. GT_ERR_USAGE: the question is wrong. */
typedef enum gt_status gt_viewing_route(struct gt_viewing_question *question, struct gt_error *err);

/* The trace that a question is about; NULL with an error. The parameter is needed unless there is one trace only. */
struct gt_viewing_input *gt_viewing_input_of(const struct gt_viewing_question *question, struct gt_error *err);

/* A message as the page may show it: without the names of files that are hidden. */
const char *gt_viewing_message(const struct gputime_view *view, const char *message);

#endif
