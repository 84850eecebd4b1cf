/* What-if: how long the windows of the critical path would have taken if something were different; without changes,
   what the usual ones would save. A trace that the graph explains badly gets no answer unless it is asked for by force.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "measure/results/calls.h"
#include "measure/results/measure.h"
#include "measure/results/path_change.h"
#include "measure/results/path_names.h"
#include "measure/results/path_words.h"
#include "measure/results/paths.h"
#include "measure/results/results.h"
#include "report/row.h"

enum { UNKNOWN_MOST = 20, NAMES_MOST = 20, FASTER_PPM = 900000 };

static const struct gt_report_column columns[] = {
    {"change", "Change", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"window", "Window", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_VARIES},
    {"pid", "Process", GT_UNIT_NONE, NULL, GT_COLUMN_VARIES},
    {"start_ns", "Start", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MOMENT},
    {"base_ns", "Recorded", GT_UNIT_NS, NULL, 0},
    {"predicted_ns", "Predicted", GT_UNIT_NS, NULL, 0},
    {"low_ns", "At least", GT_UNIT_NS, NULL, 0},
    {"saved_ns", "Saved", GT_UNIT_NS, NULL, 0},
    {"saved_share", "Saved share", GT_UNIT_SHARE, "recorded time", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
    {"trust", "Trust", GT_UNIT_NONE, NULL, 0},
};

static const struct gt_report_column unknown_columns[] = {
    {"window", "Window", GT_UNIT_NONE, NULL, 0},
    {"start_ns", "Start", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"dur_ns", "Unknown", GT_UNIT_NS, NULL, 0},
    {"name", "Where", GT_UNIT_NONE, NULL, 0},
    {"next", "Next op or call", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
};

/* One change and what it gives, for each window. */
struct answer {
    struct gt_str text;
    struct gt_path_change change;
    struct gt_path_bound *predicted, *low;
    bool failed;
};

struct asking {
    const struct gt_view *view;
    const struct gt_paths *paths;
    struct gt_arena *arena; /* of the report */
    struct answer *answers;
    size_t count;
    bool is_forced;
};

/* ---- simulations ---- */

static bool simulate(const struct gt_paths *paths, const struct gt_dag_change *change, struct gt_path_bound **bounds) {
    *bounds = gt_mem_array(paths->window_count + 1, sizeof **bounds);
    return *bounds && gt_paths_simulate(paths, change, *bounds);
}

/* The second simulation leaves out edges for which only the order of calls speaks. */
static void answer_one(void *context, size_t index) {
    struct asking *asking = context;
    struct answer *answer = &asking->answers[index];
    struct gt_dag_change weaker = answer->change.change;
    weaker.no_weak_events = true;
    answer->failed = !simulate(asking->paths, &answer->change.change, &answer->predicted) ||
                     !simulate(asking->paths, &weaker, &answer->low);
}

static bool answer_all(struct asking *asking) {
    bool failed = false;
    gt_threads_deal(gt_threads_count(asking->view->request->threads), asking->count, answer_one, asking);
    for (size_t i = 0; i < asking->count; i++)
        failed |= asking->answers[i].failed;
    return !failed;
}

/* ---- which changes ---- */

static bool next_line(struct gt_str *text, struct gt_str *line) {
    if (!text->len)
        return false;
    const char *end = memchr(text->ptr, '\n', text->len);
    *line = (struct gt_str){text->ptr, end ? (size_t)(end - text->ptr) : text->len};
    text->ptr += line->len + (end != NULL);
    text->len -= line->len + (end != NULL);
    return true;
}

/* "class:gemm" of "class:gemm=0.5"; else all of it. */
static struct gt_str what_of(struct gt_str line) {
    const char *sign = line.len ? memrchr(line.ptr, '=', line.len) : NULL;
    bool has_factor = !gt_str_starts(line, GT_STR("without:"));
    return sign && has_factor ? (struct gt_str){line.ptr, (size_t)(sign - line.ptr)} : line;
}

/* Of several factors of the same the last counts. */
static bool is_replaced(struct gt_str line, struct gt_str later) {
    struct gt_str other;
    while (next_line(&later, &other))
        if (gt_str_eq(what_of(line), what_of(other)))
            return true;
    return false;
}

/* Lines that count as a list: "cpu=2, no:launch". */
static struct gt_str list_of(struct gt_arena *arena, struct gt_str text) {
    struct gt_str list = {"", 0}, line;
    while (next_line(&text, &line))
        if (line.len && !is_replaced(line, text))
            list = gt_arena_printf(arena, "%s%s%.*s", list.ptr, list.len ? ", " : "", (int)line.len, line.ptr);
    return list;
}

static void say_what_changes_nothing(const struct asking *asking, struct gt_section *section, struct gt_str text) {
    struct gt_str line;
    while (next_line(&text, &line))
        if (!is_replaced(line, text) && !gt_path_change_has_ops(asking->view, line))
            gt_section_note(section, GT_FOR_ALL,
                            gt_arena_printf(asking->arena, "'%.*s' changes nothing: the trace has no such ops.",
                                            (int)(line.len > 200 ? 200 : line.len), line.ptr));
}

static enum gt_status ask_one(struct asking *asking, struct gt_str text, struct gt_error *err) {
    struct answer *answer = &asking->answers[asking->count++];
    answer->text = list_of(asking->arena, text);
    return gt_path_change_init(&answer->change, asking->view, text, err);
}

static bool has_comm(const struct gt_view *view) {
    for (size_t op = 0; op < view->store->ops.count; op++)
        if (view->labels->categories[view->labels->op_category[op]].time_class == GT_CLASS_COMM)
            return true;
    return false;
}

/* The call with most time on the path apart from launches, if that is a large part; GT_STRID_EMPTY. It may also be that
   memory was short. */
static gt_strid find_large_call(const struct asking *asking) {
    static const double least_share = 0.05;
    const struct gt_paths *paths = asking->paths;
    int64_t *totals = gt_mem_array(asking->view->store->strings.count + 1, sizeof *totals), length_ns = 0;
    gt_strid largest = GT_STRID_EMPTY;
    for (size_t w = 0; w < paths->window_count && totals; w++) {
        const struct gt_path_window *window = &paths->windows[w];
        length_ns = window->counts ? gt_ns_add(length_ns, gt_paths_length_ns(window)) : length_ns;
        struct gt_paths_cursor cursor = gt_paths_segments(paths, window);
        for (size_t i = 0; i < window->segment_count && window->counts; i++) {
            struct gt_dag_segment segment = gt_paths_next(&cursor);
            gt_strid call = segment.time == GT_DAG_TIME_CALL ? gt_paths_segment_call(paths, &segment) : GT_STRID_EMPTY;
            if (call == GT_STRID_EMPTY)
                continue;
            totals[call] = gt_ns_add(totals[call], gt_ns_between(segment.start_ns, segment.end_ns));
            largest = totals[call] > totals[largest] ? call : largest;
        }
    }
    if (totals && (double)totals[largest] < least_share * (double)length_ns)
        largest = GT_STRID_EMPTY;
    gt_mem_free(totals);
    return largest;
}

static enum gt_status ask_without(struct asking *asking, gt_strid call, struct gt_error *err) {
    struct gt_str name = gt_store_string(asking->view->store, call);
    struct gt_str text = gt_arena_printf(asking->arena, "without:%.*s", (int)name.len, name.ptr);
    if (memchr(name.ptr, '\n', name.len)) /* no change can name it */
        return GT_OK;
    return text.len ? ask_one(asking, text, err) : gt_fail_memory(err);
}

/* What is usually worth a thought, and the names with most time on the path. */
static enum gt_status ask_usual(struct asking *asking, struct gt_error *err) {
    static const struct gt_str usual[] = {GT_STR("cpu=2"),   GT_STR("no:launch"),         GT_STR("no:think"),
                                          GT_STR("no:sync"), GT_STR("class:compute=0.9"), GT_STR("overlap:comm")};
    const struct gt_path_names *names = gt_results_path_names(asking->view, err);
    size_t usual_count = GT_ARRAY_COUNT(usual) - !has_comm(asking->view);
    if (!names)
        return err->code;
    enum gt_status status = GT_OK;
    for (size_t i = 0; i < usual_count && status == GT_OK; i++)
        status = ask_one(asking, usual[i], err);
    gt_strid call = find_large_call(asking);
    if (status == GT_OK && call != GT_STRID_EMPTY)
        status = ask_without(asking, call, err);
    for (size_t i = 0; i < names->on_path && i < NAMES_MOST && status == GT_OK; i++) {
        struct answer *answer = &asking->answers[asking->count++];
        struct gt_str name = gt_view_name_text(asking->view, names->items[i].name);
        answer->text = gt_arena_printf(asking->arena, "scale:%.*s=0.9", (int)name.len, name.ptr);
        if (!gt_path_change_init_name(&answer->change, asking->view, names->items[i].name, FASTER_PPM))
            status = gt_fail_memory(err);
    }
    return status;
}

/* ---- rows ---- */

static bool is_refused(const struct asking *asking, const struct gt_path_window *window) {
    return window->trust == GT_PATH_REFUSED && !asking->is_forced;
}

static void add_row(const struct asking *asking, struct gt_section *section, struct gt_table *table,
                    const struct answer *answer, size_t index) {
    const struct gt_path_window *window = &asking->paths->windows[index];
    const struct gt_path_bound *predicted = &answer->predicted[index], *low = &answer->low[index];
    int64_t base_ns = gt_paths_length_ns(window), predicted_ns = gt_ns_between(predicted->start_ns, predicted->end_ns);
    int64_t low_ns = gt_ns_between(low->start_ns, low->end_ns), saved_ns = gt_ns_between(predicted_ns, base_ns);
    bool has_answer = !is_refused(asking, window);
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "change", answer->text);
    gt_row_cell(&row, "window", gt_paths_window_cell(section, window));
    gt_row_cell(&row, "pid", gt_measure_pid_cell(asking->view, window->process));
    gt_row_cell(&row, "start_ns", gt_measure_time_cell(asking->view, window->start_ns));
    gt_row_int(&row, "base_ns", base_ns);
    gt_row_cell(&row, "predicted_ns", has_answer ? gt_cell_int(predicted_ns) : gt_cell_null());
    gt_row_cell(&row, "low_ns", has_answer ? gt_cell_int(low_ns) : gt_cell_null());
    gt_row_cell(&row, "saved_ns", has_answer ? gt_cell_int(saved_ns) : gt_cell_null());
    gt_row_cell(&row, "saved_share", has_answer ? gt_cell_share((double)saved_ns, (double)base_ns) : gt_cell_null());
    gt_row_text(&row, "trust", gt_str_of(gt_paths_trust_word(window->trust)));
    gt_row_end(&row);
}

static bool is_shown(const struct gt_path_window *window, bool is_list) {
    return window->kind != GT_PATH_CHOSEN && (window->counts || !is_list);
}

static int64_t saved_of(const struct asking *asking, const struct answer *answer) {
    int64_t saved_ns = 0;
    for (size_t i = 0; i < asking->paths->window_count; i++)
        if (asking->paths->windows[i].counts)
            saved_ns =
                gt_ns_add(saved_ns, gt_paths_length_ns(&asking->paths->windows[i]) -
                                        gt_ns_between(answer->predicted[i].start_ns, answer->predicted[i].end_ns));
    return saved_ns;
}

struct ranked {
    int64_t saved_ns;
    size_t index;
};

static int by_saving(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->saved_ns != y->saved_ns)
        return x->saved_ns > y->saved_ns ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Savings that are worth a line on the screen. */
static size_t count_savings(const struct gt_table *table, bool is_list) {
    enum { ROWS_MOST = 15, ROWS_LEAST = 3 };
    static const double least_share = 0.0005; /* shown as 0.1 % */
    bool has_answer = false;
    size_t rows = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        double share = gt_table_number(table, row, "saved_share");
        rows += share >= least_share;
        has_answer |= !isnan(share);
    }
    if (!is_list || rows > ROWS_MOST)
        return ROWS_MOST;
    return !has_answer ? 1 : rows < ROWS_LEAST ? ROWS_LEAST : rows;
}

/* Whether inferred events matter to any answer. */
static bool has_low(const struct asking *asking) {
    const struct gt_paths *paths = asking->paths;
    for (size_t i = 0; i < asking->count; i++)
        for (size_t w = 0; w < paths->listed_count; w++) {
            const struct answer *answer = &asking->answers[i];
            uint32_t window = paths->listed[w];
            if (gt_ns_between(answer->low[window].start_ns, answer->low[window].end_ns) !=
                gt_ns_between(answer->predicted[window].start_ns, answer->predicted[window].end_ns))
                return true;
        }
    return false;
}

/* The lower bound is a detail where it never differs. NULL: memory was short. */
static const struct gt_report_column *choose_columns(const struct asking *asking) {
    struct gt_report_column *chosen = gt_paths_columns(asking->paths, asking->arena, columns, GT_ARRAY_COUNT(columns));
    for (size_t i = 0; i < GT_ARRAY_COUNT(columns) && chosen && !has_low(asking); i++)
        chosen[i].flags |= strcmp(chosen[i].key, "low_ns") == 0 ? GT_COLUMN_DETAIL : 0;
    return chosen;
}

static bool add_rows(const struct asking *asking, struct gt_section *section, bool is_list) {
    const struct gt_paths *paths = asking->paths;
    const struct gt_report_column *chosen = choose_columns(asking);
    if (!chosen)
        return false;
    struct gt_table *table = gt_section_table(section, "whatif", is_list ? "What would save time" : "What if", chosen,
                                              GT_ARRAY_COUNT(columns));
    struct ranked *order = gt_mem_array(asking->count + 1, sizeof *order);
    table->empty = "No GPU work to simulate.";
    for (size_t i = 0; i < asking->count && order; i++)
        order[i] = (struct ranked){saved_of(asking, &asking->answers[i]), i};
    if (order)
        qsort(order, asking->count, sizeof *order, by_saving);
    for (size_t i = 0; i < asking->count && order; i++)
        for (size_t w = 0; w < paths->listed_count; w++)
            if (is_shown(&paths->windows[paths->listed[w]], is_list))
                add_row(asking, section, table, &asking->answers[order[i].index], paths->listed[w]);
    table->screen_limit = count_savings(table, is_list);
    bool ok = order;
    gt_mem_free(order);
    return ok;
}

/* ---- in words ---- */

/* "save 35.9%: 23.29 ms a step instead of 36.32 ms" */
static struct gt_str saving_words(const struct asking *asking, const struct answer *answer) {
    struct gt_path_words_sum sum = gt_path_words_add_up(asking->paths);
    double parts = (double)(sum.steps ? sum.steps : sum.windows), saved_ns = (double)saved_of(asking, answer);
    char before[GT_NUM_MAX], after[GT_NUM_MAX];
    if (sum.length_ns <= 0 || fabs(saved_ns) < 0.0005 * (double)sum.length_ns)
        return GT_STR("save almost nothing");
    gt_num_format_duration(before, (double)sum.length_ns / parts);
    gt_num_format_duration(after, ((double)sum.length_ns - saved_ns) / parts);
    return gt_arena_printf(asking->arena, "%s %.1f%%: %s%s instead of %s", saved_ns > 0 ? "save" : "cost",
                           100 * fabs(saved_ns) / (double)sum.length_ns, after, sum.steps ? " a step" : "", before);
}

static const struct answer *find_answer(const struct asking *asking, struct gt_str text) {
    for (size_t i = 0; i < asking->count; i++)
        if (gt_str_eq(asking->answers[i].text, text))
            return &asking->answers[i];
    return NULL;
}

/* The change that was asked for; of the usual ones what can be bought or programmed. */
static void say_savings(const struct asking *asking, struct gt_section *section, bool is_list) {
    const struct answer *cpu = find_answer(asking, GT_STR("cpu=2"));
    const struct answer *compute = find_answer(asking, GT_STR("class:compute=0.9"));
    struct gt_str words = {"", 0};
    if (is_list && cpu && compute)
        words = gt_arena_printf(asking->arena, "A CPU twice as fast would %s. Kernels that take 10%% less would %s.",
                                saving_words(asking, cpu).ptr, saving_words(asking, compute).ptr);
    else if (!is_list && asking->count)
        words = gt_arena_printf(asking->arena, "This would %s.", saving_words(asking, &asking->answers[0]).ptr);
    if (words.len)
        gt_section_note(section, GT_FOR_ALL, words);
}

/* ---- refusal ---- */

struct unknown {
    struct gt_dag_segment segment;
    size_t window;
};

static int by_length(const void *a, const void *b) {
    const struct unknown *x = a, *y = b;
    int64_t x_ns = gt_ns_between(x->segment.start_ns, x->segment.end_ns),
            y_ns = gt_ns_between(y->segment.start_ns, y->segment.end_ns);
    if (x_ns != y_ns)
        return x_ns > y_ns ? -1 : 1;
    return (x->segment.start_ns > y->segment.start_ns) - (x->segment.start_ns < y->segment.start_ns);
}

static struct gt_cell next_cell(const struct gt_paths *paths, const struct gt_dag_segment *segment) {
    const struct gt_dag *dag = paths->dag;
    if (segment->node == GT_DAG_NONE || gt_paths_is_after_last(paths, segment) ||
        dag->kind[segment->node] == GT_DAG_MARK || dag->kind[segment->node] == GT_DAG_POINT)
        return gt_cell_null();
    gt_strid name = dag->kind[segment->node] == GT_DAG_OP ? dag->store->ops.name[dag->row[segment->node]]
                                                          : dag->store->calls.name[dag->row[segment->node]];
    return gt_cell_text(gt_call_plain_name(gt_store_string(dag->store, name)));
}

static bool refuses_any(const struct asking *asking) {
    return gt_paths_is_refused(asking->paths) && !asking->is_forced;
}

/* The longest segments of the path of which nothing says what they waited for. */
static bool add_unknown(const struct asking *asking, struct gt_section *section) {
    const struct gt_paths *paths = asking->paths;
    struct gt_table *table = gt_section_table(section, "path_unknown", "Longest unexplained waits", unknown_columns,
                                              GT_ARRAY_COUNT(unknown_columns));
    size_t count = 0;
    if (!refuses_any(asking))
        return true;
    for (size_t w = 0; w < paths->window_count; w++)
        count += paths->windows[w].counts ? paths->windows[w].segment_count : 0;
    struct unknown *all = gt_mem_array(count + 1, sizeof *all);
    if (!all)
        return false;
    count = 0;
    for (size_t w = 0; w < paths->window_count; w++) {
        struct gt_paths_cursor cursor = gt_paths_segments(paths, &paths->windows[w]);
        for (size_t i = 0; paths->windows[w].counts && i < paths->windows[w].segment_count; i++) {
            struct gt_dag_segment segment = gt_paths_next(&cursor);
            if (segment.time == GT_DAG_TIME_UNKNOWN)
                all[count++] = (struct unknown){segment, w};
        }
    }
    qsort(all, count, sizeof *all, by_length);
    for (size_t i = 0; i < count && i < UNKNOWN_MOST; i++) {
        const struct gt_dag_segment *segment = &all[i].segment;
        struct gt_str name = gt_call_plain_name(gt_paths_segment_name(paths, segment));
        struct gt_row row = gt_row_begin(table);
        gt_row_cell(&row, "window", gt_paths_window_cell(section, &paths->windows[all[i].window]));
        gt_row_cell(&row, "start_ns", gt_measure_time_cell(asking->view, segment->start_ns));
        gt_row_int(&row, "dur_ns", gt_ns_between(segment->start_ns, segment->end_ns));
        gt_row_cell(&row, "name", name.len ? gt_cell_text(name) : gt_cell_null());
        gt_row_cell(&row, "next", next_cell(paths, segment));
        gt_row_end(&row);
    }
    gt_mem_free(all);
    return true;
}

static void state_trust(const struct asking *asking, struct gt_section *section) {
    struct gt_measure_fact_group facts = {.section = section, .audience = GT_FOR_DATA};
    for (size_t i = 0; i < asking->paths->window_count; i++) {
        const struct gt_path_window *window = &asking->paths->windows[i];
        if (!window->counts || window->trust == GT_PATH_GOOD)
            continue;
        struct gt_str why = gt_paths_doubt(asking->arena, window);
        struct gt_str note =
            gt_arena_printf(asking->arena, "Trust %s: %s.", gt_paths_trust_word(window->trust), why.ptr);
        gt_section_note(section, GT_FOR_ALL, note);
        if (is_refused(asking, window))
            gt_measure_fact_group_add(&facts, "refused", "No answer because", GT_UNIT_NONE, gt_cell_text(why));
    }
    if (gt_paths_ignores_selection(asking->view))
        gt_section_note(section, GT_FOR_ALL,
                        GT_STR("All GPU work is simulated: selecting GPUs, streams or ops has no effect."));
    if (asking->paths->is_cut_short)
        gt_section_note(section, GT_FOR_ALL, gt_paths_cut_note(asking->arena, asking->paths));
    if (has_comm(asking->view))
        gt_section_note(section, GT_FOR_ALL,
                        GT_STR("Communication keeps its recorded length: in truth a rank that gets faster may only "
                               "wait longer for the others."));
}

/* Steps, ranges and traces begin and end with something that a change moves; a time does not. */
static bool asks_for_times(const struct gt_paths *paths) {
    for (size_t i = 0; i < paths->window_count; i++)
        if (paths->windows[i].kind == GT_PATH_CHOSEN)
            return true;
    return false;
}

enum gt_status gt_whatif_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const char *text = gt_option_text(view, GT_OPTION_changes);
    struct asking asking = {.view = view, .paths = gt_results_paths(view, err), .arena = &section->report->arena};
    if (!asking.paths)
        return err->code;
    if (asks_for_times(asking.paths))
        return gt_fail_usage(err,
                             "after a change nothing is at its old time: use --step or --range, not --from and --to");
    asking.is_forced = gt_option_flag(view, GT_OPTION_force);
    asking.answers = gt_mem_array(NAMES_MOST + 8, sizeof *asking.answers);
    enum gt_status status = !asking.answers ? gt_fail_memory(err)
                            : text          ? ask_one(&asking, gt_str_of(text), err)
                                            : ask_usual(&asking, err);
    if (status == GT_OK && !answer_all(&asking))
        status = gt_fail_memory(err);
    if (status == GT_OK) {
        if (asking.paths->window_count && !refuses_any(&asking))
            say_savings(&asking, section, !text);
        state_trust(&asking, section);
        say_what_changes_nothing(&asking, section, gt_str_of(text ? text : ""));
        if (!text && asking.paths->window_count && !refuses_any(&asking))
            gt_section_note(section, GT_FOR_SCREEN,
                            GT_STR("no:think: CPU work between calls takes no time. Names of ops: all ops of that name "
                                   "take 10% less."));
        bool ok = add_rows(&asking, section, !text) && add_unknown(&asking, section);
        status = ok ? GT_OK : gt_fail_memory(err);
    }
    for (size_t i = 0; i < asking.count; i++) {
        gt_path_change_release(&asking.answers[i].change);
        gt_mem_free(asking.answers[i].predicted);
        gt_mem_free(asking.answers[i].low);
    }
    gt_mem_free(asking.answers);
    return status;
}
