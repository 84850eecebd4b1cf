/* Puts sections together: in come parts of a report that threads made by themselves, out goes one section, the same as
   if one thread had made them one after the other. */
#include "base/mem.h"
#include "report/report.h"

/* false: the section has all of them already. */
static bool keep_new_facts(const struct gt_section *section, struct gt_block *block) {
    size_t kept = 0;
    for (size_t f = 0; f < block->fact_count; f++)
        if (!gt_section_has_fact(section, block->facts[f].key))
            block->facts[kept++] = block->facts[f];
    block->fact_count = kept;
    return kept > 0;
}

static void take_block(struct gt_section *section, struct gt_block *block) {
    struct gt_report *report = section->report;
    if (block->kind == GT_BLOCK_FACTS && !keep_new_facts(section, block))
        return;
    struct gt_block *blocks = gt_arena_room(&report->arena, section->blocks, section->block_count,
                                            &section->block_capacity, sizeof *section->blocks);
    if (!blocks) {
        if (block->table)
            gt_mem_free(block->table->cells);
        return;
    }
    section->blocks = blocks;
    blocks[section->block_count] = *block;
    blocks[section->block_count].index = section->block_count;
    section->block_count++;
    if (block->table)
        block->table->report = report;
}

void gt_section_splice(struct gt_section *section, struct gt_section *from) {
    gt_arena_take(&section->report->arena, &from->report->arena);
    if (section->report->failure.code == GT_OK)
        section->report->failure = from->report->failure;
    for (size_t b = 0; b < from->block_count; b++)
        take_block(section, &from->blocks[b]);
    from->block_count = 0;
    for (size_t i = 0; i < from->issue_count; i++)
        gt_section_issue(section, &from->issues[i]);
    for (size_t i = 0; i < from->lack_count; i++)
        gt_section_lack(section, from->lacks[i].table, from->lacks[i].what);
    for (size_t i = 0; i < from->spread_count; i++)
        gt_section_spread(section, from->spreads[i].table, from->spreads[i].name, from->spreads[i].steps,
                          from->spreads[i].stddev_ns);
    section->has_warm_up |= from->has_warm_up;
    if (from->finding_count) {
        section->findings = from->findings;
        section->finding_count = from->finding_count;
        section->finding_capacity = from->finding_capacity;
    }
}
