/* The page of a view: the application of the html output, which asks for its data. */
#ifndef GT_VIEWING_PAGE_H
#define GT_VIEWING_PAGE_H

#include "viewing.h"

/* Finds the policy of the page, with the right to ask its own server. Fails in a build without the page. */
enum gt_status gt_viewing_page_init(struct gputime_view *view, struct gt_error *err);

gt_viewing_route gt_viewing_page_write;

#endif
