/* Measures of limits that are no rows of a table: a section of a report in, a number out, or why there is none. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "report/diff_parts.h"
#include "report/limit.h"

/* ---- measuring ---- */

static double fact_of(const struct gt_section *section, struct gt_str key) {
    struct gt_cell value = gt_section_fact(section, key);
    return value.type == GPUTIME_CELL_INT ? (double)value.integer : value.type == GPUTIME_CELL_REAL ? value.real : NAN;
}

static double utilisation(const struct gt_section *section) {
    const struct gt_table *accounting = gt_section_find(section, "accounting");
    double sum = 0, count = accounting ? (double)accounting->row_count : 0;
    for (size_t row = 0; accounting && row < accounting->row_count; row++)
        sum += gt_table_number(accounting, row, "utilisation");
    return count > 0 ? sum / count : NAN;
}

static double coverage(const struct gt_section *section) {
    return gt_section_lacks(section, "ranges").len ? NAN : fact_of(section, GT_STR("range_coverage"));
}

static double issues(const struct gt_section *section) {
    double count = 0;
    for (size_t i = 0; i < section->issue_count; i++)
        count += (double)section->issues[i].count;
    return count;
}

static double losses(const struct gt_section *section) {
    double count = 0;
    for (size_t i = 0; i < section->issue_count; i++)
        count += section->issues[i].is_loss ? (double)section->issues[i].count : 0;
    return count;
}

static double longest_gap(const struct gt_section *section) {
    const struct gt_table *causes = gt_section_find(section, "idle_causes"),
                          *accounting = gt_section_find(section, "accounting");
    double longest_ns = causes && accounting && accounting->row_count ? 0 : NAN;
    for (size_t row = 0; causes && row < causes->row_count; row++)
        longest_ns = fmax(longest_ns, gt_table_number(causes, row, "longest_ns"));
    return longest_ns;
}

static double launches(const struct gt_section *section) {
    return gt_section_lacks(section, "kernels").len ? NAN : fact_of(section, GT_STR("kernel_launches"));
}

/* The row of the step itself leaves warm-up out; the others count it. */
double gt_step_count(const struct gt_section *section) {
    const struct gt_table *measures = gt_section_find(section, "measures");
    double count = 0;
    for (size_t row = 0; measures && row < measures->row_count; row++)
        count = fmax(count, gt_table_number(measures, row, "count"));
    return count;
}

static const char names[] =
    "step, span, busy, idle, compute, exposed_comm, exposed_memory, comm, memory, overlap, sum, "
    "utilisation, coverage, gap, launches, steps, issues, losses";
static const char no_times[] = "GPU work whose times are known";

static const struct gt_special specials[] = {
    {"utilisation", utilisation, GT_LIMIT_PERCENT, no_times, false, false, NULL},
    {"coverage", coverage, GT_LIMIT_PERCENT, "ranges with GPU work", false, false, NULL},
    {"gap", longest_gap, GT_LIMIT_TIME, no_times, false, false, NULL},
    {"launches", launches, GT_LIMIT_NUMBER, "kernels", true, true, "launch"},
    {"steps", gt_step_count, GT_LIMIT_NUMBER, "", false, true, NULL},
    {"issues", issues, GT_LIMIT_NUMBER, "", false, true, NULL},
    {"losses", losses, GT_LIMIT_NUMBER, "", false, true, NULL},
};

/* ---- finding ---- */

static bool is_name(struct gt_str text, struct gt_str name) {
    return text.len == name.len && strncasecmp(text.ptr, name.ptr, name.len) == 0;
}

enum gt_status gt_limit_resolve(struct gt_limit *limit, struct gt_error *err) {
    struct gt_str rest = gt_str_of(names), name;
    struct gt_str wanted = is_name(limit->pattern, GT_STR("utilization")) ? GT_STR("utilisation") : limit->pattern;
    bool is_found = false;
    while (!is_found && gt_shape_columns_next(&rest, &name))
        is_found = is_name(wanted, name);
    if (!is_found)
        return gt_limit_fail(limit, err, "there is no measure '%.*s'; there are %s", (int)limit->pattern.len,
                             limit->pattern.ptr, names);
    limit->pattern = name;
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (gt_str_eq(name, gt_str_of(specials[i].name)))
            limit->special = &specials[i];
    return GT_OK;
}

enum gt_status gt_limit_check_per(const struct gt_limit *limit, const char *per, struct gt_error *err) {
    const char *one_per = limit->special ? limit->special->one_per : NULL;
    if (!one_per || strcmp(one_per, per) != 0)
        return GT_OK;
    return gt_limit_fail(limit, err, "%s per %s are always 1 and cannot change; compare with --per none",
                         limit->special->name, per);
}

/* ---- why there is none ---- */

enum gt_status gt_limit_fail_lack(const struct gt_limit *limit, const struct gt_section *section, const char *who,
                                  struct gt_str lacks, struct gt_error *err) {
    const struct gt_report_input *input = &section->input;
    return gt_limit_fail(limit, err, "%s%s'%.*s' has no %.*s%s%.*s%s, so it cannot be judged", who, *who ? " " : "",
                         (int)input->label.len, input->label.ptr, (int)lacks.len, lacks.ptr,
                         input->selection.len ? " (" : "", (int)input->selection.len, input->selection.ptr,
                         input->selection.len ? ")" : "");
}

enum gt_status gt_limit_fail_measure(const struct gt_limit *limit, const struct gt_section *section, const char *who,
                                     struct gt_error *err) {
    struct gt_str lacks = limit->special ? gt_str_of(limit->special->needs) : gt_section_lacks(section, "measures");
    return gt_limit_fail_lack(limit, section, who, lacks.len ? lacks : GT_STR("steps"), err);
}

enum gt_status gt_limit_fail_name(const struct gt_limit *limit, const struct gt_table *table, const char *where,
                                  struct gt_error *err) {
    char list[512] = "";
    size_t used = 0;
    for (size_t i = 0; table && i < table->name_count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", i ? ", " : "; there are ",
                                 (int)table->names[i].len, table->names[i].ptr);
    return gt_limit_fail(limit, err, "nothing %s matches '%.*s'%s", where, (int)limit->pattern.len, limit->pattern.ptr,
                         list);
}
