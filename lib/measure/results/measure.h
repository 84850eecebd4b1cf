/* What the analyses share: time arithmetic that cannot overflow, names as the options want them, cells and facts. */
#ifndef GT_MEASURE_RESULTS_MEASURE_H
#define GT_MEASURE_RESULTS_MEASURE_H

#include "base/num.h"
#include "measure/analysis.h"
#include "measure/options.h"

#define GT_ANALYSIS(key, title, tables, needs, goes_by)                                                                \
    enum gt_status gt_##key##_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err);
#include "measure/analyses.def"
#undef GT_ANALYSIS

#define GT_ARRAY_COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- times: damaged traces hold any 64-bit number, so differences and sums stop at the ends of the range ---- */

static inline int64_t gt_ns_add(int64_t a, int64_t b) {
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return a > 0 ? INT64_MAX : INT64_MIN;
    return sum;
}

static inline int64_t gt_ns_of_sum(__int128 sum) {
    return sum > INT64_MAX ? INT64_MAX : sum < INT64_MIN ? INT64_MIN : (int64_t)sum;
}

/* The row of an op, for loops over all in whatever order: that of the file, beside each other, where it has all. */
static inline uint32_t gt_view_any_op_row(const struct gt_view *view, size_t index) {
    return view->is_whole ? (uint32_t)index : view->row[index];
}

/* Clipped length of an op of the view. */
static inline int64_t gt_view_op_ns(const struct gt_view *view, size_t position) {
    return gt_ns_between(view->start_ns[position], view->end_ns[position]);
}

/* The same of all of it. Only what reaches an end of the window is clipped; the rest need not be looked up. */
static inline int64_t gt_view_op_whole_ns(const struct gt_view *view, size_t position) {
    if (view->start_ns[position] != view->window_start_ns && view->end_ns[position] != view->window_end_ns)
        return gt_view_op_ns(view, position);
    uint32_t row = view->row[position];
    return gt_ns_between(view->store->ops.start_ns[row], view->store->ops.end_ns[row]);
}

/* Union of the device's ops. */
int64_t gt_view_device_busy_ns(const struct gt_view *view, const struct gt_view_device *device);
/* The same of a stream's. */
int64_t gt_view_lane_busy_ns(const struct gt_view *view, const struct gt_view_lane *lane);

/* ---- kinds of ops ---- */

/* Kernels and graphs traced as a whole: what the kernel tables count. */
static inline bool gt_store_kind_is_kernel(uint8_t kind) {
    return kind == GT_OP_KERNEL || kind == GT_OP_GRAPH;
}

static inline uint8_t gt_view_op_kind(const struct gt_view *view, size_t position) {
    return view->kind[position];
}

static inline enum gt_class gt_view_op_class(const struct gt_view *view, size_t position) {
    return view->labels->categories[view->category[position]].time_class;
}

/* GT_NO_TRACK where the trace tells neither the stream's process nor the launch call's. */
static inline uint32_t gt_view_op_process(const struct gt_view *view, size_t position) {
    uint32_t process = view->store->lanes.process[view->lane[position]];
    return process != GT_NO_TRACK ? process : gt_labels_launch_process(view->labels, view->store, view->row[position]);
}

/* Whose ops the view has, by process track; NULL when memory is short. Free with gt_mem_free. */
bool *gt_view_processes(const struct gt_view *view);

/* Whether what happened on a thread is of the selection: it began in the window, on a thread of these processes. */
bool gt_view_has_moment(const struct gt_view *view, const bool *processes, int64_t start_ns, uint32_t thread);

static inline bool gt_view_has_range(const struct gt_view *view, const bool *processes, uint32_t range) {
    const struct gt_ranges *ranges = &view->store->ranges;
    return gt_view_has_moment(view, processes, ranges->start_ns[range], ranges->thread[range]);
}

/* ---- names, full or simplified as the options want: equal names have equal ids ---- */

/* name: a string of the store */
static inline gt_strid gt_view_name_id(const struct gt_view *view, gt_strid name) {
    return view->request->names == GPUTIME_NAMES_SHORT ? view->labels->short_name[name] : name;
}
struct gt_str gt_view_name_text(const struct gt_view *view, gt_strid id);
size_t gt_view_name_count(const struct gt_view *view); /* ids are below this */

static inline gt_strid gt_view_op_name_id(const struct gt_view *view, size_t position) {
    return gt_view_name_id(view, view->name[position]);
}

/* ---- cells ---- */

/* Times are printed from the start of the first op. */
struct gt_cell gt_measure_time_cell(const struct gt_view *view, int64_t time_ns);
struct gt_cell gt_cell_share(double part, double whole); /* 0 of nothing is 0 */
struct gt_cell gt_cell_half(__int128 twice);             /* twice / 2: an integer where it is one */
struct gt_cell gt_cell_count(size_t count);
struct gt_cell gt_cell_known(double value); /* null if negative: the input does not tell */
struct gt_cell gt_measure_pid_cell(const struct gt_view *view,
                                   uint32_t process); /* null where the trace does not tell */
struct gt_cell gt_measure_op_name_cell(const struct gt_view *view, uint32_t position); /* null for GT_NO_ROW */

/* ---- blocks ---- */

/* What an empty table says. */
#define GT_NONE_IN(view, noun) ((view)->is_whole ? "The trace has no " noun "." : "No " noun " in the selection.")

/* A table by process says nothing new on the screen where there is only one. Its first column is the pid. */
void gt_measure_table_for_processes(struct gt_section *section, const struct gt_table *table);
void gt_measure_table_for(struct gt_section *section, const struct gt_table *table, uint32_t audience);

/* How many of `count` rows in the table's own order are worth making: all, unless the options limit the table and leave
   its order alone. Keeps tables of millions of gaps out of memory where ten are asked for. */
size_t gt_measure_rows_wanted(const struct gt_view *view, const char *table, size_t count); /* table: its key */
size_t gt_measure_table_rows_wanted(const struct gt_view *view, const struct gt_table *table, size_t count);
/* false: nobody will look at it. For tables that cost more than the rest of their analysis. */
bool gt_measure_table_is_wanted(const struct gt_view *view, const char *table);

/* A group of facts. Analyses that state the same fact may run together: what the section has already is left out, and
   the block is made for the first that is new. */
struct gt_measure_fact_group {
    struct gt_section *section;
    const char *title;
    uint32_t audience;
    struct gt_block *block;
};
void gt_measure_fact_group_add(struct gt_measure_fact_group *group, const char *key, const char *title,
                               enum gt_unit unit, struct gt_cell value);

#endif
