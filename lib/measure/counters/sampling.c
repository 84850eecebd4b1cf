/* Reads the samples of a GPU: tracks of counters come in, periods with the values of all metrics go out. The metric
   with most values says when samples were taken; values of the others belong to the sample of the same time. */
#include "measure/counters/sampling.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/quantile.h"
#include "base/radix.h"
#include "events/counter_track.h"

/* ---- which track is which metric ---- */

static const struct {
    enum gt_metric metric;
    struct gt_str start;
} metric_names[] = {
#define GT_METRIC_NAME(metric, start) {GT_METRIC_##metric, GT_STR(start)},
#define GT_METRIC_BASE(metric, base)
#include "measure/counters/metrics.def"
#undef GT_METRIC_NAME
#undef GT_METRIC_BASE
};

static const struct {
    enum gt_metric metric;
    struct gt_str base;
} metric_bases[] = {
#define GT_METRIC_NAME(metric, start)
#define GT_METRIC_BASE(metric, base) {GT_METRIC_##metric, GT_STR(base)},
#include "measure/counters/metrics.def"
#undef GT_METRIC_NAME
#undef GT_METRIC_BASE
};

/* A metric, and what its values are multiplied by to become percents or Hz. */
struct meaning {
    enum gt_metric metric; /* GT_METRIC_COUNT: none of those that are used */
    double scale;
};

/* Counters in flight come as percents, averages and sums under one name: the unit tells them apart. Old reports and
   other writers have none, but the name may say it in brackets: "[Throughput %]", "[MHz]", "[Avg]". */
static bool has_unit_of(struct gt_str name, struct gt_str unit, enum gt_metric metric) {
    bool is_clock = metric == GT_METRIC_CLOCK;
    if (unit.len)
        return gt_str_eq(unit, is_clock ? GT_STR("Hz") : GT_STR("%"));
    bool has_brackets = name.len && memchr(name.ptr, '[', name.len);
    return !has_brackets || gt_str_find_nocase(name, is_clock ? GT_STR("Hz]") : GT_STR("%]"));
}

static struct meaning meaning_of_name(struct gt_str name, struct gt_str unit) {
    for (size_t i = 0; i < GT_ARRAY_COUNT(metric_names); i++)
        if (gt_str_starts_nocase(name, metric_names[i].start) && has_unit_of(name, unit, metric_names[i].metric))
            return (struct meaning){metric_names[i].metric, 1};
    return (struct meaning){GT_METRIC_COUNT, 0};
}

/* "sm__cycles_active.avg.pct_of_peak_sustained_elapsed". Cycles and counts as such are no shares of anything. A
   throughput is one without a suffix, too. 0: another unit. */
static double scale_of(struct gt_str base, struct gt_str rest, bool is_clock) {
    if (is_clock)
        return gt_str_find_nocase(rest, GT_STR(".per_second")) ? 1 : 0;
    if (gt_str_find_nocase(rest, GT_STR(".pct")))
        return 1;
    if (gt_str_ends(rest, GT_STR(".ratio")))
        return 100;
    return !rest.len && gt_str_ends(base, GT_STR("throughput")) ? 1 : 0;
}

static struct meaning meaning_of_base(struct gt_str name) {
    const char *dot = name.len ? memchr(name.ptr, '.', name.len) : NULL;
    struct gt_str base = {name.ptr, dot ? (size_t)(dot - name.ptr) : name.len};
    struct gt_str rest = {name.ptr + base.len, name.len - base.len};
    for (size_t i = 0; i < GT_ARRAY_COUNT(metric_bases); i++)
        if (gt_str_eq(base, metric_bases[i].base)) {
            double scale = scale_of(base, rest, metric_bases[i].metric == GT_METRIC_CLOCK);
            return (struct meaning){scale > 0 ? metric_bases[i].metric : GT_METRIC_COUNT, scale};
        }
    return (struct meaning){GT_METRIC_COUNT, 0};
}

/* Of a counter with several series each is a metric; exports write both as one name: "GPU 0 Counters: sm__throughput".
 */
static struct meaning meaning_of(const struct gt_store *store, size_t track) {
    struct gt_str name = gt_store_string(store, store->counter_tracks.name[track]);
    struct gt_str series = gt_store_string(store, store->counter_tracks.series[track]);
    struct gt_str unit = gt_store_string(store, store->counter_tracks.unit[track]);
    struct meaning meaning = series.len ? meaning_of_base(series) : meaning_of_name(name, unit);
    const struct gt_str between = GT_STR(": ");
    const char *tail = series.len ? NULL : gt_str_find_nocase(name, between);
    if (meaning.metric == GT_METRIC_COUNT)
        meaning = meaning_of_base(series.len ? series : name);
    if (meaning.metric == GT_METRIC_COUNT && series.len)
        meaning = meaning_of_name(name, unit);
    if (meaning.metric == GT_METRIC_COUNT && tail)
        meaning =
            meaning_of_base((struct gt_str){tail + between.len, name.len - (size_t)(tail - name.ptr) - between.len});
    return meaning;
}

bool gt_sampling_is_unknown(const struct gt_store *store, uint32_t track) {
    struct gt_str unit = gt_store_string(store, store->counter_tracks.unit[track]);
    return store->counter_tracks.device[track] >= 0 && !gt_str_eq(unit, GT_STR("bytes")) &&
           meaning_of(store, track).metric == GT_METRIC_COUNT;
}

struct tracks {
    uint32_t of[GT_METRIC_COUNT]; /* GT_NO_TRACK: the trace has none */
    double scale[GT_METRIC_COUNT];
    uint32_t leader; /* the one with most values */
    size_t most;     /* values of one */
};

static struct tracks find_tracks(const struct gt_store *store, int64_t device) {
    struct tracks tracks = {.leader = GT_NO_TRACK};
    for (size_t m = 0; m < GT_METRIC_COUNT; m++)
        tracks.of[m] = GT_NO_TRACK;
    for (uint32_t track = 0; track < store->counter_tracks.count; track++) {
        if (store->counter_tracks.device[track] != device)
            continue;
        struct meaning meaning = meaning_of(store, track);
        if (meaning.metric == GT_METRIC_COUNT || tracks.of[meaning.metric] != GT_NO_TRACK)
            continue;
        size_t count = gt_counter_track_count(store, track);
        tracks.of[meaning.metric] = track;
        tracks.scale[meaning.metric] = meaning.scale;
        if (count > tracks.most) {
            tracks.most = count;
            tracks.leader = track;
        }
    }
    return tracks;
}

/* ---- values of one track ---- */

struct series {
    int64_t *times_ns;
    double *values;
    size_t count;
};

static bool is_sorted(const int64_t *times_ns, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (times_ns[i] < times_ns[i - 1])
            return false;
    return true;
}

static bool series_sort(struct series *series) {
    if (is_sorted(series->times_ns, series->count))
        return true;
    struct gt_radix_item *items = gt_mem_uninitialised(series->count, sizeof *items);
    double *values = gt_mem_uninitialised(series->count, sizeof *values);
    bool is_done = items && values;
    for (size_t i = 0; is_done && i < series->count; i++)
        items[i] = (struct gt_radix_item){gt_radix_key(series->times_ns[i]), (uint32_t)i};
    is_done = is_done && gt_radix_sort(items, series->count);
    for (size_t i = 0; is_done && i < series->count; i++) {
        values[i] = series->values[items[i].value];
        series->times_ns[i] = (int64_t)(items[i].key ^ gt_radix_key(0));
    }
    gt_mem_free(items);
    if (is_done) {
        gt_mem_free(series->values);
        series->values = values;
    } else {
        gt_mem_free(values);
    }
    return is_done;
}

static void series_release(struct series *series) {
    gt_mem_free(series->times_ns);
    gt_mem_free(series->values);
}

static bool series_init(struct series *series, const struct gt_store *store, uint32_t track) {
    series->count = gt_counter_track_count(store, track);
    series->times_ns = gt_mem_uninitialised(series->count, sizeof *series->times_ns);
    series->values = gt_mem_uninitialised(series->count, sizeof *series->values);
    if (series->times_ns && series->values) {
        gt_counter_track_read(store, track, 0, series->count, series->times_ns, series->values);
        if (series_sort(series))
            return true;
    }
    series_release(series);
    return false;
}

/* ---- periods ---- */

/* Of several samples at one time the first counts. */
static void drop_doubles(struct series *times) {
    size_t kept = 0;
    for (size_t i = 0; i < times->count; i++)
        if (i == 0 || times->times_ns[i] != times->times_ns[kept - 1])
            times->times_ns[kept++] = times->times_ns[i];
    times->count = kept;
}

/* false: memory was short. */
static bool find_period(struct gt_sampling *sampling, const int64_t *times_ns, size_t count) {
    int64_t *distances_ns = gt_mem_uninitialised(count, sizeof *distances_ns);
    if (!distances_ns)
        return false;
    for (size_t i = 1; i < count; i++)
        distances_ns[i - 1] = gt_ns_between(times_ns[i - 1], times_ns[i]);
    double median_ns = count > 1 ? gt_quantile(distances_ns, count - 1, 0.5) : 0;
    sampling->period_ns = median_ns < 0x1p63 ? (int64_t)median_ns : INT64_MAX;
    gt_mem_free(distances_ns);
    return true;
}

/* A sample lasts until the next one. Where samples were lost it lasts as long as most do. */
static int64_t end_of(const struct series *times, size_t sample, int64_t period_ns) {
    int64_t start_ns = times->times_ns[sample];
    int64_t next_ns = sample + 1 < times->count ? times->times_ns[sample + 1] : INT64_MAX;
    bool is_next = gt_ns_between(start_ns, next_ns) <= gt_ns_add(period_ns, period_ns / 2);
    return is_next ? next_ns : gt_ns_add(start_ns, period_ns);
}

/* Keeps the samples that the span overlaps. They are a run, whose first one is *first. */
static bool keep_periods(struct gt_sampling *sampling, const struct series *times, const struct gt_view_device *device,
                         size_t *first) {
    size_t begin = 0, end = times->count;
    while (begin < end && end_of(times, begin, sampling->period_ns) <= device->span_start_ns)
        begin++;
    while (end > begin && times->times_ns[end - 1] >= device->span_end_ns)
        end--;
    *first = begin;
    sampling->count = end - begin;
    sampling->outside = times->count - sampling->count;
    sampling->start_ns = gt_mem_uninitialised(sampling->count, sizeof *sampling->start_ns);
    sampling->end_ns = gt_mem_uninitialised(sampling->count, sizeof *sampling->end_ns);
    if (!sampling->start_ns || !sampling->end_ns)
        return false;
    for (size_t i = 0; i < sampling->count; i++) {
        sampling->start_ns[i] = times->times_ns[begin + i];
        sampling->end_ns[i] = end_of(times, begin + i, sampling->period_ns);
    }
    return true;
}

/* ---- values of samples ---- */

/* GT_SAMPLING_NONE: nothing that the metric can be. NAN is neither below nor above anything. */
static uint32_t kept_value(double value, enum gt_metric metric) {
    if (metric == GT_METRIC_CLOCK)
        return value >= 0 && value < GT_SAMPLING_NONE ? (uint32_t)value : GT_SAMPLING_NONE;
    return value >= 0 && value <= 100 ? (uint32_t)lrint(value * GT_SAMPLING_PERCENT) : GT_SAMPLING_NONE;
}

/* Puts values to the samples of the same time; both are sorted. */
static bool keep_values(struct gt_sampling *sampling, const struct series *series, enum gt_metric metric,
                        double scale) {
    uint32_t *values = gt_mem_uninitialised(sampling->count, sizeof *values);
    size_t at = 0;
    if (!values)
        return false;
    for (size_t i = 0; i < sampling->count; i++) {
        while (at < series->count && series->times_ns[at] < sampling->start_ns[i])
            at++;
        bool is_here = at < series->count && series->times_ns[at] == sampling->start_ns[i];
        values[i] = is_here ? kept_value(series->values[at] * scale, metric) : GT_SAMPLING_NONE;
        sampling->out_of_range += is_here && values[i] == GT_SAMPLING_NONE;
        at += is_here;
    }
    sampling->values[metric] = values;
    return true;
}

static bool read_leader(struct gt_sampling *sampling, const struct gt_store *store, const struct gt_view_device *device,
                        uint32_t track) {
    struct series times;
    size_t first;
    if (!series_init(&times, store, track))
        return false;
    drop_doubles(&times);
    bool is_done = find_period(sampling, times.times_ns, times.count) && keep_periods(sampling, &times, device, &first);
    series_release(&times);
    return is_done;
}

static bool read_all(struct gt_sampling *sampling, const struct gt_store *store, const struct gt_view_device *device,
                     const struct tracks *tracks) {
    bool is_done = read_leader(sampling, store, device, tracks->leader);
    for (int metric = 0; metric < GT_METRIC_COUNT && is_done; metric++) {
        struct series series;
        if (tracks->of[metric] == GT_NO_TRACK)
            continue;
        is_done = series_init(&series, store, tracks->of[metric]);
        if (is_done) {
            is_done = keep_values(sampling, &series, (enum gt_metric)metric, tracks->scale[metric]);
            series_release(&series);
        }
    }
    return is_done;
}

enum gt_status gt_sampling_init(struct gt_sampling *sampling, const struct gt_view *view,
                                const struct gt_view_device *device, struct gt_error *err) {
    struct tracks tracks = find_tracks(view->store, device->id);
    *sampling = (struct gt_sampling){0};
    if (tracks.leader == GT_NO_TRACK || read_all(sampling, view->store, device, &tracks))
        return GT_OK;
    gt_sampling_release(sampling);
    return gt_fail_memory(err);
}

void gt_sampling_release(struct gt_sampling *sampling) {
    gt_mem_free(sampling->start_ns);
    gt_mem_free(sampling->end_ns);
    for (size_t m = 0; m < GT_METRIC_COUNT; m++)
        gt_mem_free(sampling->values[m]);
    *sampling = (struct gt_sampling){0};
}
