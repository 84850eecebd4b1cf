/* Copies the caller's option structs, of any version of the header, into structs with all fields, in an arena. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "internal.h"
#include "measure/analysis.h"
#include "take.h"

static bool is_zero(const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i])
            return false;
    return true;
}

/* A struct that ended in padding could grow into it without growing, and old programs leave anything in padding. */
#define NO_PADDING(type, last)                                                                                         \
    _Static_assert(offsetof(struct type, last) + sizeof(((struct type *)0)->last) == sizeof(struct type),              \
                   "struct " #type " ends in padding")
NO_PADDING(gputime_open_options, reserved);
NO_PADDING(gputime_run, remark);
NO_PADDING(gputime_selection, reserved);
NO_PADDING(gputime_shaping, columns_only);
NO_PADDING(gputime_report_options, generated_at);
NO_PADDING(gputime_diff_options, shaping);
NO_PADDING(gputime_write_options, row_limit);
NO_PADDING(gputime_export_options, op_counts);
NO_PADDING(gputime_sql_options, abandoned_context);
NO_PADDING(gputime_view_options, command);
NO_PADDING(gputime_serve_options, context);

enum { LARGEST_STRUCT = 4096 }; /* a larger size was not set by anybody */

enum gt_status gt_take(const char *name, const void *from, void *into, size_t known_bytes, struct gt_error *err) {
    size_t bytes = 0;
    memset(into, 0, known_bytes);
    if (from) {
        memcpy(&bytes, from, sizeof bytes);
        if (bytes < sizeof bytes || bytes > LARGEST_STRUCT)
            return gt_fail_usage(err, "struct %s has the size %zu; start from its INIT macro", name, bytes);
        if (bytes > known_bytes && !is_zero((const unsigned char *)from + known_bytes, bytes - known_bytes))
            return gt_fail_usage(err, "struct %s has options unknown to version %s of the library", name,
                                 GPUTIME_VERSION);
        memcpy(into, from, bytes < known_bytes ? bytes : known_bytes);
    }
    memcpy(into, &known_bytes, sizeof known_bytes);
    return GT_OK;
}

enum gt_status gt_take_choice(const char *what, unsigned value, unsigned last, struct gt_error *err) {
    return value <= last ? GT_OK : gt_fail_usage(err, "%s cannot be %u; the last choice is %u", what, value, last);
}

static enum gt_status check_time(const char *what, const struct gputime_time *time, struct gt_error *err) {
    enum gt_status status = gt_take_choice(what, (unsigned)time->kind, GPUTIME_TIME_SHARE, err);
    if (status == GT_OK && time->kind == GPUTIME_TIME_SHARE && !isfinite(time->share))
        return gt_fail_usage(err, "%s is not a finite share", what);
    return status;
}

enum gt_status gt_take_selection(const struct gputime_selection *from, struct gputime_selection *into,
                                 struct gt_error *err) {
    enum gt_status status = GT_TAKE(gputime_selection, from, into, err);
    if (status == GT_OK)
        status = gt_take_choice("whole_steps", (unsigned)into->whole_steps, GPUTIME_STEPS_WHOLE, err);
    if (status == GT_OK)
        status = check_time("the start of the window", &into->from, err);
    return status == GT_OK ? check_time("the end of the window", &into->to, err) : status;
}

const char *gt_take_text(const char *text, struct gt_arena *arena) {
    return text ? gt_arena_copy(arena, gt_str_of(text)).ptr : NULL;
}

const char *gt_take_keys(const char *const *keys, size_t count, struct gt_arena *arena) {
    struct gt_str list = GT_STR("");
    for (size_t i = 0; i < count; i++)
        list = gt_arena_printf(arena, "%s%s%s", list.ptr, i ? "," : "", keys[i]);
    return count ? list.ptr : NULL;
}

enum gt_status gt_take_run(const struct gputime_run *from, struct gt_arena *arena, struct gt_run *into,
                           struct gt_error *err) {
    struct gputime_run run;
    enum gt_status status = GT_TAKE(gputime_run, from, &run, err);
    if (status != GT_OK)
        return status;
    if (run.iterations < 0 || run.gpus < 0 || run.elapsed_ns < 0)
        return gt_fail_usage(err, "iterations, GPUs and elapsed time of a run cannot be negative");
    *into = (struct gt_run){
        .title = gt_take_text(run.title, arena),
        .iterations = run.iterations,
        .gpus = run.gpus,
        .nvtx_tag = gt_take_text(run.iteration_range, arena),
        .elapsed_ns = run.elapsed_ns,
        .without_memory = run.without_memory,
        .remark = gt_take_text(run.remark, arena),
    };
    return gt_arena_failed(arena) ? gt_fail_memory(err) : GT_OK;
}

/* ---- shapes ---- */

struct shapes {
    struct gt_arena *arena;
    struct gt_shape *items;
    size_t count, capacity;
};

/* A shape for the table; NULL: out of memory, recorded in the arena. */
static struct gt_shape *add_shape(struct shapes *shapes, const char *table, size_t bytes) {
    struct gt_shape *items =
        gt_arena_room(shapes->arena, shapes->items, shapes->count, &shapes->capacity, sizeof *items);
    if (!items)
        return NULL;
    shapes->items = items;
    items[shapes->count] = (struct gt_shape){.table = gt_arena_copy(shapes->arena, (struct gt_str){table, bytes}).ptr};
    return &items[shapes->count++];
}

static bool is_among(struct gt_str key, const char *const *keys, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (gt_str_eq(gt_str_of(keys[i]), key))
            return true;
    return false;
}

/* All tables of all analyses except those that are shown. */
static void hide_others(struct shapes *shapes, const char *const *shown, size_t shown_count) {
    for (size_t i = 0; i < gt_analysis_count; i++) {
        struct gt_str rest = gt_str_of(gt_analyses[i].tables), key;
        while (gt_str_next_item(&rest, &key)) {
            struct gt_shape *shape =
                key.len && !is_among(key, shown, shown_count) ? add_shape(shapes, key.ptr, key.len) : NULL;
            if (shape)
                shape->hidden = 1;
        }
    }
}

static enum gt_status add_given(struct shapes *shapes, const struct gputime_shape *given, struct gt_error *err) {
    struct gt_arena *arena = shapes->arena;
    if (!given->table)
        return gt_fail_usage(err, "a shape needs a table");
    if (!given->pivot_row != !given->pivot_value)
        return gt_fail_usage(err, "pivoting table '%s' needs both a row and a value", given->table);
    struct gt_shape *shape = add_shape(shapes, given->table, strlen(given->table));
    if (!shape)
        return gt_fail_memory(err);
    shape->sort = gt_take_text(given->sort, arena);
    shape->limit = given->limit;
    shape->screen_limit = given->screen_limit;
    shape->columns = gt_take_keys(given->columns, given->column_count, arena);
    shape->ranked = given->ranked;
    shape->joined = given->joined;
    shape->cut_sort = gt_take_text(given->cut_sort, arena);
    if (given->pivot_row)
        shape->pivot = gt_arena_printf(arena, "%s,%s", given->pivot_row, given->pivot_value).ptr;
    return GT_OK;
}

/* Element `index`, of any version of the header. */
static enum gt_status take_shape(const struct gputime_shaping *taken, size_t index, struct gputime_shape *shape,
                                 struct gt_error *err) {
    size_t bytes = taken->shape_size, known_bytes = sizeof *shape;
    const unsigned char *from = (const unsigned char *)taken->shapes + index * bytes;
    *shape = (struct gputime_shape){0};
    if (bytes < sizeof shape->table)
        return gt_fail_usage(err, "struct gputime_shaping has the shape_size %zu; start from its INIT macro", bytes);
    if (bytes > known_bytes && !is_zero(from + known_bytes, bytes - known_bytes))
        return gt_fail_usage(err, "struct gputime_shape has options unknown to version %s of the library",
                             GPUTIME_VERSION);
    memcpy(shape, from, bytes < known_bytes ? bytes : known_bytes);
    return GT_OK;
}

enum gt_status gt_take_shapes(const struct gputime_shaping *taken, struct gt_arena *arena, struct gt_shape **out,
                              size_t *count, struct gt_error *err) {
    struct shapes shapes = {.arena = arena};
    enum gt_status status = GT_OK;
    if (taken->shown)
        hide_others(&shapes, taken->shown, taken->shown_count);
    for (size_t i = 0; i < taken->shape_count && status == GT_OK; i++) {
        struct gputime_shape given;
        status = take_shape(taken, i, &given, err);
        if (status == GT_OK)
            status = add_given(&shapes, &given, err);
    }
    for (size_t i = 0; i < taken->forced_count && status == GT_OK; i++) {
        struct gt_shape *shape = add_shape(&shapes, taken->forced[i], strlen(taken->forced[i]));
        if (shape)
            shape->hidden = -1;
    }
    for (size_t i = 0; i < taken->absent_count && status == GT_OK; i++) {
        struct gt_shape *shape = add_shape(&shapes, taken->absent[i], strlen(taken->absent[i]));
        if (shape)
            shape->absent = 1;
    }
    *out = shapes.items;
    *count = shapes.count;
    return status == GT_OK && gt_arena_failed(arena) ? gt_fail_memory(err) : status;
}
