/* Values of measures in a section of a report, or why there is none. The roles say where to find them. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "verdict/limit.h"

/* ---- measuring ---- */

static double fact_of(const struct gt_section *section, const struct gt_measure *measure) {
    struct gt_cell value = gt_section_fact(section, gt_str_of(measure->column));
    return gt_section_lacks(section, measure->table).len ? NAN : gt_cell_as_number(&value);
}

static double mean_of(const struct gt_table *table, const char *column) {
    double sum = 0, count = table ? (double)table->row_count : 0;
    for (size_t row = 0; table && row < table->row_count; row++)
        sum += gt_table_number(table, row, column);
    return count > 0 ? sum / count : NAN;
}

static double max_of(const struct gt_table *table, const char *column) {
    double most = table && table->row_count == 0 ? 0 : NAN; /* rows that lack the number say nothing */
    for (size_t row = 0; table && row < table->row_count; row++)
        most = fmax(most, gt_table_number(table, row, column));
    return table && !isnan(most) ? fmax(most, 0) : most;
}

static bool has_rows(const struct gt_section *section, const char *key) {
    const struct gt_table *table = gt_section_find(section, key);
    return table && table->row_count;
}

static double count_issues(const struct gt_section *section, bool losses_alone) {
    double count = 0;
    for (size_t i = 0; i < section->issue_count; i++)
        count += !losses_alone || section->issues[i].is_loss ? (double)section->issues[i].count : 0;
    return count;
}

double gt_limit_steps(const struct gt_section *section) {
    const struct gt_roles *roles = section->report->roles;
    const struct gt_table *measures = gt_section_find(section, roles->measures);
    size_t name = measures ? gt_table_name_column(measures) : SIZE_MAX, column = SIZE_MAX;
    struct gt_str steps = {"", 0};
    for (size_t i = 0; i < roles->divisor_count; i++)
        if (roles->divisors[i].rows == GT_DIVISOR_STEPS)
            steps = gt_str_of(roles->divisors[i].measure);
    if (measures)
        column = gt_table_column_flagged(measures, GT_COLUMN_DIVISOR);
    for (size_t row = 0; name != SIZE_MAX && column != SIZE_MAX && row < measures->row_count; row++) {
        const struct gt_cell *cells = &measures->cells[row * measures->column_count];
        if (gt_str_eq(gt_cell_as_text(&cells[name]), steps))
            return gt_cell_as_number(&cells[column]);
    }
    return 0;
}

static double value_of(const struct gt_measure *measure, const struct gt_section *section) {
    switch (measure->from) {
    case GT_FROM_FACT:
        return fact_of(section, measure);
    case GT_FROM_MEAN:
        return mean_of(gt_section_find(section, measure->table), measure->column);
    case GT_FROM_MAX:
        return measure->needs_rows_of && !has_rows(section, measure->needs_rows_of)
                   ? NAN
                   : max_of(gt_section_find(section, measure->table), measure->column);
    case GT_FROM_ISSUES:
        return count_issues(section, false);
    case GT_FROM_LOSSES:
        return count_issues(section, true);
    case GT_FROM_ROW:
        break;
    }
    return NAN;
}

double gt_limit_measure(const struct gt_measure *measure, const struct gt_section *section) {
    double steps = measure->is_per_step ? gt_limit_steps(section) : 0;
    return value_of(measure, section) / (steps > 0 ? steps : 1);
}

enum gt_limit_unit gt_limit_unit_of(const struct gt_measure *measure) {
    static const enum gt_limit_unit units[] = {[GT_MEASURE_TIME] = GT_LIMIT_TIME,
                                               [GT_MEASURE_SHARE] = GT_LIMIT_PERCENT,
                                               [GT_MEASURE_NUMBER] = GT_LIMIT_NUMBER,
                                               [GT_MEASURE_BYTES] = GT_LIMIT_BYTES};
    return units[measure->kind];
}

enum gt_limit_unit gt_limit_unit_of_column(enum gt_unit unit) {
    return unit == GT_UNIT_NS ? GT_LIMIT_TIME : unit == GT_UNIT_BYTES ? GT_LIMIT_BYTES : GT_LIMIT_NUMBER;
}

/* ---- finding ---- */

static bool is_name(struct gt_str text, const char *name) {
    return name && text.len == strlen(name) && strncasecmp(text.ptr, name, text.len) == 0;
}

static enum gt_status fail_measure(const struct gt_limit *limit, const struct gt_roles *roles, struct gt_error *err) {
    char list[1024] = "none";
    size_t used = 0;
    for (size_t i = 0; i < roles->measure_count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", roles->measure_list[i].key);
    return gt_limit_fail(limit, err, "unknown measure '%.*s'; use one of %s", (int)limit->pattern.len,
                         limit->pattern.ptr, list);
}

enum gt_status gt_limit_resolve(struct gt_limit *limit, const struct gt_roles *roles, struct gt_error *err) {
    for (size_t i = 0; i < roles->measure_count && !limit->measure; i++) {
        const struct gt_measure *measure = &roles->measure_list[i];
        if (is_name(limit->pattern, measure->key) || is_name(limit->pattern, measure->spelling))
            limit->measure = measure;
    }
    if (!limit->measure)
        return fail_measure(limit, roles, err);
    limit->pattern = gt_str_of(limit->measure->key);
    return GT_OK;
}

enum gt_status gt_limit_check_per(const struct gt_limit *limit, const char *per, struct gt_error *err) {
    const char *one_per = limit->measure->one_per;
    if (!one_per || strcmp(one_per, per) != 0)
        return GT_OK;
    return gt_limit_fail(limit, err, "%s per %s is always 1; use --per none", limit->measure->key, per);
}

/* ---- why there is none ---- */

enum gt_status gt_limit_fail_lack(const struct gt_limit *limit, const struct gt_section *section, const char *who,
                                  struct gt_str lacks, struct gt_error *err) {
    const struct gt_report_input *input = &section->input;
    return gt_limit_fail(limit, err, "%s%s'%.*s' has no %.*s%s%.*s%s", who, *who ? " " : "", (int)input->label.len,
                         input->label.ptr, (int)lacks.len, lacks.ptr, input->selection.len ? " (" : "",
                         (int)input->selection.len, input->selection.ptr, input->selection.len ? ")" : "");
}

enum gt_status gt_limit_fail_measure(const struct gt_limit *limit, const struct gt_section *section, const char *who,
                                     struct gt_error *err) {
    const struct gt_measure *measure = limit->measure;
    struct gt_str lacks = {"", 0};
    if (measure->from == GT_FROM_ROW)
        lacks = gt_section_lacks(section, section->report->roles->measures);
    return gt_limit_fail_lack(limit, section, who, lacks.len ? lacks : gt_str_of(measure->needs), err);
}

/* "; there are 'cpu', 'launch' and more": the first rows, as they are shown. */
static void list_rows(const struct gt_table *table, char *list, size_t room) {
    enum { LISTED = 5, NAME_MOST = 60 };
    size_t column = table ? gt_table_name_column(table) : SIZE_MAX, used = 0, listed = 0;
    for (size_t row = 0; column != SIZE_MAX && row < table->row_count && used < room && listed <= LISTED; row++) {
        const struct gt_cell *cell = &table->cells[row * table->column_count + column];
        if (cell->type != GPUTIME_CELL_TEXT)
            continue;
        struct gt_str name = gt_str_cut((struct gt_str){cell->text, cell->text_bytes}, NAME_MOST);
        if (listed++ == LISTED)
            snprintf(list + used, room - used, " and more");
        else
            used += (size_t)snprintf(list + used, room - used, "%s'%.*s%s'", used ? ", " : "; there are ",
                                     (int)name.len, name.ptr, name.len < cell->text_bytes ? "..." : "");
    }
}

enum gt_status gt_limit_fail_name(const struct gt_limit *limit, const struct gt_table *table, const char *where,
                                  struct gt_error *err) {
    char list[512] = "";
    size_t used = 0;
    for (size_t i = 0; table && i < table->name_count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s",
                                 i ? ", " : "; known names: ", (int)table->names[i].len, table->names[i].ptr);
    if (!used)
        list_rows(table, list, sizeof list);
    return gt_limit_fail(limit, err, "nothing %s matches '%.*s'%s", where, (int)limit->pattern.len, limit->pattern.ptr,
                         list);
}
