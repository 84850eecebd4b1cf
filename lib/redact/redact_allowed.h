/* What a redacted export may hold: tables, columns and rows by name. Whatever is not named here is left out. */
#ifndef GT_REDACT_REDACT_ALLOWED_H
#define GT_REDACT_REDACT_ALLOWED_H

#include <stdint.h>

#include "base/str.h"

/* What a column holds, which decides what becomes of its values. A value of another type than its role is left out. */
enum gt_redact_role {
    GT_REDACT_NUMBER,     /* copied */
    GT_REDACT_REAL,       /* copied */
    GT_REDACT_GLOBAL_ID,  /* process and thread in one number: both get new numbers */
    GT_REDACT_PID,        /* the same for a process alone */
    GT_REDACT_KERNEL,     /* name of a kernel: id of a string, or text */
    GT_REDACT_RANGE,      /* name of a range, mark, category or domain: the same */
    GT_REDACT_CALL,       /* name of an API call or of a part of the profiler: the same */
    GT_REDACT_TERM,       /* a word of NVIDIA's: model of the GPU, name of an enumerator */
    GT_REDACT_RANGE_TYPE, /* number; rows of types that are not known are left out */
    GT_REDACT_FACT,       /* name of a fact; rows of facts that are not known are left out */
    GT_REDACT_VERSION,    /* value of a fact */
    GT_REDACT_LOSS,       /* message on lost events; rows with other messages are left out */
    GT_REDACT_ROLE_COUNT,
    GT_REDACT_NONE = GT_REDACT_ROLE_COUNT
};

struct gt_redact_table {
    const char *names;                         /* with spaces between; all generations' */
    const char *columns[GT_REDACT_ROLE_COUNT]; /* by role, with spaces between */
};

/* NULL: the table is left out. ASCII case is ignored, as in SQL. */
const struct gt_redact_table *gt_redact_allowed_table_find(struct gt_str name);
/* GT_REDACT_NONE: the column is left out. */
enum gt_redact_role gt_redact_allowed_column_role(const struct gt_redact_table *table, struct gt_str name);

/* Whether name is one of the words in list, which may be NULL. */
bool gt_redact_allowed_word_in(const char *list, struct gt_str name);

extern const char gt_redact_facts[]; /* names of the facts that are kept, with spaces between */

bool gt_redact_allowed_range_type(int64_t type);

/* A message on lost events in words of our own: its beginning is known, and of the rest only the number is taken.
   false: it is none. */
bool gt_redact_allowed_loss(struct gt_str message, char *text, size_t size);

#endif
