/* The result of a query as a table: keys and units follow from the names of its columns. */
#include "sql/sql_rows.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "report/row.h"

/* "sum(dur_ns)" is "sum_dur_ns": letters, digits and '_' alone. */
static struct gt_str key_of(struct gt_arena *arena, const char *name) {
    struct gt_str copy = gt_arena_copy(arena, gt_str_of(name));
    char *text = (char *)(uintptr_t)copy.ptr; /* it is our copy */
    size_t length = 0;
    for (size_t i = 0; i < copy.len; i++) {
        bool is_plain = isalnum((unsigned char)text[i]) || text[i] == '_';
        if (is_plain || (length && text[length - 1] != '_'))
            text[length++] = is_plain ? text[i] : '_';
    }
    while (length && text[length - 1] == '_' && copy.len)
        length--;
    if (!length)
        return GT_STR("value");
    text[length] = '\0';
    return (struct gt_str){text, length};
}

static bool has_key(const struct gt_report_column *columns, size_t count, const char *key) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(columns[i].key, key) == 0)
            return true;
    return false;
}

/* The second column of a name gets a number. */
static const char *unique_key(struct gt_arena *arena, const struct gt_report_column *columns, size_t count,
                              const char *name) {
    struct gt_str key = key_of(arena, name), tried = key;
    for (unsigned number = 2; has_key(columns, count, tried.ptr) && !gt_arena_failed(arena); number++)
        tried = gt_arena_printf(arena, "%s_%u", key.ptr, number);
    return tried.ptr;
}

/* What people see: the name as the query has it, without control characters. */
static const char *title_of(struct gt_arena *arena, const char *name) {
    struct gt_str copy = gt_arena_copy(arena, gt_str_of(name));
    for (char *at = (char *)(uintptr_t)copy.ptr; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    return copy.ptr;
}

static enum gt_unit unit_of(const char *key) {
    struct gt_str text = gt_str_of(key);
    return gt_str_ends(text, GT_STR("_ns"))                                          ? GT_UNIT_NS
           : gt_str_ends(text, GT_STR("bytes"))                                      ? GT_UNIT_BYTES
           : gt_str_ends(text, GT_STR("share"))                                      ? GT_UNIT_SHARE
           : gt_str_eq(text, GT_STR("count")) || gt_str_ends(text, GT_STR("_count")) ? GT_UNIT_COUNT
                                                                                     : GT_UNIT_NONE;
}

bool gt_sql_rows_begin(struct gt_sql_rows *rows, struct gt_section *section, sqlite3_stmt *statement) {
    struct gt_arena *arena = &section->report->arena;
    size_t count = (size_t)sqlite3_column_count(statement);
    rows->section = section;
    rows->columns = gt_arena_array(arena, count, sizeof *rows->columns);
    if (!rows->columns)
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *name = sqlite3_column_name(statement, (int)i);
        if (!name)
            return false;
        const char *key = unique_key(arena, rows->columns, i, name);
        bool is_moment = strcmp(key, "start_ns") == 0 || strcmp(key, "end_ns") == 0 || strcmp(key, "time_ns") == 0;
        rows->columns[i] = (struct gt_report_column){.key = key,
                                                     .title = title_of(arena, name),
                                                     .unit = unit_of(key),
                                                     .flags = is_moment ? GT_COLUMN_MOMENT : 0};
        rows->columns[i].of = rows->columns[i].unit == GT_UNIT_SHARE ? "what the query divides by" : NULL;
    }
    rows->table = gt_section_table(section, "rows", "Query result", rows->columns, count);
    rows->table->screen_limit = 100;
    rows->table->stands_alone = true;
    rows->table->all_rows = "--max-rows 0";
    rows->table->all_columns = "--csv";
    rows->table->empty = "The query has no rows.";
    return !gt_arena_failed(arena);
}

/* Bytes without text are shown as hexadecimal digits. */
static struct gt_str text_of_blob(struct gt_arena *arena, const unsigned char *bytes, size_t count) {
    char *text = gt_arena_alloc(arena, 2 * count + 1);
    for (size_t i = 0; i < count && text; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return text ? (struct gt_str){text, 2 * count} : (struct gt_str){"", 0};
}

static struct gt_cell cell_of(struct gt_sql_rows *rows, sqlite3_stmt *statement, int column) {
    enum { LONG_BYTES = 16 };
    struct gt_arena *arena = &rows->section->report->arena;
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        return gt_cell_int(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
        return gt_cell_real(sqlite3_column_double(statement, column));
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_column_text(statement, column);
        struct gt_str copy = gt_arena_copy(
            arena, (struct gt_str){text ? text : "", text ? (size_t)sqlite3_column_bytes(statement, column) : 0});
        if (copy.len > LONG_BYTES)
            rows->columns[column].flags |= GT_COLUMN_NAME;
        return gt_cell_text(copy);
    }
    case SQLITE_BLOB: {
        const void *bytes = sqlite3_column_blob(statement, column);
        struct gt_str text = text_of_blob(arena, bytes, bytes ? (size_t)sqlite3_column_bytes(statement, column) : 0);
        return gt_cell_text(text);
    }
    default:
        return gt_cell_null();
    }
}

uint64_t gt_sql_rows_size(const struct gt_sql_rows *rows, sqlite3_stmt *statement) {
    size_t count = rows->table->column_count;
    uint64_t size = count * sizeof(struct gt_cell);
    for (int i = 0; i < (int)count; i++) {
        int type = sqlite3_column_type(statement, i);
        if (type == SQLITE_TEXT || type == SQLITE_BLOB)
            size += (uint64_t)sqlite3_column_bytes(statement, i) * (type == SQLITE_BLOB ? 2 : 1);
    }
    return size;
}

void gt_sql_rows_add(struct gt_sql_rows *rows, sqlite3_stmt *statement) {
    rows->bytes += gt_sql_rows_size(rows, statement);
    struct gt_row row = gt_row_begin(rows->table);
    for (size_t i = 0; i < rows->table->column_count; i++)
        gt_row_next(&row, cell_of(rows, statement, (int)i));
    gt_row_end(&row);
}
