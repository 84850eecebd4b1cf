/* MODEL 2: the report. Analyses add blocks to sections; writers walk them and know nothing else. */
#ifndef GT_REPORT_REPORT_H
#define GT_REPORT_REPORT_H

#include "base/arena.h"
#include "base/fail.h"
#include "gputime.h"
#include "report/section.h"
#include "report/shape.h"

/* Of a side of a comparison. */
enum gt_step_choice {
    GT_STEPS_OPEN,  /* nobody has chosen yet whether amounts are per step */
    GT_STEPS_LEFT,  /* they are of whole captures */
    GT_STEPS_TAKEN, /* they are of whole steps */
};

struct gt_report {
    struct gt_arena arena;
    struct gt_error failure; /* the first row that was not written as its table has it (row.h) */
    const char *command;
    struct gt_str heading;    /* above everything; empty: none */
    const char *main_table;   /* key; NULL: the first table */
    const char *generated_at; /* when, for those who keep reports; NULL: not known */
    struct gt_section *sections;
    size_t section_count;
    size_t input_count; /* among which it divides the room it has; a part of a larger report: those of that */
    enum gt_step_choice step_choice;
    const struct gt_roles *roles;         /* what its tables mean; never NULL */
    const struct gt_compare_sides *sides; /* of a comparison, which is the first section; NULL: none */
    struct gt_section joint;              /* what text and Markdown show of all inputs together, before each input */

    /* Handed out after a memory failure, so that whoever builds need not look. */
    struct gt_table spare_table;
    struct gt_block spare_block;
    struct gt_timeline spare_timeline;
    struct gt_cell spare_cells[GT_TABLE_COLUMNS_MAX];
};

/* ---- building: failures stick in the report; ask for them once, at the end ---- */

struct gt_report *gt_report_new(const char *command, size_t section_count); /* NULL: memory was short */
void gt_report_free(struct gt_report *report);
/* Fails where memory was short or a row did not fit its table. */
enum gt_status gt_report_status(const struct gt_report *report, struct gt_error *err);

/* joint.c: the tables of all inputs that the shape asks for, in the joint section instead of in each. */
enum gt_status gt_report_join(struct gt_report *report, const struct gt_shape *shape, struct gt_error *err);

/* Applies the shapes to every table they name. Unknown sort or screen columns are usage errors that list the columns.
 */
enum gt_status gt_report_shape(struct gt_report *report, const struct gt_shape *shapes, size_t count,
                               struct gt_error *err);

#endif
