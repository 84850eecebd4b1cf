/* The rank of a trace in a distributed job, and of each process that it has GPU work of. */
#ifndef GT_EVENTS_TRACE_RANK_H
#define GT_EVENTS_TRACE_RANK_H

#include "base/arena.h"
#include "base/fail.h"
#include "events/labels.h"

struct gt_trace_rank {
    int64_t rank, world_size; /* -1: not known */
    enum gt_rank_source source;
};

/* The processes with GPU work, by process track; *count is how many there are. Without labels only those that own
   streams, not those that are known by launch calls alone. To be freed with gt_mem_free; NULL: memory was short. */
bool *gt_trace_rank_workers(const struct gt_store *store, const struct gt_labels *labels, size_t *count);

/* The rank of one of them: what the trace says for all of it, then what is recorded about the process, then the number
   in the name of the file. The environment and the name of the file count only where it is the only one with GPU work.
   path: of the file; may be "-". */
struct gt_trace_rank gt_trace_rank_of_process(const struct gt_store *store, uint32_t process, bool is_only,
                                              const char *path);

/* The rank that all its processes with GPU work have; unknown where they differ. Depends on GPU ops alone, whatever
   else was read. */
enum gt_status gt_trace_rank_find(const struct gt_store *store, const char *path, struct gt_trace_rank *out,
                                  struct gt_error *err);

/* The digits after "rank" in the name of a file, with at most two other characters between; -1: it has none. */
int64_t gt_trace_rank_of_name(const char *path);

/* The path with "*" in place of this rank's number, which the files of one job usually have in common: that after
   "rank", else the last one in the name of the file that is this number. */
struct gt_str gt_trace_rank_pattern(const char *path, int64_t rank, struct gt_arena *arena);

/* "trace", "mpi", "environment", "nccl", "file_name"; NULL: not known. */
const char *gt_trace_rank_source_key(enum gt_rank_source source);

#endif
