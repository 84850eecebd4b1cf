/* Errors of SQLite in a line with the place in the query and a suggestion. */
#include "sql/sql_error.h"

#include <stdio.h>
#include <string.h>

#include "frame/frame.h"
#include "sql/sql_frames.h"
#include "sql/sql_reports.h"
#include "sql/sql_words.h"

/* The name that is most like another one. */
struct likeness {
    struct gt_str wanted;
    char name[80];
    size_t distance;
};

static void consider(struct likeness *likeness, const char *prefix, const char *name) {
    char full[80];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    size_t distance = gt_str_distance_nocase(likeness->wanted, gt_str_of(full));
    size_t without = gt_str_distance_nocase(likeness->wanted, gt_str_of(name)); /* people forget the prefix */
    distance = without < distance ? without : distance;
    if (distance >= likeness->distance)
        return;
    likeness->distance = distance;
    memcpy(likeness->name, full, sizeof full);
}

static void consider_tables(struct likeness *likeness, const struct gt_sql_query *query) {
    for (size_t f = 0; f < gt_frame_count(); f++)
        consider(likeness, "", gt_frame_key(f));
    for (size_t i = 0; i < query->report_count; i++)
        consider(likeness, GT_SQL_REPORTS_PREFIX, query->report_keys[i]);
}

/* Of the tables that the query names. */
static void consider_columns(struct likeness *likeness, const struct gt_sql_query *query) {
    for (size_t f = 0; f < gt_frame_count(); f++) {
        if (!gt_sql_words_mention(query->text, gt_str_of(gt_frame_key(f))))
            continue;
        for (size_t c = 0; c < gt_frame_column_count(f); c++)
            consider(likeness, "", gt_frame_column(f, c).key);
        consider(likeness, "", "input");
        consider(likeness, "", "rank");
    }
}

/* What comes after the beginning of a message, without the name of a table before a dot; empty: it has another one. */
static struct gt_str name_after(const char *message, const char *beginning) {
    size_t length = strlen(beginning);
    if (strncmp(message, beginning, length) != 0)
        return (struct gt_str){0};
    const char *name = message + length, *dot = strrchr(name, '.');
    return gt_str_of(dot ? dot + 1 : name);
}

/* "; did you mean 'dur_ns'?", or nothing. */
static void suggest(const char *message, const struct gt_sql_query *query, char *out, size_t size) {
    struct likeness likeness = {.wanted = name_after(message, "no such column: ")};
    bool is_column = likeness.wanted.len > 0;
    if (!is_column)
        likeness.wanted = name_after(message, "no such table: ");
    *out = '\0';
    if (!likeness.wanted.len)
        return;
    likeness.distance = likeness.wanted.len / 2 + 1; /* what is further away is not meant */
    if (is_column)
        consider_columns(&likeness, query);
    else
        consider_tables(&likeness, query);
    if (*likeness.name)
        snprintf(out, size, "; did you mean '%s'?", likeness.name);
    else
        snprintf(out, size, "; 'gputime sql --schema' lists tables and columns");
}

/* " at line 2, column 5", or nothing where SQLite does not say. */
static void place_of(sqlite3 *db, struct gt_str text, char *out, size_t size) {
    int offset = sqlite3_libversion_number() >= 3038000 ? sqlite3_error_offset(db) : -1;
    size_t line = 1, column = 1;
    *out = '\0';
    if (offset < 0 || (size_t)offset > text.len)
        return;
    for (int i = 0; i < offset; i++) {
        column = text.ptr[i] == '\n' ? 1 : column + 1;
        line += text.ptr[i] == '\n';
    }
    snprintf(out, size, " at line %zu, column %zu", line, column);
}

enum gt_status gt_sql_error_set(sqlite3 *db, const struct gt_sql_query *query, struct gt_error *err) {
    char place[80], advice[160];
    const char *message = sqlite3_errmsg(db);
    int code = sqlite3_errcode(db) & 0xff;
    if (code == SQLITE_NOMEM)
        return gt_fail_memory(err);
    if (code == SQLITE_AUTH)
        return gt_fail(err, "SQL error: %s; only SELECT is allowed, the tables cannot be changed", message);
    place_of(db, query->text, place, sizeof place);
    suggest(message, query, advice, sizeof advice);
    return gt_fail(err, "SQL error%s: %s%s", place, message, advice);
}
