/* The tables of a job. */
#ifndef GT_RANKS_RANK_TABLES_H
#define GT_RANKS_RANK_TABLES_H

#include "events/view.h"
#include "ranks/rank_job.h"
#include "report/report.h"

enum { GT_RANK_TABLES_DRAWN = 100000 }; /* that a page has of a table with a row for each cell of a chart */

/* Adds all tables to a section; texts are copied, so that the job may go. Long ones that the request does not want are
   left out; request NULL: all are wanted. */
void gt_rank_tables_add(const struct gt_rank_job *job, struct gt_section *section, const struct gt_request *request);
bool gt_rank_tables_is_wanted(const struct gt_request *request, const char *table);

/* rank_rows.c: bandwidths of groups. */
void gt_rank_tables_add_speeds(const struct gt_rank_job *job, struct gt_section *section);

/* rank_rows.c: those of collectives, stages and bytes between ranks. */
void gt_rank_tables_add_collectives(const struct gt_rank_job *job, struct gt_section *section,
                                    const struct gt_request *request);

/* rank_drawn.c: collectives of the worst steps, rank by rank, as pages draw them. */
void gt_rank_tables_add_drawn(const struct gt_rank_job *job, struct gt_section *section);

/* Pages do not show this table. */
void gt_rank_tables_leave_page(struct gt_section *section, const struct gt_table *table);

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
struct gt_str gt_rank_tables_op(const struct gt_rank_collective *it); /* "all_reduce", "send_recv" ... */
/* The name of a group (of NCCL: 16 hex digits), and its members: "0-3", "1-7:2", "0,2". */
struct gt_str gt_rank_tables_group_name(struct gt_arena *arena, const struct gt_rank_set_group *group);
struct gt_str gt_rank_tables_members(struct gt_arena *arena, const struct gt_rank_set_group *group);

struct gt_cell gt_rank_tables_text(struct gt_section *section, struct gt_str text); /* null where it is empty */

#endif
