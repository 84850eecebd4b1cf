/* Asks the dependency graph what a change saves, and lowers claims to that. */
#include "measure/findings/saving.h"

#include <string.h>

#include "base/glob.h"
#include "base/mem.h"
#include "measure/findings/thresholds.h"
#include "measure/options.h"
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

struct gt_path_words_sum gt_saving_add_up(struct gt_evidence *evidence, const struct gt_paths *paths) {
    struct gt_path_words_sum sum = {0};
    uint8_t *is_used = used_windows_new(evidence, paths);
    for (size_t w = 0; w < paths->window_count && is_used; w++) {
        const struct gt_path_window *window = &paths->windows[w];
        if (!is_used[w])
            continue;
        sum.windows++;
        sum.steps += window->kind == GT_PATH_STEP;
        sum.length_ns = gt_ns_add(sum.length_ns, gt_paths_length_ns(window));
        for (size_t kind = 0; kind < GT_DAG_TIME_COUNT; kind++)
            sum.time_ns[kind] = gt_ns_add(sum.time_ns[kind], window->time_ns[kind]);
    }
    gt_mem_free(is_used);
    return sum;
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
    struct gt_error reason = {0};
    struct gt_path_change change = {0};
    struct gt_path_bound *bounds = gt_mem_array(paths->window_count + 1, sizeof *bounds);
    enum gt_status status = gt_path_change_init(&change, evidence->view, gt_str_of(saving->change), &reason);
    bool is_known = status == GT_OK;
    /* A name that is no glob for itself is no reason to fail. */
    bool ok = bounds && (status == GT_ERR_USAGE || (is_known && gt_paths_simulate(paths, &change.change, bounds)));
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
bool gt_saving_is_too_large(const struct gt_view *view) {
    return (double)view->store->ops.count > gt_thresholds.simulated_ops && !gt_option_flag(view, GT_OPTION_simulate);
}

static bool has_graph(const struct gt_evidence *evidence) {
    const struct gt_view *view = evidence->view;
    const struct gputime_selection *asked = &view->request->selection;
    if (asked->from.kind || asked->to.kind || gt_saving_is_too_large(view))
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

/* Cuts the first line off. */
static struct gt_str next_line(struct gt_str *rest) {
    const char *end = memchr(rest->ptr, '\n', rest->len);
    struct gt_str line = {rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
    size_t taken = line.len + (end != NULL);
    *rest = (struct gt_str){rest->ptr + taken, rest->len - taken};
    return line;
}

/* "no:sync" as "--no sync", "without:a b" as "--without 'a b'" */
static const char *command_of(struct gt_evidence *evidence, const char *change) {
    struct gt_str rest = gt_str_of(change), all = GT_STR("gputime whatif TRACE");
    while (rest.len) {
        struct gt_str line = next_line(&rest);
        const char *colon = memchr(line.ptr, ':', line.len);
        if (!colon)
            continue;
        struct gt_str option = {line.ptr, (size_t)(colon - line.ptr)}, value = {colon + 1, line.len - option.len - 1};
        bool is_name = gt_str_eq(option, GT_STR("without")) || gt_str_eq(option, GT_STR("scale"));
        if (is_name)
            value = gt_say_argument(evidence, value);
        all = gt_arena_printf(evidence->arena, "%s --%.*s %.*s", all.ptr, (int)option.len, option.ptr, (int)value.len,
                              value.ptr);
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
    simulation->window_count = saving->window_count;
    return saving;
}

void gt_saving_settle(struct gt_evidence *evidence, struct gt_finding *finding, const char *change) {
    finding->simulation.change = change;
    const struct gt_saving *saving = gt_evidence_is_worth_reporting(evidence) ? write_down(evidence, finding) : NULL;
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

/* Control characters would end the line, or make a command that does something else than it shows. */
struct gt_str gt_saving_glob(struct gt_evidence *evidence, struct gt_str name) {
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] < ' ' || name.ptr[i] == 0x7f)
            return (struct gt_str){"", 0};
    return gt_glob_of_name(evidence->arena, name);
}

const char *gt_saving_without(struct gt_evidence *evidence, const struct gt_name_sums *names) {
    enum { NAMES_MOST = 4 };
    struct gt_str lines = {"", 0};
    if (names->count == 0 || names->count > NAMES_MOST)
        return NULL;
    for (size_t i = 0; i < names->count; i++) {
        struct gt_str name = gt_store_string(evidence->view->store, names->items[i].name);
        struct gt_str plain = gt_name_sums_plain(name), glob = gt_saving_glob(evidence, plain);
        if (!glob.len)
            return NULL;
        lines = gt_arena_printf(evidence->arena, "%s%swithout:%s%s", lines.ptr, i ? "\n" : "", glob.ptr,
                                plain.len < name.len ? "*" : "");
    }
    return lines.ptr;
}

/* The name of a line "without:NAME" */
static const char *say_name(struct gt_evidence *evidence, struct gt_str line) {
    size_t prefix = GT_STR("without:").len;
    if (line.len < prefix)
        return "";
    struct gt_str glob = {line.ptr + prefix, line.len - prefix};
    return gt_say_quoted(evidence, gt_glob_plain(evidence->arena, glob));
}

/* Kernels that take less: one of them a tenth, or each its own part. */
static const char *say_scaled(struct gt_str change) {
    struct gt_str line = next_line(&change);
    if (gt_str_ends(line, GT_STR("=0.9")))
        return "If it took 10% less time";
    return gt_str_ends(line, GT_STR("=0")) ? "Without them" : "Without the time lost";
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
    struct gt_str rest = gt_str_of(change);
    if (gt_str_starts(rest, GT_STR("scale:")))
        return say_scaled(rest);
    const char *first = say_name(evidence, next_line(&rest));
    if (!rest.len)
        return gt_arena_printf(evidence->arena, "Without %s", first).ptr;
    struct gt_str second = next_line(&rest);
    return gt_arena_printf(evidence->arena, "Without %s and %s", first,
                           rest.len ? "others" : say_name(evidence, second))
        .ptr;
}

/* Why the finding saves less than the simulation: GPUs lose only so much to the cause, or other findings have the rest.
   Empty: it saves about as much. */
static const char *say_claimed_part(struct gt_evidence *evidence, const struct gt_finding *finding,
                                    const struct gt_saving *saving) {
    double saved_ns = (double)(saving->base_ns - saving->predicted_ns) / (double)saving->window_count;
    int64_t claimed_ns = gt_finding_list_window_ns(finding);
    if (!finding->is_simulated || (double)claimed_ns >= 0.98 * saved_ns)
        return "";
    return gt_arena_printf(evidence->arena,
                           "; of these %s this finding claims %s, the GPU time that is lost to it alone%s",
                           gt_say_ns(evidence, saved_ns), gt_say_ns(evidence, (double)claimed_ns),
                           evidence->view->device_count > 1 ? ", on average over the GPUs" : "")
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
        evidence->arena, "%s, %s would take %s instead of %s (simulated)%s.", say_condition(evidence, saving->change),
        saving->is_of_steps ? "a step" : "all of it", gt_say_ns(evidence, (double)saving->predicted_ns / windows),
        gt_say_ns(evidence, (double)saving->base_ns / windows), say_claimed_part(evidence, finding, saving));
}
