/* States where the time of a job went: ranks and steps come in, means over ranks with their variation from step to step
 * go out. */
#include "ranks/rank_measures.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/moments.h"
#include "ranks/rank_tables.h"
#include "ranks/rank_tiles.h"
#include "report/row.h"

#define BIT(part) (1u << GT_PART_##part)
#define IDLE_BITS (BIT(IDLE_SYNC) | BIT(IDLE_HOST) | BIT(IDLE_LAUNCH) | BIT(IDLE_DEPENDENCY) | BIT(IDLE_UNKNOWN))

/* An amount: the sum of some parts of the time. */
struct amount {
    const char *name;
    uint32_t parts; /* bits */
};

static const struct amount measures[] = {
    {"span", (1u << GT_PART_COUNT) - 1},
    {"compute", BIT(COMPUTE)},
    {"exposed_comm", BIT(TRANSFER) | BIT(WAIT)},
    {"exposed_transfer", BIT(TRANSFER)},
    {"exposed_wait", BIT(WAIT)},
    {"exposed_memory", BIT(MEMORY)},
    {"idle", IDLE_BITS},
};

/* They sum to the span. */
static const struct amount parts[] = {
    {"compute", BIT(COMPUTE)},
    {"exposed transfer", BIT(TRANSFER)},
    {"exposed wait", BIT(WAIT)},
    {"exposed memory", BIT(MEMORY)},
    {"idle (sync)", BIT(IDLE_SYNC)},
    {"idle (host)", BIT(IDLE_HOST)},
    {"idle (launch)", BIT(IDLE_LAUNCH)},
    {"idle (dependency)", BIT(IDLE_DEPENDENCY)},
    {"idle (unknown)", BIT(IDLE_UNKNOWN)},
};

static const struct gt_report_column measure_columns[] = {
    {"measure", "Measure", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"total_ns", "Time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"share", "Share", GT_UNIT_SHARE, "span", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
    {"count", "Steps", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_DIVISOR},
    {"stddev_ns", "Std dev over steps", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SINGLE | GT_COLUMN_SPREAD},
    {"summed_steps", "Summed steps", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MEAN},
};

static const struct gt_report_column part_columns[] = {
    {"part", "Part", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_WORDS},
    {"total_ns", "Time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS | GT_COLUMN_PART},
    {"share", "Share", GT_UNIT_SHARE, "span", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
};

/* ---- amounts ---- */

static int64_t amount_in(const struct amount *amount, const int64_t ns[GT_PART_COUNT]) {
    int64_t sum_ns = 0;
    for (size_t part = 0; part < GT_PART_COUNT; part++)
        sum_ns += amount->parts >> part & 1 ? ns[part] : 0;
    return sum_ns;
}

/* What a rank did, in all. */
struct rank_parts {
    int64_t ns[GT_PART_COUNT];
};

static double mean_over_ranks(const struct gt_rank_job *job, const struct rank_parts *ranks,
                              const struct amount *amount) {
    struct gt_moments moments = {0};
    for (size_t r = 0; r < job->rank_count; r++)
        gt_moments_add(&moments, amount_in(amount, ranks[r].ns));
    return gt_moments_mean(&moments);
}

/* How the mean over ranks varies from step to step; NAN: there are not two. */
static double stddev_over_steps(const struct gt_rank_job *job, const struct amount *amount) {
    struct gt_moments steps = {0};
    for (size_t s = 0; s < job->step_count; s++) {
        struct gt_moments there = {0};
        for (size_t r = 0; r < job->rank_count; r++) {
            const struct gt_rank_window *window = &job->windows[s * job->rank_count + r];
            if (window->is_there)
                gt_moments_add(&there, amount_in(amount, window->ns));
        }
        if (there.count)
            gt_moments_add(&steps, (int64_t)gt_moments_mean(&there));
    }
    return steps.count > 1 ? gt_moments_stddev(&steps) : NAN;
}

static int by_ns(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The median of the ranks; -1: none has the step. */
static int64_t step_ns(const struct gt_rank_job *job, size_t step, int64_t *room) {
    size_t count = 0;
    for (size_t r = 0; r < job->rank_count; r++) {
        const struct gt_rank_window *window = &job->windows[step * job->rank_count + r];
        if (window->is_there)
            room[count++] = window->step_ns;
    }
    if (!count)
        return -1;
    qsort(room, count, sizeof *room, by_ns);
    return room[(count - 1) / 2];
}

static struct gt_moments step_lengths(const struct gt_rank_job *job, int64_t *room) {
    struct gt_moments lengths = {0};
    for (size_t s = 0; s < job->step_count; s++) {
        int64_t length_ns = step_ns(job, s, room);
        if (length_ns >= 0)
            gt_moments_add(&lengths, length_ns);
    }
    return lengths;
}

/* ---- rows ---- */

/* Waits that are not known have no row: a limit on zero would hold. */
static bool is_known(const struct gt_rank_job *job, const struct amount *amount) {
    return amount->parts != BIT(WAIT) || gt_rank_job_knows_waits(job);
}

/* Then nobody knows either how much of the communication was transfer. */
static bool is_known_measure(const struct gt_rank_job *job, const struct amount *amount) {
    return is_known(job, amount) && (amount->parts != BIT(TRANSFER) || gt_rank_job_knows_waits(job));
}

static void add_step_row(struct gt_table *table, const struct gt_moments *lengths) {
    struct gt_row row = gt_row_begin(table);
    gt_row_text(&row, "measure", GT_STR("step"));
    gt_row_int(&row, "total_ns", (int64_t)lengths->sum);
    gt_row_null(&row, "share");
    gt_row_count(&row, "count", lengths->count);
    gt_row_cell(&row, "stddev_ns", lengths->count > 1 ? gt_cell_real(gt_moments_stddev(lengths)) : gt_cell_null());
    gt_row_count(&row, "summed_steps", lengths->count);
    gt_row_end(&row);
}

static void add_measures(const struct gt_rank_job *job, const struct rank_parts *ranks,
                         const struct gt_moments *lengths, struct gt_section *section) {
    struct gt_table *table = gt_section_table(section, "job_measures", "Time breakdown, mean over ranks",
                                              measure_columns, GT_ARRAY_COUNT(measure_columns));
    double span_ns = mean_over_ranks(job, ranks, &measures[0]);
    table->keeps_order = true;
    table->is_fixed = true;
    if (lengths->count)
        add_step_row(table, lengths);
    for (size_t i = 0; i < GT_ARRAY_COUNT(measures) && job->rank_count; i++) {
        if (!is_known_measure(job, &measures[i]))
            continue;
        double mean_ns = mean_over_ranks(job, ranks, &measures[i]), stddev_ns = stddev_over_steps(job, &measures[i]);
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "measure", gt_str_of(measures[i].name));
        gt_row_real(&row, "total_ns", mean_ns);
        gt_row_share(&row, "share", mean_ns, span_ns);
        gt_row_count(&row, "count", lengths->count);
        gt_row_cell(&row, "stddev_ns", isnan(stddev_ns) ? gt_cell_null() : gt_cell_real(stddev_ns));
        gt_row_null(&row, "summed_steps");
        gt_row_end(&row);
    }
}

static void add_parts(const struct gt_rank_job *job, const struct rank_parts *ranks, const struct gt_moments *lengths,
                      struct gt_section *section) {
    struct gt_table *table = gt_section_table(section, "job_parts", "Parts of the span, mean over ranks", part_columns,
                                              GT_ARRAY_COUNT(part_columns));
    double span_ns = mean_over_ranks(job, ranks, &measures[0]);
    gt_rank_tables_leave_page(section, table); /* the measures say the same */
    table->keeps_order = true;
    for (size_t i = 0; i < GT_ARRAY_COUNT(parts) && job->rank_count; i++) {
        if (!is_known(job, &parts[i]))
            continue;
        double mean_ns = mean_over_ranks(job, ranks, &parts[i]), stddev_ns = stddev_over_steps(job, &parts[i]);
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "part", gt_str_of(parts[i].name));
        gt_row_real(&row, "total_ns", mean_ns);
        gt_row_share(&row, "share", mean_ns, span_ns);
        gt_row_end(&row);
        if (!isnan(stddev_ns))
            gt_section_spread(section, "job_parts", gt_str_of(parts[i].name), (size_t)lengths->count, stddev_ns);
    }
}

void gt_rank_measures_add(const struct gt_rank_job *job, struct gt_section *section) {
    struct gt_arena *arena = &section->report->arena;
    struct rank_parts *ranks = gt_arena_array(arena, job->rank_count + 1, sizeof *ranks);
    int64_t *room = gt_arena_array(arena, job->rank_count + 1, sizeof *room);
    if (!ranks || !room)
        return;
    for (size_t r = 0; r < job->rank_count; r++)
        memcpy(ranks[r].ns, job->ranks[r].ns, sizeof ranks[r].ns);
    struct gt_moments lengths = step_lengths(job, room);
    add_measures(job, ranks, &lengths, section);
    add_parts(job, ranks, &lengths, section);
}

/* ---- roles ---- */

#define MEAN      "mean over ranks"
#define UNMATCHED "collective that was matched between ranks"
#define ROW(name, lack)                                                                                                \
    { .key = #name, .from = GT_FROM_ROW, .needs = lack, .over = MEAN }
#define FACT(name, fact, sort, lack)                                                                                   \
    {                                                                                                                  \
        .key = #name, .from = GT_FROM_FACT, .table = "ranks", .column = fact, .kind = GT_MEASURE_##sort,               \
        .needs = lack, .over = ""                                                                                      \
    }

static const struct gt_measure measure_list[] = {
    {.key = "step", .from = GT_FROM_ROW, .needs = "steps", .over = "median over ranks", .leaves_out = "steps"},
    ROW(span, "ranks with GPU work"),
    ROW(compute, "ranks with GPU work"),
    ROW(exposed_comm, "ranks with GPU work"),
    ROW(exposed_transfer, UNMATCHED),
    ROW(exposed_wait, UNMATCHED),
    ROW(exposed_memory, "ranks with GPU work"),
    ROW(idle, "ranks with GPU work"),
    FACT(slowdown, "slowdown", NUMBER, "replay"),
    FACT(replay, "replay_ns", TIME, "replay"),
    FACT(ideal, "ideal_ns", TIME, "replay"),
    FACT(imbalance, "compute_imbalance", NUMBER, "compute"),
    FACT(all_to_all_imbalance, "all_to_all_imbalance", NUMBER, "all_to_all whose sizes are known"),
    {.key = "gain",
     .from = GT_FROM_MAX,
     .table = "ranks",
     .column = "gain_ns",
     .needs_rows_of = "ranks",
     .needs = "replay",
     .is_per_step = true,
     .over = ""},
    FACT(busbw, "busbw_gbs", NUMBER, "collective but messages whose bytes are known"),
    {.key = "ranks",
     .from = GT_FROM_FACT,
     .table = "ranks",
     .column = "ranks",
     .kind = GT_MEASURE_NUMBER,
     .needs = "ranks with GPU work",
     .is_exact = true},
    {.key = "issues", .from = GT_FROM_ISSUES, .kind = GT_MEASURE_NUMBER, .is_exact = true},
    {.key = "losses", .from = GT_FROM_LOSSES, .kind = GT_MEASURE_NUMBER, .is_exact = true},
};

static const struct gt_divisor divisors[] = {
    {"step", "per step", "steps", "job_measures", "step", GT_DIVISOR_STEPS},
};

static const struct gt_limit_kind kinds[] = {
    {"part", "job_parts", MEAN},
    {"wait", "wait_causes", "all ranks together"},
    {"group", "group_speeds", NULL},
};

/* A stray trace in a folder is no run of the job. */
static const struct gt_capture_need capture_needs[] = {
    {"ranks", 2, "has only one rank"},
    {"collectives", 1, "has no collective that was matched between ranks"},
};

const struct gt_roles gt_rank_measures_roles = {
    .measures = "job_measures",
    .whole = "span",
    .whole_words = "time on each rank",
    .measure_list = measure_list,
    .measure_count = GT_ARRAY_COUNT(measure_list),
    .divisors = divisors,
    .divisor_count = GT_ARRAY_COUNT(divisors),
    .kinds = kinds,
    .kind_count = GT_ARRAY_COUNT(kinds),
    .capture_needs = capture_needs,
    .capture_need_count = GT_ARRAY_COUNT(capture_needs),
};
