/* The names of a column cut to a width so that different ones look different. */
#ifndef GT_WRITE_NAME_CUTS_H
#define GT_WRITE_NAME_CUTS_H

#include "report/report.h"
#include "write/glyph.h"

/* By row, for the first `rows` of the table: each name is cut as gt_glyph_name_cut does; where that leaves the same of
   different names, around the place where they differ. Cells that are no text are empty. Free with gt_mem_free; NULL:
   memory was short. Cost: n log n. */
struct gt_cut *gt_name_cuts_new(const struct gt_table *table, size_t column, size_t rows, size_t width, bool utf8);

#endif
