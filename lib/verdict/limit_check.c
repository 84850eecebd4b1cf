/* Judges limits on a report of one or several traces: each says what must hold. */
#include <math.h>

#include "compare/join.h"
#include "verdict/limit.h"

/* A measured amount: as time or number, and as a share. */
struct amount {
    double value, share;     /* NAN: there is none */
    enum gt_limit_unit unit; /* of value */
    bool is_per_step;        /* else of the whole run */
};

/* The rows of a limit. */
struct rows {
    const struct gt_table *table;
    size_t name, lead; /* columns */
    size_t share;      /* of the lead, the first; SIZE_MAX: there is none */
    size_t mean;       /* how many the lead sums up, whose mean is judged; SIZE_MAX: it is judged as it is */
};

/* ---- rows ---- */

/* The row of a measure that is a mean says what it leaves out: see check_mean. */
static bool rows_find(struct rows *rows, const struct gt_section *section, const char *key, bool is_measure) {
    const struct gt_table *table = gt_section_find(section, key);
    *rows = (struct rows){.table = table, .share = SIZE_MAX, .mean = SIZE_MAX};
    if (!table)
        return false;
    if (!is_measure)
        rows->mean = gt_table_column_flagged(table, GT_COLUMN_MEAN);
    rows->name = gt_table_name_column(table);
    rows->lead = gt_table_column_flagged(table, GT_COLUMN_LEADS);
    for (size_t c = table->column_count; c > 0; c--)
        if (table->columns[c - 1].unit == GT_UNIT_SHARE)
            rows->share = c - 1;
    return rows->name != SIZE_MAX && rows->lead != SIZE_MAX;
}

static struct gt_str name_of(const struct rows *rows, size_t row) {
    const struct gt_cell *cell = &rows->table->cells[row * rows->table->column_count + rows->name];
    return (struct gt_str){cell->text, cell->text_bytes};
}

static size_t next_match(const struct rows *rows, struct gt_str pattern, size_t row) {
    const struct gt_table *table = rows->table;
    for (; row < table->row_count; row++)
        if (table->cells[row * table->column_count + rows->name].type == GPUTIME_CELL_TEXT &&
            gt_limit_name_matches(pattern, name_of(rows, row)))
            break;
    return row;
}

static struct amount amount_of(const struct rows *rows, size_t row) {
    const struct gt_cell *cells = &rows->table->cells[row * rows->table->column_count];
    double summed = rows->mean == SIZE_MAX ? 1 : gt_cell_as_number(&cells[rows->mean]);
    return (struct amount){.value = gt_cell_as_number(&cells[rows->lead]) / (summed > 0 ? summed : 1),
                           .share = rows->share == SIZE_MAX ? NAN : gt_cell_as_number(&cells[rows->share]),
                           .unit = gt_limit_unit_of_column(rows->table->columns[rows->lead].unit),
                           .is_per_step = rows->mean != SIZE_MAX && summed > 0};
}

/* Bandwidths and the like: one row decides. */
static bool adds_up(const struct rows *rows) {
    return !(rows->table->columns[rows->lead].flags & GT_COLUMN_RATE);
}

/* Whether rows are distinguished by ids, not only by names. */
static bool has_ids(const struct rows *rows) {
    bool has_one = false;
    for (size_t c = 0; c < rows->table->column_count && rows->table->row_count; c++)
        has_one |= (rows->table->columns[c].flags & GT_COLUMN_KEY) && rows->table->cells[c].type == GPUTIME_CELL_INT;
    return has_one;
}

/* If each GPU has its own rows, their shares are of that GPU: uses the sum of all rows instead. */
static double whole_of(const struct rows *rows) {
    double whole = 0;
    if (!has_ids(rows))
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
        sum.is_per_step = amount.is_per_step;
        ++*count;
    }
    if (!isnan(whole))
        sum.share = whole > 0 ? sum.value / whole : 0;
    return sum;
}

/* ---- verdicts ---- */

static enum gt_status check_unit(const struct gt_limit *limit, const struct amount *amount, struct gt_error *err) {
    bool is_time = amount->unit == GT_LIMIT_TIME, is_size = amount->unit == GT_LIMIT_BYTES;
    /* "mfu<20" would hold for ever */
    bool is_no_share = amount->unit == GT_LIMIT_PERCENT && limit->bound > 1;
    bool is_wrong = limit->unit == GT_LIMIT_TIME    ? !is_time
                    : limit->unit == GT_LIMIT_BYTES ? !is_size
                                                    : limit->unit == GT_LIMIT_NUMBER && (is_time || is_no_share);
    double value = limit->unit == GT_LIMIT_PERCENT ? amount->share : amount->value;
    if (!is_wrong && !isnan(value))
        return GT_OK;
    return gt_limit_fail(limit, err, "wrong unit; '%.*s' is %s", (int)limit->pattern.len, limit->pattern.ptr,
                         is_time                ? "a time"
                         : is_size              ? "a number of bytes"
                         : isnan(amount->share) ? "a number"
                                                : "a share: use %");
}

static double judged(const struct gt_limit *limit, const struct amount *amount) {
    return limit->unit == GT_LIMIT_PERCENT ? amount->share : amount->value;
}

/* " per step, all ranks together": what a time is of, where that is not obvious. */
static struct gt_str basis_of(struct gt_arena *arena, const struct gt_limit *limit, const struct gt_roles *roles,
                              const struct amount *amount) {
    const char *over = limit->measure ? limit->measure->over : NULL;
    for (size_t i = 0; i < roles->kind_count && limit->kind.len; i++)
        if (gt_str_eq(gt_str_of(roles->kinds[i].key), limit->kind))
            over = roles->kinds[i].over;
    if (!over || amount->unit != GT_LIMIT_TIME)
        return GT_STR("");
    return gt_arena_printf(arena, "%s%s%s", amount->is_per_step ? " per step" : " per run", *over ? ", " : "", over);
}

static struct gt_limit_words describe(const struct gt_section *section, const struct gt_limit *limit,
                                      const struct amount *amount) {
    char share[GT_NUM_MAX], value[GT_NUM_MAX];
    struct gt_arena *arena = &section->report->arena;
    struct gt_str basis = basis_of(arena, limit, section->report->roles, amount);
    gt_limit_format(share, GT_LIMIT_PERCENT, amount->share);
    gt_limit_format(value, amount->unit == GT_LIMIT_PERCENT ? GT_LIMIT_NUMBER : amount->unit, amount->value);
    if (limit->unit != GT_LIMIT_PERCENT)
        return (struct gt_limit_words){gt_arena_printf(arena, "%s%s", value, basis.ptr), {"", 0}};
    struct gt_limit_words words = {gt_arena_printf(arena, "%s", share), {"", 0}};
    if (amount->unit == GT_LIMIT_TIME)
        words.tail = gt_arena_printf(arena, "(%s%s)", value, basis.ptr);
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
    struct gt_limit_words words = describe(section, limit, amount);
    struct gt_judgement judgement = {
        .value = judged(limit, amount), .detail = gt_limit_describe(arena, &words), .rows = rows};
    *is_broken = add_verdict(section, limit, &judgement);
    return GT_OK;
}

/* Each row, or the one that decides. At least one matches. */
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
    struct gt_limit_words words = describe(section, limit, &worst);
    judgement.detail =
        limit->is_each ? gt_limit_describe_rows(arena, &judgement, 0, words.head)
                       : gt_limit_describe_one(arena, &judgement, limit->is_above ? "least" : "largest", words.head);
    *is_broken = add_verdict(section, limit, &judgement);
    return GT_OK;
}

/* ---- limits ---- */

/* A row that sums up several steps is judged by their mean. */
static enum gt_status check_mean(struct gt_section *section, const struct gt_limit *limit, const struct rows *rows,
                                 struct amount *sum, double summed, bool *is_broken, struct gt_error *err) {
    const struct gt_table *table = rows->table;
    size_t counted = gt_table_column_flagged(table, GT_COLUMN_DIVISOR);
    double most = 0;
    for (size_t row = 0; counted != SIZE_MAX && row < table->row_count; row++)
        most = fmax(most, gt_cell_as_number(&table->cells[row * table->column_count + counted]));
    sum->value /= summed;
    enum gt_status status = check_unit(limit, sum, err);
    if (status != GT_OK)
        return status;
    struct gt_arena *arena = &section->report->arena;
    sum->is_per_step = true;
    struct gt_limit_words words = describe(section, limit, sum);
    if (most > summed)
        words.tail = gt_arena_printf(arena, "(%.0f %s left out)", most - summed, limit->measure->leaves_out);
    struct gt_judgement judgement = {
        .value = judged(limit, sum), .detail = gt_limit_describe(arena, &words), .rows = 1};
    *is_broken = add_verdict(section, limit, &judgement);
    return GT_OK;
}

/* The number that the row of a measure sums up; NAN: it is not a sum. */
static double summed_in(const struct rows *rows, const struct gt_limit *limit) {
    size_t mean = gt_table_column_flagged(rows->table, GT_COLUMN_MEAN);
    size_t row = next_match(rows, limit->pattern, 0);
    if (!limit->measure || !limit->measure->leaves_out || mean == SIZE_MAX)
        return NAN;
    return gt_cell_as_number(&rows->table->cells[row * rows->table->column_count + mean]);
}

static enum gt_status check_absent(struct gt_section *section, const struct gt_limit *limit, const char *key,
                                   const struct gt_table *table, bool *is_broken, struct gt_error *err) {
    struct gt_str lacks = gt_section_lacks(section, key), label = section->input.label;
    if (limit->measure)
        return gt_limit_fail_measure(limit, section, "", err);
    if (lacks.len)
        return gt_limit_fail_lack(limit, section, "", lacks, err);
    if (!gt_limit_may_be_absent(limit, table))
        return gt_limit_fail_name(
            limit, table, gt_arena_printf(&section->report->arena, "in '%.*s'", (int)label.len, label.ptr).ptr, err);
    struct gt_judgement nothing = {.value = 0};
    *is_broken = add_verdict(section, limit, &nothing);
    return GT_OK;
}

static enum gt_status check_rows(struct gt_section *section, const struct gt_limit *limit, const char *key,
                                 bool *is_broken, struct gt_error *err) {
    struct rows rows;
    size_t count = 0;
    struct amount sum = {0};
    if (rows_find(&rows, section, key, limit->measure))
        sum = sum_rows(&rows, limit, &count);
    if (!count)
        return check_absent(section, limit, key, rows.table, is_broken, err);
    double summed = summed_in(&rows, limit);
    if (summed > 0)
        return check_mean(section, limit, &rows, &sum, summed, is_broken, err);
    return limit->is_each || !adds_up(&rows) ? judge_rows(section, limit, &rows, is_broken, err)
                                             : judge_amount(section, limit, &sum, count, is_broken, err);
}

static enum gt_status check_section(struct gt_section *section, const struct gt_limit *limit, bool *is_broken,
                                    struct gt_error *err) {
    const struct gt_measure *measure = limit->measure;
    const char *table;
    if (limit->is_signed)
        return gt_limit_fail(limit, err,
                             "a signed number is a change (only: diff --fail-if); use for example 'idle<20%%'");
    if (measure && measure->from != GT_FROM_ROW) {
        double value = gt_limit_measure(measure, section);
        struct amount amount = {.value = value,
                                .share = measure->kind == GT_MEASURE_SHARE ? value : NAN,
                                .unit = gt_limit_unit_of(measure),
                                .is_per_step = measure->is_per_step && gt_limit_steps(section) > 0};
        return isnan(value) ? gt_limit_fail_measure(limit, section, "", err)
                            : judge_amount(section, limit, &amount, 1, is_broken, err);
    }
    enum gt_status status = gt_limit_find_table(limit, section->report->roles, &table, err);
    return status == GT_OK ? check_rows(section, limit, table, is_broken, err) : status;
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
    struct gt_limit limit;
    *broken = 0;
    for (size_t i = 0; i < count && status == GT_OK; i++) /* a typo in the last leaves no verdict on the first */
        status = gt_limit_parse(limits[i], report->roles, &limit, err);
    for (size_t i = 0; i < count && status == GT_OK; i++) {
        status = gt_limit_parse(limits[i], report->roles, &limit, err);
        if (status == GT_OK)
            status = check_limit(report, &limit, broken, err);
    }
    return status == GT_OK ? gt_report_status(report, err) : status;
}
