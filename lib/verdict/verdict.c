/* The sentences of a comparison, in reading order. */
#include "verdict/verdict.h"

enum gt_status gt_verdict_add(struct gt_report *report, struct gt_error *err) {
    const struct gt_compare_sides *sides = report->sides;
    struct gt_section *section = &report->sections[0];
    size_t tables = section->block_count;
    gt_verdict_note_losses(sides, section);
    gt_verdict_note_change(sides, section);
    gt_verdict_note_per(sides, section);
    gt_verdict_note_graphs(sides, section);
    gt_verdict_note_work(sides, section);
    gt_verdict_note_wholes(sides, section);
    gt_section_bring_first(section, section->block_count - tables);
    return gt_report_status(report, err);
}

enum gt_status gt_verdict_finish(struct gt_report *report, struct gt_error *err) {
    gt_verdict_hide_tables(report->sides, &report->sections[0]);
    gt_compare_list_captures(report->sides, &report->sections[0]);
    return gt_report_status(report, err);
}
