/* Interns whole lists of strings at once, on several threads. */
#ifndef GT_BASE_STRTAB_LISTS_H
#define GT_BASE_STRTAB_LISTS_H

#include "base/strtab.h"

struct gt_strtab_list {
    const struct gt_str *texts;
    size_t count;
    gt_strid *ids; /* out: of each text */
};

/* Interns list after list: ids are those that gt_strtab_intern would give, with any number of threads. */
void gt_strtab_lists_intern(struct gt_strtab *tab, const struct gt_strtab_list *lists, size_t list_count,
                            size_t threads);

#endif
