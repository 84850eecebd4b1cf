/* Judges limits in a report of one or several traces: each says what must hold. */
#include <math.h>

#include "compare/join.h"
#include "verdict/limit.h"

/* A measured amount: as time or number, and as a part of what it is a part of. */
struct amount {
    double value, share;     /* NAN: there is none */
    enum gt_limit_unit unit; /* of value */
};

/* The rows that a limit is about. */
struct rows {
    const struct gt_table *table;
    size_t name, lead; /* columns */
};

/* ---- rows ---- */

static bool rows_find(struct rows *rows, const struct gt_section *section, struct gt_limit_place place) {
    const struct gt_table *table = gt_section_find(section, place.table);
    *rows = (struct rows){.table = table};
    if (!table)
        return false;
    rows->name = gt_table_column(table, place.column);
    while (rows->lead < table->column_count && !(table->columns[rows->lead].flags & GT_COLUMN_LEADS))
        rows->lead++;
    return rows->name != SIZE_MAX && rows->lead < table->column_count;
}

static struct gt_str name_of(const struct rows *rows, size_t row) {
    const struct gt_cell *cell = &rows->table->cells[row * rows->table->column_count + rows->name];
    return (struct gt_str){cell->text, cell->text_bytes};
}

static size_t next_match(const struct rows *rows, struct gt_str pattern, size_t row) {
    const struct gt_table *table = rows->table;
    for (; row < table->row_count; row++)
        if (table->cells[row * table->column_count + rows->name].type == GPUTIME_CELL_TEXT &&
            gt_limit_glob_matches(pattern, name_of(rows, row)))
            break;
    return row;
}

static struct amount amount_of(const struct rows *rows, size_t row) {
    const struct gt_report_column *lead = &rows->table->columns[rows->lead];
    return (struct amount){.value = gt_table_number(rows->table, row, lead->key),
                           .share = gt_table_number(rows->table, row, "share"),
                           .unit = lead->unit == GT_UNIT_NS ? GT_LIMIT_TIME : GT_LIMIT_NUMBER};
}

/* Where each GPU has rows of its own, their shares are of that GPU: the sum is taken of all rows instead. */
static double whole_of(const struct rows *rows) {
    double whole = 0;
    if (gt_table_column(rows->table, "device") == SIZE_MAX)
        return NAN;
    for (size_t row = 0; row < rows->table->row_count; row++)
        whole += amount_of(rows, row).value;
    return whole;
}

static struct amount sum_rows(const struct rows *rows, const struct gt_limit *limit, size_t *count) {
    double whole = whole_of(rows);
    struct amount sum = {0};
    *count = 0;
    for (size_t row = next_match(rows, limit->pattern, 0); row < rows->table->row_count;
         row = next_match(rows, limit->pattern, row + 1)) {
        struct amount amount = amount_of(rows, row);
        sum.value += amount.value;
        sum.share += amount.share;
        sum.unit = amount.unit;
        ++*count;
    }
    if (!isnan(whole))
        sum.share = whole > 0 ? sum.value / whole : 0;
    return sum;
}

/* ---- verdicts ---- */

static enum gt_status check_unit(const struct gt_limit *limit, const struct amount *amount, struct gt_error *err) {
    bool is_time = amount->unit == GT_LIMIT_TIME;
    bool is_wrong = limit->unit == GT_LIMIT_TIME ? !is_time : limit->unit == GT_LIMIT_NUMBER && is_time;
    double value = limit->unit == GT_LIMIT_PERCENT ? amount->share : amount->value;
    if (!is_wrong && !isnan(value))
        return GT_OK;
    return gt_limit_fail(limit, err, "it needs another unit; '%.*s' is %s", (int)limit->pattern.len, limit->pattern.ptr,
                         is_time                ? "a time"
                         : isnan(amount->share) ? "a number"
                                                : "a part: give %");
}

static double judged(const struct gt_limit *limit, const struct amount *amount) {
    return limit->unit == GT_LIMIT_PERCENT ? amount->share : amount->value;
}

static struct gt_limit_words describe(struct gt_arena *arena, const struct gt_limit *limit,
                                      const struct amount *amount) {
    char share[GT_NUM_MAX], value[GT_NUM_MAX];
    struct gt_limit_words words = {.tail = {"", 0}};
    gt_limit_format(share, GT_LIMIT_PERCENT, amount->share);
    gt_limit_format(value, amount->unit == GT_LIMIT_PERCENT ? GT_LIMIT_NUMBER : amount->unit, amount->value);
    words.head = gt_arena_printf(arena, "%s", limit->unit == GT_LIMIT_PERCENT ? share : value);
    if (limit->unit == GT_LIMIT_PERCENT && amount->unit == GT_LIMIT_TIME)
        words.tail = gt_arena_printf(arena, "(%s)", value);
    return words;
}

static bool add_verdict(struct gt_section *section, const struct gt_limit *limit, struct gt_judgement *judgement) {
    bool is_broken = limit->is_each ? judgement->broken_rows > 0 : !gt_limit_holds(limit, judgement->value);
    judgement->verdict = is_broken ? GT_VERDICT_BROKEN : GT_VERDICT_OK;
    gt_limit_add_verdict(section, limit, judgement);
    return is_broken;
}

static enum gt_status judge_amount(struct gt_section *section, const struct gt_limit *limit,
                                   const struct amount *amount, size_t rows, bool *is_broken, struct gt_error *err) {
    enum gt_status status = check_unit(limit, amount, err);
    if (status != GT_OK)
        return status;
    struct gt_arena *arena = &section->report->arena;
    struct gt_limit_words words = describe(arena, limit, amount);
    struct gt_judgement judgement = {
        .value = judged(limit, amount), .detail = gt_limit_describe(arena, &words), .rows = rows};
    *is_broken = add_verdict(section, limit, &judgement);
    return GT_OK;
}

/* Every row by itself. Something matches. */
static enum gt_status judge_rows(struct gt_section *section, const struct gt_limit *limit, const struct rows *rows,
                                 bool *is_broken, struct gt_error *err) {
    struct gt_arena *arena = &section->report->arena;
    struct gt_judgement judgement = {.value = NAN};
    struct amount worst = {0};
    for (size_t row = next_match(rows, limit->pattern, 0); row < rows->table->row_count;
         row = next_match(rows, limit->pattern, row + 1)) {
        struct amount amount = amount_of(rows, row);
        double value = judged(limit, &amount);
        enum gt_status status = check_unit(limit, &amount, err);
        if (status != GT_OK)
            return status;
        judgement.rows++;
        judgement.broken_rows += !gt_limit_holds(limit, value);
        if (isnan(judgement.value) || (limit->is_above ? value < judgement.value : value > judgement.value)) {
            judgement.value = value;
            judgement.worst = name_of(rows, row);
            worst = amount;
        }
    }
    struct gt_limit_words words = describe(arena, limit, &worst);
    judgement.detail = gt_limit_describe_rows(arena, &judgement, 0, words.head);
    *is_broken = add_verdict(section, limit, &judgement);
    return GT_OK;
}

/* ---- limits ---- */

/* A step takes what all of them take, divided; warm-up is in none. */
static enum gt_status check_step(struct gt_section *section, const struct gt_limit *limit, struct amount *sum,
                                 bool *is_broken, struct gt_error *err) {
    const struct gt_table *measures = gt_section_find(section, "measures");
    double count = gt_table_number(measures, 0, "count"), warm_up = gt_limit_step_count(section) - count;
    sum->value /= count;
    enum gt_status status = check_unit(limit, sum, err);
    if (status != GT_OK)
        return status;
    struct gt_arena *arena = &section->report->arena;
    struct gt_limit_words words = describe(arena, limit, sum);
    if (warm_up > 0)
        words.tail = gt_arena_printf(arena, "(%.0f warm-up left out)", warm_up);
    struct gt_judgement judgement = {
        .value = judged(limit, sum), .detail = gt_limit_describe(arena, &words), .rows = 1};
    *is_broken = add_verdict(section, limit, &judgement);
    return GT_OK;
}

static enum gt_status check_rows(struct gt_section *section, const struct gt_limit *limit, struct gt_limit_place place,
                                 bool *is_broken, struct gt_error *err) {
    struct rows rows;
    size_t count = 0;
    struct amount sum = {0};
    if (rows_find(&rows, section, place))
        sum = sum_rows(&rows, limit, &count);
    if (count && !limit->kind.len && gt_str_eq(limit->pattern, GT_STR("step")))
        return check_step(section, limit, &sum, is_broken, err);
    if (count)
        return limit->is_each ? judge_rows(section, limit, &rows, is_broken, err)
                              : judge_amount(section, limit, &sum, count, is_broken, err);
    if (!limit->kind.len)
        return gt_limit_fail_measure(limit, section, "", err);
    struct gt_str lacks = gt_section_lacks(section, place.table);
    if (lacks.len)
        return gt_limit_fail_lack(limit, section, "", lacks, err);
    if (!gt_limit_may_be_absent(limit, rows.table)) {
        struct gt_str label = section->input.label;
        return gt_limit_fail_name(limit, rows.table,
                                  gt_arena_printf(&section->report->arena, "in '%.*s'", (int)label.len, label.ptr).ptr,
                                  err);
    }
    struct gt_judgement nothing = {.value = 0};
    *is_broken = add_verdict(section, limit, &nothing);
    return GT_OK;
}

static enum gt_status check_section(struct gt_section *section, const struct gt_limit *limit, bool *is_broken,
                                    struct gt_error *err) {
    struct gt_limit_place place;
    if (limit->is_signed)
        return gt_limit_fail(limit, err,
                             "a number with a sign is a change, which is for diff --fail-if; check says what must "
                             "hold: 'idle<20%%'");
    const struct gt_special *special = limit->special;
    if (special) {
        double value = special->measure(section);
        struct amount amount = {value, special->unit == GT_LIMIT_PERCENT ? value : NAN, special->unit};
        return isnan(value) ? gt_limit_fail_measure(limit, section, "", err)
                            : judge_amount(section, limit, &amount, 1, is_broken, err);
    }
    enum gt_status status = gt_limit_place_find(limit, &place, err);
    return status == GT_OK ? check_rows(section, limit, place, is_broken, err) : status;
}

static enum gt_status check_limit(struct gt_report *report, const struct gt_limit *limit, size_t *broken,
                                  struct gt_error *err) {
    enum gt_status status = GT_OK;
    size_t section_count = report->sides ? 1 : report->section_count;
    for (size_t s = 0; s < section_count && status == GT_OK; s++) {
        bool is_broken = false;
        status = report->sides ? gt_limit_check_change(report, limit, &is_broken, err)
                               : check_section(&report->sections[s], limit, &is_broken, err);
        *broken += is_broken;
    }
    return status;
}

enum gt_status gt_limit_check(struct gt_report *report, const char *const *limits, size_t count, size_t *broken,
                              struct gt_error *err) {
    enum gt_status status = GT_OK;
    *broken = 0;
    for (size_t i = 0; i < count && status == GT_OK; i++) {
        struct gt_limit limit;
        status = gt_limit_parse(limits[i], &limit, err);
        if (status == GT_OK)
            status = check_limit(report, &limit, broken, err);
    }
    return status == GT_OK && gt_arena_failed(&report->arena) ? gt_fail_memory(err) : status;
}
