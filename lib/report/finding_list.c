/* Findings of a section: kept in order of what they are worth, and as rows of a table for data. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "report/report.h"
#include "report/row.h"

enum { RANK, ID, SEVERITY, TITLE, RECOVERABLE, STEP, SHARE, SAVING_BY, TRUST, EVIDENCE, ADVICE, TABLE, COLUMN_COUNT };

static const struct gt_report_column columns[COLUMN_COUNT] = {
    [RANK] = {"rank", "#", GT_UNIT_NONE, NULL, 0},
    [ID] = {"id", "Finding", GT_UNIT_NONE, NULL, 0},
    [SEVERITY] = {"severity", "Severity", GT_UNIT_NONE, NULL, 0},
    [TITLE] = {"title", "Summary", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    [RECOVERABLE] = {"recoverable_ns", "Potential saving", GT_UNIT_NS, NULL, 0},
    [STEP] = {"recoverable_step_ns", "Saving a step", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL},
    [SHARE] = {"share", "Share", GT_UNIT_SHARE, "steady time", 0},
    [SAVING_BY] = {"saving_by", "Saving by", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    [TRUST] = {"trust", "Trust", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    [EVIDENCE] = {"evidence", "Evidence", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    [ADVICE] = {"advice", "Advice", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    [TABLE] = {"table", "Table", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
};

const char *gt_finding_list_severity_name(enum gt_severity severity) {
    static const char *const names[] = {
        [GT_SEVERITY_HIGH] = "high", [GT_SEVERITY_MEDIUM] = "medium", [GT_SEVERITY_LOW] = "low"};
    return names[severity];
}

struct gt_table *gt_finding_list_new(struct gt_section *section) {
    struct gt_table *table = gt_section_table(section, "findings", "What to do next", columns, COLUMN_COUNT);
    for (size_t b = 0; b < section->block_count; b++)
        if (section->blocks[b].table == table)
            section->blocks[b].kind = GT_BLOCK_FINDINGS;
    return table;
}

/* Sentences one after the other, as one cell holds them. */
static struct gt_cell joined_cell(struct gt_arena *arena, const struct gt_str *sentences, size_t count) {
    struct gt_str text = {"", 0};
    for (size_t i = 0; i < count; i++)
        text = gt_arena_printf(arena, "%.*s%s%.*s", (int)text.len, text.ptr, i ? " " : "", (int)sentences[i].len,
                               sentences[i].ptr);
    return gt_cell_text(text);
}

static struct gt_cell text_cell(const char *text) {
    return text ? gt_cell_text(gt_str_of(text)) : gt_cell_null();
}

const char *gt_finding_list_saving_by(const struct gt_finding *finding) {
    return finding->recoverable_ns < 0 ? NULL : finding->is_simulated ? "simulation" : "upper_bound";
}

static void add_row(struct gt_section *section, struct gt_table *table, size_t index) {
    const struct gt_finding *finding = &section->findings[index];
    struct gt_arena *arena = &section->report->arena;
    struct gt_row row = gt_row_begin(table);
    gt_row_int(&row, "rank", (int64_t)index + 1);
    gt_row_text(&row, "id", gt_str_of(finding->id));
    gt_row_text(&row, "severity", gt_str_of(gt_finding_list_severity_name(finding->severity)));
    gt_row_text(&row, "title", finding->title);
    gt_row_cell(&row, "recoverable_ns",
                finding->recoverable_ns < 0 ? gt_cell_null() : gt_cell_int(finding->recoverable_ns));
    gt_row_cell(&row, "recoverable_step_ns", finding->step_ns < 0 ? gt_cell_null() : gt_cell_int(finding->step_ns));
    gt_row_cell(&row, "share", gt_cell_known(finding->share));
    gt_row_cell(&row, "saving_by", text_cell(gt_finding_list_saving_by(finding)));
    gt_row_cell(&row, "trust", text_cell(finding->simulation.trust));
    gt_row_cell(&row, "evidence", joined_cell(arena, finding->evidence, finding->evidence_count));
    gt_row_cell(&row, "advice", joined_cell(arena, finding->advice, finding->advice_count));
    gt_row_cell(&row, "table", text_cell(finding->table));
    gt_row_end(&row);
}

static bool is_worth_more(const struct gt_finding *a, const struct gt_finding *b) {
    int64_t gain_a = a->recoverable_ns < 0 ? 0 : a->recoverable_ns,
            gain_b = b->recoverable_ns < 0 ? 0 : b->recoverable_ns;
    if (a->severity != b->severity)
        return a->severity < b->severity;
    return gain_a != gain_b ? gain_a > gain_b : !a->overlaps_id && b->overlaps_id;
}

void gt_finding_list_add(struct gt_section *section, const struct gt_finding *finding) {
    struct gt_table *table = gt_section_find(section, "findings");
    struct gt_finding *room = gt_arena_room(&section->report->arena, section->findings, section->finding_count,
                                            &section->finding_capacity, sizeof *section->findings);
    if (!table || !room)
        return;
    section->findings = room;
    size_t place = section->finding_count++;
    for (; place > 0 && is_worth_more(finding, &room[place - 1]); place--)
        room[place] = room[place - 1];
    room[place] = *finding;
    for (table->row_count = place; place < section->finding_count; place++)
        add_row(section, table, place);
}

/* Place of the finding with this id; finding_count if there is none. */
static size_t find_id(const struct gt_section *section, const char *id) {
    size_t place = 0;
    while (place < section->finding_count && strcmp(section->findings[place].id, id) != 0)
        place++;
    return place;
}

/* Moves each cause to the place before the finding that it causes. */
static void lead_with_causes(struct gt_section *section) {
    for (size_t i = 1; i < section->finding_count; i++) {
        struct gt_finding cause = section->findings[i];
        size_t other = cause.causes_id ? find_id(section, cause.causes_id) : i;
        if (other >= i || section->findings[other].severity != cause.severity)
            continue;
        memmove(&section->findings[other + 1], &section->findings[other], (i - other) * sizeof cause);
        section->findings[other] = cause;
    }
}

void gt_finding_list_link(struct gt_section *section) {
    struct gt_table *table = gt_section_find(section, "findings");
    lead_with_causes(section);
    for (size_t i = 0; table && i < section->finding_count; i++) {
        struct gt_finding *finding = &section->findings[i];
        size_t other = finding->overlaps_id ? find_id(section, finding->overlaps_id) : section->finding_count;
        if (other == section->finding_count || finding->evidence_count == GT_FINDING_SENTENCES)
            continue;
        finding->evidence[finding->evidence_count++] = gt_arena_printf(
            &section->report->arena, "Overlaps finding %zu (%s).", other + 1, section->findings[other].id);
    }
    if (table)
        table->row_count = 0;
    for (size_t i = 0; table && i < section->finding_count; i++)
        add_row(section, table, i);
}

void gt_finding_list_keep(struct gt_section *section, const char *id) {
    struct gt_table *table = gt_section_find(section, "findings");
    size_t place = find_id(section, id);
    if (!table)
        return;
    table->row_count = table->total_rows = 0;
    if (place < section->finding_count)
        add_row(section, table, place);
    table->total_rows = table->row_count;
}

size_t gt_finding_list_rank(const struct gt_section *section, const struct gt_finding *finding) {
    return (size_t)(finding - section->findings) + 1;
}

struct gt_str gt_finding_list_worth(const struct gt_finding *finding, char *text, size_t size) {
    char gain[GT_NUM_MAX];
    const char *severity = gt_finding_list_severity_name(finding->severity);
    bool is_per_step = finding->step_ns > 0;
    int bytes;
    if (finding->recoverable_ns <= 0 || finding->share < 0) {
        bytes = snprintf(text, size, "%s", severity);
    } else {
        gt_num_format_duration(gain, (double)(is_per_step ? finding->step_ns : finding->recoverable_ns));
        bytes = snprintf(text, size, "%s, saves %s%s%s%s", severity, finding->is_simulated ? "" : "up to ", gain,
                         is_per_step ? " a step" : "", finding->is_simulated ? ", simulated" : "");
    }
    return (struct gt_str){text, bytes < 0 ? 0 : (size_t)bytes < size ? (size_t)bytes : size - 1};
}

struct gt_str gt_finding_list_verdict(const struct gt_section *section) {
    struct gt_cell verdict = gt_section_fact(section, GT_FINDINGS_VERDICT);
    return gt_cell_as_text(&verdict);
}

const struct gt_finding *gt_finding_list_at(const struct gt_section *section, const struct gt_table *table,
                                            size_t row) {
    return &section->findings[table->cells[row * COLUMN_COUNT + RANK].integer - 1];
}

bool gt_finding_list_shows(const struct gt_table *table, const char *column) {
    struct gt_str rest = gt_str_of(table->screen_columns), key;
    while (gt_str_next_item(&rest, &key))
        if (gt_str_eq(key, gt_str_of(column)))
            return true;
    return !table->screen_columns;
}

size_t gt_finding_list_advice_shown(const struct gt_table *table, const struct gt_finding *finding) {
    if (!gt_finding_list_shows(table, "advice"))
        return 0;
    return finding->advice_count && !gt_finding_list_shows(table, "evidence") ? 1 : finding->advice_count;
}
