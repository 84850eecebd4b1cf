/* Path parts: what the windows of the critical path were spent on, CPU time by range, calls by name and ops by
   category. Comparisons and limits read this table: its rows sum to the windows exactly. */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "measure/results/calls.h"
#include "measure/results/measure.h"
#include "measure/results/paths.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"name", "Spent on", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY | GT_COLUMN_WORDS},
    {"kind", "Kind", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"total_ns", "Time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS | GT_COLUMN_PART},
    {"share", "Share", GT_UNIT_SHARE, "windows", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
    {"windows", "Steps", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MEAN},
};

static const struct gt_parts parts_role = {.whole = "critical path"};

/* Time of one kind at one place. */
struct part {
    struct gt_str place; /* range, call or category; empty: none */
    enum gt_dag_time kind;
    int64_t total_ns;
};

struct parts {
    const struct gt_view *view;
    struct part *items;
    size_t count, capacity;
    struct gt_map index;    /* kind, id of the place */
    struct gt_strtab calls; /* plain names of calls on the path */
    int64_t kind_ns[GT_DAG_TIME_COUNT];
    int64_t length_ns;
    size_t windows, steps;
    bool failed;
};

enum { NO_PLACE = 0, HANDOVER = 1, PLACES = 2 }; /* ids of places; ranges, calls and categories follow */

static void add(struct parts *parts, enum gt_dag_time kind, uint64_t id, struct gt_str place, int64_t ns) {
    uint32_t index = gt_map_put_if_new(&parts->index, (uint64_t)kind, id, (uint32_t)parts->count);
    parts->failed |= parts->index.failed;
    if (!parts->failed && index == parts->count) {
        struct part *room = gt_mem_room(parts->items, parts->count, &parts->capacity, sizeof *room);
        parts->failed |= !room;
        if (!room)
            return;
        parts->items = room;
        parts->items[parts->count++] = (struct part){.place = place, .kind = kind};
    }
    if (!parts->failed)
        parts->items[index].total_ns = gt_ns_add(parts->items[index].total_ns, ns);
}

static void add_call(struct parts *parts, const struct gt_dag_segment *segment, gt_strid call) {
    struct gt_str name = gt_call_plain_name(gt_store_string(parts->view->store, call));
    gt_strid plain = gt_strtab_intern(&parts->calls, name);
    parts->failed |= parts->calls.failed;
    add(parts, (enum gt_dag_time)segment->time, PLACES + (uint64_t)plain, name,
        gt_ns_between(segment->start_ns, segment->end_ns));
}

static void add_segments(struct parts *parts, const struct gt_paths *paths, const struct gt_path_window *window) {
    const struct gt_labels *labels = parts->view->labels;
    struct gt_paths_cursor cursor = gt_paths_segments(paths, window);
    for (size_t i = 0; i < window->segment_count; i++) {
        struct gt_dag_segment segment = gt_paths_next(&cursor);
        gt_strid call = gt_paths_segment_call(paths, &segment);
        if (call != GT_STRID_EMPTY)
            add_call(parts, &segment, call);
        if (segment.time > GT_DAG_TIME_COPY)
            continue;
        uint8_t category = labels->op_category[paths->dag->row[segment.node]];
        add(parts, (enum gt_dag_time)segment.time, PLACES + (uint64_t)category,
            gt_str_of(labels->categories[category].key), gt_ns_between(segment.start_ns, segment.end_ns));
    }
}

static void add_windows(struct parts *parts, const struct gt_paths *paths) {
    for (size_t i = 0; i < paths->window_count; i++) {
        const struct gt_path_window *window = &paths->windows[i];
        parts->steps += window->kind == GT_PATH_STEP && !window->is_hidden;
        if (!window->counts)
            continue;
        parts->windows++;
        parts->length_ns = gt_ns_add(parts->length_ns, gt_paths_length_ns(window));
        for (size_t kind = 0; kind < GT_DAG_TIME_COUNT; kind++)
            parts->kind_ns[kind] = gt_ns_add(parts->kind_ns[kind], window->time_ns[kind]);
        add_segments(parts, paths, window);
    }
}

/* What is left of a kind has no place: CPU time outside ranges. */
static void add_rest(struct parts *parts) {
    for (size_t kind = 0; kind < GT_DAG_TIME_COUNT; kind++) {
        int64_t rest_ns = parts->kind_ns[kind];
        for (size_t i = 0; i < parts->count; i++)
            rest_ns -= parts->items[i].kind == (enum gt_dag_time)kind ? parts->items[i].total_ns : 0;
        if (rest_ns)
            add(parts, (enum gt_dag_time)kind, NO_PLACE, GT_STR(""), rest_ns);
    }
}

static void add_cpu(struct parts *parts, const struct gt_path_cpu *cpu) {
    for (size_t i = 0; i < cpu->count; i++) {
        const struct gt_path_cpu_item *item = &cpu->items[i];
        if (item->is_handover)
            add(parts, GT_DAG_TIME_CPU, HANDOVER, GT_STR("hand-over"), item->total_ns);
        else if (item->range != GT_STRID_EMPTY)
            add(parts, GT_DAG_TIME_CPU, PLACES + (uint64_t)item->range,
                gt_store_string(parts->view->store, item->range), item->total_ns);
    }
}

static int by_time(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return gt_str_cmp(x->place, y->place);
}

static void add_row(const struct parts *parts, struct gt_table *table, const struct part *part) {
    struct gt_str kind = gt_str_of(gt_dag_walk_word(part->kind));
    bool has_place = part->place.len && !gt_str_eq(part->place, kind);
    struct gt_row row = gt_row_begin(table);
    gt_row_text(
        &row, "name",
        has_place ? gt_arena_printf(&table->report->arena, "%s (%.*s)", kind.ptr, (int)part->place.len, part->place.ptr)
                  : kind);
    gt_row_text(&row, "kind", kind);
    gt_row_int(&row, "total_ns", part->total_ns);
    gt_row_share(&row, "share", (double)part->total_ns, (double)parts->length_ns);
    gt_row_count(&row, "windows", parts->steps ? parts->steps : parts->windows);
    gt_row_end(&row);
}

/* A graph that explains a window badly says nothing about it. */
static void refuse(const struct gt_paths *paths, struct gt_section *section) {
    struct gt_str why = gt_paths_doubt(&section->report->arena, gt_paths_worst_trust(paths));
    gt_section_lack(section, GT_STR("path_parts"), GT_STR("critical path that can be trusted"));
    gt_section_note(
        section, GT_FOR_ALL,
        gt_arena_printf(&section->report->arena,
                        "The critical path cannot be trusted, and nothing is predicted or compared from it: %s.",
                        why.ptr));
}

enum gt_status gt_path_parts_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_paths *paths = gt_results_paths(view, err);
    const struct gt_path_cpu *cpu = paths ? gt_results_path_cpu(view, err) : NULL;
    if (!cpu)
        return err->code;
    struct gt_table *table =
        gt_section_table(section, "path_parts", "Parts of the critical path", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 10;
    table->parts = &parts_role;
    struct parts parts = {.view = view};
    if (gt_paths_is_refused(paths)) {
        refuse(paths, section);
        return GT_OK;
    }
    if (!gt_strtab_init(&parts.calls))
        return gt_fail_memory(err);
    add_windows(&parts, paths);
    add_cpu(&parts, cpu);
    add_rest(&parts);
    if (parts.count && !parts.failed)
        qsort(parts.items, parts.count, sizeof *parts.items, by_time);
    for (size_t i = 0; i < parts.count && !parts.failed; i++)
        add_row(&parts, table, &parts.items[i]);
    gt_map_release(&parts.index);
    gt_strtab_release(&parts.calls);
    gt_mem_free(parts.items);
    return parts.failed ? gt_fail_memory(err) : GT_OK;
}
