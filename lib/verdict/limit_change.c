/* Judges a limit of a comparison, which says what change is an error; changes within the noise do not count. */
#include <math.h>

#include "compare/join.h"
#include "verdict/limit.h"

/* The amount of a limit on both sides. */
struct pair {
    double a, b, noise;      /* noise NAN: there is none */
    enum gt_limit_unit unit; /* of a, b and noise */
    bool is_noise, is_guess; /* the change is not significant; the noise is a guess */
};

/* ---- sides that lack the data ---- */

static enum gt_status fail_mute(const struct gt_compare_sides *sides, const struct gt_limit *limit, size_t capture,
                                const char *table, struct gt_error *err) {
    const struct gt_section *section = gt_compare_section(sides, capture);
    const char *who = sides->names[gt_compare_side(sides, capture)];
    struct gt_str lacks = gt_section_lacks(section, table);
    if (!lacks.len)
        lacks = GT_STR("totals of this work");
    return limit->kind.len ? gt_limit_fail_lack(limit, section, who, lacks, err)
                           : gt_limit_fail_measure(limit, section, who, err);
}

static enum gt_status check_known(const struct gt_join *join, const struct gt_limit *limit, size_t row,
                                  struct gt_error *err) {
    for (int side = 0; side < GT_SIDE_COUNT; side++) {
        size_t capture = gt_join_mute_capture(join, row, (enum gt_side)side);
        if (capture != SIZE_MAX)
            return fail_mute(join->sides, limit, capture, join->shape->key, err);
        if (isnan(gt_join_amount(join, row, (enum gt_side)side, join->lead)))
            return gt_limit_fail(limit, err, "%s lacks the data", join->sides->names[side]);
    }
    return GT_OK;
}

/* No row of either side matches. GT_OK: there is really none, so nothing changed. */
static enum gt_status check_absent(const struct gt_compare_sides *sides, const struct gt_limit *limit, const char *key,
                                   struct gt_error *err) {
    const struct gt_table *known = NULL;
    size_t known_count = 0, mute = 0;
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_table *table = gt_section_find(gt_compare_section(sides, i), key);
        if (!limit->kind.len || gt_section_lacks(gt_compare_section(sides, i), key).len)
            return fail_mute(sides, limit, i, key, err);
        bool may_be = gt_limit_may_be_absent(limit, table);
        known_count += may_be;
        mute = may_be ? mute : i;
        known = table && (table->name_count || !known) ? table : known;
    }
    if (known_count == 0)
        return gt_limit_fail_name(limit, known, "on either side", err);
    return known_count < sides->capture_count ? fail_mute(sides, limit, mute, key, err) : GT_OK;
}

/* ---- pairs ---- */

static bool row_matches(const struct gt_join_row *row, size_t column, struct gt_str pattern) {
    for (size_t side = 0; side < GT_SIDE_COUNT; side++) {
        const struct gt_cell *cell = row->cells[side] ? &row->cells[side][column] : NULL;
        if (cell && cell->type == GPUTIME_CELL_TEXT &&
            gt_limit_name_matches(pattern, (struct gt_str){cell->text, cell->text_bytes}))
            return true;
    }
    return false;
}

/* Joins all matching rows, so that a renamed kernel still counts. SIZE_MAX: none matches. */
static size_t join_matching(struct gt_join *join, size_t column, struct gt_str pattern, size_t *count) {
    size_t head = SIZE_MAX;
    *count = 0;
    for (size_t row = 0; row < join->row_count && column != SIZE_MAX; row++) {
        if (!row_matches(&join->rows[row], column, pattern))
            continue;
        ++*count;
        if (head == SIZE_MAX)
            head = row;
        else
            gt_join_merge_rows(join, head, row);
    }
    return head;
}

static struct pair pair_of(const struct gt_join *join, size_t row) {
    struct gt_noise noise = gt_join_noise(join, row);
    enum gt_unit unit = join->shape->columns[join->adds[join->lead]].unit;
    return (struct pair){.a = gt_join_amount(join, row, GT_SIDE_A, join->lead),
                         .b = gt_join_amount(join, row, GT_SIDE_B, join->lead),
                         .noise = noise.floor_ns,
                         .is_noise = !noise.is_beyond,
                         .is_guess = noise.is_guess,
                         .unit = gt_limit_unit_of_column(unit)};
}

/* A measure that each capture has: the mean of each side. */
static enum gt_status find_measure(const struct gt_compare_sides *sides, const struct gt_limit *limit,
                                   struct gt_arena *arena, struct pair *pair, struct gt_error *err) {
    const struct gt_measure *measure = limit->measure;
    double *values = gt_arena_array(arena, sides->capture_count, sizeof *values);
    double means[GT_SIDE_COUNT] = {0}, variances[GT_SIDE_COUNT];
    if (!values)
        return gt_fail_memory(err);
    for (size_t i = 0; i < sides->capture_count; i++) {
        values[i] = gt_limit_measure(measure, gt_compare_section(sides, i)) / (measure->adds ? sides->divisors[i] : 1);
        if (isnan(values[i]))
            return gt_limit_fail_measure(limit, gt_compare_section(sides, i), sides->names[gt_compare_side(sides, i)],
                                         err);
    }
    for (int side = 0; side < GT_SIDE_COUNT; side++) {
        struct gt_captures captures = gt_compare_captures(sides, (enum gt_side)side);
        for (size_t i = 0; i < captures.count; i++)
            means[side] += values[captures.first + i] / (double)captures.count;
        variances[side] = gt_join_variance_of_mean(values + captures.first, 1, captures.count);
    }
    *pair =
        (struct pair){.a = means[GT_SIDE_A], .b = means[GT_SIDE_B], .noise = NAN, .unit = gt_limit_unit_of(measure)};
    if (!measure->is_exact)
        pair->noise =
            gt_join_noise_floor(sides, pair->a, pair->b, variances[GT_SIDE_A], variances[GT_SIDE_B], &pair->is_guess);
    pair->is_noise = !measure->is_exact && fabs(pair->b - pair->a) <= pair->noise;
    return GT_OK;
}

/* ---- verdicts ---- */

static enum gt_status check_unit(const struct gt_compare_sides *sides, const struct gt_limit *limit,
                                 const struct pair *pair, struct gt_error *err) {
    bool is_time = pair->unit == GT_LIMIT_TIME, is_size = pair->unit == GT_LIMIT_BYTES;
    if (limit->unit == GT_LIMIT_TIME    ? is_time
        : limit->unit == GT_LIMIT_BYTES ? is_size
                                        : limit->unit == GT_LIMIT_PERCENT || !is_time)
        return GT_OK;
    return gt_limit_fail(limit, err, "wrong unit: use %% of %s, or %s", sides->names[GT_SIDE_A],
                         is_time   ? "a time"
                         : is_size ? "a number of bytes"
                                   : "a number");
}

static double relative_change(const struct pair *pair) {
    double delta = pair->b - pair->a;
    return pair->a > 0 ? delta / pair->a : delta > 0 ? INFINITY : 0;
}

static double judged(const struct gt_limit *limit, const struct pair *pair) {
    return limit->unit == GT_LIMIT_PERCENT ? relative_change(pair) : pair->b - pair->a;
}

/* A limit is broken if it holds, unless the change is not significant. */
static enum gt_verdict judge(const struct gt_limit *limit, const struct pair *pair) {
    if (!gt_limit_holds(limit, judged(limit, pair)))
        return GT_VERDICT_OK;
    return pair->is_noise ? GT_VERDICT_NOISE : GT_VERDICT_BROKEN;
}

static struct gt_limit_words describe(struct gt_arena *arena, const struct pair *pair) {
    char a[GT_NUM_MAX], b[GT_NUM_MAX], noise[GT_NUM_MAX], change[GT_NUM_MAX];
    double relative = relative_change(pair);
    gt_limit_format(a, pair->unit, pair->a);
    gt_limit_format(b, pair->unit, pair->b);
    gt_limit_format(noise, pair->unit, pair->noise);
    gt_limit_format(change, GT_LIMIT_PERCENT, relative);
    const char *lead = isnan(pair->noise) ? "" : ", noise ", *text = isnan(pair->noise) ? "" : noise;
    return (struct gt_limit_words){
        .head =
            isfinite(relative) ? gt_arena_printf(arena, "%s%s", change[0] == '-' ? "" : "+", change) : GT_STR("new"),
        .tail = gt_arena_printf(arena, "(%s -> %s%s%s)", a, b, lead, pair->is_guess ? "unknown" : text)};
}

static const char *noise_word(const struct pair *pair) {
    return pair->is_guess ? "unknown" : isnan(pair->noise) ? NULL : "known";
}

static enum gt_status judge_pair(struct gt_report *report, const struct gt_limit *limit, const struct pair *pair,
                                 size_t rows, bool *is_broken, struct gt_error *err) {
    enum gt_status status = check_unit(report->sides, limit, pair, err);
    if (status != GT_OK)
        return status;
    struct gt_limit_words words = describe(&report->arena, pair);
    struct gt_judgement judgement = {.verdict = judge(limit, pair),
                                     .value = judged(limit, pair),
                                     .detail = gt_limit_describe(&report->arena, &words),
                                     .noise = noise_word(pair),
                                     .rows = rows};
    *is_broken = judgement.verdict == GT_VERDICT_BROKEN;
    gt_limit_add_verdict(&report->sections[0], limit, &judgement);
    return GT_OK;
}

/* ---- each row ---- */

/* Whether x is worse than y: only x breaks the limit, or x goes further. Of two that start at 0, the larger. */
static bool is_worse(const struct gt_limit *limit, const struct pair *x, const struct pair *y) {
    static const int ranks[] = {[GT_VERDICT_OK] = 0, [GT_VERDICT_NOISE] = 1, [GT_VERDICT_BROKEN] = 2};
    int of_x = ranks[judge(limit, x)], of_y = ranks[judge(limit, y)];
    if (of_x != of_y)
        return of_x > of_y;
    double way = limit->is_above ? 1 : -1, value_x = way * judged(limit, x), value_y = way * judged(limit, y);
    if (value_x < value_y || value_x > value_y)
        return value_x > value_y;
    return way * (x->b - x->a) > way * (y->b - y->a);
}

/* A row represents all rows joined to it. */
static void mark_matching(const struct gt_join *join, size_t column, struct gt_str pattern, bool *marks) {
    for (size_t row = 0; row < join->row_count; row++) {
        size_t head = row;
        while (join->rows[head].is_joined)
            head = join->rows[head].head;
        marks[head] |= row_matches(&join->rows[row], column, pattern);
    }
}

static struct gt_str name_of(const struct gt_join *join, size_t row, size_t column) {
    const struct gt_join_row *entry = &join->rows[row];
    const struct gt_cell *cells = entry->cells[GT_SIDE_A] ? entry->cells[GT_SIDE_A] : entry->cells[GT_SIDE_B];
    bool is_group = entry->label.len && (entry->names[GT_SIDE_A] > 1 || entry->names[GT_SIDE_B] > 1);
    return is_group ? entry->label : (struct gt_str){cells[column].text, cells[column].text_bytes};
}

static enum gt_status judge_rows(struct gt_report *report, const struct gt_limit *limit, const struct gt_join *join,
                                 size_t column, const bool *marks, bool *is_broken, struct gt_error *err) {
    struct gt_judgement judgement = {0};
    struct pair worst = {0};
    size_t noisy = 0;
    for (size_t row = 0; row < join->row_count; row++) {
        if (!marks[row])
            continue;
        struct pair pair = pair_of(join, row);
        enum gt_status status = check_known(join, limit, row, err);
        if (status == GT_OK)
            status = check_unit(join->sides, limit, &pair, err);
        if (status != GT_OK)
            return status;
        enum gt_verdict verdict = judge(limit, &pair);
        judgement.broken_rows += verdict == GT_VERDICT_BROKEN;
        noisy += verdict == GT_VERDICT_NOISE;
        if (judgement.rows++ == 0 || is_worse(limit, &pair, &worst)) {
            worst = pair;
            judgement.worst = name_of(join, row, column);
        }
    }
    judgement.value = judged(limit, &worst);
    judgement.verdict = judge(limit, &worst);
    judgement.noise = noise_word(&worst);
    struct gt_limit_words words = describe(&report->arena, &worst);
    struct gt_str value = judgement.rows > 1 ? words.head : gt_limit_describe(&report->arena, &words);
    judgement.detail = limit->is_each ? gt_limit_describe_rows(&report->arena, &judgement, noisy, words.head)
                                      : gt_limit_describe_one(&report->arena, &judgement, "worst", value);
    *is_broken = judgement.broken_rows > 0;
    gt_limit_add_verdict(&report->sections[0], limit, &judgement);
    return GT_OK;
}

/* Uses the rows of the comparison, in which names that differ were matched. */
static enum gt_status check_each(struct gt_report *report, const struct gt_limit *limit, struct gt_join *join,
                                 size_t column, size_t *count, bool *is_broken, struct gt_error *err) {
    bool *marks = gt_arena_array(&report->arena, join->row_count, sizeof *marks);
    if (!marks || !gt_join_match(join))
        return gt_fail_memory(err);
    mark_matching(join, column, limit->pattern, marks);
    *count = 0;
    for (size_t row = 0; row < join->row_count; row++)
        *count += marks[row];
    return *count ? judge_rows(report, limit, join, column, marks, is_broken, err) : GT_OK;
}

/* Bandwidths and the like: one row decides. */
static bool adds_up(const struct gt_join *join) {
    return !(join->shape->columns[join->adds[join->lead]].flags & GT_COLUMN_RATE);
}

/* ---- the limit ---- */

static enum gt_status check_sum(struct gt_report *report, const struct gt_limit *limit, struct gt_join *join,
                                size_t column, size_t *count, bool *is_broken, struct gt_error *err) {
    size_t row = join_matching(join, column, limit->pattern, count);
    if (row == SIZE_MAX)
        return GT_OK;
    enum gt_status status = check_known(join, limit, row, err);
    if (status != GT_OK)
        return status;
    struct pair pair = pair_of(join, row);
    return judge_pair(report, limit, &pair, *count, is_broken, err);
}

static enum gt_status check_rows(struct gt_report *report, const struct gt_limit *limit, const char *key,
                                 bool *is_broken, struct gt_error *err) {
    struct gt_join join;
    size_t count = 0, column = SIZE_MAX;
    enum gt_status status = GT_OK;
    if (gt_join_init(&join, report->sides, key) && (column = gt_table_name_column(join.shape)) != SIZE_MAX)
        status = limit->is_each || !adds_up(&join) ? check_each(report, limit, &join, column, &count, is_broken, err)
                                                   : check_sum(report, limit, &join, column, &count, is_broken, err);
    if (join.failed)
        status = gt_fail_memory(err);
    gt_join_release(&join);
    if (status != GT_OK || count)
        return status;
    status = check_absent(report->sides, limit, key, err);
    struct gt_judgement nothing = {.value = 0};
    if (status == GT_OK)
        gt_limit_add_verdict(&report->sections[0], limit, &nothing);
    return status;
}

/* "less than an increase" would break on every improvement: it is meant as a limit of `check`. */
static enum gt_status check_way(const struct gt_limit *limit, struct gt_error *err) {
    if (limit->is_above || (limit->is_signed && signbit(limit->bound)))
        return GT_OK;
    if (!limit->is_signed)
        return gt_limit_fail(limit, err,
                             "--fail-if names a change, so '<' needs a negative number, such as 'busy<-5%%'; "
                             "for limits on one trace use 'gputime check'");
    size_t left = limit->text.len;
    while (limit->text.ptr[left - 1] != '<')
        left--;
    struct gt_str bound = {limit->text.ptr + left + limit->takes_equal, limit->text.len - left - limit->takes_equal};
    return gt_limit_fail(limit, err, "--fail-if names the change that fails; use '%.*s>%.*s'", (int)left - 1,
                         limit->text.ptr, (int)bound.len, bound.ptr);
}

static enum gt_status check_measure(struct gt_report *report, const struct gt_limit *limit, bool *is_broken,
                                    struct gt_error *err) {
    struct pair pair = {0};
    enum gt_status status = gt_limit_check_per(limit, report->sides->per, err);
    if (status == GT_OK)
        status = find_measure(report->sides, limit, &report->arena, &pair, err);
    return status == GT_OK ? judge_pair(report, limit, &pair, 1, is_broken, err) : status;
}

enum gt_status gt_limit_check_change(struct gt_report *report, const struct gt_limit *limit, bool *is_broken,
                                     struct gt_error *err) {
    const char *table;
    enum gt_status status = check_way(limit, err);
    if (status == GT_OK && limit->measure && limit->measure->from != GT_FROM_ROW)
        return check_measure(report, limit, is_broken, err);
    if (status == GT_OK)
        status = gt_limit_find_table(limit, report->roles, &table, err);
    return status == GT_OK ? check_rows(report, limit, table, is_broken, err) : status;
}
