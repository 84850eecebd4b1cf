/* Matching of names with wildcards: at a mismatch the last star takes one byte more, so that no pattern takes longer
   than the product of both lengths. */
#include "base/glob.h"

#include <stdint.h>

static bool is_special(char byte) {
    return byte == '*' || byte == '?' || byte == '\\';
}

/* Whether a backslash takes away the meaning of what follows it. */
static bool is_escape(struct gt_str glob, size_t at) {
    return at + 1 < glob.len && glob.ptr[at] == '\\' && is_special(glob.ptr[at + 1]);
}

/* Bytes of the pattern that match this one; 0: none do. */
static size_t matching_bytes(struct gt_str glob, size_t at, char byte) {
    if (at >= glob.len)
        return 0;
    if (is_escape(glob, at))
        return glob.ptr[at + 1] == byte ? 2 : 0;
    return glob.ptr[at] == '?' || glob.ptr[at] == byte;
}

bool gt_glob_matches(struct gt_str glob, struct gt_str text) {
    size_t at = 0, star = SIZE_MAX, resume = 0;
    for (size_t i = 0; i < text.len;) {
        size_t taken = at < glob.len && glob.ptr[at] == '*' ? 0 : matching_bytes(glob, at, text.ptr[i]);
        if (taken) {
            at += taken;
            i++;
        } else if (at < glob.len && glob.ptr[at] == '*') {
            star = at++;
            resume = i;
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

struct gt_str gt_glob_of_name(struct gt_arena *arena, struct gt_str name) {
    char *glob = gt_arena_array(arena, name.len + 1, 2);
    size_t bytes = 0;
    for (size_t i = 0; i < name.len && glob; i++) {
        if (is_special(name.ptr[i]))
            glob[bytes++] = '\\';
        glob[bytes++] = name.ptr[i];
    }
    return glob ? (struct gt_str){glob, bytes} : (struct gt_str){"", 0};
}

struct gt_str gt_glob_plain(struct gt_arena *arena, struct gt_str glob) {
    char *plain = gt_arena_array(arena, glob.len + 1, 1);
    size_t bytes = 0;
    for (size_t i = 0; i < glob.len && plain; i++) {
        i += is_escape(glob, i);
        plain[bytes++] = glob.ptr[i];
    }
    return plain ? (struct gt_str){plain, bytes} : (struct gt_str){"", 0};
}
