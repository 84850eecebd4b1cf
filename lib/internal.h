/* Shared by the files of the public interface: the objects of its handles. */
#ifndef GT_INTERNAL_H
#define GT_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "events/cache.h"
#include "events/trace_rank.h"
#include "events/view.h"
#include "gputime.h"
#include "report/report.h"

#define API __attribute__((visibility("default")))

/* One reading of a trace's files: what was asked for of them. Constant once it is made, but for the list of rows. */
struct gt_reading {
    struct gt_store *store;
    struct gt_labels *labels;
    struct gt_trace_rank rank;
    struct gt_arena arena;     /* owns rows */
    struct gputime_rows *rows; /* GT_ROW_KINDS: the events of the public interface; NULL: nobody asked for them yet */
    bool is_worth_caching;     /* decoding took long */
    struct gt_reading *older;  /* made before it, with fewer facts; objects of callers may refer to it */
};

/* Those of the store, then steps, categories, collectives and their groups. */
enum { GT_ROW_KINDS = GT_TABLE_COUNT + 4 };

/* Rows of one kind, listed by rows.c. */
struct gputime_rows {
    const char *key;
    const struct gt_reading *reading;
    size_t count;
    struct gputime_field *fields;
    size_t field_count, field_capacity;
};

struct gputime_trace {
    atomic_size_t users; /* the caller, and what was handed out to live longer */
    char **paths;
    size_t path_count;
    struct gt_rules *rules; /* of the user; NULL: the built-in ones */
    struct gt_arena arena;  /* owns the texts of run and how */
    struct gt_run run;
    struct gputime_open_options how; /* to read it again with */
    struct gt_cache_key cache_key;
    const struct gt_reading *shown; /* whose rows callers see */
    pthread_mutex_t rows_lock;      /* held while they are listed */
    uint32_t asked;                 /* what callers asked for of it; its store may have more */
    pthread_mutex_t lock;           /* held while newest is used or changed */
    struct gt_reading *newest;      /* and so all: no older one has facts that it lacks */
};

struct gputime_report {
    struct gt_report *model;
    struct gt_request request; /* that it was made with; its selection is gone once it is made */
    struct gt_view **views;    /* by section: cells may point into them */
};

/* Copies an internal failure to the caller's error (may be NULL). */
enum gputime_status gt_internal_fail(enum gt_status status, const struct gt_error *from, struct gputime_error *to);

/* rows.c: the rows that callers see, GT_ROW_KINDS of them: the store's and the labels' columns. They are listed when
   somebody asks for the first time, since reports do without. NULL: memory was short. Any thread. */
const struct gputime_rows *gt_internal_rows(const struct gputime_trace *trace);

/* trace.c: a reading that has these facts if the files have; reads them again if no reading was asked for them. Any
   thread. */
enum gt_status gt_internal_read(struct gputime_trace *trace, uint32_t facts, const struct gt_reading **out,
                                struct gt_error *err);

/* trace.c: one more user; each ends with gputime_trace_free. */
struct gputime_trace *gt_internal_hold(struct gputime_trace *trace);

/* framing.c: the frames of a trace (frame/frame.h), with all that was read; the files are read again if no reading was
   asked for these facts. To be freed before the trace. Any thread. */
struct gt_frames;
enum gt_status gt_internal_frames(struct gputime_trace *trace, uint32_t facts, struct gt_frames **out,
                                  struct gt_error *err);

/* trace.c: the first file as reports show it; of a redacted trace only that it is an input. */
#define GT_REDACTED_PATH "input"
const char *gt_internal_path(const struct gputime_trace *trace);

/* traces.c: whether all inputs are files, so that several can be read at the same time. */
bool gt_internal_are_files(const struct gputime_input *inputs, size_t count);

/* gputime.c: what a report reads. */
uint32_t gt_internal_facts(const char *const *analyses, size_t count, const struct gputime_selection *selection);

/* gputime.c: the name of a trace among several: its title, else its file. */
struct gt_str gt_internal_label(struct gputime_trace *const *traces, size_t count, size_t index,
                                struct gt_arena *arena);

/* captures.c: the path that an input is named by; of several files of one capture, what they share; "pipe" and the like
   where the path says nothing. */
struct gt_str gt_internal_named_by(const struct gputime_trace *trace);

/* gputime.c: how many kernels and graphs a store has. */
uint64_t gt_internal_count_kernels(const struct gt_store *store);

/* gputime.c: gputime_report_new() of traces that are shown after `before` others, which are counted where names are
   hidden. */
enum gputime_status gt_internal_new_side(struct gputime_trace *const *traces, size_t trace_count, size_t before,
                                         const struct gputime_report_options *options, struct gputime_report **out,
                                         struct gputime_error *err);

/* gputime.c: a report whose sections are not about one trace each. */
typedef enum gt_status gt_internal_fill(void *context, const struct gt_request *request, struct gt_section *section,
                                        struct gt_error *err);
enum gputime_status gt_internal_new_report(const struct gputime_report_options *options, size_t section_count,
                                           gt_internal_fill *fill, void *context, struct gputime_report **out,
                                           struct gputime_error *err);

/* job.c: a job of traces that are open already, to be freed by gputime_job_free. */
enum gt_status gt_internal_job(struct gputime_trace *const *traces, size_t count, int64_t threads,
                               struct gputime_job **out, struct gt_error *err);

/* analyse.c: runs these analyses, then the one on trace health, and adds their results to the section in that order. */
enum gt_status gt_internal_analyse(const struct gt_view *view, const char *const *keys, size_t count,
                                   struct gt_section *section, struct gt_error *err);

#endif
