/* Asks the dependency graph what a change saves, and lowers claims to that. */
#include "measure/findings/saving.h"

#include <string.h>

#include "base/mem.h"
#include "measure/results/path_change.h"
#include "measure/results/paths.h"

/* ---- windows ---- */

static bool is_warm_up(struct gt_evidence *evidence, const struct gt_path_window *window) {
    const struct gt_step_set *steps = gt_evidence_steps(evidence);
    return window->step != GT_NO_ROW && steps->states && steps->states[window->step] == GT_STEP_WARM_UP;
}

/* Of a run the steps after the warm-up, else what counts itself. A part of a run by time has no simulation. Returns
   NULL where there is nothing to simulate; to be freed. By window: 1 if it is used. */
static uint8_t *used_windows_new(struct gt_evidence *evidence, const struct gt_paths *paths) {
    uint8_t *is_used = gt_mem_array(paths->window_count + 1, 1);
    bool run_counts = false, has_any = false;
    if (!is_used)
        gt_evidence_fail(evidence);
    for (size_t w = 0; w < paths->window_count && is_used; w++) {
        const struct gt_path_window *window = &paths->windows[w];
        run_counts = window->kind == GT_PATH_RUN ? window->counts : run_counts && window->kind == GT_PATH_STEP;
        bool is_kind = window->kind == GT_PATH_STEP || window->kind == GT_PATH_TRACE;
        is_used[w] = is_kind && (window->counts || run_counts) && !is_warm_up(evidence, window);
        has_any |= is_used[w];
    }
    if (!has_any) {
        gt_mem_free(is_used);
        is_used = NULL;
    }
    return is_used;
}

static enum gt_path_trust worst_trust(const struct gt_paths *paths) {
    enum gt_path_trust worst = GT_PATH_GOOD;
    for (size_t w = 0; w < paths->window_count; w++)
        if (paths->windows[w].counts && paths->windows[w].trust > worst)
            worst = paths->windows[w].trust;
    return worst;
}

/* ---- devices ---- */

/* Each GPU can save what the processes that use it do. saved_ns: by process, the last of those that are not known. */
static void sum_devices(struct gt_evidence *evidence, const struct gt_paths *paths, const int64_t *saved_ns,
                        size_t processes, struct gt_saving *saving) {
    const struct gt_view *view = evidence->view;
    uint32_t *seen = gt_mem_array(processes + 1, sizeof *seen); /* number of the last device, from 1 */
    if (!seen)
        gt_evidence_fail(evidence);
    for (uint32_t d = 0; d < view->device_count && seen; d++) {
        const struct gt_view_device *device = &view->devices[d];
        for (size_t i = device->first; i < device->first + device->count; i++) {
            uint32_t process = paths->dag->op_process[view->row[i]];
            size_t slot = process == GT_NO_TRACK ? processes : process;
            if (seen[slot] != d + 1)
                saving->device_ns[d] = gt_ns_add(saving->device_ns[d], saved_ns[slot]);
            seen[slot] = d + 1;
        }
        if (saving->device_ns[d] < 0)
            saving->device_ns[d] = 0;
    }
    gt_mem_free(seen);
}

/* Lengths of the windows that are used, and how much shorter those of each process are. */
static void sum_windows(struct gt_evidence *evidence, const struct gt_paths *paths, const uint8_t *is_used,
                        const struct gt_path_bound *predicted, struct gt_saving *saving) {
    size_t processes = evidence->view->store->processes.count;
    int64_t *saved_ns = gt_mem_array(processes + 1, sizeof *saved_ns);
    if (!saved_ns)
        gt_evidence_fail(evidence);
    for (size_t w = 0; w < paths->window_count && saved_ns; w++) {
        const struct gt_path_window *window = &paths->windows[w];
        if (!is_used[w])
            continue;
        size_t slot = window->process == GT_NO_TRACK ? processes : window->process;
        int64_t base_ns = gt_paths_length_ns(window),
                predicted_ns = gt_ns_between(predicted[w].start_ns, predicted[w].end_ns);
        saved_ns[slot] = gt_ns_add(saved_ns[slot], gt_ns_between(predicted_ns, base_ns));
        saving->base_ns = gt_ns_add(saving->base_ns, base_ns);
        saving->predicted_ns = gt_ns_add(saving->predicted_ns, predicted_ns);
        saving->window_count++;
        saving->is_of_steps |= window->kind == GT_PATH_STEP;
        saving->start_ns = window->start_ns < saving->start_ns ? window->start_ns : saving->start_ns;
        saving->end_ns = window->end_ns > saving->end_ns ? window->end_ns : saving->end_ns;
    }
    if (saved_ns)
        sum_devices(evidence, paths, saved_ns, processes, saving);
    gt_mem_free(saved_ns);
}

/* ---- simulations ---- */

static int64_t sum_lengths(const struct gt_paths *paths, const uint8_t *is_used, const struct gt_path_bound *bounds) {
    int64_t sum_ns = 0;
    for (size_t w = 0; w < paths->window_count; w++)
        if (is_used[w])
            sum_ns = gt_ns_add(sum_ns, gt_ns_between(bounds[w].start_ns, bounds[w].end_ns));
    return sum_ns;
}

static void simulate(struct gt_evidence *evidence, const struct gt_paths *paths, const uint8_t *is_used,
                     struct gt_saving *saving) {
    struct gt_error ignored = {0};
    struct gt_path_change change = {0};
    struct gt_path_bound *bounds = gt_mem_array(paths->window_count + 1, sizeof *bounds);
    /* A name that is no glob for itself is no reason to fail. */
    bool is_known = gt_path_change_init(&change, evidence->view, gt_str_of(saving->change), &ignored) == GT_OK;
    bool ok = bounds && (!is_known || gt_paths_simulate(paths, &change.change, bounds));
    if (ok && is_known) {
        sum_windows(evidence, paths, is_used, bounds, saving);
        saving->low_ns = saving->predicted_ns;
        saving->has_answer = true;
        change.change.no_weak_events = true;
    }
    if (ok && is_known && paths->dag->kind_count[GT_DAG_EVENT][1]) { /* else there are no such edges */
        ok = gt_paths_simulate(paths, &change.change, bounds);
        saving->low_ns = ok ? sum_lengths(paths, is_used, bounds) : 0;
    }
    if (!ok)
        gt_evidence_fail(evidence);
    gt_path_change_release(&change);
    gt_mem_free(bounds);
}

/* What the graph is made of is there, and all of it. A part of a run by time has no simulation. */
static bool has_graph(const struct gt_evidence *evidence) {
    const struct gt_view *view = evidence->view;
    const struct gputime_selection *asked = &view->request->selection;
    if (asked->from.kind || asked->to.kind)
        return false;
    uint32_t needs = GT_FACT_OPS | GT_FACT_CALLS | GT_FACT_CORRELATION;
    return !(needs & ~view->store->facts) && !view->is_summed && view->op_count && gt_dag_fits(view->store) &&
           gt_store_loss(view->store, view->request->facts) == GT_ISSUE_COUNT;
}

static void answer(struct gt_evidence *evidence, const struct gt_paths *paths, struct gt_saving *saving) {
    size_t devices = evidence->view->device_count;
    saving->trust = worst_trust(paths);
    saving->start_ns = INT64_MAX;
    saving->end_ns = INT64_MIN;
    saving->device_ns = gt_arena_array(evidence->arena, devices, sizeof *saving->device_ns);
    saving->promised_ns = gt_arena_array(evidence->arena, devices, sizeof *saving->promised_ns);
    if (!saving->device_ns || !saving->promised_ns) {
        gt_evidence_fail(evidence);
        return;
    }
    uint8_t *is_used = saving->trust == GT_PATH_GOOD ? used_windows_new(evidence, paths) : NULL;
    if (is_used)
        simulate(evidence, paths, is_used, saving);
    gt_mem_free(is_used);
}

const struct gt_saving *gt_saving_of(struct gt_evidence *evidence, const char *change) {
    for (size_t i = 0; i < evidence->saving_count; i++)
        if (strcmp(evidence->savings[i].change, change) == 0)
            return &evidence->savings[i];
    if (!has_graph(evidence) || evidence->saving_count == GT_EVIDENCE_SAVINGS || evidence->status != GT_OK)
        return NULL;
    const struct gt_paths *paths = gt_results_paths(evidence->view, evidence->err);
    if (!paths) {
        evidence->status = evidence->err->code;
        return NULL;
    }
    struct gt_saving *saving = &evidence->savings[evidence->saving_count++];
    *saving = (struct gt_saving){.change = change};
    answer(evidence, paths, saving);
    return evidence->status == GT_OK ? saving : NULL;
}

/* ---- findings ---- */

/* "no:sync" as "--no sync", "without:a b" as "--without 'a b'" */
static const char *command_of(struct gt_evidence *evidence, const char *change) {
    struct gt_str rest = gt_str_of(change), all = GT_STR("gputime whatif TRACE");
    while (rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len), *colon = memchr(rest.ptr, ':', rest.len);
        size_t bytes = end ? (size_t)(end - rest.ptr) : rest.len;
        struct gt_str option = {rest.ptr, (size_t)(colon - rest.ptr)}, value = {colon + 1, bytes - option.len - 1};
        bool is_plain = !gt_str_eq(option, GT_STR("without")) && !gt_str_eq(option, GT_STR("scale"));
        all = gt_arena_printf(evidence->arena, "%s --%.*s %s%.*s%s", all.ptr, (int)option.len, option.ptr,
                              is_plain ? "" : "'", (int)value.len, value.ptr, is_plain ? "" : "'");
        rest = (struct gt_str){rest.ptr + bytes + (end != NULL), rest.len - bytes - (end != NULL)};
    }
    return all.ptr;
}

/* Returns the answer; NULL: there is none. */
static const struct gt_saving *write_down(struct gt_evidence *evidence, struct gt_finding *finding) {
    struct gt_finding_simulation *simulation = &finding->simulation;
    const struct gt_saving *saving = simulation->change ? gt_saving_of(evidence, simulation->change) : NULL;
    simulation->base_ns = simulation->predicted_ns = simulation->low_ns = -1;
    if (!saving || (saving->trust == GT_PATH_GOOD && !saving->has_answer))
        return NULL;
    simulation->trust = gt_paths_trust_word(saving->trust);
    simulation->command = command_of(evidence, simulation->change);
    if (!saving->has_answer)
        return NULL;
    simulation->base_ns = saving->base_ns;
    simulation->predicted_ns = saving->predicted_ns;
    simulation->low_ns = saving->low_ns;
    return saving;
}

static bool is_worth_reporting(const struct gt_evidence *evidence) {
    return gt_ledger_share(&evidence->ledger, (double)evidence->ledger.claimed_ns) >= gt_thresholds.low_share;
}

void gt_saving_settle(struct gt_evidence *evidence, struct gt_finding *finding, const char *change) {
    finding->simulation.change = change;
    const struct gt_saving *saving = is_worth_reporting(evidence) ? write_down(evidence, finding) : NULL;
    size_t devices = evidence->view->device_count;
    int64_t *most_ns = saving ? gt_mem_array(devices, sizeof *most_ns) : NULL;
    for (size_t d = 0; d < devices && most_ns; d++) {
        int64_t left_ns = saving->device_ns[d] - saving->promised_ns[d];
        most_ns[d] = left_ns > 0 ? left_ns : 0;
    }
    if (saving && !(most_ns && gt_ledger_lower(&evidence->ledger, saving->start_ns, saving->end_ns, most_ns)))
        gt_evidence_fail(evidence);
    gt_mem_free(most_ns);
    finding->is_simulated = saving;
}

void gt_saving_settle_gaps(struct gt_evidence *evidence, struct gt_finding *finding, const char *change,
                           enum gt_host_gap class) {
    __int128 before_ns = evidence->ledger.claimed_ns;
    gt_saving_settle(evidence, finding, change);
    if (evidence->ledger.claimed_ns < before_ns)
        evidence->lowered_gaps |= 1u << class;
}

void gt_saving_promise(struct gt_evidence *evidence, const struct gt_finding *finding) {
    for (size_t i = 0; i < evidence->saving_count && finding->is_simulated; i++) {
        struct gt_saving *saving = &evidence->savings[i];
        if (strcmp(saving->change, finding->simulation.change) != 0)
            continue;
        for (size_t d = 0; d < finding->saving_count; d++)
            saving->promised_ns[d] = gt_ns_add(
                saving->promised_ns[d], gt_ns_add(finding->savings[d].waiting_ns, finding->savings[d].compute_ns));
    }
}

/* ---- sentences ---- */

const char *gt_saving_without(struct gt_evidence *evidence, const struct gt_name_sums *names) {
    enum { NAMES_MOST = 4 };
    struct gt_str lines = {"", 0};
    if (names->count == 0 || names->count > NAMES_MOST)
        return NULL;
    for (size_t i = 0; i < names->count; i++) {
        struct gt_str name = gt_store_string(evidence->view->store, names->items[i].name);
        struct gt_str plain = gt_name_sums_plain(name);
        if (memchr(plain.ptr, '\n', plain.len))
            return NULL;
        lines = gt_arena_printf(evidence->arena, "%s%swithout:%.*s%s", lines.ptr, i ? "\n" : "", (int)plain.len,
                                plain.ptr, plain.len < name.len ? "*" : "");
    }
    return lines.ptr;
}

static const char *say_condition(struct gt_evidence *evidence, const char *change) {
    static const struct {
        const char *change, *words;
    } conditions[] = {
        {GT_SAVING_NO_CPU, "If the CPU took no time"},
        {"no:launch", "If launches took no time"},
        {"no:sync", "If no call waited for the GPU"},
        {"class:comm=0", "If communication took no time"},
        {"overlap:comm", "If only the end waited for communication"},
    };
    for (size_t i = 0; i < GT_ARRAY_COUNT(conditions); i++)
        if (strcmp(conditions[i].change, change) == 0)
            return conditions[i].words;
    struct gt_str name = gt_str_of(change);
    size_t prefix = strlen("without:");
    if (!gt_str_starts(name, GT_STR("without:")))
        return "If it took 10% less time";
    const char *end = memchr(name.ptr, '\n', name.len);
    size_t bytes = end ? (size_t)(end - name.ptr) : name.len;
    const char *next = end ? gt_say_quoted(evidence, gt_str_of(end + 1 + prefix)) : "";
    if (end && strchr(end + 1, '\n'))
        next = "others";
    return gt_arena_printf(evidence->arena, "Without %s%s%s",
                           gt_say_quoted(evidence, (struct gt_str){name.ptr + prefix, bytes - prefix}),
                           end ? " and " : "", next)
        .ptr;
}

void gt_saving_describe(struct gt_evidence *evidence, struct gt_finding *finding) {
    const struct gt_saving *saving = write_down(evidence, finding);
    if (!saving || finding->evidence_count >= GT_FINDING_SENTENCES - 1)
        return;
    double windows = (double)saving->window_count;
    if (saving->predicted_ns == saving->base_ns) {
        finding->evidence[finding->evidence_count++] = gt_arena_printf(
            evidence->arena, "%s, nothing would be saved (simulated).", say_condition(evidence, saving->change));
        return;
    }
    finding->evidence[finding->evidence_count++] = gt_arena_printf(
        evidence->arena, "%s, %s would take %s instead of %s (simulated).", say_condition(evidence, saving->change),
        saving->is_of_steps ? "a step" : "all of it", gt_say_ns(evidence, (double)saving->predicted_ns / windows),
        gt_say_ns(evidence, (double)saving->base_ns / windows));
}
