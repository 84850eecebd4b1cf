/* What becomes of the names in a redacted export. */
#ifndef GT_REDACT_REDACT_NAMES_H
#define GT_REDACT_REDACT_NAMES_H

#include "base/map.h"
#include "base/str.h"
#include "redact/redact_allowed.h"

struct gt_builtin;

struct gt_redact_names {
    bool hides_all;             /* kernels and ranges too; else only those that hold a path */
    struct gt_builtin *builtin; /* says communication from other kernels */
    struct gt_map digits;       /* (role, short hash) -> the rest of the hash that it represents */
    char text[40];              /* the last name that was made */
};

bool gt_redact_names_init(struct gt_redact_names *names,
                          bool hides_all); /* false: memory was short; release then too */
void gt_redact_names_release(struct gt_redact_names *names);

/* The name that may be published: as it is, or a hash of it that begins with "k_" (kernels), "nccl_" (kernels that are
   communication, so that they still count as that), "r_" (ranges) or "c_" (calls). Equal names of one role give equal
   ones, in every file. Borrowed until the next call. role: GT_REDACT_KERNEL, RANGE or CALL. */
struct gt_str gt_redact_names_hide(struct gt_redact_names *names, enum gt_redact_role role, struct gt_str name);

/* The hash of it in any case. */
struct gt_str gt_redact_names_hash(struct gt_redact_names *names, enum gt_redact_role role, struct gt_str name);

/* 16 digits that only tell texts apart, of one file or of several. Borrowed until the next call. */
struct gt_str gt_redact_names_digits(struct gt_redact_names *names, struct gt_str text);

/* Whether something in the text looks like a path of a file: "/a", "~/a", "../a", "C:\a" where a word begins. */
bool gt_redact_names_has_path(struct gt_str text);

/* Whether the text is a short one of letters, digits, spaces and ".:_-" alone. */
bool gt_redact_names_is_plain(struct gt_str text);

#endif
