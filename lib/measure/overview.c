/* Overview: the head of a summary, a few facts on what the trace holds and how busy its GPUs were. */
#include "base/mem.h"
#include "base/ns.h"
#include "base/num.h"
#include "measure/results/calls.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"

struct totals {
    size_t ops, kernels, graphs, memory_ops, kernel_names; /* kernels: graphs that were traced whole among them */
    size_t launch_calls;
    int64_t kernel_ns;
    size_t processes, steps;
    int64_t first_ns, last_ns;
    double busy_share; /* mean over devices */
};

static uint8_t *new_flags(size_t count) {
    return gt_mem_array(count, 1);
}

static size_t count_flags(const uint8_t *flags, size_t count) {
    size_t set = 0;
    for (size_t i = 0; i < count; i++)
        set += flags[i];
    return set;
}

static size_t count_steps(const struct gt_view *view, uint8_t *steps) {
    size_t step_count = view->labels->step_count;
    if (view->is_whole)
        return step_count;
    for (size_t i = 0; i < view->op_count; i++) {
        uint32_t step = view->labels->op_step[view->row[i]];
        if (step != GT_NO_ROW)
            steps[step] = 1;
    }
    return count_flags(steps, step_count);
}

static enum gt_status count_ops(const struct gt_view *view, struct totals *totals, struct gt_error *err) {
    const struct gt_op_groups *groups = gt_results_op_groups(view, err);
    if (!groups)
        return err->code;
    size_t process_count = view->store->processes.count;
    uint8_t *processes = new_flags(process_count), *steps = new_flags(view->labels->step_count);
    bool ok = processes && steps;
    for (size_t i = 0; i < groups->count && ok; i++) {
        const struct gt_op_group *group = &groups->items[i];
        bool is_kernel = gt_store_kind_is_kernel(group->kind);
        *(is_kernel ? &totals->kernels : &totals->memory_ops) += group->count;
        totals->graphs += group->kind == GT_OP_GRAPH ? group->count : 0;
        totals->kernel_names += is_kernel && (i == 0 || group->name != groups->items[i - 1].name);
        if (group->process != GT_NO_TRACK)
            processes[group->process] = 1;
    }
    if (ok) {
        totals->ops = view->op_count;
        totals->kernel_ns = gt_ns_of_sum(gt_op_groups_tally(groups, 0, groups->kernel_count).sum);
        totals->processes = count_flags(processes, process_count);
        totals->steps = count_steps(view, steps);
    }
    gt_mem_free(processes);
    gt_mem_free(steps);
    return ok ? GT_OK : gt_fail_memory(err);
}

/* Inputs that are summed already. */
static enum gt_status count_groups(const struct gt_view *view, struct totals *totals, struct gt_error *err) {
    const struct gt_groups *groups = &view->store->groups;
    size_t name_count = gt_view_name_count(view);
    uint8_t *names = new_flags(name_count);
    if (!names)
        return gt_fail_memory(err);
    for (size_t i = 0; i < view->group_count; i++) {
        uint32_t row = view->groups[i];
        bool is_kernel = gt_store_kind_is_kernel(groups->kind[row]);
        size_t *sum = is_kernel ? &totals->kernels : &totals->memory_ops;
        if (__builtin_add_overflow(*sum, groups->instances[row], sum) || *sum > INT64_MAX)
            *sum = INT64_MAX;
        if (is_kernel) {
            names[gt_view_name_id(view, groups->name[row])] = 1;
            totals->kernel_ns = gt_ns_add(totals->kernel_ns, groups->total_ns[row]);
        }
    }
    totals->ops = (size_t)gt_ns_add((int64_t)totals->kernels, (int64_t)totals->memory_ops);
    totals->kernel_names = count_flags(names, name_count);
    gt_mem_free(names);
    return GT_OK;
}

static enum gt_status measure_span(const struct gt_view *view, struct totals *totals, struct gt_error *err) {
    const struct gt_accounts *accounts = gt_results_accounts(view, err);
    if (!accounts)
        return err->code;
    for (size_t d = 0; d < view->device_count; d++) {
        const struct gt_view_device *device = &view->devices[d];
        double span = (double)accounts->by_device[d].ns[GT_AMOUNT_SPAN];
        double share = span > 0 ? (double)accounts->by_device[d].ns[GT_AMOUNT_BUSY] / span : 0;
        totals->busy_share += share / (double)view->device_count;
        if (d == 0 || device->span_start_ns < totals->first_ns)
            totals->first_ns = device->span_start_ns;
        if (d == 0 || device->span_end_ns > totals->last_ns)
            totals->last_ns = device->span_end_ns;
    }
    return GT_OK;
}

enum { NAMED_MODELS = 4 };

/* "NVIDIA H200", "8 x NVIDIA H200", or the first few models with their numbers. */
static struct gt_cell device_names(const struct gt_view *view, struct gt_arena *arena) {
    gt_strid models[NAMED_MODELS];
    size_t counts[NAMED_MODELS] = {0}, model_count = 0;
    for (size_t d = 0; d < view->device_count; d++) {
        gt_strid name = view->store->devices.name[view->devices[d].device];
        size_t m = 0;
        while (m < model_count && models[m] != name)
            m++;
        if (name == GT_STRID_EMPTY || m == NAMED_MODELS)
            continue;
        if (m == model_count)
            models[model_count++] = name;
        counts[m]++;
    }
    if (model_count == 1 && counts[0] == 1)
        return gt_cell_text(gt_store_string(view->store, models[0]));
    struct gt_str text = {"", 0};
    for (size_t m = 0; m < model_count; m++) {
        struct gt_str name = gt_store_string(view->store, models[m]);
        text = gt_arena_printf(arena, "%.*s%s%zu x %.*s", (int)text.len, text.ptr, m ? ", " : "", counts[m],
                               (int)name.len, name.ptr);
    }
    return text.len ? gt_cell_text(text) : gt_cell_null();
}

/* "12,311 kernels": a number and its noun. */
static struct gt_str counted(struct gt_arena *arena, size_t count, const char *noun, const char *nouns) {
    char number[GT_NUM_MAX];
    gt_num_format_grouped(number, (int64_t)count);
    return gt_arena_printf(arena, "%s %s", number, count == 1 ? noun : nouns);
}

static struct gt_str contents(struct gt_arena *arena, const struct totals *totals) {
    const char *launch = totals->graphs ? "kernel or CUDA graph launch" : "kernel launch";
    const char *launches = totals->graphs ? "kernel and CUDA graph launches" : "kernel launches";
    char names[GT_NUM_MAX];
    gt_num_format_grouped(names, (int64_t)totals->kernel_names);
    struct gt_str text =
        gt_arena_printf(arena, "%s (%s distinct), %s", counted(arena, totals->kernels, launch, launches).ptr, names,
                        counted(arena, totals->memory_ops, "memory op", "memory ops").ptr);
    if (totals->launch_calls)
        text = gt_arena_printf(arena, "%s, %s", text.ptr,
                               counted(arena, totals->launch_calls, "launch call", "launch calls").ptr);
    if (totals->steps)
        text = gt_arena_printf(arena, "%s, %s", text.ptr, counted(arena, totals->steps, "step", "steps").ptr);
    return text;
}

static struct gt_str devices(const struct gt_view *view, struct gt_arena *arena, const struct totals *totals,
                             const struct gt_cell *names) {
    char span[GT_NUM_MAX];
    gt_num_format_duration(span, (double)gt_ns_between(totals->first_ns, totals->last_ns));
    struct gt_str gpus = counted(arena, view->device_count, "GPU", "GPUs");
    if (names->type == GPUTIME_CELL_TEXT)
        gpus = gt_arena_printf(arena, "%s (%.*s)", gpus.ptr, (int)names->text_bytes, names->text);
    struct gt_str processes = {"", 0};
    if (totals->processes > 1)
        processes = gt_arena_printf(arena, ", %s", counted(arena, totals->processes, "process", "processes").ptr);
    return gt_arena_printf(arena, "%s, %s%s, span %s, %.1f%% busy%s", gpus.ptr,
                           counted(arena, view->lane_count, "stream", "streams").ptr, processes.ptr, span,
                           totals->busy_share * 100, view->device_count > 1 ? " on average" : "");
}

/* The screen gets the facts as sentences: what there is, and on what it ran. */
static void add_sentences(const struct gt_view *view, struct gt_section *section, const struct totals *totals,
                          const struct gt_cell *names) {
    struct gt_arena *arena = &section->report->arena;
    if (totals->ops == 0)
        return;
    struct gt_str text = contents(arena, totals);
    if (view->op_count)
        text = gt_arena_printf(arena, "%s. %s", text.ptr, devices(view, arena, totals, names).ptr);
    gt_section_note(section, GT_FOR_SCREEN, gt_arena_printf(arena, "%s.", text.ptr));
}

static void add_facts(const struct gt_view *view, struct gt_section *section, const struct totals *totals) {
    struct gt_measure_fact_group shown = {.section = section, .audience = GT_FOR_DATA | GT_FOR_PAGE};
    struct gt_measure_fact_group data = {.section = section, .audience = GT_FOR_DATA};
    struct gt_cell names = device_names(view, &section->report->arena);
    add_sentences(view, section, totals, &names);
    gt_measure_fact_group_add(&shown, "ops", "GPU ops", GT_UNIT_COUNT, gt_cell_count(totals->ops));
    gt_measure_fact_group_add(&shown, "kernels", "Kernels", GT_UNIT_COUNT, gt_cell_count(totals->kernels));
    gt_measure_fact_group_add(&shown, "kernel_names", "Distinct kernels", GT_UNIT_COUNT,
                              gt_cell_count(totals->kernel_names));
    gt_measure_fact_group_add(&shown, "memory_ops", "Memory ops", GT_UNIT_COUNT, gt_cell_count(totals->memory_ops));
    if (view->store->facts & GT_FACT_CALLS)
        gt_measure_fact_group_add(&shown, "launch_calls", "Launch calls", GT_UNIT_COUNT,
                                  gt_cell_count(totals->launch_calls));
    if (view->op_count) {
        gt_measure_fact_group_add(&shown, "devices", "GPUs", GT_UNIT_COUNT, gt_cell_count(view->device_count));
        if (names.type == GPUTIME_CELL_TEXT)
            gt_measure_fact_group_add(&shown, "device_names", "GPU model", GT_UNIT_NONE, names);
        gt_measure_fact_group_add(&shown, "streams", "Streams", GT_UNIT_COUNT, gt_cell_count(view->lane_count));
        if (totals->processes)
            gt_measure_fact_group_add(&shown, "processes", "Processes", GT_UNIT_COUNT,
                                      gt_cell_count(totals->processes));
        if (view->labels->step_count)
            gt_measure_fact_group_add(&shown, "steps", "Steps", GT_UNIT_COUNT, gt_cell_count(totals->steps));
        gt_measure_fact_group_add(&shown, "span_ns", "Span", GT_UNIT_NS,
                                  gt_cell_int(gt_ns_between(totals->first_ns, totals->last_ns)));
        gt_measure_fact_group_add(&shown, "busy_share", "Busy share of span (mean)", GT_UNIT_SHARE,
                                  gt_cell_real(totals->busy_share));
    }
    gt_measure_fact_group_add(&data, "kernel_launches", "Kernel launches", GT_UNIT_COUNT,
                              gt_cell_count(totals->kernels));
    gt_measure_fact_group_add(&data, "kernel_time_ns", "Kernel time (sum)", GT_UNIT_NS, gt_cell_int(totals->kernel_ns));
}

enum gt_status gt_overview_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct totals totals = {0};
    enum gt_status status = view->is_summed ? count_groups(view, &totals, err) : count_ops(view, &totals, err);
    if (status != GT_OK)
        return status;
    const struct gt_launch_marks *marks = gt_results_launch_marks(view, err);
    if (!marks)
        return err->code;
    totals.launch_calls = count_flags(marks->of_call, view->store->calls.count);
    status = measure_span(view, &totals, err);
    if (status == GT_OK)
        add_facts(view, section, &totals);
    return status;
}
