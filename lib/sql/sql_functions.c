/* Aggregates with the definitions of reports: quantiles are interpolated linearly, the deviation is that of a sample.
   Null and text do not count. */
#include "sql/sql_functions.h"

#include <math.h>
#include <stdbool.h>

#include "base/mem.h"
#include "base/moments.h"
#include "base/quantile.h"

/* ---- quantiles ---- */

/* Whole numbers until a real one comes; then all are real. */
struct samples {
    union {
        int64_t *whole;
        double *real;
    };
    size_t count, capacity;
    bool are_real;
    double level; /* 0 to 1 */
};

static void to_real(struct samples *samples) {
    for (size_t i = 0; i < samples->count && !samples->are_real; i++)
        samples->real[i] = (double)samples->whole[i];
    samples->are_real = true;
}

/* Room for one more. Sets the error of the query where there is none. */
static bool make_room(sqlite3_context *context, struct samples *samples) {
    struct gt_sql_memory *memory = sqlite3_user_data(context);
    size_t before = samples->capacity, most = gt_mem_room_capacity(before) - before;
    if (samples->count < before)
        return true;
    if (!gt_sql_memory_take(memory, most * sizeof *samples->whole)) {
        sqlite3_result_error(context, "too many values for a median or percentile", -1);
        return false;
    }
    int64_t *grown = gt_mem_room(samples->whole, samples->count, &samples->capacity, sizeof *grown);
    if (!grown) {
        gt_sql_memory_give(memory, most * sizeof *grown);
        sqlite3_result_error_nomem(context);
        return false;
    }
    samples->whole = grown;
    return true;
}

static void add_sample(sqlite3_context *context, sqlite3_value *value, double level) {
    int type = sqlite3_value_numeric_type(value);
    struct samples *samples = sqlite3_aggregate_context(context, sizeof *samples);
    if (!samples || (type != SQLITE_INTEGER && type != SQLITE_FLOAT) || !make_room(context, samples))
        return;
    samples->level = level;
    if (type == SQLITE_FLOAT)
        to_real(samples);
    if (samples->are_real)
        samples->real[samples->count++] = sqlite3_value_double(value);
    else
        samples->whole[samples->count++] = sqlite3_value_int64(value);
}

static void median_step(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    add_sample(context, values[0], 0.5);
}

static void percentile_step(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    double percent = sqlite3_value_double(values[1]);
    if (sqlite3_value_numeric_type(values[1]) > SQLITE_FLOAT || !(percent >= 0 && percent <= 100))
        sqlite3_result_error(context, "the second argument of percentile() must be a number from 0 to 100", -1);
    else
        add_sample(context, values[0], percent / 100);
}

static void quantile_final(sqlite3_context *context) {
    struct samples *samples = sqlite3_aggregate_context(context, 0);
    if (!samples)
        return; /* null */
    if (samples->count)
        sqlite3_result_double(context, samples->are_real
                                           ? gt_quantile_real(samples->real, samples->count, samples->level)
                                           : gt_quantile(samples->whole, samples->count, samples->level));
    gt_sql_memory_give(sqlite3_user_data(context), samples->capacity * sizeof *samples->whole);
    gt_mem_free(samples->whole);
}

/* ---- deviation ---- */

struct deviation {
    struct gt_moments whole;
    uint64_t count; /* real or not */
    double mean, squares;
    bool has_real;
};

/* SQLite's memory is aligned to 8 bytes, which is not enough for sums of 128 bits: it keeps a pointer. NULL: memory was
   short, or there is none yet and none is wanted. */
static struct deviation *deviation_of(sqlite3_context *context, bool is_wanted) {
    struct deviation **kept = sqlite3_aggregate_context(context, is_wanted ? sizeof *kept : 0);
    if (kept && !*kept && is_wanted)
        *kept = gt_mem_array(1, sizeof **kept);
    if (is_wanted && (!kept || !*kept))
        sqlite3_result_error_nomem(context);
    return kept ? *kept : NULL;
}

static void stddev_step(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    int type = sqlite3_value_numeric_type(values[0]);
    struct deviation *deviation = deviation_of(context, true);
    if (!deviation || (type != SQLITE_INTEGER && type != SQLITE_FLOAT))
        return;
    double value = sqlite3_value_double(values[0]), before = value - deviation->mean;
    deviation->has_real |= type == SQLITE_FLOAT;
    if (type == SQLITE_INTEGER)
        gt_moments_add(&deviation->whole, sqlite3_value_int64(values[0]));
    deviation->mean += before / (double)++deviation->count;
    deviation->squares += before * (value - deviation->mean);
}

static void stddev_final(sqlite3_context *context) {
    struct deviation *deviation = deviation_of(context, false);
    if (deviation && deviation->count && !deviation->has_real)
        sqlite3_result_double(context, gt_moments_stddev(&deviation->whole));
    else if (deviation && deviation->count)
        sqlite3_result_double(context,
                              deviation->count < 2 ? 0 : sqrt(deviation->squares / (double)(deviation->count - 1)));
    gt_mem_free(deviation);
}

enum { FLAGS = SQLITE_UTF8 | SQLITE_DETERMINISTIC };

static int add_quantile(sqlite3 *db, struct gt_sql_memory *memory, const char *name, int arguments,
                        void (*step)(sqlite3_context *context, int count, sqlite3_value **values)) {
    gt_sql_memory_hold(memory); /* SQLite lets go of it, at once where it fails */
    return sqlite3_create_function_v2(db, name, arguments, FLAGS, memory, NULL, step, quantile_final,
                                      gt_sql_memory_release);
}

int gt_sql_functions_add(sqlite3 *db, struct gt_sql_memory *memory) {
    int code = add_quantile(db, memory, "median", 1, median_step);
    if (code == SQLITE_OK)
        code = add_quantile(db, memory, "percentile", 2, percentile_step);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(db, "stddev", 1, FLAGS, NULL, NULL, stddev_step, stddev_final, NULL);
    return code;
}
