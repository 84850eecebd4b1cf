/* What the files of the public interface share: the objects behind its handles. */
#ifndef GT_INTERNAL_H
#define GT_INTERNAL_H

#include "events/cache.h"
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
    struct gt_arena arena; /* owns the texts of run, and rows */
    struct gt_run run;
    struct gputime_rows *rows; /* row_kinds of them: the events as the public interface hands them out */
    size_t row_kinds;
    struct gt_cache_key cache_key;
    bool is_worth_caching; /* decoding took long */
};

struct gputime_report {
    struct gt_report *model;
    struct gt_request request; /* that it was made with; all in the model's arena */
    struct gt_view **views;    /* by section: cells may point into them */
};

/* Hands an internal failure to the caller's error (which may be NULL). */
enum gputime_status gt_internal_fail(enum gt_status status, const struct gt_error *from, struct gputime_error *to);

/* taking.c: options structs of the caller, whatever version of the header they are of. */

/* Copies a struct that begins with its size; what the caller's version does not have is 0. NULL: all is. A struct that
   is too long is fine as long as what is not known here is 0. */
enum gt_status gt_take(const char *name, const void *from, void *into, size_t known_bytes, struct gt_error *err);
#define GT_TAKE(type, from, into, err) gt_take(#type, from, into, sizeof(struct type), err)

enum gt_status gt_take_run(const struct gputime_run *from, struct gt_arena *arena, struct gt_run *into,
                           struct gt_error *err);
/* Shapes that are in the arena, with one for each table that is not to be shown. */
enum gt_status gt_take_shapes(const struct gputime_shaping *taken, struct gt_arena *arena, struct gt_shape **shapes,
                              size_t *count, struct gt_error *err);
const char *gt_take_text(const char *text, struct gt_arena *arena); /* NULL stays NULL */
/* "a,b"; NULL where there are none. */
const char *gt_take_keys(const char *const *keys, size_t count, struct gt_arena *arena);

/* rows.c: lists the store's and the labels' columns in trace->rows. false: memory was short. */
bool gt_internal_list_rows(struct gputime_trace *trace);

/* analyse.c: runs the analyses of these keys, and after them the one on the health of the data, and adds what they
   tell to the section in that order. */
enum gt_status gt_internal_analyse(const struct gt_view *view, const char *const *keys, size_t count,
                                   struct gt_section *section, struct gt_error *err);

#endif
