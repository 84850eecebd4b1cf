/* Makes filters of constraints: texts are compared once each, not once for every row. */
#include "sql/sql_filter.h"

#include <string.h>

#include "base/mem.h"

/* Whether a text of the column fulfils a constraint. scratch has room for it and a NUL: SQLite's own functions, which
   are used so that both agree, end at one. */
static bool fits(struct gt_str text, int op, struct gt_str wanted, char *scratch) {
    if (op == SQLITE_INDEX_CONSTRAINT_EQ)
        return gt_str_eq(text, wanted);
    memcpy(scratch, text.ptr, text.len);
    scratch[text.len] = '\0';
    if (op == SQLITE_INDEX_CONSTRAINT_LIKE)
        return sqlite3_strlike(wanted.ptr, scratch, 0) == 0;
    return sqlite3_strglob(wanted.ptr, scratch) == 0;
}

/* Whether texts are compared here. Patterns: SQLite's functions call themselves for each wildcard, and what they are
   called through in SQL refuses long ones, so those are left to it. */
static bool is_of_texts(int op, sqlite3_value *value) {
    enum { PATTERN_BYTES = 1000 };
    bool is_pattern = op == SQLITE_INDEX_CONSTRAINT_LIKE || op == SQLITE_INDEX_CONSTRAINT_GLOB;
    if (sqlite3_value_type(value) != SQLITE_TEXT)
        return false;
    return op == SQLITE_INDEX_CONSTRAINT_EQ || (is_pattern && sqlite3_value_bytes(value) <= PATTERN_BYTES);
}

static bool init_texts(struct gt_sql_filter *filter, int op, sqlite3_value *value) {
    const struct gt_frame_values *values = &filter->values;
    const char *text = (const char *)sqlite3_value_text(value);
    struct gt_str wanted = {text, (size_t)sqlite3_value_bytes(value)};
    size_t longest = 0;
    for (size_t i = 0; i < values->text_count; i++)
        longest = values->texts[i].len > longest ? values->texts[i].len : longest;
    filter->allowed = gt_mem_array(values->text_count, 1);
    char *scratch = gt_mem_alloc(longest + 1);
    bool ok = filter->allowed && scratch && text;
    for (size_t i = 0; i < values->text_count && ok; i++)
        filter->allowed[i] = fits(values->texts[i], op, wanted, scratch);
    gt_mem_free(scratch);
    if (!ok) {
        gt_mem_free(filter->allowed);
        filter->allowed = NULL;
    }
    return ok;
}

/* Real numbers: bounds may let through one whole number too many, never one too few. */
static int64_t floor_of(double real) {
    return real >= 0x1p63 ? INT64_MAX : real < -0x1p63 ? INT64_MIN : (int64_t)real - (real < (double)(int64_t)real);
}

bool gt_sql_filter_bounds(int op, sqlite3_value *value, int64_t *least, int64_t *most) {
    int type = sqlite3_value_type(value);
    *least = INT64_MIN;
    *most = INT64_MAX;
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        return false;
    int64_t low = type == SQLITE_INTEGER ? sqlite3_value_int64(value) : floor_of(sqlite3_value_double(value));
    int64_t high = type == SQLITE_INTEGER || low == INT64_MAX ? low : low + 1;
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        *least = low;
        *most = high;
        return true;
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
        *least = low;
        return true;
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
        *most = high;
        return true;
    default:
        return false;
    }
}

bool gt_sql_filter_init(struct gt_sql_filter *filter, const struct gt_frame_values *values, int op,
                        sqlite3_value *value, bool *takes) {
    *filter = (struct gt_sql_filter){.values = *values};
    *takes = false;
    if (values->texts) {
        *takes = is_of_texts(op, value);
        return !*takes || init_texts(filter, op, value);
    }
    *takes = values->type != GPUTIME_FIELD_F64 && gt_sql_filter_bounds(op, value, &filter->least, &filter->most);
    return true;
}

void gt_sql_filter_release(struct gt_sql_filter *filter) {
    gt_mem_free(filter->allowed);
    filter->allowed = NULL;
}
