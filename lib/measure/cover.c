/* Coverage by sweeping: with C(t) the time a thread was covered before t, a stretch [a, b) is covered for C(b) - C(a).
   Intervals are taken in order of start; on the way C is read off at the ends of all stretches, the probes. */
#include "measure/cover.h"

#include "base/mem.h"
#include "base/radix.h"
#include "measure/measure.h"

/* Both ends of every stretch. A probe's number is twice its stretch's, plus 1 for the end. */
struct probes {
    const struct gt_stretch *stretches;
    uint32_t *numbers; /* by thread, then time */
    size_t *first;     /* by thread, and two more */
    size_t thread_count;
};

static int64_t probe_time(const struct probes *probes, uint32_t number) {
    const struct gt_stretch *stretch = &probes->stretches[number / 2];
    return number % 2 ? stretch->end_ns : stretch->start_ns;
}

/* The probes of one thread by time. Those of one device's gaps are so already. */
static bool sort_probes(const struct probes *probes, uint32_t *numbers, size_t count) {
    bool is_sorted = true;
    for (size_t i = 1; i < count; i++)
        is_sorted &= probe_time(probes, numbers[i - 1]) <= probe_time(probes, numbers[i]);
    if (is_sorted)
        return true;
    struct gt_radix_item *items = gt_alloc_uninitialised(count, sizeof *items);
    for (size_t i = 0; i < count && items; i++)
        items[i] = (struct gt_radix_item){gt_radix_key(probe_time(probes, numbers[i])), numbers[i]};
    bool ok = items && gt_radix_sort(items, count);
    for (size_t i = 0; i < count && ok; i++)
        numbers[i] = items[i].value;
    gt_free(items);
    return ok;
}

static bool probes_init(struct probes *probes, const struct gt_stretch *stretches, size_t count, size_t thread_count) {
    *probes = (struct probes){.stretches = stretches, .thread_count = thread_count};
    if (count > UINT32_MAX / 2)
        return false;
    probes->numbers = gt_alloc_uninitialised(2 * count, sizeof *probes->numbers);
    probes->first = gt_alloc_array(thread_count + 2, sizeof *probes->first);
    if (!probes->numbers || !probes->first)
        return false;
    size_t *next = probes->first + 1; /* by thread, while they are dealt out; then its neighbour's first */
    for (size_t i = 0; i < count; i++)
        next[stretches[i].thread + 1] += 2;
    for (size_t t = 0; t < thread_count; t++)
        next[t + 1] += next[t];
    for (uint32_t i = 0; i < 2 * count; i++)
        probes->numbers[next[stretches[i / 2].thread]++] = i;
    bool ok = true;
    for (size_t t = 0; t < thread_count && ok; t++)
        ok = sort_probes(probes, probes->numbers + probes->first[t], probes->first[t + 1] - probes->first[t]);
    return ok;
}

static void probes_release(struct probes *probes) {
    gt_free(probes->numbers);
    gt_free(probes->first);
}

/* ---- the sweep ---- */

/* A union of intervals so far. Its length may exceed what fits; differences are right all the same, for they wrap. */
struct reach {
    int64_t end_ns; /* the latest */
    uint64_t length_ns;
};

static void reach_add(struct reach *reach, int64_t start_ns, int64_t end_ns) {
    if (end_ns <= reach->end_ns)
        return;
    int64_t from_ns = start_ns > reach->end_ns ? start_ns : reach->end_ns;
    reach->length_ns += (uint64_t)end_ns - (uint64_t)from_ns;
    reach->end_ns = end_ns;
}

/* C(t), where no interval starts behind t: the one that ends last covers all from there to its end. */
static uint64_t reach_before(const struct reach *reach, int64_t time_ns) {
    uint64_t behind_ns = reach->end_ns > time_ns ? (uint64_t)reach->end_ns - (uint64_t)time_ns : 0;
    return reach->length_ns - behind_ns;
}

/* Where the sweep stands on one thread. */
struct progress {
    size_t probe, probe_end; /* the next to settle; behind the last */
    int64_t last_ns;         /* start of the interval before */
    struct reach all, special;
};

static void start(const struct probes *probes, struct progress *progress) {
    const struct reach nothing = {INT64_MIN, 0};
    for (size_t t = 0; t < probes->thread_count; t++)
        progress[t] = (struct progress){probes->first[t], probes->first[t + 1], INT64_MIN, nothing, nothing};
}

static void settle(const struct probes *probes, struct progress *progress, struct gt_covered *covered) {
    uint32_t number = probes->numbers[progress->probe++];
    int64_t time_ns = probe_time(probes, number);
    struct gt_covered before = {reach_before(&progress->all, time_ns), reach_before(&progress->special, time_ns)};
    struct gt_covered *of = &covered[number / 2];
    *of = number % 2 ? (struct gt_covered){before.all_ns - of->all_ns, before.special_ns - of->special_ns} : before;
}

static void take_row(const struct probes *probes, struct progress *progress, const struct gt_cover_table *table,
                     size_t row, struct gt_covered *covered) {
    int64_t start_ns = table->start_ns[row], end_ns = table->end_ns[row];
    while (progress->probe < progress->probe_end && probe_time(probes, probes->numbers[progress->probe]) <= start_ns)
        settle(probes, progress, covered);
    progress->last_ns = start_ns;
    if (end_ns <= start_ns)
        return;
    reach_add(&progress->all, start_ns, end_ns);
    if (table->is_special[table->name[row]])
        reach_add(&progress->special, start_ns, end_ns);
}

/* NULL: the row's thread has no stretches. */
static struct progress *progress_of(const struct probes *probes, struct progress *progress,
                                    const struct gt_cover_table *table, size_t row) {
    uint32_t thread = table->thread[row];
    return thread < probes->thread_count && probes->first[thread] < probes->first[thread + 1] ? &progress[thread]
                                                                                              : NULL;
}

/* false: those of a thread are not in order of start, as most programs write them. */
static bool take_rows_as_they_are(const struct probes *probes, struct progress *progress,
                                  const struct gt_cover_table *table, struct gt_covered *covered) {
    for (size_t row = 0; row < table->count; row++) {
        struct progress *at = progress_of(probes, progress, table, row);
        if (!at)
            continue;
        if (table->start_ns[row] < at->last_ns)
            return false;
        take_row(probes, at, table, row, covered);
    }
    return true;
}

static bool take_rows_sorted(const struct probes *probes, struct progress *progress, const struct gt_cover_table *table,
                             struct gt_covered *covered) {
    size_t count = 0;
    struct gt_radix_item *items =
        table->count > UINT32_MAX ? NULL : gt_alloc_uninitialised(table->count, sizeof *items);
    for (size_t row = 0; row < table->count && items; row++)
        if (progress_of(probes, progress, table, row))
            items[count++] = (struct gt_radix_item){gt_radix_key(table->start_ns[row]), (uint32_t)row};
    bool ok = items && gt_radix_sort(items, count);
    for (size_t i = 0; i < count && ok; i++)
        take_row(probes, progress_of(probes, progress, table, items[i].value), table, items[i].value, covered);
    gt_free(items);
    return ok;
}

bool gt_cover_measure(const struct gt_stretch *stretches, size_t count, size_t thread_count,
                      const struct gt_cover_table *table, struct gt_covered *covered) {
    struct probes probes;
    struct progress *progress = gt_alloc_uninitialised(thread_count, sizeof *progress);
    bool ok = probes_init(&probes, stretches, count, thread_count) && progress;
    if (ok) {
        start(&probes, progress);
        ok = take_rows_as_they_are(&probes, progress, table, covered);
        if (!ok) {
            start(&probes, progress);
            ok = take_rows_sorted(&probes, progress, table, covered);
        }
    }
    for (size_t t = 0; t < thread_count && ok; t++)
        while (progress[t].probe < progress[t].probe_end)
            settle(&probes, &progress[t], covered);
    probes_release(&probes);
    gt_free(progress);
    return ok;
}
