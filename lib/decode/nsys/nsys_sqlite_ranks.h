/* Ranks of processes in an export: those that MPI gave, and those of environments that are among its strings. */
#ifndef GT_DECODE_NSYS_NSYS_SQLITE_RANKS_H
#define GT_DECODE_NSYS_NSYS_SQLITE_RANKS_H

#include "decode/nsys/nsys.h"
#include "decode/sqlite/sqlite_pages.h"

/* What environments say, none of which is known to be that of a certain process. Zeroed is empty. */
struct gt_nsys_sqlite_environments {
    size_t count; /* of those with a rank */
    struct gt_nsys_rank first;
    bool differ;
};

struct gt_nsys_sqlite_ranks {
    struct gt_nsys_rank *list;
    size_t count, capacity;
    struct gt_nsys_sqlite_environments processes, profiler;
    bool has_failed; /* memory was short */
};

void gt_nsys_sqlite_ranks_release(struct gt_nsys_sqlite_ranks *ranks);

/* A row of MPI_RANKS; context: struct gt_nsys_sqlite_ranks. */
void gt_nsys_sqlite_ranks_take_mpi(void *context, const struct gt_sqlite_row *row);
/* Any text of the export: if it is the environment of a process, its rank counts. */
void gt_nsys_sqlite_ranks_take_text(struct gt_nsys_sqlite_ranks *ranks, struct gt_str text);
/* The environment of the profiler itself, which has ';' between its entries. */
void gt_nsys_sqlite_ranks_take_profiler(struct gt_nsys_sqlite_ranks *ranks, struct gt_str text);
/* After all rows: what environments agree on goes to the list. */
void gt_nsys_sqlite_ranks_settle(struct gt_nsys_sqlite_ranks *ranks);

#endif
