/* How a file writes its events, learned from the file itself. A writer repeats the same text for every event of a kind,
   except for a few values: that text is kept as a tree of literals with a value after each. An event that follows a
   path through the tree is read by comparing long runs of bytes instead of taking members apart one by one.

   There are two trees. In the open one every number has its place between two literals. In the folded one numbers that
   hardly change (ids of processes, threads, devices and streams) are part of the literals, which makes paths shorter;
   it has a path for each of the commonest combinations.

   Shapes of operators and launch configurations are long, but few are different. Where they are asked for, that part of
   the args is one value, and torch_repeats.h knows what the portable reader made of it the first time.

   Following a path is only another way to read: for every text that does, gt_torch_event_parse() would come to the same
   members. So it does not matter what is learned, nor in which order. */
#ifndef GT_DECODE_TORCH_TORCH_LAYOUT_H
#define GT_DECODE_TORCH_TORCH_LAYOUT_H

#include "base/arena.h"
#include "decode/torch/torch_region.h"

/* What is between one literal and the next. */
enum gt_torch_slot {
    GT_TORCH_SLOT_END,    /* nothing: the literal ends before the brace of the next event */
    GT_TORCH_SLOT_NAME,   /* the text of the event's name, without quotes */
    GT_TORCH_SLOT_TEXT,   /* any other text */
    GT_TORCH_SLOT_INT,    /* digits that are wanted */
    GT_TORCH_SLOT_MICROS, /* digits and decimals that are wanted as ns */
    GT_TORCH_SLOT_NUMBER, /* a number nobody asks for */
    GT_TORCH_SLOT_LIST,   /* the inside of brackets, without brackets or text */
    GT_TORCH_SLOT_LINES,  /* what is in an object nobody asks for, whose end is plain: see gt_json_scan_skip_lines() */
    /* any other object or array nobody asks for, and that of GT_TORCH_LIMITS, after the first bracket. That is part of
       the literal: args and traceEvents are another thing as an object than as an array. */
    GT_TORCH_SLOT_NESTED,
    GT_TORCH_SLOT_REPEATED, /* members of args up to the last ] before a brace, for torch_repeats.h */
};

/* What becomes of an event. */
enum gt_torch_role {
    GT_TORCH_ROLE_SKIP,
    GT_TORCH_ROLE_SKIP_UNLESS_STEP, /* the name decides */
    GT_TORCH_ROLE_ARGUMENTS,        /* an operator with its arguments; here, too: a step is no operator */
    GT_TORCH_ROLE_CPU_OP,           /* ... without */
    GT_TORCH_ROLE_CPU_SIDE,
    GT_TORCH_ROLE_CPU_OP_OR_COMM, /* as for operators; the record of a collective has more to it */
    GT_TORCH_ROLE_GPU_SIDE,
    GT_TORCH_ROLE_CONFIG, /* a kernel with its launch configuration */
    GT_TORCH_ROLE_LIMITS, /* no event: the object with what limits a kernel, for torch_repeats.h */
};

/* What events of a kind are for. */
struct gt_torch_purpose {
    enum gt_torch_role role;
    uint32_t wanted; /* fields of which values are needed, by bits */
    bool reads_text; /* more of the args is asked for than gt_torch_event_parse() finds */
};

/* Fields that only the text of the args has, by bits. */
#define GT_TORCH_TEXT_FIELDS                                                                                           \
    (UINT32_C(1) << GT_TORCH_EXTERNAL | UINT32_C(1) << GT_TORCH_SEQUENCE | UINT32_C(1) << GT_TORCH_FORWARD_THREAD |    \
     UINT32_C(1) << GT_TORCH_OCCUPANCY | UINT32_C(1) << GT_TORCH_PRIORITY)

/* The same, of launch_details. */
#define GT_TORCH_DETAIL_FIELDS                                                                                         \
    (UINT32_C(1) << GT_TORCH_CHANNEL | UINT32_C(1) << GT_TORCH_CHANNEL_TYPE | UINT32_C(1) << GT_TORCH_LIMITS)

struct gt_torch_node {
    struct gt_torch_node *next;     /* what last followed: a child; after an end, one of the root's; never NULL */
    struct gt_torch_node *children; /* what may follow */
    struct gt_torch_node *other;    /* the next child of the same parent */
    struct gt_torch_path *path;     /* of a GT_TORCH_SLOT_END */
    enum gt_torch_slot slot;
    enum gt_torch_field field;
    uint32_t indent;          /* of a GT_TORCH_SLOT_LINES: bytes between its end and the brace */
    struct gt_str last_value; /* in the open tree */
    bool has_changed;         /* ... from one event to the next */
    uint32_t value_bytes;     /* of the last number; 0: they are too different to guess */
    uint32_t size_changes;    /* how often that was another one than before */
    uint32_t literal_bytes;   /* 1 or more */
    uint32_t last_bits;       /* one for each byte of the literal's last 32 or less */
    char literal[];           /* no NUL in it, GT_JSON_PADDING zero bytes after it */
};

/* All that is known of an event by the path it takes. */
struct gt_torch_path {
    enum gt_torch_role role;
    enum gt_torch_category category;
    uint32_t fields; /* whose values were met on the way, by bits */
    bool needs_fold; /* of an open path: its track is identified by text, which only folded paths know */
    bool is_folded;
    bool has_repeated;     /* a GT_TORCH_SLOT_REPEATED is on the way */
    bool has_texts;        /* ... or that of GT_TORCH_LIMITS */
    uint32_t track;        /* of a folded path */
    unsigned lesson_count; /* of an open path: events learned from */
    unsigned fold_count;   /* ... paths in the folded tree that it has */
};

struct gt_torch_layout {
    struct gt_torch_node *open, *folded; /* the roots */
    uint32_t facts, taken;               /* as in the sink */
    unsigned lessons_before_fold; /* events of a kind that are seen before it is judged which of their numbers change */
    unsigned max_folds;           /* folded paths for each open one */
    size_t node_count, lesson_count;
    struct gt_arena arena;
};

/* is_eager: for tests, learns all from one event. facts: what to read. false: memory was short. */
bool gt_torch_layout_init(struct gt_torch_layout *layout, bool is_eager, uint32_t facts);
void gt_torch_layout_release(struct gt_torch_layout *layout);

/* Learns from an event that gt_torch_event_parse() read at the first try: its text begins at p, [p, end) are the bytes
   available, track is its lane or thread. Not every event is fit for it, and a file that never repeats itself is given
   up after a while. Gives the part of its args that is known as a whole; empty: there is none. */
struct gt_str gt_torch_layout_learn(struct gt_torch_layout *layout, const struct gt_torch_event *event, const char *p,
                                    const char *end, uint32_t track);

/* torch_roles.c: what events like this one are for. Agrees with what the sink makes of them. false: events of this kind
   are for the portable reader. */
bool gt_torch_layout_choose_role(const struct gt_torch_layout *layout, const struct gt_torch_event *event,
                                 struct gt_torch_purpose *purpose);

/* Whether the values of a field say which process, thread, device or stream an event is of. */
static inline bool gt_torch_layout_names_track(enum gt_torch_field field) {
    return field == GT_TORCH_PID || field == GT_TORCH_TID || field == GT_TORCH_DEVICE || field == GT_TORCH_STREAM;
}

/* Whether to show it the next event of an open path too. */
bool gt_torch_layout_wants(const struct gt_torch_layout *layout, const struct gt_torch_path *path);

#endif
