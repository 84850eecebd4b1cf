/* Chooses the captures of a side that are compared: sections of a report come in, those that the others can be averaged
   with go out. */
#include "compare/compare.h"

static bool meets(const struct gt_section *section, const struct gt_capture_need *need) {
    struct gt_cell value = gt_section_fact(section, gt_str_of(need->fact));
    return gt_cell_as_number(&value) >= need->least;
}

static bool meets_before(const struct gt_report *report, size_t section, size_t need_count) {
    bool ok = true;
    for (size_t i = 0; i < need_count && ok; i++) {
        const struct gt_capture_need *need = &report->roles->capture_needs[i];
        bool is_any = false; /* what none has is not needed */
        for (size_t s = 0; s < report->section_count && !is_any; s++)
            is_any = meets(&report->sections[s], need) && meets_before(report, s, i);
        ok = !is_any || meets(&report->sections[section], need);
    }
    return ok;
}

const char *gt_compare_lack(const struct gt_report *report, size_t section) {
    for (size_t i = 0; i < report->roles->capture_need_count; i++)
        if (!meets_before(report, section, i + 1))
            return report->roles->capture_needs[i].lack;
    return NULL;
}

const struct gt_report *gt_compare_choose(const struct gt_report *report, struct gt_arena *arena) {
    size_t count = 0;
    for (size_t s = 0; s < report->section_count; s++)
        count += !gt_compare_lack(report, s);
    if (count == report->section_count)
        return report;
    struct gt_report *chosen = gt_arena_alloc(arena, sizeof *chosen);
    struct gt_section *sections = gt_arena_array(arena, count, sizeof *sections);
    if (!chosen || !sections)
        return NULL;
    *chosen = *report; /* it borrows everything */
    chosen->sections = sections;
    chosen->section_count = 0;
    for (size_t s = 0; s < report->section_count; s++)
        if (!gt_compare_lack(report, s))
            sections[chosen->section_count++] = report->sections[s];
    return chosen;
}

void gt_compare_note_left_out(const struct gt_report *report, const char *side, struct gt_section *section) {
    for (size_t s = 0; s < report->section_count; s++) {
        const char *lack = gt_compare_lack(report, s);
        struct gt_str label = report->sections[s].input.label;
        if (lack)
            gt_section_note(section, GT_FOR_ALL,
                            gt_arena_printf(&section->report->arena, "Left out of %s: '%.*s' %s.", side, (int)label.len,
                                            label.ptr, lack));
    }
}
