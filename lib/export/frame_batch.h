/* Columns of a frame as a batch, for files and streams. */
#ifndef GT_EXPORT_FRAME_BATCH_H
#define GT_EXPORT_FRAME_BATCH_H

#include "columns/batch.h"
#include "frame/frame.h"

struct gt_frame_batch {
    struct gt_batch batch;
    struct gt_batch_column *columns; /* `leading` free ones for the caller, then those of the frame */
    struct gt_batch_texts *texts;    /* by column of the frame */
};

/* Types and names of these columns of a frame, without values: a schema. Release also after a failure. */
enum gt_status gt_frame_batch_init(struct gt_frame_batch *batch, size_t frame, const size_t *columns, size_t count,
                                   size_t leading, struct gt_error *err);
/* Their values, made if need be; they live as long as the frames. A column that needs facts beyond those that were read
   has none: all its rows are null, or where it has no null, what the frame makes of the lack. */
enum gt_status gt_frame_batch_fill(struct gt_frame_batch *batch, struct gt_frames *frames, size_t frame,
                                   const size_t *columns, size_t count, size_t leading, uint32_t read,
                                   struct gt_error *err);
void gt_frame_batch_release(struct gt_frame_batch *batch);

#endif
