/* Takes options structs of the caller, whatever version of the header they are of. */
#ifndef GT_TAKE_H
#define GT_TAKE_H

#include "base/arena.h"
#include "base/fail.h"
#include "events/view.h"
#include "gputime.h"
#include "report/shape.h"

/* Copies a struct that begins with its size; what the caller's version does not have is 0. NULL: all is. A struct that
   is too long is fine as long as what is not known here is 0. */
enum gt_status gt_take(const char *name, const void *from, void *into, size_t known_bytes, struct gt_error *err);
#define GT_TAKE(type, from, into, err) gt_take(#type, from, into, sizeof(struct type), err)

/* A number of a choice, 0 to last. */
enum gt_status gt_take_choice(const char *what, unsigned value, unsigned last, struct gt_error *err);
enum gt_status gt_take_selection(const struct gputime_selection *from, struct gputime_selection *into,
                                 struct gt_error *err);
enum gt_status gt_take_run(const struct gputime_run *from, struct gt_arena *arena, struct gt_run *into,
                           struct gt_error *err);
/* Shapes that are in the arena, with one for each table that is not to be shown. */
enum gt_status gt_take_shapes(const struct gputime_shaping *taken, struct gt_arena *arena, struct gt_shape **shapes,
                              size_t *count, struct gt_error *err);
const char *gt_take_text(const char *text, struct gt_arena *arena); /* NULL stays NULL */
/* "a,b"; NULL where there are none. */
const char *gt_take_keys(const char *const *keys, size_t count, struct gt_arena *arena);

#endif
