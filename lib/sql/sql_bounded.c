/* SQLite's own functions for texts, with the same results. Its instr() and replace() compare the whole pattern at every
   place, like() and glob() may do so for each wildcard, trim() looks through all characters that are to go; with values
   of some megabytes that is hours in one instruction, between two looks at the clock. Here searches are linear, and
   what is not is refused where it would take more than STEPS_MAX. */
#include "sql/sql_bounded.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

enum { STEPS_MAX = 1 << 26, STEPS_TO_LOOK = 1 << 14 };

/* Whether so much work may be done; if not, the result is set. */
static bool may_take(sqlite3_context *context, uint64_t steps, const char *complaint) {
    const struct gt_sql_bounded *bounded = sqlite3_user_data(context);
    if (steps > STEPS_MAX) {
        sqlite3_result_error(context, complaint, -1);
        return false;
    }
    if (steps > STEPS_TO_LOOK && bounded->must_stop(bounded->context)) {
        sqlite3_result_error_code(context, SQLITE_INTERRUPT);
        return false;
    }
    return true;
}

struct text {
    const unsigned char *bytes;
    size_t size;
};

/* false: memory is short, which is the result then. Null is to be asked for before. */
static bool take_text(sqlite3_context *context, sqlite3_value *value, struct text *text) {
    text->bytes = sqlite3_value_text(value);
    text->size = (size_t)sqlite3_value_bytes(value);
    if (!text->bytes)
        sqlite3_result_error_nomem(context);
    return text->bytes != NULL;
}

static bool has_null(int count, sqlite3_value **values) {
    for (int i = 0; i < count; i++)
        if (sqlite3_value_type(values[i]) == SQLITE_NULL)
            return true;
    return false;
}

/* The next character of UTF-8, as SQLite counts them. */
static const unsigned char *after_character(const unsigned char *at, const unsigned char *end) {
    if (*at++ >= 0xc0)
        while (at < end && (*at & 0xc0) == 0x80)
            at++;
    return at;
}

/* ---- searching ---- */

static const unsigned char *find(const unsigned char *at, const unsigned char *end, struct text what) {
    return at < end ? memmem(at, (size_t)(end - at), what.bytes, what.size) : NULL;
}

/* Texts are found where a character begins, and places count characters. What begins inside one can only be at the
   beginning: to look further would take a search for each byte. */
static int64_t place_in_text(struct text where, struct text what) {
    if ((what.bytes[0] & 0xc0) == 0x80)
        return what.size <= where.size && memcmp(where.bytes, what.bytes, what.size) == 0;
    const unsigned char *end = where.bytes + where.size, *found = find(where.bytes, end, what);
    int64_t place = 1;
    for (const unsigned char *at = where.bytes; found && at < found; at++)
        place += at == where.bytes || (*at & 0xc0) != 0x80;
    return found ? place : 0;
}

static int64_t place_of(sqlite3_context *context, sqlite3_value **values) {
    struct text where, what;
    if (sqlite3_value_type(values[0]) == SQLITE_BLOB && sqlite3_value_type(values[1]) == SQLITE_BLOB) {
        where = (struct text){sqlite3_value_blob(values[0]), (size_t)sqlite3_value_bytes(values[0])};
        what = (struct text){sqlite3_value_blob(values[1]), (size_t)sqlite3_value_bytes(values[1])};
        const unsigned char *found = what.size && where.size ? find(where.bytes, where.bytes + where.size, what) : NULL;
        return what.size == 0 ? 1 : found ? found - where.bytes + 1 : 0;
    }
    if (!take_text(context, values[0], &where) || !take_text(context, values[1], &what))
        return -1;
    return what.size == 0 ? 1 : place_in_text(where, what);
}

static void instr(sqlite3_context *context, int count, sqlite3_value **values) {
    if (has_null(count, values))
        return;
    int64_t place = place_of(context, values);
    if (place >= 0)
        sqlite3_result_int64(context, place);
}

static size_t count_of(struct text where, struct text what) {
    const unsigned char *end = where.bytes + where.size;
    size_t count = 0;
    for (const unsigned char *at = find(where.bytes, end, what); at; at = find(at + what.size, end, what))
        count++;
    return count;
}

static void put(unsigned char **to, const unsigned char *bytes, size_t size) {
    if (size > 0)
        memcpy(*to, bytes, size);
    *to += size;
}

static void replace_all(struct text where, struct text what, struct text by, unsigned char *to) {
    const unsigned char *at = where.bytes, *end = where.bytes + where.size, *found;
    while ((found = find(at, end, what))) {
        put(&to, at, (size_t)(found - at));
        put(&to, by.bytes, by.size);
        at = found + what.size;
    }
    put(&to, at, (size_t)(end - at));
}

static void replace(sqlite3_context *context, int count, sqlite3_value **values) {
    struct text where, what, by;
    if (has_null(2, values) || !take_text(context, values[0], &where) || !take_text(context, values[1], &what))
        return;
    if (what.size == 0 || what.bytes[0] == '\0') { /* as SQLite has it, whatever the last argument */
        sqlite3_result_value(context, values[0]);
        return;
    }
    if (has_null(count, values) || !take_text(context, values[2], &by))
        return;
    /* Values are bounded, and so is this: both factors are below 2^31. */
    size_t times = count_of(where, what), size = where.size - times * what.size + times * by.size;
    if (size > (size_t)sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1)) {
        sqlite3_result_error_toobig(context);
        return;
    }
    unsigned char *made = gt_mem_alloc(size + 1);
    if (!made) {
        sqlite3_result_error_nomem(context);
        return;
    }
    replace_all(where, what, by, made);
    sqlite3_result_text64(context, (char *)made, size, gt_mem_free, SQLITE_UTF8);
}

/* ---- trimming ---- */

enum side { LEFT = 1, RIGHT = 2 };

/* How many bytes of one of the characters are at the beginning, or at the end, of the text; 0: of none. */
static size_t matching(struct text text, struct text set, bool at_end) {
    const unsigned char *end = set.bytes + set.size, *next;
    for (const unsigned char *at = set.bytes; at < end && *at; at = next) {
        next = after_character(at, end);
        size_t size = (size_t)(next - at);
        if (size <= text.size && memcmp(at_end ? text.bytes + text.size - size : text.bytes, at, size) == 0)
            return size;
    }
    return 0;
}

static void trim_sides(sqlite3_context *context, int count, sqlite3_value **values, unsigned sides) {
    struct text text, set = {(const unsigned char *)" ", 1};
    if (has_null(count, values) || !take_text(context, values[0], &text) ||
        (count == 2 && !take_text(context, values[1], &set)) ||
        !may_take(context, (uint64_t)text.size * set.size, "too many characters to trim"))
        return;
    size_t size;
    while ((sides & LEFT) && (size = matching(text, set, false)))
        text = (struct text){text.bytes + size, text.size - size};
    while ((sides & RIGHT) && (size = matching(text, set, true)))
        text.size -= size;
    sqlite3_result_text64(context, (const char *)text.bytes, text.size, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void trim(sqlite3_context *context, int count, sqlite3_value **values) {
    trim_sides(context, count, values, LEFT | RIGHT);
}

static void ltrim(sqlite3_context *context, int count, sqlite3_value **values) {
    trim_sides(context, count, values, LEFT);
}

static void rtrim(sqlite3_context *context, int count, sqlite3_value **values) {
    trim_sides(context, count, values, RIGHT);
}

/* ---- patterns ---- */

/* The pattern is the first argument. */
static bool take_pattern(sqlite3_context *context, sqlite3_value **values, const char **pattern, const char **text) {
    static const char complaint[] = "LIKE or GLOB pattern too complex";
    int longest = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
    struct text a, b;
    if (!take_text(context, values[0], &a) || !take_text(context, values[1], &b))
        return false;
    if (a.size > (size_t)longest) {
        sqlite3_result_error(context, complaint, -1);
        return false;
    }
    *pattern = (const char *)a.bytes;
    *text = (const char *)b.bytes;
    return may_take(context, (uint64_t)a.size * b.size, complaint);
}

static bool is_blob(sqlite3_value **values) {
    return (sqlite3_value_type(values[0]) == SQLITE_BLOB || sqlite3_value_type(values[1]) == SQLITE_BLOB) &&
           sqlite3_compileoption_used("LIKE_DOESNT_MATCH_BLOBS");
}

/* One character, as a number; 0: it is not one. */
static unsigned escape_of(sqlite3_value *value) {
    const unsigned char *bytes = sqlite3_value_text(value);
    size_t size = (size_t)sqlite3_value_bytes(value);
    unsigned code = bytes && size ? bytes[0] : 0;
    if (!bytes || size == 0 || after_character(bytes, bytes + size) != bytes + size)
        return 0;
    if (code >= 0xc0)
        code &= size == 2 ? 0x1f : size == 3 ? 0x0f : 0x07;
    for (size_t i = 1; i < size; i++)
        code = code << 6 | (bytes[i] & 0x3f);
    return code;
}

enum { OTHER_ESCAPE = '\\' };

/* The same pattern for OTHER_ESCAPE: sqlite3_strlike() takes an escape of % or _ for a wildcard. Ends in OTHER_ESCAPE,
   and so matches nothing, if the pattern ends in its escape. NULL: memory is short. */
static char *new_pattern(const char *pattern, char escape) {
    char *to = gt_mem_array(2 * strlen(pattern) + 1, 1), *end = to;
    for (; to && *pattern; pattern++) {
        bool is_escaped = *pattern == escape;
        pattern += is_escaped;
        if (is_escaped || *pattern == OTHER_ESCAPE)
            *end++ = OTHER_ESCAPE;
        if (!*pattern)
            break;
        *end++ = *pattern;
    }
    return to;
}

/* -1: memory is short. */
static int is_like(const char *pattern, const char *text, unsigned escape) {
    if (escape != '%' && escape != '_')
        return sqlite3_strlike(pattern, text, escape) == 0;
    char *other = new_pattern(pattern, (char)escape);
    int result = other ? sqlite3_strlike(other, text, OTHER_ESCAPE) == 0 : -1;
    gt_mem_free(other);
    return result;
}

static void like(sqlite3_context *context, int count, sqlite3_value **values) {
    const char *pattern, *text;
    unsigned escape = 0;
    if (is_blob(values)) {
        sqlite3_result_int(context, 0);
        return;
    }
    if (has_null(count, values) || !take_pattern(context, values, &pattern, &text))
        return;
    if (count == 3 && !(escape = escape_of(values[2]))) {
        sqlite3_result_error(context, "ESCAPE expression must be a single character", -1);
        return;
    }
    int result = is_like(pattern, text, escape);
    if (result < 0)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_int(context, result);
}

static void glob(sqlite3_context *context, int count, sqlite3_value **values) {
    const char *pattern, *text;
    if (is_blob(values))
        sqlite3_result_int(context, 0);
    else if (!has_null(count, values) && take_pattern(context, values, &pattern, &text))
        sqlite3_result_int(context, sqlite3_strglob(pattern, text) == 0);
}

/* ---- all of them ---- */

bool gt_sql_bounded_refuses(const char *function) {
    return sqlite3_stricmp(function, "json_patch") == 0 || /* looks at all keys for each key */
           sqlite3_stricmp(function, "unhex") == 0;        /* at all ignored characters for each; SQLite 3.41 has it */
}

int gt_sql_bounded_add(sqlite3 *db, const struct gt_sql_bounded *bounded) {
    static const struct {
        const char *name;
        int count;
        void (*call)(sqlite3_context *context, int count, sqlite3_value **values);
    } functions[] = {
        {"like", 2, like},       {"like", 3, like},   {"glob", 2, glob},   {"instr", 2, instr},
        {"replace", 3, replace}, {"trim", 1, trim},   {"trim", 2, trim},   {"ltrim", 1, ltrim},
        {"ltrim", 2, ltrim},     {"rtrim", 1, rtrim}, {"rtrim", 2, rtrim},
    };
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && code == SQLITE_OK; i++)
        code = sqlite3_create_function_v2(db, functions[i].name, functions[i].count,
                                          SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                          (void *)(uintptr_t)bounded, functions[i].call, NULL, NULL, NULL);
    return code;
}
