/* What labelling adds to a store: a separate const set of columns, made once by the passes in label/. */
#ifndef GT_EVENTS_LABELS_H
#define GT_EVENTS_LABELS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/strtab.h"
#include "events/store.h"

struct gt_rules;

/* The three kinds of GPU time of the accounting. */
enum gt_class { GT_CLASS_COMPUTE, GT_CLASS_COMM, GT_CLASS_MEMORY };

/* A category of ops: the built-in ones are const, a user's rules make their own. The kind of time uses the name of
   an op alone, so a user's category with ops of several kinds has an entry for each, with the same key. */
struct gt_category {
    const char *key;   /* "gemm" */
    const char *title; /* "matrix products"; the key again where the user gave no more */
    enum gt_class time_class;
};

/* Why kernels of a name are in their category. */
struct gt_name_reason {
    const char *source;     /* of the rule that fired: "builtin", "vllm/llama", "map"; NULL: none did */
    uint32_t rule;          /* its number there, from 1 */
    struct gt_str pattern;  /* what of it matched */
    struct gt_str shorter;  /* of a map: an earlier key that matched too and is a part of it; else empty */
    const char *collective; /* "all_reduce" ... where a communication kernel says, else NULL */
    const char *algorithm;  /* of NCCL, as its setting NCCL_ALGO spells it: "Ring"; NULL: the name does not say */
    const char *protocol;   /* as NCCL_PROTO does: "LL128"; NULL likewise */
};

/* A step: ProfilerStep#N or an iteration range on a CPU thread. Sorted by start, then number. */
struct gt_step {
    int64_t number;
    int64_t start_ns, end_ns;
    uint32_t process; /* track */
    uint32_t range;   /* row of ranges */
};

/* steady.c: a step is long that takes over 1.5 times the median; long ones before the first other one are warm-up. */
bool gt_labels_step_is_long(const struct gt_step *step, double median_ns);
struct gt_labels;
size_t gt_labels_warm_up(const struct gt_labels *labels, double median_ns); /* how many steps it has */
void gt_labels_typical_step(const struct gt_labels *labels, double *median_ns, size_t *warm_up_count);
/* Whether the steps after the warm-up are at least half of the time from there to the last op. */
bool gt_labels_steps_are_most(const struct gt_labels *labels, const struct gt_store *store);

/* ---- collectives ---- */

/* What a collective does; messages between two ranks count as collectives. comm_ops.def has the list. */
enum gt_comm_op {
    GT_COMM_OTHER, /* none of those known */
#define GT_COMM_OP(key, kind) GT_COMM_##key,
#include "events/comm_ops.def"
#undef GT_COMM_OP
    GT_COMM_OP_COUNT
};

/* Ranks that communicate, as far as the trace says. comms.h gives the members one by one. */
struct gt_comm_group {
    uint64_t communicator; /* UINT64_MAX: it has a name instead */
    gt_strid name, description;
    int64_t size;             /* -1: not known */
    int64_t first_rank;       /* members are first_rank + i * stride, unless there is a list */
    int64_t stride;           /* 0: the members are not known, unless there is a list */
    const int64_t *rank_list; /* as many as the size; NULL: see above */
    int64_t own_place;        /* of the rank that the trace is of; -1: not known, or not a member */
};

/* A collective or message: one record, or what the records of its kernel and its CPU operator say together. */
struct gt_collective {
    uint32_t record; /* row of comms, of the kernel or the range; of the CPU operator where neither has one */
    uint32_t more;   /* that of the CPU operator, for what the first lacks; GT_NO_ROW: there is none */
    uint32_t launch; /* index into launches */
    uint32_t group;  /* index into groups; GT_NO_ROW: not known */
    uint8_t op;      /* enum gt_comm_op */
};

/* Collectives that were launched together, and the kernels that carry them. More than one collective: a group call of
   NCCL, whose kernels carry all of them. No kernel: it is not in the trace. */
struct gt_comm_launch {
    uint32_t first, count;       /* of collectives */
    uint32_t first_op, op_count; /* of ops */
};

/* Which records are about which ops. All is empty, and op_launch NULL, for a store without records. */
struct gt_comm_labels {
    struct gt_collective *collectives; /* by launch */
    struct gt_comm_launch *launches;
    uint32_t *ops;       /* rows of ops by launch, ascending in each */
    uint32_t *op_launch; /* by op row: index into launches, GT_NO_ROW if the op has no record */
    struct gt_comm_group *groups;
    size_t collective_count, launch_count, op_count, group_count;
};

/* The passes that make labels, each in its own memory, because several run at once. */
enum gt_pass {
    GT_PASS_CLASSIFY,
    GT_PASS_CORRELATE,
    GT_PASS_TREES,
    GT_PASS_ATTRIBUTE,
    GT_PASS_STEPS,
    GT_PASS_COMMS,
    GT_PASS_MEMORY,
    GT_PASS_COUNT
};

struct gt_labels {
    struct gt_arena arenas[GT_PASS_COUNT]; /* each owns what its pass made, all below but short_names */

    uint32_t *op_call; /* by op row: row of its launch call, GT_NO_ROW if the trace has none */
    uint32_t *op_step; /* by op row: index into steps, GT_NO_ROW if none */

    /* Ranges around the launch of an op. Those of one thread (GPU-side annotations: of one stream) form a tree; marks
       and ranges that ended on another thread are in none and have no ops. By range row, GT_NO_ROW if there is none: */
    uint32_t *op_range;      /* by op row: the innermost of its ranges */
    uint32_t *range_parent;  /* the tightest range around it */
    uint32_t *range_sibling; /* the previous child of the same parent, if it reaches the start of this one */
    uint32_t *range_last;    /* its last child */
    uint32_t *range_level;   /* how many ancestors it has */
    uint32_t *range_order;   /* the rows in trees, each after its ancestors and in front of all that is not below it */
    size_t range_order_count;

    gt_strid *short_name;         /* by string id: id in short_names; only names of ops and groups have one */
    struct gt_strtab short_names; /* the simplified names, borrowed from the store */
    uint8_t *op_category;         /* by op row: index into categories */
    uint8_t *group_category;      /* the same by row of groups */
    const struct gt_name_reason **name_reason; /* by string id: NULL except for names of kernels and graphs */

    const struct gt_rules *rules; /* a user's, which must outlive the labels; NULL: the built-in ones */
    const struct gt_category *categories;
    size_t category_count;
    size_t named_category_count; /* the first ones: those that the user's rules name, whether or not they have ops */

    /* By row of memory events, GT_NO_ROW if there is none: the call that made it, the innermost operator and range of
       the thread around that, or around the moment where the trace has no call. */
    uint32_t *memory_call, *memory_cpu_op, *memory_range;
    uint32_t *memory_owner; /* the innermost operator that does more than allocate; the innermost where none does */

    struct gt_step *steps;
    size_t step_count;

    struct gt_comm_labels comms;

    uint64_t issues[GT_ISSUE_COUNT]; /* counted while labelling */
    bool are_call_ids_growing;       /* from row to row: no two calls share one. false: not known, too */
};

static inline struct gt_str gt_labels_short_name(const struct gt_labels *labels, gt_strid name) {
    return gt_strtab_get(&labels->short_names, labels->short_name[name]);
}

/* The process that made a call; GT_NO_TRACK if the trace does not say. */
static inline uint32_t gt_labels_call_process(const struct gt_store *store, uint32_t call) {
    uint32_t thread = store->calls.thread[call];
    return thread == GT_NO_TRACK ? GT_NO_TRACK : store->threads.process[thread];
}

/* The process that launched an op; GT_NO_TRACK if the trace does not say. */
static inline uint32_t gt_labels_launch_process(const struct gt_labels *labels, const struct gt_store *store,
                                                uint32_t op) {
    uint32_t call = labels->op_call[op];
    return call == GT_NO_ROW ? GT_NO_TRACK : gt_labels_call_process(store, call);
}

/* The process whose work an op is: its stream's, else its launch call's; GT_NO_TRACK where neither is known. */
static inline uint32_t gt_labels_op_process(const struct gt_labels *labels, const struct gt_store *store, uint32_t op) {
    uint32_t process = store->lanes.process[store->ops.lane[op]];
    return process != GT_NO_TRACK ? process : gt_labels_launch_process(labels, store, op);
}

/* Where a range must end, or later, to hold an op: at the end of its launch call; where the trace has none, at the
 * op's.
 */
static inline int64_t gt_labels_op_reach(const struct gt_labels *labels, const struct gt_store *store, uint32_t op) {
    uint32_t call = labels->op_call[op];
    return call == GT_NO_ROW ? store->ops.end_ns[op] : store->calls.end_ns[call];
}

/* All ranges of an op, from the innermost outwards, each in constant time however ranges overlap:
       for (r = labels->op_range[op]; r != GT_NO_ROW; r = gt_labels_next_range(labels, store, r, reach_ns))
   Where ranges nest these are the ancestors. Where they overlap, one that began earlier and ends earlier may hold the
   op too: it is next to the range or, since the last child of a range ends latest, down the line of last children
   there.
 */
static inline uint32_t gt_labels_next_range(const struct gt_labels *labels, const struct gt_store *store,
                                            uint32_t range, int64_t reach_ns) {
    const int64_t *end_ns = store->ranges.end_ns;
    uint32_t sibling = labels->range_sibling[range];
    if (sibling == GT_NO_ROW || end_ns[sibling] < reach_ns)
        return labels->range_parent[range];
    for (uint32_t last = labels->range_last[sibling]; last != GT_NO_ROW && end_ns[last] >= reach_ns;
         last = labels->range_last[sibling])
        sibling = last;
    return sibling;
}

#endif
