/* What some events say about things that other events refer to by a number, such as the name of a domain: gathered by
   each thread, joined when all events were read. Of several answers the first in the file counts, no matter who read
   it. */
#ifndef GT_DECODE_NSYS_NSYS_LABEL_H
#define GT_DECODE_NSYS_NSYS_LABEL_H

#include "base/map.h"
#include "base/str.h"

struct gt_nsys_sink;

enum gt_nsys_label_kind {
    GT_NSYS_DOMAINS,      /* process, domain id -> name */
    GT_NSYS_CATEGORIES,   /* process, domain id << 32 | number -> name */
    GT_NSYS_THREAD_NAMES, /* thread, 0 -> name */
    GT_NSYS_GRAPH_NODES,  /* process, number of a graph node; process | GT_NSYS_WHOLE, number of a graph -> nothing */
    GT_NSYS_CLONES,       /* the same -> number of what it was copied from */
    GT_NSYS_LABEL_KINDS
};

struct gt_nsys_label {
    uint64_t global_id, number;
    bool is_given;
    uint64_t order;     /* of the segment that gave it */
    struct gt_str name; /* owned by the sink's arena */
    uint64_t value;
};

struct gt_nsys_labels {
    struct gt_map index_of; /* (global_id, number) -> index in list */
    struct gt_nsys_label *list;
    size_t count, capacity;
};

void gt_nsys_label_release(struct gt_nsys_labels *labels);

/* The place of (global_id, number) in the sink's list, made on first use; SIZE_MAX when memory is short. */
size_t gt_nsys_label_index(struct gt_nsys_sink *sink, enum gt_nsys_label_kind kind, uint64_t global_id,
                           uint64_t number);
void gt_nsys_label_give(struct gt_nsys_sink *sink, enum gt_nsys_label_kind kind, uint64_t global_id, uint64_t number,
                        struct gt_str name, uint64_t value);

/* A name that counts where no event gives one. */
void gt_nsys_label_default(struct gt_nsys_sink *sink, enum gt_nsys_label_kind kind, size_t index, struct gt_str name);

/* Labels that were given, of all sinks: sorted, one for each key. */
struct gt_nsys_label_set {
    struct gt_nsys_label *list;
    size_t count;
};
bool gt_nsys_label_set_init(struct gt_nsys_label_set *set, const struct gt_nsys_sink *sinks, size_t count,
                            enum gt_nsys_label_kind kind); /* false: memory is short */
void gt_nsys_label_set_release(struct gt_nsys_label_set *set);
const struct gt_nsys_label *gt_nsys_label_find(const struct gt_nsys_label_set *set, uint64_t global_id,
                                               uint64_t number); /* NULL: not given */

#endif
