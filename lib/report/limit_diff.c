/* Judges a limit of a comparison: it says which change must not be; a change inside the noise is none. */
#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "report/diff_parts.h"
#include "report/limit.h"

/* What a limit is about, on both sides. */
struct pair {
    double a, b, noise;
    bool is_time, is_noise, is_of_nothing;
};

static enum gt_status fail_nothing(const struct gt_limit *limit, struct gt_error *err) {
    if (limit->kind.len)
        return gt_fail_usage(err, "limit '%.*s': nothing on either side matches '%.*s'", (int)limit->text.len,
                             limit->text.ptr, (int)limit->pattern.len, limit->pattern.ptr);
    if (gt_str_eq(limit->pattern, GT_STR("step")))
        return gt_fail_usage(err, "limit '%.*s': the traces have no steps", (int)limit->text.len, limit->text.ptr);
    return gt_fail_usage(err,
                         "limit '%.*s': the traces have no measure '%.*s'; there are step, span, busy, idle, compute, "
                         "exposed_comm, exposed_memory, comm, memory, overlap, sum, utilisation",
                         (int)limit->text.len, limit->text.ptr, (int)limit->pattern.len, limit->pattern.ptr);
}

static bool row_matches(const struct gt_diff_row *row, size_t column, struct gt_str pattern) {
    for (size_t side = 0; side < GT_SIDE_COUNT; side++) {
        const struct gt_cell *cell = row->cells[side] ? &row->cells[side][column] : NULL;
        if (cell && cell->type == GPUTIME_CELL_TEXT &&
            gt_glob_matches(pattern, (struct gt_str){cell->text, cell->text_bytes}))
            return true;
    }
    return false;
}

/* All rows that match as one, so that a kernel under a new name still counts. false: none does. */
static bool join_matching(struct gt_diff_join *join, struct gt_limit_place place, struct gt_str pattern,
                          struct pair *pair) {
    size_t column = gt_table_column(join->shape, place.column), head = SIZE_MAX;
    for (size_t row = 0; row < join->row_count && column != SIZE_MAX; row++) {
        if (!row_matches(&join->rows[row], column, pattern))
            continue;
        if (head == SIZE_MAX)
            head = row;
        else
            gt_join_rows(join, head, row);
    }
    if (head == SIZE_MAX)
        return false;
    struct gt_noise noise = gt_join_noise(join, head);
    *pair = (struct pair){
        .a = gt_join_amount(join, head, GT_SIDE_A, join->lead),
        .b = gt_join_amount(join, head, GT_SIDE_B, join->lead),
        .noise = noise.floor_ns,
        .is_noise = !noise.is_beyond,
        .is_time = join->shape->columns[join->adds[join->lead]].unit == GT_UNIT_NS,
    };
    return true;
}

static enum gt_status find_pair(const struct gt_diff_sides *sides, const struct gt_limit *limit, struct gt_str pattern,
                                struct pair *pair, struct gt_error *err) {
    struct gt_diff_join join;
    struct gt_limit_place place;
    enum gt_status status = gt_limit_place_find(limit, &place, err);
    if (status != GT_OK)
        return status;
    bool is_found = gt_join_init(&join, sides, place.table) && join_matching(&join, place, pattern, pair);
    bool failed = join.failed;
    gt_join_release(&join);
    if (failed)
        return gt_fail_memory(err);
    if (!is_found && !gt_limit_is_glob(limit))
        return fail_nothing(limit, err);
    if (!is_found)
        *pair = (struct pair){.is_time = limit->unit == GT_LIMIT_TIME, .is_noise = true, .is_of_nothing = true};
    return GT_OK;
}

/* Busy part of the span: no amount, so it is worked out from two. */
static enum gt_status find_utilisation(const struct gt_diff_sides *sides, const struct gt_limit *limit,
                                       struct pair *pair, struct gt_error *err) {
    struct pair busy = {0}, span = {0};
    enum gt_status status = find_pair(sides, limit, GT_STR("busy"), &busy, err);
    if (status == GT_OK)
        status = find_pair(sides, limit, GT_STR("span"), &span, err);
    if (status == GT_OK) {
        *pair = (struct pair){.a = busy.a / span.a, .b = busy.b / span.b};
        pair->noise = sides->noise_share * fmax(pair->a, pair->b);
        pair->is_noise = fabs(pair->b - pair->a) <= pair->noise;
    }
    return status;
}

static struct gt_str describe(struct gt_arena *arena, const struct pair *pair, double relative) {
    char a[GT_NUM_MAX], b[GT_NUM_MAX], noise[GT_NUM_MAX];
    if (pair->is_of_nothing)
        return GT_STR("nothing matches");
    if (!pair->is_time) {
        double scale = pair->a <= 1 && pair->b <= 1 ? 100 : 1;
        const char *unit = pair->a <= 1 && pair->b <= 1 ? "%" : "";
        return gt_arena_printf(arena, "%+.1f%% (%.1f%s -> %.1f%s)", relative * 100, pair->a * scale, unit,
                               pair->b * scale, unit);
    }
    gt_num_format_duration(a, pair->a);
    gt_num_format_duration(b, pair->b);
    gt_num_format_duration(noise, pair->noise);
    if (isnan(pair->noise))
        return gt_arena_printf(arena, "%s -> %s", a, b);
    return gt_arena_printf(arena, "%+.1f%% (%s -> %s, noise %s)", relative * 100, a, b, noise);
}

enum gt_status gt_diff_check(struct gt_report *report, const struct gt_limit *limit, bool *is_broken,
                             struct gt_error *err) {
    struct pair pair = {0};
    bool is_utilisation = !limit->kind.len && gt_str_eq(limit->pattern, GT_STR("utilisation"));
    enum gt_status status = is_utilisation ? find_utilisation(report->sides, limit, &pair, err)
                                           : find_pair(report->sides, limit, limit->pattern, &pair, err);
    if (status != GT_OK)
        return status;
    if (limit->unit == GT_LIMIT_TIME ? !pair.is_time : limit->unit == GT_LIMIT_NUMBER && pair.is_time)
        return gt_fail_usage(err, "limit '%.*s' needs another unit: %% of A, or %s", (int)limit->text.len,
                             limit->text.ptr, pair.is_time ? "a time" : "a number");
    double delta = pair.b - pair.a;
    double relative = pair.a > 0 ? delta / pair.a : delta > 0 ? INFINITY : 0;
    double value = limit->unit == GT_LIMIT_PERCENT ? relative : delta;
    bool is_beyond_bound = gt_limit_holds(limit, value);
    *is_broken = is_beyond_bound && !pair.is_noise;
    gt_limits_add(&report->sections[0], limit,
                  *is_broken        ? GT_VERDICT_BROKEN
                  : is_beyond_bound ? GT_VERDICT_NOISE
                                    : GT_VERDICT_OK,
                  value, describe(&report->arena, &pair, relative));
    return GT_OK;
}
