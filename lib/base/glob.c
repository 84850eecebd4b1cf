/* Matching of names with wildcards: at a mismatch the last star takes one byte more, so that no pattern takes longer
   than the product of both lengths. */
#include "base/glob.h"

#include <stdint.h>

bool gt_glob_matches(struct gt_str glob, struct gt_str text) {
    size_t at = 0, star = SIZE_MAX, resume = 0;
    for (size_t i = 0; i < text.len;) {
        if (at < glob.len && glob.ptr[at] == '*') {
            star = at++;
            resume = i;
        } else if (at < glob.len && (glob.ptr[at] == '?' || glob.ptr[at] == text.ptr[i])) {
            at++;
            i++;
        } else if (star != SIZE_MAX) {
            at = star + 1;
            i = ++resume;
        } else {
            return false;
        }
    }
    while (at < glob.len && glob.ptr[at] == '*')
        at++;
    return at == glob.len;
}
