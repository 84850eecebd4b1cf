/* Sections: take blocks from analyses, everything in the report's arena but the rows of tables. */
#include "report/section.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "report/report.h"

static struct gt_block *add_block(struct gt_section *section, enum gt_block_kind kind, uint32_t audience) {
    struct gt_report *report = section->report;
    struct gt_block *blocks = gt_arena_room(&report->arena, section->blocks, section->block_count,
                                            &section->block_capacity, sizeof *section->blocks);
    if (!blocks)
        return NULL;
    section->blocks = blocks;
    size_t index = section->block_count++;
    blocks[index] = (struct gt_block){.kind = kind, .audience = audience, .index = index};
    return &blocks[index];
}

struct gt_table *gt_section_table(struct gt_section *section, const char *key, const char *title,
                                  const struct gt_report_column *columns, size_t column_count) {
    assert(column_count > 0 && column_count <= GT_TABLE_COLUMNS_MAX);
    struct gt_report *report = section->report;
    struct gt_table *table = gt_arena_alloc(&report->arena, sizeof *table);
    struct gt_block *block = table ? add_block(section, GT_BLOCK_TABLE, GT_FOR_ALL) : NULL;
    if (block)
        block->table = table;
    else
        table = &report->spare_table;
    *table = (struct gt_table){
        .key = key, .title = title, .columns = columns, .column_count = column_count, .report = report};
    return table;
}

struct gt_block *gt_section_facts(struct gt_section *section, const char *title) {
    struct gt_block *block = add_block(section, GT_BLOCK_FACTS, GT_FOR_ALL);
    if (!block) {
        block = &section->report->spare_block;
        *block = (struct gt_block){.kind = GT_BLOCK_FACTS, .index = SIZE_MAX};
    }
    block->title = title;
    return block;
}

void gt_section_add_fact(struct gt_section *section, struct gt_block *facts, const char *key, const char *title,
                         enum gt_unit unit, struct gt_cell value) {
    if (facts->index >= section->block_count)
        return;
    struct gt_block *block = &section->blocks[facts->index]; /* the array may have moved since */
    struct gt_report_fact *room = gt_arena_room(&section->report->arena, block->facts, block->fact_count,
                                                &block->fact_capacity, sizeof *block->facts);
    if (!room)
        return;
    block->facts = room;
    block->facts[block->fact_count++] =
        (struct gt_report_fact){.key = key, .title = title, .unit = unit, .value = value};
}

void gt_section_note(struct gt_section *section, uint32_t audience, struct gt_str text) {
    struct gt_str copy = gt_arena_copy(&section->report->arena, text);
    struct gt_block *block = add_block(section, GT_BLOCK_NOTE, audience);
    if (block)
        block->note = copy;
}

void gt_section_note_warning(struct gt_section *section, uint32_t audience, struct gt_str text) {
    size_t before = section->block_count;
    gt_section_note(section, audience, text);
    if (section->block_count > before)
        section->blocks[before].is_warning = true;
}

void gt_section_note_loss(struct gt_section *section, struct gt_str text) {
    size_t before = section->block_count;
    gt_section_note_warning(section, GT_FOR_ALL, text);
    if (section->block_count > before)
        section->blocks[before].is_loss = true;
}

struct gt_timeline *gt_section_timeline(struct gt_section *section) {
    struct gt_timeline *timeline = gt_arena_alloc(&section->report->arena, sizeof *timeline);
    struct gt_block *block = timeline ? add_block(section, GT_BLOCK_TIMELINE, GT_FOR_PAGE) : NULL;
    if (block)
        block->timeline = timeline;
    else
        timeline = &section->report->spare_timeline;
    return timeline;
}

void gt_section_issue(struct gt_section *section, const struct gt_report_issue *issue) {
    struct gt_report_issue *room = gt_arena_room(&section->report->arena, section->issues, section->issue_count,
                                                 &section->issue_capacity, sizeof *section->issues);
    if (!room)
        return;
    section->issues = room;
    section->issues[section->issue_count++] = *issue;
}

void gt_section_lack(struct gt_section *section, struct gt_str table, struct gt_str what) {
    struct gt_report_lack *room = gt_arena_room(&section->report->arena, section->lacks, section->lack_count,
                                                &section->lack_capacity, sizeof *section->lacks);
    if (!room)
        return;
    section->lacks = room;
    section->lacks[section->lack_count++] = (struct gt_report_lack){table, what};
}

void gt_section_spread(struct gt_section *section, const char *table, struct gt_str name, size_t steps,
                       double stddev_ns) {
    struct gt_report_spread *room = gt_arena_room(&section->report->arena, section->spreads, section->spread_count,
                                                  &section->spread_capacity, sizeof *section->spreads);
    if (!room)
        return;
    section->spreads = room;
    section->spreads[section->spread_count++] = (struct gt_report_spread){table, name, steps, stddev_ns};
}

struct gt_str gt_section_lacks(const struct gt_section *section, const char *table) {
    for (size_t i = 0; i < section->lack_count; i++)
        if (gt_str_eq(section->lacks[i].table, gt_str_of(table)))
            return section->lacks[i].what;
    return (struct gt_str){"", 0};
}

void gt_section_bring_first(struct gt_section *section, size_t count) {
    struct gt_block *blocks = gt_arena_array(&section->report->arena, section->block_count, sizeof *blocks);
    if (!blocks || !count || count > section->block_count)
        return;
    size_t others = section->block_count - count;
    memcpy(blocks, section->blocks + others, count * sizeof *blocks);
    if (others)
        memcpy(blocks + count, section->blocks, others * sizeof *blocks);
    for (size_t b = 0; b < section->block_count; b++)
        blocks[b].index = b;
    section->blocks = blocks;
    section->block_capacity = section->block_count;
}

static const struct gt_report_fact *find_fact(const struct gt_section *section, struct gt_str key) {
    for (size_t b = 0; b < section->block_count; b++) {
        const struct gt_block *block = &section->blocks[b];
        for (size_t f = 0; block->kind == GT_BLOCK_FACTS && f < block->fact_count; f++)
            if (gt_str_eq(gt_str_of(block->facts[f].key), key))
                return &block->facts[f];
    }
    return NULL;
}

bool gt_section_has_fact(const struct gt_section *section, const char *key) {
    return find_fact(section, gt_str_of(key)) != NULL;
}

struct gt_cell gt_section_fact(const struct gt_section *section, struct gt_str key) {
    const struct gt_report_fact *fact = find_fact(section, key);
    return fact ? fact->value : gt_cell_null();
}

struct gt_table *gt_section_find_named(const struct gt_section *section, struct gt_str key) {
    for (size_t b = 0; b < section->block_count; b++) {
        const struct gt_block *block = &section->blocks[b];
        if (block->table && gt_str_eq(gt_str_of(block->table->key), key))
            return block->table;
    }
    return NULL;
}

struct gt_table *gt_section_find(const struct gt_section *section, const char *key) {
    return gt_section_find_named(section, gt_str_of(key));
}
