/* The steps of a rank with their windows on the GPU, and which step launched an op. */
#ifndef GT_RANKS_RANK_WINDOWS_H
#define GT_RANKS_RANK_WINDOWS_H

#include "events/view.h"
#include "ranks/rank_summary.h"

struct gt_rank_windows {
    uint32_t *step_of; /* by position in the view: index into the summary's steps; GT_RANK_NONE */
};

/* Adds the steps of the process (GT_NO_TRACK: of all) to the summary. A window begins at its range, but not before the
   window before it or the first op, and lasts to the end of the ops it launched. tag: steps are the ranges whose names
   begin with it, numbered by start; NULL: those of the labels. */
enum gt_status gt_rank_windows_init(struct gt_rank_windows *windows, const struct gt_view *view, uint32_t process,
                                    const char *tag, struct gt_rank_summary *summary, struct gt_error *err);
void gt_rank_windows_release(struct gt_rank_windows *windows);

#endif
