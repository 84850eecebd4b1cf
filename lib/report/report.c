/* The report: made with its sections, released with all that they hold. */
#include "report/report.h"

#include "base/mem.h"

const struct gt_roles gt_no_roles = {0};

struct gt_report *gt_report_new(const char *command, size_t section_count) {
    struct gt_report *report = gt_mem_array(1, sizeof *report);
    if (!report)
        return NULL;
    report->sections = gt_mem_array(section_count, sizeof *report->sections);
    if (!report->sections) {
        gt_mem_free(report);
        return NULL;
    }
    gt_arena_init(&report->arena);
    report->command = command;
    report->roles = &gt_no_roles;
    report->section_count = report->input_count = section_count;
    report->joint.report = report;
    for (size_t i = 0; i < section_count; i++) {
        report->sections[i].report = report;
        report->sections[i].input.rank = -1;
        report->sections[i].input.world_size = -1;
    }
    return report;
}

enum gt_status gt_report_status(const struct gt_report *report, struct gt_error *err) {
    if (gt_arena_failed(&report->arena))
        return gt_fail_memory(err);
    return report->failure.code == GT_OK ? GT_OK : gt_fail(err, "%s", report->failure.message);
}

static void free_tables(const struct gt_section *section) {
    for (size_t b = 0; b < section->block_count; b++) {
        if (section->blocks[b].table)
            gt_mem_free(section->blocks[b].table->cells);
    }
}

void gt_report_free(struct gt_report *report) {
    if (!report)
        return;
    for (size_t s = 0; s < report->section_count; s++)
        free_tables(&report->sections[s]);
    free_tables(&report->joint);
    gt_mem_free(report->sections);
    gt_arena_release(&report->arena);
    gt_mem_free(report);
}
