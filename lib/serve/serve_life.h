/* How long a server lives: as long as a page does. Times are ns of a clock that never goes back. */
#ifndef GT_SERVE_SERVE_LIFE_H
#define GT_SERVE_SERVE_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#define GT_SERVE_LIFE_FOREVER INT64_MAX

struct gt_serve_life {
    int64_t idle_seconds;
    int64_t last_ns; /* when a page was heard of, or it began */
    bool was_seen;   /* a page was opened */
    bool was_closed; /* the last word was that of a page that is being closed */
};

/* idle_seconds: without a word for so long it ends, even if no page was ever opened. 0: only after a page was opened, a
   minute after one was closed and nothing was heard since, else a quarter of an hour: pages in the background of a
   browser speak once a minute, and those of a machine that sleeps not at all. -1: never. */
void gt_serve_life_init(struct gt_serve_life *life, int64_t idle_seconds, int64_t now_ns);

/* A page was heard of. */
void gt_serve_life_hear(struct gt_serve_life *life, bool is_closing, int64_t now_ns);

/* When it ends; GT_SERVE_LIFE_FOREVER: not yet known. */
int64_t gt_serve_life_end_ns(const struct gt_serve_life *life);

#endif
