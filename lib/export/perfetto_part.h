/* What one input of a Perfetto trace consists of: its tracks and their numbers, and the GPU work by launch call. */
#ifndef GT_EXPORT_PERFETTO_PART_H
#define GT_EXPORT_PERFETTO_PART_H

#include "base/arena.h"
#include "base/intervals.h"
#include "export/nest.h"
#include "export/perfetto.h"
#include "export/perfetto_file.h"
#include "measure/results/idle.h"

/* What slices are, in the order in which those of the same time contain each other. */
enum gt_perfetto_slice {
#define GT_PERFETTO_SLICE(name, category) GT_SLICE_##name,
#include "export/perfetto_slices.def"
#undef GT_PERFETTO_SLICE
    GT_SLICE_COUNT
};

/* Slices of one track, with what does not nest in it on tracks of its own beside. */
struct gt_perfetto_track {
    const struct gt_perfetto_part *part;
    struct gt_nest_item *items; /* item_count of them, in the part's own array */
    size_t item_count;
    struct gt_nest nest;
};

struct gt_perfetto_part {
    const struct gt_view *view;
    const struct gt_store *store;
    const struct gt_labels *labels;
    const struct gt_idle *idle;
    struct gt_perfetto_file *file;
    struct gt_arena arena;
    int64_t rank, world_size;
    uint64_t add_ns;           /* to every time */
    uint32_t machine;          /* 0: the only one */
    uint32_t api;              /* of the GPU work */
    uint64_t event_id;         /* of the op at position 0 of the view */
    uint64_t uuid;             /* of track 0 */
    uint32_t owner;            /* process of streams that do not say it; GT_NO_TRACK: not known */
    bool *processes;           /* whose threads are selected; NULL: all */
    struct gt_intervals times; /* what of threads and counters is selected: the window, or the steps */

    uint32_t *call_first; /* by call, and one more: where its ops begin in call_ops; NULL: no op has a call */
    uint32_t *call_ops;   /* positions of ops in the view */
    uint32_t *config;     /* by row of ops: of kernel_configs, GT_NO_ROW; NULL: there are none */
    uint32_t *launch;     /* the same for launch_details */
    uint32_t *copy;       /* and copies */
    uint32_t *graph;      /* and graph_ops */

    struct gt_nest_item *items;
    struct gt_perfetto_track *tracks; /* by number, those of slices only */
    struct gt_perfetto_lane *lanes;   /* contexts of sequences */
};

/* Tracks are numbered from 0: first those that may have slices. `none` stands for rows without process or thread. */
static inline size_t gt_perfetto_part_thread(const struct gt_perfetto_part *part, uint32_t thread) {
    return thread == GT_NO_TRACK ? part->store->threads.count : thread;
}
static inline size_t gt_perfetto_part_starts_ends(const struct gt_perfetto_part *part, uint32_t process) {
    size_t none = part->store->processes.count;
    return part->store->threads.count + 1 + (process == GT_NO_TRACK ? none : process);
}
static inline size_t gt_perfetto_part_steps(const struct gt_perfetto_part *part, uint32_t process) {
    return gt_perfetto_part_starts_ends(part, process) + part->store->processes.count + 1;
}
static inline size_t gt_perfetto_part_lane(const struct gt_perfetto_part *part, uint32_t lane) {
    return gt_perfetto_part_steps(part, GT_NO_TRACK) + 1 + lane;
}
static inline size_t gt_perfetto_part_gaps(const struct gt_perfetto_part *part, uint32_t device) {
    return gt_perfetto_part_lane(part, 0) + part->store->lanes.count + device;
}
/* The end of those with slices. */
static inline size_t gt_perfetto_part_process(const struct gt_perfetto_part *part, uint32_t process) {
    return gt_perfetto_part_gaps(part, 0) + part->store->devices.count + process;
}
static inline size_t gt_perfetto_part_device(const struct gt_perfetto_part *part, uint32_t device) {
    return gt_perfetto_part_process(part, 0) + part->store->processes.count + device;
}
static inline size_t gt_perfetto_part_counter(const struct gt_perfetto_part *part, uint32_t counter) {
    return gt_perfetto_part_device(part, 0) + part->store->devices.count + counter;
}
static inline size_t gt_perfetto_part_track_count(const struct gt_perfetto_part *part) {
    return gt_perfetto_part_counter(part, 0) + part->store->counter_tracks.count;
}

static inline uint64_t gt_perfetto_part_uuid(const struct gt_perfetto_part *part, size_t track) {
    return part->uuid + track;
}

/* Finds what the parts of the trace refer to. The view must outlive it. */
enum gt_status gt_perfetto_part_init(struct gt_perfetto_part *part, const struct gt_perfetto_input *input,
                                     uint32_t machine, struct gt_perfetto_file *file, struct gt_error *err);
void gt_perfetto_part_release(struct gt_perfetto_part *part);

/* The first time that is written, in the input's own clock, or an earlier one. */
int64_t gt_perfetto_part_first_ns(const struct gt_view *view);

/* Numbers as Perfetto can hold them: made up where the trace has none. */
int32_t gt_perfetto_part_pid(const struct gt_perfetto_part *part, uint32_t process);
int64_t gt_perfetto_part_tid(const struct gt_perfetto_part *part, uint32_t thread);
int32_t gt_perfetto_part_gpu(const struct gt_perfetto_part *part, uint32_t device);

/* The process of a stream; GT_NO_TRACK: not known. */
static inline uint32_t gt_perfetto_part_lane_process(const struct gt_perfetto_part *part, uint32_t lane) {
    uint32_t process = part->store->lanes.process[lane];
    return process != GT_NO_TRACK ? process : part->owner;
}

/* Whether rows of a thread are of the selection. */
static inline bool gt_perfetto_part_has_thread(const struct gt_perfetto_part *part, uint32_t thread) {
    if (!part->processes)
        return true;
    uint32_t process = thread == GT_NO_TRACK ? GT_NO_TRACK : part->store->threads.process[thread];
    return process != GT_NO_TRACK && part->processes[process];
}

/* perfetto_tracks.c: descriptors of processes, threads and GPUs. */
void gt_perfetto_part_describe(struct gt_perfetto_part *part);
void gt_perfetto_part_describe_track(struct gt_perfetto_part *part, size_t track);
/* One beside it, for what does not nest; gives its uuid. */
uint64_t gt_perfetto_part_describe_beside(struct gt_perfetto_part *part, size_t track);

/* perfetto_gpu.c, perfetto_slices.c, perfetto_counters.c: add their sequences to the file. false: memory was short. */
bool gt_perfetto_part_add_ops(struct gt_perfetto_part *part);
bool gt_perfetto_part_add_slices(struct gt_perfetto_part *part);
bool gt_perfetto_part_add_counters(struct gt_perfetto_part *part);

#endif
