/* The tables of a job. */
#ifndef GT_RANKS_RANK_TABLES_H
#define GT_RANKS_RANK_TABLES_H

#include "ranks/rank_job.h"
#include "report/report.h"

enum { GT_RANK_TABLES_DRAWN = 100000 }; /* that a page has of a table with a row for each cell of a chart */

/* Adds all tables to a section; texts are copied, so that the job may go. */
void gt_rank_tables_add(const struct gt_rank_job *job, struct gt_section *section);

/* rank_rows.c: those of collectives, stages and bytes between ranks. */
void gt_rank_tables_add_collectives(const struct gt_rank_job *job, struct gt_section *section);

/* ---- cells ---- */

static inline struct gt_cell gt_rank_tables_ns(int64_t ns) {
    return ns == GT_RANK_NO_NS ? gt_cell_null() : gt_cell_int(ns);
}
static inline struct gt_cell gt_rank_tables_rank(const struct gt_rank_job *job, uint32_t rank) {
    return rank == GT_RANK_NONE ? gt_cell_null() : gt_cell_int(job->ranks[rank].number);
}
static inline struct gt_cell gt_rank_tables_real(double value) {
    return isnan(value) ? gt_cell_null() : gt_cell_real(value);
}
struct gt_cell gt_rank_tables_text(struct gt_section *section, struct gt_str text); /* null where it is empty */

#endif
