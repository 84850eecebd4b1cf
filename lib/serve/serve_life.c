/* Decides when a server has nobody to serve any more. */
#include "serve/serve_life.h"

enum { CLOSED_SECONDS = 60, SILENT_SECONDS = 900 };

void gt_serve_life_init(struct gt_serve_life *life, int64_t idle_seconds, int64_t now_ns) {
    *life = (struct gt_serve_life){.idle_seconds = idle_seconds, .last_ns = now_ns};
}

void gt_serve_life_hear(struct gt_serve_life *life, bool is_closing, int64_t now_ns) {
    life->last_ns = now_ns;
    life->was_seen = true;
    life->was_closed = is_closing;
}

int64_t gt_serve_life_end_ns(const struct gt_serve_life *life) {
    int64_t seconds = life->idle_seconds ? life->idle_seconds : life->was_closed ? CLOSED_SECONDS : SILENT_SECONDS;
    int64_t end_ns;
    if (seconds < 0 || (!life->idle_seconds && !life->was_seen) ||
        __builtin_mul_overflow(seconds, INT64_C(1000000000), &end_ns) ||
        __builtin_add_overflow(end_ns, life->last_ns, &end_ns))
        return GT_SERVE_LIFE_FOREVER;
    return end_ns;
}
