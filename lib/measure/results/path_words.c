/* Names the largest parts of the path, the largest first. */
#include "measure/results/path_words.h"

#include "base/num.h"

struct gt_path_words_sum gt_path_words_add_up(const struct gt_paths *paths) {
    struct gt_path_words_sum total = {0};
    for (size_t i = 0; i < paths->window_count; i++) {
        const struct gt_path_window *window = &paths->windows[i];
        total.steps += window->kind == GT_PATH_STEP && (!window->is_hidden || window->counts);
        if (!window->counts)
            continue;
        total.windows++;
        total.length_ns = gt_ns_add(total.length_ns, gt_paths_length_ns(window));
        for (size_t kind = 0; kind < GT_DAG_TIME_COUNT; kind++)
            total.time_ns[kind] = gt_ns_add(total.time_ns[kind], window->time_ns[kind]);
    }
    return total;
}

static const char *const kind_words[GT_DAG_TIME_COUNT] = {
    [GT_DAG_TIME_KERNEL] = "kernels",        [GT_DAG_TIME_COMM] = "communication",
    [GT_DAG_TIME_COPY] = "copies",           [GT_DAG_TIME_QUEUE] = "latency between GPU ops",
    [GT_DAG_TIME_LAUNCH] = "launching",      [GT_DAG_TIME_CPU] = "CPU work",
    [GT_DAG_TIME_CALL] = "other CUDA calls", [GT_DAG_TIME_SYNC] = "synchronization",
    [GT_DAG_TIME_UNKNOWN] = "unexplained",
};

static double percent(int64_t part_ns, int64_t whole_ns) {
    return whole_ns > 0 ? 100 * (double)part_ns / (double)whole_ns : 0;
}

/* " 82% CPU work (backward: 55%), 12% launching": the largest parts. */
static struct gt_str list_parts(const struct gt_view *view, struct gt_arena *arena, struct gt_path_words_sum total,
                                const struct gt_path_cpu *cpu) {
    enum { PARTS_MOST = 4, NAME_MOST = 40 };
    struct gt_str list = {"", 0};
    for (size_t part = 0; part < PARTS_MOST; part++) {
        size_t largest = 0;
        for (size_t kind = 1; kind < GT_DAG_TIME_COUNT; kind++)
            largest = total.time_ns[kind] > total.time_ns[largest] ? kind : largest;
        double share = percent(total.time_ns[largest], total.length_ns);
        if (share < 1)
            break;
        list = gt_arena_printf(arena, "%s%s %.0f%% %s", list.ptr, part ? "," : "", share, kind_words[largest]);
        gt_strid range = largest == GT_DAG_TIME_CPU && cpu ? cpu->main_range : GT_STRID_EMPTY;
        struct gt_str whole = gt_store_string(view->store, range), name = gt_str_cut(whole, NAME_MOST);
        if (range != GT_STRID_EMPTY && percent(cpu->main_range_ns, total.length_ns) >= 5)
            list = gt_arena_printf(arena, "%s (%.*s%s: %.0f%%)", list.ptr, (int)name.len, name.ptr,
                                   name.len < whole.len ? "…" : "", percent(cpu->main_range_ns, total.length_ns));
        total.time_ns[largest] = 0;
    }
    return list;
}

struct gt_str gt_path_words_say(const struct gt_view *view, const struct gt_paths *paths,
                                const struct gt_path_words_sum *sum, const struct gt_path_cpu *cpu,
                                struct gt_arena *arena) {
    char length[GT_NUM_MAX];
    size_t parts = sum->steps ? sum->steps : sum->windows;
    if (!sum->windows)
        return (struct gt_str){"", 0};
    gt_num_format_duration(length, (double)sum->length_ns / (double)parts);
    struct gt_str what = sum->steps ? GT_STR("Step") : GT_STR("Window");
    if (!sum->steps && paths->windows[0].kind == GT_PATH_TRACE)
        what = GT_STR("Trace");
    if (!sum->steps && paths->windows[0].kind == GT_PATH_RANGE)
        what = GT_STR("Range");
    struct gt_str list = list_parts(view, arena, *sum, cpu);
    return gt_arena_printf(arena, "%s %s%s%s%s", what.ptr, length, parts > 1 ? " on average" : "", list.len ? ":" : "",
                           list.ptr);
}
