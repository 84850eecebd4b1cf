/* Options of analyses: what a report was asked for, with the automatic value where nothing was. */
#ifndef GT_MEASURE_OPTIONS_H
#define GT_MEASURE_OPTIONS_H

#include "base/arena.h"
#include "base/fail.h"
#include "events/view.h"

enum gt_option_id {
#define GT_FLAG(analysis, key, automatic, help)                 GT_OPTION_##key,
#define GT_INT(analysis, key, automatic, min, max, unit, help)  GT_OPTION_##key,
#define GT_REAL(analysis, key, automatic, min, max, unit, help) GT_OPTION_##key,
#define GT_TEXT(analysis, key, help)                            GT_OPTION_##key,
#define GT_CHOICE(analysis, key, choices, help)                 GT_OPTION_##key,
#include "measure/options.def"
#undef GT_FLAG
#undef GT_INT
#undef GT_REAL
#undef GT_TEXT
#undef GT_CHOICE
    GT_OPTION_COUNT
};

extern const struct gputime_option_info gt_option_infos[GT_OPTION_COUNT];

/* A value for each option in the arena, those that are given instead of the automatic ones; of two for one the later
   counts. Unknown keys, wrong types and values out of range are usage errors that name them. */
enum gt_status gt_options_complete(const struct gputime_option *given, size_t count, struct gt_arena *arena,
                                   const struct gputime_option **out, struct gt_error *err);

/* The value that an analysis uses. */
const struct gputime_option *gt_option_of(const struct gt_view *view, enum gt_option_id id);

static inline bool gt_option_flag(const struct gt_view *view, enum gt_option_id id) {
    return gt_option_of(view, id)->integer != 0;
}
static inline int64_t gt_option_int(const struct gt_view *view, enum gt_option_id id) {
    return gt_option_of(view, id)->integer;
}
static inline double gt_option_real(const struct gt_view *view, enum gt_option_id id) {
    return gt_option_of(view, id)->real;
}
static inline const char *gt_option_text(const struct gt_view *view, enum gt_option_id id) {
    return gt_option_of(view, id)->text;
}
/* Which of its choices, from 0. */
size_t gt_option_choice(const struct gt_view *view, enum gt_option_id id);

#endif
