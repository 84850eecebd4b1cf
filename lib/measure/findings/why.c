/* Writes down how a finding comes about: a note for people, and tables of its thresholds, windows and claims. */
#include "measure/findings/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/row.h"

static const struct gt_report_column threshold_columns[] = {
    {"threshold", "Threshold", GT_UNIT_NONE, NULL, 0},
    {"shown", "Value", GT_UNIT_NONE, NULL, 0},
    {"number", "Value as a number", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"number_unit", "Unit", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"meaning", "Meaning", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_SENTENCE},
};

static const struct gt_report_column window_columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, 0},
    {"start_ns", "Start", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"end_ns", "End", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"length_ns", "Length", GT_UNIT_NS, NULL, 0},
    {"command", "Command", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_DETAIL},
};

static const struct gt_report_column row_columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, 0},
    {"start_ns", "Start", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"length_ns", "Length", GT_UNIT_NS, NULL, 0},
    {"claimed_ns", "Claimed", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"item", "Item", GT_UNIT_NONE, NULL, 0},
    {"cause", "Cause", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"name", "Op or next op", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"range", "Launch range", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
};

static const struct gt_report_column simulation_columns[] = {
    {"command", "Command", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_DETAIL},
    {"trust", "Trust", GT_UNIT_NONE, NULL, 0},
    {"base_ns", "Recorded", GT_UNIT_NS, NULL, 0},
    {"predicted_ns", "Predicted", GT_UNIT_NS, NULL, 0},
    {"low_ns", "At least", GT_UNIT_NS, NULL, 0},
    {"saved_ns", "Saved", GT_UNIT_NS, NULL, 0},
    {"recoverable_ns", "Potential saving", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL},
    {"windows", "Windows", GT_UNIT_COUNT, NULL, 0},
    {"window_saved_ns", "Saved each", GT_UNIT_NS, NULL, 0},
    {"window_recoverable_ns", "Claimed each", GT_UNIT_NS, NULL, 0},
};

/* ---- the id ---- */

/* All ids, as messages list them. */
static const char *list_rules(char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < gt_finding_rule_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", gt_finding_rules[i].id);
    return text;
}

/* The id that is most similar; NULL: none is. */
static const char *nearest_rule(const char *given) {
    const char *nearest = NULL;
    size_t least = (strlen(given) + 2) / 3 + 1; /* up to a third of the letters may be wrong */
    for (size_t i = 0; i < gt_finding_rule_count; i++) {
        const char *id = gt_finding_rules[i].id;
        size_t far = gt_str_distance_nocase(gt_str_of(given), gt_str_of(id));
        if (strlen(given) >= 4 && strstr(id, given)) /* "sync" is "sync_waits" */
            far = 1;
        if (far < least) {
            least = far;
            nearest = id;
        }
    }
    return nearest;
}

enum gt_status gt_why_id(const struct gt_view *view, const char **id, struct gt_error *err) {
    char ids[1024];
    *id = gt_option_text(view, GT_OPTION_why);
    for (size_t i = 0; i < gt_finding_rule_count && *id; i++)
        if (strcmp(gt_finding_rules[i].id, *id) == 0)
            return GT_OK;
    const char *nearest = *id ? nearest_rule(*id) : NULL;
    if (nearest)
        return gt_fail_usage(err, "no finding has the id '%.80s'; did you mean '%s'?", *id, nearest);
    return *id ? gt_fail_usage(err, "no finding has the id '%.80s'; available: %s", *id, list_rules(ids, sizeof ids))
               : GT_OK;
}

/* ---- sentences ---- */

/* "15%", "1 ms", "100" */
static struct gt_str say_value(struct gt_arena *arena, const struct gt_threshold *threshold) {
    char text[GT_NUM_MAX];
    if (threshold->unit == GT_UNIT_SHARE)
        snprintf(text, sizeof text, "%g%%", 100 * threshold->value);
    else if (threshold->unit == GT_UNIT_NS)
        gt_num_format_duration(text, threshold->value);
    else if (threshold->unit == GT_UNIT_BYTES)
        gt_num_format_bytes(text, threshold->value);
    else
        gt_num_format_real(text, threshold->value);
    return gt_arena_copy(arena, gt_str_of(text));
}

/* How the share makes the severity. What was lost may have lowered it. */
static const char *say_severity(struct gt_evidence *evidence, const struct gt_finding_rule *rule,
                                const struct gt_finding *finding) {
    if (rule->level == GT_LEVEL_LOW)
        return "Severity low: it promises no saving by itself.";
    const char *share = gt_say_share(evidence, finding->share, 1);
    bool is_high = finding->share >= gt_thresholds.high_share, is_medium = finding->share >= gt_thresholds.medium_share;
    enum gt_severity measured = is_high ? GT_SEVERITY_HIGH : is_medium ? GT_SEVERITY_MEDIUM : GT_SEVERITY_LOW;
    return gt_arena_printf(evidence->arena,
                           "Severity %s: %s of the steady time could be saved; low from %g%%, medium from %g%%, high "
                           "from %g%% on%s.",
                           gt_finding_list_severity_name(finding->severity), share, 100 * gt_thresholds.low_share,
                           100 * gt_thresholds.medium_share, 100 * gt_thresholds.high_share,
                           finding->severity == measured     ? ""
                           : rule->level == GT_LEVEL_BY_ROOF ? "; one lower, as few kernels reach their roofs"
                                                             : "; one lower, as the file was only partly read")
        .ptr;
}

static const char *say_saving_by(const struct gt_finding *finding) {
    if (finding->is_simulated)
        return ", as far as the simulation saves it";
    if (!finding->simulation.trust)
        return ", an upper bound";
    return ", an upper bound: the dependency graph explains the trace too badly to simulate";
}

static const char *say_saving(struct gt_evidence *evidence, const struct gt_finding *finding) {
    if (finding->recoverable_ns <= 0)
        return "";
    const char *total = gt_say_ns(evidence, (double)finding->recoverable_ns), *by = say_saving_by(finding);
    if (finding->step_ns < 0)
        return gt_arena_printf(evidence->arena, " Potential saving: %s%s.", total, by).ptr;
    return gt_arena_printf(evidence->arena, " Potential saving: %s, %s a step%s.", total,
                           gt_say_ns(evidence, (double)finding->step_ns), by)
        .ptr;
}

static const char *say_lacks(struct gt_evidence *evidence, const struct gt_finding_rule *rule) {
    uint32_t missing = rule->needs & ~evidence->view->store->facts & ~GT_NEEDS_OTHERS;
    const char *list = "";
    for (uint32_t fact = 1; fact && fact <= missing; fact <<= 1)
        if (missing & fact)
            list = gt_arena_printf(evidence->arena, "%s%s%s", list, *list ? " and no " : "",
                                   gt_store_fact_title((enum gt_fact)fact))
                       .ptr;
    return gt_arena_printf(evidence->arena, "Not reported: the trace has no %s.", list).ptr;
}

static const char *say_absence(struct gt_evidence *evidence, const struct gt_finding_rule *rule,
                               const struct gt_finding *finding, enum gt_why_outcome outcome) {
    if (outcome == GT_WHY_LACKS)
        return say_lacks(evidence, rule);
    if (outcome == GT_WHY_NOTHING)
        return "Not reported: the rule found nothing.";
    return gt_arena_printf(evidence->arena,
                           "Not reported: %s of the steady time could be saved, and less than %g%% is not reported.",
                           gt_say_share(evidence, finding->share, 1), 100 * gt_thresholds.low_share)
        .ptr;
}

static void add_note(struct gt_evidence *evidence, struct gt_section *section, const struct gt_finding_rule *rule,
                     const struct gt_finding *finding, enum gt_why_outcome outcome) {
    bool is_reported = outcome == GT_WHY_REPORTED;
    gt_section_note(section, GT_FOR_ALL,
                    gt_arena_printf(evidence->arena, "%s: %s %s%s", rule->id, rule->what,
                                    is_reported ? say_severity(evidence, rule, finding)
                                                : say_absence(evidence, rule, finding, outcome),
                                    is_reported ? say_saving(evidence, finding) : ""));
}

/* ---- tables ---- */

static void add_thresholds(struct gt_evidence *evidence, struct gt_section *section,
                           const struct gt_finding_rule *rule) {
    struct gt_table *table = gt_section_table(section, "finding_thresholds", "Thresholds of the rule",
                                              threshold_columns, GT_ARRAY_COUNT(threshold_columns));
    for (size_t i = 0; i < gt_threshold_count; i++) {
        const struct gt_threshold *threshold = &gt_threshold_list[i];
        bool is_of_all = rule->level != GT_LEVEL_LOW && gt_thresholds_is_of_rule(threshold, "severity");
        if (!is_of_all && !gt_thresholds_is_of_rule(threshold, rule->id))
            continue;
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "threshold", gt_str_of(threshold->name));
        gt_row_text(&row, "shown", say_value(evidence->arena, threshold));
        gt_row_real(&row, "number", threshold->value);
        gt_row_text(&row, "number_unit", gt_str_of(gt_cell_unit_name(threshold->unit)));
        gt_row_text(&row, "meaning", gt_str_of(threshold->what));
        gt_row_end(&row);
    }
}

static struct gt_cell known_cell(int64_t ns) {
    return ns < 0 ? gt_cell_null() : gt_cell_int(ns);
}

/* Without a graph there is no row. */
static void add_simulation(struct gt_section *section, const struct gt_finding *finding) {
    const struct gt_finding_simulation *simulation = &finding->simulation;
    struct gt_table *table = gt_section_table(section, "finding_simulation", "Without the cause", simulation_columns,
                                              GT_ARRAY_COUNT(simulation_columns));
    table->empty = "Nothing is simulated for this finding.";
    if (!simulation->trust)
        return;
    bool has_answer = simulation->base_ns >= 0;
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "command", gt_str_of(simulation->command));
    gt_row_text(&row, "trust", gt_str_of(simulation->trust));
    gt_row_cell(&row, "base_ns", known_cell(simulation->base_ns));
    gt_row_cell(&row, "predicted_ns", known_cell(simulation->predicted_ns));
    gt_row_cell(&row, "low_ns", known_cell(simulation->low_ns));
    gt_row_cell(&row, "saved_ns",
                has_answer ? gt_cell_int(simulation->base_ns - simulation->predicted_ns) : gt_cell_null());
    gt_row_cell(&row, "recoverable_ns", known_cell(finding->recoverable_ns));
    int64_t windows = (int64_t)simulation->window_count;
    gt_row_cell(&row, "windows", has_answer ? gt_cell_int(windows) : gt_cell_null());
    gt_row_cell(&row, "window_saved_ns",
                windows ? gt_cell_int((simulation->base_ns - simulation->predicted_ns) / windows) : gt_cell_null());
    gt_row_cell(&row, "window_recoverable_ns", known_cell(gt_finding_list_window_ns(finding)));
    gt_row_end(&row);
}

/* What shows a claim: gaps with their causes, memory ops, or kernels. */
static const char *command_for(const struct gt_ledger *ledger, const struct gt_ledger_claim *claim) {
    if (claim->is_gap)
        return "gaps --per device";
    enum gt_op_kind kind = gt_view_op_kind(ledger->view, claim->item);
    return kind == GT_OP_MEMCPY || kind == GT_OP_MEMSET ? "summary --table memory" : "kernels";
}

/* Shows the window with a tenth of its length around it, so that the ops at its edges are selected, too. */
static struct gt_str say_command(struct gt_evidence *evidence, size_t index, const struct gt_finding_window *window) {
    int64_t margin_ns = gt_ns_between(window->start_ns, window->end_ns) / 10 + 1000;
    int64_t from_ns = window->start_ns > margin_ns ? window->start_ns - margin_ns : 0;
    return gt_arena_printf(evidence->arena, "gputime %s --device %lld --from %lldus --to %lldus TRACE",
                           command_for(&evidence->ledger, &evidence->ledger.window_claims[index]),
                           (long long)window->device, (long long)(from_ns / 1000),
                           (long long)(gt_ns_add(window->end_ns, margin_ns) / 1000));
}

/* Returns the command for the first window; empty: there is none. */
static struct gt_str add_windows(struct gt_evidence *evidence, struct gt_section *section,
                                 const struct gt_finding *finding) {
    struct gt_str first = {"", 0};
    struct gt_table *table =
        gt_section_table(section, "finding_windows", "Where to look", window_columns, GT_ARRAY_COUNT(window_columns));
    for (size_t i = 0; i < finding->window_count; i++) {
        const struct gt_finding_window *window = &finding->windows[i];
        struct gt_str command = say_command(evidence, i, window);
        struct gt_row row = gt_row_begin(table);
        gt_row_int(&row, "device", window->device);
        gt_row_int(&row, "start_ns", window->start_ns);
        gt_row_int(&row, "end_ns", window->end_ns);
        gt_row_int(&row, "length_ns", gt_ns_between(window->start_ns, window->end_ns));
        gt_row_text(&row, "command", command);
        gt_row_end(&row);
        first = i ? first : command;
    }
    return first;
}

/* The most first, then as they come in the trace. */
static int by_claim(const void *a, const void *b) {
    const struct gt_ledger_claim *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    if (x->is_gap != y->is_gap)
        return x->is_gap ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static struct gt_cell range_cell(const struct gt_view *view, uint32_t position) {
    uint32_t range = position == GT_NO_ROW ? GT_NO_ROW : view->labels->op_range[view->row[position]];
    if (range == GT_NO_ROW)
        return gt_cell_null();
    return gt_cell_text(gt_store_string(view->store, view->store->ranges.name[range]));
}

static void add_claim(const struct gt_ledger *ledger, struct gt_table *table, const struct gt_ledger_claim *claim) {
    const struct gt_view *view = ledger->view;
    const struct gt_idle *idle = ledger->idle;
    bool is_gap = claim->is_gap;
    size_t item = claim->item;
    uint32_t op = is_gap ? idle->next[item] : (uint32_t)item;
    int64_t start_ns = is_gap ? gt_idle_gap_start_ns(idle, item) : view->start_ns[op];
    int64_t end_ns = is_gap ? gt_idle_gap_end_ns(idle, item) : view->end_ns[op];
    int64_t device = is_gap ? view->devices[gt_idle_device_of(idle, item)].id
                            : view->store->devices.id[view->store->lanes.device[view->lane[op]]];
    struct gt_row row = gt_row_begin(table);
    gt_row_int(&row, "device", device);
    gt_row_cell(&row, "start_ns", gt_measure_time_cell(view, start_ns));
    gt_row_int(&row, "length_ns", gt_ns_between(start_ns, end_ns));
    gt_row_int(&row, "claimed_ns", claim->ns);
    gt_row_text(&row, "item", is_gap ? GT_STR("gap") : GT_STR("op"));
    gt_row_cell(&row, "cause",
                is_gap ? gt_cell_text(gt_str_of(gt_idle_cause_names[gt_idle_gap_cause(idle, item)])) : gt_cell_null());
    gt_row_cell(&row, "name", gt_measure_op_name_cell(view, op));
    gt_row_cell(&row, "range", range_cell(view, op));
    gt_row_end(&row);
}

static void add_claims(struct gt_evidence *evidence, struct gt_section *section) {
    const struct gt_ledger *ledger = &evidence->ledger;
    struct gt_table *table =
        gt_section_table(section, "finding_rows", "What it claims", row_columns, GT_ARRAY_COUNT(row_columns));
    struct gt_ledger_claim *claims = gt_mem_array(ledger->count, sizeof *claims);
    table->screen_limit = 10;
    if (!claims) {
        gt_evidence_fail(evidence);
        return;
    }
    if (ledger->count)
        memcpy(claims, ledger->claims, ledger->count * sizeof *claims);
    qsort(claims, ledger->count, sizeof *claims, by_claim);
    size_t count = gt_measure_table_rows_wanted(evidence->view, table, ledger->count);
    for (size_t i = 0; i < count; i++)
        add_claim(ledger, table, &claims[i]);
    table->total_rows = ledger->count;
    gt_mem_free(claims);
}

void gt_why_add(struct gt_evidence *evidence, struct gt_section *section, const struct gt_finding_rule *rule,
                const struct gt_finding *finding, enum gt_why_outcome outcome) {
    add_note(evidence, section, rule, finding, outcome);
    add_simulation(section, finding);
    add_thresholds(evidence, section, rule);
    struct gt_str command = add_windows(evidence, section, finding);
    add_claims(evidence, section);
    if (finding->simulation.command)
        gt_section_note(
            section, GT_FOR_SCREEN,
            gt_arena_printf(evidence->arena, "To simulate it without the cause: %s", finding->simulation.command));
    if (command.len)
        gt_section_note(
            section, GT_FOR_SCREEN,
            gt_arena_printf(evidence->arena, "To see the first window: %.*s", (int)command.len, command.ptr));
}
