/* One event of a Chrome trace: its text comes in, the few members that matter go out as slices of that text. */
#ifndef GT_DECODE_TORCH_TORCH_EVENT_H
#define GT_DECODE_TORCH_TORCH_EVENT_H

#include <stdint.h>

#include "decode/json/json_scan.h"

enum gt_torch_field {
    GT_TORCH_PH,
    GT_TORCH_CAT,
    GT_TORCH_NAME,
    GT_TORCH_PID,
    GT_TORCH_TID,
    GT_TORCH_TS,
    GT_TORCH_DUR,
    GT_TORCH_ID,
    GT_TORCH_ARGS,
    /* members of args */
    GT_TORCH_DEVICE,
    GT_TORCH_STREAM,
    GT_TORCH_CORRELATION,
    GT_TORCH_BYTES,
    GT_TORCH_GRAPH,
    GT_TORCH_GRAPH_NODE,
    GT_TORCH_ARG_NAME,
    GT_TORCH_ARG_LABELS,
    /* ... that only the fast reader finds here; others read them from the text of the args */
    GT_TORCH_EXTERNAL,
    GT_TORCH_SEQUENCE,
    GT_TORCH_FORWARD_THREAD,
    GT_TORCH_OCCUPANCY,
    GT_TORCH_PRIORITY,
    GT_TORCH_CHANNEL,
    GT_TORCH_CHANNEL_TYPE,
    GT_TORCH_LIMITS, /* `occupancy`: an object, not the number of GT_TORCH_OCCUPANCY */
    GT_TORCH_FIELD_COUNT,
    GT_TORCH_OTHER = GT_TORCH_FIELD_COUNT, /* a member nobody asks for */
    GT_TORCH_DOCUMENT,                     /* "traceEvents": not an event but a whole trace */
};

enum gt_torch_category {
    GT_TORCH_CAT_OTHER, /* not needed */
    GT_TORCH_CAT_KERNEL,
    GT_TORCH_CAT_MEMCPY,
    GT_TORCH_CAT_MEMSET,
    GT_TORCH_CAT_GPU_OP,    /* a kernel, copy or set: the name says */
    GT_TORCH_CAT_DEVICE_OP, /* the same on another accelerator */
    GT_TORCH_CAT_CALL,
    GT_TORCH_CAT_CPU_OP,
    GT_TORCH_CAT_RANGE,
    GT_TORCH_CAT_GPU_RANGE,
    GT_TORCH_CAT_OVERHEAD,
    GT_TORCH_CAT_PYTHON,       /* a Python function */
    GT_TORCH_CAT_SYNC,         /* a synchronization, or a wait of a stream */
    GT_TORCH_CAT_EVENT_RECORD, /* a CUDA event as it was recorded */
};

static inline bool gt_torch_event_is_op(enum gt_torch_category category) {
    return category >= GT_TORCH_CAT_KERNEL && category <= GT_TORCH_CAT_DEVICE_OP;
}

/* Only values whose bit in `seen` is set mean anything; of equal keys the first counts. */
struct gt_torch_event {
    uint32_t seen;
    uint32_t args_wanted; /* set by the caller: a bit for each category whose args are taken apart */
    struct gt_json_value values[GT_TORCH_FIELD_COUNT];
    enum gt_torch_category category;
    struct gt_str args; /* all of their text, if GT_TORCH_ARGS was seen and is an object */
    bool is_second_try;
};

static inline bool gt_torch_event_has(const struct gt_torch_event *event, enum gt_torch_field field) {
    return event->seen >> field & 1;
}

enum gt_torch_parse {
    GT_TORCH_OK,
    GT_TORCH_MORE, /* the bytes end inside the event */
    GT_TORCH_BAD,
    GT_TORCH_INNER_DOCUMENT, /* *p is after the [ of another document's "traceEvents" */
};

/* Reads the object at *p, which is at its brace. On OK *p is after it; on BAD it is where the trouble showed.
   is_second_try: takes more care where strings end, for events that came out BAD. */
enum gt_torch_parse gt_torch_event_parse(struct gt_torch_event *event, const char **p, const char *end,
                                         bool is_second_try);

/* Whether the brace at p opens an object whose first key is one of an event. A string cannot hold such bytes
   unescaped, but objects inside args can: what is found is checked by whoever uses it. */
enum gt_json_status gt_torch_event_starts(const char *p, const char *end);

enum gt_torch_category gt_torch_event_category_of(struct gt_str name);

/* What a key means in an event, and in its args. */
enum gt_torch_field gt_torch_event_field(struct gt_str key);
enum gt_torch_field gt_torch_event_args_field(struct gt_str key);

#endif
