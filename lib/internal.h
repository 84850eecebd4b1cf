/* Shared by the files of the public interface: the objects of its handles. */
#ifndef GT_INTERNAL_H
#define GT_INTERNAL_H

#include "events/cache.h"
#include "events/trace_rank.h"
#include "events/view.h"
#include "gputime.h"
#include "report/report.h"

#define API __attribute__((visibility("default")))

struct gputime_trace {
    char **paths;
    size_t path_count;
    struct gt_store *store;
    struct gt_rules *rules; /* of the user; NULL: the built-in ones */
    struct gt_labels *labels;
    struct gt_trace_rank rank;
    struct gt_arena arena; /* owns the texts of run, and rows */
    struct gt_run run;
    struct gputime_rows *rows; /* row_kinds of them: the events of the public interface */
    size_t row_kinds;
    struct gt_cache_key cache_key;
    bool is_worth_caching; /* decoding took long */
};

struct gputime_report {
    struct gt_report *model;
    struct gt_request request; /* that it was made with; its selection is gone once it is made */
    struct gt_view **views;    /* by section: cells may point into them */
};

/* Copies an internal failure to the caller's error (may be NULL). */
enum gputime_status gt_internal_fail(enum gt_status status, const struct gt_error *from, struct gputime_error *to);

/* rows.c: lists the store's and the labels' columns in trace->rows. false: memory was short. */
bool gt_internal_list_rows(struct gputime_trace *trace);

/* analyse.c: runs these analyses, then the one on trace health, and adds their results to the section in that order. */
enum gt_status gt_internal_analyse(const struct gt_view *view, const char *const *keys, size_t count,
                                   struct gt_section *section, struct gt_error *err);

#endif
