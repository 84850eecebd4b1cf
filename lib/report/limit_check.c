/* Judges limits in a report of one or several traces: each says what must hold. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "report/diff_parts.h"
#include "report/limit.h"

/* A measured amount: as time or number, and as a part of what it is a part of. */
struct amount {
    double value, share; /* NAN: there is none */
    bool is_time;
    size_t warm_up_steps; /* that are left out */
    bool is_of_nothing;   /* the pattern matches no row */
};

/* ---- measures that are not in a table ---- */

static double fact_of(const struct gt_section *section, struct gt_str key) {
    struct gt_cell value = gt_section_fact(section, key);
    return value.type == GPUTIME_CELL_INT ? (double)value.integer : value.type == GPUTIME_CELL_REAL ? value.real : NAN;
}

static struct amount utilisation(const struct gt_section *section) {
    const struct gt_table *accounting = gt_section_find(section, "accounting");
    double sum = 0, count = accounting ? (double)accounting->row_count : 0;
    for (size_t row = 0; accounting && row < accounting->row_count; row++)
        sum += gt_table_number(accounting, row, "utilisation");
    double share = count > 0 ? sum / count : NAN;
    return (struct amount){share, share, false, 0, false};
}

static struct amount coverage(const struct gt_section *section) {
    double share = fact_of(section, GT_STR("range_coverage"));
    return (struct amount){share, share, false, 0, false};
}

static struct amount issues(const struct gt_section *section) {
    double count = 0;
    for (size_t i = 0; i < section->issue_count; i++)
        count += (double)section->issues[i].count;
    return (struct amount){count, NAN, false, 0, false};
}

static struct amount losses(const struct gt_section *section) {
    double count = 0;
    for (size_t i = 0; i < section->issue_count; i++)
        count += section->issues[i].is_loss ? (double)section->issues[i].count : 0;
    return (struct amount){count, NAN, false, 0, false};
}

static struct amount longest_gap(const struct gt_section *section) {
    const struct gt_table *causes = gt_section_find(section, "idle_causes");
    double longest_ns = causes ? 0 : NAN;
    for (size_t row = 0; causes && row < causes->row_count; row++)
        longest_ns = fmax(longest_ns, gt_table_number(causes, row, "longest_ns"));
    return (struct amount){longest_ns, NAN, true, 0, false};
}

static struct amount launches(const struct gt_section *section) {
    return (struct amount){fact_of(section, GT_STR("kernel_launches")), NAN, false, 0, false};
}

/* Warm-up too, which the row of the step itself leaves out. */
static double count_steps(const struct gt_section *section) {
    const struct gt_table *measures = gt_section_find(section, "measures");
    double count = 0;
    for (size_t row = 0; measures && row < measures->row_count; row++)
        count = fmax(count, gt_table_number(measures, row, "count"));
    return count;
}

static struct amount steps(const struct gt_section *section) {
    return (struct amount){.value = count_steps(section), .share = NAN};
}

static const struct {
    const char *name;
    struct amount (*measure)(const struct gt_section *section);
} specials[] = {
    {"utilisation", utilisation}, {"coverage", coverage}, {"issues", issues}, {"losses", losses},
    {"gap", longest_gap},         {"launches", launches}, {"steps", steps},
};

/* ---- amounts of tables ---- */

static size_t flagged_column(const struct gt_table *table, uint32_t flag) {
    size_t column = 0;
    while (column < table->column_count && !(table->columns[column].flags & flag))
        column++;
    return column;
}

/* Sum over the rows that match. The time of a step is that of one. false: no row matches. */
static bool sum_rows(const struct gt_section *section, const struct gt_limit *limit, struct gt_limit_place place,
                     struct amount *amount) {
    const struct gt_table *table = gt_section_find(section, place.table);
    size_t name = table ? gt_table_column(table, place.column) : SIZE_MAX;
    *amount = (struct amount){0};
    if (name == SIZE_MAX)
        return false;
    size_t lead = flagged_column(table, GT_COLUMN_LEADS);
    bool is_step = !limit->kind.len && gt_str_eq(limit->pattern, GT_STR("step")), is_found = false;
    for (size_t row = 0; row < table->row_count && lead < table->column_count; row++) {
        const struct gt_cell *cell = &table->cells[row * table->column_count + name];
        if (cell->type != GPUTIME_CELL_TEXT ||
            !gt_glob_matches(limit->pattern, (struct gt_str){cell->text, cell->text_bytes}))
            continue;
        double value = gt_table_number(table, row, table->columns[lead].key);
        amount->value += is_step ? value / gt_table_number(table, row, "count") : value;
        amount->share += gt_table_number(table, row, "share");
        is_found = true;
    }
    if (is_step && is_found)
        amount->warm_up_steps = (size_t)(count_steps(section) - gt_table_number(table, 0, "count"));
    amount->is_time = is_found && table->columns[lead].unit == GT_UNIT_NS;
    return is_found;
}

static enum gt_status fail_measure(const struct gt_section *section, const struct gt_limit *limit,
                                   struct gt_error *err) {
    struct gt_str label = section->input.label;
    if (limit->kind.len)
        return gt_fail_usage(err, "limit '%.*s': nothing in '%.*s' matches '%.*s'", (int)limit->text.len,
                             limit->text.ptr, (int)label.len, label.ptr, (int)limit->pattern.len, limit->pattern.ptr);
    const struct gt_table *accounting = gt_section_find(section, "accounting");
    if (!accounting || accounting->row_count == 0)
        return gt_fail_usage(err, "limit '%.*s': '%.*s' has no GPU work whose times are known", (int)limit->text.len,
                             limit->text.ptr, (int)label.len, label.ptr);
    if (gt_str_eq(limit->pattern, GT_STR("step")))
        return gt_fail_usage(err, "limit '%.*s': '%.*s' has no steps", (int)limit->text.len, limit->text.ptr,
                             (int)label.len, label.ptr);
    return gt_fail_usage(err,
                         "limit '%.*s': '%.*s' has no measure '%.*s'; there are step, span, busy, idle, compute, "
                         "exposed_comm, exposed_memory, comm, memory, overlap, sum, utilisation, coverage, gap, "
                         "launches, steps, issues, losses",
                         (int)limit->text.len, limit->text.ptr, (int)label.len, label.ptr, (int)limit->pattern.len,
                         limit->pattern.ptr);
}

static enum gt_status measure(const struct gt_section *section, const struct gt_limit *limit, struct amount *amount,
                              struct gt_error *err) {
    struct gt_limit_place place;
    for (size_t i = 0; i < sizeof specials / sizeof *specials && !limit->kind.len; i++)
        if (gt_str_eq(limit->pattern, gt_str_of(specials[i].name))) {
            *amount = specials[i].measure(section);
            return isnan(amount->value) ? fail_measure(section, limit, err) : GT_OK;
        }
    enum gt_status status = gt_limit_place_find(limit, &place, err);
    if (status != GT_OK || sum_rows(section, limit, place, amount))
        return status;
    if (!gt_limit_is_glob(limit))
        return fail_measure(section, limit, err);
    *amount = (struct amount){.is_time = limit->unit == GT_LIMIT_TIME, .is_of_nothing = true};
    return GT_OK;
}

/* ---- verdicts ---- */

static struct gt_str describe(struct gt_arena *arena, const struct gt_limit *limit, const struct amount *amount) {
    char number[GT_NUM_MAX];
    if (amount->is_of_nothing)
        return GT_STR("nothing matches");
    if (amount->is_time)
        gt_num_format_duration(number, amount->value);
    else
        gt_num_format_grouped(number, (int64_t)amount->value);
    if (limit->unit != GT_LIMIT_PERCENT)
        return amount->warm_up_steps
                   ? gt_arena_printf(arena, "%s (%zu warm-up left out)", number, amount->warm_up_steps)
                   : gt_arena_printf(arena, "%s", number);
    return gt_arena_printf(arena, amount->is_time ? "%.1f%% (%s)" : "%.1f%%", amount->share * 100, number);
}

static enum gt_status check_section(struct gt_section *section, const struct gt_limit *limit, bool *is_broken,
                                    struct gt_error *err) {
    struct amount amount;
    enum gt_status status = measure(section, limit, &amount, err);
    if (status != GT_OK)
        return status;
    double value = limit->unit == GT_LIMIT_PERCENT ? amount.share : amount.value;
    bool is_wrong_unit =
        limit->unit == GT_LIMIT_TIME ? !amount.is_time : limit->unit == GT_LIMIT_NUMBER && amount.is_time;
    if (isnan(value) || is_wrong_unit)
        return gt_fail_usage(err, "limit '%.*s' needs another unit; '%.*s' is %s", (int)limit->text.len,
                             limit->text.ptr, (int)limit->pattern.len, limit->pattern.ptr,
                             amount.is_time        ? "a time"
                             : isnan(amount.share) ? "a number"
                                                   : "a part: give %");
    *is_broken = !gt_limit_holds(limit, value);
    gt_limits_add(section, limit, *is_broken ? GT_VERDICT_BROKEN : GT_VERDICT_OK, value,
                  describe(&section->report->arena, limit, &amount));
    return GT_OK;
}

static enum gt_status check_limit(struct gt_report *report, const struct gt_limit *limit, size_t *broken,
                                  struct gt_error *err) {
    enum gt_status status = GT_OK;
    size_t section_count = report->sides ? 1 : report->section_count;
    for (size_t s = 0; s < section_count && status == GT_OK; s++) {
        bool is_broken = false;
        status = report->sides ? gt_diff_check(report, limit, &is_broken, err)
                               : check_section(&report->sections[s], limit, &is_broken, err);
        *broken += is_broken;
    }
    return status;
}

enum gt_status gt_report_check(struct gt_report *report, const char *const *limits, size_t count, size_t *broken,
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
