/* Parses limits and records their verdicts. */
#include "verdict/limit.h"
#include "compare/compare.h"
#include "report/row.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_NAME = 20 };

static const struct gt_report_column columns[] = {
    {"limit", "Limit", GT_UNIT_NONE, NULL, 0},
    {"verdict", "Verdict", GT_UNIT_NONE, NULL, 0},
    {"detail", "Measured", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"value", "Value", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"bound", "Bound", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"unit", "Unit", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"noise", "Noise", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"rows", "Rows", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"broken_rows", "Rows broken", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"worst", "Worst row", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_DETAIL},
};

/* ---- reading ---- */

static struct gt_str trimmed(struct gt_str text) {
    while (text.len && isspace((unsigned char)text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    while (text.len && isspace((unsigned char)text.ptr[text.len - 1]))
        text.len--;
    return text;
}

static bool parse_bound(struct gt_str text, struct gt_limit *limit) {
    static const struct {
        const char *suffix;
        double factor;
        enum gt_limit_unit unit;
    } units[] = {{"%", 0.01, GT_LIMIT_PERCENT},   {"ns", 1, GT_LIMIT_TIME},        {"us", 1e3, GT_LIMIT_TIME},
                 {"ms", 1e6, GT_LIMIT_TIME},      {"s", 1e9, GT_LIMIT_TIME},       {"KiB", 0x1p10, GT_LIMIT_BYTES},
                 {"MiB", 0x1p20, GT_LIMIT_BYTES}, {"GiB", 0x1p30, GT_LIMIT_BYTES}, {"TiB", 0x1p40, GT_LIMIT_BYTES},
                 {"kB", 1e3, GT_LIMIT_BYTES},     {"KB", 1e3, GT_LIMIT_BYTES},     {"MB", 1e6, GT_LIMIT_BYTES},
                 {"GB", 1e9, GT_LIMIT_BYTES},     {"TB", 1e12, GT_LIMIT_BYTES},    {"B", 1, GT_LIMIT_BYTES},
                 {"", 1, GT_LIMIT_NUMBER}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t bytes = strlen(units[i].suffix);
        if (text.len < bytes || memcmp(text.ptr + text.len - bytes, units[i].suffix, bytes) != 0)
            continue;
        struct gt_str number = trimmed((struct gt_str){text.ptr, text.len - bytes});
        limit->is_signed = number.len && (number.ptr[0] == '+' || number.ptr[0] == '-');
        if (number.len && number.ptr[0] == '+') {
            number.ptr++;
            number.len--;
        }
        limit->unit = units[i].unit;
        bool ok = gt_num_parse_real(number, &limit->bound) && isfinite(limit->bound);
        limit->bound *= units[i].factor;
        return ok;
    }
    return false;
}

/* "each kernel:*": the first word does not belong to the name. */
static struct gt_str take_each(struct gt_str left, bool *is_each) {
    static const struct gt_str word = {"each", 4};
    *is_each =
        left.len > word.len && memcmp(left.ptr, word.ptr, word.len) == 0 && isspace((unsigned char)left.ptr[word.len]);
    return *is_each ? trimmed((struct gt_str){left.ptr + word.len, left.len - word.len}) : left;
}

static void split_kind(struct gt_limit *limit, struct gt_str left) {
    const char *colon = memchr(left.ptr, ':', left.len);
    limit->pattern = left;
    if (colon && colon > left.ptr) {
        limit->kind = (struct gt_str){left.ptr, (size_t)(colon - left.ptr)};
        limit->pattern = (struct gt_str){colon + 1, left.len - limit->kind.len - 1};
    }
}

enum gt_status gt_limit_parse(const char *text, const struct gt_roles *roles, struct gt_limit *limit,
                              struct gt_error *err) {
    *limit = (struct gt_limit){.text = trimmed(gt_str_of(text))};
    size_t bytes = limit->text.len;
    while (bytes && limit->text.ptr[bytes - 1] != '<' && limit->text.ptr[bytes - 1] != '>')
        bytes--;
    struct gt_str left = trimmed((struct gt_str){limit->text.ptr, bytes ? bytes - 1 : 0});
    if (!left.len)
        return gt_fail_usage(err, "invalid limit '%s'; use for example 'idle<20%%' or 'step>+3%%'", text);
    limit->is_above = limit->text.ptr[bytes - 1] == '>';
    limit->takes_equal = bytes < limit->text.len && limit->text.ptr[bytes] == '=';
    size_t taken = bytes + limit->takes_equal;
    if (!parse_bound(trimmed((struct gt_str){limit->text.ptr + taken, limit->text.len - taken}), limit))
        return gt_fail_usage(
            err, "limit '%s' needs a number, with %%, ns, us, ms, s, B, kB, MB, GB, KiB, MiB, GiB or no unit", text);
    split_kind(limit, take_each(left, &limit->is_each));
    if (limit->is_each && !limit->kind.len)
        return gt_limit_fail(limit, err, "'each' needs a kind of row, for example 'each kernel:*>+10%%'");
    return limit->kind.len ? GT_OK : gt_limit_resolve(limit, roles, err);
}

const char *gt_limit_table(const char *text, const struct gt_roles *roles) {
    struct gt_limit limit;
    struct gt_error err;
    const char *table = NULL;
    if (gt_limit_parse(text, roles, &limit, &err) != GT_OK)
        return NULL;
    if (limit.measure)
        return limit.measure->from == GT_FROM_ROW ? roles->measures : limit.measure->table;
    return gt_limit_find_table(&limit, roles, &table, &err) == GT_OK ? table : NULL;
}

enum gt_status gt_limit_fail(const struct gt_limit *limit, struct gt_error *err, const char *format, ...) {
    char message[sizeof err->message];
    va_list args;
    va_start(args, format);
    if (vsnprintf(message, sizeof message, format, args) < 0)
        message[0] = '\0';
    va_end(args);
    return gt_fail_usage(err, "limit '%.*s': %s", (int)limit->text.len, limit->text.ptr, message);
}

bool gt_limit_holds(const struct gt_limit *limit, double value) {
    if (limit->takes_equal && value >= limit->bound && value <= limit->bound)
        return true;
    return limit->is_above ? value > limit->bound : value < limit->bound;
}

bool gt_limit_glob_matches(struct gt_str glob, struct gt_str text) {
    size_t g = 0, t = 0, star = SIZE_MAX, after_star = 0;
    while (t < text.len) {
        if (g < glob.len && glob.ptr[g] == '*') {
            star = g++;
            after_star = t;
        } else if (g < glob.len &&
                   (glob.ptr[g] == '?' || tolower((unsigned char)glob.ptr[g]) == tolower((unsigned char)text.ptr[t]))) {
            g++;
            t++;
        } else if (star != SIZE_MAX) { /* the last star matches one more */
            g = star + 1;
            t = ++after_star;
        } else {
            return false;
        }
    }
    while (g < glob.len && glob.ptr[g] == '*')
        g++;
    return g == glob.len;
}

bool gt_limit_name_matches(struct gt_str glob, struct gt_str name) {
    if (gt_limit_glob_matches(glob, name))
        return true;
    size_t head = 0;
    while (head + 1 < name.len && !(name.ptr[head] == ' ' && name.ptr[head + 1] == '('))
        head++;
    bool has_part = head + 1 < name.len && name.ptr[name.len - 1] == ')';
    return has_part && gt_limit_glob_matches(glob, (struct gt_str){name.ptr, head});
}

enum gt_status gt_limit_find_table(const struct gt_limit *limit, const struct gt_roles *roles, const char **table,
                                   struct gt_error *err) {
    char list[256] = "none";
    size_t used = 0;
    *table = limit->measure ? roles->measures : NULL;
    for (size_t i = 0; i < roles->kind_count && !*table; i++)
        if (gt_str_eq(gt_str_of(roles->kinds[i].key), limit->kind))
            *table = roles->kinds[i].table;
    if (*table)
        return GT_OK;
    for (size_t i = 0; i < roles->kind_count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", roles->kinds[i].key);
    return gt_limit_fail(limit, err, "unknown kind '%.*s'; use one of %s", (int)limit->kind.len, limit->kind.ptr, list);
}

bool gt_limit_may_be_absent(const struct gt_limit *limit, const struct gt_table *table) {
    bool may_be = limit->kind.len && (memchr(limit->pattern.ptr, '*', limit->pattern.len) ||
                                      memchr(limit->pattern.ptr, '?', limit->pattern.len));
    for (size_t i = 0; table && i < table->name_count && !may_be; i++)
        may_be = gt_limit_name_matches(limit->pattern, table->names[i]);
    return may_be;
}

/* ---- writing ---- */

/* Whether one of several marks, each after "; ", is this one. */
static bool has_mark(struct gt_str marks, struct gt_str mark) {
    for (const char *at = marks.len ? strstr(marks.ptr, "; ") : NULL; at; at = strstr(at + 2, "; ")) {
        const char *one = at + 2;
        if (strncmp(one, mark.ptr, mark.len) == 0 && (one[mark.len] == ';' || one[mark.len] == '\0'))
            return true;
    }
    return false;
}

/* Adds those of a section, each once. where: " in B"; "". */
static struct gt_str add_marks(struct gt_str marks, const struct gt_section *section, struct gt_str where,
                               struct gt_arena *arena) {
    for (size_t i = 0; i < section->issue_count; i++) {
        if (!section->issues[i].is_loss)
            continue;
        struct gt_str mark = section->issues[i].mark.len ? section->issues[i].mark : GT_STR("partly read");
        mark = gt_arena_printf(arena, "%s%s", mark.ptr, where.ptr);
        if (!has_mark(marks, mark))
            marks = gt_arena_printf(arena, "%s; %s", marks.ptr, mark.ptr);
    }
    return marks;
}

/* "; partly read" if events of this section were lost; of a comparison, "; partly read in B". */
static struct gt_str loss_marks(const struct gt_section *section, struct gt_arena *arena) {
    struct gt_str marks = {"", 0};
    const struct gt_compare_sides *sides = section->report->sides;
    if (!sides)
        return add_marks(marks, section, GT_STR(""), arena);
    for (size_t i = 0; i < sides->capture_count; i++) {
        struct gt_str where = gt_arena_printf(arena, " in %s", sides->names[gt_compare_side(sides, i)]);
        marks = add_marks(marks, gt_compare_section(sides, i), where, arena);
    }
    return marks;
}

void gt_limit_format(char text[GT_NUM_MAX], enum gt_limit_unit unit, double value) {
    bool is_whole = fabs(value) < 9e15 && value == floor(value);
    if (unit == GT_LIMIT_TIME)
        gt_num_format_duration(text, value);
    else if (unit == GT_LIMIT_BYTES)
        gt_num_format_bytes(text, value);
    else if (unit == GT_LIMIT_PERCENT)
        snprintf(text, GT_NUM_MAX, fabs(value) < 1e6 ? "%.1f%%" : "%.3g%%", value * 100);
    else if (is_whole)
        gt_num_format_grouped(text, (int64_t)value);
    else
        snprintf(text, GT_NUM_MAX, "%.4g", value);
}

struct gt_str gt_limit_describe(struct gt_arena *arena, const struct gt_limit_words *words) {
    return words->tail.len ? gt_arena_printf(arena, "%s %s", words->head.ptr, words->tail.ptr) : words->head;
}

struct gt_str gt_limit_describe_rows(struct gt_arena *arena, const struct gt_judgement *judgement, size_t noisy_rows,
                                     struct gt_str worst) {
    struct gt_str broken = GT_STR("none"), noisy = {"", 0}, name = gt_str_cut(judgement->worst, LONGEST_NAME);
    bool is_guess = judgement->noise && strcmp(judgement->noise, "unknown") == 0;
    if (judgement->broken_rows)
        broken = gt_arena_printf(arena, "%zu", judgement->broken_rows);
    if (noisy_rows)
        noisy = gt_arena_printf(arena, ", %zu%s within noise", noisy_rows, judgement->broken_rows ? " more" : "");
    return gt_arena_printf(arena, "%s of %zu%s, worst %.*s %.*s%s%s", broken.ptr, judgement->rows, noisy.ptr,
                           (int)worst.len, worst.ptr, (int)name.len, name.ptr,
                           name.len < judgement->worst.len ? "..." : "", is_guess ? "; noise unknown" : "");
}

struct gt_str gt_limit_describe_one(struct gt_arena *arena, const struct gt_judgement *judgement, const char *how,
                                    struct gt_str value) {
    struct gt_str name = gt_str_cut(judgement->worst, LONGEST_NAME);
    if (judgement->rows == 1)
        return value;
    return gt_arena_printf(arena, "%s (%s of %zu: %.*s%s)", value.ptr, how, judgement->rows, (int)name.len, name.ptr,
                           name.len < judgement->worst.len ? "..." : "");
}

void gt_limit_add_verdict(struct gt_section *section, const struct gt_limit *limit,
                          const struct gt_judgement *judgement) {
    static const char *const verdicts[] = {"ok", "broken", "noise"};
    static const char *const units[] = {
        [GT_LIMIT_NUMBER] = "", [GT_LIMIT_PERCENT] = "share", [GT_LIMIT_TIME] = "ns", [GT_LIMIT_BYTES] = "bytes"};
    struct gt_arena *arena = &section->report->arena;
    struct gt_table *table = gt_section_find(section, "limits");
    if (!table) {
        table = gt_section_table(section, "limits", "Limits", columns, sizeof columns / sizeof *columns);
        gt_section_bring_first(section, 1);
    }
    struct gt_str detail = judgement->rows ? judgement->detail : GT_STR("nothing matches");
    struct gt_str marks = loss_marks(section, arena);
    if (marks.len)
        detail = gt_arena_printf(arena, "%.*s%s", (int)detail.len, detail.ptr, marks.ptr);
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "limit", gt_arena_copy(arena, limit->text));
    gt_row_text(&row, "verdict", gt_str_of(verdicts[judgement->verdict]));
    gt_row_text(&row, "detail", detail);
    gt_row_cell(&row, "value", isfinite(judgement->value) ? gt_cell_real(judgement->value) : gt_cell_null());
    gt_row_real(&row, "bound", limit->bound);
    gt_row_text(&row, "unit", gt_str_of(units[limit->unit]));
    gt_row_cell(&row, "noise", judgement->noise ? gt_cell_text(gt_str_of(judgement->noise)) : gt_cell_null());
    gt_row_count(&row, "rows", judgement->rows);
    gt_row_cell(&row, "broken_rows", limit->is_each ? gt_cell_count(judgement->broken_rows) : gt_cell_null());
    gt_row_cell(&row, "worst",
                judgement->worst.len ? gt_cell_text(gt_arena_copy(arena, judgement->worst)) : gt_cell_null());
    gt_row_end(&row);
}
